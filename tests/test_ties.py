"""`Needs.ties_by_row` against the gradient itself: all scores tie, and rows inside queries are permuted."""

import numpy as np
import pytest
from rules import COMBINED, RULES

from lambdaboost import NDCG, Queries
from lambdaboost.objectives import XENDCG, YetiLoss

SIZE, QUERIES = 12, 20
# Random targets of XE-NDCG and the noise of YetiLoss go by row, see below.
ALL = [*dict.fromkeys(rule.objective for rule in (*RULES, *COMBINED))]
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


@pytest.mark.parametrize(
    "make",
    [lambda seed: YetiLoss(NDCG(3), draws=20, seed=seed), lambda seed: XENDCG(seed=seed)],
    ids=["YetiLoss", "XENDCG"],
)
def test_random_draws_favour_no_row(make):
    """They go by row too; on average over rounds and seeds tied rows of one grade have the same gradient."""
    assert not make(0).needs.ties_by_row
    grades = np.arange(SIZE)[::-1] % 4
    q, scores = Queries(np.tile(grades, QUERIES), [SIZE] * QUERIES), np.zeros(SIZE * QUERIES)
    mean = np.mean([make(x).gradient(scores, q, m)[0] for x in range(5) for m in range(40)], axis=0)
    mean = mean.reshape(QUERIES, SIZE).mean(axis=0)
    assert max(np.ptp(mean[grades == grade]) for grade in range(4)) < 0.05 * np.ptp(mean)
