"""How the recorder hears from each engine; neither is imported before it is used."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from lambdaboost.diagnostics._tree_scores import Predict

if TYPE_CHECKING:
    from lambdaboost.diagnostics.recorder import Recorder

DART = "a DART booster rescales its earlier trees every round, so their scores cannot be added up: train with another"
ONE_BOOSTER = (
    "the recorder follows one booster and this is a cross-validation: record a training on one fold instead"
)


def lightgbm_trees(env: Any, X: Any) -> tuple[int, Predict]:
    """The trees of the model in a LightGBM callback, and what gives their scores."""
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


def xgboost_callback(recorder: Recorder) -> Any:
    """A callback for ``callbacks=[…]`` of xgboost.train that reports to the recorder."""
    import xgboost as xgb

    from lambdaboost.xgboost._private import trained

    class RecorderCallback(xgb.callback.TrainingCallback):
        """Hands each round to the recorder that it belongs to."""

        def before_training(self, model: Any) -> Any:
            """Check the booster and start afresh."""
            if trained(model, None)[0][0] is not model:
                raise TypeError(ONE_BOOSTER)
            config = json.loads(model.save_config())
            if config["learner"]["gradient_booster"]["name"] == "dart":
                raise ValueError(DART)
            # Without a margin each call would add the intercept again.
            # Newton leaves train with a second score.
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
