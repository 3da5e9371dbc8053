"""Scores of documents as a model of either engine grows; engines are imported only when used."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._installed import package
from lambdaboost.engines.engine import engine_of

# The sum of trees first:last for each document.
Predict = Callable[[int, int], NDArray[Any]]
# Receives the number of rounds of the model after a round, and how to score them.
OnRound = Callable[[int, Predict], None]

NOT_A_SUM = (
    "the model is not a sum of fixed trees: DART rescales earlier trees every round, and gblinear has none; "
    "train with another booster"
)
ONE_BOOSTER = (
    "the recorder follows one booster, but this is a cross-validation: record a training on one fold"
)


def of_model(booster: Any, X: Any) -> tuple[int, Predict]:
    """The number of rounds of a booster, and a function that scores a range of them."""
    engine = engine_of(booster)
    if engine is None:
        raise TypeError(
            f"booster is {type(booster).__name__}, expected a lightgbm.Booster or an xgboost.Booster"
        )
    if engine == "xgboost":
        return booster.num_boosted_rounds(), _of_xgboost(booster, X)
    if "[boosting: dart]" in booster.model_to_string(num_iteration=1):
        raise ValueError(NOT_A_SUM)
    return booster.current_iteration(), _of_lightgbm(booster, X)


def xgboost_callback(X: Any, start: Callable[[int], None], on_round: OnRound) -> Any:
    """A callback of `xgboost.train` that calls `start` with the rounds of the first model, then `on_round`."""
    package("xgboost")
    from xgboost import Booster
    from xgboost.callback import TrainingCallback

    class Follower(TrainingCallback):
        """Reports each round."""

        def before_training(self, model: Any) -> Any:
            """Check the booster and begin."""
            if not isinstance(model, Booster):
                raise TypeError(ONE_BOOSTER)
            rounds, self.predict = of_model(model, X)
            start(rounds)
            return model

        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            """Report the round; never stop."""
            on_round(model.num_boosted_rounds(), self.predict)
            return False

    return Follower()


def _of_lightgbm(booster: Any, X: Any) -> Predict:
    def predict(first: int, last: int) -> Any:
        return booster.predict(X, start_iteration=first, num_iteration=last - first, raw_score=True)

    return predict


def _of_xgboost(booster: Any, X: Any) -> Predict:
    import xgboost as xgb

    learner = json.loads(booster.save_config())["learner"]
    if learner["gradient_booster"]["name"] != "gbtree":
        raise ValueError(NOT_A_SUM)
    # Without a base margin each call would add the intercept again; Newton leaves are trained with a second score.
    scores = int(learner["learner_model_param"]["num_target"])
    margin = np.zeros((X.shape[0], scores))
    data = xgb.DMatrix(X, base_margin=margin if scores > 1 else margin[:, 0])

    def predict(first: int, last: int) -> Any:
        return booster.predict(data, output_margin=True, iteration_range=(first, last))

    return predict
