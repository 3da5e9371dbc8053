"""A training in an engine's terms: every argument checked before anything is trained, the same on both engines."""

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
        On what.
    rule : Objective or GradeModel
        What gives the gradient, a `GradientStep` where the leaves ask for one; or what the engine's classifiers learn.
    leaves : "engine", "gradient" or "newton"
        How trees are made of it.
    params : dict
        The engine's parameters, with the least leaf that suits the rule where none was given.
    least_documents : int or None
        That least leaf, where it was not given.
    measures : tuple of measures and callables
        What to evaluate; `DEFAULT_MEASURE` where nothing was asked for.

    """

    engine: Engine
    rule: Any
    leaves: Leaves
    params: dict[str, Any]
    least_documents: int | None
    measures: tuple[Metric, ...]

    @property
    def measured(self) -> tuple[str, ...]:
        """The label sources that the measures read."""
        return tuple(metric.source for metric in self.measures if isinstance(metric, Measure))

    @property
    def sources(self) -> tuple[str, ...]:
        """All label sources that are read, those of the rule first: what a stock DMatrix's bounds stand for."""
        return tuple(dict.fromkeys((*self.rule.sources, *self.measured)))

    def require(self, where: str, data: Any, sources: Sequence[str]) -> Queries:
        """The queries of `data`; raises where it lacks groups, labels or one of `sources`, or has a bad label."""
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
    """The plan for `documents` rows of data.

    Raises
    ------
    TypeError, ValueError
        For an unknown objective, leaves that do not go with it, parameters that are misspelt or given elsewhere, and
        metrics that cannot be called.

    """
    rule = read_objective(objective)
    if not isinstance(rule, GradeModel):
        rule = stepped(rule, leaves)
    _check_params(engine, params)
    warn_of_native_parameters(params, engine.only_native)
    warn_of_slow_steps(rule, params, engine.aliases["rate"])
    least = least_documents(rule, documents)
    if any(params.get(name) is not None for name in engine.aliases["least leaf"]):
        least = None
    more = {} if least is None else {engine.aliases["least leaf"][0]: least}
    return Plan(engine, rule, leaves, {**params, **more}, least, measures_of(engine, params, metrics))


def read_objective(objective: Objective | GradeModel | str) -> Any:
    """The objective or grade model, of its text too."""
    return parse(objective) if isinstance(objective, str) else objective


def _check_params(engine: Engine, params: Any) -> None:
    if not isinstance(params, Mapping):
        raise TypeError(
            f"params is a {type(params).__name__}, expected a dict of {engine.title}'s parameters"
        )
    for name in engine.aliases["objective"]:
        # XGBoost's estimators have it by themselves.
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
