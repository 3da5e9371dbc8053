"""Ranking objectives for stock LightGBM and XGBoost: the λ-gradients of the papers, drop-in and fast.

Importing it imports neither engine and compiles nothing.

>>> from lambdaboost import LambdaRank, NDCG, Queries
>>> q = Queries([0, 2, 1], sizes=[3])
>>> grad, hess = LambdaRank(NDCG(k=3)).gradient([0.3, 0.2, 0.1], q)
>>> grad.round(3)
array([ 0.236, -0.194, -0.041], dtype=float32)
"""

# ruff: isort: skip_file

from lambdaboost import _starting as _starting  # first: Ctrl-C may come while the rest is imported

from lambdaboost.attaching import attach as attach, query_folds as query_folds
from lambdaboost.clicks import ClickLog as ClickLog, Propensities as Propensities
from lambdaboost.datasets import Queries as Queries
from lambdaboost.evaluation import (
    AUC as AUC,
    CNDCG as CNDCG,
    ERR as ERR,
    MAP as MAP,
    MRR as MRR,
    NDCG as NDCG,
    BPref as BPref,
    ClickDCG as ClickDCG,
    KendallTau as KendallTau,
    PairAccuracy as PairAccuracy,
    Pearson as Pearson,
    Precision as Precision,
    Recall as Recall,
    Spearman as Spearman,
    compare as compare,
    report as report,
    trade_off as trade_off,
)
from lambdaboost.explanation import explain as explain
from lambdaboost.merging import merge as merge
from lambdaboost.objectives import *  # noqa: F403  # all objectives, and what they are made of
from lambdaboost.saving import load as load, save as save
from lambdaboost.serving import export as export
from lambdaboost.tuning import Tuned as Tuned, cross_validate as cross_validate, tune as tune

__version__ = "0.4.0"

# Names of modules, such as `clicks`, would replace a reader's own at `import *`.
__all__ = [name for name, value in globals().items() if name[0] != "_" and type(value).__name__ != "module"]
