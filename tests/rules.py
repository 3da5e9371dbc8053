"""One row for every objective: its value, and its slow reference for one query. Add a row with every new objective."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import naive
import numpy as np
from fresh_tier import FreshTier  # whose folder `naive` has put on the path

from lambdaboost.clicks import Propensities
from lambdaboost.evaluation import (
    CNDCG,
    ERR,
    MAP,
    MRR,
    NDCG,
    PairAccuracy,
    Precision,
    Recall,
    Spearman,
)
from lambdaboost.objectives import (
    XENDCG,
    ApproxNDCG,
    Blend,
    ClickTier,
    Exponential,
    GradientStep,
    InversePropensity,
    LambdaLoss,
    LambdaRank,
    Linear,
    ListMLE,
    ListNet,
    Objective,
    RankNet,
    Scorecard,
    SigmoidLocal,
    YetiLoss,
    graded,
    iteration_dependent,
)

Pair = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Rule:
    """An objective and its reference: (scores, labels by source, round) -> λ, μ of one query."""

    objective: Objective
    reference: Callable[[np.ndarray, dict[str, np.ndarray], int], Pair]
    tolerance: float = 1e-5
    highest: float = 1e3  # the highest grade that the objective can take
    # Shared checks that do not hold: "nothing", "twice".
    skips: tuple[str, ...] = ()


def named(rule):
    """The id of a row, cut to a length that a terminal shows."""
    return repr(rule.objective)[:70]


# Measures and variants that few train by: each has kernels of its own, which `make test` would compile.
RARE = (
    "MRR(",
    "ERR(",
    "Precision(",
    "PairAccuracy(",
    "Spearman(",
    "scheme='1'",
    "SigmoidLocal(metric=MAP",
    "InversePropensity(objective=LambdaRank(metric=MAP",
)


def is_rare(objective):
    """Whether the checks of an objective are among the slow tests."""
    return any(name in repr(objective) for name in RARE)


def _lam(of, s, y, m=0, up=None):
    """RankNet, LambdaRank or SigmoidLocal, by what swaps are worth in its measure; pairs times `up` of the better."""
    metric = getattr(of, "metric", None)
    if isinstance(of, SigmoidLocal):
        force = partial(naive.local, center=of.center)
    else:
        force = partial(naive.logistic, sigma=of.sigma)
    return naive.by_swap(metric, s, y[(metric or of).source], force, up)


def _highest(of):
    """The highest grade that its measure can take."""
    return getattr(getattr(of, "metric", None), "max_grade", 1e3)


def _lam_c(s, y, k=None, **zeros):
    return naive.click_tier(s, y["clicks"], [y["relevance"]], k, **zeros)


def _third(s, y):
    return naive.click_tier(s, y["fresh"], [y["relevance"], y["clicks"]])


def _scorecard(s, y, m):
    parts = [_lam(LambdaRank(), s, y), _lam_c(s, y), _third(s, y)]
    weights = [0.7, naive.linear_weight(0.1, 0.01, m), 2.0]
    return tuple(sum(w * part[x] for w, part in zip(weights, parts, strict=True)) for x in (0, 1))


def _fresh_tier(s, y, m):
    """The reference of the template of CONTRIBUTING.md."""
    grades = y["relevance"]
    tied = lambda i, j: grades[i] == grades[j] or np.isnan(grades).all()  # noqa: E731
    pairs = [pair for pair in naive.graded_pairs(y["fresh"]) if tied(*pair)]
    return naive.by_swap(None, s, y["fresh"], pairs=pairs)


CURVE = Propensities.power(0.7, 400)


def _up(y, source="relevance", clip=np.inf):
    """1/p of each document with a label above 0, 1 of all others."""
    return np.where(y[source] > 0, np.minimum(y["position"] ** 0.7, clip), 1.0)


def _lam_c_up(s, y, up):
    return naive.click_tier(s, y["clicks"], [y["relevance"]], up=up)


RULES = [
    Rule(FreshTier(), _fresh_tier),
    *(
        Rule(of, partial(_lam, of), highest=_highest(of))
        for of in (
            RankNet(),
            RankNet(source="clicks"),
            LambdaRank(),
            LambdaRank(sigma=0.5),
            LambdaRank(NDCG(k=3)),
            LambdaRank(NDCG(k=5, gain="linear")),
            LambdaRank(CNDCG(k=4)),
            LambdaRank(MAP()),
            LambdaRank(MAP(k=1)),
            LambdaRank(MAP(k=5, threshold=2)),
            LambdaRank(MRR()),
            LambdaRank(MRR(k=3, threshold=2)),
            LambdaRank(ERR(max_grade=5)),
            LambdaRank(ERR(k=3, max_grade=5)),
            LambdaRank(Precision(k=1)),
            LambdaRank(Precision(k=5, threshold=2)),
            LambdaRank(Recall(k=5, threshold=2)),
            LambdaRank(PairAccuracy()),
            LambdaRank(Spearman()),
            SigmoidLocal(),
            SigmoidLocal(NDCG(k=3)),
            SigmoidLocal(NDCG(k=10), center=-0.7),
            SigmoidLocal(MAP()),
            SigmoidLocal(ERR(k=10, max_grade=5), 0.5),
            SigmoidLocal(PairAccuracy(), -0.7),
        )
    ),
    Rule(LambdaLoss(scheme="1"), lambda s, y, m: naive.lambda_loss(s, y["relevance"], "1")),
    Rule(
        LambdaLoss(CNDCG(), "1", sigma=2.5),
        lambda s, y, m: naive.lambda_loss(s, y["clicks"], "1", sigma=2.5, gain=naive.click_gain),
    ),
    Rule(LambdaLoss(scheme="2"), lambda s, y, m: naive.lambda_loss(s, y["relevance"], "2")),
    Rule(LambdaLoss(NDCG(k=3), "2"), lambda s, y, m: naive.lambda_loss(s, y["relevance"], "2", 3)),
    Rule(LambdaLoss(), lambda s, y, m: naive.lambda_loss(s, y["relevance"], "2++")),
    Rule(
        LambdaLoss(NDCG(k=5), distance_weight=0.5, sigma=0.5),
        lambda s, y, m: naive.lambda_loss(s, y["relevance"], "2++", 5, 0.5, 0.5),
    ),
    Rule(ListNet(), lambda s, y, m: naive.listnet(s, y["relevance"])),
    Rule(ListMLE(), lambda s, y, m: naive.listmle(s, y["relevance"])),
    Rule(ListNet("clicks"), lambda s, y, m: naive.listnet(s, y["clicks"])),
    Rule(ListMLE("clicks"), lambda s, y, m: naive.listmle(s, y["clicks"])),
    Rule(ApproxNDCG(), lambda s, y, m: naive.approx_ndcg(s, y["relevance"])),
    Rule(
        ApproxNDCG(CNDCG(), alpha=1.0),
        lambda s, y, m: naive.approx_ndcg(s, y["clicks"], 1.0, naive.click_gain),
    ),
    Rule(ClickTier(), lambda s, y, m: _lam_c(s, y)),
    Rule(ClickTier(CNDCG(k=3)), lambda s, y, m: _lam_c(s, y, 3)),
    Rule(ClickTier(source="fresh", within=("relevance", "clicks")), lambda s, y, m: _third(s, y)),
    Rule(ClickTier(within=()), lambda s, y, m: naive.click_tier(s, y["clicks"], [])),
    Rule(ClickTier(zeros="missing"), lambda s, y, m: _lam_c(s, y, zeros="missing")),
    *(
        Rule(
            InversePropensity(of, CURVE, clip),
            lambda s, y, m, of=of, clip=clip: _lam(of, s, y, up=_up(y, clip=clip or np.inf)),
            highest=_highest(of),
        )
        for of, clip in (
            (RankNet(), None),
            (LambdaRank(), None),
            (LambdaRank(NDCG(k=3)), 4.0),
            *((LambdaRank(of), None) for of in (MRR(k=3), MAP(), ERR(max_grade=5), PairAccuracy())),
        )
    ),
    Rule(
        InversePropensity(ClickTier(), CURVE, clip=3.0),
        lambda s, y, m: _lam_c_up(s, y, _up(y, "clicks", 3.0)),
    ),
    Rule(
        graded(0.2, propensities=CURVE),
        lambda s, y, m: naive.blend(_lam(LambdaRank(), s, y), _lam_c_up(s, y, _up(y, "clicks")), 0.2),
    ),
    Rule(
        GradientStep(graded(0.5)),
        lambda s, y, m: naive.gradient_step(
            naive.blend(_lam(LambdaRank(), s, y), _lam_c(s, y), 0.5)[0], y["relevance"], y["clicks"]
        ),
    ),
    Rule(
        InversePropensity(YetiLoss(NDCG(k=3)), CURVE),
        lambda s, y, m: naive.yetiloss(s, y["relevance"], m, NDCG(k=3), up=_up(y)),
    ),
    Rule(graded(), lambda s, y, m: naive.blend(_lam(LambdaRank(), s, y), _lam_c(s, y), 0.1)),
    Rule(
        Blend(LambdaRank(), RankNet(), Exponential(0.25, 100.0)),
        lambda s, y, m: naive.blend(
            _lam(LambdaRank(), s, y), _lam(RankNet(), s, y), naive.exponential_weight(0.25, 100.0, m)
        ),
    ),
    Rule(
        Scorecard(
            (LambdaRank(), ClickTier(), ClickTier(source="fresh", within=("relevance", "clicks"))),
            (0.7, Linear(0.1, 0.01), 2.0),
        ),
        _scorecard,
    ),
    *(
        Rule(YetiLoss(of), lambda s, y, m, of=of: naive.yetiloss(s, y["relevance"], m, of))
        for of in (NDCG(), NDCG(k=3), MAP(), MRR(k=4), Precision(k=3))
    ),
    Rule(
        YetiLoss(CNDCG(k=5), beta=0.7, draws=3, seed=5),
        lambda s, y, m: naive.yetiloss(s, y["clicks"], m, CNDCG(k=5), 0.7, 3, 5),
    ),
    Rule(YetiLoss(NDCG(k=3), beta=0.0), lambda s, y, m: _lam(LambdaRank(NDCG(k=3)), s, y)),
    Rule(
        GradientStep(LambdaRank()),
        lambda s, y, m: naive.gradient_step(_lam(LambdaRank(), s, y)[0], y["relevance"]),
    ),
    Rule(
        GradientStep(RankNet(), normalize="none"),
        lambda s, y, m: (_lam(RankNet(), s, y)[0], np.ones(len(s))),
    ),
    Rule(
        iteration_dependent(metric=NDCG(k=3)),
        lambda s, y, m: naive.gradient_step(
            naive.blend(
                _lam(LambdaRank(), s, y),
                _lam(SigmoidLocal(NDCG(k=3)), s, y),
                naive.linear_weight(0.1, 0.001, m),
            )[0],
            y["relevance"],
        ),
    ),
    *(
        Rule(
            XENDCG(metric, seed),
            lambda s, y, m, metric=metric, seed=seed, gain=gain: naive.xendcg(
                s,
                [l if np.isnan(l) else gain(l) for l in y[metric.source]],
                naive.lightgbm_floats(seed + y["query"], m, len(s)),
            ),
            1e-6,
            skips=("nothing", "twice"),
        )
        for metric, seed, gain in (
            (NDCG(), 12_345, naive.exponential),
            (CNDCG(), 7, naive.click_gain),
            (NDCG(gain="linear"), 0, float),
        )
    ),
]
