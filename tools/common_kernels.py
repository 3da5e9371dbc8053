"""Compile the kernels that most trainings call, for the wheel that carries them."""

import numpy as np

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import parse
from lambdaboost.objectives import parse as parse_objective

OBJECTIVES = (
    *("LambdaRank()", "LambdaRank(NDCG(k=10))", "graded(0.1)", "RankNet()", "XENDCG()", "LambdaLoss()"),
    *("GradientStep(LambdaRank())", "GradientStep(LambdaRank(NDCG(k=10)))", "iteration_dependent()"),
)
MEASURES = ("NDCG()", "NDCG(k=10)", "MAP()", "MAP(k=10)", "MRR()", "MRR(k=10)", "CNDCG(k=10)")
# Lengths of lists: each way through the kernels, and all in one data set.
LENGTHS = ((5,) * 40, (10,) * 20, (30,) * 7, (120,) * 3, (1200,), (5000,), (3, 25, 120, 1200))


def main() -> None:
    """Compile for lists of every length, with and without weights, and scores of either engine's type."""
    rng = np.random.default_rng(0)
    for sizes in LENGTHS:
        n = sum(sizes)
        for weight in (None, rng.random(len(sizes)) + 0.5):
            q = Queries(rng.integers(0, 5, n), sizes=sizes, clicks=rng.random(n), weight=weight)
            for scores in (rng.normal(size=n), rng.normal(size=n).astype(np.float32)):
                for text in OBJECTIVES:
                    parse_objective(text).gradient(scores, q)
                for text in MEASURES:
                    parse(text)(scores, q)


if __name__ == "__main__":
    main()
