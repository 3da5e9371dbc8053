"""Weights of several objectives that depend on their λ, their costs, draws or the data; `Combined` uses them.

A combiner is given the λ and μ of K objectives in a round (`lambdaboost.objectives.scaled.Gradients`) and returns their
weights, (K,), or those of each document, (K, n_documents); all ≥ 0. The λ are scaled to one norm first, as by
`lambdaboost.Scaled`. A combiner keeps nothing from round to round, so a training that is repeated gives the same model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog, nnls

from lambdaboost import Queries
from lambdaboost.objectives import Objective
from lambdaboost.objectives.composite import Composite
from lambdaboost.objectives.objective import Floats, LambdaMu
from lambdaboost.objectives.scaled import Gradients

TEMPERATURE = 0.05  # of `Chebyshev`
BALANCED = 1e-4  # the divergence below which costs are in balance


class Combiner(Protocol):
    """Weighs objectives anew in each round."""

    sources: ClassVar[Sequence[str]] = ()

    def weigh(self, found: Gradients) -> NDArray[np.floating]:
        """The weight of each objective, (K,), or of each document in each, (K, n_documents)."""


class Combined(Composite, registered=False):
    """A sum of objectives, scaled to one norm and weighted by a combiner."""

    objectives: tuple[Objective, ...]
    combiner: Any

    @property
    def parts(self) -> tuple[Objective, ...]:
        """The objectives."""
        return self.objectives

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources of the objectives and of the combiner."""
        return tuple(dict.fromkeys((*super().sources, *self.combiner.sources)))

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> LambdaMu:
        """λ and μ of every document at a round."""
        found = Gradients(self.objectives, scores, q, iteration)
        return found.scaled_sum(self.combiner.weigh(found))


@dataclass(frozen=True)
class MinNorm(Combiner):
    r"""The shortest convex combination of the λ, scaled to one norm: multiple gradient descent (Désidéri 2012).

    .. math:: \min_{\alpha \ge 0,\; \sum \alpha = 1}
        \lVert \sum_k \alpha_k \frac{\lambda_k}{\lVert\lambda_k\rVert} \rVert^2

    Every objective with a positive weight improves at the same rate along it, the others at least as fast. Of two
    scaled λ it always weights both 1/2; with three and more the weights change, and an objective that others already
    improve gets weight 0.
    """

    def weigh(self, found: Gradients) -> NDArray[np.floating]:
        """The weights, 0 for objectives without force."""
        if found.has_force.sum() <= 2:
            return found.has_force / max(found.has_force.sum(), 1)
        return _of_live(found, shortest(cosines(found)))


@dataclass(frozen=True)
class Chebyshev(Combiner):
    r"""Weighted Chebyshev scalarisation: lower the largest of :math:`w_k c_k`, where :math:`c_k = 1 - Z_k`.

    .. math:: \alpha_k \propto \exp\Big(\frac{1}{T}\,\frac{w_k c_k}{\max_j w_j c_j}\Big),

    (Steuer and Choo 1983, smoothed as by Lin et al. 2024): a soft maximum, with T = 0.05, since a hard one would jump
    between objectives. The further factor :math:`w_k` of its gradient is left out, for all λ have one norm.
    :math:`Z_k` is the measure of objective k (`Objective.measure`) on the training data, over the queries on which it
    is defined. A sum of costs reaches only the convex part of the trade-off; the largest cost reaches all of it.
    `weights` are above 0, one for each objective.
    """

    weights: tuple[float, ...]

    def weigh(self, found: Gradients) -> NDArray[np.floating]:
        """The soft maximum, among the objectives with any force."""
        weighted = np.where(found.has_force, np.array(self.weights) * costs(found), 0.0)
        if weighted.max() <= 0:
            return found.has_force / max(found.has_force.sum(), 1)
        soft = np.where(found.has_force, np.exp((weighted / weighted.max() - 1) / TEMPERATURE), 0.0)
        return soft / soft.sum()


@dataclass(frozen=True)
class ExactPareto(Combiner):
    r"""Exact Pareto optimal search (Mahapatra and Rajan, ICML 2020): the point at which all :math:`r_k c_k` are equal.

    With :math:`c_k = 1 - Z_k` as in `Chebyshev`, :math:`\hat c_k = r_k c_k / \sum_j r_j c_j`, the divergence
    :math:`D = \sum_k \hat c_k \log(K \hat c_k)` and :math:`a_k = r_k(\log(K \hat c_k) - D)`, the weights α solve a
    linear program (the paper's Algorithm 1, with G the cosines of the λ in place of their inner products):

    .. math:: \max_{\alpha \ge 0,\; \sum \alpha = 1} \alpha^T G a \quad\text{where}\quad
        (G\alpha)_k \ge \begin{cases} 0 & r_k c_k \text{ is the largest} \\
        (Ga)_k & (Ga)_k \le 0, \end{cases}

    without a limit for the other costs; if :math:`Ga \le 0`, :math:`G\alpha \ge 0` in place of both. In balance,
    :math:`D \le 10^{-4}`, the paper lowers the sum of the costs, which is indifferent between two λ of one norm; here
    the direction is that of `MinNorm`, which lowers all costs at one rate.

    `preferences` are the r, above 0 with sum 1: an objective with twice the preference gets half the cost.
    """

    preferences: tuple[float, ...]

    def weigh(self, found: Gradients) -> NDArray[np.floating]:
        """The weights, 0 for objectives without force."""
        live = found.has_force
        if not live.any():
            return np.zeros(live.size)
        preferences = np.array(self.preferences)[live]
        return _of_live(found, towards_balance(preferences * costs(found)[live], preferences, cosines(found)))


@dataclass(frozen=True)
class StochasticLabels(Combiner):
    r"""Stochastic label aggregation (Carmel, Haramaty, Lazerson and Lewin-Eytan, WWW 2020).

    In each round every document, or every query, takes its λ and μ from one objective k, drawn with probability
    :math:`p_k`; the expectation is that of ``Scaled(probabilities)``. The paper draws a label for each document; here
    each document draws one of its λ. With ``by="query"`` the forces of a query still sum to zero. The draws depend on
    the seed, the round and the number of documents or queries only.
    """

    probabilities: tuple[float, ...]
    by: Literal["document", "query"] = "document"
    seed: int = 0

    def weigh(self, found: Gradients) -> NDArray[np.floating]:
        """1 for the objective that a document draws, 0 for all others, (K, n_documents)."""
        q, by_query = found.q, self.by == "query"
        rng = np.random.default_rng((self.seed, found.iteration))
        draws = rng.random(q.n_queries if by_query else q.n_documents, dtype=np.float32)
        if by_query:
            draws = np.repeat(draws, q.sizes)
        edges = [0.0, *np.cumsum(self.probabilities)[:-1], 2.0]
        return np.array([(draws >= low) & (draws < high) for low, high in pairwise(edges)], dtype=np.float32)


@dataclass(frozen=True)
class FromSources(Combiner):
    """The weights of each query, read from label sources: preferences as features (Ruchte and Grabocka 2021).

    `names` are the sources that hold the weight of each objective: ≥ 0, the same in all documents of a query, with sum
    1. Draw preferences by `draw_preferences`, append them to the features, and give them as label sources too. Then the
    trees learn one ranking per preference, and you choose it at prediction time.
    """

    names: tuple[str, ...]

    @property
    def sources(self) -> Sequence[str]:  # type: ignore[override]
        """The label sources of the weights."""
        return self.names

    def weigh(self, found: Gradients) -> NDArray[np.floating]:
        """The weights of every document, (K, n_documents); a ValueError where they do not sum to 1."""
        weights = np.array([found.q.source(name) for name in self.names], dtype=np.float32)
        if not (np.abs(weights.sum(axis=0) - 1) <= 1e-4).all():
            raise ValueError(f"the preferences {self.names} do not sum to 1 in every document")
        return weights


def draw_preferences(
    sizes: ArrayLike, k: int, concentration: float = 1.0, seed: int = 0
) -> NDArray[np.float32]:
    """Draw preferences between k objectives for every query, by a symmetric Dirichlet distribution.

    `sizes` are the documents of each query. A concentration of 1 draws uniformly, less draws more queries with nearly
    all weight on one objective. Returns float32 (n_documents, k), the same in all documents of a query; rows sum to 1.

    >>> draw_preferences([2, 1], k=2).round(3)
    array([[0.4  , 0.6  ],
           [0.4  , 0.6  ],
           [0.897, 0.103]], dtype=float32)
    """
    per_query = np.asarray(sizes)
    drawn = np.random.default_rng(seed).dirichlet([concentration] * k, per_query.size)
    return np.repeat(drawn, per_query, axis=0).astype(np.float32)


def costs(found: Gradients) -> Floats:
    """1 less the measure of each objective over the queries on which it is defined, 0 if it is on none; (K,)."""
    measured = np.array([of.measure.strict(found.scores, found.q) for of in found.objectives])
    return np.where(np.isnan(measured), 0.0, 1.0 - measured)


def cosines(found: Gradients) -> Floats:
    """The cosine between each two λ with any force, (K', K'); a document counts as often as its weight says."""
    weight = 1.0 if found.q.weight is None else found.q.weight
    live = np.flatnonzero(found.has_force).tolist()
    angles = np.eye(len(live))
    for (i, one), (j, two) in combinations(enumerate(live), 2):
        product = np.multiply(found.derivatives[one][0], found.derivatives[two][0], dtype=np.float64)
        cosine = float((product * weight).sum()) / (found.norms[one] * found.norms[two])
        angles[i, j] = angles[j, i] = np.clip(cosine, -1.0, 1.0)
    return angles


def _of_live(found: Gradients, weights: Floats) -> Floats:
    """Weights of the K' objectives with any force, and 0 for the others, (K,)."""
    of_all = np.zeros(found.has_force.size)
    of_all[found.has_force] = weights
    return of_all


def towards_balance(preferred: Floats, preferences: Floats, gram: Floats) -> Floats:
    """The α of a step, for the costs times the preferences, and the cosines of the λ."""
    count = preferred.size
    if count == 1 or preferred.max() <= 0:
        return np.full(count, 1 / count)
    share = preferred / preferred.sum()
    logs = np.log(count * np.maximum(share, np.finfo(np.float64).tiny))
    divergence = float((share * logs).sum())
    anchor = gram @ (preferences * (logs - divergence))
    if divergence <= BALANCED:
        return shortest(gram)
    rising = anchor > 0
    # Costs that the step may raise have no limit, except the largest, which may not rise.
    least = np.where(rising, -np.inf, anchor) if rising.any() else np.zeros(count)
    if rising.any():
        least[preferred == preferred.max()] = 0.0
    best = _linear_program(anchor, gram, least)
    return shortest(gram) if best is None else best


def _linear_program(gain: Floats, gram: Floats, least: Floats) -> Floats | None:
    """The α ≥ 0 with sum 1 that maximises gain'α where Gα ≥ least; None if there is none."""
    bound = np.isfinite(least)
    found = linprog(-gain, -gram[bound], -least[bound], np.ones((1, gain.size)), [1.0], bounds=(0, 1))
    if found.status != 0:
        return None
    alpha = np.maximum(found.x, 0.0)
    return np.asarray(alpha / alpha.sum())


def shortest(gram: Floats) -> Floats:
    """The α ≥ 0 with sum 1 that minimises α'Gα, for the inner products G of some vectors of length 1."""
    count = len(gram)
    if count <= 2:
        return np.full(count, 1 / count)
    # With G = U'U, the x ≥ 0 that minimises ‖Ux‖² + (Σx − 1)² is the shortest combination times a number.
    values, vectors = np.linalg.eigh(gram)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    x, _ = nnls(np.vstack([root, np.ones(count)]), np.append(np.zeros(count), 1.0))
    return np.asarray(x / x.sum())
