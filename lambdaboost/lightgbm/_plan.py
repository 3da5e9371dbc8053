"""What `train` and `cv` share: the objective in LightGBM's terms, the measures, and checks before the first round."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import lightgbm as lgb

from lambdaboost._warn import warn
from lambdaboost.datasets.engines import queries_of
from lambdaboost.engines.leaves import Leaves, least_documents, stepped
from lambdaboost.engines.parameters import lightgbm_parameters, refuse_misspelt
from lambdaboost.engines.rounds import ToldRounds
from lambdaboost.engines.traps import (
    refuse_arguments,
    warn_of_missing_grades,
    warn_of_native_parameters,
    warn_of_slow_steps,
    warn_of_sorted_rows,
)
from lambdaboost.evaluation import NDCG
from lambdaboost.evaluation.measure import Measure
from lambdaboost.lightgbm._callback import Callback, boosters_of
from lambdaboost.lightgbm._metrics import METRIC, in_order, with_cutoffs
from lambdaboost.lightgbm._newton import NewtonStep
from lambdaboost.lightgbm._prepare import BOOSTING, prepare
from lambdaboost.lightgbm._rounds import round_callbacks
from lambdaboost.objectives import Objective, parse
from lambdaboost.objectives.stock.traps import POSITION

OBJECTIVE = ("objective", "objective_type", "app", "application", "loss")
MIN_DATA = ("min_data_in_leaf", "min_data_per_leaf", "min_data", "min_child_samples", "min_samples_leaf")
RATE = ("learning_rate", "shrinkage_rate", "eta")
# What only LightGBM's own lambdarank reads, and what does the same here.
TRUNCATION = "give objective=LambdaRank(convention='lightgbm', truncation=30), or LambdaRank(NDCG(k))"
NATIVE = {
    "lambdarank_truncation_level": TRUNCATION,
    "max_position": TRUNCATION,
    "lambdarank_norm": "give objective=LambdaRank(convention='lightgbm', norm=True)",
    "sigmoid": "give objective=LambdaRank(sigma=1.0)",
    "lambdarank_position_bias_regularization": "leave it out",
}

Feval = Callable[..., Any] | Sequence[Callable[..., Any]] | None


@dataclass(frozen=True, eq=False)
class Plan:
    """Arguments for `lightgbm.train` or `lightgbm.cv`, and the results asked for by names with a cutoff."""

    params: dict[str, Any]
    feval: list[Callable[..., Any]] | None
    callbacks: list[Any]
    asked: list[str]


def planned(
    params: dict[str, Any],
    data: Any,
    objective: Objective | str,
    leaves: Leaves,
    feval: Feval,
    callbacks: Sequence[Any] | None,
    measured_on_training: bool = False,
    rounds_done: int | None = None,
) -> Plan:
    """The plan, with everything checked that can be before data are constructed.

    `rounds_done` are those of a checkpoint; without it a continued model counts by its trees.
    """
    if not isinstance(data, lgb.Dataset):
        raise TypeError(
            f"data is a {type(data).__name__}, expected a lambdaboost.lightgbm.Dataset or lightgbm.Dataset"
        )
    rule = stepped(parse(objective) if isinstance(objective, str) else objective, leaves)
    _check_params(params)
    _warn_of_traps(params, data, rule)
    params, asked = with_cutoffs(params)
    measures = _measures(params, feval)
    check = _Check(rule, measures or [], measured_on_training)
    told = ToldRounds(rule)
    own = [Callback(check, True), *round_callbacks(told, rounds_done)]
    step: Any = told
    if leaves == "newton":
        step = NewtonStep(rule, told)
        own += step.callbacks
    if asked:
        own.append(in_order([*asked, *(measures or [])], asked))
    return Plan(
        {**params, **_leaf_size(params, data, rule), "objective": step},
        measures,
        [*own, *(callbacks or [])],
        asked,
    )


def _leaf_size(params: dict[str, Any], data: lgb.Dataset, objective: Objective) -> dict[str, Any]:
    """The least documents of a leaf that suit the objective, where `params` do not say."""
    least = least_documents(objective, _documents(data))
    if least is None or any(name in params for name in MIN_DATA):
        return {}
    # A data set constructed now must not drop features for a later training with smaller leaves.
    return {"min_data_in_leaf": least} | ({"feature_pre_filter": False} if data._handle is None else {})


def _documents(data: lgb.Dataset) -> int:
    """The rows, before construction those of the labels; of a file, unread, as many as there may be."""
    if data._handle is not None:
        return int(data.num_data())
    return len(data.label) if hasattr(data.label, "__len__") else sys.maxsize


def _warn_of_traps(params: dict[str, Any], data: lgb.Dataset, objective: Objective) -> None:
    warn_of_native_parameters(params, NATIVE)
    if params.get("label_gain") is not None:
        warn(
            "label_gain: LightGBM keeps one table for the whole process, so that another booster's changes this one's "
            "ndcg; use feval=NDCG(k, gain=(0, 1, 3, 7)) and LambdaRank(NDCG(gain=(0, 1, 3, 7)))"
        )
    warn_of_slow_steps(objective, params, RATE)
    if data._handle is None and not hasattr(data, "sources"):
        warn_of_missing_grades(data.label)


def _check_params(params: object) -> None:
    if not isinstance(params, dict):
        raise TypeError(f"params is a {type(params).__name__}, expected a dict of LightGBM's parameters")
    refuse_arguments(params, ("leaves", "rounds", "sources"))
    refuse_misspelt(params, lightgbm_parameters(), "LightGBM")
    for name in OBJECTIVE:
        if name in params:
            raise ValueError(f"params has {name}={params[name]!r}: give it as objective= of the call instead")
    for name in BOOSTING:
        if params.get(name) in ("rf", "random_forest"):
            raise ValueError(
                f"params has {name}={params[name]!r}: LightGBM's forests take no objective but its own"
            )
    if params.get("bagging_by_query") in (True, 1, "true", "True", "1"):
        raise ValueError(
            "params has bagging_by_query: under any objective but its own LightGBM never draws the bags, and small "
            "fractions leave trees of two or three leaves; use bagging_fraction and bagging_freq alone"
        )


def _measures(params: dict[str, Any], feval: Feval) -> list[Callable[..., Any]] | None:
    """The measures to evaluate by; NDCG at 3 where nothing else was asked for."""
    if feval is None:
        return None if any(name in params for name in METRIC) else [NDCG(k=3)]
    measures = [feval] if callable(feval) else list(feval)
    for measure in measures:
        if not callable(measure):
            raise TypeError(f"feval has {measure!r}, expected measures such as NDCG(k=3), or callables")
    return measures


class _Check:
    """Raises before the first round where data have no queries, or not the sources that will be asked of them."""

    def __init__(
        self, objective: Objective, measures: Sequence[Callable[..., Any]], on_training: bool
    ) -> None:
        self.objective = objective
        self.measured = [measure.source for measure in measures if isinstance(measure, Measure)]
        self.on_training = on_training

    def __call__(self, env: Any) -> None:
        if env.iteration != env.begin_iteration:
            return
        for fold, booster in enumerate(boosters_of(env)):
            prepare(booster, env.params)
            _require(booster.train_set, self.objective.sources, f"the training data, for {self.objective!r}")
            if fold == 0 and booster.train_set.get_field("position") is not None:
                warn(POSITION)
            if fold == 0 and env.begin_iteration == 0 and booster.train_set.get_init_score() is None:
                warn_of_sorted_rows(queries_of(booster.train_set, self.objective.sources), self.objective)
            if self.on_training:
                _require(booster.train_set, self.measured, "the training data, for the measures")
            for valid, name in zip(booster.valid_sets, booster.name_valid_sets, strict=True):
                _require(valid, self.measured, f"{name}, for the measures")


def _require(data: Any, sources: Sequence[str], where: str) -> None:
    try:
        q = queries_of(data, sources)
        for name in sources:
            q.source(name)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
