"""`FromSources`: weights that label sources hold, so that one model learns every trade-off; and draws of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets import Queries
from lambdaboost.datasets._checks import check_count
from lambdaboost.objectives.base.checks import check_number, check_whole
from lambdaboost.objectives.base.registry import COMBINERS
from lambdaboost.objectives.combiners.combiner import Combiner, Weights, check_length, entries_of
from lambdaboost.objectives.combiners.parts import Parts


@COMBINERS.add
@dataclass(frozen=True, repr=False)
class FromSources(Combiner):
    """The weights of each query, read from label sources: preferences as features (Ruchte and Grabocka 2021).

    Draw preferences for every query by `draw_preferences`, append them to the features, and give them as label sources
    too. Then the trees learn one ranking per preference, and you choose it at prediction time, as constant columns (see
    the how-to page on several goals).

    Parameters
    ----------
    names : tuple of str
        The source that holds the weight of each objective: ≥ 0, the same in all documents of a query, with sum 1.

    Raises
    ------
    TypeError, ValueError
        For names that are not two or more texts; in a training, for preferences that are missing, differ within a
        query, or do not sum to 1.

    Examples
    --------
    >>> from lambdaboost import ClickTier, FromSources, LambdaRank, Scorecard
    >>> Scorecard((LambdaRank(), ClickTier()), FromSources(("prefer_grades", "prefer_clicks"))).sources
    ('relevance', 'clicks', 'prefer_grades', 'prefer_clicks')

    """

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "names", entries_of("names", self.names, "('prefer_grades', 'prefer_clicks')")
        )
        if not all(isinstance(name, str) for name in self.names):
            raise TypeError(f"names is {self.names!r}, expected a tuple of the names of label sources")

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources of the weights."""
        return tuple(dict.fromkeys(self.names))

    def check_parts(self, count: int) -> None:
        """Raise ValueError unless there is one source for each."""
        check_length("names", self.names, count)

    def weigh(self, parts: Parts) -> Weights:
        """The weights of every document, (K, n_documents)."""
        found: Weights = parts.q.memo(("preferences", self.names), lambda: _preferences(parts.q, self.names))
        return found


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

    Raises
    ------
    TypeError, ValueError
        For sizes below 1, fewer than two objectives, or a concentration that is not > 0.

    Examples
    --------
    >>> draw_preferences([2, 1], k=2).round(3)
    array([[0.4  , 0.6  ],
           [0.4  , 0.6  ],
           [0.897, 0.103]], dtype=float32)

    """
    check_count("k", k, 2)
    check_number("concentration", concentration, 0, open_low=True)
    check_whole("seed", seed, 0)
    per_query = np.asarray(sizes)
    if per_query.ndim != 1 or not np.issubdtype(per_query.dtype, np.integer) or (per_query < 1).any():
        raise ValueError(f"sizes is {sizes!r}, expected the number of documents of each query, each ≥ 1")
    drawn = np.random.default_rng(seed).dirichlet([concentration] * k, per_query.size)
    return np.repeat(drawn, per_query, axis=0).astype(np.float32)


def _preferences(q: Queries, names: tuple[str, ...]) -> Weights:
    weights = np.array([q.source(name) for name in names], dtype=np.float64)
    for name, of_source in zip(names, weights, strict=True):
        if np.isnan(of_source).any():
            row = int(np.isnan(of_source).argmax())
            raise ValueError(f"{name}[{row}] is nan: give a preference for every document")
    first = weights[:, np.repeat(q.offsets[:-1], q.sizes)]
    for name, of_source, of_first in zip(names, weights, first, strict=True):
        if (of_source != of_first).any():
            row = int((of_source != of_first).argmax())
            raise ValueError(
                f"{name}[{row}] is {of_source[row]:g}, but {of_first[row]:g} in the first document of its query: "
                "preferences are the same in all documents of a query"
            )
    total = weights.sum(axis=0)
    if (np.abs(total - 1) > 1e-4).any():
        row = int((np.abs(total - 1) > 1e-4).argmax())
        raise ValueError(
            f"{' + '.join(names)} is {total[row]:g} in row {row}, expected 1: divide them by their sum"
        )
    return weights.astype(np.float32)
