"""CatBoost's trees under any objective of lambdaboost: one regression tree a round, on Newton's targets.

    python examples/catboost_trees.py

CatBoost's own hook for objectives in Python passes neither queries nor whole ones, but blocks of 500 or 1000 rows. A
regression tree needs no hook: on the targets −g/h with the weights h, squared error chooses Newton's splits and gives
Newton's leaves −G/H.
"""

import numpy as np
from catboost import CatBoost, Pool, sum_models

from lambdaboost import NDCG, LambdaRank
from lambdaboost.datasets import web_search_log

FIXED = {
    "loss_function": "RMSE",
    "iterations": 1,
    "learning_rate": 1.0,
    "boost_from_average": False,
    "boosting_type": "Plain",
    "allow_writing_files": False,
    "logging_level": "Silent",
}
LEAST_HESSIAN = 1e-9  # of a document in no pair, whose gradient is 0


def train(X, q, objective, rounds=100, learning_rate=0.1, **params):
    """A CatBoost model whose tree of each round is fitted to the objective's gradient and hessian."""
    scores, trees = np.zeros(q.n_documents), []
    for iteration in range(rounds):
        grad, hess = (part.astype(np.float64) for part in objective.gradient(scores, q, iteration))
        hess = np.maximum(hess, LEAST_HESSIAN)
        tree = CatBoost(params | FIXED).fit(Pool(X, -grad / hess, weight=hess))
        scores += learning_rate * tree.predict(X)
        trees.append(tree)
    return sum_models(trees, weights=[learning_rate] * rounds)


def main():
    """Compare with CatBoost's own ranking objective."""
    log = web_search_log(400, documents=20, seed=2).shuffled(0)
    there, held_out = log.take(np.arange(300)), log.take(np.arange(300, 400))
    X, q = there
    shared = {"depth": 5, "learning_rate": 0.1, "thread_count": 1}
    own = CatBoost(FIXED | shared | {"loss_function": "YetiRank", "iterations": 50})
    models = {
        "LambdaRank(NDCG(10)) on CatBoost's trees": train(X, q, LambdaRank(NDCG(10)), rounds=50, **shared),
        "CatBoost's YetiRank": own.fit(Pool(X, q.relevance, group_id=q.query_of_row)),
    }
    for name, model in models.items():
        print(f"{name}: NDCG@10 {NDCG(10)(model.predict(held_out.features), held_out.queries):.3f}")


if __name__ == "__main__":
    main()
