r"""The swap of Spearman's rank correlation.

With a_i the rank of the score and b_i that of the label of document i, both centered, ρ = Σ a_i b_i / (A B) with
A² = Σ a_i² and B² = Σ b_i². Swapping two documents in the ranking changes the numerator alone:

    w = |a_i − a_j| |b_i − b_j| / (A B),

the swap of discounted gains with ranks as discounts and b/(A B) as gains. Documents that tie in score have the ranks of
the current order, 1 to n without ties, as in every swap: A² = n(n² − 1)/12. Documents without a label are not counted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import Spearman
from lambdaboost.evaluation.correlations import centered_ranks
from lambdaboost.objectives.swaps.swap import Swap


# `labelled` is (n_documents,).
class LabelledRanks(Swap, NamedTuple("LabelledRanks", [("labelled", NDArray[np.bool_]), ("cutoff", int)])):
    """Spearman; a discount is minus the rank among the labelled documents, which float32 holds up to 16 million."""

    @classmethod
    def of(cls, metric: Spearman, q: Queries) -> LabelledRanks:
        """The swap of Spearman."""
        return cls(~np.isnan(q.source(metric.source, allow_negative=True)), q.n_documents)

    def rank_terms(self, first, by_rank, discount, second):
        """Minus the ranks."""
        rank = 0
        for r in range(by_rank.size):
            rank += int(self.labelled[first + by_rank[r]])
            discount[r] = -rank  # falling from rank to rank, as the sweep expects
        return self.cutoff


def ranks_of_labels(metric: Spearman, q: Queries) -> NDArray[np.float64]:
    """b/(A B) of each document, 0 without a label; (n_documents,)."""
    ranks = centered_ranks(q.source(metric.source, allow_negative=True).astype(np.float64), q)
    labelled, b, starts = ~np.isnan(ranks), np.nan_to_num(ranks), q.offsets[:-1]
    n = np.add.reduceat(labelled, starts, dtype=np.float64)
    scale = np.repeat(np.sqrt(n * (n**2 - 1) / 12 * np.add.reduceat(b * b, starts)), q.sizes)
    return np.divide(b, scale, where=scale > 0, out=np.zeros(scale.size))
