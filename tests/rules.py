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


SHORTER = 70  # characters of an id


def named(rule):
    """The id of a row."""
    return repr(rule.objective)[:SHORTER]


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


def _lam_l(s, y, k=None, sigma=1.0):
    return naive.by_swap(NDCG(k), s, y["relevance"], lambda o: naive.logistic(o, sigma))


def _lam_s(s, y, k=None, center=0.0):
    return naive.by_swap(NDCG(k), s, y["relevance"], lambda o: naive.local(o, center))


def _lam_c(s, y, k=None, **zeros):
    return naive.click_tier(s, y["clicks"], [y["relevance"]], k, **zeros)


def _third(s, y):
    return naive.click_tier(s, y["fresh"], [y["relevance"], y["clicks"]])


def _by_swap(objective, **limits):
    """LambdaRank or SigmoidLocal by what swaps are worth in its measure."""
    force = naive.logistic
    if isinstance(objective, SigmoidLocal):
        force = partial(naive.local, center=objective.center)
    return Rule(
        objective, lambda s, y, m: naive.by_swap(objective.metric, s, y["relevance"], force), **limits
    )


def _scorecard(s, y, m):
    parts = [_lam_l(s, y), _lam_c(s, y), _third(s, y)]
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


def _inverse(objective, reference, source="relevance", highest=1e3, **limits):
    """An objective by inverse propensities; `reference(s, y, up)` is its own with pairs times up of the better."""
    return Rule(
        InversePropensity(objective, CURVE, **limits),
        lambda s, y, m: reference(s, y, _up(y, source, **limits)),
        highest=highest,
    )


def _lam_c_up(s, y, up):
    return naive.click_tier(s, y["clicks"], [y["relevance"]], up=up)


RULES = [
    Rule(FreshTier(), _fresh_tier),
    Rule(RankNet(), lambda s, y, m: naive.by_swap(None, s, y["relevance"])),
    Rule(LambdaRank(), lambda s, y, m: _lam_l(s, y)),
    Rule(LambdaRank(sigma=0.5), lambda s, y, m: _lam_l(s, y, sigma=0.5)),
    Rule(LambdaRank(NDCG(k=1)), lambda s, y, m: _lam_l(s, y, 1)),
    Rule(LambdaRank(NDCG(k=3)), lambda s, y, m: _lam_l(s, y, 3)),
    Rule(
        LambdaRank(NDCG(k=5, gain="linear")),
        lambda s, y, m: naive.by_swap(NDCG(k=5, gain="linear"), s, y["relevance"]),
    ),
    Rule(LambdaRank(CNDCG(k=4)), lambda s, y, m: naive.by_swap(CNDCG(k=4), s, y["clicks"])),
    *(
        _by_swap(LambdaRank(metric))
        for metric in (
            *(
                MAP(),
                MAP(k=1),
                MAP(k=5, threshold=2),
                MRR(),
                MRR(k=3, threshold=2),
                PairAccuracy(),
                Spearman(),
            ),
            *(Precision(k=1), Precision(k=5, threshold=2), Recall(k=5, threshold=2)),
        )
    ),
    _by_swap(LambdaRank(ERR(max_grade=5)), highest=5),
    _by_swap(LambdaRank(ERR(k=3, max_grade=5)), highest=5),
    _by_swap(SigmoidLocal(MAP())),
    _by_swap(SigmoidLocal(ERR(k=10, max_grade=5), 0.5), highest=5),
    _by_swap(SigmoidLocal(PairAccuracy(), -0.7)),
    Rule(SigmoidLocal(), lambda s, y, m: _lam_s(s, y)),
    Rule(SigmoidLocal(NDCG(k=3)), lambda s, y, m: _lam_s(s, y, 3)),
    Rule(SigmoidLocal(NDCG(k=10), center=-0.7), lambda s, y, m: _lam_s(s, y, 10, -0.7)),
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
    Rule(RankNet(source="clicks"), lambda s, y, m: naive.by_swap(None, s, y["clicks"])),
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
    _inverse(LambdaRank(), lambda s, y, up: naive.by_swap(NDCG(), s, y["relevance"], up=up)),
    _inverse(
        LambdaRank(NDCG(k=3)), lambda s, y, up: naive.by_swap(NDCG(k=3), s, y["relevance"], up=up), clip=4.0
    ),
    _inverse(RankNet(), lambda s, y, up: naive.by_swap(None, s, y["relevance"], up=up)),
    *(
        _inverse(
            LambdaRank(metric),
            lambda s, y, up, metric=metric: naive.by_swap(metric, s, y["relevance"], up=up),
            highest=highest,
        )
        for metric, highest in ((MRR(k=3), 1e3), (MAP(), 1e3), (ERR(max_grade=5), 5), (PairAccuracy(), 1e3))
    ),
    _inverse(ClickTier(), _lam_c_up, "clicks", clip=3.0),
    Rule(
        graded(0.2, propensities=CURVE),
        lambda s, y, m: naive.blend(_lam_l(s, y), _lam_c_up(s, y, _up(y, "clicks")), 0.2),
    ),
    Rule(
        GradientStep(graded(0.5)),
        lambda s, y, m: naive.gradient_step(
            naive.blend(_lam_l(s, y), _lam_c(s, y), 0.5)[0], y["relevance"], y["clicks"]
        ),
    ),
    Rule(
        InversePropensity(YetiLoss(NDCG(k=3)), CURVE),
        lambda s, y, m: naive.yetiloss(s, y["relevance"], m, NDCG(k=3), up=_up(y)),
    ),
    Rule(graded(), lambda s, y, m: naive.blend(_lam_l(s, y), _lam_c(s, y), 0.1)),
    Rule(
        Blend(LambdaRank(), RankNet(), Exponential(0.25, 100.0)),
        lambda s, y, m: naive.blend(
            _lam_l(s, y), naive.by_swap(None, s, y["relevance"]), naive.exponential_weight(0.25, 100.0, m)
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
    Rule(YetiLoss(NDCG(k=3), beta=0.0), lambda s, y, m: _lam_l(s, y, 3)),
    Rule(GradientStep(LambdaRank()), lambda s, y, m: naive.gradient_step(_lam_l(s, y)[0], y["relevance"])),
    Rule(
        GradientStep(RankNet(), normalize="none"),
        lambda s, y, m: (naive.by_swap(None, s, y["relevance"])[0], np.ones(len(s))),
    ),
    Rule(
        iteration_dependent(metric=NDCG(k=3)),
        lambda s, y, m: naive.gradient_step(
            naive.blend(_lam_l(s, y), _lam_s(s, y, 3), naive.linear_weight(0.1, 0.001, m))[0], y["relevance"]
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
