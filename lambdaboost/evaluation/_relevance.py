"""Counts of labels that several measures need."""

from __future__ import annotations

from lambdaboost._jit import kernel


@kernel
def n_relevant(labels, threshold):  # type: ignore[no-untyped-def]
    """Number of documents with a label of at least `threshold`."""
    n = 0
    for label in labels:
        n += label >= threshold
    return n


@kernel
def n_judged(labels):  # type: ignore[no-untyped-def]
    """Number of documents with a label: NaN is less than nothing."""
    n = 0
    for label in labels:
        n += label >= 0
    return n
