"""Ranking objectives for stock LightGBM and XGBoost: the λ-gradients of the papers, drop-in and fast.

>>> from lambdaboost import LambdaRank, NDCG, Queries
>>> q = Queries([0, 2, 1], sizes=[3])
>>> grad, hess = LambdaRank(NDCG(k=3)).gradient([0.3, 0.2, 0.1], q)
>>> grad.round(3)
array([ 0.236, -0.194, -0.041], dtype=float32)
"""

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
    KendallTau,
    PairAccuracy,
    Precision,
    Recall,
)
from lambdaboost.objectives import (
    SPSA,
    ApproxNDCG,
    Blend,
    ClickTier,
    Combo,
    Constant,
    Exponential,
    FiniteDifference,
    GradientStep,
    GumbelRanks,
    LambdaLoss,
    LambdaRank,
    Linear,
    ListMLE,
    ListNet,
    McRank,
    NormalizedPairs,
    OrdinalMcRank,
    PairwiseHinge,
    RankNet,
    Scorecard,
    SigmoidLocal,
    StructuredHinge,
    graded,
    iteration_dependent,
)

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
    "ApproxNDCG",
    "BPref",
    "Blend",
    "Checkpoint",
    "ClickTier",
    "Combo",
    "Constant",
    "Exponential",
    "FiniteDifference",
    "GradientStep",
    "GumbelRanks",
    "KendallTau",
    "LambdaLoss",
    "LambdaRank",
    "Linear",
    "ListMLE",
    "ListNet",
    "McRank",
    "NormalizedPairs",
    "OrdinalMcRank",
    "PairAccuracy",
    "PairwiseHinge",
    "Precision",
    "Queries",
    "RankNet",
    "Recall",
    "Scorecard",
    "SigmoidLocal",
    "StructuredHinge",
    "__version__",
    "graded",
    "iteration_dependent",
    "load",
    "save",
]
