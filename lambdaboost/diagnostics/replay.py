"""`replay`: what a `Recorder` would have recorded while a finished model was trained."""

from __future__ import annotations

from typing import Any

import numpy as np

from lambdaboost.diagnostics._tree_scores import Predict
from lambdaboost.diagnostics.recorder import Recorder

ENGINES = "a lightgbm.Booster or an xgboost.Booster"
NOT_A_SUM = "the model is no sum of trees that stayed as they were grown, as DART's are not: give another"


def replay(recorder: Recorder, booster: Any) -> Recorder:
    """Record the rounds of a finished model, tree by tree, on the recorder's documents.

    λ are those that the objective had on these documents at the scores of the round, ranks those after it. Give the
    recorder ``every=`` for less than every round.

    Parameters
    ----------
    recorder : Recorder
        Made with the features and queries to follow the model on, and the objective that it was trained with.
    booster : lightgbm.Booster or xgboost.Booster
        The model; its trees must add up, so no DART model.

    Returns
    -------
    Recorder
        The same, which has forgotten what it held before.

    Raises
    ------
    TypeError
        Where `booster` is of no known engine.
    ValueError
        Where it is a DART model.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaboost import LambdaRank, Queries
    >>> from lambdaboost.diagnostics import Recorder
    >>> from lambdaboost.lightgbm import Dataset, train
    >>> X, q = np.arange(8.0)[:, None], Queries([0, 0, 1, 1, 0, 0, 1, 1], sizes=[4, 4])
    >>> parameters = {"min_data_in_leaf": 1, "min_data_in_bin": 1, "verbose": -1}
    >>> booster = train(parameters, Dataset(X, q.relevance, group=q.sizes), rounds=2)
    >>> replay(Recorder(X, q, LambdaRank(), grades=(1,), every=1), booster).frame()["NDCG(k=3)"].tolist()
    [1.0, 1.0]

    """
    if not isinstance(recorder, Recorder):
        raise TypeError(f"recorder is {type(recorder).__name__}, expected a Recorder(X, q, objective)")
    rounds, predict = _rounds(booster, recorder)
    recorder.start(0)
    for round_ in range(rounds):
        recorder.round_done(round_, round_ + 1, predict)
    return recorder


def _rounds(booster: Any, recorder: Recorder) -> tuple[int, Predict]:
    """How many rounds the model has, and what gives the scores of some of them."""
    engine = type(booster).__module__.split(".")[0]
    if type(booster).__name__ != "Booster" or engine not in ("lightgbm", "xgboost"):
        raise TypeError(f"booster is {type(booster).__name__}, expected {ENGINES}")
    if engine == "lightgbm":
        return booster.current_iteration(), _lightgbm(booster, recorder.features)
    return booster.num_boosted_rounds(), _xgboost(booster, recorder)


def _lightgbm(booster: Any, X: Any) -> Predict:
    from lambdaboost.lightgbm._private import parameters_of

    if parameters_of(booster).get("boosting") == "dart":
        raise ValueError(NOT_A_SUM)

    def predict(first: int, last: int) -> Any:
        return booster.predict(X, start_iteration=first, num_iteration=last - first, raw_score=True)

    return predict


def _xgboost(booster: Any, recorder: Recorder) -> Predict:
    import json

    import xgboost as xgb

    if json.loads(booster.save_config())["learner"]["gradient_booster"]["name"] != "gbtree":
        raise ValueError(NOT_A_SUM)
    # Without a margin each call would add the intercept again.
    data = xgb.DMatrix(recorder.features, base_margin=np.zeros(recorder.queries.n_documents))

    def predict(first: int, last: int) -> Any:
        return booster.predict(data, output_margin=True, iteration_range=(first, last))

    return predict
