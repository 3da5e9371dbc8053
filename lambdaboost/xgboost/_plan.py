"""What `train` and `cv` share: a plan as arguments of `xgboost.train` and `xgboost.cv`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import xgboost as xgb
from xgboost.collective import is_distributed

from lambdaboost._engine_threads import calling_booster, engine_threads
from lambdaboost._threads import using
from lambdaboost.datasets.engines import queries_of
from lambdaboost.engines.cluster import check_distributed, check_least_leaf
from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.plan import Metric, Plan, planned
from lambdaboost.engines.rounds import ToldRounds
from lambdaboost.engines.traps import warn_of_sorted_rows
from lambdaboost.evaluation import Measure
from lambdaboost.objectives import Objective
from lambdaboost.objectives.mcrank import GradeModel
from lambdaboost.xgboost import newton
from lambdaboost.xgboost._callbacks import TellRounds
from lambdaboost.xgboost._engine import ENGINE
from lambdaboost.xgboost._grades import Grades, check_unweighted, classifier


@dataclass(frozen=True)
class Metrics:
    """Any number of measures and callables as one ``custom_metric``, on the first column of the scores.

    `names` are the sources that a stock DMatrix's bounds stand for; `model` is that of the grades, if it is one.
    """

    metrics: tuple[Metric, ...]
    names: tuple[str, ...]
    model: GradeModel | None = None

    def __call__(self, preds: Any, data: xgb.DMatrix) -> list[tuple[str, float]]:
        """Name and value of each."""
        with using(engine_threads(calling_booster())):
            figures: list[tuple[str, float]] = []
            scores = newton.first_column(preds) if self.model is None else self.model.scores(preds)
            for metric in self.metrics:
                if isinstance(metric, Measure):
                    figures.append((metric._xgboost_name, metric(scores, queries_of(data, self.names))))
                else:
                    told = metric(
                        scores, data if self.model is None else Grades(queries_of(data, self.names))
                    )
                    figures.extend(told if isinstance(told, list) else [told])
            return figures


@dataclass(frozen=True, eq=False)
class Arguments:
    """Arguments for `xgboost.train` and `xgboost.cv`: parameters, objective, metric, callbacks that they need."""

    params: dict[str, Any]
    obj: Any
    custom_metric: Metrics | None
    callbacks: list[Any]


def plan_of(
    params: Any,
    data: Any,
    objective: Objective | GradeModel | str,
    leaves: Leaves,
    custom_metric: Metric | Sequence[Metric] | None,
) -> Plan:
    """The plan, with parameters and training data checked."""
    plan = planned(ENGINE, params, objective, leaves, custom_metric, rows_of("data", data))
    if is_distributed():
        check_distributed(plan.rule, leaves)
        check_least_leaf(ENGINE, plan.least_documents)
    q = _checked(plan, "data", data, plan.rule.sources)
    if isinstance(plan.rule, GradeModel):
        plan.rule.check(q.relevance, leaves)
        check_unweighted(plan.rule, data)
    return plan


def check_evaluated(plan: Plan, name: str, data: Any) -> None:
    """Raise where `data` lacks groups, labels or a source that a measure reads, or has a bad label."""
    rows_of(name, data)
    _checked(plan, name, data, plan.measured)


def arguments(plan: Plan, data: xgb.DMatrix, continued: bool = False) -> Arguments:
    """What XGBoost gets for the plan; `continued` where a model is gone on with."""
    model = plan.rule if isinstance(plan.rule, GradeModel) else None
    metrics = Metrics(plan.measures, plan.sources, model) if plan.measures else None
    if model is not None:
        return Arguments(classifier(plan.params, model), None, metrics, [])
    if not continued:
        warn_of_sorted_rows(queries_of(data, plan.sources), plan.rule)
    # The name gives the model its task; the gradients are lambdaboost's.
    params = {**plan.params, "objective": "rank:ndcg"}
    # XGBoost fits no intercept under a custom objective but starts at 0.5; a continued model has one already.
    if not continued and params.get("base_score") is None:
        params["base_score"] = 0.0
    # The metric that comes with rank:ndcg refuses grades above 31.
    if params.get("eval_metric") is None:
        params.setdefault("disable_default_eval_metric", True)
    told = ToldRounds(plan.rule)
    obj: Any = told
    if plan.leaves == "newton":
        params, obj = newton.settings(params), newton.least_squares_splits(plan.rule, told)
    return Arguments(params, obj, metrics, [TellRounds(told, data)])


def _checked(plan: Plan, name: str, data: Any, sources: Sequence[str]) -> Any:
    q = plan.require(name, data, sources)
    if plan.leaves == "newton":
        newton.check(name, data)
    return q


def rows_of(name: str, data: object) -> int:
    """The rows of a matrix; raises where it is none."""
    if not isinstance(data, xgb.DMatrix):
        raise TypeError(
            f"{name} is {type(data).__name__}, expected a lambdaboost.xgboost.DMatrix or xgboost.DMatrix"
        )
    return int(data.num_row())
