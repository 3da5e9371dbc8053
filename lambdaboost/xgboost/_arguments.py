"""What `train`, `cv` and `LambdaRanker` share: their arguments, checked before anything is trained."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xgboost as xgb

from lambdaboost._engine_threads import calling_booster, engine_threads
from lambdaboost._threads import using
from lambdaboost.datasets.engines import queries_of
from lambdaboost.engines.leaves import Leaves, least_documents, stepped
from lambdaboost.engines.parameters import XGBOOST, refuse_misspelt
from lambdaboost.engines.rounds import ToldRounds
from lambdaboost.engines.traps import (
    refuse_arguments,
    warn_of_native_parameters,
    warn_of_slow_steps,
    warn_of_sorted_rows,
)
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.objectives import Objective, parse
from lambdaboost.xgboost import newton

Metric = Measure | Callable[[Any, xgb.DMatrix], Any]
DEFAULT_MEASURE = NDCG(3)
# What only XGBoost's own rank:… objectives read, and what does the same here.
NATIVE = {
    "lambdarank_pair_method": "give objective=LambdaRank(convention='xgboost'), which takes the pairs of the top",
    "lambdarank_num_pair_per_sample": "give objective=LambdaRank(convention='xgboost', truncation=32)",
    "lambdarank_normalization": "give objective=LambdaRank(convention='xgboost', norm=True)",
    "lambdarank_score_normalization": "give objective=LambdaRank(convention='xgboost', score_norm=True)",
    "lambdarank_unbiased": "leave it out",
    "ndcg_exp_gain": "give objective=LambdaRank(NDCG(gain='linear'))",
}


@dataclass(frozen=True)
class Metrics:
    """Any number of measures and callables as one ``custom_metric``.

    `names` are the sources that a stock DMatrix's bounds stand for, those of the objective first.
    """

    metrics: tuple[Metric, ...]
    names: tuple[str, ...]

    def __call__(self, preds: Any, data: xgb.DMatrix) -> list[tuple[str, float]]:
        """Name and value of each, on the first column of the scores."""
        with using(engine_threads(calling_booster())):
            return self._figures(newton.first_column(preds), data)

    def _figures(self, scores: Any, data: xgb.DMatrix) -> list[tuple[str, float]]:
        figures: list[tuple[str, float]] = []
        for metric in self.metrics:
            if isinstance(metric, Measure):
                figures.append((metric._xgboost_name, metric(scores, queries_of(data, self.names))))
            else:
                told = metric(scores, data)
                figures.extend(told if isinstance(told, list) else [told])
        return figures

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that the measures read."""
        return tuple(metric.source for metric in self.metrics if isinstance(metric, Measure))


@dataclass(frozen=True)
class Plan:
    """The arguments for `xgboost.train` and `xgboost.cv`, checked; `continued` where a model is gone on with."""

    objective: Objective
    leaves: Leaves
    params: dict[str, Any]
    metrics: Metrics | None
    continued: bool = False

    def engine_objective(self, told: ToldRounds) -> Any:
        """What XGBoost calls each round; `told` is `objective`, told its rounds."""
        return newton.least_squares_splits(self.objective, told) if self.leaves == "newton" else told

    def check_trained(self, name: str, data: Any) -> None:
        """Raise where `data` lacks groups, labels or a source that the objective reads, or has a bad label."""
        self._check(name, data, self.objective.sources)
        if not self.continued:
            warn_of_sorted_rows(queries_of(data, self._names), self.objective)

    def check_evaluated(self, name: str, data: Any) -> None:
        """Raise where `data` lacks groups, labels or a source that a measure reads, or has a bad label."""
        self._check(name, data, self.metrics.sources if self.metrics is not None else ())

    @property
    def _names(self) -> tuple[str, ...]:
        return self.metrics.names if self.metrics is not None else self.objective.sources

    def _check(self, name: str, data: Any, sources: Sequence[str]) -> None:
        rows_of(name, data)
        try:
            q = queries_of(data, self._names)
            for source in sources:
                q.source(source)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        if self.leaves == "newton":
            newton.check(name, data)


def plan(
    params: Mapping[str, Any],
    objective: Objective | str,
    leaves: Leaves,
    custom_metric: Metric | Sequence[Metric] | None,
    *,
    documents: int,
    evaluated: bool,
    continued: bool = False,
) -> Plan:
    """Check the arguments and fill in what XGBoost's own defaults would get wrong."""
    chosen = stepped(parse(objective) if isinstance(objective, str) else objective, leaves)
    if not isinstance(params, Mapping):
        raise TypeError(f"params is {type(params).__name__}, expected a dict of XGBoost's parameters")
    if params.get("objective", "rank:ndcg") != "rank:ndcg":
        raise ValueError(
            f"params['objective'] is {params['objective']!r}: leave it out, and give objective=LambdaRank()"
        )
    refuse_arguments(params, ("leaves", "rounds", "sources"))
    refuse_misspelt(params, XGBOOST, "XGBoost")
    warn_of_native_parameters(params, NATIVE)
    warn_of_slow_steps(chosen, params, ("eta", "learning_rate"))
    metrics = _metrics(custom_metric)
    if not metrics and evaluated and params.get("eval_metric") is None:
        metrics = (DEFAULT_MEASURE,)
    settings = _settings(params, continued)
    # With hess = 1 this counts documents.
    if settings.get("min_child_weight") is None and (least := least_documents(chosen, documents)) is not None:
        settings["min_child_weight"] = least
    if leaves == "newton":
        settings = newton.settings(settings)
    measured = [m.source for m in metrics if isinstance(m, Measure)]
    names = tuple(dict.fromkeys((*chosen.sources, *measured)))
    return Plan(chosen, leaves, settings, Metrics(metrics, names) if metrics else None, continued)


def _settings(params: Mapping[str, Any], continued: bool) -> dict[str, Any]:
    # The name gives the model its task; the gradients are ours.
    settings: dict[str, Any] = {**params, "objective": "rank:ndcg"}
    # XGBoost fits no intercept under a custom objective but starts at 0.5; a continued model has one already.
    if not continued and settings.get("base_score") is None:
        settings["base_score"] = 0.0
    # The metric that comes with rank:ndcg refuses grades above 31.
    if settings.get("eval_metric") is None:
        settings.setdefault("disable_default_eval_metric", True)
    return settings


def _metrics(custom_metric: Metric | Sequence[Metric] | None) -> tuple[Metric, ...]:
    if custom_metric is None:
        return ()
    metrics = tuple(custom_metric) if isinstance(custom_metric, list | tuple) else (custom_metric,)
    for metric in metrics:
        if not callable(metric) or isinstance(metric, type):
            raise TypeError(
                f"custom_metric has {metric!r}, expected a measure such as NDCG(3), or a list of measures"
            )
    return metrics


def rows_of(name: str, data: object) -> int:
    """The rows of a matrix; raises where it is none."""
    if not isinstance(data, xgb.DMatrix):
        raise TypeError(
            f"{name} is {type(data).__name__}, expected a lambdaboost.xgboost.DMatrix or xgboost.DMatrix"
        )
    return int(data.num_row())


def check_rounds(name: str, value: object) -> None:
    """Raise where `value` is not a whole number ≥ 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} is {value!r}, expected a whole number ≥ 1")
    if value < 1:
        raise ValueError(f"{name} is {value!r}, expected a whole number ≥ 1")
