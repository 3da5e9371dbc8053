"""`Objective.on`: bound to its queries once, and bound again when what a training's data set holds has changed."""

import dataclasses
import gc
import weakref

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from on_lightgbm import PARAMS
from rules import CURVE

from lambdaboost import (
    CNDCG,
    NDCG,
    ApproxNDCG,
    Blend,
    ClickTier,
    GradientStep,
    InversePropensity,
    LambdaRank,
    ListNet,
    PairAccuracy,
    Queries,
    RankNet,
    Scorecard,
    SigmoidLocal,
    YetiLoss,
    attach,
    graded,
)
from lambdaboost.evaluation import ClickDCG, Measure
from lambdaboost.objectives import OBJECTIVES, Needs, Objective

rng = np.random.default_rng(0)
SIZES = [5, 12, 60, 3]
N = sum(SIZES)
X = rng.random((N, 4))
GRADES, CLICKS = rng.integers(0, 4, N).astype(float), np.round(rng.random(N), 1)
POSITION = np.concatenate([rng.permutation(size) + 1 for size in SIZES])
WEIGHT = np.linspace(0, 2, N)  # that of the first row is 0
SCORES = rng.normal(size=N)
Q = Queries(GRADES, sizes=SIZES, clicks=CLICKS, fresh=CLICKS[::-1], position=POSITION, weight=WEIGHT)
XGB = {"nthread": 1, "verbosity": 0, "objective": "rank:ndcg", "base_score": 0, "min_child_weight": 0.1}


def test_a_bound_objective_is_read_only_and_keeps_no_queries():
    q = Queries(GRADES, sizes=SIZES, clicks=CLICKS)
    alive, bound = weakref.ref(q), GradientStep(graded(0.1)).on(q)
    with pytest.raises(dataclasses.FrozenInstanceError):
        bound.weight = None
    expected = bound.gradient(SCORES)
    gc.disable()
    try:
        del q
        assert alive() is None
    finally:
        gc.enable()
    np.testing.assert_array_equal(bound.gradient(SCORES), expected)


@pytest.mark.parametrize(
    ("scores", "iteration", "message"),
    [
        ([0.0, np.nan], 0, r"scores\[1\] is nan"),
        ([0.0, -np.inf], 0, r"scores\[1\] is -inf"),
        (np.ma.array([0.0, 1.0], mask=[False, True]), 0, r"scores\[1\] is nan"),
        ([0.0], 0, r"scores has shape \(1,\), expected \(2,\)"),
        ([0.0, 1.0], True, "iteration is True"),
    ],
)
def test_each_round_is_checked(scores, iteration, message):
    """As an engine asks, which passes what it predicts."""
    with pytest.raises(ValueError, match=message):
        RankNet().on(Queries([0, 1], sizes=[2])).gradient(scores, iteration)


def dataset(engine):
    if engine == "lightgbm":
        data = lgb.Dataset(X, GRADES, group=SIZES, weight=WEIGHT, free_raw_data=False).construct()
    else:
        data = xgb.DMatrix(X, GRADES, group=SIZES)
    return attach(data, clicks=CLICKS, position=POSITION)


def reweight(data):
    # XGBoost's weights are of queries.
    data.set_weight(WEIGHT[::-1].copy() if isinstance(data, lgb.Dataset) else [1.0, 2.0, 3.0, 4.0])


CHANGES = {
    "labels": lambda data: data.set_label(np.roll(GRADES, 1)),
    "weights": reweight,
    "positions": lambda data: attach(data, position=POSITION[::-1]),
    "a source": lambda data: attach(data, clicks=CLICKS[::-1]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_in_a_training_binds_again(engine, change):
    """The gradient of each round is that of the data set as it is in that round."""
    parts = LambdaRank(), InversePropensity(ClickTier(), CURVE), 0.3
    objective, made, seen = Blend(*parts), [], []

    class Observed(Blend, registered=False):
        def on(self, q):
            made.append(q)
            return super().on(q)

    data = dataset(engine)

    def ask(scores, train):
        derivatives = Observed(*parts)(scores, train)  # made anew: an equal one is bound already
        seen.append((np.array(scores), derivatives))
        return derivatives

    if engine == "lightgbm":
        booster = lgb.Booster({**PARAMS, "objective": "none"}, data)
        updates = [lambda: booster.update(fobj=ask)] * 4
    else:
        booster = xgb.Booster(XGB, [data])
        updates = [lambda m=m: booster.update(data, m, fobj=ask) for m in range(4)]
    updates[0]()
    updates[1]()
    assert len(made) == 1
    CHANGES[change](data)
    updates[2]()
    updates[3]()
    assert len(made) == 2
    for round_, (scores, derivatives) in enumerate(seen):
        expected = objective.gradient(scores, made[round_ // 2], round_)
        np.testing.assert_array_equal(derivatives, expected)
    before, after = (objective.gradient(seen[2][0], q)[0] for q in made)
    assert not np.array_equal(before, after)


class Doubled(Objective, registered=False):
    """What a user writes: λ of an objective of lambdaboost, changed."""

    objective: Objective = LambdaRank()

    def lambdas(self, scores, q, iteration):
        lam, mu = self.objective.on(q)(scores, iteration)
        return 2 * lam, 2 * mu


@pytest.mark.parametrize(
    "combine",
    [
        lambda part: Scorecard((part, RankNet()), (1.0, 0.5)),
        lambda part: Scorecard((RankNet(), part), (0.5, 1.0)),
        lambda part: Blend(part, LambdaRank(), 0.3),
        lambda part: GradientStep(part, normalize="none"),
        lambda part: part,
    ],
)
def test_lambdas_of_ones_own_are_those_of_a_part(combine):

    def lam(objective):
        return combine(objective).on(Q)(SCORES)[0].astype(np.float64)

    alone = LambdaRank().on(Q)(SCORES)[0].astype(np.float64)
    share = 0.7 if isinstance(combine(LambdaRank()), Blend) else 1.0
    np.testing.assert_allclose(lam(Doubled()) - lam(LambdaRank()), share * alone, atol=1e-6)


def test_what_ones_own_reads_is_what_its_fields_name():

    class OfMeasure(Doubled, registered=False):
        objective: None = None
        metric: Measure = ClickDCG(propensities=CURVE)

    class OfSource(Doubled, registered=False):
        objective: None = None
        source: str = "sales"

    assert OfMeasure().needs == Needs(("clicks",), positions=True)
    assert OfSource().needs == Needs(("sales",))


@pytest.mark.parametrize("base", [LambdaRank, Blend, GradientStep, ListNet])
def test_lambdas_that_would_not_be_called_are_refused(base):
    """Each objective of lambdaboost computes λ without them."""
    with pytest.raises(TypeError, match=r"Own defines lambdas, which \w*\.prepare does not call: make it a"):

        class Own(base):
            def lambdas(self, scores, q, iteration):
                raise AssertionError

    assert "Own" not in OBJECTIVES
    with pytest.raises(NotImplementedError, match="does not define lambdas"):
        type("Empty", (Objective,), {}, registered=False)().gradient([0.0], Queries([1], sizes=[1]))


BLENDED = [
    # Of rules that differ in their force only, in either order.
    (LambdaRank(), SigmoidLocal()),
    (SigmoidLocal(NDCG(k=3)), LambdaRank(NDCG(k=3))),
    (InversePropensity(LambdaRank(CNDCG()), CURVE), InversePropensity(SigmoidLocal(CNDCG()), CURVE)),
    (LambdaRank(PairAccuracy()), SigmoidLocal(PairAccuracy())),
    # Of rules that differ in more than that, or in nothing.
    (LambdaRank(), SigmoidLocal(NDCG(k=3))),
    (LambdaRank(), SigmoidLocal(center=0.5)),
    (LambdaRank(sigma=2.0), SigmoidLocal()),
    (YetiLoss(), SigmoidLocal()),  # whose noise has an order of its own
    (LambdaRank(), YetiLoss()),
    (SigmoidLocal(), SigmoidLocal()),
]


@pytest.mark.parametrize("parts", BLENDED, ids=repr)
@pytest.mark.parametrize("spread", [1.0, 30.0, 1000.0])
def test_a_blend_is_the_mean_of_its_parts(parts, spread):
    """Also where both are summed in one pass over the pairs."""
    for weight in (0, 0.1, 0.75, 1):
        blended = Blend(*parts, lambda iteration, w=weight: w).on(Q)(spread * SCORES, 2)
        of_parts = [part.on(Q)(spread * SCORES, 2) for part in parts]
        for got, first, second in zip(blended, *of_parts, strict=True):
            expected = (1 - weight) * first.astype(np.float64) + weight * second.astype(np.float64)
            np.testing.assert_allclose(got, expected, rtol=0, atol=2e-6 * np.abs(expected).max())


@pytest.mark.parametrize("trait", [spec.name for spec in dataclasses.fields(Needs)[1:]])
def test_a_combination_needs_what_its_parts_need(trait):
    """As a blend of gradient steps needs their smallest leaf."""
    classes = [
        type("Own", (Objective,), {"needs": Needs(**{trait: v})}, registered=False) for v in (True, False)
    ]
    yes, no = (cls() for cls in classes)
    for one, other, either in ((yes, yes, True), (no, yes, trait != "allows_negative"), (no, no, False)):
        for combined in (Blend(one, other, 0.5), Scorecard((one, other), (1.0, 1.0))):
            assert getattr(combined.needs, trait) == either


@pytest.mark.parametrize(
    "objective", [ApproxNDCG(), ApproxNDCG(alpha=100.0), Blend(ListNet(), ApproxNDCG(), 0.5)]
)
def test_rounding_is_not_scaled_to_a_force(objective):
    """Where all forces cancel, λ of 1e-17 would become ±1 in round 0."""
    for size in range(3, 40):
        q = Queries(np.ones(size), sizes=[size])
        grad, _ = GradientStep(objective).gradient(np.zeros(size), q)
        assert np.abs(grad).max() < 1e-9


@pytest.mark.parametrize("sources", [("relevance",), ()], ids=["labels", "no labels"])
def test_gradient_steps_of_ones_own(sources):
    """Which may push documents without a label, and may read no labels."""

    class Pushing(Objective, registered=False):
        scale: float = 1.0
        needs = Needs(sources)

        def lambdas(self, scores, q, iteration):
            return self.scale * np.array([0.0, 1.0, 2.0, 5.0]), np.ones(4)

    q, counted = Queries([0, 1, 2, np.nan], sizes=[4]), [0, 1, 2, 5][: 3 if sources else 4]
    grad, _ = GradientStep(Pushing()).gradient(np.zeros(4), q)
    np.testing.assert_allclose(grad, np.array([0, -1, -2, -5]) / np.std(counted), rtol=1e-6)
    with np.errstate(over="ignore"), pytest.raises(ValueError, match=r"grad\[0\] of GradientStep.* is nan"):
        GradientStep(Pushing(1e160)).gradient(np.zeros(4), q)
