"""`tune`: settings of trees, then objectives on the best of them, all cross-validated, and one table of the results.

**Stages.** The engine's own objective with its own parameters; `YetiLoss` on the settings of `PORTFOLIO`; on the best
of these, in the same folds, the engine's other objectives and lambdaboost's, and with a further label source the ways
to use it. Where both engines are installed, XGBoost is trained on the first two settings of trees as well.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_number, check_whole
from lambdaboost._installed import package
from lambdaboost._words import counted, listed, plain
from lambdaboost.datasets import Collection, Columns, Encoder
from lambdaboost.datasets.columns import QUERY
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines import ENGINES, first_installed
from lambdaboost.evaluation import CNDCG, NDCG, Measure, trade_off
from lambdaboost.evaluation.measure import check_measure
from lambdaboost.evaluation.naming import parse_all
from lambdaboost.leaks import warn_of_leaks
from lambdaboost.merging import merge
from lambdaboost.objectives import LambdaRank, Scorecard, YetiLoss, graded
from lambdaboost.objectives.swaps import SWAPS
from lambdaboost.tuning.cross_validate import (
    TrainedFold,
    as_collection,
    assign_folds,
    find_shared,
    measure_folds,
    train_fold,
)
from lambdaboost.tuning.portfolio import PORTFOLIO, TRIED, params_of
from lambdaboost.tuning.tuned import Result, Setting, Tuned, add_scores, compare_results

SHARED = (1, 2)  # the settings of trees by which the engines are compared
SHARE_OF_TREES = 0.6  # of the minutes
ROWS_OF_PROCESS = 400_000  # documents of all trainings together that make a further process worth its start


def tune(
    X: Any,
    y: Any = None,
    *,
    valid: Any = None,
    query: str = QUERY,
    sources: Any = None,
    position: str | None = None,
    weight: str | None = None,
    group: Any = None,
    qid: Any = None,
    sample_weight: Any = None,
    measure: Measure | str | Iterable[Measure | str] = "ndcg@10",
    tolerance: float | None = None,
    engine: Literal["lightgbm", "xgboost"] | None = None,
    settings: int = TRIED,
    minutes: float | None = None,
    folds: int = 5,
    rounds: int = 500,
    early_stopping_rounds: int = 30,
    workers: int | None = None,
    seed: int = 0,
) -> Tuned:
    """Find trees, an objective and a number of rounds for your data, and compare what each contributes.

    A table and its grades go in as ``LambdaRanker(query=…, sources=…).fit(X, y)`` takes them. The choice is fitted on
    all of them again, exactly as ::

        LambdaRanker(objective=tuned.objective, n_estimators=tuned.rounds, query=…, sources=…, **tuned.params).fit(X, y)

    does, which gives the same model. The search prints a line to stderr for each setting that is complete.

    Parameters
    ----------
    X, y : table or array, and array of shape (n_rows,)
        The features and grades; or a Collection, which has its own grades, sources, positions and weights.
    valid : (X, y) or (X, y, sample_weight) or Collection, optional
        Queries to measure on in place of cross-validation, such as those of a later time: a table with the columns of
        X. They are never trained on.
    query, sources, position, weight : str, list or dict, str, str
        Columns of X, as of the rankers.
    group, qid, sample_weight : arrays, optional
        As of ``LambdaRanker.fit``.
    measure : Measure, str or iterable of them
        The first decides; with several, every comparison has a row for each.
    tolerance : float, optional
        With two measures: how much of the first may be lost, in its units, such as 0.005, for more of the second. The
        models of each label alone are merged with the largest weight that is proven to lose less, by `trade_off`: on
        held-out scores after numbers of rounds that the other folds chose. Not with `valid`, which stops every model.
    engine : "lightgbm" or "xgboost", optional
        The engine; by default LightGBM, with XGBoost on two settings of trees where both are installed.
    settings : int
        How many settings of trees are tried, of at most 12. The first four have small trees; with many thousand queries
        later ones, which have larger trees, are worth their time.
    minutes : float, optional
        The time after which no further training starts.
    folds : int
        Number of folds, ≥ 2; queries stay whole, and equal queries are in one fold.
    rounds, early_stopping_rounds : int
        The largest number of rounds, and how many rounds without improvement end a fold. The final model has more
        rounds than the folds, in proportion to its documents.
    workers : int, optional
        Number of processes, each of which trains one fold of a setting; by default one per processor, fewer for small
        data. The result does not depend on it.
    seed : int
        Seed of the folds, of the engines, and of the order of the documents in the folds.

    Raises
    ------
    TypeError, ValueError
        Before anything is trained, for invalid arguments; after it, if no setting could be trained.
    KeyboardInterrupt
        At Ctrl-C before the first setting is complete. Later, Ctrl-C ends the search, and the choice is made among
        those that are complete.

    Examples
    --------
    >>> from lambdaboost.datasets import web_search_log
    >>> X, q = web_search_log(40, documents=20, seed=2)
    >>> few = {"settings": 2, "folds": 2, "rounds": 10, "workers": 1}
    >>> tuned = tune(X, q.relevance, group=q.sizes, engine="lightgbm", **few)
    >>> tuned.comparison["question"].unique().tolist()
    ['default', 'objective', 'trees', 'choice']

    """
    # Read and check all arguments, before anything is trained.
    measures = parse_all(measure)
    for name, value, least in (
        ("folds", folds, 2),
        ("rounds", rounds, 1),
        ("early_stopping_rounds", early_stopping_rounds, 1),
    ):
        check_whole(name, value, least)
    check_whole("seed", seed, 0)
    check_whole("settings", settings, 1)
    check_whole("workers", 1 if workers is None else workers)
    if minutes is not None:
        check_number("minutes", minutes, above=0, remedy="give a number above 0, such as 10")
    if tolerance is not None:
        check_number("tolerance", tolerance, above=0, below=1, remedy="give such as 0.005")
        if len(measures) != 2:
            raise ValueError(
                f"tolerance takes two measures, one to keep and one to raise, and measure has {len(measures)}: give "
                "such as measure=['ndcg@10', 'cndcg@10']"
            )
        if valid is not None:
            raise ValueError(
                "tolerance is proven on queries that stopped neither model, and those of valid stop all: leave out "
                "valid=, for folds, or give other queries to trade_off"
            )
    if engine is not None and engine not in ENGINES:
        raise ValueError(
            f"engine is {plain(repr(engine))}, expected {' or '.join(ENGINES)}, or None for both"
        )
    main = first_installed() if engine is None else engine
    package(main)
    columns = Columns(query, sources=sources or (), position=position, weight=weight)
    train = as_collection(X, y, columns, group=group, qid=qid, weight=sample_weight)
    if isinstance(X, Collection):
        columns = Columns(sources=[name for name in X.queries.labels if name != RELEVANCE])
    data, fold = hold_out(train, valid, columns, folds, seed, sample_weight is not None)
    for measured in measures:
        check_measure(measured, data.queries.take(fold >= 0), "X" if valid is None else "valid")
    warn_of_leaks(train.features, train.queries, train.feature_names)

    import joblib  # here, for importing it takes a fifth of importing lambdaboost

    # What there is to do: each setting is compared with one that differs from it in one thing.
    further = [name for name in train.queries.labels if name != RELEVANCE]
    default = Setting("default", ENGINES[main].NATIVE_OBJECTIVES[0], main, 0)
    trees = [Setting("objective", YetiLoss(metric_of(measures[0])), main, 0, default)]
    for at in range(1, min(settings, len(PORTFOLIO))):
        trees.append(trees[0]._replace(question="trees", trees=at, baseline=trees[0]))
    planned = [default, *trees]
    for other in ENGINES:
        if engine is None and other != main and find_spec(other):
            planned += [
                one._replace(question="engine", engine=other, baseline=one)
                for one in trees
                if one.trees in SHARED
            ]
    n = len(planned) + len(objectives_on(trees[-1], 1, measures, further))
    worth = 1 + data.queries.n_documents * n // ROWS_OF_PROCESS
    n_folds = int(fold.max()) + 1
    processes = min(workers or worth, n * n_folds, joblib.cpu_count())
    search = Search(
        data.shuffled(seed), fold, measures, columns, rounds, early_stopping_rounds, processes, seed, n
    )
    print(
        f"tune: up to {n} settings in {counted(n_folds, 'fold')}, {counted(processes, 'process', 'processes')}",
        file=sys.stderr,
    )

    # The trees first, then objectives on the best of them.
    results: list[Result] = []
    failed: dict[Setting, str] = {}
    begin, is_stopped = time.time(), False
    end = np.inf if minutes is None else begin + 60 * minutes
    try:
        run(search, planned, begin + SHARE_OF_TREES * (end - begin), results, failed)
        if searched := [one for one in results if one.setting in trees]:
            best = max(searched, key=lambda one: one.found.means[measures[0]])
            planned += (on_best := objectives_on(best.setting, len(searched), measures, further))
            run(search, on_best, end, results, failed)
    except KeyboardInterrupt:
        if not results:
            raise
        is_stopped = True
        print("tune: stopped; the choice is made among the settings that are complete", file=sys.stderr)
    if not results:
        reasons = [f"no setting can be trained; {one.name}: {error}" for one, error in failed.items()]
        raise ValueError((reasons or ["no setting is complete within these minutes: give more"])[0])

    # Choose and compare.
    chosen = highest_mean(results, measures[0])
    members, weights, curve = [chosen], None, None
    notes = notes_on(results, failed, planned)
    if tolerance is not None:
        first, second = single_models(results, measures)
        scores = first.found.nested_scores, second.found.nested_scores
        curve = trade_off(*scores, first.found.queries, measures)
        point = curve.choose(tolerance=tolerance)
        notes.append(point.sentence)
        members, chosen = [first], first
        if point.weight > 0:
            members, weights = [first, second], point.weights
            chosen = add_scores(first, second, weights)
    comparison = compare_results(results, failed, chosen, measures)

    # Train the choice again on all queries of X; more documents need more rounds.
    scale = folds / (folds - 1) if valid is None else 1.0
    fitted = []
    for one in members:
        ranker = make_ranker(one.setting, max(1, round(one.found.rounds * scale)), columns, seed)
        if isinstance(X, Collection):
            ranker.fit(X, None)
        else:
            arrays = {"group": group, "qid": qid, "sample_weight": sample_weight}
            ranker.fit(X, y, **{name: value for name, value in arrays.items() if value is not None})
        fitted.append(ranker)
    model = fitted[0] if weights is None else merge(fitted, weights=weights)
    setting = members[0].setting
    return Tuned(
        comparison=comparison,
        choice=comparison[comparison["question"] == "choice"].iloc[0],
        model=model,
        objective=setting.objective,
        params=params_in(setting, seed),
        rounds=fitted[0].n_estimators,
        members=tuple(fitted),
        scores={one.setting.name: one.found.scores for one in results},
        queries=results[0].found.queries,
        notes=tuple(notes),
        trade_off=curve,
        weights=weights,
        is_stopped=is_stopped,
    )


# The search.


class Search(NamedTuple):
    """The data and settings that all trainings of a search share."""

    data: Collection  # the documents of each query in random order
    fold: NDArray[np.int64]  # of each query; negative where it is never held out
    measures: tuple[Measure, ...]
    columns: Columns
    rounds: int
    early_stopping_rounds: int
    processes: int
    seed: int
    settings: int  # how many there will be at most


def hold_out(
    train: Collection, valid: Any, columns: Columns, folds: int, seed: int, is_weighted: bool
) -> tuple[Collection, NDArray[np.int64]]:
    """All queries, and the fold of each; with validation data these are fold 0, and the others are never held out."""
    if valid is None:
        return train, assign_folds(train, folds, seed)
    if isinstance(valid, Collection):
        valid = (valid,)
    if not isinstance(valid, tuple | list) or not 1 <= len(valid) <= 3:
        raise TypeError("valid is no pair: give (X, y), or (X, y, sample_weight), or a Collection")
    X, y, weight = (*valid, None, None)[:3]
    if is_weighted and weight is None:
        raise ValueError(
            "sample_weight weights X, and valid has no weights: give valid=(X, y, sample_weight), or weight= as a "
            "column of both, so that its queries are measured as they should count"
        )
    encoder = Encoder(columns, train.feature_names or (), train.categories)
    part = as_collection(X, y, encoder, name="valid", weight=weight)
    data = Collection.concat({"X": train, "valid": part}, keep_ids=False)
    (both,) = find_shared(train, part)
    if both is not None:
        ids, at = part.queries.ids, int(both.argmax())
        n = counted(int(np.count_nonzero(both)), "query", "queries")
        raise ValueError(
            f"valid shares {n} with X, the first is query {at if ids is None else plain(ids[at])}: the choice would be "
            "made on training data; remove them from one part"
        )
    return data, np.repeat([-1, 0], [train.queries.n_queries, part.queries.n_queries])


def metric_of(measure: Measure) -> Any:
    """The metric that an objective for this measure raises: without a cutoff, so that all documents are ordered."""
    if isinstance(measure, NDCG | CNDCG):
        return replace(measure, k=None, empty=0.0)
    return NDCG()


def objectives_on(
    best: Setting, searched: int, measures: Sequence[Measure], further: Sequence[str]
) -> list[Setting]:
    """The objectives to compare, with the best tree setting; `searched` is how many were searched.

    They are the engine's own, lambdaboost's, and those of further labels.
    """
    first, like_best = best.objective, best._replace(baseline=best, best_of=searched)
    # rank:map takes grades of 0 and 1 alone; the default one is there already.
    own = [name for name in ENGINES[best.engine].NATIVE_OBJECTIVES if name != "rank:map"]
    if not best.trees:
        own = own[1:]
    others: list[Any] = [*own, LambdaRank(first.metric)]
    for measure in measures:
        if isinstance(measure, tuple(SWAPS)) and not isinstance(measure, NDCG | CNDCG):
            others.append(LambdaRank(replace(measure, empty=0.0)))
    found = [like_best._replace(question="objective", objective=one) for one in others]

    # The second label added to the grades, alone, beside them in one training, and where grades tie.
    for source in further:
        metric = CNDCG(source=source)
        for measure in measures[1:]:
            if isinstance(measure, NDCG | CNDCG) and measure.sources == (source,):
                metric = metric_of(measure)
        alone, like_best = YetiLoss(metric), like_best._replace(question="label")
        found += [
            like_best._replace(added=source, eligible=False),
            like_best._replace(objective=alone, eligible=False),
            like_best._replace(objective=Scorecard((first, alone), (0.7, 0.3))),
            like_best._replace(objective=graded(source=source, metric=NDCG())),
        ]
    return found


def stopping_first(setting: Setting, measures: tuple[Measure, ...]) -> tuple[Measure, ...]:
    """The measures, first the one that chooses the rounds: of a further label's model, one of this label."""
    if setting.question == "label":
        for measure in measures:
            if set(measure.sources) <= set(setting.objective.sources):
                return (measure, *(other for other in measures if other != measure))
    return measures


def params_in(setting: Setting, seed: int) -> dict[str, Any]:
    """The parameters of a setting's ranker."""
    quiet, trees = ENGINES[setting.engine].QUIET, PORTFOLIO[setting.trees]
    return {"random_state": seed, **quiet, **params_of(setting.engine, trees)}


def make_ranker(setting: Setting, rounds: int, columns: Columns, seed: int) -> Any:
    """The ranker of a setting."""
    return import_module(f"lambdaboost.{setting.engine}").LambdaRanker(
        objective=setting.objective,
        n_estimators=rounds,
        query=columns.query,
        sources=columns.sources or None,
        position=columns.position,
        weight=columns.weight,
        **params_in(setting, seed),
    )


def run(
    search: Search,
    settings: Sequence[Setting],
    until: float,
    results: list[Result],
    failed: dict[Setting, str],
) -> None:
    """Cross-validate settings and put each into `results` or `failed`; one with a fold not begun by `until` in none.

    A line for each goes to stderr.
    """
    import joblib

    folds = int(search.fold.max()) + 1
    tasks = []
    for setting in settings:
        # One thread for each training: the processors go to different trainings.
        ranker = make_ranker(setting, search.rounds, search.columns, search.seed).set_params(n_jobs=1)
        for number in range(folds):
            held_out, measure = search.fold == number, stopping_first(setting, search.measures)[0]
            given = ranker, search.data, held_out, measure, search.early_stopping_rounds
            tasks.append(joblib.delayed(train_fold)(*given, setting.added, until))
    trained = joblib.Parallel(n_jobs=search.processes, return_as="generator")(tasks)
    for setting in settings:
        of_folds: list[TrainedFold | None] = [next(trained) for _ in range(folds)]
        complete = [one for one in of_folds if one is not None]
        measures, patience = stopping_first(setting, search.measures), search.early_stopping_rounds
        if errors := [one.error for one in complete if one.error is not None]:
            said = failed[setting] = " ".join(f"{type(errors[0]).__name__}: {errors[0]}".split())
        elif len(complete) < folds:
            continue
        else:
            found = measure_folds(complete, search.data, search.fold, measures, patience)
            if np.isnan(list(found.means.values())).any():
                said = failed[setting] = "a measure is undefined on every query, as of a constant model"
            else:
                warned = dict.fromkeys(text for one in complete for text in one.warnings)
                results.append(Result(setting, found, tuple(warned)))
                said = f"{search.measures[0]!r} {found.means[search.measures[0]]:.4f}"
        done = len(results) + len(failed)
        print(f"tune: {done} of {search.settings}: {setting.name}: {plain(said, 300)}", file=sys.stderr)


# The choice.


def highest_mean(results: Sequence[Result], measure: Measure) -> Result:
    """The setting with the highest mean, the first of equal ones.

    A setting that leaves the measure undefined on a query on which another defines it is not chosen, if there is any
    that does not. The alternative, the simplest setting unless another is better by one standard error, gives NDCG
    away: .3 points on average over nine sets, see benchmarks/results/portfolio.md.
    """
    eligible = [one for one in results if one.setting.eligible]
    defined = [int(np.count_nonzero(~np.isnan(one.found.values[measure]))) for one in eligible]
    complete = [one for one, n in zip(eligible, defined, strict=True) if n == max(defined)]
    return max(complete, key=lambda one: one.found.means[measure])


def single_models(results: Sequence[Result], measures: Sequence[Measure]) -> tuple[Result, Result]:
    """The models of each label alone, with the same tree parameters."""
    for second in results:
        setting = second.setting
        if setting.is_of_second_label and set(setting.objective.sources) == set(measures[1].sources):
            # Its baseline is complete, since it is the best of the trees.
            return next(one for one in results if one.setting == setting.baseline), second
    raise ValueError(
        f"tolerance needs a model of the label of {measures[1]!r} alone, and there is none that is complete: name its "
        "column in sources=, and give more minutes"
    )


def notes_on(
    results: Sequence[Result], failed: Mapping[Setting, str], planned: Sequence[Setting]
) -> list[str]:
    """What the table does not show: rounds at the limit, settings that were not reached, warnings of trainings."""
    notes = []
    if limited := [one.setting.name for one in results if one.found.rounds == one.found.limit]:
        notes.append(f"Rounds reached the limit, so that more may be better (rounds=): {'; '.join(limited)}.")
    reached = [*(one.setting for one in results), *failed]
    if missing := [one.name for one in planned if one not in reached]:
        notes.append(f"Not complete: {'; '.join(missing)}.")
    for message in dict.fromkeys(text for one in results for text in one.warnings):
        names = [one.setting.name for one in results if message in one.warnings]
        notes.append(f"Warning of {listed(names, 2)}: {message}")
    return notes
