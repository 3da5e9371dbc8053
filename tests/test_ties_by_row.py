"""`Needs.ties_by_row` against the gradient itself: all scores tie, and rows inside queries are permuted."""

import numpy as np
import pytest
from rules import RULES

from lambdaboost import Queries

SIZE, QUERIES = 12, 20
# Random targets of XE-NDCG and the noise of YetiLoss go by row, but favour none.
ALL = [*dict.fromkeys(rule.objective for rule in RULES)]
ALL = [one for one in ALL if "XENDCG(" not in repr(one) and "YetiLoss(" not in repr(one)]


def labels(objective):
    """Three sources, each with ties and without zeros among the clicks."""
    rng = np.random.default_rng(7)
    n = SIZE * QUERIES
    grades, coarse, fine = (rng.integers(0, high, n) for high in (4, 2, 6))
    position = np.tile(np.arange(SIZE) + 1, QUERIES)
    return {"relevance": grades, "clicks": (1 + coarse) / 2, "fresh": (1 + fine) / 6, "position": position}


def difference(objective, iteration=3):
    """How much the gradient of tied documents changes where their rows do, in the same order of documents."""
    given = labels(objective)
    rng = np.random.default_rng(8)
    rows = np.concatenate([q * SIZE + rng.permutation(SIZE) for q in range(QUERIES)])

    def at(order):
        y = {name: values[order] for name, values in given.items()}
        q = Queries(y.pop("relevance"), [SIZE] * QUERIES, **y)
        return np.concatenate(objective.gradient(np.zeros(q.n_documents), q, iteration))

    before, after = at(np.arange(rows.size)), at(rows)
    return np.abs(before[np.append(rows, rows + rows.size)] - after).max() / np.abs(before).max()


@pytest.mark.parametrize("objective", ALL, ids=repr)
def test_ties_are_ranked_by_row_as_said(objective):
    assert (difference(objective) > 1e-3) == objective.needs.ties_by_row
