"""`cv`: `lightgbm.cv` over folds that keep each query whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lightgbm as lgb

from lambdaboost.engines.folds import WholeQueries
from lambdaboost.engines.leaves import Leaves
from lambdaboost.lightgbm._metrics import is_requested
from lambdaboost.lightgbm._plan import Feval, arguments, plan_of
from lambdaboost.objectives import LambdaRank, Objective
from lambdaboost.objectives.mcrank import GradeModel


def cv(
    params: dict[str, Any],
    data: lgb.Dataset,
    rounds: int = 100,
    *,
    objective: Objective | GradeModel | str = LambdaRank(),
    leaves: Leaves = "engine",
    nfold: int = 5,
    folds: Any = None,
    seed: int = 0,
    feval: Feval = None,
    callbacks: Sequence[Any] | None = None,
    return_cvbooster: bool = False,
) -> dict[str, Any]:
    """Cross-validate a ranker with `lightgbm.cv`, over folds of whole queries.

    Parameters
    ----------
    params, data, rounds, objective, leaves, feval, callbacks
        As of `lambdaboost.lightgbm.train`.
    nfold : int
        Number of folds; their numbers of queries differ by at most one.
    seed : int
        Seed of the folds; the same seed gives the same folds in `lambdaboost.xgboost.cv`.
    folds : splitter or iterable of (training rows, validation rows), optional
        Your own folds, in place of `nfold`; a splitter receives the query of each row as ``groups``.
    return_cvbooster : bool
        Whether to return the boosters under ``"cvbooster"``.

    Returns
    -------
    dict
        As `lightgbm.cv` returns it: ``{"valid NDCG(k=3)-mean": […], "valid NDCG(k=3)-stdv": […]}``.

    Raises
    ------
    TypeError, ValueError
        As `train`, and if there are fewer queries than folds, or a fold splits a query.

    """
    whole = WholeQueries(data, nfold, seed, folds)
    to_engine = arguments(plan_of(params, data, objective, leaves, feval), data, callbacks)
    results = lgb.cv(
        to_engine.params,
        data,
        num_boost_round=rounds,
        folds=whole,
        feval=to_engine.feval,
        callbacks=to_engine.callbacks,
        return_cvbooster=return_cvbooster,
    )
    # LightGBM stores its results before any callback sees them.
    return {name: curve for name, curve in results.items() if _is_requested(name, to_engine.requested)}


def _is_requested(name: str, requested: list[str]) -> bool:
    """Whether a curve was requested; it has a name such as ``valid ndcg@5-mean``."""
    return is_requested(name.partition(" ")[2].rpartition("-")[0], requested)
