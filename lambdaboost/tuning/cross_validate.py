"""`cross_validate`: a ranker measured on queries that it was not trained on, with one number of rounds for all folds.

Folds are of whole queries, and queries whose documents are equal are in one fold. All folds get the same number of
rounds, the one with the highest mean of the first measure. Choosing the rounds of each fold on its own held-out queries
would bias the result, and would give no single number for the final model. Even the common number is chosen on the
queries that are measured; `nested_scores`, at the number that the other folds chose, avoid that bias, as the proof of
`trade_off` needs.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_whole, shorten_repr
from lambdaboost._warn import warn
from lambdaboost._words import counted
from lambdaboost.attaching import draw_folds
from lambdaboost.datasets import Collection, Columns, Encoder, Queries
from lambdaboost.datasets.collection import check_alone
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.datasets.table import open_table
from lambdaboost.engines import refusal
from lambdaboost.evaluation import Measure
from lambdaboost.evaluation.measure import check_measure, mean_of
from lambdaboost.evaluation.naming import parse_all
from lambdaboost.leaks import warn_of_leaks
from lambdaboost.scoring import columns_of

Floats = NDArray[np.float64]
PATIENCE = 30  # rounds without improvement after which the training of a fold ends, by default
DUPLICATES = 0.05  # the share of queries that may equal queries of another part under other names


@dataclass(frozen=True, eq=False)
class CrossValidated:
    """The result of `cross_validate`: held-out scores, measures by query, and the number of rounds.

    Attributes
    ----------
    queries : Queries
        The queries that were measured, each held out once, with all labels.
    scores : float64 array of shape (n_documents,)
        The score of each document by the model that was not trained on its query, in the order of `queries`.
    nested_scores : float64 array of shape (n_documents,)
        The same, with the number of rounds of each fold chosen by the other folds alone, so that no query stopped the
        model that scores it: `trade_off` takes these for a proof. Equal to `scores` without early stopping.
    values : dict of Measure to float64 array
        Each measure of each query, a number for every query of `queries`; NaN where it is undefined.
        Documents were in random order, so that ties do not follow the table: where many scores tie,
        ``measure(found.scores, found.queries)`` is another number.
    rounds, limit : int
        The number of rounds of every fold, and the largest that was allowed.
    seconds : float
        The time of all trainings together.
    warnings : tuple of str
        What the trainings warned of, each text once.
    rows : int64 array of shape (n_documents,)
        The row of X that each document is, since the rows of a query need not be together there:
        ``out_of_fold[found.rows] = found.scores`` has the order of X.

    """

    queries: Queries
    scores: Floats
    nested_scores: Floats
    values: dict[Measure, Floats]
    rounds: int
    limit: int
    seconds: float
    warnings: tuple[str, ...] = ()
    rows: NDArray[np.int64] | None = None

    @property
    def means(self) -> dict[Measure, float]:
        """The mean of each measure, weighted as the queries are."""
        return {m: mean_of(of, self.queries.query_weight) for m, of in self.values.items()}

    def __repr__(self) -> str:
        means = ", ".join(f"{measure!r} {100 * mean:.2f}" for measure, mean in self.means.items())
        at_limit = ", the limit" if self.rounds == self.limit else ""
        return f"CrossValidated({means}; {counted(self.rounds, 'round')}{at_limit}; {self.queries!r})"


def cross_validate(
    ranker: Any,
    X: Any,
    y: Any = None,
    measures: Measure | str | Iterable[Measure | str] = "ndcg@10",
    folds: int = 5,
    *,
    early_stopping_rounds: int | None = PATIENCE,
    workers: int = 1,
    seed: int = 0,
) -> CrossValidated:
    """Measure a ranker on queries that it was not trained on.

    Each fold is trained for up to ``n_estimators`` rounds, less if the first measure of its held-out queries has not
    risen for `early_stopping_rounds` rounds. All folds are then measured after the same number of rounds, the one with
    the highest mean of the first measure. The documents of a query are put in random order first, since many tables are
    sorted by grade.

    Parameters
    ----------
    ranker : LambdaRanker
        The ranker, of either engine, with its parameters and columns; it is not fitted itself.
    X, y : table, and array of shape (n_rows,)
        The features, with the ranker's columns of queries, sources, positions and weights, and the grades; or a
        Collection, which has all of them: of an array ``Collection(X, Queries(y, sizes=group))``.
    measures : Measure, str or iterable of them
        The measures; the first decides the number of rounds.
    folds : int
        Number of folds, ≥ 2.
    early_stopping_rounds : int or None
        Rounds without improvement after which a fold ends. None trains and measures exactly ``n_estimators`` rounds.
    workers : int
        Number of processes, each of which trains a fold; -1 for one per processor. The result does not depend on it.
        Progress is shown within ``joblib.parallel_config(verbose=10)``.
    seed : int
        Seed of the folds and of the order of documents.

    Raises
    ------
    TypeError, ValueError
        Before anything is trained, for what ``ranker.fit`` would refuse, a measure that lacks its label source, or more
        folds than different queries.

    Examples
    --------
    >>> from lambdaboost.datasets import web_search_log
    >>> from lambdaboost.lightgbm import LambdaRanker
    >>> log = web_search_log(queries=60, documents=15, seed=1)
    >>> ranker = LambdaRanker(n_estimators=20, num_leaves=4, verbose=-1, n_jobs=1)
    >>> found = cross_validate(ranker, log, measures="ndcg@5", folds=3)
    >>> len(found.scores) == log.queries.n_documents, 1 <= found.rounds <= 20
    (True, True)

    """
    import joblib  # here, for importing it takes a fifth of importing lambdaboost

    chosen = parse_all(measures)
    check_whole("folds", folds, 2)
    check_ranker(ranker, early_stopping_rounds)
    data = as_collection(X, y, columns_of(ranker))
    for measure in chosen:
        check_measure(measure, data.queries, "X")
    warn_of_leaks(data.features, data.queries, data.feature_names)

    # A fold of whole queries for each query; documents in random order.
    fold = assign_folds(data, folds, seed)
    shuffled = data.shuffled(seed)
    tasks = (
        joblib.delayed(train_fold)(ranker, shuffled, fold == number, chosen[0], early_stopping_rounds)
        for number in range(folds)
    )
    trained: list[TrainedFold] = joblib.Parallel(n_jobs=workers)(tasks)
    if failed := [one.error for one in trained if isinstance(one.error, Exception)]:
        raise failed[0]
    found = measure_folds(trained, shuffled, fold, chosen, early_stopping_rounds)
    for message in found.warnings:
        warn(message)

    # Back to the order of documents that the caller knows.
    scores, nested = np.empty_like(found.scores), np.empty_like(found.scores)
    order = data.queries.shuffled_rows(seed)
    scores[order], nested[order] = found.scores, found.nested_scores
    rows = data.rows
    if rows is None or data is X:
        rows = np.arange(len(scores))
    return replace(found, queries=data.queries, scores=scores, nested_scores=nested, rows=rows)


def check_ranker(ranker: Any, early_stopping_rounds: int | None) -> None:
    """Raise for what is no ranker, and if its rounds are given, or end, in a way that would not be seen here."""
    if isinstance(ranker, type) or not hasattr(ranker, "_engine"):
        raise TypeError(
            f"ranker is {shorten_repr(ranker)}: give a LambdaRanker of lambdaboost.lightgbm or lambdaboost.xgboost, "
            "such as LambdaRanker(query='qid')"
        )
    if early_stopping_rounds is not None:
        check_whole("early_stopping_rounds", early_stopping_rounds)
    engine, params = ranker._engine, ranker.get_params()
    # XGBoost 3.4 drops trees under any booster.
    drops = any(float(params.get(name) or 0) for name in ("rate_drop", "one_drop"))
    is_dart = "dart" in (engine.given(params, "boosting"), params.get("booster"))
    if early_stopping_rounds is not None and (is_dart or drops):
        raise ValueError(
            "dropout (dart, rate_drop, one_drop) rescales earlier trees in each round, so that the first n rounds are "
            "not the model of n rounds: give early_stopping_rounds=None"
        )
    known = ("n_estimators", "early_stopping_rounds")
    further = {name: value for name, value in params.items() if name not in known and value is not None}
    stopping = [one for one in further.get("callbacks", ()) if type(one).__name__ == "EarlyStopping"]
    for name in further:
        is_alias = any(engine.given({name: True}, one) for one in ("num_iterations", "early_stopping_round"))
        if is_alias or (name == "callbacks" and stopping):
            raise ValueError(
                f"{name}={shorten_repr(further[name])} would end the training of a fold unseen: give n_estimators= to "
                "the ranker and early_stopping_rounds= to cross_validate"
            )


class TrainedFold(NamedTuple):
    """A fold after its training."""

    ranker: Any = None
    curve: Floats = np.empty(0)  # the first measure after each round
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    error: Exception | None = None


def train_fold(
    ranker: Any,
    data: Collection,
    held_out: NDArray[np.bool_],
    measure: Measure,
    early_stopping_rounds: int | None,
    added: str | None = None,
    until: float = np.inf,
) -> TrainedFold | None:
    """Train a copy of a ranker on the queries that are not held out; None after the time `until`.

    With `added`, this label source is added to the grades that it trains on, but not to those that it is measured by.
    """
    from sklearn.base import clone

    if (start := time.time()) > until:
        return None
    train, valid = data.take(~held_out), data.take(held_out)
    if added is not None:
        q = train.queries
        further = {name: labels for name, labels in q.labels.items() if name != RELEVANCE}
        summed = Queries(q.relevance + q.labels[added], q.sizes, weight=q.weight, **further)
        train = replace(train, queries=summed)
    copy = clone(ranker).set_params(early_stopping_rounds=None)
    arguments = copy._engine.measure_fit(copy, measure, early_stopping_rounds)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            copy.fit(train, None, eval_set=[(valid, None)], **arguments)
        except Exception as error:  # a setting that fails is a row of a table, and others go on
            text = refusal(error)
            return TrainedFold(error=error if text is None else ValueError(text))
    curves = next(iter(copy.evals_result_.values()))
    curve = np.asarray(next(iter(curves.values())), dtype=np.float64)
    said = tuple(str(one.message) for one in caught if issubclass(one.category, UserWarning))
    return TrainedFold(copy, curve, time.time() - start, said)


def measure_folds(
    trained: list[TrainedFold],
    data: Collection,
    fold: NDArray[np.int64],
    measures: tuple[Measure, ...],
    early_stopping_rounds: int | None,
) -> CrossValidated:
    """Measure trained folds after the number of rounds with the highest mean of the first measure over all of them.

    Queries whose fold is negative are in no held-out part, and are left out of the result.
    """
    limit = int(trained[0].ranker.n_estimators or 100)
    parts = [data.take(fold == number) for number in range(len(trained))]
    curves = [one.curve for one in trained]
    weights = [defined_weight(measures[0], part.queries) for part in parts]

    def rounds_of(folds: list[int]) -> int:
        if early_stopping_rounds is None:
            return limit
        of_folds = [curves[number] for number in folds], [weights[number] for number in folds]
        return common_rounds(*of_folds, early_stopping_rounds, limit)

    def predict(number: int, rounds: int) -> Floats:
        ranker = trained[number].ranker
        up_to = ranker._engine.first_rounds(min(rounds, curves[number].size))
        found: Floats = ranker.predict(parts[number], **up_to)
        return found

    # The scores of each fold after the common number of rounds, and after the one that the other folds choose.
    every = list(range(len(trained)))
    rounds = rounds_of(every)
    both = np.empty((2, data.queries.n_documents))
    for number in every:
        rows = data.queries.rows_of(fold == number)
        both[:, rows] = predict(number, rounds)
        others = rounds_of([other for other in every if other != number] or every)
        if others != rounds:
            both[1, rows] = predict(number, others)
    measured = np.flatnonzero(fold >= 0)
    queries = data.queries.take(measured)
    scores, nested = both[:, data.queries.rows_of(measured)]
    return CrossValidated(
        queries,
        scores,
        nested,
        {measure: measure.per_query(scores, queries) for measure in measures},
        rounds,
        limit,
        seconds=sum(one.seconds for one in trained),
        warnings=tuple(dict.fromkeys(text for one in trained for text in one.warnings)),
    )


def common_rounds(curves: list[Floats], weights: list[float], early_stopping_rounds: int, limit: int) -> int:
    """The number of rounds with the highest mean of the curves, of those that all of them have; the lowest of several.

    A curve that ended neither by early stopping nor at the limit is of trees that cannot be split further: it goes on
    with its last value.

    >>> common_rounds([np.array([0.1, 0.4, 0.2]), np.array([0.3, 0.1, 0.2])], [1.0, 1.0], 1, 3)
    2
    """
    counted = [(curve, weight) for curve, weight in zip(curves, weights, strict=True) if weight > 0]
    if not counted:
        return 1
    extended = []
    for curve, _ in counted:
        stalled = curve.size - 1 - int(np.argmax(np.nan_to_num(curve, nan=-np.inf)))
        ended = curve.size < limit and stalled < early_stopping_rounds
        extended.append(np.pad(curve, (0, limit - curve.size), mode="edge") if ended else curve)
    n = min(curve.size for curve in extended)
    mean = np.average([curve[:n] for curve in extended], axis=0, weights=[weight for _, weight in counted])
    return int(np.argmax(np.nan_to_num(mean, nan=-np.inf))) + 1


def defined_weight(measure: Measure, q: Queries) -> float:
    """The weight of the queries on which a measure is defined when all scores are equal to 0."""
    defined = ~np.isnan(measure.per_query(np.zeros(q.n_documents), q))
    return float(q.query_weight[defined].sum())


# Tables.


def as_collection(X: Any, y: Any, columns: Columns | Encoder, name: str = "X") -> Collection:
    """A table with its grades, or a Collection, as a Collection."""
    if isinstance(X, Collection):
        check_alone(name, y=y)
        return X
    if y is None:
        raise ValueError(
            f"y is None: give the grades of {name}, one for each row; only a Collection has its own"
        )
    table = open_table(X, name, columns.text)
    if not table.is_named:
        raise ValueError(
            f"{name} is an array, without a column of queries: give a table, or Collection({name}, Queries(y, sizes=…))"
        )
    data: Collection = columns.read(table, y)
    return data


# Folds and shared queries.


def assign_folds(data: Collection, folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of each query, random; equal queries are in one fold.

    >>> from lambdaboost import Queries
    >>> data = Collection(np.arange(12.0)[:, None] % 6, Queries([0, 1] * 6, sizes=[2] * 6))
    >>> fold = assign_folds(data, 3, seed=0)
    >>> sorted(fold.tolist()), fold[:3].tolist() == fold[3:].tolist()
    ([0, 0, 1, 1, 2, 2], True)
    """
    return draw_folds(np.unique(hash_queries(data), return_inverse=True)[1], folds, seed)


def hash_queries(data: Collection) -> NDArray[np.uint64]:
    """A number for each query, the same for queries whose documents have the same features and labels in any order.

    Two different queries share one with a chance of 2⁻⁶⁴.

    >>> from lambdaboost import Queries
    >>> X = np.array([[1.0, 2], [3, 4], [3, 4], [1, 2], [3, 4], [1, 5]])
    >>> a, b, c = hash_queries(Collection(X, Queries([0, 1, 1, 0, 1, 0], sizes=[2, 2, 2])))
    >>> bool(a == b), bool(a == c)
    (True, False)
    """
    from pandas.util import hash_array

    q, X = data.queries, data.features
    by_column = X if isinstance(X, np.ndarray) else X.tocsc()
    features = (by_column[:, [at]] for at in range(X.shape[1]))
    rows = np.zeros(q.n_documents, dtype=np.uint64)
    for column in [*features, *q.labels.values()]:
        dense = column if isinstance(column, np.ndarray) else column.toarray()
        # One zero and one NaN, whichever bits they had.
        values = np.ascontiguousarray(dense.ravel(), dtype=np.float64) + 0.0
        values[np.isnan(values)] = np.nan
        rows = hash_array(rows + hash_array(values))
    return np.add.reduceat(rows, q.offsets[:-1])


def shared_queries(train: Collection, valid: Collection) -> NDArray[np.int64]:
    """The queries of `valid` that `train` has too; none where so few are equal that it may be chance."""
    ordered = np.any([valid.queries.is_ordered(source) for source in valid.queries.labels], axis=0)
    both = np.isin(hash_queries(valid), hash_queries(train)) & ordered
    ids, known, same = valid.queries.ids, train.queries.ids, np.zeros_like(both)
    if ids is not None and known is not None:
        same = np.isin(ids, known)
        if {ids.dtype.kind, known.dtype.kind}.isdisjoint("iuf"):  # numbers often begin anew in each file
            both |= same
    if not (same & both).any() and np.count_nonzero(both) <= DUPLICATES * np.count_nonzero(ordered):
        both[:] = False
    return np.flatnonzero(both)
