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


def train(objective, label):
    params = {"objective": objective, "verbose": -1, "seed": 0}
    return lgb.train(params, lgb.Dataset(X, label, group=sizes), 50)


(X, y, clicks), (X_new, y_new, clicks_new) = searches(), searches()
scores = [train(LambdaRank(), label).predict(X_new) for label in (y, clicks)]
q, measures = Queries(y_new, sizes=sizes, clicks=clicks_new), (NDCG(k=10), CNDCG(k=10))
curve = trade_off(*scores, q, measures)
choice = curve.choose(tolerance=0.01)
print(choice.sentence)

figure, axes = plt.subplots(figsize=(6, 3.4), dpi=80, layout="constrained")
curve.plot(axes)
row = curve.frame[curve.frame["weight"] == choice.weight].iloc[0]
axes.plot(100 * row["first"], 100 * row["second"], "s", color="#D55E00", label="chosen: 1 point at most")
# LightGBM alone: one training for each way to make one label of two.
stock = {"grades": y, "clicks": clicks, "grades + clicks": y + clicks, "grades + 4 · clicks": y + 4 * clicks}
for at, (name, label) in enumerate(stock.items()):
    of_stock = train("lambdarank", label).predict(X_new)
    place = [100 * measure(of_stock, q) for measure in measures]
    axes.plot(*place, "^", color="#555555", label="LightGBM's lambdarank on one label" if at == 0 else None)
    axes.annotate(
        name, place, xytext=(-7, -1), textcoords="offset points", ha="right", va="center", color="#555555"
    )
axes.set(xlabel="NDCG@10 of grades × 100", ylabel="CNDCG@10 of clicks × 100")
axes.legend(frameon=False, fontsize=8, loc="lower left")
figure.savefig(sys.argv[1])
