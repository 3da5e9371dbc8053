"""Traps: silent failures of an engine, refused or warned of at the first gradient.

Each trap is a function that looks at that gradient, a `Case`, and raises or warns; `check_traps` lists them. What
they look at is the booster with its parameters, the queries of its data, the objective, and the sum of its hessians.
docs/traps.md describes the same traps, and others that need no warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lambdaboost._warn import warn
from lambdaboost._words import did_you_mean, quote
from lambdaboost.datasets import Queries
from lambdaboost.engines import lightgbm, xgboost
from lambdaboost.engines.base import Engine, is_true, min_leaf_size

CHANCE = 1e-6  # the probability below which labels do not contain others by chance
DIGITS = 2**24  # above it not every whole number is a float32
# Fewer or shorter queries may be sorted by chance, or be synthetic.
SORTED_QUERIES, SORTED_DOCUMENTS = 10, 5
NO_PAIR = "{objective} has no pair of documents to order, so nothing is learnt from it: {why}"


@dataclass(frozen=True, eq=False)
class Case:
    """The first gradient of an objective in a booster: all that a trap may look at."""

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
        return not self.on_cluster and "" in self.objective.why_no_pair(self.q).values()


def check_traps(case: Case) -> None:
    """Refuse or warn of each trap that the case falls into, in this order."""
    of_engine = {
        "lightgbm": (
            bags_of_queries,
            cut_queries,
            label_gain,
            no_metric,
            unknown_parameters,
        ),
        "xgboost": (objective_in_params, stopped_without_prefix),
    }
    of_both = (
        native_parameters,
        no_split,
        small_leaves,
        sorted_rows,
        without_pair,
        nested_labels,
        many_digits,
        unread_positions,
    )
    for trap in (*of_engine[case.engine.NAME], *of_both):
        trap(case)


# LightGBM.


def bags_of_queries(case: Case) -> None:
    """Bags of queries, which are drawn only for LightGBM's own objectives."""
    is_on = float(case.engine.given(case.params, "bagging_freq") or 0) != 0
    if is_on and is_true(case.params.get("bagging_by_query")):
        raise ValueError(
            "bagging_by_query: under any objective but its own LightGBM never draws the bags, and small bagging "
            "fractions leave trees of two or three leaves; remove bagging_by_query: rows are then sampled"
        )


def handle_dart(case: Case) -> None:
    """Let DART of LightGBM drop the same trees in every run, once the scores of the booster's first round are known."""
    if case.engine is lightgbm:
        lightgbm.restart_dart(case.booster)


def cut_queries(case: Case) -> None:
    """A training set that is a subset with some rows of a query, but not all."""
    fields = lightgbm.fields_of(case.booster.train_set)
    offsets = None
    if fields.parent is not None:
        offsets = fields.parent.get_field("group")
    if offsets is None:
        return
    rows = np.asarray(fields.rows)
    taken = np.bincount(np.searchsorted(offsets, rows, side="right") - 1, minlength=offsets.size - 1)
    if ((taken > 0) & (taken != np.diff(offsets))).any():
        warn(
            "folds: this training set holds only some rows of a query; lightgbm.cv splits queries row by row under any "
            "objective but its own: give folds=query_folds(data, 5) of lambdaboost"
        )


def label_gain(case: Case) -> None:
    """A table of gains, which all boosters of the process share."""
    table = case.params.get("label_gain")
    if isinstance(table, str):
        table = table.split(",")
    if table is not None:
        gain = f"({', '.join(map(str, table))})"
        warn(
            "label_gain: LightGBM keeps one table for the whole process, so that another booster's changes this one's "
            f"ndcg; use NDCG(k, gain={gain}) as feval and LambdaRank(NDCG(gain={gain}))"
        )


def no_metric(case: Case) -> None:
    """Validation data without a metric, of which LightGBM has a default for its own objectives only."""
    if lightgbm.evaluates_nothing():
        warn(
            "metric: LightGBM evaluates nothing on the validation data, since it has a default metric for its own "
            "objectives only: give feval=NDCG(k=5), or 'metric': 'ndcg' in params"
        )


# XGBoost.


def objective_in_params(case: Case) -> None:
    """Another objective than one of ranking in params, of which XGBoost keeps more than the name."""
    state = xgboost.state_of(case.booster)
    tree_method = state.get("gradient_booster", {}).get("gbtree_train_param", {}).get("tree_method")
    objective = state.get("objective", {}).get("name", "rank:")
    if objective.startswith("rank:"):
        return
    if objective != "reg:squarederror":  # XGBoost's default
        warn(
            f"objective={objective}: beside obj= XGBoost lets the objective of params change leaves "
            "(reg:absoluteerror), their size (count:poisson) or scores (binary:logistic): give 'objective': 'rank:ndcg'"
        )
    if tree_method == "approx":
        warn(
            f"tree_method=approx: without an objective in params XGBoost treats this objective as {objective}, whose "
            "hessian is constant, and grows other trees; add 'objective': 'rank:ndcg' to params"
        )


def stopped_without_prefix(case: Case) -> None:
    """Early stopping of models whose first trees are not the model of an earlier round."""
    dropout = xgboost.state_of(case.booster)["gradient_booster"].get("dart_train_param", {})
    drops = any(float(dropout.get(name, 0)) for name in ("rate_drop", "one_drop"))
    if (drops or not case.has_trees) and xgboost.stops_early(case.booster):
        warn(
            "early stopping: with dropout (rate_drop, one_drop) or booster='gblinear' later rounds change what earlier "
            "ones have learnt, so that XGBoost cannot go back to the model of its best round: leave early stopping or "
            "dropout out, or give booster='gbtree'"
        )


# Both engines.


def native_parameters(case: Case) -> None:
    """Parameters that only the engine's own objective reads."""
    # The remedy is an argument of the objective in training, where it has that argument.
    truncated = scaled = "LambdaRank"
    if hasattr(case.objective, "metric"):
        truncated = type(case.objective).__name__
    if hasattr(case.objective, "sigma"):
        scaled = type(case.objective).__name__
    pairs = case.params.get("lambdarank_num_pair_per_sample", 32)  # XGBoost's default, of pairs by rank
    for name, (agrees, remedy) in case.engine.ONLY_NATIVE.items():
        value = case.params.get(name)
        if value is None or is_true(value) is agrees:
            continue
        # XGBoost draws pairs at random here, of which a truncated measure is no counterpart.
        if "_pair_" in name and case.params.get("lambdarank_pair_method") == "mean":
            remedy = "leave it out: every pair counts"
        shown = quote(value).strip("'")
        remedy = remedy.format(value=shown, truncated=truncated, scaled=scaled, pairs=pairs)
        warn(f"{name}: only the engine's own objective reads it, so here it does nothing; {remedy}")


def unknown_parameters(case: Case) -> None:
    """Names that LightGBM does not know; XGBoost warns of such names itself."""
    known = case.engine.parameter_names()
    for name in case.params:
        if name not in known:
            warn(f"params has {quote(name)}, which LightGBM does not know: {did_you_mean(name, known)}")


def no_split(case: Case) -> None:
    """Limits of leaves that allow no split at all: of a sum of hessians, or in LightGBM of documents."""
    for name, least in case.engine.DEFAULTS.items():
        if (given := case.engine.given(case.params, name)) is not None:
            least = float(given)
        what, there = "a sum of hessians", case.hessian_sum
        if name == "min_data_in_leaf":
            what, there = "documents as LightGBM estimates them from hessians", case.q.n_documents
        if there < 2 * least and case.has_trees and case.has_pairs:
            warn(
                f"no tree can have a split: each leaf needs {name}={least:g} ({what}), and all data together "
                f"have {there:.6g}; try a lower one, such as {name}=0"
            )


def small_leaves(case: Case) -> None:
    """Gradient steps with the engine's default of the smallest leaf."""
    name, least = case.engine.MIN_LEAF_SIZE, min_leaf_size(case.objective, case.q.n_documents)
    given, default = case.engine.given(case.params, name), case.engine.DEFAULTS[name]
    # LGBMRanker, which has no data set, always passes the default.
    is_chosen = given is not None and (case.data is not None or float(given) != default)
    if least is not None and case.has_trees and not is_chosen and default < least:
        warn(
            f"{name}: the engine's default of {default:g} documents in a leaf suits λ hessians; gradient steps count "
            f"every document as one, and so small leaves lower NDCG: give {name}={least}"
        )


def sorted_rows(case: Case) -> None:
    """Rows in the order of a source that the objective reads, in round 0, in which all scores tie."""
    if case.round or not case.objective.needs.ties_by_row:
        return
    if found := find_sorted(case.objective.sources, case.q):
        name, mixed = found
        warn(
            f"row order: the rows of all {mixed} queries with more than one label are sorted by descending {name}. In "
            "the first round all scores tie and the order of rows is the ranking, so it looks perfect; shuffle the "
            "rows inside queries: rows = q.shuffled_rows(seed)"
        )


def without_pair(case: Case) -> None:
    """Each part of the objective without a pair; not on a cluster, where no worker has all queries."""
    if not case.on_cluster:
        for part, why in case.objective.why_no_pair(case.q).items():
            if why:
                warn(NO_PAIR.format(objective=part, why=why))


def nested_labels(case: Case) -> None:
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
                if not known.any() or not (wide[has_inner] > 0).all() or np.array_equal(wide, narrow):
                    continue
                # All of the inner label have the outer one, which is no chance.
                if (wide[known] > 0).mean() ** np.count_nonzero(has_inner) < CHANCE:
                    warn(
                        f"every document with {inner} above 0 has {outer} above 0 too, as every booking is a click: "
                        f"one model of a summed grade, such as 2 for both, 1 for {outer} alone and 0 for neither, says "
                        "the same in one label; compare it"
                    )
                    break


def many_digits(case: Case) -> None:
    """Labels that lose digits as float32."""
    for name in case.objective.sources:
        if np.fmax.reduce(case.q.labels[name]) > DIGITS:
            warn(
                f"{name}: labels above 2**24 = 16777216 lose digits as float32, in which engines keep them, so that "
                "different ones may tie; use smaller labels, such as their ranks"
            )


def unread_positions(case: Case) -> None:
    """Positions that neither the objective nor a measure reads."""
    own = case.engine is lightgbm and case.booster.train_set.get_field("position") is not None
    if not (own or case.q.position is not None) or case.objective.reads_positions:
        return
    metrics = case.engine.metrics_in_training(case.booster)
    if not any(getattr(metric, "reads_positions", False) for metric in metrics):
        warn(
            "position: this objective does not read the positions of the data, so training ignores them; train with "
            "one that does, such as InversePropensity(LambdaRank(), curve), or leave position out, of the features too"
        )


# Validation sets.


def find_sorted(sources: Iterable[str], q: Queries) -> tuple[str, int] | None:
    """The first source by which the rows of every query descend, and in how many its labels differ; None without."""
    if q.n_documents < SORTED_DOCUMENTS * q.n_queries:
        return None
    for name in sources:
        step = np.diff(np.nan_to_num(q.labels[name].astype(np.float64), nan=-1e300))
        step[q.offsets[1:-1] - 1] = 0  # from one query to the next
        mixed = int(np.count_nonzero(np.add.reduceat(np.append(step < 0, False), q.offsets[:-1])))
        if mixed >= SORTED_QUERIES and not (step > 0).any():
            return name, mixed
    return None


def warn_of_sorted_rows(measure: Any, q: Queries) -> None:
    """Warn of a validation set in the order of a source that the measure reads."""
    if found := find_sorted(measure.sources, q):
        name, mixed = found
        warn(
            f"row order: {measure!r} is evaluated on rows that are sorted by descending {name} in all {mixed} queries "
            "of more than one label. Few trees leave many scores tied, and the order of rows then decides: it is "
            "highest after a round or two, where early stopping ends; shuffle the rows inside queries: "
            "rows = q.shuffled_rows(seed)"
        )
