"""The checked arguments of a training, on either engine, before anything is trained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lambdaboost.calls.data import is_lightgbm, queries_of
from lambdaboost.calls.traps import Case
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines.engine import Engine
from lambdaboost.engines.job import DEFAULT_MEASURE, Job, Metric, Metrics
from lambdaboost.engines.leaves import Leaves, least_documents, stepped
from lambdaboost.engines.metric_names import metrics_in, split_metrics
from lambdaboost.engines.native import NativeObjective, read_objective
from lambdaboost.engines.traps import CALL, OBJECTIVE, look_at
from lambdaboost.evaluation import parse
from lambdaboost.objectives import Constrained, GradientStep, Objective


def planned(
    engine: Engine,
    params: Any,
    data: Any,
    rounds: int,
    objective: Any,
    leaves: Leaves,
    metrics: Metrics,
    evaluated: Iterable[tuple[str, Any]] = (),
    model: Any = None,
    **own: Any,
) -> Job:
    """The job; `own` are the arguments that only this engine has."""
    if not isinstance(params, Mapping):
        raise TypeError(
            f"params is a {type(params).__name__}, expected a dict of {engine.title}'s parameters"
        )
    rule, documents = rule_of(engine, objective, leaves), engine.check_data("data", data)
    for at in (CALL,) if isinstance(rule, NativeObjective) else (OBJECTIVE, CALL):
        look_at(at, Case(engine, rule, params, data))
    split, named = split_metrics(engine, params)
    complete = with_least_leaf(engine, split, rule, documents)
    adds = complete.keys() != split.keys()
    measures = measures_of(engine, split, metrics, named)
    job = Job(engine, rule, leaves, complete, adds, measures, data, rounds, [*evaluated], model, own)
    if job.of_objective and engine.workers(params) > 1:
        check_distributed(rule)
        _check_least_leaf(engine, adds)
    if not job.of_objective:
        _check_grades(rule, data)
    return job


def _check_grades(rule: NativeObjective, data: Any) -> None:
    """Raise for grades that a native objective cannot read."""
    labels = (getattr(data, "sources", None) or {}).get(RELEVANCE)
    if labels is None:  # LightGBM's are read before it constructs the data set
        labels = data.label if is_lightgbm(data) else queries_of(data).relevance
    rule.check_labels(() if labels is None else labels)


def with_least_leaf(engine: Engine, params: Mapping[str, Any], rule: Any, documents: int) -> dict[str, Any]:
    """The parameters, with the default minimum leaf size for `rule` if they have none."""
    least, names = least_documents(rule, documents), engine.aliases["least leaf"]
    if least is None or any(params.get(name) is not None for name in names):
        return dict(params)
    return {**params, names[0]: least}


def rule_of(engine: Engine, objective: Any, leaves: Leaves) -> Any:
    """What to train with these leaves: an objective, or the engine's own objective."""
    rule = read_objective(objective)
    if isinstance(rule, NativeObjective):
        rule.check(engine, leaves)
        return rule
    return stepped(rule, leaves)


def measures_of(
    engine: Engine, params: Mapping[str, Any], metrics: Metrics, named: tuple[Any, ...] = ()
) -> tuple[Metric, ...]:
    """The measures of an argument, with texts parsed, and those that the parameters name; a TypeError for others."""
    if metrics is None or metrics == []:
        own = any(params.get(name) is not None for name in engine.aliases["metric"])
        return named if own or named else (DEFAULT_MEASURE,)
    listed = metrics_in(engine.metrics, metrics)
    return (*(parse(metric) if isinstance(metric, str) else metric for metric in listed), *named)


# A cluster, where no worker has all queries.


def check_distributed(rule: Any) -> None:
    """Raise if a rule depends on all queries together."""
    if isinstance(rule, Objective):
        _refuse_sums_over_all(rule)


def _check_least_leaf(engine: Engine, added: bool) -> None:
    """Raise if each worker would derive the minimum leaf size from its own rows."""
    if added:
        name = engine.aliases["least leaf"][0]
        raise ValueError(
            f"gradient steps on a cluster without {name}: each worker would derive it from its own rows; give "
            f"{name}= the lesser of 100 and a twentieth of all documents, but no less than 20"
        )


def _refuse_sums_over_all(objective: Objective) -> None:
    if isinstance(objective, GradientStep) and objective.normalize == "all":
        raise ValueError(
            f"{objective!r} divides by the standard deviation of all λ, and no worker has all of them: "
            "use normalize='query'"
        )
    if isinstance(objective, Constrained) or getattr(objective, "scaled", None) is not None:
        raise ValueError(
            f"{objective!r} weights its objectives by their λ and measures on all queries, and no worker has all of "
            "them: give fixed weights or schedules"
        )
    for part in getattr(objective, "parts", ()):
        _refuse_sums_over_all(part)
