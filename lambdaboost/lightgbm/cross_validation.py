"""`cv`: `lightgbm.cv` over folds that keep each query whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lightgbm as lgb

from lambdaboost.engines.folds import WholeQueries
from lambdaboost.engines.leaves import Leaves
from lambdaboost.lightgbm._metrics import is_asked
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
    """Cross-validate a ranker with `lightgbm.cv`, every query whole in one fold.

    Parameters
    ----------
    params, data, rounds, objective, leaves, feval, callbacks
        As of `lambdaboost.lightgbm.train`.
    nfold : int
        Folds, of equally many queries but for one.
    seed : int
        Draws the folds, the same queries as `lambdaboost.xgboost.cv` draws by it.
    folds : splitter or iterable of (training rows, validation rows), optional
        In place of `nfold`; a splitter gets the query of each row as ``groups``.
    return_cvbooster : bool
        Whether to add the boosters under ``"cvbooster"``.

    Returns
    -------
    dict
        As `lightgbm.cv` returns it: ``{"valid NDCG(k=3)-mean": […], "valid NDCG(k=3)-stdv": […]}``.

    Raises
    ------
    TypeError, ValueError
        As `train`, and where there are fewer queries than folds, or a fold splits a query.

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
    # LightGBM has stored its results before any callback sees them.
    return {name: curve for name, curve in results.items() if _is_asked(name, to_engine.asked)}


def _is_asked(name: str, asked: list[str]) -> bool:
    """Whether a curve is asked for; its name is like ``valid ndcg@5-mean``."""
    return is_asked(name.partition(" ")[2].rpartition("-")[0], asked)
