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

from lambdaboost._installed import engine_named, package, refusal
from lambdaboost._threads import using
from lambdaboost.datasets import Collection
from lambdaboost.tuning.candidates import Candidate
from lambdaboost.tuning.request import Request
from lambdaboost.tuning.rounds import Curve
from lambdaboost.tuning.study import quiet
from lambdaboost.tuning.trial import Trial, means_of

# One thread for each training: the processors go to different trainings.
ALWAYS: Mapping[str, Mapping[str, Any]] = {
    "lightgbm": {"num_threads": 1, "feature_pre_filter": False, "verbosity": -1},
    "xgboost": {"nthread": 1, "tree_method": "hist"},
}
THREADS = {"num_threads", "num_thread", "nthread", "nthreads", "n_jobs"}
FEW = 5  # queries that a check of the parameters trains on
CLEARLY = 0.05  # the one-sided p-value at which a setting is left after some of its folds

Values = NDArray[np.float64]
# Hands a trial to a worker, with the best trial's values by query or None, and the time when the search ends.
Submit = Callable[[Trial, Values | None, float], Future[Trial]]
_here: dict[str, Trainings] = {}  # a pool hands its workers nothing but what their initializer keeps


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread for lambdaboost's kernels and for the engines' predictions, in this block."""
    from threadpoolctl import threadpool_limits

    with using(1), threadpool_limits(1):
        yield


class Late(Exception):
    """Raised when the search runs out of time."""


@dataclass(eq=False)
class Trainings:
    """Runs the trials of a request in this process: data are binned once, settings change."""

    request: Request
    on_fold: Callable[[float], None] = lambda _: (
        None
    )  # gets the mean seconds of the folds of a setting so far
    _data: dict[tuple[str, int], tuple[Any, Any]] = field(default_factory=dict)

    def run(self, trial: Trial, rival: Values | None = None, until: float = float("inf")) -> Trial:
        """Train and measure a setting fold by fold, until it is clearly worse than its rival."""
        start = time.perf_counter()
        request = self.request
        engine = engine_named(request.candidates[trial.candidate].engine)
        values, curve = np.full((len(request.measures), request.weight.size), np.nan), Curve()
        boosters: list[Any] = []
        state = "complete"
        with one_thread(), warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            for number in range(len(request.parts)):
                if number and is_worse(values[0], rival, request.weight):
                    state = "pruned"
                    break
                try:
                    booster, curve = self._trained(trial, number, curve, until)
                except Late:
                    state = "late"
                    break
                boosters.append(booster)
                for model, fold in zip(boosters, request.parts, strict=False):
                    scores = engine.scores(model, fold.valid.features, curve.best)
                    measured = (measure.per_query(scores, fold.valid.queries) for measure in request.measures)
                    values[:, fold.queries] = list(measured)
                self.on_fold((time.perf_counter() - start) / len(boosters))
        said = dict.fromkeys(str(w.message) for w in heard if issubclass(w.category, UserWarning))
        return replace(
            trial,
            state=state,
            values=values,
            means=means_of(values, request.weight),
            folds=len(boosters),
            rounds=curve.best,
            seconds=time.perf_counter() - start,
            warnings=tuple(said),
        )

    def _trained(self, trial: Trial, number: int, before: Curve, until: float) -> tuple[Any, Curve]:
        """The booster of a fold, and the curve of this fold and those before."""
        request, candidate = self.request, self.request.candidates[trial.candidate]
        # The first fold ends by its own curve, and no other goes on beyond it.
        patience = request.patience * (2 if request.each > 1 and not before.values else 1)
        weight = self._weight(number)
        own: list[float] = []

        def on_round(value: float | None) -> bool:
            if time.time() > until:
                raise Late
            own.append(np.nan if value is None else value)
            return not weight or before.joined(own, weight).stalls(patience)

        train, valid = self._engine_data(candidate.engine, number)
        booster = engine_named(candidate.engine).boost(
            candidate.objective_with(trial.knobs),
            full_params(request, candidate, trial.knobs),
            len(before.values) or request.rounds,
            train,
            valid,
            request.measures[0],
            on_round=on_round,
        )
        return booster, before.joined(own, weight)

    def _weight(self, number: int) -> float:
        """The weight of the queries of a fold that the first measure has a value for."""
        q = self.request.parts[number].valid.queries
        values = self.request.measures[0].per_query(np.zeros(q.n_documents), q)
        return float(q.query_weight[~np.isnan(values)].sum())

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
            data = stock.dataset(train)
            self._data[engine, number] = data, stock.dataset(valid, reference=data)
        return self._data[engine, number]


@contextmanager
def submitting(request: Request, workers: int, on_fold: Callable[[float], None]) -> Iterator[Submit]:
    """A function that hands a trial to a worker; an exception in the block ends the workers at once.

    `on_fold` is called only in this process, where there is one worker.
    """
    if workers == 1:
        trainings = Trainings(request, on_fold)

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


def train_alone(engine: str, objective: Any, params: Mapping[str, Any], rounds: int, data: Collection) -> Any:
    """Train for exactly these rounds."""
    stock = engine_named(engine)
    with one_thread():
        return stock.boost(objective, params, rounds, stock.dataset(data))


def check_params(request: Request) -> None:
    """Raise where an engine refuses the fixed parameters: each candidate is trained for a round on a few queries."""
    q = request.train.queries
    few = request.train.take(np.argsort(-q.query_weight, kind="stable")[:FEW])
    for candidate in request.candidates if request.params else ():
        start = request.space.values(candidate, request.space.start(candidate))
        params = full_params(request, candidate, start)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                train_alone(candidate.engine, candidate.objective, params, 1, few)
        except Exception as error:
            said = refusal(error)
            if said is None and not isinstance(error, ValueError | TypeError):
                raise
            said = str(error) if said is None else f"{said}; correct the parameter, or leave it out"
            raise ValueError(f"params, with objective {candidate.name}: {said}") from None


def full_params(request: Request, candidate: Candidate, values: Mapping[str, float]) -> dict[str, Any]:
    """All parameters that a training hands to its engine."""
    always = dict(ALWAYS[candidate.engine])
    if THREADS & set(request.params):
        always = {name: value for name, value in always.items() if name not in THREADS}
    return {"seed": request.seed, **always, **request.space.params(candidate, values), **request.params}


def is_worse(values: Values, rival: Values | None, weight: Values) -> bool:
    """Whether Optuna's Wilcoxon pruner leaves a setting after some folds, by its values of their queries.

    The signed-rank test takes no weights. Each value is multiplied by the weight of its query, so that a difference
    counts by its weight: where settings are equal it is as often positive as negative, whatever the weight.
    """
    if rival is None:
        return False
    optuna = package("optuna")
    relative = weight / weight[weight > 0].mean()

    def steps(given: Values) -> dict[int, float]:
        known = np.flatnonzero(~np.isnan(given) & ~np.isnan(rival) & (weight > 0))
        return dict(zip(known.tolist(), (relative * given)[known].tolist(), strict=True))

    running = optuna.trial.TrialState.RUNNING
    with quiet():
        study = optuna.create_study(direction="maximize")
        study.add_trial(optuna.trial.create_trial(value=0.0, intermediate_values=steps(rival)))
        shown = optuna.trial.create_trial(state=running, intermediate_values=steps(values))
        return bool(optuna.pruners.WilcoxonPruner(p_threshold=CLEARLY).prune(study, shown))
