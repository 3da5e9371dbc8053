"""Convert a plan to arguments of `lightgbm.train` and `lightgbm.cv`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import lightgbm as lgb

from lambdaboost._warn import warn
from lambdaboost.engines.cluster import check_distributed, check_least_leaf
from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.native import NativeObjective
from lambdaboost.engines.plan import Plan, planned
from lambdaboost.engines.rounds import ObjectiveInRounds
from lambdaboost.engines.traps import warn_of_missing_grades
from lambdaboost.lightgbm._callbacks import check_callback, round_callbacks
from lambdaboost.lightgbm._engine import ALIASES, ENGINE
from lambdaboost.lightgbm._grades import classifier, of_scores
from lambdaboost.lightgbm._metrics import by_first_metric, in_order, with_cutoffs
from lambdaboost.lightgbm._newton import NewtonStep
from lambdaboost.lightgbm._private import is_constructed
from lambdaboost.lightgbm.dataset import keep_positions
from lambdaboost.objectives import Objective
from lambdaboost.objectives.mcrank import GradeModel

Feval = Callable[..., Any] | str | Sequence[Callable[..., Any] | str] | None


@dataclass(frozen=True, eq=False)
class Arguments:
    """Arguments for `lightgbm.train` or `lightgbm.cv`, and the results requested by names with a cutoff.

    `in_rounds` is the objective among the parameters, None for grade models and LightGBM's own.
    """

    params: dict[str, Any]
    feval: list[Callable[..., Any]] | None
    callbacks: list[Any]
    requested: list[str]
    in_rounds: ObjectiveInRounds | None


def plan_of(
    params: Any, data: Any, objective: Objective | GradeModel | str, leaves: Leaves, feval: Feval
) -> Plan:
    """The plan, after all checks that are possible before the data set is constructed."""
    if not isinstance(data, lgb.Dataset):
        raise TypeError(
            f"data is a {type(data).__name__}, expected a lambdaboost.lightgbm.Dataset or lightgbm.Dataset"
        )
    plan = planned(ENGINE, params, objective, leaves, feval, _documents(data))
    keep_positions(data)
    # Missing grades are in the sources only.
    labels = (getattr(data, "sources", None) or {}).get("relevance", data.label)
    if isinstance(plan.rule, NativeObjective):
        plan.rule.check_labels(() if labels is None else labels)
        return plan
    _check_params(params)
    if machines_of(params) > 1:
        check_distributed(plan.rule, leaves)
        check_least_leaf(ENGINE, plan.adds_least_leaf)
    if params.get("label_gain") is not None:
        warn(
            "label_gain: LightGBM keeps one table for the whole process, so that another booster's changes this one's "
            "ndcg; use feval=NDCG(k, gain=(0, 1, 3, 7)) and LambdaRank(NDCG(gain=(0, 1, 3, 7)))"
        )
    if not is_constructed(data) and not hasattr(data, "sources"):
        warn_of_missing_grades(data.label)
    if isinstance(plan.rule, GradeModel):
        plan.rule.check(() if labels is None else labels, leaves)
    return plan


def machines_of(params: Any) -> int:
    """The workers of the training; LightGBM counts them where `params` list them alone."""
    listed = str(params.get("machines") or params.get("workers") or params.get("nodes") or "")
    counted = params.get("num_machines") or params.get("num_machine")
    return max(int(counted or 1), listed.count(",") + 1)


def arguments(
    plan: Plan,
    data: lgb.Dataset,
    callbacks: Sequence[Any] | None,
    on_training: bool = False,
    rounds_done: int | None = None,
    of_folds: Sequence[Objective] = (),
) -> Arguments:
    """The arguments for the plan; `rounds_done` is the round of a checkpoint, None to count a model's trees.

    `of_folds` are the objectives of the folds of a cross-validation, if each has its own.
    """
    params, user_callbacks = by_first_metric(plan.params, callbacks)
    params, requested = with_cutoffs(params)
    metrics: list[Any] = list(plan.measures)
    own = [check_callback(plan, on_training)]
    named = any(name in params for name in ALIASES["metric"])
    without_default = {} if named else {"metric": "None"}
    in_rounds = None
    if isinstance(plan.rule, GradeModel):
        metrics = [of_scores(metric, plan.rule) for metric in metrics]
        params = {**params, **without_default, **classifier(plan.rule)}
    elif isinstance(plan.rule, NativeObjective):
        params = {**params, **without_default, "objective": plan.rule.name}
    else:
        in_rounds = ObjectiveInRounds(plan.rule, of_folds)
        own += round_callbacks(in_rounds, rounds_done)
        step = NewtonStep(plan.rule, in_rounds) if plan.leaves == "newton" else None
        own += step.callbacks if step else []
        params = {**params, "objective": step or in_rounds}
    if plan.adds_least_leaf and not is_constructed(data):
        # A data set constructed now must not drop features that a later training with smaller leaves can use.
        params["feature_pre_filter"] = False
    if requested:
        own.append(in_order([*requested, *plan.measures], requested))
    return Arguments(params, metrics or None, [*own, *user_callbacks], requested, in_rounds)


def _documents(data: lgb.Dataset) -> int:
    """The number of rows, before construction that of the labels; unlimited for a file that is not read yet."""
    if is_constructed(data):
        return int(data.num_data())
    return len(data.label) if hasattr(data.label, "__len__") else sys.maxsize


def _check_params(params: dict[str, Any]) -> None:
    for name in ALIASES["boosting"]:
        if params.get(name) in ("rf", "random_forest"):
            raise ValueError(
                f"params has {name}={params[name]!r}: LightGBM's forests take no objective but its own"
            )
    if params.get("bagging_by_query") in (True, 1, "true", "True", "1"):
        raise ValueError(
            "params has bagging_by_query: under any objective but its own LightGBM never draws the bags, and small "
            "fractions leave trees of two or three leaves; use bagging_fraction and bagging_freq alone"
        )
