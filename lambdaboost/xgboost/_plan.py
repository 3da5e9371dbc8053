"""Convert a plan to arguments of `xgboost.train` and `xgboost.cv`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import xgboost as xgb
from xgboost.collective import is_distributed

from lambdaboost._engine_threads import called_by, calling_booster
from lambdaboost.datasets.engines import queries_of
from lambdaboost.engines.cluster import check_distributed, check_least_leaf
from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.native import NativeObjective
from lambdaboost.engines.plan import Metric, Plan, planned
from lambdaboost.engines.rounds import ObjectiveInRounds
from lambdaboost.engines.traps import warn_of_sorted_rows
from lambdaboost.evaluation import Measure
from lambdaboost.objectives import Objective
from lambdaboost.objectives.mcrank import GradeModel
from lambdaboost.objectives.stock.traps import warn_of_positions
from lambdaboost.xgboost import newton
from lambdaboost.xgboost._callbacks import ReportBoosters
from lambdaboost.xgboost._engine import ENGINE
from lambdaboost.xgboost._grades import Grades, check_unweighted, classifier


@dataclass(frozen=True)
class Metrics:
    """Any number of measures and callables as one ``custom_metric``, on the first column of the scores.

    `names` are the sources that the bounds of a stock DMatrix hold; `model` is the model of grades, if it is one.
    """

    metrics: tuple[Metric, ...]
    names: tuple[str, ...]
    model: GradeModel | None = None

    def __call__(self, preds: Any, data: xgb.DMatrix) -> list[tuple[str, float]]:
        """Name and value of each."""
        with called_by(calling_booster()):
            figures: list[tuple[str, float]] = []
            scores = newton.first_column(preds) if self.model is None else self.model.scores(preds)
            for metric in self.metrics:
                if isinstance(metric, Measure):
                    figures.append((metric._xgboost_name, metric(scores, queries_of(data, self.names))))
                else:
                    result = metric(
                        scores, data if self.model is None else Grades(queries_of(data, self.names))
                    )
                    figures.extend(result if isinstance(result, list) else [result])
            return figures


@dataclass(frozen=True, eq=False)
class Arguments:
    """Arguments for `xgboost.train` and `xgboost.cv`.

    `in_rounds` is the objective in `obj`, None for grade models and XGBoost's own.
    """

    params: dict[str, Any]
    obj: Any
    custom_metric: Metrics | None
    callbacks: list[Any]
    in_rounds: ObjectiveInRounds | None = None


def plan_of(
    params: Any,
    data: Any,
    objective: Objective | GradeModel | str,
    leaves: Leaves,
    custom_metric: Metric | str | Sequence[Metric | str] | None,
) -> Plan:
    """The plan, after checks of the parameters and the training data."""
    plan = planned(ENGINE, params, objective, leaves, custom_metric, rows_of("data", data))
    _check_params(params)
    if is_distributed():
        check_distributed(plan.rule, leaves)
        check_least_leaf(ENGINE, plan.adds_least_leaf)
    q = plan.require_trained("data", data)
    _check_newton(plan, "data", data)
    if isinstance(plan.rule, NativeObjective):
        plan.rule.check_labels(q.relevance)
    if isinstance(plan.rule, GradeModel):
        plan.rule.check(q.relevance, leaves)
        check_unweighted(plan.rule, data)
    return plan


def check_evaluated(plan: Plan, name: str, data: Any) -> None:
    """Raise if `data` lacks groups, labels, or a source or positions that a measure reads, or has an invalid label."""
    rows_of(name, data)
    plan.require_measured(name, data)
    _check_newton(plan, name, data)


def arguments(
    plan: Plan, data: xgb.DMatrix, continued: bool = False, of_folds: Sequence[Objective] = ()
) -> Arguments:
    """The arguments for the plan; `continued` says whether a model is continued.

    `of_folds` are the objectives of the folds of a cross-validation, if each has its own.
    """
    model = plan.rule if isinstance(plan.rule, GradeModel) else None
    metrics = Metrics(plan.measures, plan.sources, model) if plan.measures else None
    if model is not None:
        return Arguments(classifier(plan.params, model), None, metrics, [])
    # The default metrics of ranking objectives refuse grades above 31.
    quiet = {} if plan.params.get("eval_metric") is not None else {"disable_default_eval_metric": True}
    if isinstance(plan.rule, NativeObjective):
        return Arguments({**quiet, **plan.params, "objective": plan.rule.name}, None, metrics, [])
    warn_of_positions(data, plan.trains_on_positions or plan.measures_positions)
    if not continued:
        warn_of_sorted_rows(queries_of(data, plan.sources), plan.rule)
    # The name sets the task of the model; the gradients are lambdaboost's.
    params = {**quiet, **plan.params, "objective": "rank:ndcg"}
    # XGBoost starts custom objectives at 0.5 and fits no intercept; a continued model has one already.
    if not continued and params.get("base_score") is None:
        params["base_score"] = 0.0
    in_rounds = ObjectiveInRounds(plan.rule, of_folds)
    obj: Any = in_rounds
    if plan.leaves == "newton":
        params, obj = newton.settings(params), newton.least_squares_splits(plan.rule, in_rounds)
    return Arguments(params, obj, metrics, [ReportBoosters(in_rounds, data)], in_rounds)


def _check_newton(plan: Plan, name: str, data: Any) -> None:
    if plan.leaves == "newton":
        newton.check(name, data)


def _check_params(params: Mapping[str, Any]) -> None:
    """Raise for parameters that `xgboost.train` takes as arguments, and would ignore here."""
    for concept, remedy in (
        ("rounds", "rounds={0} of the call, or n_estimators={0} of a ranker"),
        ("early stopping", "early_stopping_rounds={0} of the call"),
    ):
        for name in ENGINE.aliases[concept]:
            if params.get(name) is not None:
                value = params[name]
                raise ValueError(
                    f"params has {name}={value!r}, which XGBoost does not read there: give "
                    f"{remedy.format(repr(value))}"
                )


def rows_of(name: str, data: object) -> int:
    """The number of rows of a matrix; raises if `data` is not a matrix."""
    if not isinstance(data, xgb.DMatrix):
        raise TypeError(
            f"{name} is {type(data).__name__}, expected a lambdaboost.xgboost.DMatrix or xgboost.DMatrix"
        )
    return int(data.num_row())
