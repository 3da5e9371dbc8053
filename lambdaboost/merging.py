"""`merge`: several models of one engine as one stock model, whose raw score is a weighted sum of theirs.

A model of trees is a sum, so a weighted sum of models is one model again: the trees of all, each with its leaves times
the weight of its model. Both engines write their trees as text that reads back exactly, LightGBM in its own format and
XGBoost in JSON; the text of the merged model is put together from those of its members. Neither engine offers this with
weights: LightGBM's private ``LGBM_BoosterMerge`` appends trees as they are, whatever features and categories they have.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_number
from lambdaboost._installed import package
from lambdaboost._words import listed, quote
from lambdaboost.engines import ENGINES, engine_of
from lambdaboost.saving import booster_in_use

Categories = Mapping[
    str, Sequence[Any]
]  # the values of each categorical feature, in the order of their codes


def merge(models: Sequence[Any], weights: Sequence[float]) -> Any:
    r"""Merge models into one, whose raw score is the weighted sum of theirs.

    .. math:: s(x) = \sum_k w_k\, s_k(x),

    where :math:`s_k` is the raw score of model k up to its best round, with its base score. The result is a stock model
    with the trees of all: it is saved, exported, explained and served like any other, and takes the time and memory of
    all these trees (``num_trees()``, ``num_boosted_rounds()``).

    Two trainings give every weight: train a model for each label, choose the weights by `trade_off`, and merge. This is
    also how to average models of several seeds or folds, or to sum a ranker and a click model.

    Parameters
    ----------
    models : sequence of boosters or fitted rankers
        Two or more `lightgbm.Booster`, two or more `xgboost.Booster`, or two or more fitted `LambdaRanker` of one
        class. They may have been trained with any objective. A model whose objective transforms its score, such as
        ``"binary"`` or ``"reg:logistic"``, contributes its raw score.
    weights : sequence of float
        One finite weight for each model, used as it is: neither scaled to sum 1 nor divided by the spread of the
        scores. The trees of a model of weight 0 are left out.

    Returns
    -------
    Booster or LambdaRanker
        The merged booster. Its `predict` is the raw score, without a transformation. It has no best round;
        ``num_iteration=`` and ``iteration_range=`` count the rounds of the first model, then those of the second, and
        so on. Importances by gain add up gains as each model had them. Of rankers: a copy of the first one with the
        merged booster; `objective_` says what was merged, and `fit` trains anew with the parameters of the first.

    Raises
    ------
    TypeError
        If `models` are not boosters of one engine or rankers of one class, or a weight is no number.
    ValueError
        Before anything is merged: for models of other engines, features or categories; linear models of XGBoost; random
        forests beside boosted trees; several scores per row; DART of XGBoost with weights of trees; rankers that differ
        in how they read a table; and for weights that are not finite or all zero.

    Notes
    -----
    Features are matched by name and categories by value, so their order may differ between models; that of the first
    counts. Models without names need the same number of features. The raw score of a random forest of LightGBM is the
    mean of its trees, which it predicts. XGBoost before 3.1 stores no values of categories: boosters must have been
    trained with the same codes.

    The sum is exact to rounding: relative to the range of the scores to 1e-12 with LightGBM, whose leaves are float64,
    and to about 1e-6 with XGBoost, whose leaves and sums are float32.

    Examples
    --------
    >>> import lightgbm as lgb
    >>> import numpy as np
    >>> from lambdaboost import LambdaRank, merge
    >>> rng = np.random.default_rng(0)
    >>> X, sizes = rng.random((400, 3)), np.full(20, 20)
    >>> grades, clicks = np.rint(4 * X[:, 0]), (rng.random(400) < X[:, 1]).astype(int)
    >>> ranking = {"objective": LambdaRank(), "verbose": -1, "num_threads": 1}
    >>> first = lgb.train(ranking, lgb.Dataset(X, grades, group=sizes), 5)
    >>> second = lgb.train({"objective": "binary", "verbose": -1, "num_threads": 1}, lgb.Dataset(X, clicks), 5)
    >>> merged = merge([first, second], weights=[0.7, 0.3])
    >>> merged.num_trees()
    10
    >>> expected = 0.7 * first.predict(X) + 0.3 * second.predict(X, raw_score=True)
    >>> bool(np.allclose(merged.predict(X), expected, rtol=0, atol=1e-12))
    True

    """
    models, factors = _check_arguments(models, weights)
    boosters = [booster_in_use(model) for model in models]
    stock: Any = engine_of(boosters[0])
    # Rankers know the values of their categories, boosters those that their engine stores.
    fitted = [getattr(model, "_fitted", None) for model in models]
    categories = [
        (columns and columns.categories) or stock.categories(booster)
        for columns, booster in zip(fitted, boosters, strict=True)
    ]
    booster = MERGES[stock.NAME](boosters, factors, categories)
    if fitted[0] is None:
        return booster
    # A copy of the first ranker with the merged booster, and nothing that its own training left behind.
    merged = copy.copy(models[0])
    merged._Booster = booster
    objectives = tuple(model.objective_ for model in models)
    merged._remember_fit(Merged(objectives, tuple(factors)), fitted[0])
    for name, value in (("_best_iteration", -1), ("_best_score", {}), ("_evals_result", {})):
        if hasattr(merged, name):
            setattr(merged, name, value)
    merged.__dict__.pop("evals_result_", None)
    return merged


@dataclass(frozen=True, repr=False)
class Merged:
    """What a merged ranker was made of, in place of the objective that a training has.

    Attributes
    ----------
    objectives : tuple
        The objectives of the models.
    weights : tuple of float
        Their weights.

    """

    objectives: tuple[Any, ...]
    weights: tuple[float, ...]

    def __repr__(self) -> str:
        return f"merge([{', '.join(map(repr, self.objectives))}], weights={list(self.weights)})"


def _check_arguments(models: Any, weights: Any) -> tuple[list[Any], list[float]]:
    """The models, of one kind and engine, and a finite weight for each."""
    if engine_of(models) or isinstance(models, str | Mapping) or not hasattr(models, "__len__"):
        raise TypeError(
            f"models is a {type(models).__name__}: give a list, such as merge([first, second], …)"
        )
    models = list(models)
    if len(models) < 2:
        raise ValueError(f"models has {len(models)}: give two or more")
    # One kind: boosters of one engine, or rankers of one class.
    for at, model in enumerate(models):
        ranker = hasattr(model, "_remember_fit")
        if not ranker and engine_of(model) is None:
            raise TypeError(
                f"models[{at}] is a {type(model).__name__}: give boosters of LightGBM or XGBoost, or fitted "
                "LambdaRankers; of other estimators give booster_ or get_booster()"
            )
        if ranker and not hasattr(model, "_fitted"):
            raise ValueError(f"models[{at}] is not fitted: fit it first")
        if type(model) is not type(models[0]):
            kinds = [f"{type(one).__module__}.{type(one).__name__}" for one in (models[0], model)]
            raise TypeError(
                f"models[0] is {kinds[0]}, models[{at}] {kinds[1]}: trees of different engines or classes cannot "
                "be one model; add up their scores instead, or train all on one engine"
            )
        if ranker:
            _check_rankers(models[0], model, at)
    if not hasattr(weights, "__len__") or isinstance(weights, str):
        raise TypeError(f"weights is {weights!r}: give one number for each model")
    if len(weights) != len(models):
        raise ValueError(
            f"weights has {len(weights)} values, models has {len(models)}: give one for each model"
        )
    factors = []
    for at, weight in enumerate(weights):
        value = weight.item() if isinstance(weight, np.generic) else weight
        factors.append(float(check_number(f"weights[{at}]", value)))
    if not any(factors):
        raise ValueError(f"weights is {factors}: give at least one weight that is not 0")
    return models, factors


def _check_rankers(first: Any, other: Any, at: int) -> None:
    """Raise unless both rankers read a table alike."""
    for name in ("query", "unseen", "missing"):
        a, b = (getattr(ranker, name, None) for ranker in (first, other))
        if a != b and not (a != a and b != b):  # NaN equals NaN here
            raise ValueError(
                f"{name} is {a!r} in models[0] and {b!r} in models[{at}]: the merged ranker has one; fit both with "
                f"the same {name}="
            )


def _matched(names: Sequence[Sequence[str]], at: int) -> NDArray[np.int64]:
    """The place in the first model of each feature of model `at`, by name."""
    if set(names[at]) != set(names[0]) or len(names[at]) != len(names[0]):
        differ = [name for name in (*names[0], *names[at]) if name not in names[0] or name not in names[at]]
        raise ValueError(
            f"models[0] has {len(names[0])} features and models[{at}] {len(names[at])}, of which {listed(differ)} are "
            "in one model only: train all on the same columns"
        )
    place = {name: column for column, name in enumerate(names[0])}
    return np.array([place[name] for name in names[at]], dtype=np.int64)


def _codes(categories: Sequence[Categories], name: str, at: int) -> NDArray[np.int64] | None:
    """The code in the first model of each category of a feature of model `at`; None where all codes are the same."""
    first, own = (None if name not in of else list(of[name]) for of in (categories[0], categories[at]))
    if first == own:
        return None
    if first is None or own is None or set(first) != set(own):
        what = [
            "no values" if values is None else f"{len(values)} values, such as {quote(str(values[-1]))}"
            for values in (first, own)
        ]
        raise ValueError(
            f"the categories of {quote(name)} differ: {what[0]} in models[0], {what[1]} in models[{at}]; give the "
            "column the same pandas.CategoricalDtype in all trainings"
        )
    return np.array([first.index(value) for value in own], dtype=np.int64)


# LightGBM: the text of a model has a header, a block of lines `name=values` for each tree, and a tail.

OF_LEAVES = ("leaf_value", "internal_value", "leaf_const", "leaf_coeff")  # scaled with the score
OF_FEATURES = ("split_feature", "leaf_features")  # the places of features


def _merge_lightgbm(
    boosters: Sequence[Any], weights: Sequence[float], categories: Sequence[Categories]
) -> Any:
    """A LightGBM booster of scaled trees."""
    texts = [booster.model_to_string() for booster in boosters]  # up to the best round
    parts = [re.split(r"\n(?=Tree=\d)|\nend of trees\n", text) for text in texts]
    heads = [dict(line.partition("=")[::2] for line in part[0].splitlines() if line) for part in parts]
    for at, head in enumerate(heads):
        if head["num_tree_per_iteration"] != "1":
            raise ValueError(
                f"models[{at}] has {head['num_tree_per_iteration']} scores per row: merge models of one score"
            )
    forests = ["average_output" in head for head in heads]
    _refuse_mixed_forests(forests)
    names = [booster.feature_name() for booster in boosters]
    infos = [head["feature_infos"].split(" ") for head in heads]
    values = [text.rpartition("\npandas_categorical:")[2].strip() for text in texts]

    # The trees, with the features and categories of the first model.
    trees: list[str] = []
    for at, (part, weight) in enumerate(zip(parts, weights, strict=True)):
        places = _matched(names, at)
        same_order = bool((places == np.arange(places.size)).all())
        recoded: dict[int, NDArray[np.int64]] = {}
        for column, place in enumerate(places):
            name, kinds = names[at][column], [_kind(infos[0][place]), _kind(infos[at][column])]
            if set(kinds) == {"numeric", "categorical"}:
                raise ValueError(
                    f"feature {quote(name)} is {kinds[0]} in models[0] and {kinds[1]} in models[{at}]: give it one "
                    "type in all trainings"
                )
            # The engine lists values by column; the same lists in the same order of columns are the same categories.
            same = same_order and values[at] == values[0]
            if kinds[1] == "categorical" and not same:
                codes = _codes(categories, name, at)
                if codes is None and name not in categories[0] and {values[0], values[at]} - {"null", "[]"}:
                    raise ValueError(
                        f"feature {quote(name)} has categories whose values models[{at}] or models[0] does not store: "
                        "give the column the same pandas.CategoricalDtype in all trainings"
                    )
                if codes is not None:
                    recoded[column] = codes
        if weight == 0:
            continue
        blocks = part[1:-1]
        factor = weight / len(blocks) if forests[at] and blocks else weight
        for block in blocks:
            lines = block.splitlines()
            trees.append(_scaled_tree(lines, len(trees), factor, None if same_order else places, recoded))

    # A header without what belongs to a training; `lambdarank` predicts the sum of the trees.
    head = {
        name: heads[0][name] for name in ("version", "num_class", "num_tree_per_iteration", "label_index")
    }
    head |= {"max_feature_idx": str(len(names[0]) - 1), "objective": "lambdarank"}
    head |= {
        "feature_names": heads[0]["feature_names"],
        "feature_infos": " ".join(_joined_infos(names, infos)),
    }
    lines = ["tree", *(f"{name}={value}" for name, value in head.items()), ""]
    text = "\n".join([*lines, *trees, "end of trees", "", f"pandas_categorical:{values[0]}", ""])
    return package("lightgbm").Booster(model_str=text)


def _kind(info: str) -> str:
    """The kind of a feature by what a LightGBM model says of its values: a range, codes, or "none" for a constant."""
    if info == "none":
        return "constant"
    return "numeric" if info.startswith("[") else "categorical"


def _joined_infos(names: Sequence[Sequence[str]], infos: Sequence[Sequence[str]]) -> list[str]:
    """What the merged model says of its features: that of the first model that saw more than one value."""
    found = list(infos[0])
    for at in range(1, len(infos)):
        for column, place in enumerate(_matched(names, at)):
            if found[place] == "none":
                found[place] = infos[at][column]
    return found


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
        _recode_lightgbm(fields, recoded)
    if places is not None:
        for name in OF_FEATURES:
            if name in fields:
                fields[name] = re.sub(r"\S+", lambda found: str(places[int(found[0])]), fields[name])
    return "\n".join([*(f"{name}={value}" for name, value in fields.items()), "", ""])


def _recode_lightgbm(fields: dict[str, str], recoded: Mapping[int, NDArray[np.int64]]) -> None:
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


# XGBoost: a model is JSON; a leaf is a node without children, whose value stands where others have their threshold.


def _merge_xgboost(
    boosters: Sequence[Any], weights: Sequence[float], categories: Sequence[Categories]
) -> Any:
    """An XGBoost booster of scaled trees."""
    learners = [json.loads(bytes(_up_to_best(booster).save_raw("json"))) for booster in boosters]
    gbtrees = [_gbtree_of(content["learner"], at) for at, content in enumerate(learners)]
    _refuse_mixed_forests([int(of["gbtree_model_param"]["num_parallel_tree"]) > 1 for of in gbtrees])
    names = [ENGINES["xgboost"].feature_names(booster) for booster in boosters]
    kinds = [
        content["learner"]["feature_types"] or ["float"] * len(own)
        for content, own in zip(learners, names, strict=True)
    ]

    # The trees, with the features and categories of the first model.
    trees: list[Any] = []
    info: list[int] = []
    indptr, base = [0], 0.0
    for at, (content, of, weight) in enumerate(zip(learners, gbtrees, weights, strict=True)):
        places = _matched(names, at)
        recoded: dict[int, NDArray[np.int64]] = {}
        for column, place in enumerate(places):
            if ("c" in (kinds[0][place], kinds[at][column])) and kinds[0][place] != kinds[at][column]:
                raise ValueError(
                    f"feature {quote(names[at][column])} is categorical in only one of models[0] and models[{at}]: "
                    "give it one type in all trainings"
                )
            if kinds[at][column] == "c":
                codes = _codes(categories, names[at][column], at)
                if codes is not None:
                    recoded[column] = codes
        if weight == 0:
            continue
        base += weight * _base_margin(content)
        for tree in of["trees"]:
            _scale_tree(tree, len(trees), weight, places, recoded)
            trees.append(tree)
        info += of["tree_info"]
        indptr += [indptr[-1] + count for count in of["iteration_indptr"][1:]]

    # The first model's own JSON holds them, with a sum as its score: neither transformed, nor of a training.
    merged, gbtree = learners[0], gbtrees[0]
    gbtree |= {"trees": trees, "tree_info": info, "iteration_indptr": indptr}
    gbtree["gbtree_model_param"]["num_trees"] = str(len(trees))
    learner = merged["learner"]
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
    return _loaded(merged)


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
    row = package("xgboost").DMatrix(np.zeros((1, int(learner["learner_model_param"]["num_feature"]))))
    return float(_loaded({**content, "learner": learner}).predict(row, output_margin=True)[0])


def _loaded(content: Mapping[str, Any]) -> Any:
    """The booster of a model in JSON."""
    return package("xgboost").Booster(model_file=bytearray(json.dumps(content).encode()))


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


def _refuse_mixed_forests(forests: Sequence[bool]) -> None:
    """Raise where only some models are random forests."""
    if len(set(forests)) > 1:
        forest, boosted = forests.index(True), forests.index(False)
        raise ValueError(
            f"models[{forest}] is a random forest and models[{boosted}] boosted trees: merge models of one kind, or "
            "add up their scores"
        )


MERGES = {"lightgbm": _merge_lightgbm, "xgboost": _merge_xgboost}
