"""`CrossValidation`: settings trained and measured fold by fold, each a trial of Optuna's study."""

from __future__ import annotations

import signal
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from lambdaboost._installed import package
from lambdaboost._jit import using
from lambdaboost.engines import ENGINES, refusal
from lambdaboost.evaluation.measure import mean_of
from lambdaboost.objectives import GradientStep
from lambdaboost.training import boost, make_dataset
from lambdaboost.traps import with_min_leaf_size
from lambdaboost.tuning.candidates import add_second_goal
from lambdaboost.tuning.request import Request
from lambdaboost.tuning.trees import STARTS, tree_params, tree_space

# One thread for each training: the processors go to different trainings.
ALWAYS: Mapping[str, Mapping[str, Any]] = {
    "lightgbm": {"num_threads": 1, "feature_pre_filter": False, "verbosity": -1},
    "xgboost": {"nthread": 1, "tree_method": "hist"},
}
THREADS = {"num_threads", "num_thread", "nthread", "nthreads", "n_jobs"}
# The phases of a search; the first has the engine's default parameters.
Phase = Literal["default", "trees", "objectives", "refinement", "keep"]
SHARED = 2  # starts that the engines are compared by

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """A candidate on trees, None where the sampler draws them; `weight` is that of a second measure."""

    candidate: str
    phase: Phase
    trees: Mapping[str, float] | None = field(default_factory=dict)
    weight: float = 0.0


@dataclass(frozen=True, eq=False)
class Trial:
    """A finished trial: "complete", "pruned" after some folds, or "failed"."""

    requested: Setting
    setting: Setting  # with the trees that were drawn
    number: int = 0
    state: str = "complete"
    values: Values = field(default_factory=lambda: np.empty((0, 0)))  # (measures, queries), if it is complete
    means: tuple[float, ...] = ()  # of each measure, over the folds that were trained
    folds: int = 0
    rounds: int = 1  # the best number for these folds together
    seconds: float = 0.0
    error: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether it was trained in every fold."""
        return self.state == "complete"


def trials_of(study: Any) -> list[Trial]:
    """The finished trials of a study, by number; those that were interrupted are left out."""
    found = []
    with uninterrupted():
        trials = study.get_trials(deepcopy=False)
    for one in trials:
        if (record := one.user_attrs.get("result")) is not None and one.state.is_finished():
            made: dict[str, Any] = {name: Setting(**record[name]) for name in ("requested", "setting")}
            made |= {"values": np.array(record["values"], dtype=np.float64), "means": tuple(record["means"])}
            found.append(Trial(**(record | made), number=one.number))
    return found


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C waits for the end of this block, for Optuna's journal loses its lock to one in the middle of a write."""
    before = signal.getsignal(signal.SIGINT)
    if before is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    late = list[int]()
    signal.signal(signal.SIGINT, lambda number, _: late.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if late:
            signal.raise_signal(signal.SIGINT)


class OutOfTime(Exception):
    """Raised when the search runs out of time."""


@dataclass(eq=False)
class StoppingCurve:
    """The mean of the measure over the queries of some folds, after each round that all of them were trained for.

    One number of rounds for all folds is less optimistic than the best of each. A fold ends when the mean over it and
    the folds before has not risen for `early_stopping_rounds` rounds. The curve is called after each round of its fold.
    """

    before: Values = field(default_factory=lambda: np.empty(0))
    total: float = 0.0  # the weight of the queries before
    weight: float = 0.0  # of the fold's queries that have a value
    early_stopping_rounds: int = 1
    until: float = np.inf
    own: list[float] = field(default_factory=list)

    def __call__(self, value: float | None) -> bool:
        """Whether to end the fold; raises `OutOfTime` when the time is up."""
        if time.time() > self.until:
            raise OutOfTime
        self.own.append(np.nan if value is None else value)
        return not self.weight or len(self.own) - self.best >= self.early_stopping_rounds

    @property
    def values(self) -> Values:
        """The mean after each round."""
        if not self.weight or not self.before.size:
            return np.array(self.own) if self.weight else self.before
        n = min(len(self.own), self.before.size)
        return np.average([self.own[:n], self.before[:n]], axis=0, weights=[self.weight, self.total])

    @property
    def best(self) -> int:
        """The number of rounds with the highest mean, the lowest of several; 1 if there is none."""
        values = self.values
        return int(np.argmax(values)) + 1 if values.size else 1


@dataclass(eq=False)
class CrossValidation:
    """The trainings of a request in this process: data are binned once, settings change."""

    request: Request
    _data: dict[tuple[str, int], tuple[Any, Any]] = field(default_factory=dict)

    def run(self, study: Any, settings: Sequence[Setting], until: float, name: str = "") -> None:
        """Try settings one after the other; one that fails is a failed trial, and the others go on."""
        console, states = Console(stderr=True, highlight=False), package("optuna").trial.TrialState
        hidden = not (console.is_terminal and name)
        for requested in track(settings, name, console=console, disable=hidden, transient=True):
            if time.time() > until:
                return
            with uninterrupted():
                trial, setting = ask(study, self.request, requested)
            prunes = requested.phase in ("trees", "refinement") and requested.trees not in STARTS[:SHARED]
            try:
                result = self.cross_validate(setting, until, trial if prunes else None)
            except OutOfTime:
                with uninterrupted():
                    study.tell(trial, state=states.FAIL)
                return
            except Exception as error:
                self._data.clear()  # LightGBM frees a data set in which it failed
                text = refusal(error) or f"{type(error).__name__}: {error}"
                result = {"state": "failed", "values": [], "means": [], "error": " ".join(text.split())}
            value = result["means"][0] if result["state"] == "complete" else None
            named = {"complete": states.COMPLETE, "pruned": states.PRUNED, "failed": states.FAIL}
            with uninterrupted():
                trial.set_user_attr(
                    "result", result | {"requested": asdict(requested), "setting": asdict(setting)}
                )
                study.tell(trial, value, named[result["state"]])

    def cross_validate(self, setting: Setting, until: float, trial: Any = None) -> dict[str, Any]:
        """Train and measure a setting fold by fold; Optuna's pruner may end a `trial` after some of them."""
        start, request, state = time.perf_counter(), self.request, "complete"
        name = request.candidates[setting.candidate].engine
        boosters, curve = list[Any](), StoppingCurve()
        given = objective_of(request, setting), params_of(request, setting)
        values, measure = np.full((len(request.measures), request.weight.size), np.nan), request.measures[0]
        with one_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the final training warns
            for number, fold in enumerate(request.splits):
                # The first fold ends by its own curve, and no other goes on beyond it.
                rounds = curve.values.size or request.rounds
                twice = request.by_folds and not curve.values.size
                stall = request.early_stopping_rounds * (2 if twice else 1)
                q = fold.valid.queries
                measured = ~np.isnan(measure.per_query(np.zeros(q.n_documents), q))
                weight = float(q.query_weight[measured].sum())
                curve = StoppingCurve(curve.values, curve.total + curve.weight, weight, stall, until)
                data = self._engine_data(name, number)
                boosters.append(boost(name, *given, rounds, *data, measure, on_round=curve))
                if trial is not None and curve.values.size:
                    with uninterrupted():
                        trial.report(curve.values[curve.best - 1], number)
                        prunes = number + 1 < len(request.splits) and trial.should_prune()
                    if prunes:
                        state = "pruned"
                        break
            for booster, fold in zip(boosters, request.splits, strict=False):
                scores = ENGINES[name].scores(booster, fold.valid.features, curve.best)
                values[:, fold.queries] = [m.per_query(scores, fold.valid.queries) for m in request.measures]
        result = {
            "state": state,
            "means": [mean_of(row, request.weight) for row in values],
            "folds": len(boosters),
        }
        result |= {"values": values.tolist() if state == "complete" else [], "rounds": curve.best}
        return result | {"seconds": time.perf_counter() - start}

    def _engine_data(self, engine: str, number: int) -> tuple[Any, Any]:
        """A fold as the engine's data sets, made once: LightGBM keeps its bins, XGBoost its quantiles."""
        if (engine, number) not in self._data:
            fold = self.request.splits[number]
            data = make_dataset(engine, fold.train)
            self._data[engine, number] = data, make_dataset(engine, fold.valid, reference=data)
        return self._data[engine, number]


def ask(study: Any, request: Request, requested: Setting) -> tuple[Any, Setting]:
    """Optuna's next trial, and its setting with the trees that were drawn, to four digits."""
    samplers, number = package("optuna").samplers, len(study.get_trials(deepcopy=False))
    engine, given = request.candidates[requested.candidate].engine, requested.trees
    space = tree_space(engine, int(request.documents), request.params)
    space = {name: one for name, one in space.items() if given is None or name in given}
    fixed = {
        name: min(max(given[name], one.low), one.high) for name, one in space.items() if given is not None
    }
    drawn = samplers.TPESampler(
        n_startup_trials=len(STARTS),
        seed=(request.seed * 1_000_003 + number) % 2**32,
        multivariate=True,
        group=True,
        constant_liar=True,
    )
    study.sampler = samplers.PartialFixedSampler(fixed, drawn)
    trial = study.ask(space)
    trees = {name: float(f"{value:.4g}") if value % 1 else value for name, value in trial.params.items()}
    return trial, Setting(requested.candidate, requested.phase, trees, requested.weight)


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread for lambdaboost's kernels and for the engines' predictions, in this block."""
    from threadpoolctl import threadpool_limits

    with using(1), threadpool_limits(1):
        yield


def objective_of(request: Request, setting: Setting) -> Any:
    """The objective of a setting."""
    return add_second_goal(request.candidates[setting.candidate].objective, request.measures, setting.weight)


def params_of(request: Request, setting: Setting) -> dict[str, Any]:
    """All parameters that a training hands to its engine."""
    candidate = request.candidates[setting.candidate]
    params = {"seed": request.seed, **ALWAYS[candidate.engine]}
    if THREADS & set(request.params):
        params = {name: value for name, value in params.items() if name not in THREADS}
    by_steps = isinstance(candidate.objective, GradientStep)
    return params | tree_params(candidate.engine, setting.trees or {}, by_steps) | dict(request.params)


def refit(request: Request, trial: Trial) -> tuple[Any, Any, dict[str, Any], int]:
    """A trial's setting trained on all data: the booster, and the objective, parameters and rounds of it."""
    name = request.candidates[trial.setting.candidate].engine
    n, objective = request.data.queries.n_documents, objective_of(request, trial.setting)
    rounds = max(1, round(trial.rounds * n / request.documents))  # more documents need more rounds
    params = with_min_leaf_size(params_of(request, trial.setting), ENGINES[name], objective, n)
    with one_thread():
        data = make_dataset(name, request.for_training(request.data).shuffled(request.seed))
        return boost(name, objective, params, rounds, data), objective, params, rounds
