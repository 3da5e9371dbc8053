"""Nested cross-validation: an estimate of the whole search on held-out queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._threads import using_one
from lambdaboost.datasets import Collection
from lambdaboost.engines.engine import engine_named
from lambdaboost.evaluation import Measure
from lambdaboost.evaluation.comparison.weighted_t import WeightedMean, weighted_mean
from lambdaboost.tuning.contents import query_contents
from lambdaboost.tuning.folds import fold_of_query, joined

# Tunes on a training and a validation part, and a study's folder.
Tune = Callable[[Collection, Collection | None, Path | None], Any]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The value of each measure on every query, by the model of a search that has not seen it.

    Attributes
    ----------
    measures : tuple of Measure
        The measures.
    values : float64 (m, n)
        Each of the m measures by query, the queries of `train` first, then those of `valid`.
    weight : float64 (n,)
        The weight of each query.

    """

    measures: tuple[Measure, ...]
    values: NDArray[np.float64]
    weight: NDArray[np.float64]

    def mean(self, at: int = 0) -> float:
        """The mean of measure number `at`."""
        return self._of(at).mean

    def interval(self, at: int = 0) -> tuple[float, float]:
        """The 95% confidence interval of the mean: how far it may change with other queries of the same kind."""
        mean, error, df = self._of(at)
        from scipy.special import stdtrit

        reach = float(stdtrit(df, 0.975)) * error
        return mean - reach, mean + reach

    def __str__(self) -> str:
        low, high = self.interval()
        return f"{self.measures[0]!r} {self.mean():.4f} ({low:.4f} to {high:.4f}) on held-out queries"

    def _of(self, at: int) -> WeightedMean:
        known = ~np.isnan(self.values[at]) & (self.weight > 0)
        return weighted_mean(self.values[at][known], self.weight[known])


@dataclass(frozen=True, eq=False)
class Outer:
    """An outer fold: the parts that are searched, the part that is held out, and the places of its queries."""

    train: Collection
    valid: Collection | None
    test: Collection
    queries: NDArray[np.bool_]


def outer_folds(train: Collection, valid: Collection | None, nested: int, seed: int) -> list[Outer]:
    """The outer folds; what is searched is split in the proportion of the given parts."""
    data = joined(train, valid)
    fold = fold_of_query(data, nested, seed + 1)  # other folds than those of the search
    found = []
    for at in range(nested):
        learn, check = _split_alike(data.take(fold != at), train, valid, seed)
        found.append(Outer(learn, check, data.take(fold == at).shuffled(seed), fold == at))
    return found


def held_out(search: Tune, folds: list[Outer], measures: tuple[Measure, ...], study: Path | None) -> HeldOut:
    """Search without each outer fold, and measure on it."""
    n = sum(fold.test.queries.n_queries for fold in folds)
    values, weight = np.full((len(measures), n), np.nan), np.empty(n)
    for at, fold in enumerate(folds):
        tuned = search(fold.train, fold.valid, None if study is None else study / f"held-out-{at}")
        with using_one():
            scores = engine_named(tuned.engine).scores(tuned.booster, fold.test.features)
        q = fold.test.queries
        values[:, fold.queries] = [measure.per_query(scores, q) for measure in measures]
        weight[fold.queries] = q.query_weight
    return HeldOut(measures, values, weight)


def _split_alike(
    data: Collection, train: Collection, valid: Collection | None, seed: int
) -> tuple[Collection, Collection | None]:
    """Split queries in the proportion of the given parts; whole if no validation part is given."""
    if valid is None:
        return data, None
    n_train, n_valid = train.queries.n_queries, valid.queries.n_queries
    share = min(max(2, round((n_train + n_valid) / n_valid)), np.unique(query_contents(data)).size)
    fold = fold_of_query(data, share, seed + 2)
    return data.take(fold != 0), data.take(fold == 0)
