"""Why an objective orders no two documents. Such a part of a combination has no effect, and no engine says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lambdaboost.datasets import Queries
from lambdaboost.objectives.kernels.pair_rule import PairRule


def explain_no_pair(rule: PairRule, q: Queries) -> str:
    """Why a rule has no pair in these queries, and what to do about it."""

    def would_have(**changes: Any) -> bool:
        """Whether it would have one with these changes, whatever the gains of the labels."""
        return replace(rule, metric=None, **changes).has_pair(q)

    # The first of three settings without which there would be a pair.
    source, labels = repr(rule.source), q.source(rule.source, allow_negative=True)
    if np.isnan(labels).all():
        return f"{source} is missing (NaN) in every row; give its labels, or leave this objective out"
    if rule.skip_zero and would_have(skip_zero=False):
        return (
            f"zeros='missing' leaves out documents with 0 in {source}, and the others do not differ; "
            "give zeros='label', for which 0 is a label like any other"
        )
    if rule.within and would_have(within=(), skip_zero=False):
        tied = " and ".join(map(repr, rule.within))
        return (
            f"documents with equal labels in {tied} have no different labels in {source}; "
            f"give labels in {tied} that are not made from {source}, or leave this objective out"
        )

    # What is left: equal labels, or labels whose gains are equal.
    differently = ""
    if rule.metric is not None:
        differently = f" that {rule.metric!r} values differently"
    return (
        f"no query with a weight above 0 has two documents with different labels in {source}{differently}; "
        "look at the labels and the queries; where NaN means 0, such as no click, give 0"
    )
