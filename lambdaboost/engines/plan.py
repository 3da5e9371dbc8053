"""`Plan`: the checked arguments of a training, on either engine, before anything is trained."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lambdaboost.datasets import Queries
from lambdaboost.datasets.engines import queries_of
from lambdaboost.engines.engine import Engine
from lambdaboost.engines.leaves import Leaves, least_documents, stepped
from lambdaboost.engines.metric_names import split_metrics
from lambdaboost.engines.native import NativeObjective, read_objective
from lambdaboost.engines.parameters import refuse_misspelt
from lambdaboost.engines.traps import refuse_arguments, warn_of_native_parameters, warn_of_slow_steps
from lambdaboost.evaluation import NDCG, Measure, parse
from lambdaboost.objectives import Objective
from lambdaboost.objectives.constrained import constraint_in
from lambdaboost.objectives.mcrank import GradeModel

Metric = Measure | Callable[..., Any]
# Label sources, each with whether its labels may be below 0.
Reads = Sequence[tuple[str, bool]]
DEFAULT_MEASURE = NDCG(3)


@dataclass(frozen=True, eq=False)
class Plan:
    """What to train.

    Attributes
    ----------
    engine : Engine
        The engine that trains.
    rule : Objective, GradeModel or NativeObjective
        The objective, a `GradientStep` for ``leaves="gradient"``; the model that the engine's classifiers learn; or the
        engine's own objective.
    leaves : "engine", "gradient" or "newton"
        The kind of leaves.
    params : dict
        The engine's parameters, with the default minimum leaf size for the rule if they had none.
    adds_least_leaf : bool
        Whether that default was added.
    measures : tuple of measures and callables
        What to evaluate; `DEFAULT_MEASURE` if nothing was requested.
    given : Objective, GradeModel or NativeObjective
        `rule` before anything was measured for it.

    """

    engine: Engine
    rule: Any
    leaves: Leaves
    params: dict[str, Any]
    adds_least_leaf: bool
    measures: tuple[Metric, ...]
    given: Any

    @property
    def measured(self) -> tuple[str, ...]:
        """The label sources that the measures read."""
        return tuple(
            source for metric in self.measures if isinstance(metric, Measure) for source in metric.sources
        )

    @property
    def sources(self) -> tuple[str, ...]:
        """All label sources that are read, the rule's first: the order of the bounds of a stock DMatrix."""
        return tuple(dict.fromkeys((*self.rule.sources, *self.measured)))

    @property
    def _of_rule(self) -> Reads:
        return tuple((name, self.rule.allows_negative) for name in self.rule.sources)

    @property
    def _of_measures(self) -> Reads:
        measures = (metric for metric in self.measures if isinstance(metric, Measure))
        return tuple((name, metric.allows_negative) for metric in measures for name in metric.sources)

    @property
    def trains_on_positions(self) -> bool:
        """Whether the objective reads positions; LightGBM's own reads its field without lambdaboost."""
        return isinstance(self.rule, Objective) and self.rule.reads_positions

    @property
    def measures_positions(self) -> bool:
        """Whether a measure reads positions."""
        return any(isinstance(metric, Measure) and metric.reads_positions for metric in self.measures)

    def require_trained(self, where: str, data: Any) -> Queries:
        """The queries of training data; raises if they lack what the rule reads, or have an invalid label."""
        q = self._require(where, data, self._of_rule, self.trains_on_positions)
        constraint = constraint_in(self.rule)
        if constraint is not None:
            constraint.check(q)
        return q

    def require_measured(self, where: str, data: Any) -> Queries:
        """The queries of evaluated data; raises if they lack what the measures read, or have an invalid label."""
        q = self._require(where, data, self._of_measures, self.measures_positions)
        try:
            check_read_positions(self.measures, q)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        return q

    def _require(self, where: str, data: Any, reads: Reads, position: bool) -> Queries:
        try:
            q = queries_of(data, self.sources)
            for name, allow_negative in reads:
                q.source(name, allow_negative=allow_negative)
            if position:
                q.required_position()
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        return q


def check_read_positions(measures: Iterable[Any], q: Queries) -> None:
    """Raise if a measure that reads positions refuses those of data that it is to evaluate after a training."""
    for measure in measures:
        if isinstance(measure, Measure) and measure.reads_positions:
            measure.per_query(np.zeros(q.n_documents), q)


def planned(
    engine: Engine,
    params: Any,
    objective: Any,
    leaves: Leaves,
    metrics: Metric | str | Sequence[Metric | str] | None,
    documents: int,
) -> Plan:
    """The plan for data of `documents` rows.

    Raises
    ------
    TypeError, ValueError
        If the objective is unknown, the leaves do not go with it, a parameter is misspelt or belongs elsewhere, or a
        metric cannot be called.

    """
    rule = rule_of(engine, objective, leaves)
    _check_params(engine, params)
    if not isinstance(rule, NativeObjective):
        warn_of_native_parameters(params, engine.only_native)
    warn_of_slow_steps(rule, params, engine.aliases["rate"])
    params, named = split_metrics(engine, params)
    complete, least = with_least_leaf(engine, params, rule, documents), engine.aliases["least leaf"][0]
    adds_least_leaf = complete.get(least) is not params.get(least)
    measures = measures_of(engine, params, metrics, named)
    return Plan(engine, rule, leaves, complete, adds_least_leaf, measures, rule)


def with_least_leaf(engine: Engine, params: Mapping[str, Any], rule: Any, documents: int) -> dict[str, Any]:
    """The parameters, with the default minimum leaf size for `rule` if they have none."""
    least, names = least_documents(rule, documents), engine.aliases["least leaf"]
    if least is None or any(params.get(name) is not None for name in names):
        return dict(params)
    return {**params, names[0]: least}


def rule_of(engine: Engine, objective: Any, leaves: Leaves) -> Any:
    """What to train with these leaves: an objective, a grade model, or the engine's own objective."""
    rule = read_objective(objective)
    if isinstance(rule, NativeObjective):
        rule.check(engine, leaves)
        return rule
    return rule if isinstance(rule, GradeModel) else stepped(rule, leaves)


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
    refuse_arguments(params, ("leaves", "rounds", "sources", "position"))
    refuse_misspelt(params, engine.parameters(), engine.title)


def measures_of(
    engine: Engine,
    params: Mapping[str, Any],
    metrics: Metric | str | Sequence[Metric | str] | None,
    named: tuple[Measure, ...] = (),
) -> tuple[Metric, ...]:
    """The measures of an argument, with texts parsed, and those that the parameters name; a TypeError for others."""
    if metrics is None or metrics == []:
        own = any(params.get(name) is not None for name in engine.aliases["metric"])
        return named if own or named else (DEFAULT_MEASURE,)
    listed = tuple(metrics) if isinstance(metrics, list | tuple) else (metrics,)
    for metric in listed:
        if isinstance(metric, type) or not (callable(metric) or isinstance(metric, str)):
            raise TypeError(
                f"{engine.metrics} has {metric!r}, expected measures such as NDCG(k=3) or 'ndcg@3', or callables"
            )
    return (*(parse(metric) if isinstance(metric, str) else metric for metric in listed), *named)
