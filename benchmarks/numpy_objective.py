"""LambdaRank in NumPy as commonly written for LightGBM: a loop over queries with n × n matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Pair = tuple[NDArray[np.float64], NDArray[np.float64]]


def numpy_lambdarank(scores: NDArray[np.float64], data: Any) -> Pair:
    """Gradient and hessian; `data` is a lightgbm.Dataset."""
    label = data.get_label()
    grad, hess = np.zeros(scores.size), np.zeros(scores.size)
    start = 0
    for size in data.get_group():
        rows = slice(start, start + size)
        grad[rows], hess[rows] = _one_query(scores[rows], label[rows])
        start += size
    return grad, hess


def _one_query(s: NDArray[np.float64], label: NDArray[Any]) -> Pair:
    rank = np.empty(s.size, dtype=int)
    rank[np.argsort(-s, kind="stable")] = np.arange(1, s.size + 1)
    discount = 1 / np.log2(1 + rank)
    gain = 2.0**label - 1
    ideal = (np.sort(gain)[::-1] / np.log2(2 + np.arange(s.size))).sum()
    if ideal == 0:
        return np.zeros(s.size), np.zeros(s.size)
    better = label[:, None] > label[None, :]
    swap = np.abs((gain[:, None] - gain[None, :]) * (discount[:, None] - discount[None, :])) / ideal
    rho = 1 / (1 + np.exp(s[:, None] - s[None, :]))
    force = np.where(better, swap * rho, 0)
    curvature = np.where(better, swap * rho * (1 - rho), 0)
    return force.sum(axis=0) - force.sum(axis=1), curvature.sum(axis=0) + curvature.sum(axis=1)
