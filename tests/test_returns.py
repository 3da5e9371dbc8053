"""Labels below 0, such as returns: what reads their order or differences takes them, all else refuses them."""

import naive
import naive_measures
import numpy as np
import pandas as pd
import pytest
from rankers import with_metric
from rules import RULES

from lambdaboost import (
    NDCG,
    Blend,
    GradientStep,
    LambdaRank,
    ListMLE,
    ListNet,
    PairAccuracy,
    Queries,
    RankNet,
    Scorecard,
    SigmoidLocal,
    Spearman,
)
from lambdaboost.evaluation import MEASURES

ROWS, DATES = 30, 12
rng = np.random.default_rng(7)
X = rng.normal(size=(ROWS * DATES, 3))
RETURNS = (0.02 * X[:, 0] + 0.02 * rng.standard_t(3, ROWS * DATES)).astype(np.float32)
SIZES = [ROWS] * DATES
PLACES = np.tile(np.arange(ROWS) + 1, DATES)
Q = Queries(RETURNS, sizes=SIZES, clicks=RETURNS, fresh=RETURNS, position=PLACES)
RANKS = pd.Series(RETURNS).rank().to_numpy()
SHIFTED = Queries(RANKS, sizes=SIZES, clicks=RANKS)
SCORES = X[:, 0] + 0.5 * X[:, 1]
OF_ORDER = [
    RankNet(),
    ListMLE(),
    LambdaRank(Spearman()),
    LambdaRank(PairAccuracy()),
    SigmoidLocal(Spearman()),
    GradientStep(LambdaRank(Spearman())),
    Blend(RankNet(), LambdaRank(Spearman()), 0.5),
    Scorecard((RankNet(), LambdaRank(Spearman())), (1.0, 2.0)),
]


REFUSED = r"^(relevance|clicks|fresh)\[\d+\] is -.*: labels must be ≥ 0, except for measures and objectives of their"


@pytest.mark.parametrize("name", MEASURES)
def test_measures_of_gains_refuse_them_and_those_of_the_order_do_not(name):
    measure = naive_measures.instance(MEASURES[name])
    assert measure.allows_negative == (name in ("Spearman", "Pearson", "PairAccuracy", "KendallTau"))
    if measure.allows_negative:
        expected = naive_measures.per_query(measure, SCORES, Q)
        np.testing.assert_allclose(measure.per_query(SCORES, Q), expected, atol=1e-12)
    else:
        with pytest.raises(ValueError, match=REFUSED):
            measure.per_query(SCORES, Q)


@pytest.mark.parametrize("objective", OF_ORDER, ids=repr)
def test_objectives_of_the_order_have_the_gradient_of_the_ranks(objective):
    assert objective.needs.allows_negative
    np.testing.assert_array_equal(objective.gradient(SCORES, Q), objective.gradient(SCORES, SHIFTED))


def test_listnet_has_the_gradient_of_the_reference():
    dates = zip(SCORES.reshape(DATES, ROWS), RETURNS.reshape(DATES, ROWS), strict=True)
    by_date = [naive.listnet(scores, returns.astype(np.float64)) for scores, returns in dates]
    lam, mu = np.concatenate(by_date, axis=1)
    np.testing.assert_allclose(ListNet().gradient(SCORES, Q), (-lam, mu), rtol=0, atol=1e-6)


OF_GAINS = dict.fromkeys(rule.objective for rule in RULES if not rule.objective.needs.allows_negative)


@pytest.mark.parametrize("objective", OF_GAINS, ids=repr)
def test_objectives_of_gains_refuse_them(objective):
    with pytest.raises(ValueError, match=REFUSED):
        objective.gradient(SCORES, Q)


def test_engines_rank_returns_by_their_order_and_refuse_them_as_gains(engine):
    def trained(objective, measure, labels=RETURNS):
        fitted, more = with_metric(engine, measure, objective=objective)
        return fitted.fit(X, labels, group=SIZES, eval_set=[(X, labels)], eval_group=[SIZES], **more).predict(
            X
        )

    scores = trained(LambdaRank(Spearman()), Spearman())
    np.testing.assert_array_equal(scores, trained(LambdaRank(Spearman()), Spearman(), SHIFTED.relevance))
    assert Spearman()(scores, Q) > 0.3
    for rule, measure in ((LambdaRank(), Spearman()), (RankNet(), NDCG(5))):
        with pytest.raises(ValueError, match=r"relevance\[\d+\] is -"):
            trained(rule, measure)
