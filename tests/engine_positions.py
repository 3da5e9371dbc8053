"""A round of the engines' own trainings with position bias, operation for operation: what the objectives compare with.

LightGBM's is a copy of `RankingObjective::GetGradients` and `UpdatePositionBiasFactors` (4.x, src/objective/
rank_objective.hpp) with one thread: float32 biases, derivatives summed in float64 by row. XGBoost's is a copy of
`LambdaRankUpdatePositionBias` and of the pairs that feed it (3.x, src/objective/lambdarank_obj.h and .cc); the position
of a document is its row within the query, and the cost of a pair log(1 + e^{s_i − s_j}), where the paper has
log(1 + e^{s_j − s_i}). In both the bias is a state, which every round updates.
"""

import numpy as np

DAMPING, LEAST = 0.001, 1e-16


def lightgbm_start(q):
    """The bias of each position before the first round."""
    return np.zeros(int(q.required_position().max()), dtype=np.float32)


def lightgbm_step(bias, scores, q, gradient, learning_rate, regularization=0.0):
    """Gradient and hessian of a round by ``LightGBMRule().gradient``, and the bias of the next."""
    place = q.required_position() - 1
    grad, hess = gradient(scores + bias[place].astype(np.float64), q)
    count = np.bincount(place, minlength=bias.size)
    slope = np.bincount(place, -grad.astype(np.float64), bias.size)
    slope -= bias.astype(np.float64) * regularization * count
    curvature = np.bincount(place, -hess.astype(np.float64), bias.size) - regularization * count
    following = bias + learning_rate * slope / (np.abs(curvature) + DAMPING)
    return (grad, hess), following.astype(np.float32)


def xgboost_start(truncation):
    """t⁺ and t⁻ of each position before the first round."""
    return np.ones(truncation), np.ones(truncation)


def xgboost_step(ratios, scores, q, norm=True, score_norm=True, bias_norm=1.0):
    """Gradient and hessian of a round without weights, and the ratios of the next."""
    tracked = ratios[0].size
    grad, hess = np.zeros(q.n_documents, np.float32), np.zeros(q.n_documents, np.float32)
    costs = np.zeros((2, tracked))
    for a, b in zip(q.offsets, q.offsets[1:], strict=False):
        _xgboost_query(
            scores[a:b].astype(np.float32), q.relevance[a:b].astype(float), ratios, norm, score_norm, costs, grad[a:b],
            hess[a:b],
        )  # fmt: skip
    following = tuple(
        (cost / cost[0]) ** (1 / (1 + bias_norm)) if cost[0] >= LEAST else t
        for t, cost in zip(ratios, costs, strict=True)
    )
    return (grad, hess), following


def _xgboost_query(score, label, ratios, norm, score_norm, costs, grad, hess):
    plus, minus = ratios
    n, tracked = score.size, plus.size
    order = np.argsort(-score, kind="stable")
    first, second = np.triu_indices(n, 1)
    kept = (first < tracked) & (label[order[first]] != label[order[second]])
    first, second = first[kept], second[kept]  # by rank, in XGBoost's order
    turned = label[order[first]] < label[order[second]]
    high_rank, low_rank = np.where(turned, second, first), np.where(turned, first, second)
    high, low = order[high_rank], order[low_rank]
    gain, discount = 2**label - 1, 1 / np.log2(2.0 + np.arange(n))
    ideal = (np.sort(gain)[::-1][:tracked] * discount[:tracked][:n]).sum()
    if ideal == 0:
        return
    apart = score[high] - score[low]
    swap = np.abs((gain[high] - gain[low]) * (discount[high_rank] - discount[low_rank])) / ideal
    if score_norm and np.ptp(score) > 0:
        swap /= np.abs(apart).astype(np.float64) + 0.01
    rho = (1 / (1 + np.exp(-apart, dtype=np.float32))).astype(np.float64)
    force, curvature = (rho - 1) * swap, np.maximum(rho * (1 - rho), LEAST) * swap * 2
    of_bias = np.ones(high.size)
    both = (high < tracked) & (low < tracked)
    of_bias[both] = plus[high[both]] * minus[low[both]]
    cost = np.log(1 / (1 - rho[both])) * swap[both]
    np.add.at(costs[0], high[both], cost / minus[low[both]])
    np.add.at(costs[1], low[both], cost / plus[high[both]])
    force, curvature = (force / of_bias).astype(np.float32), (curvature / of_bias).astype(np.float32)
    np.add.at(grad, np.ravel([high, low], "F"), np.ravel([force, -force], "F"))
    np.add.at(hess, np.ravel([high, low], "F"), np.repeat(curvature, 2))
    total = -2 * force.sum(dtype=np.float64)
    if norm and total > 0:
        factor = np.float32(np.log2(1 + total) / total)
        grad *= factor
        hess *= factor
