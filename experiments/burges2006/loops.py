"""RankNet in plain compiled loops over documents, as in 2006: pair by pair, and factored.

A net of one layer scores a document by w·x, one of two layers by w·tanh(Vx + b). These loops are the paper's and are
only timed; nets are trained with `loss.Loss`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
# Sums may be reordered and products fused, so that loops are vectorised.
FASTMATH = {"reassoc", "contract", "nsz", "arcp"}
inlined = numba.njit(cache=True, error_model="numpy", fastmath=FASTMATH, forceinline=True)
kernel = numba.njit(cache=True, error_model="numpy", fastmath=FASTMATH)


class Net(NamedTuple):
    """The weights of a net, or their gradient."""

    hidden: Floats  # V, (n_hidden, n_features); no rows in a net of one layer
    bias: Floats  # b, (n_hidden,)
    last: Floats  # w, (n_hidden,), or (n_features,) in a net of one layer


def a_net(n_features: int, n_hidden: int, seed: int = 0) -> Net:
    """A net with random weights; it has one layer if `n_hidden` is 0."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n_hidden, n_features)) / math.sqrt(n_features)
    last = rng.normal(size=n_hidden or n_features) / math.sqrt(n_hidden or n_features)
    return Net(hidden.astype(np.float32), np.zeros(n_hidden, np.float32), last.astype(np.float32))


def nothing(net: Net) -> Net:
    """A gradient of zeros."""
    return Net(np.zeros_like(net.hidden), np.zeros_like(net.bias), np.zeros_like(net.last))


@inlined
def _forward(x, net, activation):
    """The score of a document; writes the hidden activations to `activation`."""
    hidden, bias, last = net
    score = np.float32(0)
    if hidden.shape[0] == 0:
        for f in range(x.size):
            score += last[f] * x[f]
    for h in range(hidden.shape[0]):
        a = bias[h]
        row = hidden[h]
        for f in range(x.size):
            a += row[f] * x[f]
        activation[h] = math.tanh(a)
        score += last[h] * activation[h]
    return score


@inlined
def _backward(slope, x, net, activation, gradient):
    """Add slope · ∂s/∂weights of a document."""
    hidden, _, last = net
    d_hidden, d_bias, d_last = gradient
    if hidden.shape[0] == 0:
        for f in range(x.size):
            d_last[f] += slope * x[f]
    for h in range(hidden.shape[0]):
        y = activation[h]
        d_last[h] += slope * y
        inner = slope * last[h] * (np.float32(1) - y * y)
        d_bias[h] += inner
        row = d_hidden[h]
        for f in range(x.size):
            row[f] += inner * x[f]


@inlined
def _descend(rate, net, gradient):
    """Take a gradient step, and reset the gradient."""
    for h in range(net[0].shape[0]):
        net[1][h] -= rate * gradient[1][h]
        gradient[1][h] = 0
        for f in range(net[0].shape[1]):
            net[0][h, f] -= rate * gradient[0][h, f]
            gradient[0][h, f] = 0
    for f in range(net[2].size):
        net[2][f] -= rate * gradient[2][f]
        gradient[2][f] = 0


@kernel
def pairwise_epoch(offsets, x, grades, rate, net, gradient):
    """V1: a forward and a backward pass for both documents of each pair (eq. 6); one update per query."""
    n_hidden = net[0].shape[0]
    act_i, act_j = np.empty(n_hidden, np.float32), np.empty(n_hidden, np.float32)
    for q in range(offsets.size - 1):
        for i in range(offsets[q], offsets[q + 1]):
            for j in range(offsets[q], offsets[q + 1]):
                if grades[i] > grades[j]:
                    o = _forward(x[i], net, act_i) - _forward(x[j], net, act_j)
                    rho = np.float32(1) / (np.float32(1) + math.exp(o))
                    _backward(-rho, x[i], net, act_i, gradient)
                    _backward(rho, x[j], net, act_j, gradient)
        _descend(rate, net, gradient)


@kernel
def factored_epoch(offsets, x, grades, rate, net, gradient):
    """V2: λ of each document first, then one backward pass per document (eq. 7); one update per query."""
    activation = np.empty(net[0].shape[0], np.float32)
    scores, lam = np.empty(grades.size, np.float32), np.zeros(grades.size, np.float32)
    for q in range(offsets.size - 1):
        a, b = offsets[q], offsets[q + 1]
        for i in range(a, b):
            scores[i] = _forward(x[i], net, activation)
        for i in range(a, b):
            lam[i] = 0
        for i in range(a, b):
            for j in range(a, b):
                if grades[i] > grades[j]:
                    rho = np.float32(1) / (np.float32(1) + math.exp(scores[i] - scores[j]))
                    lam[i] += rho
                    lam[j] -= rho
        for i in range(a, b):
            _forward(x[i], net, activation)  # again, as the paper counts: activations are not stored
            _backward(-lam[i], x[i], net, activation, gradient)
        _descend(rate, net, gradient)
