"""Checks of the data of a search: what can be trained and measured on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._warn import warn
from lambdaboost._words import counted, plain, shown
from lambdaboost.datasets import Collection
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation import Measure
from lambdaboost.native import NativeObjective
from lambdaboost.tuning.folds import query_contents

FEW = 0.05  # the share of validation queries that may equal training queries of other names
GRADES_BELOW = 31  # of the engines' own objectives, whose gains are powers of 2


def check_part(name: str, part: Any) -> None:
    """Raise unless the part is a collection."""
    if not isinstance(part, Collection):
        raise TypeError(
            f"{name} is a {type(part).__name__}, expected a Collection, or a table and its grades: "
            "tune(frame, y, valid=(frame, y))"
        )


def check_data(train: Collection, valid: Collection | None, together: bool) -> None:
    """Raise unless the parts have the same columns, and no query is in both.

    Equal queries may be in both where folds are drawn from both `together`: they are in one fold.
    """
    if valid is None:
        return
    try:
        Collection.concat([part.without_ids().take([0]) for part in (train, valid)])
    except ValueError as error:
        text = str(error).replace("part 0", "train").replace("part 1", "valid")
        raise ValueError(text) from None
    ids, known = valid.queries.ids, train.queries.ids
    # Numbers often begin anew in each file.
    twice = np.isin(query_contents(valid), query_contents(train))
    both = np.zeros_like(twice)
    if ids is not None and known is not None and not {ids.dtype.kind, known.dtype.kind} & {*"iuf"}:
        both = np.isin(ids, known) & ~(twice & together)
    if ids is not None and both.any():
        raise ValueError(
            f"valid has rows of {np.count_nonzero(both)} queries of train, the first is {shown(ids[both][0])}: keep "
            "each query in one part"
        )
    if not together:
        _check_apart(train, valid, twice)


def _check_apart(train: Collection, valid: Collection, twice: NDArray[np.bool_]) -> None:
    """Raise if validation queries also train; a few duplicates under other names occur in every log, and only warn."""
    ordered = np.any([is_ordered(valid, source) for source in valid.queries.labels], axis=0)
    twice = twice & ordered
    if not twice.any():
        return
    at, n = int(twice.argmax()), int(np.count_nonzero(twice))
    ids, known = valid.queries.ids, train.queries.ids
    same_name = ids is not None and known is not None and np.isin(ids[twice], known).any()
    said = (
        f"valid shares {counted(n, 'query', 'queries')} with train, of the same features and labels; the first is "
        f"query {at if ids is None else plain(ids[at])}: the choice would be made on training data"
    )
    if same_name or n > FEW * np.count_nonzero(ordered):
        raise ValueError(f"{said}; remove them from one part, such as by valid.take(…)")
    warn(f"{said}; too few to matter much")


def check_measure(measure: Measure, name: str, part: Collection) -> None:
    """Raise if a measure cannot be computed on a part, or no query has an order to learn."""
    if (reason := _unreadable(measure, part) or _unmeasurable(measure, part)) is not None:
        raise ValueError(f"measure {measure!r}, in {name}: {reason}")
    counts = part.queries.query_weight > 0
    if not any((is_ordered(part, source) & counts).any() for source in measure.sources):
        weighted = "" if counts.all() else " of positive weight"
        raise ValueError(
            f"{name} has no query{weighted} with two documents of different {' or '.join(measure.sources)}: there is "
            "nothing to learn or to choose by; give more queries, or other labels"
        )


def unfit(rule: Any, part: Collection) -> str | None:
    """Why an objective cannot train on the data, or None."""
    if (reason := _unreadable(rule, part)) is not None:
        return reason
    q = part.queries
    if not isinstance(rule, NativeObjective):
        for source in rule.sources:
            if source != RELEVANCE and np.nanmax(q.labels[source], initial=0) > 1:
                return f"it takes labels of {source} in [0, 1] only"
        try:
            measure = rule.measure
        except (AttributeError, TypeError):  # a model of grades, or no single measure
            return None
        return _unmeasurable(measure, part)
    grades = q.labels[RELEVANCE]
    if np.isnan(grades).any():
        return "it reads missing grades as 0"
    if rule.name == "rank:map" and not np.isin(grades, (0, 1)).all():
        return "it takes grades 0 and 1 only"
    whole = (grades == np.floor(grades)).all() and grades.max(initial=0) < GRADES_BELOW
    if rule.name not in ("rank:pairwise", "rank:map") and not whole:
        return f"it takes whole grades below {GRADES_BELOW} only"
    return None


def unread(engine: str, part: Collection) -> str | None:
    """Why an engine cannot read the features, or None."""
    features = part.features if isinstance(part.features, np.ndarray) else part.features.data
    if engine == "xgboost" and (np.abs(features) > np.finfo(np.float32).max).any():
        return (
            "XGBoost reads no features beyond float32, such as inf; replace them, or give engine='lightgbm'"
        )
    return None


def _unreadable(rule: Any, part: Collection) -> str | None:
    """Why an objective or a measure cannot read the labels or positions, or None."""
    try:
        for source in rule.sources:
            part.queries.source(source, allow_negative=rule.allows_negative)
        if getattr(rule, "reads_positions", False):
            part.queries.required_position()
    except ValueError as error:
        return str(error)
    return None


def _unmeasurable(measure: Measure, part: Collection) -> str | None:
    """Why a measure cannot be computed on a part, such as a grade too high for its gain, or None."""
    try:
        measure.per_query(np.zeros(part.queries.n_documents), part.queries)
    except ValueError as error:
        return str(error)
    return None


def is_ordered(part: Collection, source: str) -> NDArray[np.bool_]:
    """Whether each query has two documents of different labels."""
    labels, starts = part.queries.labels[source], part.queries.offsets[:-1]
    high, low = (limit.reduceat(labels, starts) for limit in (np.fmax, np.fmin))
    different: NDArray[np.bool_] = high > low
    return different
