"""`experiments.several_goals` at tiny sizes, and what it says of what it found."""

import itertools
import re
import stat
import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import experiments.several_goals.__main__ as command
from experiments.several_goals import methods, mo_lightgbm, proof
from experiments.several_goals.methods import CONSTRAINED, FIRST, SECOND_ALONE, SUM
from experiments.several_goals.pictures import change, ringed
from experiments.several_goals.promises import by_fold, by_seed, interval, p_of_keeping
from experiments.several_goals.proof import Splits, above
from experiments.several_goals.report import Volumes, findings
from experiments.several_goals.results import OfSet, hypervolume
from experiments.several_goals.sets import known
from experiments.several_goals.study import PARTS, Task
from lambdaboost.tuning.keep import WEIGHTS

pytestmark = pytest.mark.slow

QUICK = ("--quick", "--sets", "synthetic, position", "--workers", "1")
KEPT = methods.named(CONSTRAINED, 0.01)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("several")


@pytest.fixture(scope="module")
def made(out):
    return command.main([*QUICK, "--out", str(out)])


def test_everything_is_written(made, out):
    assert {path.name for path in out.iterdir()} == {
        "synthetic__position.svg",
        "report.md",
        "runs",
        "sequence",
    }
    text = (out / "report.md").read_text(encoding="utf-8")
    for expected in ("## Findings", "| Chebyshev |", f"| {KEPT} |", "settled before any result", "Wilson"):
        assert expected in text
    assert "MO-LightGBM linear_scalarization" not in text  # nobody gave it
    text = (out / "sequence" / "report.md").read_text(encoding="utf-8")
    for expected in (
        "## Choices",
        "## True losses",
        "synthetic, position, Constrained",
        "by the rule of the protocol",
    ):
        assert expected in text


def test_finished_runs_are_not_repeated(made, out, monkeypatch):
    monkeypatch.setattr(command.Study, "__call__", lambda *_: pytest.fail("a run was repeated"))
    again = command.main([*QUICK, "--out", str(out)])
    assert again.outcomes.keys() == made.outcomes.keys()


def test_every_system_has_both_measures_of_every_query(made):
    found = made.of("synthetic, position")
    assert set(methods.combined(found.goals, 0)) | {FIRST, SECOND_ALONE, KEPT} < set(found.systems)
    assert all(found.of_seed(name, "test", 0).shape == (2, 80) for name in found.systems)
    assert (change(found, FIRST) == 0).all()


def test_an_unknown_set_is_refused():
    with pytest.raises(
        ValueError, match=r"--sets 'mslr': expected one of 'synthetic, position', .*others need DATA"
    ):
        command.main(["--sets", "mslr"])


@pytest.mark.parametrize("arguments", [["nowhere"], ["--mo-lightgbm", "nowhere"]])
def test_paths_that_are_not_there_are_refused(arguments, capsys):
    with pytest.raises(SystemExit):
        command.main(arguments)
    assert "is nowhere: give the" in capsys.readouterr().err


def invented(changes, real=True, seeds=2):
    """Figures of 20 queries a fold in which each system differs from the first goal alone by such constants."""
    goals = next(g for g in made_sets().values() if g.real == real)
    names = {FIRST: (0.0, 0.0), SECOND_ALONE: (-0.1, 0.1)} | changes
    folds, n = goals.folds, 20
    outcomes = {}
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(folds * n)
        for fold in range(folds):
            tested = np.sort(order[fold * n : (fold + 1) * n])
            outcome = {"tested": tested}
            for at, (name, by) in enumerate(names.items()):
                rows = 0.5 + tested / 1000 + 1e-4 * np.sin(at * tested + np.arange(2)[:, None])
                outcome |= {f"{name} test": rows + np.array(by)[:, None]}
                outcome |= {f"{name} valid": rows + np.array(by)[:, None], f"{name} seconds": np.ones(3)}
            outcomes[Task(goals.name, seed, fold, "alone")] = outcome
    return OfSet(goals, outcomes)


def made_sets():
    """A synthetic set and one that stands for a real one, which nothing reads."""
    from dataclasses import replace

    synthetic = known(None)["synthetic, position"]
    return {"made": synthetic, "real": replace(synthetic, name="real", real=True)}


def test_real_queries_are_averaged_over_seeds_and_synthetic_ones_put_together():
    real, synthetic = invented({}), invented({}, real=False)
    assert real.per_query(FIRST).shape == (2, 100) and synthetic.per_query(FIRST).shape == (2, 40)
    by_query = real.per_query(FIRST)[0]  # in the order of the data, in both parts
    assert np.allclose(by_query, 0.5 + np.arange(100) / 1000, atol=1e-3)
    assert np.allclose(real.of_seed(FIRST, "test", 1)[0], by_query)


def test_validation_queries_are_those_of_the_next_fold():
    found = invented({})
    for task, outcome in found.outcomes.items():
        (following,) = (
            o for t, o in found.outcomes.items() if (t.seed, t.fold) == (task.seed, (task.fold + 1) % 5)
        )
        outcome[f"{FIRST} valid"] = np.tile(following["tested"] / 1000, (2, 1))
    assert np.allclose(found.of_seed(FIRST, "valid", 0)[0], np.arange(100) / 1000)


def test_promises_are_counted():
    found = invented({KEPT: (-0.005, 0.05), methods.named(CONSTRAINED, 0.005): (-0.02, 0.05)})
    assert (by_fold(found, KEPT, "test", 0.01).held, by_seed(found, KEPT, "valid", 0.01).held) == (10, 2)
    assert str(by_fold(found, KEPT, "test", 0.001)) == "0 of 10 (0–28 %)"
    assert p_of_keeping(found, KEPT, 0.01) < 1e-6 < 1 - 1e-6 < p_of_keeping(found, KEPT, 0.001)


def test_wilsons_interval_is_scipys():
    from scipy.stats import binomtest

    for held, of in ((0, 3), (8, 10), (15, 15)):
        by_scipy = binomtest(held, of).proportion_ci(method="wilson")
        assert interval(held, of) == pytest.approx(tuple(by_scipy), abs=1e-6)


def cells(points, reference):
    """The cells of the grid through all coordinates whose upper corner some point reaches."""
    axes = [sorted({r, *(p[k] for p in points if p[k] > r)}) for k, r in enumerate(reference)]
    corners = itertools.product(*(range(1, len(axis)) for axis in axes))
    return sum(
        (axes[0][i] - axes[0][i - 1]) * (axes[1][j] - axes[1][j - 1])
        for i, j in corners
        if any(p[0] >= axes[0][i] and p[1] >= axes[1][j] for p in points)
    )


@pytest.mark.parametrize("n", [0, 1, 7, 30])
def test_hypervolume_against_cells(n):
    for seed in range(5):
        points = (
            np.random.default_rng(seed).integers(-1, 5, (n, 2)) / 4
        )  # with ties, some below the reference
        reference = np.array([0.0, -0.5])
        assert hypervolume(points, reference) == pytest.approx(cells(points.tolist(), reference), abs=1e-12)


def test_hypervolumes_are_those_of_the_mean_points():
    grid = {methods.named(SUM, w): (-0.1 * w, 0.1 * w) for w in methods.WEIGHTS}
    found = invented(grid)
    values = found.volumes({SUM: list(grid)}, (0, 1))[SUM]
    points = np.array([100 * found.point(name) for name in grid])
    worst = 100 * np.minimum(found.point(FIRST), found.point(SECOND_ALONE))
    assert values[0] == pytest.approx(hypervolume(points, worst), rel=1e-3)
    assert np.percentile(values[1:], 0.5) < values[0] < np.percentile(values[1:], 99.5)


def test_findings_follow_the_figures():
    weights = [
        (method, w) for method in (SUM, *methods.COMBINERS, methods.ONE_MODEL) for w in methods.WEIGHTS
    ]
    changes = {methods.named(m, w): (-0.05 * w, 0.08 * w + 0.01 * (m == "Scaled")) for m, w in weights}
    changes |= {
        methods.named(CONSTRAINED, 0.005): (-0.02, 0.03),
        KEPT: (-0.002, 0.04),
        methods.MIN_NORM: (0.0, 0.0),
    }
    found = invented(changes)

    text = findings({"made": found}, {"made": Volumes(found)})
    assert "Constrained, 0.005: **broken, raised**" in text and f"{KEPT}: **kept, raised**" in text
    assert "Hypervolume of Scaled against weighted sum: **larger" in text
    assert ringed(invented({"weighted sum, 0.5": (0.0, 0.07), KEPT: (-0.02, 0.2)})) == "weighted sum, 0.5"


def test_preferences_of_mo_lightgbm_run_from_one_goal_to_the_other():
    found = mo_lightgbm.preferences(np.array([2.0, 6.0]), np.array([5.0, 3.0]), 5)
    assert np.allclose(found.sum(axis=1), 1) and (np.diff(found[:, 0]) > 0).all()
    # Preferences are inverse to costs: the ends are the costs of both models.
    assert found[0, 1] / found[0, 0] == pytest.approx(5 / 3) and found[-1, 1] / found[-1, 0] == pytest.approx(
        2 / 6
    )


def test_labels_of_mo_lightgbm_have_the_gains_of_both_measures():
    gains = mo_lightgbm.label_gains(4, "exponential")
    assert gains[:5].tolist() == [0, 1, 3, 7, 15] and gains[[5, 30]].tolist() == [0, 15]
    assert mo_lightgbm.label_gains(2, "linear")[:3].tolist() == [0, 1, 2]
    assert mo_lightgbm.levels(np.array([0.0, np.nan, 0.5, 1.0]), 4).tolist() == [5, 5, 17, 30]


def of_sequence(changes, tolerated):
    """Splits of a set whose held-out values prove the first trade-offs, with such changes on the test parts."""
    found = invented({f"{w:g}": changes(w) for w in WEIGHTS} | {"Constrained": (0.0, 0.02)})
    rng = np.random.default_rng(0)
    held_out = rng.random((1, 2, 400)) + 0.001 * rng.standard_normal((len(WEIGHTS), 2, 400))
    held_out += np.array([(-0.05 * (w > tolerated), 0.1 * w) for w in WEIGHTS])[:, :, None]
    outcomes = {
        Task(task.data_set, task.seed, task.fold, "sequence"): outcome | {"held out": held_out}
        for task, outcome in found.outcomes.items()
    }
    return Splits(OfSet(found.goals, outcomes))


def test_choices_are_judged_by_the_mean_loss_over_test_parts():
    splits = of_sequence(lambda w: (-0.1 * w, 0.2 * w), tolerated=0.1)
    assert splits.choices == ["0.1"] * 10 and splits.true_loss("0.1") == pytest.approx(0.01, abs=1e-4)
    assert np.allclose(splits.of_choices, (-0.01, 0.02), atol=2e-4)
    text = proof._promises({"made": splits})
    assert "| made, sequence | -1.00 | +2.00 | 10 of 10 | 10 of 10 |" in text
    assert re.search(r"\| made, Constrained \| [+-]0.0\d \| \+2.0\d \| 0 of 10 \| 0 of 10 \|", text)
    assert "**10 of 10 (72–100 %)** are beyond" in text


def test_what_is_above_the_front_has_an_interval():
    splits = of_sequence(lambda w: (-0.1 * w, 0.2 * w), tolerated=0.1)
    heights = splits.above_front()
    assert heights[0] == pytest.approx(0.02, abs=2e-4) and (heights[1:] > 0).all()
    assert "stays" in proof._stays({"one": splits, "another": splits}) and "goes" in proof._stays(
        {"one": splits}
    )


def test_a_point_on_the_front_or_beyond_its_ends_is_measured_from_the_nearest():
    front = [[0.0, 1.0], [1.0, 0.0], [-0.2, 0.3]]
    for point, height in (([0.5, 0.5], 0.0), ([2.0, 0.1], 0.1), ([-1.0, 0.5], -0.5)):
        assert above(np.array([*front, point])) == pytest.approx(height)


def test_an_executable_that_fails_is_an_error(tmp_path, out):
    broken = tmp_path / "lightgbm"
    broken.write_text(f"#!{sys.executable}\nprint('no such option')\n")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(OSError, match="at MO-LightGBM single goal, 0: no such option"):
        command.main([*QUICK, "--parts", PARTS[-1], "--mo-lightgbm", str(broken), "--out", str(tmp_path)])
