"""`XGBoost`: stock XGBoost for the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.cli.engine import Engine, OnRound, Training, sources_of
from lambdaboost.datasets import Collection


class XGBoost(Engine):
    """Stock XGBoost; its model files are UBJSON, or JSON if the name ends in .json."""

    name = "xgboost"
    native = "rank:ndcg"
    reserved = frozenset(
        (
            *("objective", "eval_metric", "disable_default_eval_metric", "num_boost_round", "n_estimators"),
            *("early_stopping_rounds", "seed", "random_state"),
        )
    )

    def data(self, collection: Collection, reference: Any = None) -> Any:
        """A DMatrix."""
        from lambdaboost.xgboost import DMatrix

        q = collection.queries
        return DMatrix(collection.features, q.relevance, group=q.sizes, sources=sources_of(collection))

    def train(self, training: Training, data: Any, valid: Any, on_round: OnRound) -> Any:
        """Train with `lambdaboost.xgboost.train`."""
        from lambdaboost.xgboost import train

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
        # XGBoost keeps the rounds after the best one, and only the Python object records which one that is.
        return booster if training.early_stopping is None else booster[: booster.best_iteration + 1]

    def train_native(self, params: Mapping[str, Any], data: Any, rounds: int, on_round: OnRound) -> Any:
        """Train with objective rank:ndcg."""
        import xgboost as xgb

        own = {**params, "objective": self.native, "disable_default_eval_metric": True}
        return xgb.train(own, data, rounds, callbacks=[_each_round(on_round)], verbose_eval=False)

    def scores(self, booster: Any, features: Any) -> NDArray[np.floating]:
        """Scores, float32; after early stopping those of the best round, as in XGBRanker."""
        import xgboost as xgb

        best = booster.attr("best_iteration")
        rounds = (0, 0 if best is None else int(best) + 1)
        data = xgb.DMatrix(features, feature_names=booster.feature_names)
        return np.asarray(booster.predict(data, output_margin=True, iteration_range=rounds))

    def read(self, content: bytes) -> Any:
        """UBJSON or JSON."""
        import xgboost as xgb

        return xgb.Booster(model_file=bytearray(content))

    def n_features(self, booster: Any) -> int:
        """As it says."""
        return int(booster.num_features())

    def feature_names(self, booster: Any) -> tuple[str, ...] | None:
        """Those of its training data, if any."""
        names = tuple(booster.feature_names or ())
        return None if names == tuple(f"f{i}" for i in range(len(names))) else names

    def importance(self, booster: Any) -> NDArray[np.float64]:
        """The total gain."""
        found = booster.get_score(importance_type="total_gain")
        n = self.n_features(booster)
        return np.array(
            [found.get(name, 0.0) for name in booster.feature_names or [f"f{i}" for i in range(n)]]
        )

    def n_rounds(self, booster: Any) -> int:
        """All rounds."""
        return int(booster.num_boosted_rounds())


def _each_round(on_round: OnRound) -> Any:
    from xgboost.callback import TrainingCallback

    class EachRound(TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            figures = [values for of_set in evals_log.values() for values in of_set.values()]
            on_round(float(figures[0][-1]) if figures else None)
            return False

    return EachRound()
