"""The base of measures of the ranks of relevant documents, those of at least a threshold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_number, check_whole
from lambdaboost._jit import kernel
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.measure import AtCutoff, Measure
from lambdaboost.evaluation.rankings import over_rankings, retrieved


class Binary(Measure, registered=False):
    """A measure of the ranks of relevant documents, those of a grade of at least `threshold`."""

    threshold: float = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        remedy = "give the lowest grade that counts as relevant, a number > 0"
        self._set(threshold=check_number("threshold", self.threshold, above=0, remedy=remedy))

    def swap_gains(self, q: Queries) -> NDArray[np.float32]:
        """The gain of a document in a swap: 1 if it is relevant, else 0; float32 (n_documents,)."""
        return self.relevant(q)

    def relevant(self, q: Queries) -> NDArray[np.float32]:
        """1 for a relevant document, else 0: float32 (n_documents,); cached in `q`."""
        at_least = np.float32(self.threshold)
        return q.memo(("relevant", self.threshold), lambda: (q.relevance >= at_least).astype(np.float32))

    def n_relevant(self, q: Queries) -> NDArray[np.int64]:
        """The number of relevant documents of each query, int64 (n_queries,); cached in `q`."""
        return self._counted("n relevant", np.greater_equal, q)

    def n_others(self, q: Queries) -> NDArray[np.int64]:
        """The number of other documents with a grade of each query, int64 (n_queries,); cached in `q`."""
        return self._counted("n others", np.less, q)

    def _counted(self, key: str, compare: np.ufunc, q: Queries) -> NDArray[np.int64]:
        """The number of documents of each query whose grade compares so with the threshold."""
        at_least, starts = np.float32(self.threshold), q.offsets[:-1]
        return q.memo(
            (key, self.threshold),
            lambda: np.add.reduceat(compare(q.relevance, at_least), starts, dtype=np.int64),
        )

    def _over_rankings(
        self, function: Callable[..., None], scores: NDArray[np.float64], q: Queries, k: int | None = None
    ) -> NDArray[np.float64]:
        """One value per query, by ``function(first, last, offsets, k, grades, threshold, n_relevant, n_others, out)``.

        The grades are in rank order, and undefined past rank k. NaN where no document is relevant.
        """
        grades = retrieved(q.relevance, scores, np.nan)
        threshold, n, others = np.float32(self.threshold), self.n_relevant(q), self.n_others(q)
        values = over_rankings(function, grades, scores, q, k, threshold, n, others)
        return np.where(n > 0, values, np.nan)


class AtRank(Binary, AtCutoff, registered=False):
    """Hits in the first k ranks."""

    k: int = field()  # needed, unlike that of `AtCutoff`

    def __post_init__(self) -> None:
        check_whole("k", self.k, remedy="give the last rank that counts, a whole number ≥ 1")
        super().__post_init__()


@kernel
def count_hits(first, last, offsets, k, ranked, threshold, n_relevant, n_others, out):
    """The number of relevant documents in the first k ranks."""
    for q in range(first, last):
        hits = 0
        for r in range(min(offsets[q + 1] - offsets[q], k)):
            hits += ranked[offsets[q] + r] >= threshold
        out[q] = hits
