"""Training with LightGBM for the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lightgbm as lgb

from lambdaboost.datasets import Collection
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines.engine import OnRound, Trainer, Training, sources_of
from lambdaboost.lightgbm.dataset import Dataset
from lambdaboost.lightgbm.training import train


class LightGBMTrainer(Trainer):
    """Trains by `lambdaboost.lightgbm.train`."""

    def data(self, collection: Collection, reference: Any = None) -> Any:
        """Convert to a Dataset."""
        q = collection.queries
        return Dataset(
            collection.features,
            q.labels[RELEVANCE],
            reference,
            group=q.sizes,
            weight=q.weight,
            sources=sources_of(collection),
            position=q.positions,
        )

    def train(self, training: Training, data: Any, valid: Any, on_round: OnRound) -> Any:
        """Train by `lambdaboost.lightgbm.train`."""
        callbacks: list[Any] = [_each_round(on_round)]
        if training.early_stopping is not None:
            callbacks.append(lgb.early_stopping(training.early_stopping, verbose=False))
        return train(
            {"verbosity": -1, **training.params, "metric": "None"},
            data,
            training.rounds,
            objective=training.objective,
            leaves=training.leaves,
            valid_sets=None if valid is None else [valid],
            valid_names=None if valid is None else ["valid"],
            feval=training.measure,
            callbacks=callbacks,
        )


TRAINER = LightGBMTrainer()


def _each_round(on_round: OnRound) -> Callable[[Any], None]:
    def callback(env: Any) -> None:
        results = env.evaluation_result_list
        on_round(float(results[0][2]) if results else None)

    return callback
