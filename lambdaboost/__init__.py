"""Ranking objectives for stock LightGBM and XGBoost: the λ-gradients of the papers, drop-in and fast.

>>> from lambdaboost import LambdaRank, NDCG, Queries
>>> q = Queries([0, 2, 1], sizes=[3])
>>> grad, hess = LambdaRank(NDCG(k=3)).gradient([0.3, 0.2, 0.1], q)
>>> grad.round(3)
array([ 0.236, -0.194, -0.041], dtype=float32)
"""

# ruff: isort: skip_file

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lambdaboost.clicks import ClickLog as ClickLog, Propensities as Propensities
    from lambdaboost.datasets import Queries as Queries
    from lambdaboost.attaching import attach as attach, query_folds as query_folds
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
    from lambdaboost.objectives import *  # noqa: F403
    from lambdaboost.saving import load as load, save as save
    from lambdaboost.serving import export as export
    from lambdaboost.tuning import Tuned as Tuned, cross_validate as cross_validate, tune as tune

__version__ = "0.4.0"

# Where names stand that are neither objectives nor measures. All are imported on first use, so that
# `lambdaboost --help` does not wait for Numba.
HOLDERS = {
    "ClickLog": "clicks",
    "Propensities": "clicks",
    "Queries": "datasets",
    "Tuned": "tuning",
    "attach": "attaching",
    "compare": "evaluation",
    "cross_validate": "tuning",
    "explain": "explanation",
    "export": "serving",
    "load": "saving",
    "merge": "merging",
    "query_folds": "attaching",
    "report": "evaluation",
    "save": "saving",
    "trade_off": "evaluation",
    "tune": "tuning",
}
PACKAGES = ("clicks", "datasets", "evaluation", "objectives")


def _holders() -> dict[str, str]:
    """Public names and their modules: all measures, objectives and what these are made of, and `HOLDERS`."""
    evaluation, objectives = (import_module(f"lambdaboost.{name}") for name in ("evaluation", "objectives"))
    measures = set(evaluation.MEASURES) & set(evaluation.__all__)
    return dict.fromkeys(measures, "evaluation") | dict.fromkeys(objectives.__all__, "objectives") | HOLDERS


def __getattr__(name: str) -> Any:
    """A public name, or a submodule, on first use (PEP 562)."""
    if name == "__all__":
        return sorted([*_holders(), "__version__"])
    if name in PACKAGES:
        return import_module(f"lambdaboost.{name}")
    holder = None if name.startswith("_") else HOLDERS.get(name) or _holders().get(name)
    if holder is None:
        raise AttributeError(f"module 'lambdaboost' has no attribute {name!r}")
    globals()[name] = getattr(import_module(f"lambdaboost.{holder}"), name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *_holders()})
