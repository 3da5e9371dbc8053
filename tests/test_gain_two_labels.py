"""The benchmark of two labels: its figures, and a small run on the set that the repository holds."""

import numpy as np
import pytest

import lambdaboost
from benchmarks.gain import two_labels
from benchmarks.gain.two_label_sets import SETS

pytest.importorskip("lightgbm")
pytest.importorskip("xgboost")


def test_figures_of_a_front():
    """By hand: a line from (10, 0) to (8, 4), and a point below it that changes nothing."""
    front = np.array([[10.0, 0.0], [8.0, 4.0], [8.5, 2.0]])
    highest, mean, at_half, at_one = two_labels.figures(front, 9.0)
    assert highest == 10
    assert (at_half, at_one) == pytest.approx((3, 4))  # where the first measure is 8.5 and 8
    best = [max(10 * a, 8 * a + 4 * (1 - a)) for a in two_labels.PREFERENCES]
    assert mean == pytest.approx(np.mean(best))
    assert two_labels.figures(front, 12.0)[2] == 0  # nowhere as high: at the highest first measure


def test_no_feature_holds_a_label():
    """Of the sets that need no download; their queries differ in the first label."""
    for name in ("log", "titles"):
        data = SETS[name](None)
        assert two_labels.leaks(data.features, data.queries) == []
        assert data.second.min() >= 0
        assert data.second.max() <= 1
        assert data.sizes.sum() == len(data.features) == data.first.size


@pytest.mark.slow
def test_small_run(tmp_path, monkeypatch):
    """Every system has a row with its trees, and a point at every weight; what is trained is not trained again."""
    monkeypatch.setattr(two_labels, "ROUNDS", 6)
    monkeypatch.setattr(two_labels, "FOLDS", 2)
    monkeypatch.setattr(two_labels, "SAMPLES", 20)
    monkeypatch.setattr(two_labels, "TREES", 5)
    monkeypatch.setattr(two_labels, "PARTS", (("Few grades", 0.8, ("titles",)),))
    runs = two_labels.main(tmp_path, 1, tmp_path / "report.md")
    points, trees = runs["titles", 0.8, 0]
    assert set(points) == set(trees) == set(two_labels.SYSTEMS)
    assert all(len(of) == len(two_labels.WEIGHTS) + 2 for of in points.values())
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert report.count(f"lambdaboost {lambdaboost.__version__} at commit ") == 1
    counts = {system: report.count(f"\n| {system} |") for system in points}
    assert counts == {system: 3 if system in two_labels.SUMS else 1 for system in points}
    assert trees["pair, as many trees"] <= max(2, trees["Scorecard"])
    monkeypatch.setattr(two_labels, "one_seed", None)
    two_labels.main(tmp_path, 1, tmp_path / "report.md")
    again = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert again.partition("## Serving")[0] == report.partition("## Serving")[0]  # the rest are times
    assert report.count("time of the merged model") == 2
    # Values of other sources are not shown as those of these.
    monkeypatch.setattr(two_labels, "digest", lambda sources: "other")
    with pytest.raises(TypeError, match="'NoneType' object is not callable"):
        two_labels.main(tmp_path, 1, tmp_path / "report.md")
