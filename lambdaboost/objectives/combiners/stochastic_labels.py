"""`StochasticLabels`: each document or query learns from one objective, drawn anew in every round."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_choice, check_whole
from lambdaboost.objectives.combiners.combiner import Combiner, check_shares
from lambdaboost.objectives.combiners.gradients import Gradients

By = Literal["document", "query"]


class StochasticLabels(Combiner):
    r"""Stochastic label aggregation (Carmel, Haramaty, Lazerson and Lewin-Eytan, WWW 2020).

    In each round every document, or every query, takes its λ and μ from one objective k, drawn with probability
    :math:`p_k`; the expectation is that of ``Scaled(probabilities)``. The paper draws a label for each document; here
    each document draws one of its λ. With ``by="query"`` the forces of a query still sum to zero.

    Parameters
    ----------
    probabilities : tuple of floats ≥ 0 that sum to 1, one for each objective
    by : "document" or "query"
        The unit that is drawn.
    seed : int
        ≥ 0. The draws depend on the seed, the round and the number of documents or queries only.

    Examples
    --------
    >>> from lambdaboost import Blend, ClickTier, LambdaRank, StochasticLabels
    >>> Blend(LambdaRank(), ClickTier(), StochasticLabels((0.8, 0.2), by="query")).sources
    ('relevance', 'clicks')

    """

    one_each: ClassVar[str] = "probabilities"

    probabilities: tuple[float, ...]
    by: By = "document"
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_shares("probabilities", self.probabilities)
        check_choice("by", self.by, By)
        check_whole("seed", self.seed, 0)

    def weigh(self, gradients: Gradients) -> NDArray[np.floating]:
        """1 for the objective that a document draws, 0 for all others, (K, n_documents)."""
        q, by_query = gradients.q, self.by == "query"
        rng = np.random.default_rng((self.seed, gradients.iteration))
        draws = rng.random(q.n_queries if by_query else q.n_documents, dtype=np.float32)
        if by_query:
            draws = np.repeat(draws, q.sizes)
        edges = [0.0, *np.cumsum(self.probabilities)[:-1], 2.0]
        return np.array([(draws >= low) & (draws < high) for low, high in pairwise(edges)], dtype=np.float32)
