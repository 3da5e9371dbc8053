"""`replay`: the diagnostics of a `Recorder` for a trained model."""

from __future__ import annotations

from typing import Any

import numpy as np

from lambdaboost.diagnostics._tree_scores import Predict
from lambdaboost.diagnostics.recorder import Recorder

ENGINES = "a lightgbm.Booster or an xgboost.Booster"
NOT_A_SUM = "the model is not a sum of fixed trees, as with DART: give a model of another booster"


def replay(recorder: Recorder, booster: Any) -> Recorder:
    """Record the rounds of a trained model, tree by tree, on the recorder's documents.

    λ are those of the objective at the scores before each round, ranks those after it. Give the recorder ``every=`` to
    skip rounds.

    Parameters
    ----------
    recorder : Recorder
        Made with the features and queries to score, and the objective that the model was trained with.
    booster : lightgbm.Booster or xgboost.Booster
        The model; not one of DART, whose trees are rescaled.

    Returns
    -------
    Recorder
        The same recorder; earlier records are dropped.

    Raises
    ------
    TypeError
        If `booster` is of neither engine.
    ValueError
        If it is a DART model.

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
    """The number of rounds of the model, and a function that scores a range of them."""
    engine = type(booster).__module__.split(".")[0]
    if type(booster).__name__ != "Booster" or engine not in ("lightgbm", "xgboost"):
        raise TypeError(f"booster is {type(booster).__name__}, expected {ENGINES}")
    if engine == "lightgbm":
        return booster.current_iteration(), _lightgbm(booster, recorder.features)
    return booster.num_boosted_rounds(), _xgboost(booster, recorder)


def _lightgbm(booster: Any, X: Any) -> Predict:
    if "\n[boosting: dart]" in booster.model_to_string(num_iteration=1):
        raise ValueError(NOT_A_SUM)

    def predict(first: int, last: int) -> Any:
        return booster.predict(X, start_iteration=first, num_iteration=last - first, raw_score=True)

    return predict


def _xgboost(booster: Any, recorder: Recorder) -> Predict:
    import json

    import xgboost as xgb

    if json.loads(booster.save_config())["learner"]["gradient_booster"]["name"] != "gbtree":
        raise ValueError(NOT_A_SUM)
    # Without a base margin each call would add the intercept again.
    data = xgb.DMatrix(recorder.features, base_margin=np.zeros(recorder.queries.n_documents))

    def predict(first: int, last: int) -> Any:
        return booster.predict(data, output_margin=True, iteration_range=(first, last))

    return predict
