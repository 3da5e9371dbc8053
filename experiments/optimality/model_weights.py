"""The weights of any model that offers them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from experiments.optimality.leaf_weights import lightgbm_weights, xgboost_weights
from experiments.optimality.weights import LinearWeights, Weights
from lambdaboost import Queries


def weights_of(model: Any, X: Any, q: Queries) -> Weights:
    """The weights of a linear model, a LightGBM booster or an XGBoost booster, or of an estimator that holds one.

    Raises
    ------
    TypeError
        Where the model offers no weights, or `X` or `q` are of another kind.
    ValueError
        Where `X` has other rows than `q` or other columns than the model, scores are not the sum of the weights, or
        one is not finite.

    """
    if not isinstance(q, Queries):
        raise TypeError(f"q is {type(q).__name__}, expected lambdaboost.Queries(relevance, sizes=…)")
    if not hasattr(X, "shape") or len(X.shape) != 2:
        raise TypeError(
            f"X is {type(X).__name__}: give a two-dimensional array, CSR matrix or DataFrame of features"
        )
    if X.shape[0] != q.n_documents:
        raise ValueError(f"X has {X.shape[0]} rows, q has {q.n_documents} documents: give one row each")
    weights = _reader(model)(model, X)
    q.scores(weights.scores)
    return weights


def _reader(model: Any) -> Callable[[Any, Any], Weights]:
    """What reads the weights of such a model; neither engine is imported to find out."""
    if hasattr(model, "get_leaf_output") or hasattr(model, "booster_"):
        return lightgbm_weights
    if hasattr(model, "save_raw") or hasattr(model, "get_booster"):
        return xgboost_weights
    if hasattr(model, "coef_"):
        return lambda model, X: LinearWeights(model.coef_, X)
    raise TypeError(
        f"model is {type(model).__name__}, which has no readable weights: give a trained linear model with coef_, "
        "or a LightGBM or XGBoost booster or ranker"
    )
