"""Traps as rows of tables, and the rows of trainings by a stock engine's own `train`, which only its calls reveal.

docs/traps.md describes the same rows. Those of lambdaboost's own `train` are in `lambdaboost.engines.traps`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from lambdaboost import _lightgbm, _xgboost
from lambdaboost._warn import warn
from lambdaboost._words import shown
from lambdaboost.calls.data import is_renumbered, positions_in
from lambdaboost.datasets import Queries

REFUSED, WARNED = "refused", "warned"
SPARSE = 0.9  # the share of missing labels above which they are mentioned
FIRST_GRADIENT = "first gradient"  # with the threads of the booster
DROP_IN = "drop-in"  # when a row is looked at: before the first gradient of a booster of a stock `train`

# What fills the braces of a row's text, once for each time that the trap is found.
Found = Iterable[Mapping[str, Any]]


class Trap(NamedTuple):
    """A row: its name in docs/traps.md, whether it is refused or warned of, when it is looked at, message and test."""

    name: str
    level: str
    at: str
    text: str
    applies: Callable[[Any], Found | bool]


def look_for(traps: Iterable[Trap], at: str, case: Any) -> None:
    """Raise for the first row that refuses the case, and warn of all others that apply."""
    for trap in traps:
        found = trap.applies(case) if trap.at == at else False
        for braces in ({},) if found is True else found or ():
            text = trap.text.format(**braces)
            if trap.level == REFUSED:
                raise ValueError(text)
            warn(text)


@dataclass(frozen=True, eq=False)
class Case:
    """What a row may look at; `engine` is an `Engine`, and `q` are the queries of `data`."""

    engine: Any = None
    rule: Any = None
    params: Mapping[str, Any] = field(default_factory=dict)
    data: Any = None
    q: Queries | None = None
    reads_positions: bool = False
    continued: bool = False
    booster: Any = None
    name: str = ""
    labels: Any = None
    on_cluster: bool = False


def check_drop_in(booster: Any, data: Any, objective: Any, q: Queries) -> None:
    """Raise or warn before the first gradient of a stock engine's booster, with the remedy."""
    rows: tuple[Trap, ...] = XGBOOST
    params, workers = {}, _xgboost.workers()
    if _lightgbm.is_booster(booster):
        rows, params, workers = LIGHTGBM, booster.params, _lightgbm.machines_of(booster.params)
    case = Case(
        None,
        objective,
        params,
        data,
        q,
        bool(objective.reads_positions),
        booster=booster,
        on_cluster=workers > 1,
    )
    for at in (DROP_IN, FIRST_GRADIENT):
        look_for((*rows, *SHARED), at, case)


def given(*names: str, value: Callable[[Any], Any] = lambda value: value is not None) -> Any:
    """Rows of parameters: applies to each of `names` whose value is `value`, by default any but None."""

    def applies(case: Case) -> Found:
        for name in names:
            if name in case.params and value(case.params[name]):
                text = case.params[name]
                yield {
                    "name": name,
                    "value": shown(text) if isinstance(text, str) else shown(repr(text)).strip("'"),
                }

    return applies


def _draws_bags_by_query(case: Case) -> bool:
    drawn = any(map(case.params.get, ("bagging_freq", "subsample_freq")))
    return drawn and _lightgbm.is_true(case.params.get("bagging_by_query"))


def _stops_by_default_metric(case: Case) -> bool:
    """Whether `LGBMRanker.fit` calls with early stopping, and with its default metric beside the requested ones."""
    eval_metric, parameters, feval, callbacks = _lightgbm.ranker_in_training() or (None, {}, None, ())
    metrics = eval_metric if isinstance(eval_metric, list) else [eval_metric]
    names = ("metric", "metrics", "metric_types")
    chosen = any(isinstance(metric, str) for metric in metrics) or any(map(parameters.get, names))
    return bool(feval) and not chosen and any(hasattr(one, "stopping_rounds") for one in callbacks)


def _cuts_queries(case: Case) -> bool:
    """Whether the training set is a subset with some rows of a query, but not all."""
    rows, parent = _lightgbm.rows_of_parent(case.booster.train_set)
    offsets = None if parent is None else parent.get_field("group")
    if offsets is None:
        return False
    taken = np.bincount(np.searchsorted(offsets, rows, side="right") - 1, minlength=offsets.size - 1)
    return bool(((taken > 0) & (taken != np.diff(offsets))).any())


BAGGING_BY_QUERY = (
    "bagging_by_query: under any objective but its own LightGBM never draws the bags, and small bagging fractions "
    "leave trees of two or three leaves; leave bagging_by_query out, then rows are bagged"
)
LIGHTGBM = (
    Trap("bagging_by_query", REFUSED, DROP_IN, BAGGING_BY_QUERY, _draws_bags_by_query),
    Trap(
        "boosting=dart", WARNED, DROP_IN,
        "boosting=dart: under an objective that is not its own LightGBM drops other trees from run to run, whatever "
        "the seeds; train with lambdaboost.lightgbm.train, which drops the same",
        given(*_lightgbm.BOOSTING, value=lambda value: value == "dart"),
    ),
    Trap(
        "lambdarank_position_bias_regularization", WARNED, DROP_IN,
        "lambdarank_position_bias_regularization: only LightGBM's own lambdarank reads it, so here it does nothing; "
        "leave it out", given("lambdarank_position_bias_regularization", value=bool),
    ),
    Trap(
        "default metric of LGBMRanker", WARNED, DROP_IN,
        "early stopping: LGBMRanker evaluates LightGBM's own ndcg beside eval_metric, and stops by whichever stalls "
        "first; give LGBMRanker(metric='None', …) to use eval_metric alone, or use lambdaboost.lightgbm.LambdaRanker",
        _stops_by_default_metric,
    ),
    Trap(
        "cv", WARNED, DROP_IN,
        "folds: this training set holds only some rows of a query; stock lightgbm.cv splits queries row by row under "
        "any objective but its own: give folds=GroupKFold(5), or use lambdaboost.lightgbm.cv", _cuts_queries,
    ),
)  # fmt: skip


def _approximates(case: Case) -> Found:
    _, tree_method, objective = _xgboost.settings(case.booster)
    if tree_method == "approx" and not (objective or "rank:").startswith("rank:"):
        yield {"objective": objective}


XGBOOST = (
    Trap(
        "tree_method=approx", WARNED, DROP_IN,
        "tree_method=approx: without an objective in params XGBoost takes this one for {objective}, whose hessian is "
        "constant, and grows other trees; add 'objective': 'rank:ndcg' to params, or train with "
        "lambdaboost.xgboost.train, which does", _approximates,
    ),
)  # fmt: skip


def _are_renumbered(case: Case) -> bool:
    positions = positions_in(case.data)
    return case.reads_positions and positions is not None and is_renumbered(positions)


def _without_pair(case: Case) -> Found:
    """Each part without one; not on a cluster, where no worker has all queries."""
    if hasattr(case.rule, "without_pair") and case.q is not None and not case.on_cluster:
        for found in case.rule.without_pair(case.q):
            yield found._asdict()


def _mostly_missing(case: Case) -> Found:
    if case.q is None or case.on_cluster or any(_without_pair(case)):
        return
    for name in case.rule.sources:
        if np.count_nonzero(np.isnan(case.q.source(name, allow_negative=True))) > SPARSE * case.q.n_documents:
            yield {"name": name}


NO_PAIR = "{objective} has no pair of documents to order, so nothing is learnt from it: {reason}; {remedy}"

# Of both engines, and both integrations.
SHARED = (
    Trap("labels without a pair", WARNED, FIRST_GRADIENT, NO_PAIR, _without_pair),
    Trap(
        "labels that are mostly missing", WARNED, FIRST_GRADIENT,
        "{name}: more than nine in ten labels are missing (NaN), and documents without a label are in no pair; if a "
        "missing label means 0, such as no click, give 0", _mostly_missing,
    ),
    Trap(
        "position", WARNED, DROP_IN,
        "position: this objective does not read the positions of the data, so training ignores them; train with one "
        "that does, such as InversePropensity(LambdaRank(), curve), or leave position out if no measure needs it",
        lambda case: positions_in(case.data) is not None and not case.reads_positions,
    ),
    Trap(
        "values of position", WARNED, DROP_IN,
        "position: a stock lightgbm.Dataset numbers positions anew, in the order in which they first occur, so they "
        "are read as categories and not as ranks; give them to lambdaboost.lightgbm.Dataset(…, position=…)",
        _are_renumbered,
    ),
)  # fmt: skip
