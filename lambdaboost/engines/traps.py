"""What an engine would do silently: each trap is a row, refused or warned of with the remedy.

docs/traps.md describes the same rows, and a test compares them. The rows of one engine are in its folder; those of a
stock `train`, which its calls reveal, are in `lambdaboost.calls.traps`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lambdaboost._words import shown
from lambdaboost.calls.traps import DROP_IN, REFUSED, SHARED, WARNED, Case, Found, Trap, given, look_for
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.objectives import GradientStep, Objective
from lambdaboost.objectives.kernels.no_pair import differ_in_a_query

# When a row is looked at: at the call, there unless the objective is the engine's own, with the data, with the finished
# model, or when a data set is made.
CALL, OBJECTIVE, DATA = "call", "objective", DROP_IN
MODEL, LABELS = "model", "labels"
# Fewer or shorter queries may be sorted by chance, or be synthetic.
SORTED_QUERIES, SORTED_DOCUMENTS = 10, 5
WITHOUT_SPLIT = "no tree has a split"


def _arguments(case: Case) -> Found:
    for found in given("leaves", "rounds", "sources", "position")(case):
        more = ", or n_estimators= of a ranker" if found["name"] == "rounds" else ""
        yield {**found, "more": more}


def _objective(case: Case) -> Found:
    # XGBoost's estimators set rank:ndcg themselves.
    return given(*case.engine.aliases["objective"], value=lambda value: value != "rank:ndcg")(case)


def _unknown(case: Case) -> Found:
    for name in case.params:
        if remedy := case.engine.unknown(name):
            yield {"name": shown(name), "engine": case.engine.title, "remedy": remedy}


def _only_native(case: Case) -> Found:
    if not isinstance(case.rule, Objective):
        return
    for name, remedy in case.engine.only_native.items():
        if case.params.get(name) is not None:
            yield {"name": name, "remedy": remedy}


def _slow_steps(case: Case) -> Found:
    rule = case.rule
    bare = isinstance(rule, GradientStep) and rule.normalize == "none"
    if bare and all(case.params.get(name) is None for name in case.engine.aliases["rate"]):
        yield {"rule": rule}


def _sorted_rows(case: Case) -> Found:
    q, rule = case.q, case.rule
    if q is None or case.continued or not (isinstance(rule, Objective) and rule.ranks_ties_by_row):
        return
    step = np.diff(q.labels[RELEVANCE])
    step[q.offsets[1:-1] - 1] = 0  # from one query to the next
    if (step > 0).any():
        return
    mixed = np.count_nonzero(np.add.reduceat(np.append(step < 0, False), q.offsets[:-1]))
    if mixed >= SORTED_QUERIES and q.n_documents >= SORTED_DOCUMENTS * q.n_queries:
        yield {"mixed": mixed}


def _narrow(case: Case) -> Found:
    a = np.asarray(case.labels)
    # A float16 would have no such number to compare with.
    if (
        a.dtype == np.float32
        or a.dtype.kind not in "iuf"
        or not float(np.fmax.reduce(a, None, initial=0)) > 2**24
    ):
        return
    changed = a.astype(np.float32).astype(np.float64) != a
    if (changed & ~np.isnan(a.astype(np.float64))).any():
        yield {"name": case.name}


def _native_without_pair(case: Case) -> Found:
    """Of what is no objective, whose first gradient tells."""
    if not isinstance(case.rule, Objective) and not has_pair(case):
        yield {"sources": " or ".join(case.rule.sources)}


def has_pair(case: Case) -> bool:
    """Whether the labels that are learnt from order two documents of a query."""
    if case.q is None:
        return True
    if isinstance(case.rule, Objective):
        return case.rule.has_pair(case.q)
    return any(differ_in_a_query(name, case.q) for name in case.rule.sources if name in case.q.labels)


COMMON = (
    *SHARED,
    Trap(
        "arguments among the parameters", REFUSED, CALL,
        "params has {name}={value}, which the engine does not know: give it as {name}= of the call{more}",
        _arguments,
    ),
    Trap(
        "objective among the parameters", REFUSED, CALL,
        "params has {name}={value}: leave it out, and give objective= of the call instead", _objective,
    ),
    Trap(
        "unknown parameters", REFUSED, CALL, "params has {name}, which {engine} does not know: {remedy}", _unknown
    ),
    Trap(
        "native parameters", WARNED, CALL,
        "{name}: only the engine's own objective reads it, so here it does nothing; {remedy}", _only_native,
    ),
    Trap(
        "learning rate of gradient steps", WARNED, CALL,
        "learning_rate: the engine's default suits Newton leaves, but leaves of {rule!r} are 12 to 30 times smaller, "
        "because they are not divided by a hessian; give a higher rate, or use normalize='query'", _slow_steps,
    ),
    Trap(
        "row order", WARNED, DATA,
        "row order: the rows of all {mixed} queries with more than one grade are sorted by descending grade. In the "
        "first round all scores tie and the order of rows is the ranking, so it looks perfect; shuffle the rows inside "
        "queries: rows = q.shuffled_rows(seed)", _sorted_rows,
    ),
    Trap(
        "labels as float32", WARNED, LABELS,
        "{name}: labels above 2**24 = 16777216 lose digits as float32, in which engines keep them, so that different "
        "ones may tie; use smaller labels, such as their ranks", _narrow,
    ),
    Trap(
        "labels without a pair", WARNED, MODEL,
        WITHOUT_SPLIT + ", so all documents score the same. No query has two documents of different {sources}: there "
        "is no order to learn from these labels.", _native_without_pair,
    ),
)  # fmt: skip


def look_at(at: str, case: Case) -> None:
    """Raise for the first row of the case's engine, or of all, that refuses it; warn of all others that apply."""
    look_for((*case.engine.traps, *COMMON), at, case)


def warn_of_narrow_labels(name: str, labels: Any) -> None:
    """Warn if labels are so large that they lose digits as float32, the type in the engines and in `Queries`."""
    look_for(COMMON, LABELS, Case(name=name, labels=labels))
