"""XGBoost, as `Training` and `Model` of `base` ask for it: tried with XGBoost 2.1 to 3.4.

Undocumented are the contents of ``save_config`` and of a model in JSON, and the variables of `xgboost.train`, which
says nothing of itself to what it calls. If a later version changes a name, `tests/test_engines.py` reports which one.
"""

from __future__ import annotations

import copy
import itertools
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from threading import Thread
from typing import Any
from urllib.parse import urlparse

import numpy as np
from numpy.typing import NDArray

from lambdaboost._installed import package
from lambdaboost._warn import variables_of
from lambdaboost._words import quote
from lambdaboost.datasets.arrays import feature_array, query_weights
from lambdaboost.datasets.queries import RELEVANCE, Queries
from lambdaboost.engines.base import OWN_FILE, Fields, Leaf, OnRound, Split, Trees, cannot_export
from lambdaboost.engines.matching import Categories, codes_of, matched, refuse_mixed_forests

NAME, TITLE = "xgboost", "XGBoost"
NATIVE_OBJECTIVES: tuple[str, ...] = ("rank:ndcg", "rank:pairwise", "rank:map")
SUFFIXES: tuple[str, ...] = (".ubj", ".json")
ABSENT_IN_TEXT = float("nan")  # as its own reader takes a feature that a line of text does not have
UNNAMED = "f{}"
NO_GROUPS = (
    "the xgboost.DMatrix has no groups: give qid=[query of each row] or group=[documents of each query]"
)

# A method of XGBoost's boosters that LightGBM's do not have.
BOOSTER_METHOD = "num_boosted_rounds"

# The parameters of XGBoost 2.1 to 3.4, which has no list of them in Python: general ones, those of trees, of DART and
# gblinear, of objectives, and of its estimators.
_PARAMETERS = """
booster device verbosity verbose silent validate_parameters nthread n_jobs disable_default_eval_metric use_rmm seed
random_state rng_state seed_per_iteration debug_synchronize fail_on_invalid_gpu_id gpu_id n_gpus predictor num_feature

eta learning_rate gamma min_split_loss max_depth min_child_weight max_delta_step subsample sampling_method
colsample_bytree colsample_bylevel colsample_bynode lambda reg_lambda alpha reg_alpha tree_method scale_pos_weight
updater updater_seq refresh_leaf process_type grow_policy max_leaves max_bin num_parallel_tree monotone_constraints
interaction_constraints multi_strategy max_cached_hist_node extmem_single_page max_cat_to_onehot max_cat_threshold
sparse_threshold default_direction opt_dense_col specified_updater sketch_eps sketch_ratio max_row_perbatch

sample_type normalize_type rate_drop one_drop skip_drop feature_selector top_k tolerance

objective base_score eval_metric num_class num_target boost_from_average tweedie_variance_power huber_slope
quantile_alpha expectile_alpha aft_loss_distribution aft_loss_distribution_scale lambdarank_pair_method
lambdarank_num_pair_per_sample lambdarank_normalization lambdarank_score_normalization lambdarank_unbiased
lambdarank_bias_norm ndcg_exp_gain

n_estimators early_stopping_rounds callbacks importance_type enable_categorical missing feature_types feature_weights
"""

MIN_LEAF_SIZE = "min_child_weight"
DEFAULTS: dict[str, float] = {MIN_LEAF_SIZE: 1}
# What only XGBoost's own ranking objective reads, with the counterpart in lambdaboost.
ONLY_NATIVE: dict[str, tuple[bool | None, str]] = {
    "lambdarank_pair_method": (None, "the measure truncates: give LambdaRank(NDCG(k=32))"),
    "lambdarank_num_pair_per_sample": (None, "the measure truncates: give LambdaRank(NDCG(k={value}))"),
    "lambdarank_normalization": (False, "leave it out, or train with XGBoost's own 'rank:ndcg'"),
    "lambdarank_score_normalization": (False, "leave it out, or train with XGBoost's own 'rank:ndcg'"),
    "lambdarank_unbiased": (False, "leave it out"),
    "ndcg_exp_gain": (True, "give LambdaRank(NDCG(gain='linear'))"),
}

# The metrics of XGBoost 2.1 to 3.4; Python has no list of them.
_METRICS = """
rmse rmsle mae mape mphe logloss error merror mlogloss auc aucpr pre ndcg map ndcg- map- poisson-nloglik gamma-nloglik
cox-nloglik gamma-deviance tweedie-nloglik aft-nloglik interval-regression-accuracy quantile expectile
"""
METRICS = frozenset(_METRICS.split())


# Parameters.


@cache
def parameter_names() -> frozenset[str]:
    """All names of parameters."""
    return frozenset(_PARAMETERS.split())


def reserved_names() -> frozenset[str]:
    """The parameters for which `tune` and the command line have their own arguments."""
    return frozenset(
        {
            *("objective", "eval_metric", "disable_default_eval_metric", "num_boost_round", "n_estimators"),
            *("early_stopping_rounds", "seed", "random_state"),
        }
    )


def given(params: Mapping[str, Any], name: str) -> Any:
    """The value of a parameter; None without."""
    return params.get(name)


def is_true(value: Any) -> bool:
    """Whether XGBoost reads a parameter as true."""
    return str(value).lower() in ("true", "1")


def is_metric(text: str) -> bool:
    """Whether a text names one of XGBoost's own metrics, such as ``"ndcg@3"``."""
    return text.partition("@")[0] in METRICS


def workers(params: Mapping[str, Any]) -> int:
    """How many workers of a cluster train together here."""
    collective = sys.modules.get("xgboost.collective")
    return int(collective.get_world_size()) if collective is not None and collective.is_distributed() else 1


# Data sets.


def is_data(value: object) -> bool:
    """Whether an object is an `xgboost.DMatrix`."""
    return hasattr(value, "get_uint_info") and hasattr(value, "get_label")


def rows_in(data: Any) -> int | None:
    """The number of rows of a matrix."""
    return int(data.num_row())


def fields_of(data: Any) -> Fields:
    """What a matrix says of its rows."""
    return Fields(data.get_uint_info("group_ptr"), data.get_label(), data.get_weight())


def fields_given(data: Any) -> Fields:
    """The same: XGBoost reads a matrix at once."""
    return fields_of(data)


def dataset(features: Any, q: Queries, *, names: Sequence[str] | None = None, reference: Any = None) -> Any:
    """A matrix of the grades, 0 where missing; XGBoost needs no `reference`."""
    weight = None if q.weight is None else query_weights("weight", q.weight, q.sizes)
    grades = np.nan_to_num(q.labels[RELEVANCE])
    data = package(NAME).DMatrix(features, grades, group=q.sizes, weight=weight, enable_categorical=True)
    # Without names arrays of codes are scored too.
    data.feature_names = list(names) if names else None
    return data


def sliced_from() -> Any:
    """The matrix whose slices the `xgboost.cv` that waits trains on; None outside of it."""
    return variables_of("xgboost.training", "cv").get("dtrain")


# Boosters in training.


def is_booster(value: object) -> bool:
    """Whether an object is an `xgboost.Booster`."""
    return hasattr(type(value), BOOSTER_METHOD)


def state_of(booster: Any) -> dict[str, Any]:
    """What a booster says of itself; reading it takes as long as a short gradient."""
    learner: dict[str, Any] = json.loads(booster.save_config()).get("learner", {})
    return learner


def round_counter(booster: Any) -> Callable[[Any], int]:
    """The method with the booster's own count of rounds, with those of the model that it continues."""
    counter: Callable[[Any], int] = type(booster).num_boosted_rounds
    return counter


def threads_given(booster: Any) -> Any:
    """The number of threads of a booster; 0 where it was not set."""
    return state_of(booster).get("generic_param", {}).get("nthread")


def params_of(booster: Any) -> Mapping[str, Any]:
    """The parameters given to the `xgboost.train` or `xgboost.cv` that trains the booster, or known from its state.

    A booster knows its kind and the least weight of a leaf, whoever trains it; the default is left out.
    """
    given = _training_of(booster).get("params") or {}
    params = dict(given if isinstance(given, Mapping) else [pair for pair in given if len(pair) == 2])
    boosting = state_of(booster).get("gradient_booster", {})
    trees = boosting.get("gbtree", boosting).get("tree_train_param", {})
    if float(trees.get(MIN_LEAF_SIZE, 1)) != 1:
        params[MIN_LEAF_SIZE] = trees[MIN_LEAF_SIZE]
    if boosting.get("name") == "gblinear":
        params["booster"] = "gblinear"
    return params


def own_metrics(booster: Any) -> Sequence[str]:
    """The names of XGBoost's own metrics, once it has evaluated them; the default of the objective is one."""
    return tuple(metric["name"] for metric in state_of(booster).get("metrics", ()))


def metrics_in_training(booster: Any) -> Sequence[Any]:
    """The callable that the `xgboost.train` or `xgboost.cv` of the booster evaluates."""
    return [_training_of(booster).get("custom_metric")]


def after_first_scores(booster: Any) -> None:
    """XGBoost needs nothing."""


# Early stopping maximises metrics whose name begins so, and minimises all others.
MAXIMISED = ("ndcg", "map", "pre", "auc")


def metric_result(name: str, value: float) -> tuple[str, float]:
    """What XGBoost expects of a metric, under a name that its early stopping maximises.

    >>> metric_result("ndcg@3", 0.5), metric_result("err@10", 0.5)
    (('ndcg@3', 0.5), ('pre-err@10', 0.5))
    """
    return (name if name.startswith(MAXIMISED) else f"pre-{name}"), value


def _training_of(booster: Any) -> dict[str, Any]:
    """The local variables of the `xgboost.train` or `xgboost.cv` that trains a booster; none if another loop does."""
    found = variables_of("xgboost.training", "train", "cv")
    boosters = [found.get("bst"), *(fold.bst for fold in found.get("cvfolds", ()))]
    return found if any(one is booster for one in boosters) else {}


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
    """The booster of `xgboost.train`, without output; after early stopping it ends at its best round.

    The measure is evaluated on the data `valid`, if there are any.
    """
    if early_stopping is not None and params.get("booster") == "gblinear":
        raise ValueError(
            "early_stopping: XGBoost cannot cut a linear model back to its best round: leave early stopping out, or "
            "give booster='gbtree'"
        )
    xgb = package(NAME)

    class EachRound(xgb.callback.TrainingCallback):  # type: ignore[name-defined]
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            values = next(iter(evals_log.get("valid", {}).values()), None)
            return on_round is not None and bool(on_round(None if values is None else float(values[-1])))

    booster = xgb.train(
        settings(objective, params),
        data,
        rounds,
        evals=[] if valid is None else [(valid, "valid")],
        obj=objective if callable(objective) else None,
        custom_metric=None if valid is None else measure,
        early_stopping_rounds=early_stopping,
        verbose_eval=False,
        callbacks=[EachRound()],
    )
    return booster if early_stopping is None else booster[: booster.best_iteration + 1]


def settings(
    objective: Callable[..., Any] | str,
    params: Mapping[str, Any],
    metrics: Sequence[str] = (),
    continues: bool = False,
) -> dict[str, Any]:
    """The parameters of `xgboost.train` for an objective, with safe defaults; `metrics` are XGBoost's own."""
    # The default metrics of ranking objectives refuse grades above 31.
    own = {"eval_metric": list(metrics)} if metrics else {"disable_default_eval_metric": True}
    if isinstance(objective, str):
        return {**own, **params, "objective": objective}
    # The name sets the task of the model; the gradients are lambdaboost's. XGBoost starts custom objectives at 0.5 and
    # fits no intercept; a continued model has one already.
    start = {} if continues or params.get("base_score") is not None else {"base_score": 0.0}
    return {**own, **params, **start, "objective": "rank:ndcg"}


# Models.


def version() -> str:
    """XGBoost's version, whichever distribution it came with."""
    return str(package(NAME).__version__)


def read(content: bytes) -> Any:
    """The booster of the bytes of its file; a ValueError if the file was cut short, which would end the process."""
    if not content or (content.startswith(b"{") and not content.rstrip().endswith(b"}")):
        raise ValueError("the model is cut short: copy the file again, or train again")
    return package(NAME).Booster(model_file=bytearray(content))


def write(booster: Any, suffix: str) -> bytes:
    """The bytes of the booster's file, in JSON if its name ends so."""
    return bytes(booster.save_raw(raw_format="json" if suffix == ".json" else "ubj"))


def scores(
    booster: Any, X: Any, rounds: int | None = None, *, missing: float = math.nan
) -> NDArray[np.floating]:
    """The predictions after `rounds`, by default all that it has, as by a `LambdaRanker`, shape (n_documents,)."""
    xgb = package(NAME)
    features, up_to = X if hasattr(X, "columns") else feature_array(X), (0, rounds or 0)
    try:  # in place if XGBoost can, which rounds differently than with a DMatrix
        found = booster.inplace_predict(features, iteration_range=up_to, missing=missing)
    except (TypeError, xgb.core.XGBoostError):  # sparse matrices of some kinds, linear models
        named = {"feature_names": booster.feature_names, "enable_categorical": True}
        data = xgb.DMatrix(features, missing=missing, **named)
        found = booster.predict(data, iteration_range=up_to)
    return np.asarray(found)


def contributions(booster: Any, X: Any, *, missing: float = math.nan) -> NDArray[np.floating]:
    """SHAP values of the scores, with the base in a last column."""
    features = X if hasattr(X, "columns") else feature_array(X)
    named = {"feature_names": booster.feature_names, "enable_categorical": True}
    data = package(NAME).DMatrix(features, missing=missing, **named)
    return np.asarray(booster.predict(data, pred_contribs=True))


def n_rounds(booster: Any) -> int:
    """The number of rounds of a booster that is saved."""
    return int(booster.num_boosted_rounds())


def feature_names(booster: Any) -> tuple[str, ...]:
    """Names of the features; those of `UNNAMED` if they were given none."""
    return tuple(booster.feature_names or map(UNNAMED.format, range(booster.num_features())))


def first_is_unused(booster: Any) -> bool:
    """Whether no tree splits by the first feature, as by column 0 of text that XGBoost itself read."""
    return feature_names(booster)[0] not in booster.get_score(importance_type="weight")


def categories(booster: Any) -> dict[str, list[Any]]:
    """The values of each categorical feature that the booster itself stores, as XGBoost 3.1 and later do."""
    if "c" not in (booster.feature_types or ()):
        return {}
    boosting = json.loads(booster.save_raw("json"))["learner"]["gradient_booster"]
    stored = boosting.get("gbtree", boosting)["model"].get("cats", {}).get("enc", [])
    found: dict[str, list[Any]] = {}
    for name, of_feature in zip(feature_names(booster), stored, strict=False):
        values, offsets = of_feature["values"], of_feature.get("offsets")
        if offsets is None:  # numbers
            found[name] = values
        elif len(offsets) > 1:
            if (
                min(values) < 0
            ):  # XGBoost counts characters where it stores bytes, so that values beyond ASCII are cut
                return {}
            text = bytes(values).decode()
            found[name] = [text[a:b] for a, b in itertools.pairwise(offsets)]
    return found


def trees(booster: Any) -> Trees:
    """The trees of a booster, with its base score as a tree of one leaf."""
    learner = json.loads(booster.save_raw("json"))["learner"]
    boosting, size = learner["gradient_booster"], learner["learner_model_param"]
    if boosting["name"] == "gblinear":
        raise cannot_export("no trees", "train with booster='gbtree'")
    if int(size["num_class"]) > 1 or int(size.get("num_target", 1)) > 1:
        raise cannot_export("several scores a document", OWN_FILE)
    # DART has a weight for each tree, and its trees one level further down.
    weights = boosting.get("weight_drop")
    stored = boosting["gbtree"]["model"]["trees"] if weights else boosting["model"]["trees"]
    found = [_read_tree(*both) for both in zip(stored, weights or [1.0] * len(stored), strict=True)]
    if offset := float(size["base_score"].strip("[]")):
        found.append(Leaf(offset))
    return Trees(found, learner["objective"]["name"])


def _read_tree(tree: dict[str, Any], weight: float) -> Split | Leaf:
    """A tree of a model in JSON, its leaves times `weight`."""
    nodes, starts, sizes = (tree[f"categories_{part}"] for part in ("nodes", "segments", "sizes"))
    categories = {
        node: tuple(tree["categories"][first : first + size])
        for node, first, size in zip(nodes, starts, sizes, strict=True)
    }

    def node(i: int) -> Split | Leaf:
        value, default_left = np.float32(tree["split_conditions"][i]), bool(tree["default_left"][i])
        feature, left, right = tree["split_indices"][i], tree["left_children"][i], tree["right_children"][i]
        if left < 0:
            return Leaf(float(value) * weight)
        if i in categories:  # these go right
            chosen = categories[i]
            return Split(feature, np.float32(0), chosen, not default_left, node(right), node(left))
        # x < t where x ≤ the float32 number before t.
        below = np.nextafter(value, np.float32(-np.inf))
        return Split(feature, below, (), default_left, node(left), node(right))

    return node(0)


# XGBoost: a model is JSON; a leaf is a node without children, whose value stands where others have their threshold.


def merged(boosters: Sequence[Any], weights: Sequence[float], categories: Sequence[Categories]) -> Any:
    """One booster of the trees of several, each up to its best round, scaled by the weights."""
    learners = [json.loads(bytes(_up_to_best(booster).save_raw("json"))) for booster in boosters]
    gbtrees = [_gbtree_of(content["learner"], at) for at, content in enumerate(learners)]
    refuse_mixed_forests([int(of["gbtree_model_param"]["num_parallel_tree"]) > 1 for of in gbtrees])
    names = [feature_names(booster) for booster in boosters]
    kinds = [
        content["learner"]["feature_types"] or ["float"] * len(own)
        for content, own in zip(learners, names, strict=True)
    ]

    # The trees, with the features and categories of the first model.
    all_trees: list[Any] = []
    info: list[int] = []
    indptr, base = [0], 0.0
    for at, (content, of, weight) in enumerate(zip(learners, gbtrees, weights, strict=True)):
        places = matched(names, at)
        recoded: dict[int, NDArray[np.int64]] = {}
        for column, place in enumerate(places):
            if ("c" in (kinds[0][place], kinds[at][column])) and kinds[0][place] != kinds[at][column]:
                raise ValueError(
                    f"feature {quote(names[at][column])} is categorical in only one of models[0] and models[{at}]: "
                    "give it one type in all trainings"
                )
            if kinds[at][column] == "c":
                codes = codes_of(categories, names[at][column], at)
                if codes is not None:
                    recoded[column] = codes
        if weight == 0:
            continue
        base += weight * _base_margin(content)
        for tree in of["trees"]:
            _scale_tree(tree, len(all_trees), weight, places, recoded)
            all_trees.append(tree)
        # Scores are float32, and a sum of infinite leaves would be NaN.
        leaves = [value for tree in of["trees"] for value in tree["split_conditions"]]
        if abs(base) > float(np.finfo(np.float32).max) or np.isinf(leaves).any():
            raise ValueError(
                f"weights[{at}] is {weight:g}, times which scores of models[{at}] are beyond float32: give a smaller "
                "one"
            )
        info += of["tree_info"]
        indptr += [indptr[-1] + count for count in of["iteration_indptr"][1:]]

    # The first model's own JSON holds them, with a sum as its score: neither transformed, nor of a training.
    whole, gbtree = learners[0], gbtrees[0]
    gbtree |= {"trees": all_trees, "tree_info": info, "iteration_indptr": indptr}
    gbtree["gbtree_model_param"]["num_trees"] = str(len(all_trees))
    learner = whole["learner"]
    learner["attributes"] = {}
    learner["gradient_booster"] = {"name": "gbtree", "model": gbtree}
    param = learner["learner_model_param"]
    param["base_score"] = re.sub(
        r"[^\[\]]+", str(np.float32(base)), param["base_score"]
    )  # in [] since XGBoost 3.1
    additive = [content["learner"]["objective"] for content in learners]
    additive = [one for one in additive if re.fullmatch(r"rank:\w+|reg:squarederror", one["name"])]
    plain = {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}}
    learner["objective"] = additive[0] if additive else plain
    return read(json.dumps(whole).encode())


def _up_to_best(booster: Any) -> Any:
    """A booster up to its best round; a `LambdaRanker`'s is cut off already."""
    best = booster.attr("best_iteration")
    return (
        booster if best is None or int(best) + 1 >= booster.num_boosted_rounds() else booster[: int(best) + 1]
    )


def _gbtree_of(learner: Mapping[str, Any], at: int) -> Any:
    """The trees of a model; raises where its score is not their plain sum."""
    found = learner["gradient_booster"]
    if found["name"] == "gblinear":
        raise ValueError(
            f"models[{at}] is a linear model (gblinear), which has no trees: merge models of trees"
        )
    if found["name"] == "dart":
        if any(weight != 1 for weight in found["weight_drop"]):
            raise ValueError(
                f"models[{at}] was trained with booster='dart', whose weights of trees are not in the leaves: train "
                "with booster='gbtree'"
            )
        found = found["gbtree"]
    param = learner["learner_model_param"]
    if int(param["num_class"]) > 1 or int(param.get("num_target", 1)) > 1:
        raise ValueError(f"models[{at}] has several scores per row: merge models of one score")
    return found["model"]


def _base_margin(content: Mapping[str, Any]) -> float:
    """The raw score of a model without its trees, which XGBoost stores as the objective's prediction.

    XGBoost converts it where a model has a tree, so the first one stays, with leaves of 0.
    """
    learner = dict(content["learner"])
    first = learner["gradient_booster"]
    trees = copy.deepcopy(first.get("gbtree", first)["model"]["trees"][:1])
    for tree in trees:
        tree |= {"id": 0, "split_conditions": [0.0] * len(tree["split_conditions"])}
    model = {
        "cats": {"enc": [], "feature_segments": [], "sorted_idx": []},
        "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(len(trees))},
        "iteration_indptr": list(range(len(trees) + 1)),
        "tree_info": [0] * len(trees),
        "trees": trees,
    }
    booster = {"name": "gbtree", "model": model}
    learner |= {"gradient_booster": booster, "feature_names": [], "feature_types": []}
    row = package(NAME).DMatrix(np.zeros((1, int(learner["learner_model_param"]["num_feature"]))))
    treeless = read(json.dumps({**content, "learner": learner}).encode())
    return float(treeless.predict(row, output_margin=True)[0])


def _scale_tree(
    tree: dict[str, Any],
    number: int,
    factor: float,
    places: NDArray[np.int64],
    recoded: Mapping[int, NDArray[np.int64]],
) -> None:
    """Change a tree: leaves times `factor`, features at their `places`, codes of categories as `recoded`."""
    tree["id"] = number
    leaf = np.asarray(tree["left_children"]) == -1
    for name, scaled in (("split_conditions", leaf), ("base_weights", np.ones_like(leaf))):
        values = np.asarray(tree[name], dtype=np.float64)
        values[scaled] *= factor
        with np.errstate(over="ignore"):  # infinite ones are refused
            tree[name] = values.astype(np.float32).tolist()
    features = np.asarray(tree["split_indices"], dtype=np.int64)
    starts, counts = tree["categories_segments"], tree["categories_sizes"]
    for node, start, count in zip(tree["categories_nodes"], starts, counts, strict=True):
        if (codes := recoded.get(int(features[node]))) is not None:
            own = np.asarray(tree["categories"][start : start + count], dtype=np.int64)
            tree["categories"][start : start + count] = np.sort(codes[own]).tolist()
    tree["split_indices"] = places[features].tolist()


# Clusters.

THREADS = "nthread"
OF_CLUSTER: dict[str, Any] = {}


def open_network(client: Any, workers: list[str]) -> dict[str, Any]:
    """The address of XGBoost's tracker, which runs on the scheduler."""
    host = urlparse(client.scheduler.address).hostname
    return dict.fromkeys(workers, client.run_on_scheduler(_start_tracker, len(workers), host))


def _start_tracker(workers: int, host: str) -> dict[str, Any]:
    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(n_workers=workers, host_ip=host, sortby="task")
    tracker.start()
    Thread(target=tracker.wait_for, daemon=True).start()
    return dict(tracker.worker_args())


@contextmanager
def join_network(network: Any) -> Iterator[dict[str, Any]]:
    """The network on a worker, which needs no parameters."""
    from xgboost.dask import CommunicatorContext

    with CommunicatorContext(**network):
        yield {}


def alone(model: bytes) -> bytes:
    """The file itself, which says nothing of a cluster."""
    return model
