"""Models for other systems: ONNX, and the JSON of Elasticsearch, OpenSearch and Vespa.

Both engines' trees become one form, `Split`, in which every comparison is that of float32 numbers, and each system
gets the text or the bytes that it reads. The engines' own files (`save`) serve everywhere else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from lambdaboost._checks import error_context
from lambdaboost._files import check_place, replacing
from lambdaboost._installed import package
from lambdaboost._words import listed, quote
from lambdaboost.engines.base import Split
from lambdaboost.saving import as_saved

# Objectives whose models predict the sum of their trees.
ADDITIVE_OBJECTIVES = re.compile(
    r"(custom|lambdarank|rank_xendcg|regression|rank:\w+|reg:squarederror)( \w+:\S+)*"
)


def export(model: Any, path: str | Path, *, format: str) -> None:
    """Write a model for another system; the file is written atomically.

    Parameters
    ----------
    model : lightgbm.Booster, xgboost.Booster, fitted ranker or loaded model
        The rounds that it predicts with are written, as by `save`.
    path : str or Path
        The file.
    format : "onnx", "elasticsearch", "opensearch", "vespa" or "lightgbm"
        ``"onnx"``: a `TreeEnsemble` of ai.onnx.ml 5 with input ``X``, float32 of shape (n_documents, n_features), and
        output ``score``, float32 of shape (n_documents, 1); names and categories of the features are in its metadata.
        ``"elasticsearch"``, ``"opensearch"``: the definition of a model of type ``model/xgboost+json``.
        ``"vespa"``: the file of the ranking expression ``xgboost("…")``.
        ``"lightgbm"``: LightGBM's own file with the line ``objective=lambdarank``, which onnxmltools, lleaves and other
        converters need; LightGBM leaves it out where the objective is a callable. Scores are the same.
        In all but ``"onnx"`` and ``"lightgbm"`` features are finite or missing: an infinite one ranks as any number
        above 3.4e38, not as in the engine where a split separates missing values only.

    Raises
    ------
    ModuleNotFoundError
        For ``"onnx"`` without the package onnx.
    TypeError, ValueError
        Before anything is written: for a format that does not exist, and for models that a format cannot hold, such as
        categories outside ONNX, missing values that are not NaN, linear trees, and models of grades.

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
        raise ValueError(f"format is {quote(format)}: give one of {listed(list(FORMATS))}")
    path = Path(path)
    check_place("path", path)
    with error_context("cannot export the model"):
        try:
            content = FORMATS[format](model)
        except RecursionError:  # those that read JSON stop at a depth too
            raise ValueError("its trees are too deep: train with a max_depth of at most 100") from None
    with replacing(path) as file:
        file.write(content)


def read_trees(model: Any) -> tuple[tuple[str, ...], list[Split | float], dict[str, list[Any]]]:
    """The names of the features of a model, its trees, whose sum is the score, and the values of its categories.

    The trees are those of the rounds that it predicts with; the codes of categories count from 0.
    """
    saved = as_saved(model)
    engine, missing = saved.engine, saved.missing
    if not np.isnan(missing):
        raise ValueError(f"missing={missing:g} stands for missing values: train with NaN in their place")
    trees, objective = engine.trees(saved.booster)
    if not ADDITIVE_OBJECTIVES.fullmatch(objective):
        raise ValueError(
            f"its objective {objective!r} does not predict the sum of its trees: serve the engine's own file, which "
            "lambdaboost.save writes"
        )
    return engine.feature_names(saved.booster), trees, saved.categories


def _write_lightgbm(model: Any) -> bytes:
    """LightGBM's own file, with the objective that converters look for where the model was trained with a callable."""
    saved = as_saved(model)
    if saved.engine.NAME != "lightgbm":
        raise TypeError(
            "the model is XGBoost's: format='lightgbm' is for LightGBM's models; save writes XGBoost's"
        )
    content = saved.engine.write(saved.booster, "")
    if re.search(rb"^objective=", content, re.MULTILINE):
        return content
    # Scores are the sum of the trees, as by LightGBM's own ranking objective.
    content = content.replace(b"\nfeature_names=", b"\nobjective=lambdarank\nfeature_names=", 1)
    return re.sub(rb"^\[objective: .*\]$", b"[objective: lambdarank]", content, count=1, flags=re.MULTILINE)


def _write_json(model: Any) -> bytes:
    """XGBoost's JSON dump, read by the plugins of Elasticsearch and OpenSearch and by Vespa: left if x < threshold."""
    names, trees, _ = read_trees(model)

    def dump(node: Split | float, numbers: count[int], depth: int = 0) -> dict[str, Any]:
        number = next(numbers)
        if not isinstance(node, Split):
            return {"nodeid": number, "leaf": node}
        left, right = (dump(child, numbers, depth + 1) for child in (node.left, node.right))
        with np.errstate(over="ignore"):
            above = float(np.nextafter(node.threshold, np.float32(np.inf)))
        name = names[node.feature]
        if node.categories:
            raise ValueError(
                f"feature {name!r} has categories, which only ONNX can split: encode it as numbers, or use ONNX"
            )
        return {
            "nodeid": number,
            "depth": depth,
            "split": name,
            # 2^128 is above every float32 number, and infinity as one; JSON has no infinity.
            "split_condition": min(above, 2.0**128),
            "yes": left["nodeid"],
            "no": right["nodeid"],
            "missing": (right, left)[node.missing_left]["nodeid"],
            "children": [left, right],
        }

    dumps = [dump(tree, count()) for tree in trees]
    return json.dumps(dumps, allow_nan=False, indent=1).encode() + b"\n"


LESS_OR_EQUAL, MEMBER = 0, 6  # modes of a node of TreeEnsemble


def _write_onnx(model: Any) -> bytes:
    """A TreeEnsemble of ai.onnx.ml 5: nodes in the order in which they are first met, one list for all trees."""
    names, trees, categories = read_trees(model)
    onnx = package("onnx")
    splits: list[Any] = []  # with the place of each child, and whether it is a leaf
    leaves: list[float] = []

    def place(node: Split | float) -> tuple[int, int]:
        if not isinstance(node, Split):
            leaves.append(node)
            return len(leaves) - 1, 1
        at = len(splits)
        splits.append(None)
        splits[at] = (node, *place(node.left), *place(node.right))
        return at, 0

    roots = []
    for tree in trees:
        root = tree
        # A tree begins with a split; of a single leaf both sides are that leaf.
        if not isinstance(tree, Split):
            root = Split(0, np.float32(0), (), False, tree, tree)
        roots.append(place(root)[0])
    nodes, left, left_is_leaf, right, right_is_leaf = zip(*splits, strict=True)
    members = [code for node in nodes if node.categories for code in (*node.categories, np.nan)]

    def tensor(values: Any, dtype: Any = np.float32) -> Any:
        return onnx.numpy_helper.from_array(np.array(values, dtype))

    optional = {}
    if members:
        optional["membership_values"] = tensor(members)
    ensemble = onnx.helper.make_node(
        "TreeEnsemble",
        ["X"],
        ["score"],
        domain="ai.onnx.ml",
        n_targets=1,
        tree_roots=roots,
        nodes_modes=tensor([MEMBER if node.categories else LESS_OR_EQUAL for node in nodes], np.uint8),
        nodes_featureids=[node.feature for node in nodes],
        nodes_splits=tensor([node.threshold for node in nodes]),
        nodes_missing_value_tracks_true=[int(node.missing_left) for node in nodes],
        nodes_truenodeids=left,
        nodes_trueleafs=left_is_leaf,
        nodes_falsenodeids=right,
        nodes_falseleafs=right_is_leaf,
        leaf_targetids=[0] * len(leaves),
        leaf_weights=tensor(leaves),
        **optional,
    )
    info, number = onnx.helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    inputs, outputs = (
        [info("X", number, [None, len(names)])],
        [info("score", number, [None, 1])],
    )
    graph = onnx.helper.make_graph([ensemble], "lambdaboost", inputs, outputs)
    operators = [onnx.helper.make_opsetid("", 18), onnx.helper.make_opsetid("ai.onnx.ml", 5)]
    proto = onnx.helper.make_model(graph, producer_name="lambdaboost", ir_version=9, opset_imports=operators)
    about = {"features": list(names), "categories": categories}
    onnx.helper.set_model_props(proto, {key: json.dumps(value, default=str) for key, value in about.items()})
    onnx.checker.check_model(proto)
    return bytes(proto.SerializeToString())


# The function of each format, which returns the content of its file.
FORMATS: dict[str, Callable[[Any], bytes]] = {
    "onnx": _write_onnx,
    "elasticsearch": _write_json,
    "opensearch": _write_json,
    "vespa": _write_json,
    "lightgbm": _write_lightgbm,
}
