"""Checkpoints in `xgboost.train`, by callbacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import xgboost as xgb
from xgboost.callback import EarlyStopping, LearningRateScheduler, TrainingCallback
from xgboost.collective import is_distributed

from lambdaboost.datasets.engines import queries_of
from lambdaboost.engines.checkpoint import State, digest
from lambdaboost.engines.cluster import CHECKPOINT
from lambdaboost.engines.labels import carried
from lambdaboost.engines.plan import Plan
from lambdaboost.engines.resume import Resumed, warn_of_sampling
from lambdaboost.xgboost import newton
from lambdaboost.xgboost.dmatrix import BOUNDS, features_of

# Parameters that may differ when a training resumes.
FREE = ("nthread", "n_jobs", "verbosity")
ROWS = 100_000  # read at a time when features are compared
# Parameters that make XGBoost sample where they are not 1.
SAMPLING = ("subsample", "colsample_bytree", "colsample_bylevel", "colsample_bynode")


def resume_callbacks(
    resumed: Resumed,
    plan: Plan,
    data: xgb.DMatrix,
    evals: Sequence[tuple[xgb.DMatrix, str]],
    given: Sequence[Any],
) -> list[TrainingCallback]:
    """The callbacks `given`, called as in an uninterrupted training, and those that check and save.

    Raises on a cluster, and if the checkpoint is of another training.
    """
    if is_distributed():
        raise ValueError(CHECKPOINT)
    params = {name: value for name, value in plan.params.items() if name not in FREE}
    if params.get("booster") == "dart":
        raise ValueError(
            "checkpoint with booster='dart': XGBoost would drop other trees after it resumes; "
            "train without checkpoint, or with booster='gbtree'"
        )
    digests = {"number of features": str(data.num_col()), "features": _digest(data)} | {
        f"validation data {name!r}": _digest(matrix) for matrix, name in evals if matrix is not data
    }
    resumed.check(plan, params, queries_of(data, plan.rule.sources), digests)
    sampling = [name for name in SAMPLING if float(params.get(name, 1)) != 1]
    if params.get("lambdarank_pair_method") == "mean":
        sampling.append("lambdarank_pair_method='mean'")
    warn_of_sampling(sampling)
    in_rounds = [cb if resumed.begin == 0 else _InRounds(cb, resumed.begin) for cb in given]
    # Saving comes last: a training that has ended need not be resumed.
    return [_Begin(resumed, data, given), *in_rounds, _Save(resumed, data)]


class _InRounds(TrainingCallback):
    """A callback, called as in an uninterrupted training; XGBoost itself counts rounds from 0 again."""

    def __init__(self, callback: Any, begin: int) -> None:
        super().__init__()
        if not isinstance(callback, TrainingCallback):
            raise TypeError(f"callbacks has {callback!r}, expected xgboost.callback.TrainingCallback")
        self.callback = callback
        # Early stopping itself adds the rounds of a continued model.
        self.begin = 0 if isinstance(callback, EarlyStopping) else begin

    def before_training(self, model: Any) -> Any:
        return self.callback.before_training(model)

    def after_training(self, model: Any) -> Any:
        return self.callback.after_training(model)

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        return self.callback.before_iteration(model, self.begin + epoch, evals_log)

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        return self.callback.after_iteration(model, self.begin + epoch, evals_log)


class _Begin(TrainingCallback):
    """Checks features and measures, and replays the rounds of the checkpoint to the engine's own callbacks."""

    def __init__(self, resumed: Resumed, data: xgb.DMatrix, given: Sequence[Any]) -> None:
        super().__init__()
        self.resumed, self.data, self.given = resumed, data, given

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        if epoch == 0 and self.resumed.state is not None:
            self.resumed.check_scores(_scores(model, self.data))
            self._replay(model, self.resumed.state, evals_log)
        return False

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        if epoch == 0 and self.resumed.state is not None:
            before, after = _lengths(self.resumed.history), _lengths(evals_log)
            now = [name for name, length in after.items() if length > before.get(name, 0)]
            self.resumed.check_evaluated(list(before), now)
        return False

    def _replay(self, model: Any, state: State, evals_log: Any) -> None:
        figures = [
            (evals_log.setdefault(data, {}).setdefault(metric, []), values)
            for data, of_data in state.history.items()
            for metric, values in of_data.items()
        ]
        for past in range(state.rounds):
            for log, values in figures:
                log.append(values[past])
            for callback in self.given:
                if isinstance(callback, EarlyStopping):
                    callback.after_iteration(model, past - state.rounds, evals_log)
                elif isinstance(callback, LearningRateScheduler):
                    callback.after_iteration(model, past, evals_log)


class _Save(TrainingCallback):
    """Saves the checkpoint."""

    def __init__(self, resumed: Resumed, data: xgb.DMatrix) -> None:
        super().__init__()
        self.resumed, self.data = resumed, data

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        done = self.resumed.begin + epoch + 1
        if self.resumed.is_due(done):
            self.resumed.save(done, model, evals_log, _scores(model, self.data))
        return False


def _digest(data: xgb.DMatrix) -> str:
    """The digest of a matrix: features, labels, queries, weights, margins and further sources and positions."""
    fields = [data.get_float_info(name) for name in (*BOUNDS, "label", "weight", "base_margin")]
    queries = data.get_uint_info("group_ptr")
    described = repr((data.num_row(), data.feature_names, data.feature_types))
    parts = [digest(*features) for features in _features(data)]
    return digest(described, *parts, *fields, queries, carried(data))


def _features(data: xgb.DMatrix) -> Iterator[tuple[Any, ...]]:
    """The features, some rows at a time; for data in external memory, their quantiles."""
    try:
        if isinstance(data, xgb.QuantileDMatrix):  # cannot be sliced
            yield _arrays(data.get_data())
            return
        for start in range(0, data.num_row(), ROWS):
            rows = np.arange(start, min(start + ROWS, data.num_row()))
            yield _arrays(features_of(data, rows))
    except xgb.core.XGBoostError:
        yield data.get_quantile_cut()


def _arrays(matrix: Any) -> tuple[Any, ...]:
    return matrix.indptr, matrix.indices, matrix.data


def _lengths(history: Any) -> dict[str, int]:
    """The number of evaluated rounds of each set and measure."""
    return {f"{data} {metric}": len(log) for data, of in history.items() for metric, log in of.items()}


def _scores(model: Any, data: xgb.DMatrix) -> Any:
    return newton.first_column(model.predict(data, output_margin=True))
