"""`Objective.ranks_ties_by_row` against the gradient itself: all scores tie, and rows inside queries are permuted."""

import numpy as np
import pytest
from rules import COMBINED, RULES

from lambdaboost import NDCG, LambdaRank, Queries
from lambdaboost.objectives import (
    XENDCG,
    GumbelRanks,
)

SIZE, QUERIES = 12, 20
# Random targets of XE-NDCG go by row, see below.
ALL = [*dict.fromkeys(rule.objective for rule in (*RULES, *COMBINED))]
ALL = [one for one in ALL if not isinstance(one, XENDCG)]


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
    assert (difference(objective) > 1e-3) == objective.ranks_ties_by_row


def test_noise_leaves_no_ties():
    """The draws go by row too, but favour no row: on average over rounds the order of rows makes no difference."""
    noisy, bare = (GumbelRanks(LambdaRank(NDCG(3)), beta=beta, draws=20) for beta in (1.0, 0.0))
    assert (noisy.ranks_ties_by_row, bare.ranks_ties_by_row) == (False, True)
    q = Queries(np.tile(np.arange(SIZE)[::-1] % 4, QUERIES), [SIZE] * QUERIES)
    mean = np.mean([noisy.gradient(np.zeros(q.n_documents), q, m)[0] for m in range(40)], axis=0)
    mean = mean.reshape(QUERIES, SIZE).mean(axis=0)
    of_grade = [mean[np.arange(SIZE)[::-1] % 4 == grade] for grade in range(4)]
    assert max(np.ptp(values) for values in of_grade) < 0.05 * np.ptp(mean)


def test_random_targets_favour_no_row():
    """XE-NDCG draws by row; on average over rounds and seeds tied rows of one grade have the same gradient."""
    assert not XENDCG().ranks_ties_by_row
    q = Queries(np.tile(np.arange(SIZE) % 4, QUERIES), [SIZE] * QUERIES)
    mean = np.mean(
        [XENDCG(seed=x).gradient(np.zeros(q.n_documents), q, m)[0] for x in range(5) for m in range(40)],
        axis=0,
    )
    mean = mean.reshape(QUERIES, SIZE).mean(axis=0)
    of_grade = [mean[np.arange(SIZE) % 4 == grade] for grade in range(4)]
    assert max(np.ptp(values) for values in of_grade) < 0.05 * np.ptp(mean)
