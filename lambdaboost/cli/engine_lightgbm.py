"""`LightGBM`: stock LightGBM for the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.cli.engine import Engine, OnRound, Training, sources_of
from lambdaboost.datasets import Collection


class LightGBM(Engine):
    """Stock LightGBM; its model files are text."""

    name = "lightgbm"
    native = "lambdarank"
    reserved = frozenset(
        (
            *(
                "objective",
                "objective_type",
                "app",
                "application",
                "loss",
                "metric",
                "metrics",
                "metric_types",
            ),
            *(
                "num_iterations",
                "num_iteration",
                "n_iter",
                "num_tree",
                "num_trees",
                "num_round",
                "num_rounds",
            ),
            *("nrounds", "num_boost_round", "n_estimators", "max_iter", "early_stopping_round"),
            *(
                "early_stopping_rounds",
                "early_stopping",
                "n_iter_no_change",
                "seed",
                "random_seed",
                "random_state",
            ),
        )
    )

    def unknown(self, key: str) -> str | None:
        """LightGBM reports unknown parameters only in its log, which is off here."""
        import lightgbm as lgb

        # Its list of names is not public; without it unknown parameters are not reported.
        names: Callable[[], dict[str, list[str]]] = getattr(
            getattr(lgb.basic, "_ConfigAliases", None), "_get_all_param_aliases", dict
        )
        known = {name for main, others in names().items() for name in (main, *others)}
        if not known or key in known:
            return None
        close = get_close_matches(key, known, 2)
        return f"did you mean {' or '.join(close)}?" if close else "see LightGBM's list of parameters"

    def data(self, collection: Collection, reference: Any = None) -> Any:
        """A Dataset."""
        from lambdaboost.lightgbm import Dataset

        q = collection.queries
        return Dataset(
            collection.features, q.relevance, reference, group=q.sizes, sources=sources_of(collection)
        )

    def train(self, training: Training, data: Any, valid: Any, on_round: OnRound) -> Any:
        """Train with `lambdaboost.lightgbm.train`."""
        import lightgbm as lgb

        from lambdaboost.lightgbm import train

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

    def train_native(self, params: Mapping[str, Any], data: Any, rounds: int, on_round: OnRound) -> Any:
        """Train with objective lambdarank."""
        import lightgbm as lgb

        own = {"verbosity": -1, **params, "objective": self.native, "metric": "None"}
        return lgb.train(own, data, rounds, callbacks=[_each_round(on_round)])

    def scores(self, booster: Any, features: Any) -> NDArray[np.floating]:
        """Raw scores, float64."""
        return np.asarray(booster.predict(features, raw_score=True))

    def read(self, content: bytes) -> Any:
        """Its text."""
        import lightgbm as lgb

        return lgb.Booster(model_str=content.decode(errors="replace"))

    def n_features(self, booster: Any) -> int:
        """As it says."""
        return int(booster.num_feature())

    def feature_names(self, booster: Any) -> tuple[str, ...] | None:
        """None for LightGBM's default names, Column_0, Column_1 and so on."""
        names = tuple(booster.feature_name())
        return None if names == tuple(f"Column_{i}" for i in range(len(names))) else names

    def importance(self, booster: Any) -> NDArray[np.float64]:
        """The total gain."""
        return np.asarray(booster.feature_importance("gain"), dtype=np.float64)

    def n_rounds(self, booster: Any) -> int:
        """The best round, or all rounds."""
        return booster.best_iteration if booster.best_iteration > 0 else booster.current_iteration()


def _each_round(on_round: OnRound) -> Callable[[Any], None]:
    def callback(env: Any) -> None:
        results = env.evaluation_result_list
        on_round(float(results[0][2]) if results else None)

    return callback
