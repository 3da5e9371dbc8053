"""A model of LightGBM, as `Model` of `base` asks for it: read, written, scored, its trees, several as one.

The text of a model has a header, a block of lines `name=values` for each tree, and a tail.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._installed import package
from lambdaboost._words import quote
from lambdaboost.engines.base import OWN_FILE, Split, cannot_export
from lambdaboost.engines.matching import Categories, codes_of, matched, refuse_mixed_forests

SUFFIXES: tuple[str, ...] = (".txt",)
UNNAMED = "Column_{}"
ABSENT_IN_TEXT = 0.0  # as its own reader takes a feature that a line of text does not have


def read(content: bytes) -> Any:
    """The booster of the bytes of its file; a ValueError if the file was cut short, which would end the process."""
    lgb, text = package("lightgbm"), content.decode(errors="replace")
    whole = "\nend of trees" in text and ("\nend of parameters" in text or "\nparameters:" not in text)
    if not whole:
        raise ValueError("the model is cut short: copy the file again, or train again")
    return lgb.Booster(model_str=text)


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
    if hasattr(found, "toarray"):  # sparse where X is
        found = found.toarray()
    # A random forest predicts the mean of its trees, and the contributions to their sum.
    if "\naverage_output\n" in booster.model_to_string(num_iteration=1):
        found = found / n_rounds(booster)
    return np.asarray(found)


def n_rounds(booster: Any) -> int:
    """The number of rounds of a booster that is saved: up to the best one."""
    return int(booster.best_iteration if booster.best_iteration > 0 else booster.current_iteration())


def feature_names(booster: Any) -> tuple[str, ...]:
    """Names of the features; those of `UNNAMED` if they were given none."""
    return tuple(booster.feature_name())


def first_is_unused(booster: Any) -> bool:
    """Whether the first feature had one value in training, as column 0 of text that LightGBM itself read."""
    return bool(feature_infos(booster)[0] == "none")


def feature_infos(booster: Any) -> list[str]:
    """The range of each feature: ``[low:high]`` of numbers, ``0:1:2`` of categories, ``none`` of unusable ones."""
    found = re.search("^feature_infos=(.*)$", booster.model_to_string(num_iteration=1), re.MULTILINE)
    return found[1].split() if found else []


def categories(booster: Any) -> dict[str, list[Any]]:
    """The values of each categorical feature that the booster itself stores."""
    values, names = booster.pandas_categorical or [], booster.feature_name()
    # The parameter has the places of the categorical columns, also of those that were constant in training.
    found = re.search(
        r"^\[categorical_feature: ([\d,]+)\]$", booster.model_to_string(num_iteration=1), re.MULTILINE
    )
    if found is None:
        return {}
    places = [int(place) for place in found[1].split(",")]
    if len(places) != len(values):
        return {}
    return {names[place]: of for place, of in zip(places, values, strict=True)}


def trees(booster: Any) -> tuple[list[Split | float], str]:
    """The trees of a booster, up to its best round, and its objective."""
    # The dump does not escape the names.
    plain = "feature_names=" + " ".join(f"f{i}" for i in range(booster.num_feature()))
    text = re.sub("^feature_names=.*", plain, booster.model_to_string(), count=1, flags=re.MULTILINE)
    model = type(booster)(model_str=text).dump_model()
    # The dump says 1e300 where a threshold is infinite, which even +inf does not exceed.
    thresholds = [line.split() for line in re.findall("^threshold=(.*)$", text, re.MULTILINE)]
    if model["num_tree_per_iteration"] > 1:
        raise cannot_export("several scores a document", OWN_FILE)
    # A random forest predicts the mean of its trees.
    weight = 1.0
    if model["average_output"]:
        weight = 1 / len(model["tree_info"])

    def node(tree: dict[str, Any], of_splits: list[str]) -> Split | float:
        if "leaf_const" in tree:
            raise cannot_export("linear trees", "train without linear_tree")
        if "leaf_value" in tree:
            return float(tree["leaf_value"] * weight)
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
    return found, model.get("objective", "custom")


TINY = np.float32(1e-35)
ZERO = 1.01e-35  # up to here thresholds separate 0 from other numbers: LightGBM's are ±1e-35


def _highest(threshold: float) -> np.float32:
    """The highest float32 number ≤ a threshold in float64: LightGBM compares doubles, and reads ±1e-35 as 0."""
    if abs(threshold) <= ZERO:
        return TINY if threshold >= 0 else np.nextafter(-TINY, np.float32(-np.inf))
    with np.errstate(over="ignore"):
        near = np.float32(threshold)
    return near if float(near) <= threshold else np.nextafter(near, np.float32(-np.inf))


# Several models as one.

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
        own, factor = part[1:-1], weight
        if forests[at] and own:  # which predicts the mean of its trees
            factor /= len(own)
        for block in own:
            blocks.append(_scaled_tree(block, len(blocks), factor, places, recoded))

    # A header without what belongs to a training; `lambdarank` predicts the sum of the trees.
    head = {
        name: heads[0][name] for name in ("version", "num_class", "num_tree_per_iteration", "label_index")
    }
    head |= {"max_feature_idx": str(len(names[0]) - 1), "objective": "lambdarank"}
    head |= {"feature_names": heads[0]["feature_names"], "feature_infos": " ".join(known)}
    lines = ["tree", *(f"{name}={value}" for name, value in head.items()), ""]
    lines += [*blocks, "end of trees", ""]
    # The one parameter that `categories` reads: the places of the categorical columns.
    if found := re.search(r"^\[categorical_feature: [\d,]+\]$", texts[0], re.MULTILINE):
        lines += ["parameters:", found[0], "end of parameters", ""]
    text = "\n".join([*lines, f"pandas_categorical:{values[0]}", ""])
    return package("lightgbm").Booster(model_str=text)


def _kind(info: str) -> str:
    """The kind of a feature by what a LightGBM model says of its values: a range, codes, or "none" for a constant."""
    if info == "none":
        return "constant"
    return "numeric" if info.startswith("[") else "categorical"


def _scaled_tree(
    block: str,
    number: int,
    factor: float,
    places: NDArray[np.int64],
    recoded: Mapping[int, NDArray[np.int64]],
) -> str:
    """The block of a tree: leaves times `factor`, features at their `places`, codes of categories as `recoded`."""
    fields = dict(line.partition("=")[::2] for line in block.splitlines() if line)
    fields["Tree"] = str(number)
    for name in OF_LEAVES:
        if name in fields:  # blanks stay as they are: they separate the leaves of linear trees
            fields[name] = re.sub(r"\S+", lambda found: repr(factor * float(found[0])), fields[name])
    if recoded and fields.get("num_cat", "0") != "0":
        _recode(fields, recoded)
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
