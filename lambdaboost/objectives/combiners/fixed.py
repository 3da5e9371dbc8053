"""Combiners that need no λ: `Scaled`, `StochasticLabels` and `FromSources`, whose preferences can be drawn."""

from __future__ import annotations

from itertools import pairwise
from math import inf
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._checks import check_choice, check_number, check_whole, refuse_labels
from lambdaboost.datasets import Queries
from lambdaboost.objectives.combiners.combiner import Combiner, check_sum
from lambdaboost.objectives.combiners.gradients import Gradients
from lambdaboost.objectives.schedules import Schedule, check_weight, weight_at

By = Literal["document", "query"]


class Scaled(Combiner):
    r"""Fixed weights or schedules of λ that are scaled to one norm.

    The λ of objective k count :math:`w_k \lVert\lambda_1\rVert / \lVert\lambda_k\rVert` times. Numbers alone, as in
    ``Scorecard(…, (0.8, 0.2))``, weight the λ as they are. Those of a tier are often far smaller than those of the
    grades, since fewer pairs contribute, so that such weights are hard to choose.

    Parameters
    ----------
    weights : tuple of floats ≥ 0 or schedules, one for each objective

    Examples
    --------
    >>> from lambdaboost import ClickTier, LambdaRank, Linear, Scaled, Scorecard
    >>> Scorecard((LambdaRank(), ClickTier()), Scaled((1.0, Linear(0.0, 0.01))))
    Scorecard(objectives=(LambdaRank(), ClickTier()), weights=Scaled(weights=(1.0, Linear(start=0.0, rate=0.01))))

    """

    one_each: ClassVar[str] = "weights"

    weights: tuple[float | Schedule, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not any(callable(weight) or weight > 0 for weight in self.weights):
            raise ValueError(f"weights is {self.weights!r}: give at least one weight above 0")

    def check_entry(self, name: str, entry: Any) -> None:
        """Weights are numbers ≥ 0 or schedules."""
        check_weight(name, entry)

    def weigh(self, gradients: Gradients) -> NDArray[np.floating]:
        """The weights of the round."""
        return np.array([weight_at(w, gradients.iteration, high=inf) for w in self.weights])


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
        check_sum("probabilities", self.probabilities)
        check_choice("by", self.by, By)
        check_whole("seed", self.seed, 0)

    def check_entry(self, name: str, entry: Any) -> None:
        """Probabilities are ≥ 0."""
        check_number(name, entry, 0, 1)

    def weigh(self, gradients: Gradients) -> NDArray[np.floating]:
        """1 for the objective that a document draws, 0 for all others, (K, n_documents)."""
        q, by_query = gradients.q, self.by == "query"
        rng = np.random.default_rng((self.seed, gradients.iteration))
        draws = rng.random(q.n_queries if by_query else q.n_documents, dtype=np.float32)
        if by_query:
            draws = np.repeat(draws, q.sizes)
        edges = [0.0, *np.cumsum(self.probabilities)[:-1], 2.0]
        return np.array([(draws >= low) & (draws < high) for low, high in pairwise(edges)], dtype=np.float32)


class FromSources(Combiner):
    """The weights of each query, read from label sources: preferences as features (Ruchte and Grabocka 2021).

    Draw preferences by `draw_preferences`, append them to the features, and give them as label sources too. Then the
    trees learn one ranking per preference, and you choose it at prediction time (how-to page on several goals).

    Parameters
    ----------
    names : tuple of str
        The source that holds the weight of each objective: ≥ 0, the same in all documents of a query, with sum 1.

    Raises
    ------
    TypeError, ValueError
        In a training, for preferences that are missing, differ within a query, or do not sum to 1.

    Examples
    --------
    >>> from lambdaboost import ClickTier, FromSources, LambdaRank, Scorecard
    >>> Scorecard((LambdaRank(), ClickTier()), FromSources(("prefer_grades", "prefer_clicks"))).sources
    ('relevance', 'clicks', 'prefer_grades', 'prefer_clicks')

    """

    one_each: ClassVar[str] = "names"
    such_as: ClassVar[str] = "('prefer_grades', 'prefer_clicks')"

    names: tuple[str, ...]

    def check_entry(self, name: str, entry: Any) -> None:
        """Names are of type str."""
        if not isinstance(entry, str):
            raise TypeError(f"{name} is {entry!r}: give the name of a label source, such as 'prefer_grades'")

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources of the weights."""
        return tuple(dict.fromkeys(self.names))

    def weigh(self, gradients: Gradients) -> NDArray[np.floating]:
        """The weights of every document, (K, n_documents)."""
        q = gradients.q
        weights: NDArray[np.float32] = q.memo(
            ("preferences", self.names), lambda: _preferences(q, self.names)
        )
        return weights


def draw_preferences(
    sizes: ArrayLike, k: int, concentration: float = 1.0, seed: int = 0
) -> NDArray[np.float32]:
    """Draw preferences between k objectives for every query, by a symmetric Dirichlet distribution.

    Parameters
    ----------
    sizes : array of shape (n_queries,)
        The number of documents of each query.
    k : int
        The number of objectives, ≥ 2.
    concentration : float
        > 0; 1 draws uniformly, less draws more queries with nearly all weight on one objective.
    seed : int
        The same seed gives the same preferences.

    Returns
    -------
    float32 (n_documents, k)
        The same in all documents of a query; the rows sum to 1.

    Examples
    --------
    >>> draw_preferences([2, 1], k=2).round(3)
    array([[0.4  , 0.6  ],
           [0.4  , 0.6  ],
           [0.897, 0.103]], dtype=float32)

    """
    check_whole("k", k, 2)
    check_number("concentration", concentration, above=0)
    check_whole("seed", seed, 0)
    per_query = np.asarray(sizes)
    if per_query.ndim != 1 or not np.issubdtype(per_query.dtype, np.integer) or (per_query < 1).any():
        raise ValueError(f"sizes is {sizes!r}, expected the number of documents of each query, each ≥ 1")
    drawn = np.random.default_rng(seed).dirichlet([concentration] * k, per_query.size)
    return np.repeat(drawn, per_query, axis=0).astype(np.float32)


def _preferences(q: Queries, names: tuple[str, ...]) -> NDArray[np.float32]:
    weights = np.array([q.source(name) for name in names], dtype=np.float64)
    first = weights[:, np.repeat(q.offsets[:-1], q.sizes)]
    same = "give the same preference to all documents of a query"
    for name, of_source, of_first in zip(names, weights, first, strict=True):
        refuse_labels(name, of_source, np.isnan(of_source), "give a preference for every document")
        refuse_labels(name, of_source, of_source != of_first, same)
    total = weights.sum(axis=0)
    remedy = "preferences of a query sum to 1: divide them by their sum"
    refuse_labels(" + ".join(names), total, np.abs(total - 1) > 1e-4, remedy)
    return weights.astype(np.float32)
