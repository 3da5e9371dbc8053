"""Models for other systems: ONNX, and the JSON of Elasticsearch, OpenSearch, Vespa and Solr.

Both engines' trees become one form, `Forest`, in which every comparison is that of float32 numbers, and each system
gets the text or the bytes that it reads. The engines' own files (`save`) serve everywhere else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lambdaboost._files import check_place, replacing
from lambdaboost._installed import engine_of, package
from lambdaboost._words import listed, shown
from lambdaboost.saving import SavedModel, in_use

SLACK = np.float32(1e-6)  # Solr adds it to every threshold


@dataclass(frozen=True)
class Leaf:
    """A leaf with its value."""

    value: float


@dataclass(frozen=True)
class Split:
    """A split: left if feature ≤ threshold (both float32) or, where there are categories, if it is one of them."""

    feature: int
    threshold: float
    categories: tuple[int, ...]
    missing_left: bool
    left: Split | Leaf
    right: Split | Leaf


@dataclass(frozen=True)
class Forest:
    """A sum of trees.

    Attributes
    ----------
    names : tuple of str
        The names of the features.
    trees : tuple of Split or Leaf
        The roots.
    categories : dict of str to list
        The values of the categorical features; their codes count from 0.

    """

    names: tuple[str, ...]
    trees: tuple[Split | Leaf, ...]
    categories: dict[str, list[Any]]


def export(model: Any, path: str | Path, *, format: str, name: str = "lambdaboost") -> None:
    """Write a model for another system; the file is written atomically.

    Parameters
    ----------
    model : lightgbm.Booster, xgboost.Booster, fitted ranker or loaded model
        The rounds that it predicts with are written, as by `save`.
    path : str or Path
        The file.
    format : "onnx", "elasticsearch", "opensearch", "vespa" or "solr"
        ``"onnx"``: a `TreeEnsemble` of ai.onnx.ml 5 with input ``X``, float32 of shape (n_documents, n_features), and
        output ``score``, float32 of shape (n_documents, 1); names and categories of the features are in its metadata.
        ``"elasticsearch"``, ``"opensearch"``: the definition of a model of type ``model/xgboost+json``.
        ``"vespa"``: the file of the ranking expression ``xgboost("…")``. ``"solr"``: a ``MultipleAdditiveTreesModel``.
    name : str
        The name of the model inside the file, where the format has one: ONNX and Solr.

    Raises
    ------
    ModuleNotFoundError
        For ``"onnx"`` without the package onnx.
    ValueError
        Before anything is written: for a format that does not exist, and for models that a format cannot hold, such as
        categories outside ONNX, linear trees, and models of grades.

    Examples
    --------
    >>> import json, os, tempfile
    >>> from pathlib import Path
    >>> import xgboost as xgb
    >>> from lambdaboost import LambdaRank
    >>> params = {"objective": "rank:ndcg", "base_score": 0, "min_child_weight": 0}
    >>> booster = xgb.train(params, xgb.DMatrix([[0.1], [0.9]], [0, 1], qid=[7, 7]), 1, obj=LambdaRank())
    >>> path = os.path.join(tempfile.mkdtemp(), "model.json")
    >>> export(booster, path, format="elasticsearch")
    >>> json.loads(Path(path).read_bytes())[0]["split"]
    'f0'

    """
    if format not in FORMATS:
        raise ValueError(f"format is {shown(format)}: give one of {listed(FORMATS)}")
    path = Path(path)
    check_place("path", path)
    try:
        content = FORMATS[format](forest(model), name)
    except RecursionError:  # those that read JSON stop at a depth too
        raise _refuse("trees that are too deep", "train with a max_depth of at most 100") from None
    with replacing(path) as file:
        file.write(content)


def forest(model: Any) -> Forest:
    """The trees of a model of either engine, with the rounds that it predicts with."""
    booster = in_use(model.booster if isinstance(model, SavedModel) else model)
    engine = engine_of(booster)
    if engine is None:
        raise TypeError(
            f"model is a {type(booster).__name__}, expected a lightgbm.Booster, an xgboost.Booster, a fitted "
            "LambdaRanker or what lambdaboost.load returns"
        )
    return READERS[engine](booster)


def _refuse(what: str, remedy: str) -> ValueError:
    return ValueError(f"model has {what}, which no exported format holds: {remedy}")


# Objectives whose models predict the sum of their trees.
SUMS = re.compile(
    r"(custom|lambdarank|rank_xendcg|regression(_l1)?|huber|fair|quantile|mape|binary:logitraw|rank:\w+"
    r"|reg:(squared|absolute|pseudohuber|quantile|squaredlog)error)( \w+:\S+)*"
)


def _check_identity(objective: str) -> None:
    if not SUMS.fullmatch(objective):
        raise _refuse(f"the objective {objective!r}, of whose sum a function is predicted", OWN_FILE)


OWN_FILE = "serve the engine's own file, which lambdaboost.save writes"


def _of_lightgbm(booster: Any) -> Forest:
    names = tuple(booster.feature_name())
    if any("\\" in name for name in names):  # the dump does not escape it
        plain = "feature_names=" + " ".join(f"f{i}" for i in range(len(names)))
        text = re.sub("^feature_names=.*", plain, booster.model_to_string(), count=1, flags=re.MULTILINE)
        booster = type(booster)(model_str=text)
    model = booster.dump_model()
    if model["num_tree_per_iteration"] > 1:
        raise _refuse("several scores a document", OWN_FILE)
    _check_identity(model.get("objective", "custom"))
    weight = 1 / len(model["tree_info"]) if model["average_output"] else 1.0

    def node(tree: dict[str, Any]) -> Split | Leaf:
        if "leaf_const" in tree:
            raise _refuse("linear trees", "train without linear_tree")
        if "leaf_value" in tree:
            return Leaf(tree["leaf_value"] * weight)
        if tree["missing_type"] == "Zero":
            raise _refuse("zeros that count as missing", "train without zero_as_missing")
        left, right = node(tree["left_child"]), node(tree["right_child"])
        if tree["decision_type"] == "==":
            members = tuple(int(code) for code in str(tree["threshold"]).split("||"))
            return Split(tree["split_feature"], 0.0, members, False, left, right)
        # LightGBM compares doubles. For a float32 number x, x ≤ t where x ≤ the largest float32 number that is ≤ t.
        threshold = np.float32(tree["threshold"])
        if float(threshold) > tree["threshold"]:
            threshold = np.nextafter(threshold, np.float32(-np.inf))
        # Where no training data were missing, NaN is read as 0.
        missing_left = tree["default_left"] if tree["missing_type"] == "NaN" else tree["threshold"] >= 0
        return Split(tree["split_feature"], float(threshold), (), missing_left, left, right)

    infos = model["feature_infos"]
    categorical = [
        name
        for name, here in zip(names, model["feature_names"], strict=True)
        if infos.get(here, {}).get("values")
    ]
    values = model.get("pandas_categorical") or []
    return Forest(
        names,
        tuple(node(tree["tree_structure"]) for tree in model["tree_info"]),
        dict(zip(categorical, values, strict=True)) if len(values) == len(categorical) else {},
    )


def _of_xgboost(booster: Any) -> Forest:
    learner = json.loads(booster.save_raw("json"))["learner"]
    boosting = learner["gradient_booster"]
    if boosting["name"] == "gblinear":
        raise _refuse("no trees", "train with booster='gbtree'")
    size = learner["learner_model_param"]
    if int(size["num_class"]) > 1 or int(size.get("num_target", 1)) > 1:
        raise _refuse("several scores a document", OWN_FILE)
    _check_identity(learner["objective"]["name"])
    weights = boosting.get("weight_drop")
    trees = boosting["gbtree"]["model"]["trees"] if weights else boosting["model"]["trees"]
    names = tuple(booster.feature_names or (f"f{i}" for i in range(booster.num_features())))
    sums = [
        _of_xgboost_tree(tree, weight)
        for tree, weight in zip(trees, weights or [1.0] * len(trees), strict=True)
    ]
    if offset := float(size["base_score"].strip("[]")):
        sums.append(Leaf(offset))
    return Forest(names, tuple(sums), _categories_of_xgboost(booster, names))


def _of_xgboost_tree(tree: dict[str, Any], weight: float) -> Split | Leaf:
    categories = {
        node: tuple(tree["categories"][start : start + size])
        for node, start, size in zip(
            tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
        )
    }

    def node(i: int) -> Split | Leaf:
        value, default_left = np.float32(tree["split_conditions"][i]), bool(tree["default_left"][i])
        if tree["left_children"][i] < 0:
            return Leaf(float(value) * weight)
        feature, left, right = tree["split_indices"][i], tree["left_children"][i], tree["right_children"][i]
        if i in categories:  # these go right
            return Split(feature, 0.0, categories[i], not default_left, node(right), node(left))
        # x < t where x ≤ the float32 number before t.
        below = float(np.nextafter(value, np.float32(-np.inf)))
        return Split(feature, below, (), default_left, node(left), node(right))

    return node(0)


def _categories_of_xgboost(booster: Any, names: tuple[str, ...]) -> dict[str, list[Any]]:
    """The values of categorical features, which XGBoost stores with the model since 3.1."""
    try:
        arrow = dict(booster.get_categories(export_to_arrow=True).to_arrow())
    except (AttributeError, ImportError):
        return {}
    return {name: arrow[name].to_pylist() for name in names if arrow.get(name) is not None}


READERS: dict[str, Callable[[Any], Forest]] = {"lightgbm": _of_lightgbm, "xgboost": _of_xgboost}


def _no_categories(trees: Forest, format: str) -> None:
    for node in _splits(trees):
        if node.categories:
            raise ValueError(
                f"feature {trees.names[node.feature]!r} has categories, which {format} cannot split: encode it as "
                "numbers before training, or export to ONNX"
            )


def _splits(trees: Forest) -> Iterator[Split]:
    waiting = list(trees.trees)
    while waiting:
        node = waiting.pop()
        if isinstance(node, Split):
            yield node
            waiting += [node.left, node.right]


def _xgboost_json(trees: Forest, name: str) -> bytes:
    """XGBoost's JSON dump, read by the plugins of Elasticsearch and OpenSearch and by Vespa: left if x < threshold."""
    _no_categories(trees, "this format")

    def written(node: Split | Leaf, numbers: Iterator[int], depth: int = 0) -> dict[str, Any]:
        number = next(numbers)
        if isinstance(node, Leaf):
            return {"nodeid": number, "leaf": node.value}
        left, right = (written(child, numbers, depth + 1) for child in (node.left, node.right))
        return {
            "nodeid": number,
            "depth": depth,
            "split": trees.names[node.feature],
            "split_condition": float(np.nextafter(np.float32(node.threshold), np.float32(np.inf))),
            "yes": left["nodeid"],
            "no": right["nodeid"],
            "missing": (left if node.missing_left else right)["nodeid"],
            "children": [left, right],
        }

    return _json([written(tree, iter(range(1 << 62))) for tree in trees.trees])


def _solr(trees: Forest, name: str) -> bytes:
    """Solr's MultipleAdditiveTreesModel: left if x ≤ threshold + 1e-6, in float32."""
    _no_categories(trees, "Solr")

    def written(node: Split | Leaf) -> dict[str, Any]:
        if isinstance(node, Leaf):
            return {"value": repr(node.value)}
        return {
            "feature": trees.names[node.feature],
            "threshold": repr(_before_slack(np.float32(node.threshold))),
            "left": written(node.left),
            "right": written(node.right),
        }

    return _json(
        {
            "class": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel",
            "name": name,
            "features": [{"name": feature} for feature in trees.names],
            "params": {"trees": [{"weight": "1", "root": written(tree)} for tree in trees.trees]},
        }
    )


def _before_slack(threshold: np.float32) -> float:
    """The float32 number that plus Solr's slack is the threshold, or as close to it as there is one."""
    near = threshold - SLACK
    around = (near, *(np.nextafter(near, np.float32(end)) for end in (np.inf, -np.inf)))
    return float(min(around, key=lambda number: abs(number + SLACK - threshold)))


def _json(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False, indent=1).encode() + b"\n"


LEAST_OR_EQUAL, MEMBER = 0, 6  # modes of a node of TreeEnsemble


def _onnx(trees: Forest, name: str) -> bytes:
    """A TreeEnsemble of ai.onnx.ml 5: nodes in the order in which they are first met, one list for all trees."""
    onnx = package("onnx")
    splits: list[
        tuple[Split, int, bool, int, bool]
    ] = []  # with the place of each child, and whether it is a leaf
    leaves: list[float] = []

    def placed(node: Split | Leaf) -> tuple[int, bool]:
        if isinstance(node, Leaf):
            leaves.append(node.value)
            return len(leaves) - 1, True
        place = len(splits)
        splits.append((node, 0, False, 0, False))
        splits[place] = (node, *placed(node.left), *placed(node.right))
        return place, False

    roots = []
    for tree in trees.trees:
        # A tree begins with a split; of a single leaf both sides are that leaf.
        root = tree if isinstance(tree, Split) else Split(0, 0.0, (), False, tree, tree)
        roots.append(placed(root)[0])
    nodes, left, left_is_leaf, right, right_is_leaf = zip(*splits, strict=True)
    members = [code for node in nodes if node.categories for code in (*node.categories, np.nan)]
    floats = _tensor(np.float32)
    steps, constants = [], []
    if members:  # the engines cut off the fraction of a category's code
        coded = np.isin(np.arange(len(trees.names)), [node.feature for node in nodes if node.categories])
        constants.append(onnx.numpy_helper.from_array(coded[None], "coded"))
        steps.append(onnx.helper.make_node("Floor", ["X"], ["floors"]))
        steps.append(onnx.helper.make_node("Where", ["coded", "floors", "X"], ["features"]))
    ensemble = onnx.helper.make_node(
        "TreeEnsemble",
        ["features" if members else "X"],
        ["score"],
        domain="ai.onnx.ml",
        n_targets=1,
        tree_roots=roots,
        nodes_modes=_tensor(np.uint8)([MEMBER if node.categories else LEAST_OR_EQUAL for node in nodes]),
        nodes_featureids=[node.feature for node in nodes],
        nodes_splits=floats([node.threshold for node in nodes]),
        nodes_missing_value_tracks_true=[int(node.missing_left) for node in nodes],
        nodes_truenodeids=left,
        nodes_trueleafs=[int(is_leaf) for is_leaf in left_is_leaf],
        nodes_falsenodeids=right,
        nodes_falseleafs=[int(is_leaf) for is_leaf in right_is_leaf],
        leaf_targetids=[0] * len(leaves),
        leaf_weights=floats(leaves),
        **({"membership_values": floats(members)} if members else {}),
    )
    info, number = onnx.helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [*steps, ensemble],
        name,
        [info("X", number, [None, len(trees.names)])],
        [info("score", number, [None, 1])],
        constants,
    )
    operators = [onnx.helper.make_opsetid("", 18), onnx.helper.make_opsetid("ai.onnx.ml", 5)]
    model = onnx.helper.make_model(graph, producer_name="lambdaboost", ir_version=9, opset_imports=operators)
    about = {"features": list(trees.names), "categories": trees.categories}
    onnx.helper.set_model_props(model, {key: json.dumps(value, default=str) for key, value in about.items()})
    onnx.checker.check_model(model)
    return model.SerializeToString()


def _tensor(dtype: Any) -> Callable[[Any], Any]:
    return lambda values: package("onnx").numpy_helper.from_array(np.array(values, dtype))


FORMATS: dict[str, Callable[[Forest, str], bytes]] = {
    "onnx": _onnx,
    "elasticsearch": _xgboost_json,
    "opensearch": _xgboost_json,
    "vespa": _xgboost_json,
    "solr": _solr,
}
