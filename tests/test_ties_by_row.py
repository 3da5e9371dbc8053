"""`Needs.ties_by_row` against the gradient itself: all scores tie, and rows inside queries are permuted."""

import numpy as np
import pytest
from rules import RULES

from lambdaboost import Queries

SIZE, QUERIES = 12, 20
# Random targets of XE-NDCG and the noise of YetiLoss go by row, but favour none.
ALL = [*dict.fromkeys(rule.objective for rule in RULES)]
ALL = [one for one in ALL if "XENDCG(" not in repr(one) and "YetiLoss(" not in repr(one)]


def difference(objective, iteration=3):
    """How much the gradient of tied documents changes where their rows do, in the same order of documents."""
    # Each source has ties, and no zeros are among the clicks.
    rng = np.random.default_rng(7)
    grades, coarse, fine = (rng.integers(0, high, SIZE * QUERIES) for high in (4, 2, 6))
    position = np.tile(np.arange(SIZE) + 1, QUERIES)
    rows = np.concatenate([q * SIZE + rng.permutation(SIZE) for q in range(QUERIES)])

    def at(order):
        y = {"clicks": (1 + coarse) / 2, "fresh": (1 + fine) / 6, "position": position}
        q = Queries(grades[order], [SIZE] * QUERIES, **{name: values[order] for name, values in y.items()})
        return np.concatenate(objective.gradient(np.zeros(q.n_documents), q, iteration))

    before, after = at(np.arange(rows.size)), at(rows)
    return np.abs(before[np.append(rows, rows + rows.size)] - after).max() / np.abs(before).max()


@pytest.mark.parametrize("objective", ALL, ids=repr)
def test_ties_are_ranked_by_row_as_said(objective):
    assert (difference(objective) > 1e-3) == objective.needs.ties_by_row
