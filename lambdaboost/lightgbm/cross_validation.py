"""`cv`: `lightgbm.cv` over folds that keep each query whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lightgbm as lgb

from lambdaboost.engines.constraint import (
    alone,
    kept_by,
    lacks_reference,
    params_alone,
    referenced,
    training_alone,
)
from lambdaboost.engines.folds import WholeQueries
from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.plan import Plan
from lambdaboost.lightgbm._callbacks import Callback, boosters_of, check_callback
from lambdaboost.lightgbm._constraint import check_constraint
from lambdaboost.lightgbm._metrics import is_requested
from lambdaboost.lightgbm._plan import Feval, arguments, plan_of
from lambdaboost.lightgbm._private import ResetParameter
from lambdaboost.objectives import LambdaRank, Objective
from lambdaboost.objectives.constrained import constraint_in
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
    plan = plan_of(params, data, objective, leaves, feval)
    of_folds: list[Objective] = []
    if lacks_reference(plan.rule):
        curves = _trained_alone(plan, params, data, rounds, whole, callbacks)
        of_folds = [referenced(plan.rule, curve) for curve in curves]
    to_engine = arguments(plan, data, callbacks, of_folds=of_folds)
    constrained = constraint_in(plan.rule) is not None
    results = lgb.cv(
        to_engine.params,
        data,
        num_boost_round=rounds,
        folds=whole,
        feval=to_engine.feval,
        callbacks=to_engine.callbacks,
        return_cvbooster=return_cvbooster or constrained,
    )
    if to_engine.in_rounds is not None and constrained:
        for booster in results["cvbooster"].boosters:
            check_constraint(booster, to_engine.in_rounds, rolls_back=not return_cvbooster)
    if not return_cvbooster:
        results.pop("cvbooster", None)
    # LightGBM stores its results before any callback sees them.
    return {name: curve for name, curve in results.items() if _is_requested(name, to_engine.requested)}


def _trained_alone(
    plan: Plan,
    params: dict[str, Any],
    data: lgb.Dataset,
    rounds: int,
    folds: WholeQueries,
    callbacks: Sequence[Any] | None,
) -> list[list[float]]:
    """For each fold the measure on its training data after each round of the reference model."""
    rule, kept = alone(plan.rule), kept_by(plan.rule)
    curves: list[list[float]] = []

    def measure(env: Any) -> None:
        values = [booster.eval_train(kept)[0][2] for booster in boosters_of(env)]
        curves.append([float(value) for value in values])

    with training_alone():
        to_engine = arguments(
            plan_of(params_alone(plan, params), data, rule, plan.leaves, kept),
            data,
            [callback for callback in callbacks or () if isinstance(callback, ResetParameter)],
        )
        lgb.cv(
            to_engine.params,
            data,
            num_boost_round=rounds,
            folds=folds,
            feval=to_engine.feval,
            callbacks=[check_callback(plan, False), *to_engine.callbacks, Callback(measure, False)],
        )
    return [list(of_fold) for of_fold in zip(*curves, strict=True)]


def _is_requested(name: str, requested: list[str]) -> bool:
    """Whether a curve was requested; it has a name such as ``valid ndcg@5-mean``."""
    return is_requested(name.partition(" ")[2].rpartition("-")[0], requested)
