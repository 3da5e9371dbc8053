"""`cubic_polynomial`: the synthetic data of Burges, Ragno & Le (2006); the same seed gives the same bits."""

from __future__ import annotations

import numpy as np

from lambdaboost._checks import check_whole
from lambdaboost.datasets import Collection, Queries
from lambdaboost.datasets.synthetic import grades_by_share


def cubic_polynomial(
    queries: int = 1000, documents: int = 50, features: int = 50, seed: int = 0
) -> Collection:
    r"""Random cubic polynomial data: noise-free grades that only a non-linear model can learn.

    After Burges, Ragno & Le (2006, section 6.3.1), who follow Burges et al. (2005): features are uniform in
    [−1, 1], and the target is the mean of three numbers, each scaled to standard deviation 1 over all the
    documents,

    .. math:: \sum_i w_i x_i, \qquad \sum_i x_i x_{Q(i)}, \qquad \sum_i x_i x_{R(i)} x_{S(i)},

    with standard normal weights w and random permutations Q, R, S of the features. As in 2006 there are five
    grades with shares like those of real data: the lowest 52 % of all targets get grade 0, then 32 % 1, 13 %
    2, 2 % 3 and 1 % 4, whatever the query, so some queries lack the highest grades. The paper does not give
    its shares; these are from MSLR-WEB30K.

    The polynomial depends on the seed: generate training and test data in one call and split them with
    `Collection.take`. The paper uses 10,000, 5,000 and 10,000 queries for training, validation and test.

    Parameters
    ----------
    queries, documents, features : int
        Numbers of queries, of documents per query, and of features.
    seed : int
        The same seed gives the same data.

    Returns
    -------
    Collection
        Features float32 (queries · documents, features) in [−1, 1], grades 0–4.

    Raises
    ------
    TypeError, ValueError
        If a number is not whole, or is below 1 (`documents`: below 2).

    Examples
    --------
    >>> data = cubic_polynomial(queries=100)
    >>> data
    Collection(5,000 documents × 50 features in 100 queries; relevance)
    >>> train, test = data.take(range(60)), data.take(range(60, 100))

    """
    n = check_whole("queries", queries) * check_whole("documents", documents, least=2)
    rng = np.random.default_rng(check_whole("seed", seed, least=0))
    x = 2 * rng.random((n, check_whole("features", features)), dtype=np.float32) - 1
    q, r, s = (rng.permutation(features) for _ in range(3))
    terms = (
        np.einsum("ij,j->i", x, rng.standard_normal(features)),
        np.einsum("ij,ij->i", x, x[:, q], dtype=np.float64),
        np.einsum("ij,ij,ij->i", x, x[:, r], x[:, s], dtype=np.float64),
    )
    target = np.mean([term / term.std() for term in terms], axis=0)
    return Collection(x, Queries(grades_by_share(target), sizes=[documents] * queries))
