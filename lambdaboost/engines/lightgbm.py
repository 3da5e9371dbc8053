"""LightGBM, as `Training` and `Model` of `base` ask for it: tried with LightGBM 4.6 and 4.7.

What is undocumented has a leading underscore in LightGBM, or is read from its model text. If a later version changes a
name, `tests/test_engines.py` reports which one.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from socket import socket
from typing import Any
from urllib.parse import urlparse

import numpy as np
from numpy.typing import NDArray

from lambdaboost._installed import package
from lambdaboost._warn import variables_of
from lambdaboost._words import quote
from lambdaboost.datasets.arrays import labels_of, only_column
from lambdaboost.datasets.queries import RELEVANCE, Queries
from lambdaboost.engines.base import OWN_FILE, Fields, Leaf, OnRound, Split, Trees, cannot_export
from lambdaboost.engines.matching import Categories, codes_of, matched, refuse_mixed_forests

NAME, TITLE = "lightgbm", "LightGBM"
NATIVE_OBJECTIVES: tuple[str, ...] = ("lambdarank", "rank_xendcg")
SUFFIXES: tuple[str, ...] = (".txt",)
ABSENT_IN_TEXT = 0.0  # as its own reader takes a feature that a line of text does not have
UNNAMED = "Column_{}"
NO_GROUPS = "the lightgbm.Dataset has no groups: give group=[documents of each query]"

# A method of LightGBM's boosters that XGBoost's do not have.
BOOSTER_METHOD = "rollback_one_iter"
# The attribute in which `Booster.update` records that it has removed the booster's own objective.
OBJECTIVE_NOTED = "_Booster__set_objective_to_none"
MIN_LEAF_SIZE = "min_data_in_leaf"
DEFAULTS: dict[str, float] = {MIN_LEAF_SIZE: 20, "min_sum_hessian_in_leaf": 1e-3}
# What only LightGBM's own ranking objective reads, with the counterpart in lambdaboost.
ONLY_NATIVE: dict[str, tuple[bool | None, str]] = {
    "lambdarank_truncation_level": (None, "the measure truncates: give LambdaRank(NDCG(k={value}))"),
    "lambdarank_norm": (False, "leave it out, or train with LightGBM's own 'lambdarank'"),
    "sigmoid": (None, "give LambdaRank(sigma={value})"),
    "lambdarank_position_bias_regularization": (None, "leave it out"),
    "objective_seed": (None, "give XENDCG(seed={value})"),
}

# The metrics of LightGBM 4.7 with their aliases; Python has no list of them.
_METRICS = """
none na null custom l1 mean_absolute_error mae regression_l1 l2 mean_squared_error mse regression_l2 regression rmse
root_mean_squared_error l2_root quantile mape mean_absolute_percentage_error huber fair poisson gamma gamma_deviance
tweedie r2 ndcg lambdarank rank_xendcg xendcg xe_ndcg xe_ndcg_mart xendcg_mart map mean_average_precision auc
average_precision binary_logloss binary binary_error auc_mu multi_logloss multiclass softmax multiclassova
multiclass_ova ova ovr multi_error cross_entropy xentropy cross_entropy_lambda xentlambda kullback_leibler kldiv
"""
METRICS = frozenset({"None", *_METRICS.split()})


# Parameters.


@cache
def aliases() -> dict[str, list[str]]:
    """All names of each parameter, the main one first."""
    from lightgbm.basic import _ConfigAliases

    return dict(_ConfigAliases._get_all_param_aliases())


def parameter_names() -> frozenset[str]:
    """All names of parameters with their aliases."""
    return frozenset(name for names in aliases().values() for name in names)


def reserved_names() -> frozenset[str]:
    """The parameters for which `tune` and the command line have their own arguments."""
    main = ("objective", "metric", "num_iterations", "early_stopping_round", "seed")
    return frozenset(alias for name in main for alias in aliases()[name])


def given(params: Mapping[str, Any], name: str) -> Any:
    """The value of a parameter under the first of its names that has one; None without."""
    values = (params.get(alias) for alias in aliases()[name])
    return next((value for value in values if value not in (None, "")), None)


def is_true(value: Any) -> bool:
    """Whether LightGBM reads a parameter as true."""
    return str(value).lower() in ("true", "1", "+")


def is_metric(text: str) -> bool:
    """Whether a text names one of LightGBM's own metrics, whose cutoffs are in ``eval_at``."""
    return text in METRICS


def workers(params: Mapping[str, Any]) -> int:
    """How many workers of a cluster train together; LightGBM counts them where `params` list them alone."""
    listed = str(given(params, "machines") or "")
    return max(int(given(params, "num_machines") or 1), listed.count(",") + 1)


# Data sets.


def is_data(value: object) -> bool:
    """Whether an object is a `lightgbm.Dataset`."""
    return hasattr(value, "get_field") and hasattr(value, "get_label")


def rows_in(data: Any) -> int | None:
    """The number of rows of a data set; None if LightGBM has not read it yet and nothing shows it."""
    if is_constructed(data):
        return int(data.num_data())
    if data.used_indices is not None:
        return len(data.used_indices)
    if data.label is not None:
        return len(data.label)
    shape = getattr(data.data, "shape", None)
    return int(shape[0]) if shape else None


def fields_of(data: Any) -> Fields:
    """What a constructed data set says of its rows."""
    rows, field = data.used_indices, data.get_field
    if rows is None:
        return Fields(field("group"), field("label"), field("weight"))
    return Fields(field("group"), field("label"), field("weight"), data.reference, rows)


def fields_given(data: Any) -> Fields:
    """The same before LightGBM has read the data set, without its weights."""
    if is_constructed(data):
        return fields_of(data)
    offsets = labels = None
    if data.group is not None:
        offsets = np.concatenate([[0], np.cumsum(data.group)]).astype(np.int64)
    if data.label is not None:
        labels = labels_of("label", only_column(data.label))
    parent = None if data.used_indices is None else data.reference
    return Fields(offsets, labels, None, parent, data.used_indices)


def sliced_from() -> None:
    """LightGBM's subsets know their parents."""


def dataset(
    features: Any, q: Queries, *, names: Sequence[str] | None = None, reference: Any = None, **more: Any
) -> Any:
    """A data set of the grades, 0 where missing; `more` are further arguments of `lightgbm.Dataset`."""
    if names and hasattr(features, "columns"):  # by which LightGBM knows the categories
        features.columns = list(names)
    if names:
        more["feature_name"] = list(names)
    # LightGBM's own lambdarank reads its own field of positions, 0 where a row was not shown.
    positions = None if q.positions is None else q.positions.codes
    grades = np.nan_to_num(q.labels[RELEVANCE])
    own = {"group": q.sizes, "weight": q.weight, "position": positions, "reference": reference}
    return package(NAME).Dataset(features, grades, **own, **more)


def is_constructed(data: Any) -> bool:
    """Whether the data set is constructed, without constructing it."""
    return data._handle is not None


# Boosters in training.


def is_booster(value: object) -> bool:
    """Whether an object is a `lightgbm.Booster`."""
    return hasattr(type(value), BOOSTER_METHOD)


def params_of(booster: Any) -> Mapping[str, Any]:
    """The parameters that the user gave."""
    return booster.params or {}


def round_counter(booster: Any) -> Callable[[Any], int]:
    """The method with the booster's own count of rounds, with those of the model that it continues.

    It leaves out rounds whose tree has no split.
    """
    counter: Callable[[Any], int] = type(booster).current_iteration
    return counter


def threads_given(booster: Any) -> Any:
    """The number of threads among the parameters of a booster; None if there is none."""
    return given(params_of(booster), "num_threads")


def own_metrics(booster: Any) -> Sequence[str]:
    """The names of LightGBM's own metrics that the booster evaluates, as in its results."""
    return getattr(booster, "_Booster__name_inner_eval", None) or ()


def metrics_in_training(booster: Any) -> Sequence[Any]:
    """The callables that the `lightgbm.train` or `lightgbm.cv` that waits evaluates."""
    found = variables_of("lightgbm.engine", "train", "cv").get("feval")
    return found if isinstance(found, list | tuple) else [found]


def note_objective(booster: Any) -> None:
    """Keep the first `Booster.update` from resetting the booster's parameters.

    The reset would change the random features of `feature_fraction`, and fail if no feature is usable.
    """
    setattr(booster, OBJECTIVE_NOTED, True)


def after_first_scores(booster: Any) -> None:
    """Let DART drop the same trees in every run, once the scores of its first round are computed.

    It does not initialise the variable that records whether trees were dropped in a round, so that the first round
    draws a random number or not. Computing scores sets the variable, and resetting the parameters restarts the draws.
    """
    if given(params_of(booster), "boosting") == "dart" and set(feature_infos(booster)) != {"none"}:
        booster.reset_parameter({"objective": "none"})


def metric_result(name: str, value: float) -> tuple[str, float, bool]:
    """What LightGBM expects of a metric that is maximised."""
    return name, value, True


def feature_infos(booster: Any) -> list[str]:
    """The range of each feature: ``[low:high]`` of numbers, ``0:1:2`` of categories, ``none`` of unusable ones."""
    found = re.search("^feature_infos=(.*)$", booster.model_to_string(num_iteration=1), re.MULTILINE)
    return found[1].split() if found else []


def train(
    objective: Callable[..., Any] | str,
    params: Mapping[str, Any],
    rounds: int,
    data: Any,
    valid: Any = None,
    measure: Callable[..., Any] | None = None,
    early_stopping: int | None = None,
    on_round: OnRound | None = None,
) -> Any:
    """The booster of `lightgbm.train`, without output; after early stopping it ends at its best round.

    The measure is evaluated on the data `valid`, if there are any.
    """
    lgb = package(NAME)

    def each(env: Any) -> None:
        results = env.evaluation_result_list
        if on_round is not None and on_round(results[0][2] if results else None):
            raise lgb.callback.EarlyStopException(env.iteration, results)

    callbacks: list[Any] = [*prevent_reset(objective), each]
    if early_stopping is not None:
        callbacks.append(lgb.early_stopping(early_stopping, verbose=False))
    settings = {"verbosity": -1, **params}
    if not is_constructed(data):  # which a training with smaller leaves may use later
        settings = {"feature_pre_filter": False} | settings
    settings |= {"objective": objective, "metric": "None"}
    evaluated = {} if valid is None else {"valid_sets": [valid], "valid_names": ["valid"], "feval": measure}
    return lgb.train(settings, data, rounds, callbacks=callbacks, **evaluated)


def prevent_reset(objective: Callable[..., Any] | str) -> list[Callable[[Any], None]]:
    """A callback with which LightGBM draws as for its own objectives: see `note_objective`."""

    def note(env: Any) -> None:
        if env.iteration == env.begin_iteration:
            note_objective(env.model)

    note.before_iteration = True  # type: ignore[attr-defined]
    return [note] if callable(objective) else []


# Models.


def version() -> str:
    """LightGBM's version."""
    return str(package(NAME).__version__)


def read(content: bytes) -> Any:
    """The booster of the bytes of its file; a ValueError if the file was cut short, which would end the process."""
    text = content.decode(errors="replace")
    whole = "\nend of trees" in text and ("\nend of parameters" in text or "\nparameters:" not in text)
    if not whole:
        raise ValueError("the model is cut short: copy the file again, or train again")
    return package(NAME).Booster(model_str=text)


def write(booster: Any, suffix: str) -> bytes:
    """The bytes of the booster's file, up to its best round."""
    return bytes(booster.model_to_string().encode())


def scores(
    booster: Any, X: Any, rounds: int | None = None, *, missing: float = math.nan
) -> NDArray[np.floating]:
    """The predictions after `rounds`, by default all up to the best one; for LightGBM only NaN is `missing`."""
    return np.asarray(booster.predict(X, num_iteration=rounds))


def contributions(booster: Any, X: Any, *, missing: float = math.nan) -> NDArray[np.floating]:
    """SHAP values of the scores up to the best round, with the base in a last column."""
    found = booster.predict(X, pred_contrib=True)
    return np.asarray(found.toarray() if hasattr(found, "toarray") else found)  # sparse where X is


def n_rounds(booster: Any) -> int:
    """The number of rounds of a booster that is saved: up to the best one."""
    return int(booster.best_iteration if booster.best_iteration > 0 else booster.current_iteration())


def feature_names(booster: Any) -> tuple[str, ...]:
    """Names of the features; those of `UNNAMED` if they were given none."""
    return tuple(booster.feature_name())


def first_is_unused(booster: Any) -> bool:
    """Whether the first feature had one value in training, as column 0 of text that LightGBM itself read."""
    return bool(feature_infos(booster)[0] == "none")


def categories(booster: Any) -> dict[str, list[Any]]:
    """The values of each categorical feature that the booster itself stores."""
    values, names = booster.pandas_categorical or [], booster.feature_name()
    # The parameter has the places of the categorical columns, also of those that were constant in training.
    found = re.search(
        r"^\[categorical_feature: ([\d,]+)\]$", booster.model_to_string(num_iteration=1), re.MULTILINE
    )
    places = [int(place) for place in found[1].split(",")] if found else []
    if len(places) != len(values):
        return {}
    return {names[place]: of for place, of in zip(places, values, strict=True)}


def trees(booster: Any) -> Trees:
    """The trees of a booster, up to its best round."""
    # The dump does not escape the names.
    plain = "feature_names=" + " ".join(f"f{i}" for i in range(booster.num_feature()))
    text = re.sub("^feature_names=.*", plain, booster.model_to_string(), count=1, flags=re.MULTILINE)
    model = type(booster)(model_str=text).dump_model()
    # The dump says 1e300 where a threshold is infinite, which even +inf does not exceed.
    thresholds = [line.split() for line in re.findall("^threshold=(.*)$", text, re.MULTILINE)]
    if model["num_tree_per_iteration"] > 1:
        raise cannot_export("several scores a document", OWN_FILE)
    # A random forest predicts the mean of its trees.
    weight = 1 / len(model["tree_info"]) if model["average_output"] else 1.0

    def node(tree: dict[str, Any], of_splits: list[str]) -> Split | Leaf:
        if "leaf_const" in tree:
            raise cannot_export("linear trees", "train without linear_tree")
        if "leaf_value" in tree:
            return Leaf(tree["leaf_value"] * weight)
        if tree["missing_type"] == "Zero":
            raise cannot_export("zeros that count as missing", "train without zero_as_missing")
        feature, learnt = tree["split_feature"], tree["missing_type"] == "NaN"
        children = node(tree["left_child"], of_splits), node(tree["right_child"], of_splits)
        if tree["decision_type"] == "==":
            members = tuple(int(code) for code in str(tree["threshold"]).split("||"))
            return Split(feature, np.float32(0), members, False, *children)
        threshold = float(of_splits[tree["split_index"]])
        # Where no training data were missing, NaN is read as 0.
        left = tree["default_left"] if learnt else threshold >= 0
        return Split(feature, _highest(threshold), (), left, *children)

    found = []
    for tree in model["tree_info"]:
        of_splits = thresholds.pop(0) if tree["num_leaves"] > 1 else []
        found.append(node(tree["tree_structure"], of_splits))
    return Trees(found, model.get("objective", "custom"))


TINY = np.float32(1e-35)
ZERO = 1.01e-35  # up to here thresholds separate 0 from other numbers: LightGBM's are ±1e-35


def _highest(threshold: float) -> np.float32:
    """The highest float32 number ≤ a threshold in float64: LightGBM compares doubles, and reads ±1e-35 as 0."""
    if abs(threshold) <= ZERO:
        return TINY if threshold >= 0 else np.nextafter(-TINY, np.float32(-np.inf))
    with np.errstate(over="ignore"):
        near = np.float32(threshold)
    return near if float(near) <= threshold else np.nextafter(near, np.float32(-np.inf))


# LightGBM: the text of a model has a header, a block of lines `name=values` for each tree, and a tail.

OF_LEAVES = ("leaf_value", "internal_value", "leaf_const", "leaf_coeff")  # scaled with the score
OF_FEATURES = ("split_feature", "leaf_features")  # the places of features


def merged(boosters: Sequence[Any], weights: Sequence[float], categories: Sequence[Categories]) -> Any:
    """One booster of the trees of several, each up to its best round, scaled by the weights."""
    texts = [booster.model_to_string() for booster in boosters]  # up to the best round
    parts = [re.split(r"\n(?=Tree=\d)|\nend of trees\n", text) for text in texts]
    heads = [dict(line.partition("=")[::2] for line in part[0].splitlines() if line) for part in parts]
    for at, head in enumerate(heads):
        if head["num_tree_per_iteration"] != "1":
            raise ValueError(
                f"models[{at}] has {head['num_tree_per_iteration']} scores per row: merge models of one score"
            )
    forests = ["average_output" in head for head in heads]
    refuse_mixed_forests(forests)
    names = [feature_names(booster) for booster in boosters]
    infos = [head["feature_infos"].split(" ") for head in heads]
    values = [text.rpartition("\npandas_categorical:")[2].strip() for text in texts]

    # The trees, with the features and categories of the first model.
    blocks: list[str] = []
    known = list(infos[0])  # what the models so far say of each feature
    for at, (part, weight) in enumerate(zip(parts, weights, strict=True)):
        places = matched(names, at)
        same_order = bool((places == np.arange(places.size)).all())
        recoded: dict[int, NDArray[np.int64]] = {}
        for column, place in enumerate(places):
            name, kinds = names[at][column], [_kind(known[place]), _kind(infos[at][column])]
            if set(kinds) == {"numeric", "categorical"}:
                raise ValueError(
                    f"feature {quote(name)} is {kinds[0]} before models[{at}] and {kinds[1]} in it: give it one "
                    "type in all trainings"
                )
            if kinds[0] == "constant":
                known[place] = infos[at][column]
            # The engine lists values by column; the same lists in the same order of columns are the same categories.
            same = same_order and values[at] == values[0]
            if kinds[1] == "categorical" and not same:
                codes = codes_of(categories, name, at)
                if codes is None and name not in categories[0] and {values[0], values[at]} - {"null", "[]"}:
                    raise ValueError(
                        f"feature {quote(name)} has categories whose values models[{at}] or models[0] does not store: "
                        "give the column the same pandas.CategoricalDtype in all trainings"
                    )
                if codes is not None:
                    recoded[column] = codes
        if weight == 0:
            continue
        own = part[1:-1]
        factor = weight / len(own) if forests[at] and own else weight
        for block in own:
            lines = block.splitlines()
            blocks.append(_scaled_tree(lines, len(blocks), factor, None if same_order else places, recoded))

    # A header without what belongs to a training; `lambdarank` predicts the sum of the trees.
    head = {
        name: heads[0][name] for name in ("version", "num_class", "num_tree_per_iteration", "label_index")
    }
    head |= {"max_feature_idx": str(len(names[0]) - 1), "objective": "lambdarank"}
    head |= {"feature_names": heads[0]["feature_names"], "feature_infos": " ".join(known)}
    lines = ["tree", *(f"{name}={value}" for name, value in head.items()), ""]
    text = "\n".join([*lines, *blocks, "end of trees", "", f"pandas_categorical:{values[0]}", ""])
    return package(NAME).Booster(model_str=text)


def _kind(info: str) -> str:
    """The kind of a feature by what a LightGBM model says of its values: a range, codes, or "none" for a constant."""
    if info == "none":
        return "constant"
    return "numeric" if info.startswith("[") else "categorical"


def _scaled_tree(
    lines: Sequence[str],
    number: int,
    factor: float,
    places: NDArray[np.int64] | None,
    recoded: Mapping[int, NDArray[np.int64]],
) -> str:
    """The block of a tree: leaves times `factor`, features at their `places`, codes of categories as `recoded`."""
    fields = dict(line.partition("=")[::2] for line in lines if line)
    fields["Tree"] = str(number)
    for name in OF_LEAVES:
        if name in fields:  # blanks stay as they are: they separate the leaves of linear trees
            fields[name] = re.sub(r"\S+", lambda found: repr(factor * float(found[0])), fields[name])
    if recoded and fields.get("num_cat", "0") != "0":
        _recode(fields, recoded)
    if places is not None:
        for name in OF_FEATURES:
            if name in fields:
                fields[name] = re.sub(r"\S+", lambda found: str(places[int(found[0])]), fields[name])
    return "\n".join([*(f"{name}={value}" for name, value in fields.items()), "", ""])


def _recode(fields: dict[str, str], recoded: Mapping[int, NDArray[np.int64]]) -> None:
    """Give the categorical splits of a tree other codes.

    Split n with bit 1 of its decision type reads the set number ``threshold[n]``: the bits of the words from
    ``cat_boundaries`` at that number to the next are the codes that go left.
    """
    features, decisions = (
        list(map(int, fields[name].split())) for name in ("split_feature", "decision_type")
    )
    bounds, words = (list(map(int, fields[name].split())) for name in ("cat_boundaries", "cat_threshold"))
    sets = [words[low:high] for low, high in pairwise(bounds)]
    for feature, decision, threshold in zip(features, decisions, fields["threshold"].split(), strict=True):
        if decision & 1 and feature in recoded:
            codes, of_split = recoded[feature], sets[int(float(threshold))]
            left = [code for code in range(32 * len(of_split)) if of_split[code // 32] >> code % 32 & 1]
            bits = sum(1 << int(codes[code]) for code in left if code < codes.size)
            count = max(1, (bits.bit_length() + 31) // 32)
            sets[int(float(threshold))] = [bits >> 32 * at & 0xFFFFFFFF for at in range(count)]
    ends = np.cumsum([0, *map(len, sets)])
    fields["cat_boundaries"] = " ".join(map(str, ends))
    fields["cat_threshold"] = " ".join(str(word) for of_split in sets for word in of_split)


# Clusters.

THREADS = "num_threads"
OF_CLUSTER: dict[str, Any] = {"tree_learner": "data"}


def open_network(client: Any, workers: list[str]) -> dict[str, Any]:
    """All addresses, and a socket that keeps a worker's port until LightGBM listens there."""
    pinned = [{"workers": [worker], "pure": False} for worker in workers]
    sockets = [client.submit(_keep_port, **here) for here in pinned]
    ports = client.gather(
        [client.submit(_port_of, *one, **here) for *one, here in zip(sockets, pinned, strict=True)]
    )
    machines = [f"{urlparse(worker).hostname}:{port}" for worker, port in zip(workers, ports, strict=True)]
    return {worker: (machines, kept) for worker, kept in zip(workers, sockets, strict=True)}


def _keep_port() -> socket:
    kept = socket()
    kept.bind(("", 0))
    return kept


def _port_of(kept: socket) -> int:
    return int(kept.getsockname()[1])


@contextmanager
def join_network(network: Any) -> Iterator[dict[str, Any]]:
    """The network on a worker, for the boosters of this thread."""
    from lightgbm.basic import _LIB, _safe_call

    machines, kept = network
    port = _port_of(kept)
    kept.close()
    minutes, addresses = 120, ctypes.c_char_p(",".join(machines).encode())
    _safe_call(_LIB.LGBM_NetworkInit(addresses, port, minutes, len(machines)))
    try:
        yield {"num_machines": len(machines), "machines": None}
    finally:
        _LIB.LGBM_NetworkFree()


def alone(model: bytes) -> bytes:
    """The file of a model without the cluster, as of one trained on a single machine."""
    model = re.sub(rb"(?m)^\[num_machines: .*\]$", b"[num_machines: 1]", model)
    return re.sub(rb"(?m)^\[tree_learner: .*\]$", b"[tree_learner: serial]", model)
