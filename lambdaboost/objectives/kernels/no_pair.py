"""Why a rule orders no two documents, in words: such a part of an objective silently has no effect."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from lambdaboost.datasets import Queries
from lambdaboost.objectives.kernels.pair_rule import PairRule


class NoPair(NamedTuple):
    """An objective that has no pair, why, and what to do about it."""

    objective: Any
    reason: str
    remedy: str


def differ_in_a_query(source: str, q: Queries) -> bool:
    """Whether two documents of a query whose weight is not 0 have different labels in a source."""
    labels = q.source(source, allow_negative=True)
    high, low = (limit.reduceat(labels, q.offsets[:-1]) for limit in (np.fmax, np.fmin))
    return bool(((high > low) & (q.query_weight > 0)).any())


def why_no_pair(rule: PairRule, q: Queries) -> tuple[str, str]:
    """The reason and the remedy, of a rule that has no pair in these queries."""

    def would_have(q: Queries = q, **changes: Any) -> bool:
        return replace(rule, metric=None, **changes).has_pair(q)

    source, labels = repr(rule.source), q.source(rule.source, allow_negative=True)
    if np.isnan(labels).all():
        return f"{source} is missing (NaN) in every row", "give its labels, or leave this objective out"
    if (q.sizes == 1).all():
        return "every query has a single document", "look at the sizes or the ids of the queries"
    if would_have():
        return (
            f"{rule.metric!r} values all documents of each query alike",
            "give another measure or threshold",
        )
    if rule.skip_zero and would_have(skip_zero=False):
        return (
            f"zeros='missing' leaves out documents with 0 in {source}, and the others do not differ",
            "give zeros='label', for which 0 is a label like any other",
        )
    if rule.within and would_have(within=(), skip_zero=False):
        tied = " and ".join(map(repr, rule.within))
        return (
            f"documents with equal labels in {tied} have no different labels in {source}",
            f"give labels in {tied} that are not made from {source}, or leave this objective out",
        )
    if rule.skip_zero and not (np.nan_to_num(labels) != 0).any():
        return f"all labels in {source} are 0, which zeros='missing' leaves out", "give labels above 0"
    if q.weight is not None and would_have(q.with_weight(np.ones(q.n_queries))):
        return "every query that has one has weight 0", "give it a weight above 0"
    known = labels[~np.isnan(labels)]
    if (known == known[0]).all():
        gaps = known.size < labels.size
        remedy = "if NaN means 0, such as no click, give 0" if gaps else "give labels that differ"
        return f"all labels in {source} are {known[0]:g}" + (", or NaN" if gaps else ""), remedy
    return (
        f"no query has two documents with different labels in {source}",
        "look at the labels and the queries",
    )
