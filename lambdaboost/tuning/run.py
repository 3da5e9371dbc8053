"""`tune`: search the objective, its parameters and those of the trees, with the certainty of the choice."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lambdaboost._files import check_place
from lambdaboost._installed import engine_named, package
from lambdaboost._warn import warn
from lambdaboost._words import counted, plain
from lambdaboost.datasets import Collection
from lambdaboost.datasets.named_columns import QID, NamedColumns, names_in
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.leaks import warn_of_leaks
from lambdaboost.tuning.candidates import given
from lambdaboost.tuning.checks import check_part
from lambdaboost.tuning.progress import progress
from lambdaboost.tuning.request import (
    Choose,
    Request,
    Split,
    checked_engines,
    checked_measures,
    checked_params,
)
from lambdaboost.tuning.search import Search
from lambdaboost.tuning.study import Study
from lambdaboost.tuning.trade_offs import request_of, trained
from lambdaboost.tuning.training import check_params, one_thread
from lambdaboost.tuning.trial import Trial
from lambdaboost.tuning.tuned import HeldOut, Tuned


class Stopped(KeyboardInterrupt):
    """Ctrl-C, after at least one trial; `finish()` returns the `Tuned` of those that are complete."""

    def __init__(self, message: str, finish: Any) -> None:
        super().__init__(message)
        self.finish = finish


def tune(
    train: Any,
    y: Any = None,
    *,
    valid: Any = None,
    query: str = QID,
    sources: Any = None,
    position: Any = None,
    group: Any = None,
    qid: Any = None,
    sample_weight: Any = None,
    measure: Measure | str | Iterable[Measure | str] = NDCG(10),
    keep: float | None = None,
    objectives: Iterable[Any] | None = None,
    engine: Literal["lightgbm", "xgboost"] | None = None,
    params: Mapping[str, Any] | None = None,
    settings: int | None = 20,
    minutes: float | None = None,
    split: Split | None = None,
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

    The first setting is the engine's default: its own objective with its own parameters. Then come `graded` of each
    further label source and a portfolio of settings, in order; then Optuna's TPE sampler searches around the best,
    and shares what it learns about trees among objectives. Each setting is cross-validated over all queries; Optuna's
    `WilcoxonPruner` leaves it after some folds if it is significantly worse than the best one. Early stopping on the
    mean over the folds gives it one number of rounds. The choice is the highest mean after all are drawn towards each
    other as far as their differences are noise; the verdict says what it is worth over the default. The best trials of
    all candidates are compared query by query.

    Parameters
    ----------
    train : Collection, array, sparse matrix or table of pandas, polars or pyarrow
        Training part, as of `LambdaRanker.fit`: a table may hold its queries, sources and positions; its columns of a
        categorical type are categories.
    y : array of shape (n_rows,)
        Grades of `train`. After a Collection, which has its own, `valid` may stand here.
    valid : Collection or (X, y), optional
        Validation part; a table with the columns of `train`.
    query, sources, position
        Columns of a table, as of `LambdaRanker`; `sources` and `position` may also be arrays.
    group, qid, sample_weight
        As of `LambdaRanker.fit`.
    measure : Measure, str or iterable of them
        What to optimise. Several measures give a front; the first one ends trainings early.
    keep : float, optional
        With two measures: what the first may lose, in its units, such as 0.005, while the second is raised. The search
        is for the first measure. Its best setting is then trained in other folds with ten weights of LambdaRank of the
        second, beside the budget, and the model is the trade-off with the highest second measure among those that are
        proven to lose less (`Kept`).
    objectives : iterable of Objective or str, optional
        The candidates, such as ``["lambdarank", "LambdaRank", "GradientStep(graded(0.2))"]``, from simple to complex.
        By default the engines' own and lambdaboost's, and with further label sources `graded` of each of them. No
        other is tried: where the engine's own is not named, the default is the first one, or `LambdaRank`, with the
        engine's own parameters.
    engine : "lightgbm" or "xgboost", optional
        The engine. By default the own objectives of both, if both are installed, and all others on LightGBM.
    params : dict, optional
        Parameters of the engine that are fixed, and therefore not searched.
    settings, minutes : int, float, optional
        The budget: how many settings are tried, each in all folds unless it is left after some. The search ends when
        either is used up.
    split : "folds" or "given", optional
        ``"folds"``: settings are cross-validated over the queries of `train` and `valid` together. ``"given"``: they
        are trained on `train` and measured on `valid`, such as a later time or another market. By default ``"folds"``
        without `valid` or below 10,000 queries.
    folds : int
        Number of folds, ≥ 2; queries stay whole, and equal queries are in one fold.
    rounds, patience : int
        The most rounds of a training, and how many without a better mean over the folds so far end it; twice as many in
        the first of several folds.
    choose : "best", "simplest" or "balanced", optional
        Which finalist becomes the model: the highest shrunken mean; the simplest within one standard error of it; or,
        of several measures, the highest second one without a significant loss of the first. By default "best", and
        "balanced" for several measures.
    refit : bool
        Train the chosen setting again on all data, with the rounds that more data need; otherwise on the training part,
        which gives the model that was measured. Only with ``split="given"``.
    nested : int
        Number of outer folds, ≥ 2, for an estimate on held-out queries: the search, with the same budget, is repeated
        without each of them. 0 leaves it out.
    study : path, optional
        A file for the study, a journal of Optuna's. The same call resumes it, also with a larger budget.
    workers : int, optional
        Number of processes, each with one thread of its engine, at most one per processor. By default one per
        processor, fewer for short searches. Results are reproducible only with ``workers=1``.
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
        a study of other data, fewer queries than folds.
    ModuleNotFoundError
        If Optuna or the engine is not installed.
    KeyboardInterrupt
        At Ctrl-C. `study` then holds all that is complete, and the same call resumes it. After the first trial it is a
        `Stopped`, whose ``finish()`` returns the best so far.

    Examples
    --------
    >>> from lambdaboost.datasets import web_search_log
    >>> log = web_search_log(60, documents=20, seed=2)
    >>> few = {"objectives": ["lambdarank"], "settings": 2, "rounds": 20, "workers": 1}
    >>> tuned = tune(log.take(range(40)), valid=log.take(range(40, 60)), **few)
    >>> len(tuned.trials), tuned.booster.num_trees() == tuned.rounds
    (2, True)

    """
    package("optuna")
    engines = checked_engines(engine)
    named = None if objectives is None else given(objectives, engines)
    fixed = checked_params(params, engines)
    beside = {"group": group, "qid": qid, "sources": sources, "position": position}
    parts = _parts(train, y, valid, query, sample_weight, beside)
    request = Request(
        *parts, split, checked_measures(measure), named, engines, fixed, settings, minutes, folds, rounds,
        patience, choose, refit, nested, workers, seed, keep,
    )  # fmt: skip
    if not isinstance(study, str | PathLike | None):
        raise TypeError(f"study is {plain(repr(study))}: give the name of a file, such as 'study.log'")
    path = None if study is None else Path(study)
    if path is not None:
        check_place("study", path)
    warn_of_leaks(request.train.features, request.train.queries, request.train.feature_names)
    check_params(request)
    tuned = _tuned(request, path, "search")
    if not nested:
        return tuned
    try:
        estimate = _held_out(request, path)
    except KeyboardInterrupt:
        raise Stopped("stopped before the estimate on held-out queries", lambda: tuned) from None
    return replace(tuned, held_out=estimate)


def _parts(
    train: Any, y: Any, valid: Any, query: str, weight: Any, beside: dict[str, Any]
) -> tuple[Any, Any]:
    """The training and the validation part, read as `LambdaRanker.fit` reads them."""
    if y is None:
        check_part("train", train)
    if isinstance(train, Collection):
        if has := [name for name, value in beside.items() if value is not None]:
            raise TypeError(
                f"train is a {type(train).__name__} without y, so {has[0]}= has no use: leave it out"
            )
        return train, y if valid is None else valid
    sources, position = (beside.pop(name) for name in ("sources", "position"))
    columns = sources.values() if isinstance(sources, Mapping) else sources
    by_name = columns is None or isinstance(columns, str) or all(isinstance(one, str) for one in columns)
    by_name = by_name and not hasattr(sources, "columns")  # the columns of a frame are no names of others
    at = isinstance(position, str)
    named = NamedColumns.read(query, sources if by_name else None, position if at else None)
    arrays = None if by_name else sources, None if at else position
    data = named.collection("train", train, y, *beside.values(), *arrays, weight=weight)
    if isinstance(valid, tuple | list) and len(valid) == 2:
        if names_in(valid[0], "valid") is None:
            raise TypeError(
                "valid is an array without its queries, since group= and qid= are those of train: give tables with a "
                "column of queries, or both parts as Collections"
            )
        valid = named.collection("valid", *valid, like=data)
    return data, valid


def _held_out(request: Request, path: Path | None) -> HeldOut:
    """Search without each outer fold, each search under its own name, and measure on the fold."""
    n = sum(part.queries.n_queries for part in request.given.values())
    values, weight = np.full((len(request.measures), n), np.nan), np.empty(n)
    for at in range(request.nested):
        inner, test, queries = request.outer(at)
        tuned = _tuned(inner, path, f"without fold {at}")
        with one_thread():
            scores = engine_named(tuned.engine).scores(tuned.booster, test.features)
        values[:, queries] = [measure.per_query(scores, test.queries) for measure in request.measures]
        weight[queries] = test.queries.query_weight
    return HeldOut(request.measures, values, weight)


def _tuned(request: Request, path: Path | None, name: str) -> Tuned:
    """Search, and with a second goal train the trade-offs of what was found."""
    if request.keep is None:
        return _searched(request, path, name)
    begin = time.time()
    found = _searched(request.first, path, name)
    trade_offs = request_of(request.first, found.chosen, request.measures)
    file = None if path is None else Study(path, f"{name}, trade-offs", trade_offs)
    try:
        trials = trained(trade_offs, found.chosen.knobs, file)
        _pass_on(trials)
        tuned = found.with_second(request.keep, trade_offs, trials)
        return replace(tuned, seconds=time.time() - begin)
    except KeyboardInterrupt:
        raise Stopped(
            "stopped before the last trade-off; the model is of the first goal alone", lambda: found
        ) from None


def _searched(request: Request, path: Path | None, name: str) -> Tuned:
    """Search, choose, and train the choice."""
    file = None if path is None else Study(path, name, request)
    with progress(request) as advance:
        search = Search(request, file, advance)
        try:
            search.run()
        except KeyboardInterrupt:
            if search.best is None:
                raise
            raise _stopped(search, path) from None
    try:
        return _chosen(request, search.trials, search)
    except KeyboardInterrupt:
        raise _stopped(search, path) from None


def _stopped(search: Search, path: Path | None) -> Stopped:
    """What Ctrl-C leaves: the best so far, which `finish` trains."""
    done, request = list(search.trials), search.request
    quick = replace(request, refit=request.by_folds)
    how = "with a study the same call would resume" if path is None else f"the same call resumes {path}"
    return Stopped(
        f"stopped after {counted(len(done), 'setting')}; {how}", lambda: _chosen(quick, done, search)
    )


def _chosen(request: Request, trials: list[Trial], search: Search) -> Tuned:
    trials = sorted(trials, key=lambda trial: trial.number)
    with warnings.catch_warnings():
        for text in _pass_on(trials):
            warnings.filterwarnings("ignore", re.escape(text))
        return replace(Tuned.of(request, trials, search.study), seconds=time.time() - search.begin)


def _pass_on(trials: Iterable[Trial]) -> list[str]:
    """Warn once of what the trainings warned of, and return it."""
    # Settings without a split score badly, so the search avoids them by itself.
    said = {
        text: not text.startswith("no tree can have a split") for trial in trials for text in trial.warnings
    }
    texts = [text for text, passed_on in said.items() if passed_on]
    for text in texts:
        warn(text)
    return texts
