"""Kernels at the edges of their memory: lists and cutoffs beside whole vectors, relevant documents far down.

`make test-bounds` runs these tests with kernels that check every index (NUMBA_BOUNDSCHECK=1): there a read or write
past the end of an array is an IndexError.
"""

import drawn
import naive
import naive_measures
import numba
import numpy as np
import pytest
from rules import CURVE, RULES

from lambdaboost import (
    CNDCG,
    ERR,
    MRR,
    NDCG,
    XENDCG,
    ClickTier,
    InversePropensity,
    LambdaLoss,
    LambdaRank,
    Precision,
    RankNet,
    SigmoidLocal,
    _jit,
)
from lambdaboost.evaluation import MEASURES
from lambdaboost.objectives.kernels.prepared import BY_SWEEP, BY_TILES

pytestmark = pytest.mark.slow  # each cutoff has a kernel, and every query is computed once more
CHECKED = bool(numba.config.BOUNDSCHECK)


def at_cutoff(k):
    """Every objective that has a cutoff, at this one."""
    return [
        *(LambdaRank(metric) for metric in (NDCG(k), CNDCG(k), MRR(k), ERR(k), Precision(k))),
        LambdaRank(MRR(k, threshold=3)),
        SigmoidLocal(NDCG(k)),
        LambdaLoss(NDCG(k)),
        ClickTier(CNDCG(k)),
        InversePropensity(LambdaRank(NDCG(k)), CURVE),
    ]


# XENDCG draws by the number of a query, so that one alone has other gradients.
OBJECTIVES = [rule.objective for rule in RULES if not isinstance(rule.objective, XENDCG)]
OBJECTIVES += [each for k in drawn.EDGES for each in at_cutoff(k)]


@pytest.fixture(scope="module")
def edges():
    return drawn.edges()


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
def test_each_query_is_computed_as_if_it_were_alone(objective, edges):
    scores, q = edges
    together = objective.gradient(scores, q, iteration=3)
    for query, (rows, _) in enumerate(drawn.rows(q)):
        alone = objective.gradient(scores[rows], q.take([query]), iteration=3)
        for a, t in zip(alone, together, strict=True):
            np.testing.assert_allclose(t[rows], a, rtol=0, atol=1e-6 * max(np.abs(a).max(), 1e-30))


CUT = [measure for measure in MEASURES.values() if "k" in measure.__dataclass_fields__]
EACH = [naive_measures.instance(measure) for measure in MEASURES.values() if measure not in CUT]
EACH += [naive_measures.instance(measure, k=k) for measure in CUT for k in drawn.EDGES]


@pytest.mark.parametrize("measure", EACH, ids=repr)
def test_each_measure(measure, edges):
    scores, q = edges
    expected = naive_measures.per_query(measure, scores, q)
    np.testing.assert_allclose(measure.per_query(scores, q), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    "objective", [LambdaRank(), RankNet(), LambdaRank(NDCG(k=64)), SigmoidLocal()], ids=repr
)
@pytest.mark.parametrize("n", [2, 33, 257, 1025])
def test_the_sweep(objective, n):
    scores, q = drawn.edges(1, [n])
    by_sweep, by_pairs = (naive.gradient_by(way, objective, scores, q) for way in (BY_SWEEP, BY_TILES))
    # The curvature of SigmoidLocal is nearly 0 where scores are close: errors are relative to λ.
    np.testing.assert_allclose(by_sweep, by_pairs, rtol=0, atol=1e-5 * np.abs(by_pairs).max())


def _past_the_end(a, b, offsets, out):
    for i in range(a, b + 1):
        out[offsets[i]] = 1


def _of(decorator):
    inner = decorator(_past_the_end)

    @_jit.kernel
    def outer(a, b, offsets, out):
        inner(a, b, offsets, out)

    return outer


@pytest.mark.skipif(not CHECKED, reason="make test-bounds sets NUMBA_BOUNDSCHECK")
@pytest.mark.parametrize("decorator", [_jit.kernel, _jit.inlined, _jit.inlined_strict_fp])
@pytest.mark.parametrize("n", [10, 100_000], ids=["one thread", "a pool of threads"])
def test_a_write_past_the_end_surfaces(decorator, n):
    kernel, out = _of(decorator), np.zeros(n)
    with pytest.raises(IndexError):
        _jit.over_queries(kernel, np.arange(n + 1), out)
