"""A model of LightGBM, as `Engine` of `base` asks for it: read, written, scored, its trees, several as one.

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

from lambdaboost._checks import error_context
from lambdaboost._installed import package
from lambdaboost._words import quote
from lambdaboost.datasets.collection import Categories
from lambdaboost.engines.base import Split
from lambdaboost.engines.matching import aligned, refuse_mixed_forests

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
    """The bytes of the booster's file, up to its best round.

    A booster that reads the parameters of a cluster would wait for its other machines.
    """
    trees, start, params = booster.model_to_string().rpartition("\nparameters:\n")
    params = re.sub(r"(?m)^\[num_machines: .*\]$", "[num_machines: 1]", params)
    params = re.sub(r"(?m)^\[tree_learner: .*\]$", "[tree_learner: serial]", params)
    return (trees + start + params).encode()


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


def _read_text(booster: Any) -> tuple[dict[str, str], list[dict[str, str]]]:
    """The fields of the header of a model's text, and those of each tree up to the best round."""
    parts = re.split(r"\n(?=Tree=\d)|\nend of trees\n", booster.model_to_string())
    head, *blocks = (
        dict(line.partition("=")[::2] for line in part.splitlines() if line) for part in parts[:-1]
    )
    if head["num_tree_per_iteration"] != "1":
        raise ValueError(f"it has {head['num_tree_per_iteration']} scores for a row: train a model of one")
    return head, blocks


def _category_sets(fields: Mapping[str, str]) -> list[list[int]]:
    """The codes that go left by each set of categories of a tree.

    Split n with bit 1 of its decision type reads the set number ``threshold[n]``: the bits of the words from
    ``cat_boundaries`` at that number to the next are the codes.
    """
    bounds, words = (list(map(int, fields[name].split())) for name in ("cat_boundaries", "cat_threshold"))
    sets = [words[low:high] for low, high in pairwise(bounds)]
    return [[code for code in range(32 * len(one)) if one[code // 32] >> code % 32 & 1] for one in sets]


def trees(booster: Any) -> tuple[list[Split | float], str]:
    """The trees of a booster, up to its best round, and its objective."""
    head, blocks = _read_text(booster)
    # A random forest predicts the mean of its trees.
    weight = 1.0
    if "average_output" in head:
        weight = 1 / len(blocks)
    return [_read_tree(fields, weight) for fields in blocks], head.get("objective", "custom")


def _read_tree(fields: Mapping[str, str], weight: float) -> Split | float:
    """A tree of a model's text, its leaves times `weight`."""
    if fields.get("is_linear", "0") != "0":
        raise ValueError("it has linear trees: train without linear_tree")
    of_splits = ("split_feature", "decision_type", "left_child", "right_child")
    features, decisions, lefts, rights = (list(map(int, fields.get(name, "").split())) for name in of_splits)
    thresholds, leaves = (
        list(map(float, fields.get(name, "").split())) for name in ("threshold", "leaf_value")
    )
    sets = []
    if fields.get("num_cat", "0") != "0":
        sets = _category_sets(fields)

    def node(i: int) -> Split | float:
        if i < 0:  # a leaf
            return leaves[~i] * weight
        # Bits of a decision: categories, missing values to the left, and what is missing: nothing, zeros or NaN.
        is_categorical, default_left, missing = (
            decisions[i] & 1,
            bool(decisions[i] & 2),
            decisions[i] >> 2 & 3,
        )
        if missing == 1:
            raise ValueError("zeros count as missing in it: train without zero_as_missing")
        children = node(lefts[i]), node(rights[i])
        if is_categorical:
            return Split(features[i], np.float32(0), tuple(sets[int(thresholds[i])]), False, *children)
        # Where no training data were missing, NaN is read as 0.
        left = default_left if missing else thresholds[i] >= 0
        return Split(features[i], _highest(thresholds[i]), (), left, *children)

    return node(0 if features else ~0)


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
    texts = [booster.model_to_string(num_iteration=1) for booster in boosters]
    heads, blocks = [], []
    for at, booster in enumerate(boosters):
        with error_context(f"models[{at}]"):
            head, own = _read_text(booster)
        heads.append(head)
        blocks.append(own)
    forests = ["average_output" in head for head in heads]
    refuse_mixed_forests(forests)
    names = [feature_names(booster) for booster in boosters]
    infos = [head["feature_infos"].split(" ") for head in heads]
    values = [text.rpartition("\npandas_categorical:")[2].strip() for text in texts]

    # The trees, with the features and categories of the first model.
    lines: list[str] = []
    count = 0
    known = list(infos[0])  # what the models so far say of each feature
    kinds = [[None if info == "none" else not info.startswith("[") for info in of] for of in infos]
    for at, (own, weight) in enumerate(zip(blocks, weights, strict=True)):
        # The engine lists values by column; the same lists in the same order of columns are the same categories.
        is_same = names[at] == names[0] and values[at] == values[0]
        places, recoded = aligned(names, kinds, [{}] * len(names) if is_same else categories, at)
        for column, place in enumerate(places):
            if known[place] == "none":
                known[place] = infos[at][column]
            unknown = kinds[at][column] and not is_same and names[at][column] not in categories[0]
            if unknown and {values[0], values[at]} - {"null", "[]"}:
                raise ValueError(
                    f"feature {quote(names[at][column])} has categories whose values models[{at}] or models[0] does "
                    "not store: give the column the same pandas.CategoricalDtype in all trainings"
                )
        if weight == 0:
            continue
        factor = weight
        if forests[at] and own:  # which predicts the mean of its trees
            factor /= len(own)
        for fields in own:
            _scale_tree(fields, count, factor, places, recoded)
            lines += [*(f"{name}={value}" for name, value in fields.items()), "", ""]
            count += 1

    # A header without what belongs to a training; `lambdarank` predicts the sum of the trees.
    head = {
        name: heads[0][name] for name in ("version", "num_class", "num_tree_per_iteration", "label_index")
    }
    head |= {"max_feature_idx": str(len(names[0]) - 1), "objective": "lambdarank"}
    head |= {"feature_names": heads[0]["feature_names"], "feature_infos": " ".join(known)}
    lines = ["tree", *(f"{name}={value}" for name, value in head.items()), "", *lines, "end of trees", ""]
    # The one parameter that `categories` reads: the places of the categorical columns.
    if found := re.search(r"^\[categorical_feature: [\d,]+\]$", texts[0], re.MULTILINE):
        lines += ["parameters:", found[0], "end of parameters", ""]
    text = "\n".join([*lines, f"pandas_categorical:{values[0]}", ""])
    return package("lightgbm").Booster(model_str=text)


def _scale_tree(
    fields: dict[str, str],
    number: int,
    factor: float,
    places: NDArray[np.int64],
    recoded: Mapping[int, NDArray[np.int64]],
) -> None:
    """Change a tree: leaves times `factor`, features at their `places`, codes of categories as `recoded`."""
    fields["Tree"] = str(number)
    for name in OF_LEAVES:
        if name in fields:  # blanks stay as they are: they separate the leaves of linear trees
            fields[name] = re.sub(r"\S+", lambda found: repr(factor * float(found[0])), fields[name])
    if recoded and fields.get("num_cat", "0") != "0":
        sets = _category_sets(fields)
        features, decisions = (
            list(map(int, fields[name].split())) for name in ("split_feature", "decision_type")
        )
        for feature, decision, threshold in zip(
            features, decisions, fields["threshold"].split(), strict=True
        ):
            if decision & 1 and feature in recoded:
                codes, at = recoded[feature], int(float(threshold))
                sets[at] = [int(codes[code]) for code in sets[at] if code < codes.size]
        # Back to words of 32 bits.
        numbers = [sum(1 << code for code in one) for one in sets]
        sizes = [max(1, (bits.bit_length() + 31) // 32) for bits in numbers]
        fields["cat_boundaries"] = " ".join(map(str, np.cumsum([0, *sizes])))
        words = (
            bits >> 32 * at & 0xFFFFFFFF
            for bits, size in zip(numbers, sizes, strict=True)
            for at in range(size)
        )
        fields["cat_threshold"] = " ".join(map(str, words))
    for name in OF_FEATURES:
        if name in fields:
            fields[name] = re.sub(r"\S+", lambda found: str(places[int(found[0])]), fields[name])
