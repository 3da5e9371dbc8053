"""The engines' own objectives as values behind `LambdaRank(convention=…)`."""

from dataclasses import fields

import drawn
import numpy as np
import pytest

from lambdaboost import NDCG, LambdaRank, Queries
from lambdaboost.objectives.native.conventions import (
    CONVENTIONS,
    LightGBMConvention,
    XGBoostConvention,
    convention_of,
)

OPTIONS = {"truncation": 3, "norm": False, "score_norm": False}


@pytest.mark.parametrize("name", CONVENTIONS)
def test_lambdarank_takes_its_conventions_gradient(name):
    """In every option, with and without weights."""
    scores, q = drawn.make(11, [40, 7])
    q = Queries(q.relevance, sizes=q.sizes, weight=[2.0, 0.5])
    known = [field.name for field in fields(CONVENTIONS[name])]
    for options in ({}, *({option: OPTIONS[option]} for option in known)):
        convention = CONVENTIONS[name](**options)
        weight = convention.row_weights(q)
        got = LambdaRank(convention=name, **options).gradient(scores, q)
        for derivative, of_convention in zip(got, convention.gradient(scores, q, NDCG(), 1.0), strict=True):
            np.testing.assert_array_equal(derivative, of_convention * weight)


def test_none_is_the_engines_default():
    scores, q = drawn.make(12, [60])
    for convention, explicit in (
        (LightGBMConvention(), LightGBMConvention(30, True)),
        (XGBoostConvention(), XGBoostConvention(32, True, True)),
    ):
        convention.check(NDCG(), 1.0)
        for one, two in zip(
            convention.gradient(scores, q, NDCG(), 1.0),
            explicit.gradient(scores, q, NDCG(), 1.0),
            strict=True,
        ):
            assert one.tobytes() == two.tobytes()


def test_the_papers_convention_is_none_of_an_engines():
    assert convention_of("paper", dict.fromkeys(OPTIONS)) is None
    assert convention_of("lightgbm", {"norm": False, "score_norm": None}) == LightGBMConvention(norm=False)
    assert LambdaRank().rule is not None and LambdaRank(convention="xgboost").rule is None
