"""Ranking objectives for stock LightGBM and XGBoost: the λ-gradients of the papers, drop-in and fast.

>>> from lambdaboost import LambdaRank, NDCG, Queries
>>> q = Queries([0, 2, 1], sizes=[3])
>>> grad, hess = LambdaRank(NDCG(k=3)).gradient([0.3, 0.2, 0.1], q)
>>> grad.round(3)
array([ 0.236, -0.194, -0.041], dtype=float32)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lambdaboost.clicks import ClickLog, Propensities
    from lambdaboost.datasets import Queries
    from lambdaboost.engines.checkpoint import Checkpoint
    from lambdaboost.engines.saving import load, save
    from lambdaboost.evaluation import (
        AUC,
        CNDCG,
        ERR,
        MAP,
        MRR,
        NDCG,
        WTA,
        BPref,
        ClickDCG,
        KendallTau,
        PairAccuracy,
        Pearson,
        Precision,
        Recall,
        Spearman,
    )
    from lambdaboost.objectives import (
        SPSA,
        XENDCG,
        ApproxNDCG,
        Blend,
        Chebyshev,
        ClickTier,
        Combo,
        Constant,
        Constrained,
        ExactPareto,
        Exponential,
        FiniteDifference,
        FromSources,
        GradientStep,
        GumbelRanks,
        InversePropensity,
        LambdaLoss,
        LambdaRank,
        Linear,
        ListMLE,
        ListNet,
        McRank,
        MinNorm,
        NormalizedPairs,
        OrdinalMcRank,
        PairwiseHinge,
        PositionGAM,
        RankNet,
        Scaled,
        Scorecard,
        Shrunk,
        SigmoidLocal,
        StochasticLabels,
        StructuredHinge,
        UnbiasedLambdaRank,
        draw_preferences,
        graded,
        iteration_dependent,
    )
    from lambdaboost.tuning import Tuned, tune

__version__ = "0.1.0"
__all__ = [
    "AUC",
    "CNDCG",
    "ERR",
    "MAP",
    "MRR",
    "NDCG",
    "SPSA",
    "WTA",
    "XENDCG",
    "ApproxNDCG",
    "BPref",
    "Blend",
    "Chebyshev",
    "Checkpoint",
    "ClickDCG",
    "ClickLog",
    "ClickTier",
    "Combo",
    "Constant",
    "Constrained",
    "ExactPareto",
    "Exponential",
    "FiniteDifference",
    "FromSources",
    "GradientStep",
    "GumbelRanks",
    "InversePropensity",
    "KendallTau",
    "LambdaLoss",
    "LambdaRank",
    "Linear",
    "ListMLE",
    "ListNet",
    "McRank",
    "MinNorm",
    "NormalizedPairs",
    "OrdinalMcRank",
    "PairAccuracy",
    "PairwiseHinge",
    "Pearson",
    "PositionGAM",
    "Precision",
    "Propensities",
    "Queries",
    "RankNet",
    "Recall",
    "Scaled",
    "Scorecard",
    "Shrunk",
    "SigmoidLocal",
    "Spearman",
    "StochasticLabels",
    "StructuredHinge",
    "Tuned",
    "UnbiasedLambdaRank",
    "__version__",
    "draw_preferences",
    "graded",
    "iteration_dependent",
    "load",
    "save",
    "tune",
]

# The modules of the names above. They are imported on first use, so that `lambdaboost --help` does not wait for Numba.
HOLDERS = ("datasets", "clicks", "evaluation", "objectives", "engines.saving", "engines.checkpoint", "tuning")


def __getattr__(name: str) -> Any:
    """A public name, or a submodule, on first use (PEP 562)."""
    if name in __all__:
        for holder in HOLDERS:
            value = getattr(import_module(f"lambdaboost.{holder}"), name, None)
            if value is not None:
                globals()[name] = value
                return value
    if name in ("clicks", "datasets", "engines", "evaluation", "objectives"):
        return import_module(f"lambdaboost.{name}")
    raise AttributeError(f"module 'lambdaboost' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
