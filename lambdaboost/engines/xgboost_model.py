"""A model of XGBoost, as `Engine` of `base` asks for it: read, written, scored, its trees, several as one.

A model is JSON, whose contents are undocumented.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import error_context
from lambdaboost._installed import package
from lambdaboost._warn import warn
from lambdaboost._words import listed
from lambdaboost.datasets.arrays import feature_array
from lambdaboost.datasets.collection import Categories
from lambdaboost.datasets.table import category_text
from lambdaboost.engines.base import Split
from lambdaboost.engines.matching import aligned, refuse_mixed_forests

SUFFIXES: tuple[str, ...] = (".ubj", ".json")
UNNAMED = "f{}"
ABSENT_IN_TEXT = float("nan")  # as its own reader takes a feature that a line of text does not have


def read(content: bytes) -> Any:
    """The booster of the bytes of its file; a ValueError if the file was cut short, which would fill the memory."""
    is_whole = bool(content)
    if content.startswith(b"{"):
        try:
            json.loads(content)
        except (RecursionError, ValueError):  # UBJSON, of which the version of XGBoost is the last entry
            is_whole = content.endswith(b"}") and b"version" in content[-100:]
    if not is_whole:
        raise ValueError("the model is cut short: copy the file again, or train again")
    return package("xgboost").Booster(model_file=bytearray(content))


def write(booster: Any, suffix: str) -> bytes:
    """The bytes of the booster's file, in JSON if its name ends so."""
    return bytes(booster.save_raw(raw_format="json" if suffix == ".json" else "ubj"))


def scores(
    booster: Any, X: Any, rounds: int | None = None, *, missing: float = math.nan
) -> NDArray[np.floating]:
    """The predictions after `rounds`, by default all that it has, as by a `LambdaRanker`, shape (n_documents,)."""
    xgb = package("xgboost")
    features, up_to = X if hasattr(X, "columns") else feature_array(X), (0, rounds or 0)
    try:  # in place if XGBoost can, which rounds differently than with a DMatrix
        found = booster.inplace_predict(features, iteration_range=up_to, missing=missing)
    except (TypeError, xgb.core.XGBoostError):  # sparse matrices of some kinds, linear models
        named = {"feature_names": booster.feature_names, "enable_categorical": True}
        data = xgb.DMatrix(features, missing=missing, **named)
        found = booster.predict(data, iteration_range=up_to)
    return np.asarray(found)


def readable(features: Any) -> Any:
    """A frame whose categories XGBoost takes: texts or whole numbers. Others, such as 0.5 and True, become their texts.

    Only pandas has such categories; other features are as they were given.

    >>> import pandas as pd
    >>> readable(pd.DataFrame({"size": pd.Categorical([7.0, 0.5])}))["size"].cat.categories.tolist()
    ['0.5', '7']
    """
    if not hasattr(features, "iloc"):
        return features
    for at, dtype in enumerate(features.dtypes):
        known = getattr(dtype, "categories", None)
        if known is None or known.dtype.kind in "iu":
            continue
        if len(known) and all(isinstance(one, str) for one in known):
            continue
        texts = [*map(category_text, known)] or np.empty(0, np.int64)  # XGBoost takes no text of no values
        features = features.copy(deep=False)
        features.isetitem(at, features.iloc[:, at].cat.rename_categories(texts))
    return features


def contributions(booster: Any, X: Any, *, missing: float = math.nan) -> NDArray[np.floating]:
    """SHAP values of the scores, with the base in a last column."""
    features = readable(X) if hasattr(X, "columns") else feature_array(X)
    named = {"feature_names": booster.feature_names, "enable_categorical": True}
    data = package("xgboost").DMatrix(features, missing=missing, **named)
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
            # XGBoost counts characters where it stores bytes, so that values beyond ASCII are cut.
            if min(values) < 0:
                return {}
            text = bytes(values).decode()
            found[name] = [text[a:b] for a, b in pairwise(offsets)]
    return found


def trees(booster: Any) -> tuple[list[Split | float], str]:
    """The trees of a booster, with its base score as a tree of one leaf, and its objective."""
    learner = json.loads(booster.save_raw("json"))["learner"]
    model, weights = _forest_of(learner)
    found = [_read_tree(*both) for both in zip(model["trees"], weights, strict=True)]
    if offset := float(learner["learner_model_param"]["base_score"].strip("[]")):
        found.append(offset)
    return found, learner["objective"]["name"]


def _forest_of(learner: Mapping[str, Any]) -> tuple[Any, list[float]]:
    """The trees of a model as XGBoost stores them, and the weight of each, which only those of dropout have."""
    boosting, size = learner["gradient_booster"], learner["learner_model_param"]
    if boosting["name"] == "gblinear":
        raise ValueError("it is linear (gblinear), without trees: train with booster='gbtree'")
    if int(size["num_class"]) > 1 or int(size.get("num_target", 1)) > 1:
        raise ValueError("it has several scores for a row: train a model of one")
    # Before XGBoost 3.4 DART's model is one level further down, beside its weights, which are in the model since.
    model = boosting.get("gbtree", boosting)["model"]
    weights = boosting.get("weight_drop") or model.get("weight_drop")
    return model, weights or [1.0] * len(model["trees"])


def _read_tree(tree: dict[str, Any], weight: float) -> Split | float:
    """A tree of a model in JSON, its leaves times `weight`."""
    nodes, starts, sizes = (tree[f"categories_{part}"] for part in ("nodes", "segments", "sizes"))
    categories = {
        node: tuple(tree["categories"][first : first + size])
        for node, first, size in zip(nodes, starts, sizes, strict=True)
    }

    def node(i: int) -> Split | float:
        value, default_left = np.float32(tree["split_conditions"][i]), bool(tree["default_left"][i])
        feature, left, right = tree["split_indices"][i], tree["left_children"][i], tree["right_children"][i]
        if left < 0:
            return float(value) * weight
        if i in categories:  # these go right
            chosen = categories[i]
            return Split(feature, np.float32(0), chosen, not default_left, node(right), node(left))
        # x < t where x ≤ the float32 number before t.
        below = np.nextafter(value, np.float32(-np.inf))
        return Split(feature, below, (), default_left, node(left), node(right))

    return node(0)


# Several models as one. A leaf is a node without children, whose value stands where others have their threshold.


def merged(boosters: Sequence[Any], weights: Sequence[float], categories: Sequence[Categories]) -> Any:
    """One booster of the trees of several, each up to its best round, scaled by the weights."""
    learners = []
    for booster in boosters:
        best = booster.attr("best_iteration")
        if best is not None and int(best) + 1 < booster.num_boosted_rounds():
            booster = booster[: int(best) + 1]  # a `LambdaRanker`'s is cut off already
        learners.append(json.loads(bytes(booster.save_raw("json"))))
    forests = []
    for at, content in enumerate(learners):
        with error_context(f"models[{at}]"):
            forests.append(_forest_of(content["learner"]))
    refuse_mixed_forests([int(of["gbtree_model_param"]["num_parallel_tree"]) > 1 for of, _ in forests])
    names = [feature_names(booster) for booster in boosters]
    kinds: list[list[bool | None]] = []
    for content, own in zip(learners, names, strict=True):
        types = content["learner"]["feature_types"] or ["float"] * len(own)
        kinds.append([one == "c" for one in types])

    # The trees, with the features and categories of the first model.
    all_trees: list[Any] = []
    info: list[int] = []
    indptr, base = [0], 0.0
    for at, ((of, of_trees), weight) in enumerate(zip(forests, weights, strict=True)):
        places, recoded = aligned(names, kinds, categories, at)
        # XGBoost before 3.1 does not store the values of a frame's categories; codes of arrays are the values.
        known = {*categories[0], *categories[at]}
        unknown = [
            name for name, kind in zip(names[at], kinds[at], strict=True) if kind and name not in known
        ]
        if at and unknown and boosters[at].feature_names:
            warn(
                f"models[0] and models[{at}] do not store the values of the categories of {listed(unknown)}, as "
                "XGBoost before 3.1 does not: train both on the same pandas.CategoricalDtype, or merge LambdaRankers"
            )
        if weight == 0:
            continue
        base += weight * _base_margin(boosters[at])
        # Scores are float32, and a sum of infinite leaves would be NaN.
        try:
            with np.errstate(over="raise"):
                np.asarray(base).astype(np.float32)
                for tree, of_tree in zip(of["trees"], of_trees, strict=True):
                    _scale_tree(tree, len(all_trees), weight * of_tree, places, recoded)
                    all_trees.append(tree)
        except FloatingPointError:
            raise ValueError(
                f"weights[{at}] is {weight:g}, times which scores of models[{at}] are beyond float32: give a smaller "
                "one"
            ) from None
        info += of["tree_info"]
        indptr += [indptr[-1] + count for count in of["iteration_indptr"][1:]]

    # The first model's own JSON holds them, with a sum as its score: neither transformed, nor of a training.
    whole, gbtree = learners[0], forests[0][0]
    gbtree |= {"trees": all_trees, "tree_info": info, "iteration_indptr": indptr}
    gbtree["gbtree_model_param"]["num_trees"] = str(len(all_trees))
    gbtree.pop("weight_drop", None)  # the leaves have these weights
    learner = whole["learner"]
    learner["attributes"] = {}
    learner["gradient_booster"] = {"name": "gbtree", "model": gbtree}
    # In [] since XGBoost 3.1.
    param = learner["learner_model_param"]
    param["base_score"] = re.sub(r"[^\[\]]+", str(np.float32(base)), param["base_score"])
    additive = [content["learner"]["objective"] for content in learners]
    additive = [one for one in additive if re.fullmatch(r"rank:\w+|reg:squarederror", one["name"])]
    plain = {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}}
    learner["objective"] = additive[0] if additive else plain
    found = read(json.dumps(whole, ensure_ascii=False).encode())  # XGBoost keeps \u00fc as it is

    # A file has no number of threads: that of the first model, such as n_jobs of a ranker, if it was given one.
    threads = json.loads(boosters[0].save_config())["learner"]["generic_param"]["nthread"]
    if threads != "0":
        found.set_param({"nthread": threads})
    return found


def _base_margin(booster: Any) -> float:
    """The raw score of a model without its trees, which XGBoost stores as the objective's prediction.

    XGBoost converts it where a model has a tree, so the first round stays, with leaves of 0.
    """
    first = booster
    if booster.num_boosted_rounds():
        first = booster[:1]
    content = json.loads(first.save_raw("json"))
    forest, _ = _forest_of(content["learner"])
    for tree in forest["trees"]:
        tree["split_conditions"] = [0.0] * len(tree["split_conditions"])
    row = np.full((1, booster.num_features()), np.nan)
    without = read(json.dumps(content).encode())
    return float(without.inplace_predict(row, predict_type="margin", validate_features=False)[0])


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
        tree[name] = values.astype(np.float32).tolist()
    features = np.asarray(tree["split_indices"], dtype=np.int64)
    starts, counts = tree["categories_segments"], tree["categories_sizes"]
    for node, start, count in zip(tree["categories_nodes"], starts, counts, strict=True):
        if (codes := recoded.get(int(features[node]))) is not None:
            own = np.asarray(tree["categories"][start : start + count], dtype=np.int64)
            tree["categories"][start : start + count] = np.sort(codes[own]).tolist()
    tree["split_indices"] = places[features].tolist()
