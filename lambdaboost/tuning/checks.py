"""Checks of arguments before anything is trained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._installed import ENGINES, engine_package, first_installed, installed
from lambdaboost._warn import warn
from lambdaboost.datasets import Collection
from lambdaboost.datasets._checks import check_count
from lambdaboost.datasets._concat import check_alike
from lambdaboost.engines.engine import engine_named
from lambdaboost.engines.native import NativeObjective
from lambdaboost.evaluation import Measure
from lambdaboost.evaluation._parse import measures_in
from lambdaboost.tuning.candidates import Candidate
from lambdaboost.tuning.contents import query_contents
from lambdaboost.tuning.nested import Outer

FEW = 0.05  # the share of validation queries that may equal training queries of other names
GRADES_BELOW = 31  # of the engines' own objectives, whose gains are powers of 2


def checked_data(train: Any, valid: Any) -> None:
    """Raise unless the parts are collections of the same columns, and no validation query also trains."""
    for name, part in (("train", train), ("valid", valid)):
        if not isinstance(part, Collection) and not (name == "valid" and part is None):
            raise TypeError(
                f"{name} is a {type(part).__name__}, expected a Collection: make one by read_letor, from_frame or "
                "Collection(features, Queries(…))"
            )
    if valid is None:
        return
    try:
        check_alike([train.without_ids(), valid.without_ids()])
    except ValueError as error:
        text = str(error).replace("collections[0]", "train").replace("collections[1]", "valid")
        raise ValueError(text) from None
    _check_apart(train, valid)


def _check_apart(train: Collection, valid: Collection) -> None:
    """Raise if validation queries also train; a few duplicates under other names occur in every log, and only warn."""
    _check_names(train.queries.ids, valid.queries.ids)
    ordered = _with_order(valid)
    twice = np.isin(query_contents(valid), query_contents(train)) & ordered
    if not twice.any():
        return
    at, n = int(twice.argmax()), np.count_nonzero(twice)
    ids = valid.queries.ids
    query = at if ids is None else ids[at]
    same_name = (
        ids is not None and train.queries.ids is not None and np.isin(ids[twice], train.queries.ids).any()
    )
    queries = "1 query" if n == 1 else f"{n} queries"
    said = (
        f"valid shares {queries} with train, of the same features and labels; the first is query {query}: the choice "
        "would be made on training data"
    )
    if same_name or n > FEW * np.count_nonzero(ordered):
        raise ValueError(f"{said}; remove them from one part, such as by valid.take(…)")
    warn(f"{said}; too few to matter much")


def _check_names(train: NDArray[Any] | None, valid: NDArray[Any] | None) -> None:
    """Raise if queries of one text are in both parts; numbers often begin anew in each file."""
    if train is None or valid is None or train.dtype.kind in "iuf" or valid.dtype.kind in "iuf":
        return
    both = np.isin(valid, train)
    if both.any():
        raise ValueError(
            f"valid has rows of {np.count_nonzero(both)} queries of train, the first is {valid[both][0]!r}: keep each "
            "query in one part"
        )


def _with_order(part: Collection) -> NDArray[np.bool_]:
    """Whether each query has two documents of different labels of a source."""
    found = np.zeros(part.queries.n_queries, dtype=np.bool_)
    for source in part.queries.labels:
        found |= _ordered(part, source)
    return found


def checked_measures(measure: Any, train: Collection, valid: Collection | None) -> tuple[Measure, ...]:
    """The measures, parsed; raises if one cannot be computed, or no query has an order to learn."""
    measures = measures_in(measure)
    if not measures or not all(isinstance(one, Measure) for one in measures):
        raise TypeError(f"measure is {measure!r}: give a measure such as NDCG(10) or 'ndcg@10', or several")
    for name, part in (("train", train), ("valid", valid)):
        if part is None:
            continue
        q = part.queries
        for one in measures:
            try:
                for source in one.sources:
                    q.source(source, allow_negative=one.allows_negative)
                if one.reads_positions:
                    q.required_position()
            except ValueError as error:
                raise ValueError(f"measure {one!r}, in {name}: {error}") from None
        for one in measures:
            if any(_ordered(part, source).any() for source in one.sources):
                continue
            sources = " or ".join(one.sources)
            raise ValueError(
                f"{name} has no query with two documents of different {sources}: there is nothing to learn or "
                "to choose by; give more queries, or other labels"
            )
    return measures


def checked_engines(engine: Any) -> tuple[str, ...]:
    """The engines to try, the first one for lambdaboost's objectives; raises if it is unknown or not installed."""
    if engine is None:
        first = first_installed()
        engine_package(first)
        return (first, *(name for name in installed() if name != first))
    if engine not in ENGINES:
        raise ValueError(f"engine is {engine!r}, expected one of {', '.join(ENGINES)}, or None for all")
    engine_package(engine)
    return (engine,)


def checked_params(params: Mapping[str, Any] | None, engines: Iterable[str]) -> dict[str, Any]:
    """The fixed parameters; raises if an engine that is tried does not know one, or it has its own argument."""
    if params is not None and not isinstance(params, Mapping):
        raise TypeError(f"params is a {type(params).__name__}, expected a dict of the engine's parameters")
    for name in engines:
        engine = engine_named(name)
        for key in params or {}:
            if key in engine.reserved:
                raise ValueError(
                    f"params has {key!r}: leave it out; tune sets objective, rounds, measure and seed"
                )
            if params and params[key] in ("dart", "rf", "random_forest"):
                raise ValueError(
                    f"params has {key}={params[key]!r}: its trainings cannot stop early; leave it out"
                )
            if key not in engine.parameters():
                raise ValueError(
                    f"params has {key!r}, which {engine.title} does not know: correct it, or set engine= to the "
                    "engine it belongs to"
                )
    return dict(params or {})


def checked_budget(trainings: int | None, minutes: float | None, each: int) -> None:
    """Raise unless there is a budget for one trial, which takes `each` trainings."""
    if trainings is None and minutes is None:
        raise ValueError("trainings and minutes are both None: give a budget, such as trainings=40")
    if trainings is not None:
        check_count("trainings", trainings, 1)
        if trainings < each:
            raise ValueError(
                f"trainings is {trainings}, too few for one trial, which trains on {each} folds: give {each} or more, "
                "fewer folds, or a validation part"
            )
    if minutes is not None and not (isinstance(minutes, int | float) and 0 < minutes < np.inf):
        raise ValueError(f"minutes is {minutes!r}: give a number above 0, such as 10")


def usable(
    candidates: Sequence[Candidate], data: Sequence[Collection]
) -> tuple[tuple[Candidate, ...], dict[str, str]]:
    """The candidates that can train on the data, and why each of the others cannot."""
    kept, left_out = [], {}
    for candidate in candidates:
        reason = next((why for part in data if (why := _unfit(candidate, part))), None)
        if reason is None:
            kept.append(candidate)
        else:
            left_out[candidate.name] = reason
    return tuple(kept), left_out


def _unfit(candidate: Candidate, part: Collection) -> str | None:
    """Why a candidate cannot train on the data, or None."""
    rule, q = candidate.objective(), part.queries
    try:
        for source in rule.sources:
            q.source(source, allow_negative=rule.allows_negative)
        if getattr(rule, "reads_positions", False):
            q.required_position()
    except ValueError as error:
        return str(error)
    grades = q.labels["relevance"]
    if not isinstance(rule, NativeObjective):
        return _unfit_sources(rule.sources, part)
    if np.isnan(grades).any():
        return "it reads missing grades as 0"
    if rule.name == "rank:map" and not np.isin(grades, (0, 1)).all():
        return "it takes grades 0 and 1 only"
    if rule.name not in ("rank:pairwise", "rank:map") and (
        (grades != np.floor(grades)).any() or grades.max(initial=0) >= GRADES_BELOW
    ):
        return f"it takes whole grades below {GRADES_BELOW} only"
    return None


def _unfit_sources(sources: Iterable[str], part: Collection) -> str | None:
    for source in sources:
        if source != "relevance" and np.nanmax(part.queries.labels[source], initial=0) > 1:
            return f"it takes labels of {source} in [0, 1] only"
    return None


def _ordered(part: Collection, source: str) -> NDArray[np.bool_]:
    """Whether each query has two documents of different labels."""
    labels, starts = part.queries.labels[source], part.queries.offsets[:-1]
    high, low = (limit.reduceat(labels, starts) for limit in (np.fmax, np.fmin))
    different: NDArray[np.bool_] = high > low
    return different


def checked_choose(choose: Any, refit: Any, valid: Collection | None, n_measures: int) -> None:
    """Raise if the choice is unknown, or there is no measured model to keep."""
    if choose not in (None, "best", "simplest", "balanced"):
        raise ValueError(f"choose is {choose!r}, expected 'best', 'simplest' or 'balanced'")
    if choose == "balanced" and n_measures < 2:
        raise ValueError(
            "choose is 'balanced' with one measure: give several, or choose 'best' or 'simplest'"
        )
    if not refit and valid is None:
        raise ValueError(
            "refit=False without valid: cross-validation has a model of each fold and none of all; leave refit out, "
            "or give valid"
        )


def checked_folds(folds: Any, train: Collection) -> None:
    """Raise unless there are queries for each fold."""
    check_count("folds", folds, 2)
    _check_enough("folds", folds, train)


def checked_nested(nested: Any, train: Collection) -> None:
    """Raise unless it is 0, or there are queries for each of two or more folds."""
    if nested != 0 or isinstance(nested, bool):
        check_count("nested", nested, 2)
        _check_enough("nested", nested, train)


def checked_outer(outer: Iterable[Outer], measures: Iterable[Measure], folds: int) -> None:
    """Raise before the search if it cannot be repeated without an outer fold."""
    for at, fold in enumerate(outer):
        try:
            checked_measures(measures, fold.train, fold.valid)
            if fold.valid is None:
                checked_folds(folds, fold.train)
        except ValueError as error:
            raise ValueError(
                f"nested, without outer fold {at}: {error}; give more queries or fewer folds"
            ) from None


def _check_enough(name: str, folds: int, train: Collection) -> None:
    different = np.unique(query_contents(train)).size
    if different < folds:
        raise ValueError(
            f"{name} is {folds}, but train has {different} different queries: each fold needs one"
        )


def checked_candidates(candidates: Sequence[Candidate], left_out: Mapping[str, str], named: bool) -> None:
    """Raise if no candidate can train on the data, or one that was named cannot."""
    if left_out and (named or not candidates):
        name, reason = next(iter(left_out.items()))
        raise ValueError(f"objective {name} cannot train on these data: {reason}")
