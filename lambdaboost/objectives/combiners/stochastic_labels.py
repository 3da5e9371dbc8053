"""`StochasticLabels`: each document or query learns from one objective, drawn anew in every round."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

import numpy as np

from lambdaboost.objectives.base.checks import check_whole
from lambdaboost.objectives.base.registry import COMBINERS
from lambdaboost.objectives.combiners.combiner import Combiner, Weights, check_length, shares_of
from lambdaboost.objectives.combiners.parts import Parts

By = Literal["document", "query"]


@COMBINERS.add
@dataclass(frozen=True, repr=False)
class StochasticLabels(Combiner):
    r"""Stochastic label aggregation (Carmel, Haramaty, Lazerson and Lewin-Eytan, WWW 2020).

    In each round every document, or every query, takes its λ and μ from one objective k, drawn with probability
    :math:`p_k`; the expectation is that of ``Scaled(probabilities)``. The paper draws a label for each
    document. Here the pairs of each source give λ first, and each document draws one of its λ; with ``by="query"`` the
    forces of a query still sum to zero.

    Parameters
    ----------
    probabilities : tuple of floats ≥ 0 that sum to 1, one for each objective
    by : "document" or "query"
        The unit that is drawn.
    seed : int
        ≥ 0. The draws depend on the seed, the round and the number of documents or queries only, so trainings are
        repeatable, and a resumed one equals an uninterrupted one.

    Raises
    ------
    TypeError, ValueError
        For probabilities that are not two or more numbers ≥ 0 with sum 1, another unit, or a seed below 0.

    Examples
    --------
    >>> from lambdaboost import Blend, ClickTier, LambdaRank, StochasticLabels
    >>> Blend(LambdaRank(), ClickTier(), StochasticLabels((0.8, 0.2), by="query")).sources
    ('relevance', 'clicks')

    """

    probabilities: tuple[float, ...]
    by: By = "document"
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "probabilities", shares_of("probabilities", self.probabilities))
        if self.by not in get_args(By):
            raise ValueError(f"by is {self.by!r}, expected one of {', '.join(get_args(By))}")
        check_whole("seed", self.seed, 0)

    def check_parts(self, count: int) -> None:
        """Raise ValueError unless there is one probability for each."""
        check_length("probabilities", self.probabilities, count)

    def weigh(self, parts: Parts) -> Weights:
        """1 for the objective that a document draws, 0 for all others, (K, n_documents)."""
        q, by_query = parts.q, self.by == "query"
        rng = np.random.default_rng((self.seed, parts.iteration))
        draws = rng.random(q.n_queries if by_query else q.n_documents, dtype=np.float32)
        if by_query:
            draws = np.repeat(draws, q.sizes)
        edges = [0.0, *np.cumsum(self.probabilities)[:-1], 2.0]
        return np.array([(draws >= low) & (draws < high) for low, high in pairwise(edges)], dtype=np.float32)
