"""`default_measures`: the measures used by default."""

from __future__ import annotations

from lambdaboost.datasets import Queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation.cndcg import CNDCG
from lambdaboost.evaluation.measure import Measure
from lambdaboost.evaluation.ndcg import NDCG
from lambdaboost.evaluation.spearman import Spearman


def default_measures(q: Queries) -> tuple[Measure, ...]:
    """NDCG at 10, 5, 3 and 1, CNDCG at 10 and 3 for every label source in [0, 1]; `Spearman` for labels below 0.

    >>> default_measures(Queries([1, 0], sizes=[2], clicks=[0.5, 0.0]))[3:]
    (NDCG(k=1), CNDCG(k=10), CNDCG(k=3))
    """
    if (q.labels[RELEVANCE] < 0).any():
        return (Spearman(),)
    further = [name for name, labels in list(q.labels.items())[1:] if not ((labels < 0) | (labels > 1)).any()]
    return (*(NDCG(k) for k in (10, 5, 3, 1)), *(CNDCG(k, source) for source in further for k in (10, 3)))
