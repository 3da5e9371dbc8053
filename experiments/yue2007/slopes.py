"""A measure's own slope in the scores, measured: `FiniteDifference` and `SPSA` (Yue and Burges 2007, section 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost import NDCG, Queries
from lambdaboost.evaluation import Measure
from lambdaboost.objectives import Needs, Objective

Floats = NDArray[np.float64]
# Called like `Measure.per_query`: scores float64 (n_documents,) and their queries give (n_queries,), higher is better.
PerQuery = Callable[[Floats, Queries], Any]
MEASURED_DOCUMENTS = 1 << 20  # documents of perturbed lists that are measured at a time


class BlackBox(Objective, registered=False):
    """An objective that evaluates `metric` at other scores; it reads what that measure reads."""

    metric: Measure | PerQuery = NDCG()
    step: float = 1.0

    @property
    def needs(self) -> Needs:
        """What the measure reads; ties by row unless it reads the values of scores, not their order."""
        if not isinstance(self.metric, Measure):
            return Needs()
        positions, by_row = self.metric.reads_positions, not self.metric.reads_scores
        return replace(super().needs, positions=positions, ties_by_row=by_row)


def per_query(metric: Measure | PerQuery, scores: Floats, q: Queries) -> Floats:
    """The metric of each query, float64 (n_queries,); 0 where a `Measure` is undefined."""
    if isinstance(metric, Measure):
        return np.nan_to_num(metric.per_query(scores, q))
    values = np.asarray(metric(scores, q), dtype=np.float64)
    if values.shape != (q.n_queries,) or not np.isfinite(values).all():
        raise ValueError(f"{metric!r} returned {values}, expected {q.n_queries} finite numbers, one a query")
    return values


class FiniteDifference(BlackBox, registered=False):
    r"""The two-sided difference of a measure in each score (Yue and Burges 2007, section 4, FDSA).

    .. math:: \lambda_i = \frac{Z(s + c\,e_i) - Z(s - c\,e_i)}{2c}, \qquad \mu_i = 1,

    with Z the measure of the query of document i. Measures are piecewise constant, so the step c must reach past the
    scores of other documents. There is no curvature: with μ = 1 an engine's Newton step is the mean λ of a leaf, as in
    `GradientStep`, which also scales the λ of every query to unit spread and is the better choice for training:
    ``GradientStep(FiniteDifference(NDCG(k=10)))``.

    Parameters
    ----------
    metric : measure or callable
        Any measure, or a function ``(scores, q)`` of float64 (n_documents,) and `Queries` that returns one
        finite number for each query, (n_queries,), higher is better, as `Measure.per_query` does. It is called for many
        perturbed copies of the queries at once, so the value of a query may depend on its own documents only.
    step : float
        c, in units of the score, > 0.

    Notes
    -----
    A query of n documents takes 2n evaluations of n documents per round; by a measure of the order alone, which all but
    `Pearson` are, only documents that pass another one within the step are evaluated.

    Examples
    --------
    >>> from lambdaboost import NDCG, Queries
    >>> q = Queries([0, 1], sizes=[2])
    >>> grad, hess = FiniteDifference(NDCG(k=1), step=0.5).gradient([0.1, 0.0], q)
    >>> grad, hess  # either document's move of 0.5 turns the order, one way only: 1 / (2 · 0.5)
    (array([ 1., -1.], dtype=float32), array([1., 1.], dtype=float32))
    >>> def margin(scores, q):
    ...     return np.add.reduceat(scores * (q.relevance - 0.5), q.offsets[:-1])
    >>> FiniteDifference(margin, step=0.5).gradient([0.1, 0.0], q)[0]
    array([ 0.5, -0.5], dtype=float32)

    """

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Floats, Floats]:
        """λ of every document, and ones."""
        lam = np.zeros(q.n_documents)
        rows = np.arange(q.n_documents)
        if isinstance(self.metric, Measure) and not self.metric.reads_scores:
            rows = rows[_passes_another(scores, q, self.step)]
        for some in _chunks(rows, q.sizes[q.query_of_row[rows]]):
            lam[some] = self._slopes(some, scores, q)
        return lam, np.ones(q.n_documents)

    def _slopes(self, rows: NDArray[np.int64], scores: Floats, q: Queries) -> Floats:
        """The slope in the score of each of `rows`, all measured at once, each on a copy of its query."""
        query = q.query_of_row[rows]
        copies, copied = q.take(query), scores[q.rows_of(query)]
        moved = copies.offsets[:-1] + rows - q.offsets[query]
        up, down = copied.copy(), copied
        up[moved] += self.step
        down[moved] -= self.step
        return (per_query(self.metric, up, copies) - per_query(self.metric, down, copies)) / (2 * self.step)


class SPSA(BlackBox, registered=False):
    r"""Simultaneous perturbation of all scores (Spall 1992; Yue and Burges 2007, section 4.1).

    .. math:: \lambda_i = \frac{1}{\Delta_i} \cdot \frac{Z(s + c\Delta) - Z(s - c\Delta)}{2c}, \qquad \mu_i = 1,

    with Δ_i = ±1 with equal probability and Z the measure of the query of document i; λ is the mean over `draws` draws
    of Δ. To first order in the step, its expectation is the slope that `FiniteDifference` estimates one document at a
    time; the 2007 paper's SPSA:F is ``draws=F/2``. μ = 1 as in `FiniteDifference`: for training, wrap it in
    `GradientStep`.

    Parameters
    ----------
    metric : measure or callable
        As in `FiniteDifference`.
    step : float
        c, in units of the score, > 0.
    draws : int
        Draws of Δ per round, ≥ 1, two evaluations each.
    seed : int
        ≥ 0. The draws of a round depend on the seed, the round and the number of documents only.

    Examples
    --------
    >>> from lambdaboost import NDCG, Queries
    >>> objective = SPSA(NDCG(k=10), step=0.5, draws=8)
    >>> q = Queries([0, 1], sizes=[2])
    >>> grad, hess = objective.gradient([0.1, 0.0], q, iteration=3)
    >>> bool(grad[0] > 0 > grad[1]), hess
    (True, array([1., 1.], dtype=float32))

    """

    draws: int = 4
    seed: int = 0

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Floats, Floats]:
        """λ of every document at a round, and ones."""
        rng = np.random.default_rng((self.seed, iteration))
        lam = np.zeros(q.n_documents)
        for _ in range(self.draws):
            delta = 2.0 * rng.integers(0, 2, q.n_documents) - 1.0
            up, down = scores + self.step * delta, scores - self.step * delta
            slope = (per_query(self.metric, up, q) - per_query(self.metric, down, q)) / (2 * self.step)
            lam += np.repeat(slope, q.sizes) / delta
        return lam / self.draws, np.ones(q.n_documents)


def _passes_another(scores: Floats, q: Queries, step: float) -> NDArray[np.bool_]:
    """Which documents reach the score of another of their query within the step; bool (n_documents,)."""
    order = np.lexsort((scores, q.query_of_row))
    s, query = scores[order], q.query_of_row[order]
    together = query[1:] == query[:-1]
    passes = np.zeros(s.size, dtype=bool)
    passes[:-1] |= together & (s[:-1] + step >= s[1:])
    passes[1:] |= together & (s[1:] - step <= s[:-1])
    out = np.empty_like(passes)
    out[order] = passes
    return out


def _chunks(rows: NDArray[np.int64], sizes: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """`rows` in runs whose lists have about `MEASURED_DOCUMENTS` documents in all."""
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // MEASURED_DOCUMENTS)) + 1
    yield from (run for run in np.split(rows, cuts) if run.size)
