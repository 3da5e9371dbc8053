"""The trainings of a search: in this process, or in processes of one thread each."""

from __future__ import annotations

import signal
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._threads import using_one
from lambdaboost.datasets import Collection
from lambdaboost.engines.engine import Training, engine_named
from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.train import fit
from lambdaboost.evaluation.comparison.significance import one_sided_p
from lambdaboost.tuning.candidates import Candidate
from lambdaboost.tuning.request import Request
from lambdaboost.tuning.trial import Trial, means_of

# One thread for each training: the processors go to different trainings.
ALWAYS: Mapping[str, Mapping[str, Any]] = {
    "lightgbm": {"num_threads": 1, "feature_pre_filter": False, "verbosity": -1},
    "xgboost": {"nthread": 1, "tree_method": "hist"},
}
THREADS = {"num_threads", "num_thread", "nthread", "nthreads", "n_jobs"}
CLEARLY = 0.05  # the one-sided p-value at which a trial is left after some of its folds

Values = NDArray[np.float64]
# Hands a trial to a worker, with the best trial's values by query or None, and the time when the search ends.
Submit = Callable[[Trial, Values | None, float], Future[Trial]]
_here: dict[str, Trainings] = {}  # a pool hands its workers nothing but what their initializer keeps


class Late(Exception):
    """Raised when the search runs out of time."""


@dataclass(eq=False)
class Trainings:
    """Runs the trials of a request in this process: data are binned once, settings change."""

    request: Request
    _data: dict[tuple[str, int], tuple[Any, Any]] = field(default_factory=dict)

    def run(self, trial: Trial, rival: Values | None = None, until: float = float("inf")) -> Trial:
        """Train and measure a trial fold by fold, and leave it where it is clearly worse than its rival so far."""
        start = time.perf_counter()
        request = self.request
        engine = engine_named(request.candidates[trial.candidate].engine)
        values = np.full((len(request.measures), request.weight.size), np.nan)
        rounds: list[int] = []
        state = "complete"
        with using_one(), warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            for number, fold in enumerate(request.parts):
                if number and clearly_worse(values[0], rival, request.weight):
                    state = "pruned"
                    break
                try:
                    booster = self._trained(trial, number, until)
                except Late:
                    state = "late"
                    break
                rounds.append(engine.n_rounds(booster))
                scores = engine.scores(booster, fold.valid.features)
                measured = (measure.per_query(scores, fold.valid.queries) for measure in request.measures)
                values[:, fold.queries] = list(measured)
        said = dict.fromkeys(str(w.message) for w in heard if issubclass(w.category, UserWarning))
        return replace(
            trial,
            state=state,
            values=values,
            means=means_of(values, request.weight),
            rounds=tuple(rounds),
            seconds=time.perf_counter() - start,
            warnings=tuple(said),
        )

    def _trained(self, trial: Trial, number: int, until: float) -> Any:
        request, candidate = self.request, self.request.candidates[trial.candidate]
        training = Training(
            candidate.objective_with(trial.knobs),
            candidate.leaves,
            request.rounds,
            full_params(request, candidate, trial.knobs),
            request.measures[0],
            request.patience,
        )

        def on_round(_: float | None) -> None:
            if time.time() > until:
                raise Late

        train, valid = self._engine_data(candidate.engine, number)
        return fit(engine_named(candidate.engine), training, train, valid, on_round)

    def _engine_data(self, engine: str, number: int) -> tuple[Any, Any]:
        """A fold as the engine's data sets, made once: LightGBM keeps its bins, XGBoost its quantiles."""
        if (engine, number) not in self._data:
            request, stock = self.request, engine_named(engine)
            fold = request.parts[number]
            train, valid = fold.train, fold.valid
            if not request.trains_by_position:
                train = train.without_positions()
                if not any(measure.reads_positions for measure in request.measures):
                    valid = valid.without_positions()
            data = stock.data(train)
            self._data[engine, number] = data, stock.data(valid, reference=data)
        return self._data[engine, number]


@contextmanager
def submitting(request: Request, workers: int) -> Iterator[Submit]:
    """A function that hands a trial to a worker; an exception in the block ends the workers at once."""
    if workers == 1:
        trainings = Trainings(request)

        def at_once(*given: Any) -> Future[Trial]:
            done: Future[Trial] = Future()
            done.set_result(trainings.run(*given))
            return done

        yield at_once
        return
    from joblib.externals.loky import ProcessPoolExecutor

    # New processes, which need no ``if __name__ == "__main__"`` in the calling script; each splits the data itself.
    environment = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
    pool: Any = ProcessPoolExecutor(workers, initializer=_begin, initargs=(request,), env=environment)
    try:
        yield lambda *given: pool.submit(_run, *given)
    except BaseException:
        pool.shutdown(kill_workers=True)
        raise
    pool.shutdown()


def _begin(request: Request) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends its workers
    _here["trainings"] = Trainings(request)


def _run(*given: Any) -> Trial:
    return _here["trainings"].run(*given)


def train_alone(
    engine: str, objective: Any, leaves: Leaves, params: Mapping[str, Any], rounds: int, data: Collection
) -> Any:
    """Train for exactly these rounds."""
    trainer = engine_named(engine)
    with using_one():
        training = Training(objective, leaves, rounds, params)
        return fit(trainer, training, trainer.data(data), None, lambda _: None)


def full_params(request: Request, candidate: Candidate, values: Mapping[str, float]) -> dict[str, Any]:
    """All parameters that a training hands to its engine."""
    always = dict(ALWAYS[candidate.engine])
    if THREADS & set(request.params):
        always = {name: value for name, value in always.items() if name not in THREADS}
    return {"seed": request.seed, **always, **request.space.params(candidate, values), **request.params}


def clearly_worse(values: Values, rival: Values | None, weight: Values) -> bool:
    """Whether a trial is significantly worse than its rival on the queries that it has values of."""
    if rival is None:
        return False
    difference = values - rival
    known = ~np.isnan(difference) & (weight > 0)
    return bool(known.any() and one_sided_p(-difference[known], weight[known]) < CLEARLY)
