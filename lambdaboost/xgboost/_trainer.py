"""Training with XGBoost for the command line."""

from __future__ import annotations

from typing import Any

from xgboost.callback import TrainingCallback

from lambdaboost.datasets import Collection
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines.engine import OnRound, Trainer, Training, sources_of
from lambdaboost.xgboost.dmatrix import DMatrix
from lambdaboost.xgboost.training import train


class XGBoostTrainer(Trainer):
    """Trains by `lambdaboost.xgboost.train`."""

    def data(self, collection: Collection, reference: Any = None) -> Any:
        """Convert to a DMatrix."""
        q = collection.queries
        return DMatrix(
            collection.features,
            q.labels[RELEVANCE],
            group=q.sizes,
            weight=q.weight,
            sources=sources_of(collection),
            position=q.positions,
        )

    def train(self, training: Training, data: Any, valid: Any, on_round: OnRound) -> Any:
        """Train by `lambdaboost.xgboost.train`."""
        booster = train(
            {**training.params, "disable_default_eval_metric": True},
            data,
            training.rounds,
            objective=training.objective,
            leaves=training.leaves,
            evals=None if valid is None else [(valid, "valid")],
            custom_metric=training.measure,
            early_stopping_rounds=training.early_stopping,
            callbacks=[_each_round(on_round)],
            verbose_eval=False,
        )
        # XGBoost keeps the rounds after the best one, and only the Python object knows which one it was.
        return booster if training.early_stopping is None else booster[: booster.best_iteration + 1]


TRAINER = XGBoostTrainer()


def _each_round(on_round: OnRound) -> Any:
    class EachRound(TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            figures = [values for of_set in evals_log.values() for values in of_set.values()]
            on_round(float(figures[0][-1]) if figures else None)
            return False

    return EachRound()
