"""Names of metrics: an engine's own, and those of measures that the engine does not have, such as ``"mrr@10"``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from lambdaboost.engines.engine import Engine
from lambdaboost.evaluation import MEASURES, Measure, parse


@dataclass(frozen=True)
class AtCutoff:
    """A measure under the name of an engine's own metric, where the engine takes one list of cutoffs for them all."""

    name: str
    measure: Measure

    def __call__(self, scores: Any, data: Any) -> tuple[str, float, bool]:
        """The name, the value, and that higher is better."""
        return self.name, float(self.measure(scores, data)[1]), True


def measure_named(engine: Engine, text: str) -> Measure | AtCutoff | None:
    """The measure that a text names where a metric is taken, or None if it is the engine's to read.

    Names in lower case that both have, such as ``"ndcg@5"``, are the engine's. A misspelt name is a ValueError.
    """
    name = text.strip()
    base, at, cutoff = name.partition("@")
    if at and engine.cutoffs and base in engine.metric_names:
        return _at_cutoff(engine, name, base, cutoff)
    if base in engine.metric_names or not base:
        return None
    try:
        return parse(name)
    except (TypeError, ValueError):
        if "(" in name:
            raise
    known = {*engine.metric_names, *(measure.lower() for measure in MEASURES)}
    if base.islower() and (close := get_close_matches(base, sorted(known), 1, 0.75)):
        raise ValueError(
            f"metric is {text!r}, which {engine.title} does not know: did you mean '{close[0]}{at}{cutoff}'?"
        )
    return None


def _at_cutoff(engine: Engine, name: str, base: str, cutoff: str) -> AtCutoff:
    of = engine.cutoffs.get(base)
    if of is None or not cutoff.isdecimal() or int(cutoff) < 1:
        raise ValueError(
            f"metric is {name!r}: {engine.title}'s own metrics with a cutoff are ndcg@k and map@k; give others as "
            "measures, such as Precision(k=10)"
        )
    # A query without a relevant document counts as 1, as in the engine.
    return AtCutoff(name, of(k=int(cutoff), empty=1.0))


def metrics_in(name: str, metrics: Any) -> list[Any]:
    """One metric, several or none as a list; a TypeError for one that is no measure, name or callable."""
    listed = list(metrics) if isinstance(metrics, list | tuple) else [] if metrics is None else [metrics]
    for metric in listed:
        if isinstance(metric, type) or not (callable(metric) or isinstance(metric, str)):
            raise TypeError(
                f"{name} has {metric!r}, expected measures such as NDCG(k=3) or 'ndcg@3', or callables"
            )
    return listed


def read_metric(engine: Engine, metric: Any) -> list[Any]:
    """A metric, or those that a text names: the engine's own by name, others as measures."""
    if not isinstance(metric, str):
        return [metric]
    several = engine.metrics_by_commas and "(" not in metric
    names = [name.strip() for name in metric.split(",")] if several else [metric]
    return [measure_named(engine, name) or name for name in names]


def split_metrics(
    engine: Engine, params: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[Measure | AtCutoff, ...]]:
    """The parameters with only the engine's own metrics, and the measures that they name besides."""
    split, measures = dict(params), []
    for key in engine.aliases["metric"]:
        given = params.get(key)
        names = given if isinstance(given, list | tuple | set) else [given]
        read = [one for name in names if isinstance(name, str) for one in read_metric(engine, name)]
        if own := [one for one in read if isinstance(one, str)]:
            split[key] = own if len(own) < len(read) else given
        elif read:
            del split[key]
        measures += [one for one in read if not isinstance(one, str)]
    return split, tuple(dict.fromkeys(measures))
