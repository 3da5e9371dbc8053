"""Five-fold NDCG@3 of gradient steps by leaf size, learning rate, rounds and normalisation of λ.

Usage: LAMBDABOOST_DATA=FOLDER python -m benchmarks.gradient_step mq2008 | lightgbm_rank | mslr_web30k_sample

Prints one Markdown table per data set; benchmarks/results/gradient_step.md shows the tables and conclusions.
"""

import os
import sys
from pathlib import Path

import lightgbm as lgb
import numpy as np

from lambdaboost import NDCG, GradientStep, LambdaRank
from lambdaboost.datasets import Collection, read_letor

LEAVES = (10, 20, 50, 100, 200, 400)
ROUNDS = (50, 100, 150, 200, 300)  # at which each training is evaluated
SYSTEMS = {
    "lambdarank (LightGBM's own)": ("lambdarank", (0.03, 0.1, 0.2)),
    "Newton (gradient over hessian)": (LambdaRank(), (0.03, 0.1, 0.2)),
    "gradient step, per query": (GradientStep(LambdaRank()), (0.03, 0.1, 0.2)),
    "gradient step, over all queries": (GradientStep(LambdaRank(), "all"), (0.03, 0.1, 0.2)),
    "gradient step, λ as it is": (GradientStep(LambdaRank(), "none"), (0.3, 1.0, 2.0)),
}
MEASURE = NDCG(3)
FILES = {
    "lightgbm_rank": ("rank.train.xz", "rank.test.xz"),
    "mslr_web30k_sample": ("train.txt.xz", "vali.txt.xz", "test.txt.xz", "test_extra.txt.xz"),
}


def parts_of(folder: Path) -> list[Collection]:
    """Five parts: LETOR's own S1 … S5, or a random split of the queries of all files with seed 0."""
    if (folder / "S1.txt.xz").exists():
        return [read_letor(folder / f"S{i}.txt.xz") for i in range(1, 6)]
    width = 300 if folder.name == "lightgbm_rank" else None
    whole = Collection.concat([read_letor(folder / f, n_features=width) for f in FILES[folder.name]])
    order = np.random.default_rng(0).permutation(whole.queries.n_queries)
    return [whole.take(np.sort(part)) for part in np.array_split(order, 5)]


def folds(parts: list[Collection]):
    """Training, validation and test part of each fold, without training queries that lack a relevant document."""
    for f in range(5):
        train = Collection.concat([parts[f], parts[(f + 1) % 5], parts[(f + 2) % 5]])
        relevant = np.maximum.reduceat(train.queries.relevance, train.queries.offsets[:-1]) > 0
        yield train.shuffled(0).take(relevant), parts[(f + 3) % 5], parts[(f + 4) % 5]


def path_of(train: Collection, valid: Collection, test: Collection, objective, rate: float, leaf: int):
    """NDCG@3 on validation and per test query at each of ROUNDS."""
    data = lgb.Dataset(train.features, train.queries.relevance, group=train.queries.sizes)
    params = {
        "objective": objective, "learning_rate": rate, "num_leaves": 10, "min_data_in_leaf": leaf,
        "metric": "None", "verbose": -1, "deterministic": True, "num_threads": 1, "seed": 0,
    }  # fmt: skip
    if not isinstance(objective, str):
        params["min_sum_hessian_in_leaf"] = 0.0
    booster = lgb.train(params, data, ROUNDS[-1])
    for rounds in ROUNDS:
        yield (
            MEASURE(booster.predict(valid.features, num_iteration=rounds), valid.queries),
            MEASURE.per_query(booster.predict(test.features, num_iteration=rounds), test.queries),
        )


def main(name: str) -> None:
    cut = list(folds(parts_of(Path(os.environ["LAMBDABOOST_DATA"]) / name)))
    documents = [train.queries.n_documents for train, _, _ in cut]
    print(
        f"{name}: {np.mean(documents):.0f} training documents a fold, mean NDCG@3 times 100 on the test parts over"
    )
    print(f"three learning rates and {', '.join(map(str, ROUNDS))} rounds (in brackets: on validation)\n")
    print("| documents a leaf ≥ | " + " | ".join(map(str, LEAVES)) + " |")
    print("|---" * (len(LEAVES) + 1) + "|")
    for system, (objective, rates) in SYSTEMS.items():
        cells = []
        for leaf in LEAVES:
            figures = [list(path_of(*fold, objective, rate, leaf)) for rate in rates for fold in cut]
            on_valid = np.mean([valid for path in figures for valid, _ in path])
            on_test = np.concatenate([test for path in figures for _, test in path]).mean()
            cells.append(f"{100 * on_test:.1f} ({100 * on_valid:.1f})")
            print(f"\r{system}: {leaf}", end="", file=sys.stderr)
        print(f"\r| {system} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
