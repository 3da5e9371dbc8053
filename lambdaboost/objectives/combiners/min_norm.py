"""`MinNorm`: the direction that improves all objectives at once, MGDA."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost.objectives.base.objective import Floats
from lambdaboost.objectives.combiners.combiner import Combiner
from lambdaboost.objectives.combiners.gradients import Gradients


class MinNorm(Combiner):
    r"""The shortest convex combination of the λ, scaled to one norm: multiple gradient descent (Désidéri 2012).

    .. math:: \min_{\alpha \ge 0,\; \sum \alpha = 1}
        \lVert \sum_k \alpha_k \frac{\lambda_k}{\lVert\lambda_k\rVert} \rVert^2

    Every objective with a positive weight improves at the same rate along it, the others at least as fast. Of two
    scaled λ it always weights both 1/2; with three and more the weights change, and an objective that others already
    improve gets weight 0.

    Examples
    --------
    >>> from lambdaboost import ClickTier, LambdaRank, MinNorm, RankNet, Scorecard
    >>> Scorecard((LambdaRank(), RankNet(), ClickTier()), MinNorm()).sources
    ('relevance', 'clicks')

    """

    def weigh(self, gradients: Gradients) -> NDArray[np.floating]:
        """The weights, 0 for objectives without force."""
        live = gradients.live
        weights = np.zeros(live.size)
        count = int(live.sum())
        if count <= 2:
            weights[live] = 1 / max(count, 1)
            return weights
        weights[live] = shortest(gradients.cosines[np.ix_(live, live)])
        return weights


def shortest(gram: Floats) -> Floats:
    """The α ≥ 0 with sum 1 that minimises α'Gα, for the inner products G of some vectors of length 1."""
    count = len(gram)
    if count <= 2:
        return np.full(count, 1 / count)
    from scipy.optimize import nnls

    # With G = U'U, the x ≥ 0 that minimises ‖Ux‖² + (Σx − 1)² is the shortest combination times a number.
    values, vectors = np.linalg.eigh(gram)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    x, _ = nnls(np.vstack([root, np.ones(count)]), np.append(np.zeros(count), 1.0))
    return np.asarray(x / x.sum())
