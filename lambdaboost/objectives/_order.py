"""Documents of a query by score: highest first, ties in input order."""

from __future__ import annotations

import numpy as np

from lambdaboost._jit import inlined

PATIENCE = 8  # moves a document, on average, before the order of the last round is given up


@inlined
def order_by_score(scores, hint, order):  # type: ignore[no-untyped-def]
    """Write the permutation that sorts `scores` descending, ties by index, to `order`.

    `hint`, any permutation, is where the search starts: the order of the last round is almost right, and sorting it by
    insertion almost free. The result does not depend on it, for score and index together order the documents fully.
    """
    n = scores.size
    moves = PATIENCE * n
    for r in range(n):
        i = hint[r]
        at = r
        while at > 0 and moves > 0:
            before = order[at - 1]
            if scores[before] > scores[i] or (scores[before] == scores[i] and before < i):
                break
            order[at] = before
            at -= 1
            moves -= 1
        order[at] = i
    if moves <= 0:
        by_score = np.argsort(-scores, kind="mergesort")
        for r in range(n):  # assigning the slice would compile seconds of error messages
            order[r] = by_score[r]
