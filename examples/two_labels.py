"""The README's picture of two models and their sum: python examples/two_labels.py docs/two_labels.png"""

import sys

import lightgbm as lgb
import matplotlib.pyplot as plt
import numpy as np

from lambdaboost import CNDCG, NDCG, LambdaRank, Queries, trade_off

rng = np.random.default_rng(0)
sizes = np.full(500, 20)  # 500 searches of 20 documents


def searches():  # features, grades from 0 to 4, clicks of 0 and 1
    X = rng.random((10_000, 8))
    y = np.digitize(4 * X[:, 0] + 3 * X[:, 1] * X[:, 2] + rng.normal(size=len(X)), [3, 4, 5, 6])
    return X, y, (rng.random(len(X)) < X[:, 3] / 2).astype(int)


(X, y, clicks), (X_new, y_new, clicks_new) = searches(), searches()
params = {"objective": LambdaRank(), "verbose": -1, "seed": 0}
models = [lgb.train(params, lgb.Dataset(X, label, group=sizes), 50) for label in (y, clicks)]
scores = [model.predict(X_new) for model in models]
q = Queries(y_new, sizes=sizes, clicks=clicks_new)
curve = trade_off(*scores, q, (NDCG(k=10), CNDCG(k=10)))
choice = curve.choose(tolerance=0.01)
print(choice.sentence)

figure, axes = plt.subplots(figsize=(5, 3), dpi=80, layout="constrained")
curve.plot(axes)
row = curve.frame[curve.frame["weight"] == choice.weight].iloc[0]
axes.plot(100 * row["first"], 100 * row["second"], "s", color="#D55E00", label="chosen: 1 point at most")
axes.set(xlabel="NDCG@10 of grades × 100", ylabel="CNDCG@10 of clicks × 100")
axes.legend(frameon=False)
figure.savefig(sys.argv[1])
