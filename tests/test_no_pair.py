"""Labels in which an objective, or a part of one, has no two documents to order: said once, by every door."""

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import rankers
from rules import RULES
from sklearn.model_selection import GroupKFold
from warned import warnings_of

from lambdaboost import (
    CNDCG,
    MAP,
    NDCG,
    Blend,
    ClickTier,
    GradientStep,
    LambdaRank,
    Linear,
    ListNet,
    Queries,
    RankNet,
    Scorecard,
    YetiLoss,
    graded,
)
from lambdaboost.objectives import Objective

QUERIES, EACH = 40, 10
N = QUERIES * EACH
SIZES = np.full(QUERIES, EACH)
QID = np.repeat(np.arange(QUERIES), EACH)
RNG = np.random.default_rng(0)
X = RNG.random((N, 4))
GRADES = RNG.integers(0, 3, N) * 1.0
ONES = (RNG.random(N) < 0.3) * 1.0  # a column of 0 and 1
RATES = RNG.random(N)
NAN = np.full(N, np.nan)
FEW = np.where((QID % 3 == 0) & (np.arange(N) % EACH < 2), RATES, np.nan)  # two labels in every third query
PAPER = graded(0.1, zeros="missing")
LGB = {"verbose": -1, "num_threads": 1, "num_leaves": 5, "min_data_in_leaf": 5}
XGB = {"nthread": 1, "max_depth": 2, "base_score": 0}


def queries(relevance=GRADES, clicks=ONES, **more):
    return Queries(relevance, **{"sizes": SIZES} | more, clicks=clicks)


# Why there is no pair.

NO_ORDER = "no query with a weight above 0 has two documents with different labels in 'relevance'"
TIED = "documents with equal labels in 'relevance' have no different labels in 'clicks'"
ZEROS = "zeros='missing' leaves out documents with 0 in 'clicks', and the others do not differ"
SHOWN = np.tile(np.arange(1, EACH + 1), QUERIES)


@pytest.mark.parametrize(
    ("objective", "q", "part", "reason"),
    [
        (PAPER, queries(), "ClickTier(zeros='missing')", f"{ZEROS}; give zeros='label'"),
        (graded(), queries(clicks=NAN), "ClickTier()", "'clicks' is missing (NaN) in every row; give its labels"),
        (graded(), queries(clicks=GRADES / 2), "ClickTier()", TIED),
        (PAPER, queries(clicks=np.where(GRADES == 2, 1, 0)), "ClickTier(zeros='missing')", TIED),
        (graded(), queries(clicks=np.where(ONES == 1, 1, np.nan)), "ClickTier()", "where NaN means 0, "),
        (LambdaRank(), queries(QID % 3), "LambdaRank()", NO_ORDER),
        (ListNet(), queries(0 * GRADES), "ListNet()", NO_ORDER),
        (RankNet(), queries(ONES, RATES, sizes=np.ones(N, dtype=int)), "RankNet()", NO_ORDER),
        (LambdaRank(MAP(threshold=3)), queries(), "LambdaRank(metric=MAP(threshold=3.0))",
         "that MAP(threshold=3.0) values differently"),
        (GradientStep(Blend(LambdaRank(), ListNet(), Linear(0.0, 0.1))), queries(GRADES), None, None),
        (Scorecard((RankNet(), ClickTier(zeros="missing"), LambdaRank(CNDCG())), (1.0, 0.5, 0.5)), queries(),
         "ClickTier(zeros='missing')", ZEROS),
        (YetiLoss(CNDCG()), queries(clicks=NAN), "YetiLoss(metric=CNDCG())", "missing (NaN) in every row"),
        (graded(), queries(), None, None),
        (graded(0.0), queries(clicks=NAN), "ClickTier()", "'clicks' is missing (NaN) in every row"),
    ],
)  # fmt: skip
def test_reasons(objective, q, part, reason):
    found = {one: why for one, why in objective.why_no_pair(q).items() if why}
    assert list(found) == ([] if part is None else [part])
    for why in found.values():
        assert reason in why


@pytest.mark.parametrize("objective", dict.fromkeys(rule.objective for rule in RULES), ids=repr)
def test_every_objective_has_pairs_or_none(objective):
    """Constant labels have none in any part, whichever way an objective is made; drawn ones have some."""
    sources = dict.fromkeys(("clicks", "fresh"), 0 * GRADES)
    alike = Queries(0 * GRADES, sizes=SIZES, position=SHOWN, **sources)
    assert all(objective.why_no_pair(alike).values())
    drawn = {"clicks": RATES.round(1), "fresh": np.roll(RATES, 1)}
    tiers = Queries(
        GRADES, sizes=SIZES, position=SHOWN, **drawn
    )  # documents that tie in both differ in a third
    assert "" in objective.why_no_pair(tiers).values()


# Where it is said.


def frame(clicks=ONES):
    return pd.DataFrame(X, columns=list("abcd")).assign(qid=QID, clicks=clicks)


def stock(engine, objective, clicks, y):
    of = rankers.stock(engine)
    data = of.dataset(X, y, group=SIZES, sources={"clicks": clicks})
    of.train({"lightgbm": LGB, "xgboost": XGB}[engine], data, 3, objective=objective)


def by_ranker(engine, objective, clicks, y):
    rankers.ranker(engine, objective=objective, sources=["clicks"]).fit(frame(clicks), y)


class Pointwise(Objective, registered=False):
    """Towards the grade, whatever that of others; a dict has no hash."""

    options: dict

    def lambdas(self, scores, q, iteration):
        return q.relevance - scores, np.ones(scores.size)


@pytest.mark.parametrize("train", [stock, by_ranker], ids=lambda door: door.__name__)
@pytest.mark.parametrize(
    ("objective", "clicks", "y", "said"),
    [
        (PAPER, ONES, GRADES, ZEROS),
        (graded(), NAN, GRADES, "'clicks' is missing (NaN) in every row"),
        (graded(), FEW, GRADES, None),  # of documents that were never shown
        (graded(), ONES, GRADES, None),
        (Pointwise({}), ONES, QID % 3, None),
    ],
    ids=["zeros missing", "all missing", "few", "plain 0 and 1", "of no pairs"],
)
def test_doors(engine, train, objective, clicks, y, said):
    """One warning by each; of an objective that has no pair at all, nothing blames the size of leaves."""
    messages = warnings_of(lambda: train(engine, objective, clicks, y))
    assert len(messages) == (said is not None), messages
    assert not messages or said in messages[0]


def test_a_stock_ranker_and_stock_folds():
    """Of constant grades, which is all that they hand on."""
    ranker = lgb.LGBMRanker(objective=LambdaRank(), n_estimators=3, verbose=-1, n_jobs=1)
    (said,) = warnings_of(lambda: ranker.fit(X, QID % 3, group=SIZES))
    assert said.startswith("LambdaRank() has no pair") and NO_ORDER in said
    data = lgb.Dataset(X, QID % 3, group=SIZES)
    folds = list(GroupKFold(2).split(X, groups=QID))
    with pytest.warns(UserWarning) as seen:
        lgb.cv({**LGB, "objective": LambdaRank()}, data, 3, folds=folds, feval=NDCG(3))
    assert {str(warning.message) for warning in seen} == {said}
    assert {warning.filename for warning in seen} == {__file__}
