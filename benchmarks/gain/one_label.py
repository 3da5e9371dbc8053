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

The last table compares nothing: LightGBM's `lambdarank` with its defaults, 100 rounds, is trained on one half of each
set but the two largest and tested on the other, eight times with the rows of each query in other orders and eight times
with other seeds and a bagging of 0.8, to see how far a mean of NDCG@10 moves by chance.

The report goes to ``results/one_label.md``. Values of finished seeds stay in a file and are not computed again unless
the code has changed.
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import lightgbm as lgb
import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from benchmarks.gain.one_label_sets import SETS, Judged
from benchmarks.provenance import digest, provenance
from experiments.common.script import add_workers, note, run
from lambdaboost import ERR, MAP, MRR, NDCG, LambdaRank, Precision, YetiLoss

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
OBJECTIVES: dict[str, dict[str, Any]] = {
    "LightGBM": {
        "lambdarank": {"objective": "lambdarank"},
        "lambdarank, all pairs, no norm": {
            "objective": "lambdarank",
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

Floats = NDArray[np.float64]
Key = tuple[str, str, str, str]  # engine, trees, objective, stop
Results = dict[str, list[dict[Key, Floats]]]  # by set, of each seed


def staged_lightgbm(params: dict[str, Any], train: Judged, seed: int, parts: list[Judged]) -> list[Floats]:
    """Scores of each part after every STEP rounds, (ROUNDS / STEP, n_documents)."""
    fixed = {"verbose": -1, "num_threads": 1, "seed": seed, "metric": "None", "deterministic": True}
    data = lgb.Dataset(train.features, train.grades, group=train.sizes)
    booster = lgb.train(params | fixed, data, ROUNDS)

    def block(part: Judged, first: int) -> Floats:
        scores: Any = booster.predict(part.features, start_iteration=first, num_iteration=STEP)
        return np.asarray(scores)

    return [np.cumsum([block(part, first) for first in range(0, ROUNDS, STEP)], axis=0) for part in parts]


def staged_xgboost(params: dict[str, Any], train: Judged, seed: int, parts: list[Judged]) -> list[Floats]:
    """The same with XGBoost."""
    objective = params["objective"]
    own = isinstance(objective, str)
    fixed = {"nthread": 1, "seed": seed, "base_score": 0, "disable_default_eval_metric": True}
    named = {"objective": objective if own else "rank:ndcg"}
    data = xgb.DMatrix(train.features, train.grades, group=train.sizes)
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


def one_seed(data: Judged, seed: int) -> dict[Key, Floats]:
    """Every measure of every query, (n_measures, n_queries), by engine, trees, objective and stop."""
    rng = np.random.default_rng(seed)
    data = data.shuffled(rng)
    fold = rng.permutation(np.arange(data.sizes.size) % FOLDS)
    stops = rng.random(data.sizes.size) < 0.25
    values: dict[Key, Floats] = {}
    for tested in range(FOLDS):
        train, stop = data.part((fold != tested) & ~stops), data.part((fold != tested) & stops)
        test, of_test = data.part(fold == tested), fold == tested
        for engine in OBJECTIVES:
            staged, trees = ENGINES[engine]
            for tree, params in trees.items():
                for name, objective in OBJECTIVES[engine].items():
                    of_stop, scores = staged(params | objective, train, seed, [stop, test])
                    best = max(
                        range(len(of_stop)), key=lambda x: np.nanmean(NDCG(10)(of_stop[x], stop.queries))
                    )
                    for at, stage in zip(STOPS, (50 // STEP - 1, 100 // STEP - 1, best), strict=True):
                        of_query = values.setdefault(
                            (engine, tree, name, at), np.full((len(MEASURES), data.sizes.size), NAN)
                        )
                        for x, measure in enumerate(MEASURES):
                            of_query[x, of_test] = measure.per_query(scores[stage], test.queries)
    return values


class Difference:
    """Of two objectives in a measure, over trees and stops, by set."""

    def __init__(self, by_set: list[Floats]) -> None:
        """`by_set`: the differences of the queries of each set, in points."""
        self.means = np.array([np.nanmean(d) for d in by_set])
        self.errors = np.array([np.nanstd(d, ddof=1) / np.sqrt((~np.isnan(d)).sum()) for d in by_set])

    @property
    def text(self) -> str:
        """The mean over sets with its interval and t, how many sets are above 0, and the mean by inverse variance."""
        n = self.means.size
        mean, error = self.means.mean(), np.sqrt((self.errors**2).sum()) / n
        weights = 1 / np.maximum(self.errors, 1e-9) ** 2
        precise = (weights * self.means).sum() / weights.sum()
        t = precise * np.sqrt(weights.sum())
        half = 1.96 * error
        return (
            f"{mean:+.2f} ({mean - half:+.2f} to {mean + half:+.2f}) | {mean / max(error, 1e-9):.1f} | "
            f"{(self.means > 0).sum()} of {n} | {precise:+.2f} ({t:.1f})"
        )


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
    lines = ["# Objectives on equal trees, one label", "", f"{of_sets}\n{about}", ""]

    # NDCG@10 over all trees and rounds, then by these.
    for engine, objectives in OBJECTIVES.items():
        others = [name for name in objectives if name != "YetiLoss()"]
        lines += [f"## NDCG@10 on {engine}: `YetiLoss()` minus", ""]
        lines += [
            "| difference from | mean of sets (95 % interval) | t | sets above 0 | inverse variance (t) |"
        ]
        lines += ["|---" * 5 + "|"]
        for name in others:
            lines.append(
                f"| `{name}` | {difference(results, (engine, 'YetiLoss()'), (engine, name), 0).text} |"
            )
        lines += ["", "By trees and rounds:", ""]
        lines += [f"| minus | {' | '.join(f'{t}, {s}' for t in LIGHTGBM for s in STOPS)} |", "|---" * 7 + "|"]
        for name in others:
            of_stops = (
                difference(results, (engine, "YetiLoss()"), (engine, name), 0, tree=t, stop=s)
                for t in LIGHTGBM
                for s in STOPS
            )
            lines.append(f"| `{name}` | {' | '.join(f'{cell.means.mean():+.2f}' for cell in of_stops)} |")
        lines.append("")

    # Every measure.
    lines += ["## Other measures", "", "<!-- measures -->"]
    for engine, objectives in OBJECTIVES.items():
        first = next(iter(objectives))
        lines += [f"Minus {engine}'s `{first}`, points ± standard errors:", "", f"| | {' | '.join(NAMES)} |"]
        lines.append("|---" * (len(NAMES) + 1) + "|")
        for name in [name for name in objectives if name != first]:
            found = [difference(results, (engine, name), (engine, first), x) for x in range(len(NAMES))]
            errors = [np.sqrt((of.errors**2).sum()) / of.errors.size for of in found]
            cells = (f"{of.means.mean():+.2f} ± {error:.2f}" for of, error in zip(found, errors, strict=True))
            lines.append(f"| `{name}` | {' | '.join(cells)} |")
        lines.append("")
    lines += ["<!-- end of measures -->", ""]

    # Every set, and where another objective is ahead.
    lines += ["## NDCG@10 by set", ""]
    behind = []
    for engine, objectives in OBJECTIVES.items():
        lines += [
            f"On {engine}:",
            "",
            f"| set | queries | {' | '.join(f'`{name}`' for name in objectives)} |",
        ]
        lines.append("|---" * (len(objectives) + 2) + "|")
        for name in results:
            values = [100 * mean_of(results, name, (engine, objective))[0] for objective in objectives]
            counted = int((~np.isnan(values[0])).sum())
            lines.append(f"| {name} | {counted} | {' | '.join(f'{np.nanmean(v):.2f}' for v in values)} |")
        lines.append("")
        for objective in objectives:
            found = difference(results, (engine, "YetiLoss()"), (engine, objective), 0)
            for name, mean, error in zip(results, found.means, found.errors, strict=True):
                if mean < 0:
                    behind.append(f"| {engine}'s `{objective}` | {name} | {mean:+.2f} ± {error:.2f} |")
    lines += ["## Where `YetiLoss()` is behind", "", "<!-- behind -->"]
    lines += ["| minus | set | NDCG@10, points ± standard error |", "|---|---|---|", *behind]
    lines += ["", "<!-- end of behind -->", ""]
    return "\n".join(lines)


NOISE = """\
## How far one training moves

Mean NDCG@10 of LightGBM's `lambdarank` in points: standard deviation and range over eight orders of the rows within
queries, and over eight seeds with a bagging of 0.8.

| set | trained on | tested on | rows: deviation | range | seeds: deviation | range |
|---|---|---|---|---|---|---|"""


def report_noise(name: str, data: Judged) -> str:
    """A row of a table: how far the mean NDCG@10 of one training moves, as standard deviation and range."""
    first = np.random.default_rng(0).random(data.sizes.size) < 0.5
    train, test = data.part(first), data.part(~first)
    cells = []
    for orders, params in ((8, {}), (1, {"bagging_fraction": 0.8, "bagging_freq": 1})):
        means = []
        for x in range(8):
            rows = train.shuffled(np.random.default_rng(x % orders))
            scores = staged_lightgbm({"objective": "lambdarank"} | params, rows, x, [test])[0][
                100 // STEP - 1
            ]
            means.append(100 * np.nanmean(MEASURES[0].per_query(scores, test.queries)))
        cells.append(f"{np.std(means, ddof=1):.2f} | {np.ptp(means):.2f}")
    return f"| {name} | {train.sizes.size} | {test.sizes.size} | {' | '.join(cells)} |"


def main() -> None:
    """Train what is not there yet, and write the report after each seed."""
    made = argparse.ArgumentParser("python -m benchmarks.gain.one_label", description=__doc__)
    made.formatter_class = argparse.RawDescriptionHelpFormatter
    made.add_argument("folder", type=Path, help="the folder of the sets, which one_label_sets.py describes")
    made.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS), help="default: all")
    made.add_argument("--seeds", type=int, default=3)
    made.add_argument(
        "--out", type=Path, default=REPORT, help=f"the report (default: {REPORT.name} in results)"
    )
    made.add_argument("--kept", type=Path, default=KEPT, help=f"values of finished seeds (default: {KEPT})")
    add_workers(made)
    options, start = made.parse_args(), time.perf_counter()
    code = digest(SOURCES)
    values: dict[tuple[str, str, int], dict[Key, Floats]] = {}  # by digest, set and seed
    options.kept.parent.mkdir(parents=True, exist_ok=True)
    if options.kept.exists():
        values = pickle.loads(options.kept.read_bytes())
    in_parallel = joblib.Parallel(n_jobs=options.workers, return_as="generator")
    small = [name for name in options.sets if name not in ("clueweb09", "mslr", "ratings")]
    noise = list(
        in_parallel(joblib.delayed(report_noise)(name, SETS[name](options.folder)) for name in small)
    )
    for seed in range(options.seeds):
        missing = [name for name in options.sets if (code, name, seed) not in values]
        data = (SETS[name](options.folder).at_most(MOST_QUERIES) for name in missing)
        trained = in_parallel(joblib.delayed(one_seed)(of_set, seed) for of_set in data)
        for name, found in zip(missing, trained, strict=True):
            values[code, name, seed] = found
            options.kept.write_bytes(pickle.dumps(values))
            note(f"{name}, seed {seed}: done after {time.perf_counter() - start:.0f} s")
        results = {name: [values[code, name, s] for s in range(seed + 1)] for name in options.sets}
        command = f"python -m benchmarks.gain.one_label FOLDER --seeds {seed + 1}"
        text = report(results, provenance(command, *SOURCES))
        options.out.write_text("\n".join([text, NOISE, *noise]) + "\n", encoding="utf-8")
        note(f"{options.out}: {seed + 1} seeds")


if __name__ == "__main__":
    run(main)
