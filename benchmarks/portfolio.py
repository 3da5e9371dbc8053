"""The settings of trees that `tune` tries: `python -m benchmarks.portfolio --help`.

Sets: of mq2008, lightgbm_rank, clueweb09, algolia_netflix and mslr_web30k_sample up to 250 random queries with two
different grades, and up to 60 random documents of each; two synthetic logs of 200 queries of 20 documents.

Matrix: `YetiLoss()` on every setting and engine, by `cross_validate` with `--folds` and up to `--rounds`. The
settings are those of the present portfolio and random draws of the same parameters. The program stops at `--minutes`,
and a setting counts if it is complete on all sets.

Choice, as in FLAML (Wang et al. 2022, arXiv:2202.09927): one setting after the other, each the one that most lowers the
mean over sets of the regret of the best chosen one. The engine's own trees come first, always. The means of a set are
first drawn towards what a setting gives on all sets, by the share of their spread that the queries' own noise explains:
the best of forty noisy means would otherwise be chosen.

The rule of `tune`: the queries of each set are cut at random into halves, 400 times. One half chooses among the
engine's default objective, `YetiLoss()` on the engine's trees and the portfolio, by the highest mean or by the simplest
within one standard error; the other half measures the choice.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.common.script import run
from lambdaboost import NDCG, Queries, YetiLoss, cross_validate
from lambdaboost.datasets import Collection, Columns, read_letor, web_search_log
from lambdaboost.engines import ENGINES
from lambdaboost.evaluation.significance import weighted_mean
from lambdaboost.tuning.portfolio import PORTFOLIO, Trees, params_of
from lambdaboost.tuning.tune import Setting, ranker_of

QUERIES, DOCUMENTS = 250, 60
LETOR = {"mq2008": "S1 S2 S3", "clueweb09": "S1 S2 S3 S4 S5", "mslr_web30k_sample": "train vali"}
MEASURE = NDCG(10)
Values = dict[tuple[str, Any], NDArray[np.float64]]  # of each query, by set and setting


def sets(folder: Path) -> Iterator[tuple[str, Collection]]:
    """The sets, cut to size."""
    for name, files in LETOR.items():
        parts = [read_letor(folder / name / f"{file}.txt.xz") for file in files.split()]
        features = [
            part.features if isinstance(part.features, np.ndarray) else part.features.toarray()
            for part in parts
        ]
        width = min(of.shape[1] for of in features)
        sizes = np.concatenate([part.queries.sizes for part in parts])
        grades = np.concatenate([part.queries.relevance for part in parts])
        yield name, cut(np.concatenate([of[:, :width] for of in features]), grades, sizes)
    part = read_letor(folder / "lightgbm_rank" / "rank.train.xz")
    X = part.features if isinstance(part.features, np.ndarray) else part.features.toarray()
    yield "lightgbm_rank", cut(X, part.queries.relevance, part.queries.sizes)
    frame = pd.read_csv(folder / "algolia_netflix" / "dataset.csv.xz")
    columns = Columns(
        "normalized_query", "score", drop=[c for c in frame if frame[c].dtype.kind not in "biuf"][1:]
    )
    data = columns.read(frame)
    yield "algolia_netflix", cut(data.features, np.minimum(data.queries.relevance, 22), data.queries.sizes)
    for seed in (1, 2):
        log = web_search_log(200, documents=20, seed=seed)
        yield f"log {seed}", cut(log.features, log.queries.relevance, log.queries.sizes)


def cut(features: NDArray[Any], grades: NDArray[Any], sizes: NDArray[np.int64]) -> Collection:
    """Random queries with two different grades, and random documents of each."""
    rng = np.random.default_rng(0)
    rows, kept = [], []
    for start, size in zip(np.cumsum(sizes) - sizes, sizes, strict=True):
        of_query = start + np.sort(rng.permutation(size)[:DOCUMENTS])
        if np.unique(grades[of_query]).size > 1:
            rows.append(of_query)
    for at in np.sort(rng.permutation(len(rows))[:QUERIES]):
        kept.append(rows[at])
    order = np.concatenate(kept)
    return Collection(features[order], Queries(grades[order], sizes=[len(of) for of in kept]))


def drawn(n: int) -> list[Trees | None]:
    """The present portfolio, then random settings."""
    rng = np.random.default_rng(0)
    found = list(PORTFOLIO)
    for _ in range(n):
        rate, leaves = np.exp(rng.uniform(np.log([0.04, 4]), np.log([0.15, 64])))
        l2, least, hessian = np.exp(rng.uniform(np.log([0.1, 5, 0.03]), np.log([10, 100, 5])))
        columns, rows = rng.uniform([0.4, 0.6], 1.0)
        if rng.random() < 0.3:
            l2 = 0.0
        two = [float(f"{value:.2g}") for value in (rate, columns, rows, l2, hessian)]
        found.append(Trees(two[0], int(leaves), two[1], two[2], two[3], int(least), two[4]))
    return found


def measure(options: argparse.Namespace) -> tuple[Values, list[Trees | None], list[str]]:
    """The values of each query by set and setting, "default" the engine's own objective; the complete settings; sets.

    A set on LightGBM and the same set on XGBoost are two sets: one portfolio serves both engines.
    """
    end, values = time.time() + 60 * options.minutes, Values()
    data = {name: part for name, part in sets(options.folder) if name in options.sets}
    complete = list[Trees | None]()
    for trees in ["default", *drawn(options.draws)]:
        for name, part in data.items():
            for engine in options.engines:
                is_default = trees == "default"
                objective = ENGINES[engine].NATIVE_OBJECTIVES[0] if is_default else YetiLoss()
                ranker = ranker_of(Setting("trees", objective, engine, 0), options.rounds, Columns(), 0)
                ranker.set_params(n_jobs=1, **params_of(engine, None if is_default else trees))
                given = {"measures": MEASURE, "folds": options.folds, "early_stopping_rounds": 40}
                values[f"{name}, {engine}", trees] = cross_validate(ranker, part, **given).values[MEASURE]
        if trees != "default":
            complete.append(trees)
            print(f"{len(complete)} settings, {(end - time.time()) / 60:.1f} minutes left", flush=True)
        if time.time() > end:
            break
    return values, complete, [name for name, trees in values if trees == "default"]


def shrunken(values: Values, settings: list[Trees | None], names: list[str]) -> NDArray[np.float64]:
    """The mean of each setting on each set, (settings, sets), drawn towards the setting's mean over all sets."""
    means = np.array([[values[name, trees].mean() for name in names] for trees in settings])
    centred = means - means.mean(axis=0)
    of_setting = centred.mean(axis=1, keepdims=True)
    result = np.empty_like(means)
    for at, name in enumerate(names):
        table = np.array([values[name, trees] for trees in settings])
        table -= table.mean(axis=0)
        noise = np.mean(table.var(axis=1, ddof=1) / table.shape[1])
        own = centred[:, at] - of_setting[:, 0]
        kept = max(0.0, 1 - noise / own.var())
        result[:, at] = of_setting[:, 0] + kept * own
    return result


def greedy(means: NDArray[np.float64], n: int) -> list[tuple[int, float]]:
    """The settings in the order of the choice, the first one first, each with the mean regret that is left."""
    best, chosen = means.max(axis=0), [0]
    order = [(0, float((best - means[0]).mean()))]
    while len(chosen) < min(n, len(means)):
        reached = means[chosen].max(axis=0)
        left = [float((best - np.maximum(reached, row)).mean()) for row in means]
        # Where nothing is left to gain, the highest mean over all sets.
        keys = [(round(regret, 7), -row.mean()) for regret, row in zip(left, means, strict=True)]
        at = min((at for at in range(len(means)) if at not in chosen), key=keys.__getitem__)
        chosen.append(at)
        order.append((at, left[at]))
    return order


def compare_rules(values: Values, settings: list[Trees | None], names: list[str]) -> pd.DataFrame:
    """What the two rules choose on one half of the queries, measured on the other, less the engine's default."""
    rng, rows = np.random.default_rng(0), []
    for name in names:
        table = np.array([values[name, trees] for trees in ("default", *settings)])
        gains = {"highest mean": [], "within one standard error": []}
        for _ in range(400):
            half = rng.permutation(table.shape[1]) < table.shape[1] // 2
            best = int(table[:, half].mean(axis=1).argmax())
            simple = best
            for at in (1, 0):  # the engine's default is the last to be asked, and has the last word
                mean, error, _ = weighted_mean(table[best, half] - table[at, half], np.ones(int(half.sum())))
                if mean <= error:
                    simple = at
            for rule, at in zip(gains, (best, simple), strict=True):
                gains[rule].append(table[at, ~half].mean() - table[0, ~half].mean())
        rows.append(
            {
                "set": name,
                "queries": table.shape[1],
                **{rule: 100 * np.mean(of) for rule, of in gains.items()},
            }
        )
    return pd.DataFrame(rows)


def main(arguments: Any = None) -> None:
    """Print the portfolio and the comparison of the rules."""
    made = argparse.ArgumentParser("python -m benchmarks.portfolio", description="The portfolio of tune.")
    made.add_argument("folder", type=Path, help="has a folder of each set")
    every = [*LETOR, "lightgbm_rank", "algolia_netflix", "log 1", "log 2"]
    made.add_argument("--sets", nargs="+", choices=every, default=every)
    made.add_argument("--engines", nargs="+", choices=list(ENGINES), default=list(ENGINES))
    made.add_argument("--draws", type=int, default=28, help="random settings (default: 28)")
    made.add_argument("--folds", type=int, default=3, help="(default: 3)")
    made.add_argument("--rounds", type=int, default=250, help="at most, in a fold (default: 250)")
    made.add_argument("--minutes", type=float, default=180, help="start no setting later (default: 180)")
    options = made.parse_args(arguments)
    values, settings, names = measure(options)
    means = shrunken(values, settings, names)
    print(f"{len(settings)} settings on {', '.join(names)}")
    for at, left in greedy(means, len(PORTFOLIO)):
        print(f"    {settings[at]},  # mean {100 * means[at].mean():+.2f}, regret left {100 * left:.2f}")
    rules = compare_rules(values, settings[: len(PORTFOLIO)], names)
    print(rules.round(2).to_string(index=False))
    print(rules.drop(columns=["set", "queries"]).mean().round(3).to_string())


if __name__ == "__main__":
    run(main)
