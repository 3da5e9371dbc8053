"""`tune`: settings of trees, then objectives on the best of them, all cross-validated, and one table of the results.

**Stages.** The engine's own objective with its own parameters; `YetiLoss` on the settings of `PORTFOLIO`; on the best
of these, in the same folds, the engine's other objectives and lambdaboost's, and with a further label source the ways
to use it. Where both engines are installed, XGBoost is trained on the first two settings of trees as well.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_number, check_whole
from lambdaboost._installed import package
from lambdaboost._words import counted, plain
from lambdaboost.datasets import Collection, Columns, Encoder, Queries
from lambdaboost.datasets.collection import check_alone
from lambdaboost.datasets.columns import QUERY
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines import ENGINES, first_installed
from lambdaboost.evaluation import CNDCG, NDCG, Measure, trade_off
from lambdaboost.evaluation.measure import check_measure
from lambdaboost.evaluation.naming import parse_all
from lambdaboost.leaks import warn_of_leaks
from lambdaboost.merging import merge
from lambdaboost.objectives import LambdaRank, RankNet, Scorecard, YetiLoss, graded
from lambdaboost.objectives.swaps import has_swap
from lambdaboost.tuning.cross_validate import (
    PATIENCE,
    TrainedFold,
    as_collection,
    assign_folds,
    measure_folds,
    shared_queries,
    train_fold,
)
from lambdaboost.tuning.portfolio import PORTFOLIO, TRIED, params_of
from lambdaboost.tuning.tuned import Results, Setting, Tuned, add_scores, compare_results

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
    measure: Measure | str | Iterable[Measure | str] = "ndcg@10",
    tolerance: float | None = None,
    engine: Literal["lightgbm", "xgboost"] | None = None,
    settings: int = TRIED,
    minutes: float | None = None,
    folds: int = 5,
    rounds: int = 500,
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
    X, y : table, and array of shape (n_rows,)
        The features and grades; or a Collection, which has its own queries, grades, sources, positions and weights: of
        an array ``Collection(X, Queries(y, sizes=group))``.
    valid : (X, y) or Collection, optional
        Queries to measure on in place of cross-validation, such as those of a later time: a table with the columns of
        X. They are never trained on.
    query, sources, position, weight : str, list or dict, str, str
        Columns of X, as of the rankers.
    measure : Measure, str or iterable of them
        The first decides; with several, every comparison has a row for each. Labels below 0 need one of their order,
        such as "spearman": the trees are then searched with `LambdaRank` of it, or with `RankNet`.
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
    rounds : int
        The largest number of rounds of a fold; 30 without improvement end it sooner. The final model has more rounds
        than the folds, in proportion to its documents.
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
    >>> log = web_search_log(40, documents=20, seed=2)
    >>> few = {"settings": 2, "folds": 2, "rounds": 10, "workers": 1}
    >>> tuned = tune(log, engine="lightgbm", **few)
    >>> tuned.comparison["question"].unique().tolist()
    ['default', 'objective', 'trees', 'label', 'choice']

    """
    import joblib  # here, for importing it takes a fifth of importing lambdaboost

    # Check and read all arguments, before anything is trained.
    measures = parse_all(measure)
    check_whole("settings", settings, 1, len(PORTFOLIO))
    check_whole("folds", folds, 2)
    check_whole("rounds", rounds)
    check_whole("seed", seed, 0)
    check_whole("workers", 1 if workers is None else workers)
    if minutes is not None:
        check_number("minutes", minutes, above=0, remedy="give a number above 0, such as 10")
    if engine is not None and engine not in ENGINES:
        raise ValueError(
            f"engine is {plain(repr(engine))}, expected {' or '.join(ENGINES)}, or None for both"
        )
    main = engine or first_installed()
    package(main)
    columns = Columns(query, sources=sources or (), position=position, weight=weight)
    train = as_collection(X, y, columns)
    if isinstance(X, Collection):
        check_alone("X", sources=sources, position=position, weight=weight)
        columns = Columns(sources=[name for name in X.queries.labels if name != RELEVANCE])
    further = [name for name in train.queries.labels if name != RELEVANCE]
    if valid is None:
        data, fold = train, assign_folds(train, folds, seed)
    else:
        data, fold = hold_out(train, valid, columns)
    for measured in measures:
        check_measure(measured, data.queries.take(fold >= 0), "X" if valid is None else "valid")
    if tolerance is not None:
        check_tolerance(tolerance, measures, valid, further)
    warn_of_leaks(train.features, train.queries, train.feature_names)

    # Settings of trees come first, then objectives on the best of them.
    others = [one for one in ENGINES if one != main and engine is None and find_spec(one)]
    planned = settings_of_trees(main, others, settings, searched_with(measures[0], data.queries))
    n = len(planned) + len(objectives_on(planned[-1], 1, measures, further))
    n_folds = int(fold.max()) + 1
    worth = 1 + data.queries.n_documents * n // ROWS_OF_PROCESS
    processes = min(workers or worth, n * n_folds, joblib.cpu_count())
    print(
        f"tune: up to {n} settings in {counted(n_folds, 'fold')}, {counted(processes, 'process', 'processes')}",
        file=sys.stderr,
    )
    search = Search(data.shuffled(seed), fold, measures, columns, rounds, processes, seed, planned)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"\d+ tasks ")  # of joblib, where Ctrl-C ends the search
        is_stopped = search.run_stages(n, further, np.inf if minutes is None else 60 * minutes)
    if not search.results:
        reasons = [f"no setting can be trained; {one.name}: {said}" for one, said in search.failed.items()]
        raise ValueError((reasons or ["no setting is complete within these minutes: give more"])[0])

    # The choice: the highest mean, or with a tolerance the models of both labels.
    results, notes = search.results, search.notes()
    chosen = highest_mean(results, measures[0])
    found, members, weights, curve = results[chosen], [chosen], None, None
    if tolerance is not None:
        first, second = single_models(results, measures)
        scores = results[first].nested_scores, results[second].nested_scores
        curve = trade_off(*scores, results[first].queries, measures)
        point = curve.choose(tolerance=tolerance)
        notes.append(point.sentence)
        chosen, found, members = first, results[first], [first]
        if point.weight > 0:
            members, weights = [first, second], point.weights
            chosen, found = add_scores(results, first, second, weights)
    comparison = compare_results(results, search.failed, chosen, found, measures)

    # Train it again on all queries of X; more documents need more rounds.
    scale = folds / (folds - 1) if valid is None else 1.0
    fitted = [
        make_ranker(one, max(1, round(results[one].rounds * scale)), columns, seed).fit(X, y)
        for one in members
    ]
    return Tuned(
        comparison=comparison,
        choice=comparison[comparison["question"] == "choice"].iloc[0],
        model=fitted[0] if weights is None else merge(fitted, weights=weights),
        objective=members[0].objective,
        params=params_in(members[0], seed),
        rounds=fitted[0].n_estimators,
        members=tuple(fitted),
        scores={one.name: of.scores for one, of in results.items()},
        queries=found.queries,
        notes=tuple(notes),
        trade_off=curve,
        weights=weights,
        is_stopped=is_stopped,
    )


# Arguments.


def check_tolerance(tolerance: Any, measures: Sequence[Measure], valid: Any, further: Sequence[str]) -> None:
    """Raise for a tolerance that nothing could prove."""
    check_number("tolerance", tolerance, above=0, below=1, remedy="give such as 0.005")
    if len(measures) != 2:
        raise ValueError(
            f"tolerance takes two measures, one to keep and one to raise, and measure has {len(measures)}: give such "
            "as measure=['ndcg@10', 'cndcg@10']"
        )
    if valid is not None:
        raise ValueError(
            "tolerance is proven on queries that neither model was trained on or stopped by, and those of valid stop "
            "both: leave out valid=, for folds, or give other queries to trade_off"
        )
    if set(measures[1].sources) not in [{name} for name in further]:
        raise ValueError(
            f"tolerance merges a model of the label of {measures[1]!r}, which is none of the further ones: give a "
            "measure of a further label second, and name its column in sources="
        )


def hold_out(train: Collection, valid: Any, columns: Columns) -> tuple[Collection, NDArray[np.int64]]:
    """All queries, and the fold of each: 0 of validation data, −1 of training data, which are never held out."""
    if isinstance(valid, Collection):
        valid = (valid, None)
    if not isinstance(valid, tuple | list) or len(valid) != 2:
        raise TypeError("valid is no pair: give (X, y), or a Collection")
    encoder = Encoder(columns, train.feature_names or (), train.categories)
    X, y = valid
    part = as_collection(X, y, encoder, "valid")
    if train.queries.weight is not None and part.queries.weight is None:
        raise ValueError(
            "valid has no weights, and X has: give it the column weight=, or weights in its Queries, so that its "
            "queries are measured as they should count"
        )
    data = Collection.concat({"X": train, "valid": part}, keep_ids=False)
    shared = shared_queries(train, part)
    if shared.size:
        ids, first = part.queries.ids, shared[0]
        which = plain(first if ids is None else ids[first])
        raise ValueError(
            f"valid shares {counted(shared.size, 'query', 'queries')} with X, the first is query {which}: the choice "
            "would be made on training data; remove them from one part"
        )
    return data, np.repeat([-1, 0], [train.queries.n_queries, part.queries.n_queries])


# The settings: each is compared with one that differs from it in one thing.


def settings_of_trees(main: str, others: Sequence[str], n: int, objective: Any) -> list[Setting]:
    """The engine's default, then an objective on the first `n` settings of trees, of which other engines have two."""
    default = Setting("default", ENGINES[main].NATIVE_OBJECTIVES[0], main, 0)
    own = Setting("objective", objective, main, 0, default)
    trees = [own._replace(question="trees", trees=at, baseline=own) for at in range(1, n)]
    shared = [one for one in trees if one.trees in SHARED]
    like = [one._replace(question="engine", engine=other, baseline=one) for other in others for one in shared]
    return [default, own, *trees, *like]


def searched_with(measure: Measure, q: Queries) -> Any:
    """The objective of the search of trees: `YetiLoss`; of labels below 0, which have no gain, one of their order."""
    metric: Any = NDCG()
    if isinstance(measure, NDCG | CNDCG) and has_swap(measure):
        metric = replace(measure, k=None, empty=0.0)  # without a cutoff all documents are ordered
    if all(np.nanmin(q.labels[source]) >= 0 for source in metric.sources):
        return YetiLoss(metric)
    return LambdaRank(replace(measure, empty=0.0)) if has_swap(measure) else RankNet()


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
    others: list[Any] = [*own, LambdaRank(first.metric) if isinstance(first, YetiLoss) else RankNet()]
    for measure in measures:
        if has_swap(measure) and not isinstance(measure, NDCG | CNDCG):
            others.append(LambdaRank(replace(measure, empty=0.0)))
    found = [like_best._replace(question="objective", objective=one) for one in others if one != first]

    # The second label added to the grades, alone, beside them in one training, and where grades tie.
    for source in further:
        metric: Any = CNDCG(source=source)
        for measure in measures[1:]:
            if isinstance(measure, NDCG | CNDCG) and measure.sources == (source,) and has_swap(measure):
                metric = replace(measure, k=None, empty=0.0)
        alone, like_best = YetiLoss(metric), like_best._replace(question="label")
        found += [
            like_best._replace(added=source, eligible=False),
            like_best._replace(objective=alone, eligible=False),
            like_best._replace(objective=Scorecard((first, alone), (0.7, 0.3))),
            like_best._replace(objective=graded(source=source, metric=NDCG())),
        ]
    return found


# The search.


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


@dataclass
class Search:
    """What all trainings of a search share, and what is known of the settings so far."""

    data: Collection  # the documents of each query in random order
    fold: NDArray[np.int64]  # of each query; negative where it is never held out
    measures: tuple[Measure, ...]
    columns: Columns
    rounds: int
    processes: int
    seed: int
    planned: list[Setting]  # first those of trees, then also the objectives on the best of them
    results: Results = field(default_factory=dict)
    failed: dict[Setting, str] = field(default_factory=dict)

    def run_stages(self, at_most: int, further: Sequence[str], seconds: float) -> bool:
        """Cross-validate the settings of trees, and then those of objectives on the best of them.

        Their number is `at_most` until this is known. True if Ctrl-C ended the search, once a setting is complete.
        """
        default, measure, begin = self.planned[0], self.measures[0], time.time()
        try:
            self.run(self.planned, at_most, begin + SHARE_OF_TREES * seconds)
            trees = [one for one in self.results if one != default and one.engine == default.engine]
            if trees:
                best = max(trees, key=lambda one: self.results[one].means[measure])
                on_best = objectives_on(best, len(trees), self.measures, further)
                self.planned += on_best
                self.run(on_best, len(self.planned), begin + seconds)
        except KeyboardInterrupt:
            if not self.results:
                raise
            print("tune: stopped; the choice is made among the settings that are complete", file=sys.stderr)
            return True
        return False

    def run(self, settings: Sequence[Setting], of: int, until: float) -> None:
        """Cross-validate settings, of which those with a fold that has not begun by `until` are left out.

        A line for each, with its number `of` all, goes to stderr.
        """
        import joblib

        folds = int(self.fold.max()) + 1
        tasks = []
        for setting in settings:
            # One thread for each training: the processors go to different trainings.
            ranker = make_ranker(setting, self.rounds, self.columns, self.seed).set_params(n_jobs=1)
            first = stopping_first(setting, self.measures)[0]
            for number in range(folds):
                given = ranker, self.data, self.fold == number, first, PATIENCE, setting.added, until
                tasks.append(joblib.delayed(train_fold)(*given))
        trained = joblib.Parallel(n_jobs=self.processes, return_as="generator")(tasks)
        for setting in settings:
            of_folds: list[TrainedFold | None] = [next(trained) for _ in range(folds)]
            complete = [one for one in of_folds if one is not None]
            if errors := [one.error for one in complete if one.error is not None]:
                said = str(errors[0]) if isinstance(errors[0], ValueError) else repr(errors[0])
                self.failed[setting] = " ".join(said.split())
            elif len(complete) < folds:
                continue
            else:
                measures = stopping_first(setting, self.measures)
                found = measure_folds(complete, self.data, self.fold, measures, PATIENCE)
                said = f"{self.measures[0]!r} {found.means[self.measures[0]]:.4f}"
                if np.isnan(list(found.means.values())).any():
                    said = self.failed[setting] = (
                        "a measure is undefined on every query, as of a constant model"
                    )
                else:
                    self.results[setting] = found
            done = len(self.results) + len(self.failed)
            print(f"tune: {done} of {of}: {setting.name}: {plain(said, 300)}", file=sys.stderr)

    def notes(self) -> list[str]:
        """What the table does not show: rounds at the limit, settings that were not reached, warnings of trainings."""
        notes = []
        if limited := [setting.name for setting, one in self.results.items() if one.rounds == one.limit]:
            notes.append(
                f"Rounds reached the limit, so that more may be better (rounds=): {'; '.join(limited)}."
            )
        if missing := [
            one.name for one in self.planned if one not in self.results and one not in self.failed
        ]:
            notes.append(f"Not complete: {'; '.join(missing)}.")
        for message in dict.fromkeys(text for one in self.results.values() for text in one.warnings):
            names = [setting.name for setting, one in self.results.items() if message in one.warnings]
            notes.append(f"Warning of {'; '.join(names)}: {message}")
        return notes


# The choice.


def highest_mean(results: Results, measure: Measure) -> Setting:
    """The setting with the highest mean, the first of equal ones.

    A setting that leaves the measure undefined on a query on which another defines it is not chosen, if there is any
    that does not. The alternative, the simplest setting unless another is better by one standard error, gives NDCG
    away: .3 points on average over nine sets, see benchmarks/results/portfolio.md.
    """
    defined = {
        setting: int(np.count_nonzero(~np.isnan(one.values[measure])))
        for setting, one in results.items()
        if setting.eligible
    }
    complete = [setting for setting, n in defined.items() if n == max(defined.values())]
    return max(complete, key=lambda setting: results[setting].means[measure])


def single_models(results: Results, measures: Sequence[Measure]) -> tuple[Setting, Setting]:
    """The models of each label alone, with the same tree parameters."""
    for second in results:
        # Its baseline is complete, since it is the best of the trees.
        is_of_label = second.is_of_second_label and set(second.objective.sources) == set(measures[1].sources)
        if is_of_label and second.baseline in results:
            return second.baseline, second
    raise ValueError(
        f"tolerance needs a model of the label of {measures[1]!r} alone, and there is none that is complete: give more "
        "minutes"
    )
