"""The templates of CONTRIBUTING.md, added as it says: one file and one test row each, and every shared check holds."""

import doctest
import inspect
import sys
from pathlib import Path

import lightgbm as lgb
import naive_measures
import numpy as np
import pytest
import test_measures
import test_objectives
from rules import Rule

from lambdaboost import Queries
from lambdaboost.evaluation import MEASURES
from lambdaboost.objectives import OBJECTIVES, parse

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "examples" / "templates"))

import rank_biased_precision as rank_biased_precision_template  # noqa: E402
import squared_hinge as squared_hinge_template  # noqa: E402
from rank_biased_precision import RBP  # noqa: E402
from squared_hinge import SquaredHinge  # noqa: E402

# Registered by their own decorators; other tests go through all that the package holds.
assert OBJECTIVES.pop("SquaredHinge") is SquaredHinge and MEASURES.pop("RBP") is RBP


def squared_hinge(s, y, m):
    """The reference of the row, in loops."""
    grades, lam, mu = y["relevance"], np.zeros(len(s)), np.zeros(len(s))
    for i in range(len(s)):
        for j in range(len(s)):
            if grades[i] > grades[j] and s[i] - s[j] < 1:
                lam[i] += 1 - (s[i] - s[j])
                lam[j] -= 1 - (s[i] - s[j])
                mu[[i, j]] += 1
    return lam, mu


def rank_biased_precision(measure, scores, labels):
    """The reference of the row, by the definition."""
    hits = naive_measures.relevant(measure, naive_measures.ranked(scores, labels))
    p = measure.persistence
    return (1 - p) * sum(p ** (r - 1) for r, hit in enumerate(hits, 1) if hit) if any(hits) else np.nan


ROW = Rule(SquaredHinge(), squared_hinge)
MEASURE_ROW = RBP(persistence=0.5, threshold=2)


FURTHER = {"iteration": test_objectives.ROUNDS, "label": (0, 4)}


@pytest.fixture(autouse=True)
def added(monkeypatch):
    """Registered again, with the reference of the measure."""
    monkeypatch.setitem(OBJECTIVES, "SquaredHinge", SquaredHinge)
    monkeypatch.setitem(MEASURES, "RBP", RBP)
    monkeypatch.setitem(naive_measures.NAIVE, RBP, rank_biased_precision)


def checks(module, row):
    """The checks of a test file that run over all its rows, with a further argument that `tried` knows."""
    known = {row, *FURTHER}
    return [
        check
        for name, check in vars(module).items()
        if name.startswith("test_") and {row} <= set(inspect.signature(check).parameters) <= known
    ]


def tried(check, row):
    """A check on one row, at each value of its further argument."""
    others = [name for name in inspect.signature(check).parameters if name not in row]
    for value in FURTHER[others[0]] if others else [None]:
        check(**row, **dict.fromkeys(others, value))


@pytest.mark.filterwarnings("ignore:.*queries have not both")
@pytest.mark.parametrize("check", checks(test_objectives, "rule"), ids=lambda check: check.__name__)
def test_the_objective_holds_what_every_objective_holds(check):
    tried(check, {"rule": ROW})


@pytest.mark.parametrize("check", checks(test_measures, "measure"), ids=lambda check: check.__name__)
def test_the_measure_holds_what_every_measure_holds(check):
    tried(check, {"measure": MEASURE_ROW})


def test_there_are_checks():
    assert len(checks(test_objectives, "rule")) >= 9 and len(checks(test_measures, "measure")) >= 10


def test_an_engine_trains_with_the_objective():
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 3)), rng.integers(0, 3, 200)
    data = lgb.Dataset(X, y, group=[20] * 10)
    params = {"objective": parse("SquaredHinge(margin=2)"), "verbose": -1, "min_data_in_leaf": 5}
    scores = lgb.train(params, data, 5).predict(X)
    q = Queries(y, sizes=[20] * 10)
    assert RBP()(scores, q) > RBP()(np.zeros(200), q)


def test_their_examples_are_right():
    for template in (rank_biased_precision_template, squared_hinge_template):
        done = doctest.testmod(template)
        assert done.attempted and not done.failed


def test_mistakes():
    with pytest.raises(ValueError, match="margin is -1"):
        SquaredHinge(margin=-1)
    with pytest.raises(ValueError, match="persistence is 1"):
        RBP(persistence=1)


def test_contributing_names_what_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for path in (
        "examples/templates/squared_hinge.py",
        "examples/templates/rank_biased_precision.py",
        "lambdaboost/objectives/__init__.py",
        "lambdaboost/evaluation/__init__.py",
        "lambdaboost/__init__.py",
        "docs/api/objectives.rst",
        "tests/test_layers.py",
        "tests/rules.py",
        "tests/test_measures.py",
        "tests/naive_measures.py",
        "constraints.txt",
    ):
        assert path in text and (ROOT / path).exists()
    targets = {
        line.split(":")[0]
        for line in (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
        if ":" in line
    }
    for target in ("demo", "test", "lint", "format", "bench", "dist", "clean"):
        assert f"make {target}" in text and target in targets
