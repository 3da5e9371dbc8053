"""`cv`: `xgboost.cv` over folds of whole queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xgboost as xgb
from xgboost.callback import LearningRateScheduler

from lambdaboost.datasets._checks import check_count
from lambdaboost.engines.constraint import (
    alone,
    kept_by,
    lacks_reference,
    params_alone,
    referenced,
    training_alone,
)
from lambdaboost.engines.folds import Fold, WholeQueries
from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.plan import Metric, Plan
from lambdaboost.objectives import LambdaRank, Objective
from lambdaboost.objectives.constrained import constraint_in
from lambdaboost.objectives.mcrank import GradeModel
from lambdaboost.xgboost._callbacks import engine_callbacks
from lambdaboost.xgboost._constraint import ChecksFolds, Curves
from lambdaboost.xgboost._grades import relabelled
from lambdaboost.xgboost._plan import arguments, check_evaluated, plan_of
from lambdaboost.xgboost.dmatrix import DMatrix, take


def cv(
    params: Mapping[str, Any],
    data: xgb.DMatrix,
    rounds: int = 100,
    *,
    objective: Objective | GradeModel | str = LambdaRank(),
    leaves: Leaves = "engine",
    nfold: int = 5,
    folds: Any = None,
    seed: int = 0,
    custom_metric: Metric | str | Sequence[Metric | str] | None = None,
    early_stopping_rounds: int | None = None,
    callbacks: Sequence[Any] | None = None,
    verbose_eval: bool | int | None = None,
) -> Any:
    """Cross-validate a ranking objective over whole queries, which keep their weights and label sources.

    Parameters
    ----------
    params, data, rounds, objective, leaves, custom_metric, callbacks, verbose_eval
        As in `lambdaboost.xgboost.train`.
    nfold : int
        Number of folds; their numbers of queries differ by at most one.
    folds : list of (train rows, test rows), or a scikit-learn splitter, optional
        Your own folds of whole queries, in place of `nfold`; a splitter such as ``GroupKFold(5)`` receives the query
        of each row as ``groups``.
    seed : int
        Seed of the folds; the same seed gives the same folds in `lambdaboost.lightgbm.cv`.
    early_stopping_rounds : int, optional
        Stop if the mean of the first metric over the folds has not improved for this number of rounds; the
        table ends at the best round.

    Returns
    -------
    pandas.DataFrame
        One row per round; mean and standard deviation of each measure over the folds: ``train-ndcg(k=3)-mean``, ….

    Raises
    ------
    ValueError, TypeError
        As `train`, and if a fold splits a query, which the message names.

    """
    rounds = check_count("rounds", rounds)
    plan = plan_of(params, data, objective, leaves, custom_metric)
    check_evaluated(plan, "data", data)
    chosen = list(
        WholeQueries(data, nfold, seed, folds).split(np.zeros((data.num_row(), 1)), data.get_label())
    )
    whole = data if isinstance(data, DMatrix) else take(data, np.arange(data.num_row()))
    of_folds: list[Objective] = []
    if lacks_reference(plan.rule):
        curves = _trained_alone(plan, params, whole, rounds, chosen, callbacks)
        of_folds = [referenced(plan.rule, curve) for curve in curves]
    to_engine = arguments(plan, whole, of_folds=of_folds)
    checks = []
    if to_engine.in_rounds is not None and constraint_in(plan.rule) is not None:
        checks.append(ChecksFolds(to_engine.in_rounds, plan.sources))
    with relabelled(plan.rule, [whole], plan.sources):
        return xgb.cv(
            to_engine.params,
            whole,
            rounds,
            folds=chosen,
            obj=to_engine.obj,
            custom_metric=to_engine.custom_metric,
            callbacks=[
                *to_engine.callbacks,
                *engine_callbacks(callbacks, verbose_eval, early_stopping_rounds),
                *checks,
            ],
            seed=seed,
        )


def _trained_alone(
    plan: Plan,
    params: Mapping[str, Any],
    data: xgb.DMatrix,
    rounds: int,
    folds: list[Fold],
    callbacks: Sequence[Any] | None,
) -> list[list[float]]:
    """For each fold the measure on its training data after each round of the reference model."""
    rule, kept = alone(plan.rule), kept_by(plan.rule)
    curves = Curves(kept, plan.sources)
    schedulers = [callback for callback in callbacks or () if isinstance(callback, LearningRateScheduler)]
    with training_alone():
        of_primary = plan_of(params_alone(plan, params), data, rule, plan.leaves, kept)
        to_engine = arguments(of_primary, data)
        xgb.cv(
            to_engine.params,
            data,
            rounds,
            folds=folds,
            obj=to_engine.obj,
            custom_metric=to_engine.custom_metric,
            callbacks=[*to_engine.callbacks, *schedulers, curves],
        )
    return [list(of_fold) for of_fold in zip(*curves.rounds, strict=True)]
