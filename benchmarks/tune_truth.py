"""What the table of `tune` claims where the truth is known: `python -m benchmarks.tune_truth --help`.

Nothing is trained. Each run draws the values of every setting of a search on 500 queries: what all settings share, plus
noise of each setting with a standard deviation of .08 and heavy tails, as differences of NDCG@10 have on real sets. In
half of the runs no setting differs from any other. In the others the trees differ in their means (standard deviation
.5 points), `YetiLoss` is 1 point above the engine's default, the other objectives are 1 point below `YetiLoss`.

Claims: runs in which any row is marked ▲ or ▼ although there is no difference, which 5 % may have. Coverage: rows whose
interval holds the true difference of the two settings, of which at least 95 % should. Power: rows of each question
whose difference is found. Choice: the true gain of the chosen setting over the engine's default.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import pandas as pd

from experiments.common.script import run, whole
from lambdaboost import NDCG, Queries, YetiLoss
from lambdaboost.tuning.cross_validate import CrossValidated
from lambdaboost.tuning.portfolio import TRIED
from lambdaboost.tuning.tune import highest_mean
from lambdaboost.tuning.tuned import Results, Setting, compare_results

QUERIES, SPREAD = 500, 0.08
MEASURE, LOSS = NDCG(10), YetiLoss()
DEFAULT = Setting("default", "lambdarank", "lightgbm", 0)
RECOMMENDED = Setting("objective", LOSS, "lightgbm", 0, DEFAULT)
TREES = [RECOMMENDED, *(Setting("trees", LOSS, "lightgbm", at, RECOMMENDED) for at in range(1, TRIED))]


def search(rng: np.random.Generator, differs: bool) -> tuple[Results, dict[str, float]]:
    """The results of a drawn search, and the true mean of each setting by name."""
    q = Queries(np.tile([0.0, 1.0], QUERIES), sizes=[2] * QUERIES)
    shared, results, truth = rng.beta(4, 2, QUERIES), Results(), {}

    def add(setting: Setting, mean: float) -> None:
        noise = rng.standard_t(4, QUERIES) / np.sqrt(2) * SPREAD
        values = {MEASURE: shared + differs * mean + noise}
        truth[setting.name] = differs * mean
        scores = rng.normal(size=(2, 2 * QUERIES))
        results[setting] = CrossValidated(q, *scores, values, 10, 500, 1.0)

    add(DEFAULT, 0.0)
    means = [0.01, *(0.01 + rng.normal(0, 0.005, len(TREES) - 1))]
    for setting, mean in zip(TREES, means, strict=True):
        add(setting, mean)
    best = max(TREES, key=lambda one: results[one].means[MEASURE])
    for name in ("lambdarank", "rank_xendcg", "LambdaRank()"):
        setting = Setting("objective", name, "lightgbm", best.trees, best, len(TREES))
        add(setting, means[best.trees] - 0.01)
    return results, truth


def rows_of(seed: int, differs: bool) -> pd.DataFrame:
    """The table of a drawn search, with the true difference of each row."""
    results, truth = search(np.random.default_rng(seed), differs)
    chosen = highest_mean(results, MEASURE)
    frame = compare_results(results, {}, chosen, results[chosen], (MEASURE,))
    true = [truth[row.candidate] - truth.get(row.baseline, 0.0) for row in frame.itertuples()]
    return frame.assign(run=seed, true=true)


def main(runs: Annotated[int, whole("runs of each kind")] = 40) -> None:
    """Print claims, coverage, power and the choice of tune where the truth is known."""
    for differs in (False, True):
        table = pd.concat(rows_of(seed, differs) for seed in range(runs))
        tested = table[table.baseline != ""]
        covered = (tested.low <= tested.true) & (tested.true <= tested.high)
        print(f"{runs} runs {'with' if differs else 'without'} differences, {QUERIES} queries")
        wrong = tested[(tested["mark"] != "") & (np.sign(tested.difference) != np.sign(tested.true))]
        print(f"  false claims in {wrong.run.nunique()} runs; intervals cover {100 * covered.mean():.1f} %")
        print("  by question:", (100 * covered.groupby(tested.question).mean()).round(1).to_dict())
        chosen = table[table.question == "choice"]
        print(
            f"  chosen: {100 * chosen.true.mean():+.2f} points; the default {(chosen.baseline == '').mean():.0%}"
        )
        if differs:
            found = (tested["mark"] != "") & (tested.true != 0)
            print("  found, %:", (100 * found.groupby(tested.question).mean()).round(0).to_dict())


if __name__ == "__main__":
    run(main)
