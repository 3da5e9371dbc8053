"""One label: the objectives of both engines and lambdaboost on equal trees: `python -m benchmarks.gain.one_label`.

Protocol, settled before the first run
--------------------------------------
Sets: those of `one_label_sets.SETS`, at most 300 queries each. Documents are shuffled inside each query by the seed.

Folds: a seed deals the queries into three parts; each is tested once, a quarter of the others stops the trainings, the
rest trains them. So each query is tested once per seed.

Trees, the same for all objectives of an engine, one thread, 150 rounds:

- default: LightGBM's and XGBoost's own defaults (31 leaves; depth 6)
- small: LightGBM with 8 leaves of at least 50 documents and learning rate 0.1, XGBoost with depth 3

XGBoost has ``min_child_weight=0``, since the hessians of its objectives have different scales, and learning rate 0.1.

Stops: 50 rounds, 100 rounds, and the best of every fifth round by NDCG@10 of the queries that stop the training
("stopped"), whatever the objective.

Figures: NDCG@10, MRR, MAP, ERR@10, P@5 of the test queries where the measure is defined, documents of grade 1 and
above relevant, in points (0 to 100). Differences are paired by query, after the values of a query were averaged over
seeds (and over trees and stops, where a row covers several). All sets count alike: the mean of the sets' means, with
the standard error that follows from those within the sets. "Inverse variance" weighs sets by their precision instead.

The report goes to ``results/one_label.md``. Values of finished seeds stay in a file and are not computed again unless
the code has changed.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import joblib
import lightgbm as lgb
import numpy as np
import typer
import xgboost as xgb
from numpy.typing import NDArray

from benchmarks.gain.one_label_sets import SETS, at_most
from benchmarks.provenance import digest, provenance
from experiments.common.report import table
from experiments.common.script import PROCESSORS, Workers, note, run, whole
from lambdaboost import ERR, MAP, MRR, NDCG, LambdaRank, Precision, YetiLoss
from lambdaboost.datasets import Collection

NAN = float("nan")
FOLDS, ROUNDS, STEP, MOST_QUERIES = 3, 150, 5, 300
SOURCES = ("objectives", "evaluation")  # of the package, on which the figures depend
KEPT = Path("lambdaboost-bench", "one_label.pkl")
REPORT = Path(__file__).parent / "results" / "one_label.md"
STOPS = ("50", "100", "stopped")
MEASURES = (NDCG(10, empty=NAN), MRR(empty=NAN), MAP(empty=NAN), ERR(10, empty=NAN), Precision(5, empty=NAN))
NAMES = ("NDCG@10", "MRR", "MAP", "ERR@10", "P@5")

LIGHTGBM = {
    "default": {},
    "small": {"num_leaves": 8, "min_data_in_leaf": 50, "learning_rate": 0.1},
}
XGBOOST = {
    "default": {"max_depth": 6, "learning_rate": 0.1, "min_child_weight": 0},
    "small": {"max_depth": 3, "learning_rate": 0.1, "min_child_weight": 0},
}
LAMBDARANK = {"objective": "lambdarank"}
OBJECTIVES: dict[str, dict[str, Any]] = {
    "LightGBM": {
        "lambdarank": LAMBDARANK,
        "lambdarank, all pairs, no norm": {
            **LAMBDARANK,
            "lambdarank_norm": False,
            "lambdarank_truncation_level": 10_000,
        },
        "rank_xendcg": {"objective": "rank_xendcg"},
        "LambdaRank()": {"objective": LambdaRank()},
        "YetiLoss()": {"objective": YetiLoss()},
        "YetiLoss(MRR())": {"objective": YetiLoss(MRR())},
        "YetiLoss(MAP())": {"objective": YetiLoss(MAP())},
    },
    "XGBoost": {
        "rank:ndcg": {"objective": "rank:ndcg"},
        "rank:pairwise": {"objective": "rank:pairwise"},
        "LambdaRank()": {"objective": LambdaRank()},
        "YetiLoss()": {"objective": YetiLoss()},
    },
}

Name = StrEnum("Name", list(SETS))  # type: ignore[misc]
Floats = NDArray[np.float64]
Key = tuple[str, str, str, str]  # engine, trees, objective, stop
Results = dict[str, list[dict[Key, Floats]]]  # by set, of each seed


def staged_lightgbm(
    params: dict[str, Any], train: Collection, seed: int, parts: list[Collection]
) -> list[Floats]:
    """Scores of each part after every STEP rounds, (ROUNDS / STEP, n_documents)."""
    fixed = {"verbose": -1, "num_threads": 1, "seed": seed, "metric": "None", "deterministic": True}
    data = lgb.Dataset(train.features, train.queries.relevance, group=train.queries.sizes)
    booster = lgb.train(params | fixed, data, ROUNDS)

    def block(part: Collection, first: int) -> Floats:
        scores: Any = booster.predict(part.features, start_iteration=first, num_iteration=STEP)
        return np.asarray(scores)

    return [np.cumsum([block(part, first) for first in range(0, ROUNDS, STEP)], axis=0) for part in parts]


def staged_xgboost(
    params: dict[str, Any], train: Collection, seed: int, parts: list[Collection]
) -> list[Floats]:
    """The same with XGBoost."""
    objective = params["objective"]
    own = isinstance(objective, str)
    fixed = {"nthread": 1, "seed": seed, "base_score": 0, "disable_default_eval_metric": True}
    named = {"objective": objective if own else "rank:ndcg"}
    data = xgb.DMatrix(train.features, train.queries.relevance, group=train.queries.sizes)
    booster = xgb.train(params | fixed | named, data, ROUNDS, obj=None if own else objective)
    scores = []
    for part in parts:
        rows = xgb.DMatrix(part.features)
        blocks = [
            booster.predict(rows, output_margin=True, iteration_range=(first, first + STEP))
            for first in range(0, ROUNDS, STEP)
        ]
        scores.append(np.cumsum(np.asarray(blocks, np.float64), axis=0))
    return scores


ENGINES: dict[str, tuple[Callable[..., list[Floats]], dict[str, dict[str, Any]]]] = {
    "LightGBM": (staged_lightgbm, LIGHTGBM),
    "XGBoost": (staged_xgboost, XGBOOST),
}


def one_seed(data: Collection, seed: int) -> dict[Key, Floats]:
    """Every measure of every query, (n_measures, n_queries), by engine, trees, objective and stop."""
    rng, n = np.random.default_rng(seed), data.queries.n_queries
    data = data.shuffled(seed)
    rng.random(data.queries.n_documents)  # the shuffling drew these; the folds come after them
    fold = rng.permutation(np.arange(n) % FOLDS)
    stops = rng.random(n) < 0.25
    values: dict[Key, Floats] = {}
    for tested in range(FOLDS):
        of_test = fold == tested
        train, stop, test = (data.take(kept) for kept in (~of_test & ~stops, ~of_test & stops, of_test))
        for engine, (staged, trees) in ENGINES.items():
            for (tree, params), (name, objective) in product(trees.items(), OBJECTIVES[engine].items()):
                of_stop, scores = staged(params | objective, train, seed, [stop, test])
                best = int(np.argmax([NDCG(10)(stage, stop.queries) for stage in of_stop]))
                for at, stage in zip(STOPS, (50 // STEP - 1, 100 // STEP - 1, best), strict=True):
                    of_query = values.setdefault((engine, tree, name, at), np.full((len(MEASURES), n), NAN))
                    for x, measure in enumerate(MEASURES):
                        of_query[x, of_test] = measure.per_query(scores[stage], test.queries)
    return values


class Difference:
    """Of two objectives in a measure, over trees and stops, by set."""

    def __init__(self, by_set: list[Floats]) -> None:
        """`by_set`: the differences of the queries of each set, in points."""
        self.means = np.array([np.nanmean(d) for d in by_set])
        self.errors = np.array([np.nanstd(d, ddof=1) / np.sqrt((~np.isnan(d)).sum()) for d in by_set])
        # Of the mean over sets, all of which count alike.
        self.error = np.sqrt((self.errors**2).sum()) / self.errors.size

    @property
    def cells(self) -> list[str]:
        """The mean over sets with its interval, t, how many sets are above 0, and the mean by inverse variance."""
        mean, half = self.means.mean(), 1.96 * self.error
        weights = 1 / np.maximum(self.errors, 1e-9) ** 2
        precise = (weights * self.means).sum() / weights.sum()
        return [
            f"{mean:+.2f} ({mean - half:+.2f} to {mean + half:+.2f})",
            f"{mean / max(self.error, 1e-9):.1f}",
            f"{(self.means > 0).sum()} of {self.means.size}",
            f"{precise:+.2f} ({precise * np.sqrt(weights.sum()):.1f})",
        ]


def mean_of(results: Results, name: str, key: tuple[str, str], **only: str) -> Floats:
    """Values of every query, (n_measures, n_queries), averaged over seeds, and over trees and stops not named."""
    engine, objective = key
    trees = [only["tree"]] if "tree" in only else list(LIGHTGBM)
    stops = [only["stop"]] if "stop" in only else list(STOPS)
    kept = [seed[engine, t, objective, s] for seed in results[name] for t in trees for s in stops]
    return np.mean(kept, axis=0)


def difference(
    results: Results, ours: tuple[str, str], theirs: tuple[str, str], measure: int, **only: str
) -> Difference:
    """Of two objectives, each named with its engine."""
    by_set = (
        mean_of(results, name, ours, **only) - mean_of(results, name, theirs, **only) for name in results
    )
    return Difference([100 * of_query[measure] for of_query in by_set])


def report(results: Results, about: str) -> str:
    """Tables of all differences, as Markdown; the comments mark what pages of the documentation show."""
    queries = sum(mean_of(results, name, ("LightGBM", "lambdarank")).shape[1] for name in results)
    of_sets = f"{len(results)} sets, {queries:,} queries, each tested once a seed."
    parts = ["# Objectives on equal trees, one label", f"{of_sets}\n{about}"]

    # NDCG@10 over all trees and rounds, then by these.
    heads = ("difference from", "mean of sets (95 % interval)", "t", "sets above 0", "inverse variance (t)")
    settings = list(product(LIGHTGBM, STOPS))
    for engine, objectives in OBJECTIVES.items():
        ours, whole, by_setting = (engine, "YetiLoss()"), [], []
        for name in (name for name in objectives if name != "YetiLoss()"):
            whole.append([f"`{name}`", *difference(results, ours, (engine, name), 0).cells])
            found = (difference(results, ours, (engine, name), 0, tree=t, stop=s) for t, s in settings)
            by_setting.append([f"`{name}`", *(f"{of.means.mean():+.2f}" for of in found)])
        parts += [f"## NDCG@10 on {engine}: `YetiLoss()` minus", table(heads, whole)]
        parts += ["By trees and rounds:", table(["minus", *map(", ".join, settings)], by_setting)]

    # Every measure.
    parts += ["## Other measures", "<!-- measures -->"]
    for engine, (first, *others) in OBJECTIVES.items():
        rows = []
        for name in others:
            found = [difference(results, (engine, name), (engine, first), x) for x in range(len(NAMES))]
            rows.append([f"`{name}`", *(f"{of.means.mean():+.2f} ± {of.error:.2f}" for of in found)])
        parts += [f"Minus {engine}'s `{first}`, points ± standard errors:", table(["", *NAMES], rows)]
    parts += ["<!-- end of measures -->"]

    # Every set, and where another objective is ahead.
    parts += ["## NDCG@10 by set"]
    behind = []
    for engine, objectives in OBJECTIVES.items():
        rows = []
        for name in results:
            values = [100 * mean_of(results, name, (engine, objective))[0] for objective in objectives]
            counted = str((~np.isnan(values[0])).sum())
            rows.append([name, counted, *(f"{np.nanmean(of):.2f}" for of in values)])
        heads = ("set", "queries", *(f"`{name}`" for name in objectives))
        parts += [f"On {engine}:", table(heads, rows)]
        for objective in objectives:
            of = difference(results, (engine, "YetiLoss()"), (engine, objective), 0)
            for name, mean, error in zip(results, of.means, of.errors, strict=True):
                if mean < 0:
                    behind.append([f"{engine}'s `{objective}`", name, f"{mean:+.2f} ± {error:.2f}"])
    heads = ("minus", "set", "NDCG@10, points ± standard error")
    parts += ["## Where `YetiLoss()` is behind", "<!-- behind -->", table(heads, behind)]
    return "\n\n".join([*parts, "<!-- end of behind -->"])


def main(
    folder: Annotated[Path, typer.Argument(help="the folder of the sets, which one_label_sets.py describes")],
    sets: Annotated[list[Name] | None, typer.Option(help="may be repeated (default: all)")] = None,
    seeds: Annotated[int, whole("number of seeds")] = 3,
    out: Annotated[Path, typer.Option(help="the report")] = REPORT,
    kept: Annotated[Path, typer.Option(help="values of finished seeds")] = KEPT,
    workers: Workers = PROCESSORS,
) -> None:
    """Train what is not there yet, and write the report after each seed."""
    names, code, start = [str(name) for name in sets or SETS], digest(SOURCES), time.perf_counter()
    values: dict[tuple[str, str, int], dict[Key, Floats]] = {}  # by digest, set and seed
    kept.parent.mkdir(parents=True, exist_ok=True)
    if kept.exists():
        values = pickle.loads(kept.read_bytes())
    in_parallel = joblib.Parallel(n_jobs=workers, return_as="generator")
    for seed in range(seeds):
        missing = [name for name in names if (code, name, seed) not in values]
        data = (at_most(SETS[name](folder), MOST_QUERIES) for name in missing)
        trained = in_parallel(joblib.delayed(one_seed)(of_set, seed) for of_set in data)
        for name, found in zip(missing, trained, strict=True):
            values[code, name, seed] = found
            kept.write_bytes(pickle.dumps(values))
            note(f"{name}, seed {seed}: done after {time.perf_counter() - start:.0f} s")
        results = {name: [values[code, name, s] for s in range(seed + 1)] for name in names}
        command = f"python -m benchmarks.gain.one_label FOLDER --seeds {seed + 1}"
        text = report(results, provenance(command, *SOURCES))
        out.write_text(text + "\n", encoding="utf-8")
        note(f"{out}: {seed + 1} seeds")


if __name__ == "__main__":
    run(main)
