"""Small interpreters of the formats that `lambdaboost.export` writes, after the sources of the systems that read them.

They compute in float32 where these do, and read numbers from the text of the file.
"""

import json

import numpy as np

F = np.float32


def by_plugin(content, names, X):
    """The plugins' NaiveAdditiveDecisionTree, in floats: left if threshold > x; NaN goes to `missing`."""

    def leaf(node, x):
        while "leaf" not in node:
            left, right = node["children"]
            assert (left["nodeid"], right["nodeid"]) == (node["yes"], node["no"])
            value = x[names.index(node["split"])]
            with np.errstate(over="ignore"):  # (float) 3.4028237e38 is infinity in Java
                threshold = F(node["split_condition"])
            goes_left = node["missing"] == node["yes"] if np.isnan(value) else threshold > value
            node = left if goes_left else right
        return F(node["leaf"])

    return _summed(json.loads(content), leaf, X)


def by_vespa(content, names, X):
    """Vespa's XGBoostParser: `x < t`, or `!(x >= t)` where missing values go left, compared as doubles."""

    def leaf(node, x):
        while "leaf" not in node:
            children = {child["nodeid"]: child for child in node["children"]}
            value, threshold = float(x[names.index(node["split"])]), node["split_condition"]
            condition = not value >= threshold if node["missing"] == node["yes"] else value < threshold
            node = children[node["yes"] if condition else node["no"]]
        return node["leaf"]

    return _summed(json.loads(content), leaf, X)


def by_onnx(content, names, X):
    """onnxruntime."""
    import onnxruntime

    session = onnxruntime.InferenceSession(content)
    return session.run(None, {"X": np.asarray(X, F)})[0].ravel()


def _summed(trees, leaf, X):
    return np.array([sum((leaf(tree, x) for tree in trees), start=F(0)) for x in np.asarray(X, F)])
