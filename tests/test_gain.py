"""The benchmarks of gains: figures and means are those of their definitions, and small runs report every system."""

import numpy as np
import pytest

import lambdaboost
from benchmarks import readme
from benchmarks.gain import clicks, one_label, two_labels
from benchmarks.gain.one_label_sets import at_most
from benchmarks.gain.two_label_sets import SETS
from lambdaboost.datasets import Collection, Queries


@pytest.mark.slow
def test_every_query_is_tested_once_and_reported(monkeypatch):
    few = {
        "LightGBM": {name: {"objective": one_label.YetiLoss()} for name in ("lambdarank", "YetiLoss()")},
        "XGBoost": {name: {"objective": "rank:ndcg"} for name in ("rank:ndcg", "YetiLoss()")},
    }
    monkeypatch.setattr(one_label, "OBJECTIVES", few)
    rng = np.random.default_rng(0)
    grades = rng.integers(0, 3, 45 * 20).astype(float)
    X = np.column_stack([grades + rng.normal(size=grades.size), rng.normal(size=grades.size)])
    data = at_most(Collection(X, Queries(grades, sizes=[20] * 45)), 40)
    assert data.queries.n_queries == 40
    values = one_label.one_seed(data, 0)
    assert len(values) == 2 * 2 * 2 * 3
    for of_query in values.values():
        assert np.isfinite(of_query[0]).all()
    text = one_label.report({"made": [values]}, "about")
    assert "| `lambdarank` | +0.00" in text and "| made | 40 |" in text


def test_sets_count_alike():
    found = one_label.Difference([np.array([1.0, 3.0, np.nan]), np.array([0.0, 0.0, 2.0, -2.0])])
    assert found.means.tolist() == [2.0, 0.0]
    error = np.sqrt(1.0**2 + np.var([0, 0, 2, -2], ddof=1) / 4) / 2
    whole, t, above, _ = found.cells
    assert whole == f"+1.00 ({1 - 1.96 * error:+.2f} to {1 + 1.96 * error:+.2f})"
    assert (t, above) == (f"{1 / error:.1f}", "1 of 2")
    assert found.errors == pytest.approx([1.0, np.sqrt(8 / 3) / 2])


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
def test_a_small_run_of_two_labels(tmp_path, monkeypatch):
    """Every system has a row with its trees, and a point at every weight; what is trained is not trained again."""
    parts = (("Few grades", 0.8, ("titles",)),)
    for name, value in {"ROUNDS": 6, "FOLDS": 2, "SAMPLES": 20, "TREES": 5, "PARTS": parts}.items():
        monkeypatch.setattr(two_labels, name, value)
    runs = two_labels.main(tmp_path, 1, tmp_path / "report.md")
    points, trees = runs["titles", 0.8, 0]
    assert set(points) == set(trees) == set(two_labels.SYSTEMS)
    assert all(len(of) == len(two_labels.WEIGHTS) + 2 for of in points.values())
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert report.count(f"lambdaboost {lambdaboost.__version__} at commit ") == 1
    counts = {system: report.count(f"\n| {system} |") for system in points}
    assert counts == {system: 4 if system in two_labels.SUMS else 2 for system in points}
    for system, cells in readme.points(report).items():
        means = 100 * np.nanmean(points[system], axis=2)
        assert [[float(x) for x in cell.split(", ")] for cell in cells] == pytest.approx(means, abs=0.006)
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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:position:UserWarning")
def test_a_small_run_of_clicks(tmp_path, monkeypatch):
    """Every system has a row; with many sessions there are no lists of sessions."""
    for name, size in {"QUERIES": 40, "TESTED": 20, "ROUNDS": 2, "ETAS": (1.0,)}.items():
        monkeypatch.setattr(clicks, name, size)
    rows = {}
    for sessions in (12, 30):
        out = tmp_path / f"{sessions}.md"
        clicks.main(seeds=2, sessions=sessions, out=out)
        page = out.read_text(encoding="utf-8")
        assert f"{sessions} sessions of each query" in page
        _, *rows[sessions] = (
            line.split("|")[1].strip() for line in page.splitlines() if line.startswith("| ")
        )
    assert rows[12][0] == "lambdarank, sessions" and rows[30][0] == "lambdarank, raw rates"
    assert set(rows[30]) < set(rows[12]) and len(rows[12]) == len(rows[30]) + 6 == 11
