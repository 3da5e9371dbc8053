"""The templates of CONTRIBUTING.md, added as it says: one file and one test row each, and every shared check holds."""

import doctest
import inspect
import re
import sys
from pathlib import Path

import lightgbm as lgb
import naive
import naive_measures
import numpy as np
import pytest
import test_measures
import test_objectives
from rules import Rule
from test_ties import difference

from lambdaboost import Queries, attach
from lambdaboost.evaluation import MEASURES, naming
from lambdaboost.objectives import OBJECTIVES, parse

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "examples" / "templates"))

import fresh_tier as fresh_tier_template  # noqa: E402
import reading_depth as reading_depth_template  # noqa: E402
from fresh_tier import FreshTier  # noqa: E402
from reading_depth import ReadingDepth  # noqa: E402

# Registered by their definition; other tests go through all that the package holds.
assert OBJECTIVES.pop("FreshTier") is FreshTier and MEASURES.pop("ReadingDepth") is ReadingDepth


def fresh_tier(s, y, m):
    """The reference of the row, in loops."""
    lam, mu = np.zeros(len(s)), np.zeros(len(s))
    for i in range(len(s)):
        for j in range(len(s)):
            tied = y["relevance"][i] == y["relevance"][j] or np.isnan(y["relevance"]).all()
            if tied and y["fresh"][i] > y["fresh"][j]:
                rho, rest = naive.logistic(s[i] - s[j])
                lam[i] += rho
                lam[j] -= rho
                mu[[i, j]] += rest
    return lam, mu


def reading_depth(measure, labels, scores):
    """The reference of the row, by the definition."""
    hits, p = naive_measures.relevant(measure, labels), measure.persistence
    value = (1 - p) * (hits * p ** (naive_measures.ranks(labels) - 1)).sum(axis=-1)
    return naive_measures.where(hits.any(axis=-1), value)


ROW = Rule(FreshTier(), fresh_tier)
MEASURE_ROW = ReadingDepth(persistence=0.5, threshold=2)
YOURS = {f"lambdaboost/{folder}/yours.py" for folder in ("engines", "evaluation", "objectives")}
FURTHER = {"missing": (False, True)}


@pytest.fixture(autouse=True)
def added(monkeypatch):
    """Registered again, with the reference of the measure."""
    monkeypatch.setitem(OBJECTIVES, "FreshTier", FreshTier)
    monkeypatch.setitem(MEASURES, "ReadingDepth", ReadingDepth)
    monkeypatch.setitem(naive_measures.NAIVE, ReadingDepth, reading_depth)


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


@pytest.mark.parametrize("check", checks(test_objectives, "rule"), ids=lambda check: check.__name__)
def test_the_objective_holds_what_every_objective_holds(check):
    tried(check, {"rule": ROW})


@pytest.mark.parametrize("check", checks(test_measures, "measure"), ids=lambda check: check.__name__)
def test_the_measure_holds_what_every_measure_holds(check):
    tried(check, {"measure": MEASURE_ROW})


def test_the_objective_says_whether_ties_go_by_row():
    assert not FreshTier().needs.ties_by_row and difference(FreshTier()) < 1e-3


def test_an_engine_trains_with_the_objective():
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 3)), rng.integers(0, 3, 200)
    data = attach(lgb.Dataset(X, np.ones(200), group=[20] * 10), fresh=y)
    params = {"objective": parse("FreshTier(sigma=2)"), "verbose": -1, "min_data_in_leaf": 5}
    scores = lgb.train(params, data, 5).predict(X)
    q = Queries(y, sizes=[20] * 10)
    assert ReadingDepth()(scores, q) > ReadingDepth()(np.zeros(200), q)


def test_their_examples_are_right():
    for template in (fresh_tier_template, reading_depth_template):
        done = doctest.testmod(template)
        assert done.attempted and not done.failed


def test_contributing_names_what_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = set(re.findall(r"`((?:docs|examples|lambdaboost|tests)/[\w/]+\.\w+|constraints.txt)`", text))
    assert len(paths) > 15 and all((ROOT / path).exists() for path in paths - YOURS)
    assert "`naming.ALIASES`" in text and naming.ALIASES and "`REQUIRED`" in text and naive_measures.REQUIRED
    rule = 'PairRule(self.source, within=("relevance",), sigma=self.sigma)'
    assert rule in text and rule in inspect.getsource(fresh_tier_template)
    for folder in (ROOT / "lambdaboost").glob("[a-z]*/__init__.py"):
        assert f"`{folder.parent.name}`" in text
