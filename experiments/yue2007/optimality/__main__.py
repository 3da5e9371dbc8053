"""The 2007 paper's tests of local optimality and the 2006 paper's test of λ rules, on synthetic web search data.

    python -m experiments.yue2007.optimality experiments/yue2007/optimality/results

trains two linear rankers and some trees, prints the output in results/report.md and draws its pictures to the folder
(about 90 seconds of processor time).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import lightgbm as lgb
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xgboost as xgb

from experiments.yue2007.optimality import (
    WeightSweep,
    lambda_jacobian,
    local_optimum_test,
    loop_work,
    plots,
    weight_sweep,
)
from lambdaboost import NDCG, GradientStep, LambdaRank, Queries, RankNet, SigmoidLocal
from lambdaboost.datasets import Collection, web_search_log
from lambdaboost.objectives import Objective

QUERIES, DOCUMENTS, ROUNDS, TREES = 10_000, 20, 100, 20
MEASURE = NDCG(10)
STEPS = (0.05, 0.1, 0.2)


def main() -> None:
    """Train, print the page's values and draw its pictures."""
    if len(sys.argv) != 2:
        sys.exit("give the folder of the pictures: python -m experiments.yue2007.optimality FOLDER")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    plt.rcParams["font.size"] = 8
    X, q = standardised(web_search_log(QUERIES, DOCUMENTS))
    data = xgb.DMatrix(X, q.relevance, group=q.sizes)
    linear = {repr(rule): linear_ranker(data, rule) for rule in (LambdaRank(MEASURE), RankNet())}
    trees = lgb.train(
        {"objective": LambdaRank(MEASURE), "num_leaves": 15, "verbose": -1},
        lgb.Dataset(X, q.relevance, group=q.sizes),
        TREES,
    )
    smoothness(linear[repr(LambdaRank(MEASURE))], trees, X, q, folder)
    optimality(linear | {f"trees by {LambdaRank(MEASURE)!r}": trees}, X, q, folder)
    rules(folder)


def standardised(collection: Collection) -> tuple[Any, Queries]:
    """Standardise the features, so that weights are comparable."""
    X, q = collection
    X = pd.DataFrame(X, columns=collection.feature_names)
    return (X - X.mean()) / X.std(ddof=0), q


def linear_ranker(data: xgb.DMatrix, rule: Objective) -> xgb.Booster:
    """A linear model that XGBoost trains by coordinate descent."""
    # With several threads runs would not be reproducible.
    params = {"booster": "gblinear", "nthread": 1, "eta": 0.5, "lambda": 0, "verbosity": 0}
    return xgb.train(params, data, ROUNDS, obj=rule)


def smoothness(linear: Any, trees: Any, X: Any, q: Queries, folder: Path) -> None:
    """Figures 2 and 3 of the 2007 paper."""
    wide = weight_sweep(linear, X, q, MEASURE)
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    for ax, queries in zip(axes, wide.sizes.tolist(), strict=True):
        plots.plot_weight_sweep(wide, queries, ax)
    save(figure, folder / "optimality_weights.png")
    show("Top 5 coefficients", wide)

    leaves = weight_sweep(trees, X, q, MEASURE)
    near = weight_sweep(trees, X, q, MEASURE, shifts=np.linspace(-0.02, 0.02, 101), sizes=[q.n_queries])
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    plots.plot_weight_sweep(leaves, 100, axes[0])
    plots.plot_weight_sweep(leaves, None, axes[1])
    plots.plot_weight_sweep(near, None, axes[2])
    save(figure, folder / "optimality_leaves.png")
    show("Top 5 leaves", leaves)
    show("Top 5 leaves, within 2 %", near)


def show(title: str, sweep: WeightSweep) -> None:
    """Print a sweep's best shifts and roughness."""
    print(f"\n{title}: {sweep!r}")
    table = {"best shift": sweep.best_shift, "roughness": sweep.roughness}
    for name, figures in table.items():
        print(
            pd.DataFrame(figures, index=sweep.sizes, columns=list(sweep.weights)).round(3).to_string(),
            f"({name})",
        )


def optimality(models: dict[str, Any], X: Any, q: Queries, folder: Path) -> None:
    """Section 5.3 of the 2007 paper, by random directions."""
    at_a_tenth = {}
    for name, model in models.items():
        print(f"\n{name}")
        for step in STEPS:
            found = local_optimum_test(model, X, q, MEASURE, step)
            print(f"  {found}")
            if step == 0.1:
                at_a_tenth[name] = found
    figure, ax = plt.subplots(figsize=(5.6, 3.4), layout="constrained")
    plots.plot_local_optimum(at_a_tenth, ax)
    save(figure, folder / "optimality_directions.png")


def rules(folder: Path) -> None:
    """Section 4 of the 2006 paper, at ten documents."""
    rng = np.random.default_rng(2)
    q = Queries(rng.choice(5, p=[0.52, 0.32, 0.13, 0.02, 0.01], size=10), sizes=[10])
    scores = rng.permutation(10) / 4 - 1.0
    every: tuple[Objective, ...] = (RankNet(), LambdaRank(), SigmoidLocal(), GradientStep(LambdaRank()))
    drawn = {rule: lambda_jacobian(rule, scores, q) for rule in every}
    for rule, found in drawn.items():
        work = np.abs(loop_work(rule, scores, q)).max() / np.abs(found.lam).mean()
        print(
            f"\n{found}\nAround a loop that changes the order they do up to {work:.1e} of their mean size in work."
        )
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
    for ax, rule in zip(axes, (RankNet(), LambdaRank(), GradientStep(LambdaRank())), strict=True):
        plots.plot_lambda_jacobian(drawn[rule], ax).set_title(repr(rule))
    save(figure, folder / "optimality_jacobians.png")


def save(figure: Any, path: Path) -> None:
    """Write a picture."""
    figure.savefig(path, dpi=80)
    plt.close(figure)
    print(f"\nwrote {path} ({path.stat().st_size / 1000:.0f} kB)")


if __name__ == "__main__":
    main()
