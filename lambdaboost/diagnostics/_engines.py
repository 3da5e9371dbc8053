"""Callbacks that connect the recorder to each engine; engines are imported only when used."""

from __future__ import annotations

import json
from typing import Any, Protocol

import numpy as np

from lambdaboost._installed import engine_package
from lambdaboost.datasets import Queries
from lambdaboost.diagnostics._tree_scores import Predict

DART = "a DART booster rescales its earlier trees every round, so scores do not add up: train with another booster"
ONE_BOOSTER = (
    "the recorder follows one booster, but this is a cross-validation: record a training on one fold"
)


class Follower(Protocol):
    """The interface that receives each round, such as a `Recorder`."""

    features: Any
    queries: Queries

    def start(self, trees: int) -> None:
        """Begin with a model of `trees` trees."""

    def round_done(self, iteration: int, trees: int, predict: Predict) -> None:
        """Receive a round."""


def lightgbm_trees(env: Any, X: Any) -> tuple[int, Predict]:
    """The number of trees of the model in a LightGBM callback, and a function that scores them."""
    model = env.model
    if hasattr(model, "boosters"):
        raise TypeError(ONE_BOOSTER)
    if env.iteration == env.begin_iteration and "dart" in (
        env.params.get(n) for n in ("boosting", "boosting_type", "boost")
    ):
        raise ValueError(DART)

    def predict(first: int, last: int) -> Any:
        return model.predict(X, start_iteration=first, num_iteration=last - first, raw_score=True)

    return model.current_iteration(), predict


def xgboost_callback(recorder: Follower) -> Any:
    """A callback for ``callbacks=[…]`` of xgboost.train that reports to the recorder."""
    engine_package("xgboost")
    import xgboost as xgb

    from lambdaboost.xgboost._private import trained

    class RecorderCallback(xgb.callback.TrainingCallback):
        """Passes each round to its recorder."""

        def before_training(self, model: Any) -> Any:
            """Check the booster and reset the recorder."""
            if trained(model, None)[0][0] is not model:
                raise TypeError(ONE_BOOSTER)
            config = json.loads(model.save_config())
            if config["learner"]["gradient_booster"]["name"] == "dart":
                raise ValueError(DART)
            # Without a base margin each call would add the intercept again.
            # Newton leaves are trained with a second score.
            scores = int(config["learner"]["learner_model_param"]["num_target"])
            margin = np.zeros((recorder.queries.n_documents, scores))
            self.data = xgb.DMatrix(recorder.features, base_margin=margin if scores > 1 else margin[:, 0])
            recorder.start(model.num_boosted_rounds())
            return model

        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            """Record the round; never stop."""

            def predict(first: int, last: int) -> Any:
                return model.predict(self.data, output_margin=True, iteration_range=(first, last))

            trees = model.num_boosted_rounds()
            recorder.round_done(trees - 1, trees, predict)
            return False

    return RecorderCallback()
