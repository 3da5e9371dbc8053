"""`ClickDCG`: the estimators against their definition, and what they refuse."""

import naive_measures as naive
import numpy as np
import pytest

from lambdaboost import ClickDCG, Queries
from lambdaboost.clicks import Propensities
from lambdaboost.evaluation import parse

CURVE = Propensities([1.0, 0.5, 0.25, 0.2])
NAN = float("nan")


def shown(seed, n_queries=12):
    """Scores and queries of clicks at positions, a few rows not shown."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, n_queries)
    position = np.concatenate([rng.permutation(size) + 1 for size in sizes]).astype(float)
    position[position > len(CURVE)] = NAN
    position[: sizes[0]] = NAN  # a query of which nothing was shown
    clicks = np.where(np.isnan(position), NAN, rng.random(position.size) < 0.4)
    weight = rng.random(n_queries) + 0.5
    q = Queries(np.zeros(position.size), sizes, clicks=clicks, position=position, weight=weight)
    return rng.permutation(position.size).astype(float), q


def by_definition(measure, scores, q):
    """A click on a row shown at propensity p counts 1/p times, clipped; a query counts if any of its rows was shown."""
    p = np.array([NAN, *CURVE.values])[q.position.astype(int)]
    gains = np.nan_to_num(np.minimum(1 / p, measure.clip or np.inf) * q.labels["clicks"].astype(float))
    lists = [slice(a, b) for a, b in zip(q.offsets[:-1], q.offsets[1:], strict=True)]
    values = [naive.dcg(gains[rows][np.argsort(-scores[rows])], measure.k) for rows in lists]
    values = np.where([np.isnan(p[rows]).all() for rows in lists], NAN, values)
    if measure.estimator == "snips":
        weight = np.where(np.isnan(values) & np.isnan(measure.empty), 0.0, q.query_weight)
        values *= weight.sum() / (weight * [gains[rows].sum() for rows in lists]).sum()
    return np.where(np.isnan(values), measure.empty, values)


@pytest.mark.parametrize("k", [None, 2])
@pytest.mark.parametrize("clip", [None, 3])
@pytest.mark.parametrize("empty", [0.0, NAN])
@pytest.mark.parametrize("estimator", ["ips", "snips"])
def test_agrees_with_the_definition(k, clip, empty, estimator):
    measure = ClickDCG(k, CURVE, clip, estimator, empty=empty)
    for seed in range(3):
        scores, q = shown(seed)
        np.testing.assert_allclose(
            measure.per_query(scores, q), by_definition(measure, scores, q), rtol=1e-12, atol=1e-12
        )
    assert parse(measure.text) == measure


def test_named_positions():
    side = Propensities([0.5, 1.0], names=["side", "top"])
    q = Queries([0, 0], sizes=[2], clicks=[1, 1], position=["top", "side"])
    assert ClickDCG(1, side)([0.0, 1.0], q) == 2


@pytest.mark.parametrize(
    ("message", "given"),
    [
        ("estimator is 'ipw', expected one of ips, snips", {"estimator": "ipw"}),
        ("clip is 0.5: give the highest weight of a click, a number ≥ 1", {"clip": 0.5}),
        ("no positions here: give the rank", {}),
        (r"clicks\[1\] is 1: the row was not shown, so it cannot have been clicked", {"position": [1, None]}),
    ],
)
def test_what_cannot_be_measured(message, given):
    fields = {name: value for name, value in given.items() if name != "position"}
    q = Queries([0, 0], sizes=[2], clicks=[0, 1], position=given.get("position"))
    with pytest.raises(ValueError, match=message):
        ClickDCG(propensities=CURVE, **fields)([1.0, 0.0], q)
