"""The engines' own ranking objectives, by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from lambdaboost._checks import refuse_labels
from lambdaboost._warn import warn
from lambdaboost.datasets.queries import RELEVANCE, Queries
from lambdaboost.engines import ENGINES


class NativeObjective(str):
    """The name of an engine's own ranking objective, as the engine takes it; its `repr` has no quotes.

    >>> NativeObjective("rank:ndcg"), NativeObjective("rank:ndcg").owner
    (rank:ndcg, 'xgboost')
    """

    sources = (RELEVANCE,)
    allows_negative = False
    reads_positions = False

    def __repr__(self) -> str:
        return str(self)

    @property
    def owner(self) -> str:
        """The name of its engine."""
        return next(name for name, engine in ENGINES.items() if self in engine.NATIVE_OBJECTIVES)

    def check_queries(self, q: Queries, device: Any = None) -> None:
        """Raise for training data that the engine cannot read; warn of what it reads otherwise, or not at all.

        LightGBM's ``"lambdarank"`` corrects for positions in its own way, but not on the device "cuda", for which it is
        written again, without positions (LightGBM's src/objective/cuda/cuda_rank_objective.cu).
        """
        as_read, grades, title = q, q.labels[RELEVANCE], ENGINES[self.owner].TITLE
        if np.isnan(grades).any():
            warn(
                f"NaN labels: {title}'s own objective reads missing grades as 0; drop these rows, or give an "
                "objective such as LambdaRank(), for which they stay missing"
            )
            grades = np.nan_to_num(grades)
            as_read = Queries(grades, q.sizes, weight=q.weight)
        remedy = "give an objective of their order, such as RankNet() or LambdaRank(Spearman())"
        own = f"{title}'s own {self} takes grades"
        refuse_labels("relevance", grades, grades < 0, f"{own} ≥ 0; {remedy}")
        if self == "rank:map":
            remedy = "convert them, or give LambdaRank(MAP())"
            refuse_labels("relevance", grades, (grades != 0) & (grades != 1), f"{own} 0 and 1 only; {remedy}")
        if not (as_read.is_ordered(RELEVANCE) & (q.query_weight > 0)).any():
            warn(
                f"{self} has no pair of documents to order, so nothing is learnt from it: no query with a weight above "
                "0 has two documents with different grades; look at the grades and the queries"
            )
        if q.position is not None and self == "lambdarank" and device == "cuda":
            raise ValueError(
                "position: LightGBM's own 'lambdarank' does not read positions on device_type='cuda': train on "
                "device_type='cpu', or give an objective such as InversePropensity(LambdaRank(), curve)"
            )
        if q.position is not None and self != "lambdarank":
            warn(f"position: '{self}' does not read positions, so training ignores them")
