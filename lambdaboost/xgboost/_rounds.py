"""The boosting round in `xgboost.train` and `xgboost.cv`, told to an objective through a callback."""

from __future__ import annotations

from typing import Any

from xgboost.callback import TrainingCallback

from lambdaboost.engines.rounds import ToldRounds


class TellRounds(TrainingCallback):
    """Says which booster trains on which data. XGBoost counts rounds itself, those without a split included."""

    def __init__(self, told: ToldRounds, data: Any) -> None:
        super().__init__()
        self.told, self.data = told, data

    def before_training(self, model: Any) -> Any:
        folds = getattr(model, "cvfolds", None)
        trained = [(model, self.data)] if folds is None else [(fold.bst, fold.dtrain) for fold in folds]
        for booster, data in trained:
            self.told.begin(booster, data)
        return model
