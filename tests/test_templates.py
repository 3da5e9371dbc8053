"""The templates of CONTRIBUTING.md: rows of `rules` and `naive_measures`, so that every shared check holds of them."""

import doctest
import re
import sys
from pathlib import Path

import lightgbm as lgb
import numpy as np
from naive_measures import NAIVE, ReadingDepth
from rules import RULES, FreshTier

from lambdaboost import Queries, attach
from lambdaboost.objectives import parse

ROOT = Path(__file__).parent.parent
YOURS = {f"lambdaboost/{folder}/yours.py" for folder in ("engines", "evaluation", "objectives")}


def test_an_engine_trains_with_the_objective():
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 3)), rng.integers(0, 3, 200)
    data = attach(lgb.Dataset(X, np.ones(200), group=[20] * 10), fresh=y)
    params = {"objective": parse("FreshTier(sigma=2)"), "verbose": -1, "min_data_in_leaf": 5}
    scores = lgb.train(params, data, 5).predict(X)
    q, measure = Queries(y, sizes=[20] * 10), ReadingDepth()
    assert measure(scores, q) > measure(np.zeros(200), q)


def test_they_are_checked_as_all_are_and_their_examples_are_right():
    assert FreshTier in {type(rule.objective) for rule in RULES}
    assert ReadingDepth in NAIVE
    for template in (FreshTier, ReadingDepth):
        done = doctest.testmod(sys.modules[template.__module__])
        assert done.attempted and not done.failed


def test_contributing_names_what_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = set(re.findall(r"`((?:docs|examples|lambdaboost|tests)/[\w/]+\.\w+|constraints.txt)`", text))
    assert len(paths) > 15 and all((ROOT / path).exists() for path in paths - YOURS)
