"""`merge`: several models of one engine as one stock model, whose raw score is a weighted sum of theirs.

A model of trees is a sum, so a weighted sum of models is one model again: the trees of all, each with its leaves times
the weight of its model. Both engines write their trees as text that reads back exactly, LightGBM in its own format and
XGBoost in JSON; the text of the merged model is put together from those of its members. Neither engine offers this with
weights: LightGBM's private ``LGBM_BoosterMerge`` appends trees as they are, whatever features and categories they have.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lambdaboost._checks import check_number
from lambdaboost.engines import engine_of, refusal
from lambdaboost.saving import as_saved

LARGEST = 1e100  # of a weight, so that sums of weighted leaves are finite in float64


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
        so on. Gain importance is the unweighted sum over the members. For rankers, a copy of the first one that holds
        the merged booster; its `fit` trains a new model with the parameters of the first. `objective_` says what was
        merged, and `save` writes it into the description.

    Raises
    ------
    TypeError
        If `models` are not boosters of one engine or rankers of one class, or a weight is no number.
    ValueError
        Before anything is merged: for models of other engines, features or categories; linear models of XGBoost; random
        forests beside boosted trees; several scores per row; rankers that differ in how they read a table; and for
        weights that are beyond ±1e100, not finite or all zero.

    Notes
    -----
    Features are matched by name and categories by value, so their order may differ between models; that of the first
    counts. Models without names need the same number of features. LightGBM's random forest predicts the mean of
    its trees; that mean is its raw score. XGBoost before 3.1 stores no values of categories: boosters must have been
    trained with the same codes.

    The sum is exact to rounding, relative to the range of the scores: to 1e-12 with LightGBM, whose leaves are float64.
    XGBoost's leaves are float32, so that the merged ones are exact to 1e-8, and it adds them up in float32, tree after
    tree: with 1,000 trees its predictions are off by about 1e-6, and rounding differs between the merged model and the
    sum of its members.

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
    members = [as_saved(model) for model in models]
    boosters, stock = [member.booster for member in members], members[0].engine
    for at, booster in enumerate(boosters):
        try:
            stock.feature_names(booster)
        except Exception as error:
            if (said := refusal(error)) is None:
                raise
            raise ValueError(
                f"models[{at}] was not trained ({said}): train it, or load a model file"
            ) from None
    booster = stock.merged(boosters, factors, [member.categories for member in members])
    objectives = tuple(getattr(model, "objective_", None) for model in models)
    objective = Merged(objectives, tuple(factors), stock.n_rounds(booster))
    if members[0].booster is models[0]:
        booster.objective_ = objective
        return booster
    # A copy of the first ranker with the merged booster, and nothing that its own training left behind.
    merged = copy.copy(models[0])
    stock.set_booster(merged, booster, {})
    merged._fitted_objective = objective
    return merged


class Merged(NamedTuple):
    """The members of a merged model and their weights, in place of the objective that a training has.

    Attributes
    ----------
    objectives : tuple
        The objectives of the models; None for a booster, which does not know its own.
    weights : tuple of float
        Their weights.
    rounds : int
        The rounds of all of them together, whose trees are what serving the model costs.

    """

    objectives: tuple[Any, ...]
    weights: tuple[float, ...]
    rounds: int


def _check_arguments(models: Any, weights: Any) -> tuple[list[Any], list[float]]:
    """The models, of one kind and engine, and a finite weight for each."""
    if engine_of(models) or isinstance(models, str | Mapping) or not hasattr(models, "__len__"):
        raise TypeError(
            f"models is of type {type(models).__name__}: give a list, such as merge([first, second], …)"
        )
    models = list(models)
    if len(models) < 2:
        raise ValueError(f"models has {len(models)}: give two or more")
    # One kind: boosters of one engine, or rankers of one class.
    for at, model in enumerate(models):
        ranker = hasattr(model, "_engine")
        if not ranker and engine_of(model) is None:
            raise TypeError(
                f"models[{at}] is of type {type(model).__name__}: give boosters of LightGBM or XGBoost, or fitted "
                "LambdaRankers; of other estimators give booster_ or get_booster(), of loaded models booster"
            )
        if ranker and not hasattr(model, "_fitted"):
            raise ValueError(f"models[{at}] is not fitted: fit it first")
        if type(model) is not type(models[0]):
            kinds = [f"{type(one).__module__}.{type(one).__name__}" for one in (models[0], model)]
            raise TypeError(
                f"models[0] is {kinds[0]}, models[{at}] {kinds[1]}: trees of different engines or classes cannot "
                "be one model; add up their scores instead, or train all on one engine"
            )
        for name in ("query", "unseen", "missing") if ranker else ():  # how both read a table
            a, b = (repr(getattr(one, name, None)) for one in (models[0], model))
            if a != b:
                raise ValueError(
                    f"{name} is {a} in models[0] and {b} in models[{at}]: the merged ranker has one; fit both with the "
                    f"same {name}="
                )
    if not hasattr(weights, "__len__") or isinstance(weights, str):
        raise TypeError(f"weights is {weights!r}: give one number for each model")
    if len(weights) != len(models):
        raise ValueError(
            f"weights has {len(weights)} values, models has {len(models)}: give one for each model"
        )
    factors = [float(check_number(f"weights[{at}]", w, -LARGEST, LARGEST)) for at, w in enumerate(weights)]
    if not any(factors):
        raise ValueError(f"weights is {factors}: give at least one weight that is not 0")
    return models, factors
