"""`FromSources`: weights that label sources hold, so that one model learns every trade-off; and draws of them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._checks import check_number, check_whole, refuse_labels
from lambdaboost.datasets import Queries
from lambdaboost.objectives.combiners.combiner import Combiner
from lambdaboost.objectives.combiners.gradients import Gradients


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

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(isinstance(name, str) for name in self.names):
            raise TypeError(f"names is {self.names!r}, expected a tuple of the names of label sources")

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
