r"""The greedy merge of Yue et al. (2007): bad documents rise into the good ones, each as far as it pays.

Let good document i, counted from 0 by score, at rank r earn worth_i V(r), with V convex and falling. With bad document
j above it, and so the j that score higher too, it falls from rank i + j to i + j + 1. So

    H = Σ_j Σ_{i below j} worth_i (V(i + j) − V(i + j + 1)) + 2/(n⁺n⁻) (s_bj − s_gi),

and each bad document rises where its own sum is highest. The terms fall with j, V being convex, so none rises past
those that score higher, and the merge is exact. A cutoff would break it: it makes V fall most at the end.
"""

from __future__ import annotations

from lambdaboost._jit import inlined


@inlined
def merge(s_good, s_bad, worth, value, above):
    """Write how many bad documents stand above each good one in ŷ; O(n⁺n⁻), less where few rise far."""
    scale = 2.0 / (s_good.size * s_bad.size)
    for i in range(s_good.size):
        above[i] = 0
    highest = 0  # where the bad document before stands: none may rise past it
    for j in range(s_bad.size):
        total, best, at = 0.0, 0.0, s_good.size
        for i in range(s_good.size - 1, highest - 1, -1):
            total += worth[i] * (value[i + j] - value[i + j + 1]) + scale * (s_bad[j] - s_good[i])
            if total > best:
                best, at = total, i
        if at == s_good.size:
            break
        highest = at
        above[at] += 1
    for i in range(1, s_good.size):
        above[i] += above[i - 1]


@inlined
def merge_loss(worth, value, above):
    """Δ: what is earned less than in the ideal order."""
    loss = 0.0
    for i in range(above.size):
        loss += worth[i] * (value[i] - value[i + above[i]])
    return loss
