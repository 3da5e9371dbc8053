"""`Plan`: the checked arguments of a training, on either engine, before anything is trained."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lambdaboost.datasets import Queries
from lambdaboost.datasets.engines import queries_of
from lambdaboost.engines.engine import Engine
from lambdaboost.engines.leaves import Leaves, least_documents, stepped
from lambdaboost.engines.parameters import refuse_misspelt
from lambdaboost.engines.traps import refuse_arguments, warn_of_native_parameters, warn_of_slow_steps
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.objectives import Objective, parse
from lambdaboost.objectives.mcrank import GradeModel

Metric = Measure | Callable[..., Any]
DEFAULT_MEASURE = NDCG(3)


@dataclass(frozen=True, eq=False)
class Plan:
    """What to train.

    Attributes
    ----------
    engine : Engine
        The engine that trains.
    rule : Objective or GradeModel
        The objective, a `GradientStep` for ``leaves="gradient"``; or the model that the engine's classifiers learn.
    leaves : "engine", "gradient" or "newton"
        The kind of leaves.
    params : dict
        The engine's parameters, with the default minimum leaf size for the rule if they had none.
    adds_least_leaf : bool
        Whether that default was added.
    measures : tuple of measures and callables
        What to evaluate; `DEFAULT_MEASURE` if nothing was requested.

    """

    engine: Engine
    rule: Any
    leaves: Leaves
    params: dict[str, Any]
    adds_least_leaf: bool
    measures: tuple[Metric, ...]

    @property
    def measured(self) -> tuple[str, ...]:
        """The label sources that the measures read."""
        return tuple(metric.source for metric in self.measures if isinstance(metric, Measure))

    @property
    def sources(self) -> tuple[str, ...]:
        """All label sources that are read, the rule's first: the order of the bounds of a stock DMatrix."""
        return tuple(dict.fromkeys((*self.rule.sources, *self.measured)))

    def require(self, where: str, data: Any, sources: Sequence[str]) -> Queries:
        """The queries of `data`; raises if it lacks groups, labels or one of `sources`, or has an invalid label."""
        try:
            q = queries_of(data, self.sources)
            for name in sources:
                q.source(name)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        return q


def planned(
    engine: Engine,
    params: Any,
    objective: Objective | GradeModel | str,
    leaves: Leaves,
    metrics: Metric | Sequence[Metric] | None,
    documents: int,
) -> Plan:
    """The plan for data of `documents` rows.

    Raises
    ------
    TypeError, ValueError
        If the objective is unknown, the leaves do not go with it, a parameter is misspelt or belongs elsewhere, or a
        metric cannot be called.

    """
    rule = read_objective(objective)
    if not isinstance(rule, GradeModel):
        rule = stepped(rule, leaves)
    _check_params(engine, params)
    warn_of_native_parameters(params, engine.only_native)
    warn_of_slow_steps(rule, params, engine.aliases["rate"])
    complete, least = with_least_leaf(engine, params, rule, documents), engine.aliases["least leaf"][0]
    adds_least_leaf = complete.get(least) is not params.get(least)
    return Plan(engine, rule, leaves, complete, adds_least_leaf, measures_of(engine, params, metrics))


def with_least_leaf(engine: Engine, params: Mapping[str, Any], rule: Any, documents: int) -> dict[str, Any]:
    """The parameters, with the default minimum leaf size for `rule` if they have none."""
    least, names = least_documents(rule, documents), engine.aliases["least leaf"]
    if least is None or any(params.get(name) is not None for name in names):
        return dict(params)
    return {**params, names[0]: least}


def read_objective(objective: Objective | GradeModel | str) -> Any:
    """The objective or grade model, parsed if it is a text."""
    return parse(objective) if isinstance(objective, str) else objective


def _check_params(engine: Engine, params: Any) -> None:
    if not isinstance(params, Mapping):
        raise TypeError(
            f"params is a {type(params).__name__}, expected a dict of {engine.title}'s parameters"
        )
    for name in engine.aliases["objective"]:
        # XGBoost's estimators set it themselves.
        if params.get(name, "rank:ndcg") != "rank:ndcg":
            raise ValueError(
                f"params has {name}={params[name]!r}: leave it out, and give objective= of the call instead"
            )
    refuse_arguments(params, ("leaves", "rounds", "sources"))
    refuse_misspelt(params, engine.parameters(), engine.title)


def measures_of(
    engine: Engine, params: Mapping[str, Any], metrics: Metric | Sequence[Metric] | None
) -> tuple[Metric, ...]:
    """What to evaluate; a TypeError for what cannot be called."""
    if metrics is None or metrics == []:
        named = any(params.get(name) is not None for name in engine.aliases["metric"])
        return () if named else (DEFAULT_MEASURE,)
    listed = tuple(metrics) if isinstance(metrics, list | tuple) else (metrics,)
    for metric in listed:
        if not callable(metric) or isinstance(metric, type):
            raise TypeError(
                f"{engine.metrics} has {metric!r}, expected measures such as NDCG(k=3), or callables"
            )
    return listed
