"""`tune`: search the objective, its parameters and those of the trees, with the certainty of the choice."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from lambdaboost._warn import warn
from lambdaboost.datasets import Collection
from lambdaboost.datasets._checks import check_count
from lambdaboost.datasets.digest import digest_of
from lambdaboost.engines.traps import WITHOUT_SPLIT
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.tuning import checks
from lambdaboost.tuning.candidates import Candidate, given
from lambdaboost.tuning.folds import drawn_folds, given_parts
from lambdaboost.tuning.nested import held_out, outer_folds
from lambdaboost.tuning.optional import optuna
from lambdaboost.tuning.progress import Progress
from lambdaboost.tuning.search import Budget, Search
from lambdaboost.tuning.space import Space
from lambdaboost.tuning.standard import standard
from lambdaboost.tuning.store import Store
from lambdaboost.tuning.task import Task
from lambdaboost.tuning.trial import Trial
from lambdaboost.tuning.tuned import Choose, Tuned
from lambdaboost.tuning.workers import default_workers


class Stopped(KeyboardInterrupt):
    """Ctrl-C, after at least one training; `finish()` returns the `Tuned` of those that are complete."""

    def __init__(self, message: str, finish: Any) -> None:
        super().__init__(message)
        self.finish = finish


def tune(
    train: Collection,
    valid: Collection | None = None,
    *,
    measure: Measure | str | Iterable[Measure | str] = NDCG(10),
    objectives: Iterable[Any] | None = None,
    engine: Literal["lightgbm", "xgboost"] | None = None,
    params: Mapping[str, Any] | None = None,
    trainings: int | None = 40,
    minutes: float | None = None,
    folds: int = 5,
    rounds: int = 500,
    patience: int = 30,
    choose: Choose | None = None,
    refit: bool = True,
    nested: int = 0,
    study: str | Path | None = None,
    workers: int | None = None,
    seed: int = 0,
) -> Tuned:
    """Find the objective, its parameters and those of the trees for your data, and how sure the choice is.

    Every candidate is trained with its engine's defaults first, as far as half of the trainings go. Then Optuna's TPE
    sampler, which shares what it learns about trees among objectives, chooses the settings; early stopping gives the
    number of rounds. Half way, other candidates get the trees of the best one, so that none loses by its trees alone. A
    training is stopped if it is below all others at the same rounds × learning rate, and in cross-validation if its
    trial is significantly worse than the best one after some folds. The best trials of all candidates are then compared
    query by query.

    Parameters
    ----------
    train, valid : Collection
        Training and validation part. Without `valid`, each trial is cross-validated.
    measure : Measure, str or iterable of them
        What to optimise. Several measures give a front; the first one ends trainings early.
    objectives : iterable of Objective or str, optional
        The candidates, such as ``["lambdarank", "LambdaRank", "GradientStep(graded(0.2))"]``, from simple to complex.
        By default the engines' own and lambdaboost's, and with further label sources `graded` of each of them.
    engine : "lightgbm" or "xgboost", optional
        The engine. By default the own objectives of both, if both are installed, and all others on LightGBM.
    params : dict, optional
        Parameters of the engine that are fixed, and therefore not searched.
    trainings, minutes : int, float, optional
        The budget; the search ends when either is used up. In cross-validation each fold is a training.
    folds : int
        Number of folds, ≥ 2; queries stay whole, and equal queries are in one fold.
    rounds, patience : int
        The most rounds of a training, and how many without a better value end it.
    choose : "best", "simplest" or "balanced", optional
        Which finalist becomes the model: the highest mean; the simplest within one standard error of it; or, of several
        measures, the highest second one without a significant loss of the first. By default "best", and "balanced" for
        several measures.
    refit : bool
        Train the chosen setting again on all data, with the rounds that more data need; otherwise the model is the one
        that was measured. Only with `valid`.
    nested : int
        Number of outer folds, ≥ 2, for an estimate on held-out queries: the search, with the same budget, is repeated
        without each of them. 0 leaves it out.
    study : path, optional
        A folder for the study. The same call resumes it, also with a larger budget.
    workers : int, optional
        Number of processes, each with one thread of its engine. By default one per processor, fewer for short searches.
        Results are reproducible only with ``workers=1``.
    seed : int
        Seed of the search, the engines, the folds, and the order of the documents of a query.

    Returns
    -------
    Tuned
        The model, its setting, all trials, and the verdict.

    Raises
    ------
    TypeError, ValueError
        Before anything is trained, for invalid arguments: validation queries that also train, no query with two grades,
        a study of other data, a budget too small for one training.
    ModuleNotFoundError
        If Optuna (``lambdaboost[tune]``) or the engine is not installed.
    KeyboardInterrupt
        At Ctrl-C. `study` then holds all that is complete, and the same call resumes it. After the first training it is
        a `Stopped`, whose ``finish()`` returns the best so far.

    Examples
    --------
    >>> from lambdaboost.datasets import web_search_log
    >>> log = web_search_log(60, documents=20, seed=2)
    >>> tuned = tune(log.take(range(40)), log.take(range(40, 60)), trainings=3, workers=1)
    >>> len(tuned.trials), tuned.booster.num_trees() == tuned.rounds
    (3, True)

    """
    optuna()
    checks.checked_data(train, valid)
    check_count("rounds", rounds, 1)
    check_count("patience", patience, 1)
    check_count("seed", seed, 0)
    if valid is None:
        checks.checked_folds(folds, train)
    measures = checks.checked_measures(measure, train, valid)
    checks.checked_choose(choose, refit, valid, len(measures))
    engines = checks.checked_engines(engine)
    fixed = checks.checked_params(params, engines)
    checks.checked_budget(trainings, minutes, 1 if valid is not None else folds)
    checks.checked_nested(nested, train)
    if workers is not None:
        check_count("workers", workers, 1)
    parts = [train] if valid is None else [train, valid]
    sources = [name for name in train.queries.labels if name != "relevance"]
    wanted = standard(measures, engines, sources) if objectives is None else given(objectives, engines)
    candidates, left_out = checks.usable(wanted, parts)
    checks.checked_candidates(candidates, left_out, named=objectives is not None)
    train, valid = _only_what_is_read(train, valid, candidates, measures)
    cut = drawn_folds(train, folds, seed) if valid is None else given_parts(train, valid, seed)
    task = Task(cut, measures, candidates, fixed, rounds, patience, seed)
    request = _Request(train, valid, task, left_out, trainings, minutes, workers, choose, refit)
    outer = outer_folds(train, valid, nested, seed) if nested else []
    checks.checked_outer(outer, measures, folds)
    folder = None if study is None else Path(study)
    tuned = request.run(folder)
    if not nested:
        return tuned
    again = partial(
        tune,
        measure=measures,
        objectives=objectives,
        engine=engine,
        params=params,
        trainings=trainings,
        minutes=minutes,
        folds=folds,
        rounds=rounds,
        patience=patience,
        choose=choose,
        refit=refit,
        workers=workers,
        seed=seed,
    )
    try:
        estimate = held_out(lambda a, b, at: again(a, b, study=at), outer, measures, folder)
    except KeyboardInterrupt:
        raise Stopped("stopped before the estimate on held-out queries", lambda: tuned) from None
    return replace(tuned, held_out=estimate)


@dataclass(frozen=True, eq=False)
class _Request:
    """A call of `tune`, checked."""

    train: Collection
    valid: Collection | None
    task: Task
    left_out: Mapping[str, str]
    trainings: int | None
    minutes: float | None
    workers: int | None
    choose: Choose | None
    refit: bool

    def run(self, study: Path | None) -> Tuned:
        """Search, choose, and train the choice on all data."""
        store = None if study is None else Store(study)
        if store is not None:
            store.open(self._about())
        begin = time.time()
        with Progress(self.trainings, self.minutes, self.task) as progress:
            search = self._search(store, begin, progress)
            try:
                trials = search.run()
            except KeyboardInterrupt:
                if search.best is None:
                    raise
                raise self._stopped(search, study, begin) from None
        try:
            return self._tuned(trials, begin, search.study)
        except KeyboardInterrupt:
            raise self._stopped(search, study, begin) from None

    def _stopped(self, search: Search, study: Path | None, begin: float) -> Stopped:
        """What Ctrl-C leaves: the best measured model, or in cross-validation one that `finish` trains."""
        done = list(search.trials)
        quick = replace(self, refit=self.valid is None)
        how = "with a study the same call would resume" if study is None else f"the same call resumes {study}"
        return Stopped(
            f"stopped after {search.trainings} trainings; {how}",
            lambda: quick._tuned(done, begin, search.study),
        )

    def _search(self, store: Store | None, begin: float, progress: Progress) -> Search:
        folds = self.task.folds
        documents = folds[0].train.queries.n_documents
        most = 10_000 if self.trainings is None else self.trainings
        workers = self.workers or default_workers(documents, most // len(folds))
        budget = Budget(
            float("inf") if self.trainings is None else self.trainings,
            float("inf") if self.minutes is None else begin + 60 * self.minutes,
        )
        space = Space(documents, tuple(self.task.params))
        return Search(self.task, space, store, budget, workers, self.task.weight, progress.advance)

    def _tuned(self, trials: list[Trial], begin: float, study: Any) -> Tuned:
        trials = sorted(trials, key=lambda trial: trial.number)
        said = dict.fromkeys(text for trial in trials for text in trial.outcome.warnings)
        for text in said:
            # Settings without a split score badly, so the search avoids them by itself.
            if not text.startswith(WITHOUT_SPLIT):
                warn(text)
        return Tuned.of(
            self.task,
            trials,
            self.task.weight,
            self.train,
            self.valid,
            self.left_out,
            self.choose,
            self.refit,
            begin,
            study,
        )

    def _about(self) -> dict[str, Any]:
        """What a study must share with a call that goes on with it."""
        task = self.task
        folds = 1 if self.valid is not None else len(task.folds)
        return {
            "data": digest_of([self.train, self.valid]),
            "measures": list(map(repr, task.measures)),
            "candidates": [
                f"{c.name} on {c.engine}, {c.objective()!r}, {c.knobs!r}" for c in task.candidates
            ],
            "params": {name: repr(value) for name, value in task.params.items()},
            "settings": [folds, task.rounds, task.patience, task.seed],
        }


def _only_what_is_read(
    train: Collection, valid: Collection | None, candidates: Iterable[Candidate], measures: Iterable[Measure]
) -> tuple[Collection, Collection | None]:
    """The parts without positions where nothing reads them, so that LightGBM's own objective does not either."""
    trains = any(getattr(candidate.objective(), "reads_positions", False) for candidate in candidates)
    measured = any(measure.reads_positions for measure in measures)
    if trains or (measured and valid is None):
        return train, valid
    return train.without_positions(), valid if valid is None or measured else valid.without_positions()
