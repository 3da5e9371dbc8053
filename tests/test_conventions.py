"""The engines' own objectives behind `LambdaRank(convention=…)`; their parity is tested with each engine."""

import drawn
import numpy as np
import pytest

from lambdaboost import LambdaRank, Queries
from lambdaboost.objectives.lambdarank import OPTIONS


@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_options_are_the_engines_defaults(name):
    scores, q = drawn.make(11, [40, 7])
    q = Queries(q.relevance, sizes=q.sizes, weight=[2.0, 0.5])
    defaults = {"truncation": 30, "norm": True} | (
        {} if name == "lightgbm" else {"truncation": 32, "score_norm": True}
    )
    assert OPTIONS[name] == defaults
    own = LambdaRank(convention=name).gradient(scores, q)
    np.testing.assert_array_equal(own, LambdaRank(convention=name, **defaults).gradient(scores, q))
    for option, value in {"truncation": 3, "norm": False, "score_norm": False}.items():
        if option in defaults:
            other = LambdaRank(convention=name, **{option: value}).gradient(scores, q)
            assert not np.array_equal(own, other)
    assert LambdaRank(convention=name).rule is None and LambdaRank().rule is not None
