"""Traps: silent failures of an engine; each row is refused or warned of at the first gradient.

docs/traps.md describes the same rows. Each is a function of what the first gradient of a booster shows: its parameters,
the queries of its data, the objective, and the sum of its hessians.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lambdaboost._warn import warn
from lambdaboost._words import quote
from lambdaboost.datasets import Queries
from lambdaboost.engines import lightgbm, xgboost
from lambdaboost.engines.base import Engine

REFUSED, WARNED = "refused", "warned"
CHANCE = 1e-6  # the probability below which labels do not contain others by chance
DIGITS = 2**24  # above it not every whole number is a float32
# Fewer or shorter queries may be sorted by chance, or be synthetic.
SORTED_QUERIES, SORTED_DOCUMENTS = 10, 5
# The smallest leaf of gradient steps: smaller ones lower NDCG on small data. With their hessian of 1 an engine's limit
# counts documents; with λ hessians the same limit counts far fewer.
GRADIENT_LEAF = 100

# What fills the braces of a row's text, once for each time that the trap is found.
Found = Iterable[Mapping[str, Any]]


class Trap(NamedTuple):
    """A row: its name in docs/traps.md, whether it is refused or warned of, the message, and the test."""

    name: str
    level: str
    text: str
    applies: Callable[[Case], Found | bool]


@dataclass(frozen=True, eq=False)
class Case:
    """What a row may look at: the first gradient of an objective in a booster."""

    booster: Any
    engine: Engine
    params: Mapping[str, Any]  # those that the user gave, as far as the engine shows them
    objective: Any
    data: Any  # the data set; None for the arrays of LGBMRanker
    q: Queries
    round: int
    hessian_sum: float  # over the documents

    @property
    def on_cluster(self) -> bool:
        """Whether other workers have other queries of the same training."""
        return self.engine.workers(self.params) > 1

    @property
    def has_trees(self) -> bool:
        """Whether the booster is one of trees."""
        return self.params.get("booster") != "gblinear"

    @property
    def has_pairs(self) -> bool:
        """Whether the training data has pairs at all; if not, a tree without splits is expected."""
        return not self.on_cluster and bool(self.objective.has_pair(self.q))

    def param_value(self, name: str) -> float:
        """The value of a parameter under any of its names, or the engine's default, which its `DEFAULTS` have."""
        value = self.engine.given(self.params, name)
        return float(self.engine.DEFAULTS[name] if value is None else value)


def refuse_traps(case: Case) -> None:
    """Raise for the first row that refuses the case."""
    for text in _messages(case, REFUSED):
        raise ValueError(text)


def warn_of_traps(case: Case) -> None:
    """Warn of each row that applies to the case."""
    for text in _messages(case, WARNED):
        warn(text)


def _messages(case: Case, level: str) -> Iterator[str]:
    for trap in (*(LIGHTGBM if case.engine is lightgbm else XGBOOST), *SHARED):
        if trap.level == level:
            found = trap.applies(case)
            every: Found = ({},) if found is True else found or ()
            yield from (trap.text.format(**braces) for braces in every)


def min_leaf_size(objective: Any, documents: int) -> int | None:
    """The smallest leaf that suits gradient steps, in documents; None for objectives with λ hessians.

    100, or a twentieth of the data if that is less, but at least LightGBM's own 20.
    """
    needs = getattr(objective, "needs", None)  # an engine's own has none
    if needs is None or not needs.counts_documents:
        return None
    return min(GRADIENT_LEAF, max(20, documents // 20))


def with_min_leaf_size(
    params: Mapping[str, Any], engine: Engine, objective: Any, documents: int
) -> dict[str, Any]:
    """The parameters, with the default minimum leaf size of gradient steps if they have none."""
    found, name, least = dict(params), engine.MIN_LEAF_SIZE, min_leaf_size(objective, documents)
    if least is not None and engine.given(params, name) is None:
        found[name] = least
    return found


# LightGBM.


def _label_gain(case: Case) -> Found:
    table = case.params.get("label_gain")
    if isinstance(table, str):
        table = table.split(",")
    if table is not None:
        yield {"gain": f"({', '.join(map(str, table))})"}


def _draws_bags_by_query(case: Case) -> bool:
    is_on = float(lightgbm.given(case.params, "bagging_freq") or 0) != 0
    return is_on and lightgbm.is_true(case.params.get("bagging_by_query"))


def _cuts_queries(case: Case) -> bool:
    """Whether the training set is a subset with some rows of a query, but not all."""
    fields = lightgbm.fields_of(case.booster.train_set)
    if fields.parent is None:
        return False
    offsets = fields.parent.get_field("group")
    if offsets is None:
        return False
    rows = np.asarray(fields.rows)
    taken = np.bincount(np.searchsorted(offsets, rows, side="right") - 1, minlength=offsets.size - 1)
    return bool(((taken > 0) & (taken != np.diff(offsets))).any())


def _small_for_lightgbm(case: Case) -> Found:
    least, hessian = map(case.param_value, ("min_data_in_leaf", "min_sum_hessian_in_leaf"))
    n = case.q.n_documents
    if case.has_pairs and (n < 2 * least or case.hessian_sum < 2 * hessian):
        yield {"n": n, "sum": f"{case.hessian_sum:.3g}", "least": f"{least:g}", "hessian": f"{hessian:g}"}


LIGHTGBM = (
    Trap(
        "bagging_by_query", REFUSED,
        "bagging_by_query: under any objective but its own LightGBM never draws the bags, and small bagging fractions "
        "leave trees of two or three leaves; leave bagging_by_query out, then rows are bagged", _draws_bags_by_query,
    ),
    Trap(
        "cv", WARNED,
        "folds: this training set holds only some rows of a query; lightgbm.cv splits queries row by row under any "
        "objective but its own: give folds=query_folds(data, 5) of lambdaboost", _cuts_queries,
    ),
    Trap(
        "label_gain", WARNED,
        "label_gain: LightGBM keeps one table for the whole process, so that another booster's changes this one's "
        "ndcg; use NDCG(k, gain={gain}) as feval and LambdaRank(NDCG(gain={gain}))", _label_gain,
    ),
    Trap(
        "min_sum_hessian_in_leaf", WARNED,
        "no tree can have a split: each leaf needs min_data_in_leaf={least} documents, as LightGBM estimates them from "
        "hessians, and a sum of hessians of min_sum_hessian_in_leaf={hessian}, but there are {n} documents with a sum "
        "of {sum}; try lower values", _small_for_lightgbm,
    ),
)  # fmt: skip


# XGBoost.


def _approximates(case: Case) -> Found:
    state = xgboost.state_of(case.booster)
    tree_method = state.get("gradient_booster", {}).get("gbtree_train_param", {}).get("tree_method")
    objective = state.get("objective", {}).get("name", "rank:")
    if tree_method == "approx" and not objective.startswith("rank:"):
        yield {"objective": objective}


def _small_for_xgboost(case: Case) -> Found:
    least = case.param_value("min_child_weight")
    if case.has_pairs and case.hessian_sum < 2 * least and case.has_trees:
        yield {"sum": f"{case.hessian_sum:.3g}", "least": f"{least:g}"}


XGBOOST = (
    Trap(
        "tree_method=approx", WARNED,
        "tree_method=approx: without an objective in params XGBoost takes this one for {objective}, whose hessian is "
        "constant, and grows other trees; add 'objective': 'rank:ndcg' to params", _approximates,
    ),
    Trap(
        "min_child_weight", WARNED,
        "no tree can have a split: each leaf needs a sum of hessians of min_child_weight={least}, and all documents "
        "together have {sum}; try min_child_weight=0", _small_for_xgboost,
    ),
)  # fmt: skip


# Both engines.


def _only_native(case: Case) -> Found:
    # The remedy is an argument of the objective in training, where it has that argument.
    own = type(case.objective).__name__
    truncated = own if hasattr(case.objective, "metric") else "LambdaRank"
    scaled = own if hasattr(case.objective, "sigma") else "LambdaRank"
    pairs = case.params.get("lambdarank_num_pair_per_sample", 32)  # XGBoost's default, of pairs by rank
    for name, (agrees, remedy) in case.engine.ONLY_NATIVE.items():
        value = case.params.get(name)
        if value is not None and (agrees is None or case.engine.is_true(value) is not agrees):
            shown = quote(value).strip("'")
            # XGBoost draws pairs at random here, of which a truncated measure is no counterpart.
            if "_pair_" in name and case.params.get("lambdarank_pair_method") == "mean":
                remedy = "leave it out: every pair counts"
            yield {
                "name": name,
                "remedy": remedy.format(value=shown, truncated=truncated, scaled=scaled, pairs=pairs),
            }


def _unknown(case: Case) -> Found:
    known = case.engine.parameter_names()
    # XGBoost warns itself of those that it does not know.
    for name in case.params:
        if case.engine is lightgbm and known and name not in known:
            yield {"name": quote(name), "remedy": hint(name, known)}


def _small_leaves(case: Case) -> Found:
    name = case.engine.MIN_LEAF_SIZE
    least, now = min_leaf_size(case.objective, case.q.n_documents), case.param_value(name)
    # Whether nobody chose the smallest leaf; LGBMRanker, which has no data set, always passes the default.
    passed = case.data is not None and case.engine.given(case.params, name) is not None
    is_default = not passed and now == case.engine.DEFAULTS[name]
    if least is not None and case.has_trees and is_default and now < least:
        yield {"name": name, "least": least, "now": f"{now:g}"}


def _sorted_rows(case: Case) -> Found:
    """By a source that the objective reads, in round 0, in which all scores tie."""
    if not case.round and case.objective.needs.ties_by_row:
        yield from sorted_sources(case.objective.sources, case.q)


def sorted_sources(sources: Iterable[str], q: Queries) -> Found:
    """The sources by which the rows of every query descend, with the number of queries in which labels differ."""
    if q.n_documents < SORTED_DOCUMENTS * q.n_queries:
        return
    for name in sources:
        step = np.diff(np.nan_to_num(q.labels[name].astype(np.float64), nan=-1e300))
        step[q.offsets[1:-1] - 1] = 0  # from one query to the next
        mixed = np.count_nonzero(np.add.reduceat(np.append(step < 0, False), q.offsets[:-1]))
        if mixed >= SORTED_QUERIES and not (step > 0).any():
            yield {"name": name, "mixed": mixed}
            return


def warn_of_sorted_rows(measure: Any, q: Queries) -> None:
    """Warn of a validation set in the order of a source that the measure reads."""
    for found in sorted_sources(measure.sources, q):
        warn(SORTED_VALIDATION.format(measure=measure, **found))


def _without_pair(case: Case) -> Found:
    """Each part without one; not on a cluster, where no worker has all queries."""
    if not case.on_cluster:
        for found in case.objective.without_pair(case.q):
            yield found._asdict()


def _nested(case: Case) -> Found:
    """Each tier whose labels contain those whose ties it breaks, as clicks contain bookings, or are contained."""
    if case.on_cluster:
        return
    parts = [case.objective]
    for part in parts:  # which grows by the parts of those that are composed
        parts += getattr(part, "parts", ())
        for first in getattr(part, "within", ()):
            for outer, inner in ((part.source, first), (first, part.source)):
                wide, narrow = case.q.labels[outer], case.q.labels[inner]
                known = ~(np.isnan(wide) | np.isnan(narrow))
                has_inner = known & (narrow > 0)
                share, count = (wide[known] > 0).mean() if known.any() else 1.0, np.count_nonzero(has_inner)
                if (wide[has_inner] > 0).all() and share**count < CHANCE and not np.array_equal(wide, narrow):
                    yield {"outer": outer, "inner": inner}
                    break


def _many_digits(case: Case) -> Found:
    for name in case.objective.sources:
        if np.fmax.reduce(case.q.labels[name]) > DIGITS:
            yield {"name": name}


def _unread_positions(case: Case) -> bool:
    own = case.engine is lightgbm and case.booster.train_set.get_field("position") is not None
    if not (own or case.q.positions is not None) or case.objective.needs.positions:
        return False
    metrics = case.engine.metrics_in_training(case.booster)
    return not any(getattr(metric, "reads_positions", False) for metric in metrics)


SORTED_VALIDATION = (
    "row order: {measure!r} is evaluated on rows that are sorted by descending {name} in all {mixed} queries of more "
    "than one label. Few trees leave many scores tied, and the order of rows then decides: it is highest after "
    "a round or two, where early stopping ends; shuffle the rows inside queries: rows = q.shuffled_rows(seed)"
)
NO_PAIR = "{objective} has no pair of documents to order, so nothing is learnt from it: {reason}; {remedy}"

SHARED = (
    Trap(
        "native parameters", WARNED,
        "{name}: only the engine's own objective reads it, so here it does nothing; {remedy}", _only_native,
    ),
    Trap("unknown parameters", WARNED, "params has {name}, which LightGBM does not know: {remedy}", _unknown),
    Trap(
        "gradient steps and leaves", WARNED,
        "{name}: the engine's default of {now} documents in a leaf suits λ hessians; gradient steps count every "
        "document as one, and so small leaves lower NDCG: give {name}={least}", _small_leaves,
    ),
    Trap(
        "row order", WARNED,
        "row order: the rows of all {mixed} queries with more than one label are sorted by descending {name}. In the "
        "first round all scores tie and the order of rows is the ranking, so it looks perfect; shuffle the rows inside "
        "queries: rows = q.shuffled_rows(seed)", _sorted_rows,
    ),
    Trap("labels without a pair", WARNED, NO_PAIR, _without_pair),
    Trap(
        "one label contains the other", WARNED,
        "every document with {inner} above 0 has {outer} above 0 too, as every booking is a click: one model of a "
        "summed grade, such as 2 for both, 1 for {outer} alone and 0 for neither, is better than breaking ties",
        _nested,
    ),
    Trap(
        "labels as float32", WARNED,
        "{name}: labels above 2**24 = 16777216 lose digits as float32, in which engines keep them, so that different "
        "ones may tie; use smaller labels, such as their ranks", _many_digits,
    ),
    Trap(
        "position", WARNED,
        "position: this objective does not read the positions of the data, so training ignores them; train with one "
        "that does, such as InversePropensity(LambdaRank(), curve), or leave position out, of the features too",
        _unread_positions,
    ),
)  # fmt: skip


def warn_of_cut_queries(training: tuple[Any, Any, Any] | None, X: Any, q: Queries) -> None:
    """Warn where a frame has rows of queries of which the ranker was trained on others, as folds of rows make them.

    `training` is the index of the training frame, and the ids and numbers of rows of its queries. Frames that were
    numbered apart have rows of the same index, and may have queries of the same id.
    """
    if training is None or q.ids is None or not hasattr(X, "index") or X.index.isin(training[0]).any():
        return
    import pandas as pd

    _, ids, sizes = training
    place = pd.Index(ids).get_indexer(pd.Index(q.ids))
    cut = np.count_nonzero((place >= 0) & (sizes[place] != q.sizes))
    if cut:
        warn(
            f"queries: {cut} of {q.n_queries} were trained on with other rows than these: KFold and train_test_split "
            "cut queries, and the score says nothing of new ones; split whole queries, by GroupKFold with groups= the "
            "column of queries"
        )


def hint(name: Any, known: Iterable[str]) -> str:
    """A suggestion for an unknown name.

    >>> hint("max_depht", {"max_depth"}), hint("depth", {"max_depth"}), hint("my_own", {"max_depth"})
    ("did you mean 'max_depth'?", "did you mean 'max_depth'?", 'leave it out')
    """
    from difflib import get_close_matches

    names = sorted(known)
    ends = [full for full in names if full.endswith(f"_{name}")]
    close = ends if len(ends) == 1 else get_close_matches(str(name), names, 2)
    return f"did you mean {' or '.join(map(repr, close))}?" if close else "leave it out"
