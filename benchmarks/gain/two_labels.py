"""Two labels, one training per weight or two trainings whose scores are added: `python -m benchmarks.gain.two_labels`.

Protocol, settled before the run
--------------------------------
Sets: `PARTS`, described in `two_label_sets`. Folds of random queries, each tested once per seed; of the others, a
quarter stops the trainings and gives the spreads by which scores are divided. Documents are shuffled inside each query.

Training: LightGBM, one thread, 15 leaves, learning rate 0.1, its other defaults, at most 200 rounds. A training of
weight w stops 25 rounds after the best (1 - w)·NDCG@10 of the first label + w·CNDCG@10 of the second on the queries
that stop it; a member stops by the measure of its own label.

Systems, at weights w of `WEIGHTS` for the second label, and each label alone:

- stock pair: two `lambdarank` models, one per label, their scores divided by their spreads and added
- combined gain: one `lambdarank` per weight, of 31 grades of (1 - w)·gain of the first + w·gain of the second label
- combined gain, YetiLoss: the same with `YetiLoss` of NDCG@10 with these gains
- Scorecard: one training per weight of both `YetiLoss`, with plain weights
- graded: one training per weight of the `LambdaRank` of grades, whose ties the second label breaks
- pair: two models of `YetiLoss`, one per label
- four: these and the stock pair, all divided by their spreads
- four, two seeds: `YetiLoss` with two seeds of its noise for each label
- four, two stops: the same, and the models of the second seed are stopped by another quarter of the queries, so that
  together they learn from all
- pair, as many trees: the pair with twice the learning rate, cut off where both together have the trees of `Scorecard`
- pair, cut off, and four, cut off: as many trees by leaving the last ones out

With unknown grades, the first label is known on a share of the queries that train and stop.

Figures: NDCG@10 and CNDCG@10 of the test queries where both are defined, means over the seeds. A system's front is the
upper envelope of its points. "Highest first" is the highest first measure at any weight. "Front" is the mean over
preferences a of the largest a·first + (1 - a)·second; "at -1" is the second measure where the first is 1 point below
that of the stock model of the first label alone. All differences are from the stock pair, with percentile intervals of
95 % of a bootstrap of the queries, in each set; all sets count alike.

Which four members to recommend is decided on the sets `DECIDE`, by the mean over the front, and confirmed on the
others. (`pair`, `four`, `Scorecard`, `graded` and the stock systems had been run before with one seed on log, titles,
talks and mq2008; the other systems had not.)
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import lightgbm as lgb
import numpy as np
import typer
import xgboost as xgb
from numpy.typing import NDArray

from benchmarks.gain.two_label_sets import SETS, Labelled
from benchmarks.provenance import digest, provenance
from experiments.common.report import table
from experiments.common.script import note, run, whole
from lambdaboost import CNDCG, NDCG, LambdaRank, Scorecard, YetiLoss, attach, graded, merge
from lambdaboost.leaks import leaks

NAN = float("nan")
WEIGHTS = (0.1, 0.3, 0.5, 0.7, 0.9)
PREFERENCES = np.linspace(0.05, 0.95, 19)
BELOW = (0.005, 0.01)
FOLDS, ROUNDS, PATIENCE, LEVELS, SAMPLES = 4, 200, 25, 30, 1000
PARTS: tuple[tuple[str, float, tuple[str, ...]], ...] = (
    ("All grades known", 1.0, ("mslr", "titles", "talks", "log", "mq2008", "posts")),
    ("One label contains the other", 1.0, ("bookings",)),
    ("Grades known on 5 % of the queries", 0.05, ("log", "posts")),
    ("Grades known on 20 % of the queries", 0.2, ("log", "posts")),
)
TREES = 300  # of each model whose time is measured
DECIDE = ("mslr", "titles", "talks")
PARAMS = {
    "num_leaves": 15,
    "learning_rate": 0.1,
    "metric": "None",
    "verbose": -1,
    "num_threads": 1,
    "seed": 1,
}
BASE = "stock pair"
OTHERS = (BASE, "combined gain", "combined gain, YetiLoss", "Scorecard", "graded")
SUMS = (
    "pair",
    "four",
    "four, two seeds",
    "four, two stops",
    "pair, as many trees",
    "pair, cut off",
    "four, cut off",
)
SYSTEMS = (*OTHERS, *SUMS)
FIGURES = ("highest first", "front", "second at −0.5", "second at −1")

Floats = NDArray[np.float64]
Points = dict[str, list[Floats]]  # of each system: both measures of each test query, (2, n), at each weight
Run = tuple[dict[str, Floats], dict[str, float]]  # of one seed: each system's measures, and its trees
Runs = dict[tuple[str, float, int], Run]  # by set, share of known grades, seed
SOURCES = ("objectives", "evaluation", "merging")  # of the package, on which the figures depend


def measures_of(data: Labelled) -> tuple[Any, Any]:
    """The measure of each label."""
    return NDCG(10, gain=data.gain, empty=NAN), CNDCG(10, "second", empty=NAN)


class Trainer:
    """Trains on a part of a set, stops by another."""

    def __init__(self, train: Labelled, stop: Labelled) -> None:
        self.train, self.stop = train, stop
        self.measures = measures_of(train)
        # A query of unknown grades has no grade above 0, so the first measure leaves it out.
        self.stop_queries = stop.queries

    def fit(
        self,
        objective: Any,
        weight: float,
        label: Floats | None = None,
        gain: Any = None,
        rate: float = 0.1,
        relevance: Floats | None = None,
    ) -> lgb.Booster:
        """A booster of lambdaboost's objective on both labels, or of `lambdarank` on one `label` with its gain.

        `relevance` takes the place of the first label.
        """
        stop, weights = self.stop, (1 - weight, weight)

        def utility(scores: Floats, data: lgb.Dataset) -> tuple[str, float, bool]:
            found = [
                w * measure(scores, self.stop_queries)
                for w, measure in zip(weights, self.measures, strict=True)
                if w
            ]
            return "utility", float(np.sum(found)), True

        data = self._data(self.train, label, relevance)
        valid = lgb.Dataset(stop.features, np.zeros(len(stop.features)), group=stop.sizes, reference=data)
        params = {**PARAMS, "objective": objective, "learning_rate": rate}
        if gain is not None:
            params["label_gain"] = gain
        early = [lgb.early_stopping(PATIENCE, verbose=False)]
        return lgb.train(params, data, ROUNDS, valid_sets=[valid], feval=utility, callbacks=early)

    @staticmethod
    def _data(part: Labelled, label: Floats | None, relevance: Floats | None) -> lgb.Dataset:
        if label is None:
            first = part.first if relevance is None else relevance
            data = lgb.Dataset(part.features, np.nan_to_num(first), group=part.sizes, params=PARAMS)
            return attach(data, relevance=first, second=part.second)
        known = ~np.isnan(label)
        query = np.repeat(np.arange(part.sizes.size), part.sizes)[known]
        sizes = np.unique(query, return_counts=True)[1]
        return lgb.Dataset(part.features[known], label[known], group=sizes, params=PARAMS)


def gains_of(data: Labelled) -> tuple[Floats, Floats]:
    """The gain of each row's first label, over the largest, and of its second."""
    top = 2.0 ** np.nanmax(data.first) - 1 if data.gain == "exponential" else np.nanmax(data.first)
    first = (2.0**data.first - 1) / top if data.gain == "exponential" else data.first / top
    return first, (2 ** (4 * data.second) - 1) / 15


def scores_of(
    trainer: Trainer, other: Trainer, test: Labelled
) -> tuple[dict[str, list[Floats]], dict[str, float]]:
    """The test scores of every system at weight 0, at `WEIGHTS` and at weight 1; and its trees at weight 0.5."""
    first_measure, second_measure = trainer.measures
    first_gain, second_gain = gains_of(trainer.train)
    steps = np.linspace(0, 1, LEVELS + 1)
    own = LambdaRank(replace(first_measure, empty=0.0)), LambdaRank(replace(second_measure, empty=0.0))
    noisy = tuple(YetiLoss(objective.metric) for objective in own)

    def grades_of(gain: Floats) -> Floats:
        """Grades of a gain from 0 to 1, in equal steps."""
        return np.where(np.isnan(gain), NAN, np.rint(gain * LEVELS))

    def stock(gain: Floats, weight: float) -> lgb.Booster:
        """`lambdarank` of these grades."""
        return trainer.fit("lambdarank", weight, grades_of(gain), steps.tolist())

    def members(by: Trainer, seed: int, rate: float = 0.1) -> list[lgb.Booster]:
        """`YetiLoss` of each label."""
        return [by.fit(replace(one, seed=seed), float(at), rate=rate) for at, one in enumerate(noisy)]

    stocks = [stock(first_gain, 0.0), stock(second_gain, 1.0)]
    yetis, fast = members(trainer, 0), members(trainer, 0, rate=0.2)
    seeds, stops = members(trainer, 1), members(other, 1)
    cards = [trainer.fit(Scorecard(noisy, (1 - w, w)), w) for w in WEIGHTS]
    by_ties = [trainer.fit(graded(w, "second", own[0].metric), w) for w in WEIGHTS]
    combined = [(1 - w) * np.nan_to_num(first_gain) + w * second_gain for w in WEIGHTS]
    gains = [stock(gain, w) for gain, w in zip(combined, WEIGHTS, strict=True)]
    of_gain = YetiLoss(NDCG(10, gain="linear"))
    noisy_gains = [
        trainer.fit(of_gain, w, relevance=grades_of(gain)) for gain, w in zip(combined, WEIGHTS, strict=True)
    ]
    found, trees, middle = dict[str, list[Floats]](), dict[str, float](), len(WEIGHTS) // 2

    def add(
        name: str, *members: Sequence[lgb.Booster], most: int | None = None, by: Sequence[Trainer] = ()
    ) -> None:
        """Enter the sums of the members of each label, each divided by its spread, at every weight."""
        each = ROUNDS if most is None else max(1, most // (2 * len(members)))
        sums, trees[name] = [np.zeros(len(test.features)) for _ in (0, 1)], 0.0
        for pair, stopped_by in zip(members, by or (trainer,) * len(members), strict=True):
            for label, booster in enumerate(pair):
                n = min(each, booster.best_iteration)
                spread = booster.predict(stopped_by.stop.features, num_iteration=n).std() or 1.0
                sums[label] += booster.predict(test.features, num_iteration=n) / spread
                trees[name] += n
        found[name] = [(1 - w) * sums[0] + w * sums[1] for w in (0.0, *WEIGHTS, 1.0)]

    def train_each(name: str, boosters: Sequence[lgb.Booster], ends: Sequence[lgb.Booster]) -> None:
        """Enter the predictions of one model per weight, and of one per label."""
        found[name] = [booster.predict(test.features) for booster in (ends[0], *boosters, ends[1])]
        trees[name] = boosters[middle].best_iteration

    add(BASE, stocks)
    train_each("combined gain", gains, stocks)
    train_each("combined gain, YetiLoss", noisy_gains, yetis)
    train_each("Scorecard", cards, yetis)
    train_each("graded", by_ties, (trainer.fit(own[0], 0.0), yetis[1]))
    add("pair", yetis)
    add("four", yetis, stocks)
    add("four, two seeds", yetis, seeds)
    add("four, two stops", yetis, stops, by=(trainer, other))
    most = int(trees["Scorecard"])
    add("pair, as many trees", fast, most=most)
    add("pair, cut off", yetis, most=most)
    add("four, cut off", yetis, stocks, most=most)
    return found, trees


def one_seed(data: Labelled, known: float, seed: int) -> Run:
    """Both measures of every query by each system at each weight, (weights, 2, n), and its trees, means over folds."""
    n, found, trees = data.sizes.size, dict[str, Floats](), dict[str, float]()
    rng = np.random.default_rng(seed)
    rows = data.queries.shuffled_rows(seed)
    shuffled = replace(data, features=data.features[rows], first=data.first[rows], second=data.second[rows])
    fold = rng.permutation(n) % FOLDS
    for at in range(FOLDS):
        rest = rng.permutation(np.flatnonzero(fold != at))
        unknown = np.repeat(rng.random(n) >= known, data.sizes)
        seen = replace(shuffled, first=np.where(unknown, NAN, shuffled.first))
        # Two quarters of the queries that are not tested stop one training or another.
        trainers = []
        for stops in (rest[: rest.size // 4], rest[-(rest.size // 4) :]):
            stop = np.isin(np.arange(n), stops)
            trainers.append(Trainer(seen.part((fold != at) & ~stop), seen.part(stop)))
        test = shuffled.part(fold == at)
        scored, of_trees = scores_of(*trainers, test)
        for system, of_weights in scored.items():
            trees[system] = trees.get(system, 0.0) + of_trees[system] / FOLDS
            values = found.setdefault(system, np.zeros((len(WEIGHTS) + 2, 2, n)))
            for w, scores in enumerate(of_weights):
                values[w][:, fold == at] = [
                    measure.per_query(scores, test.queries) for measure in measures_of(data)
                ]
    return found, trees


def points_of(seeds: Sequence[Run]) -> tuple[Points, dict[str, float]]:
    """Means over the seeds, in points, of the queries where both measures are defined."""
    points = {system: 100 * np.mean([found[system] for found, _ in seeds], axis=0) for system in seeds[0][0]}
    defined = ~np.isnan(points[BASE]).any(axis=(0, 1))
    trees = {system: float(np.mean([of[system] for _, of in seeds])) for system in points}
    return {system: list(values[:, :, defined]) for system, values in points.items()}, trees


def figures(means: Floats, level: float) -> Floats:
    """The highest first measure, the front, and the second at `BELOW` the level, of (weights, 2) mean measures."""
    front = (PREFERENCES[:, None] * means[:, 0] + (1 - PREFERENCES[:, None]) * means[:, 1]).max(axis=1).mean()
    return np.array([means[:, 0].max(), front, *(_second_at(means, level - 100 * below) for below in BELOW)])


def _second_at(means: Floats, level: float) -> float:
    """The largest second measure with the first at `level` or above, between two points of the front."""
    there = means[:, 0] >= level
    if not there.any():  # nowhere as high: its highest first measure
        return float(means[means[:, 0].argmax(), 1])
    best = means[there, 1].max()
    for high in means[there]:
        for low in means[~there]:
            share = (level - low[0]) / (high[0] - low[0])
            best = max(best, low[1] + share * (high[1] - low[1]))
    return float(best)


class Sampled:
    """The figures of every system on a set, and those of bootstrapped queries after them, (1 + samples, 4).

    `points` are both mean measures of every system at each weight, (weights, 2).
    """

    def __init__(self, seeds: Sequence[Run], samples: int) -> None:
        points, self.trees = points_of(seeds)
        self.n, self.seeds = points[BASE][0].shape[1], len(seeds)
        rng = np.random.default_rng(0)
        weights = np.vstack([np.ones(self.n), rng.multinomial(self.n, np.full(self.n, 1 / self.n), samples)])
        means = {system: np.array(of) @ weights.T / self.n for system, of in points.items()}
        self.points = {system: of[:, :, 0] for system, of in means.items()}
        self.figures = {
            system: np.array([figures(of[:, :, at], means[BASE][0, 0, at]) for at in range(1 + samples)])
            for system, of in means.items()
        }


def difference(sets: Sequence[Sampled], system: str, base: str, at: int) -> str:
    """The mean over sets of the difference of two systems in one figure, and its interval."""
    of = np.mean([one.figures[system][:, at] - one.figures[base][:, at] for one in sets], axis=0)
    low, high = np.quantile(of[1:], (0.025, 0.975))
    return f"{of[0]:+.2f}: {low:+.2f} to {high:+.2f}"


def page(runs: Runs, made_by: str, samples: int) -> list[str]:
    """The paragraphs of the result page: merged systems against the others, and the tables of each part."""
    found = {
        (name, known): Sampled([run for (n, k, _), run in runs.items() if (n, k) == (name, known)], samples)
        for name, known, seed in runs
        if seed == 0
    }
    parts = ["# Two labels: a training per weight, or two trainings and a weighted sum", made_by]
    for title, known, names in PARTS:
        sets = {name: found[name, known] for name in names if (name, known) in found}
        if not sets:
            continue
        parts.append(f"## {title}")

        # All sets together, against the stock pair.
        if len(sets) > 1:
            rows = []
            for system in SYSTEMS:
                times = np.mean([of.trees[system] / of.trees["Scorecard"] for of in sets.values()])
                cells = [system, f"{times:.1f}", *["0"] * len(FIGURES), ""]
                if system != BASE:
                    above = sum(of.figures[system][0, 1] > of.figures[BASE][0, 1] for of in sets.values())
                    four = (difference(list(sets.values()), system, BASE, at) for at in range(len(FIGURES)))
                    cells[2:] = [*four, f"{above} of {len(sets)}"]
                rows.append(cells)
            heads = (f"differences from the {BASE}", "trees / Scorecard's", *FIGURES, "front above")
            parts.append(table(heads, rows))

        # The fronts of sums, on the sets that decided and on the others.
        if title == PARTS[0][0]:
            groups = {
                f"on {', '.join(DECIDE)}, which decided": [of for name, of in sets.items() if name in DECIDE],
                "on the others": [of for name, of in sets.items() if name not in DECIDE],
                "on all": list(sets.values()),
            }
            for group, members in groups.items():
                if members:
                    heads = (f"front, {group}", *(f"minus {other}" for other in OTHERS))
                    rows = [[system, *(difference(members, system, o, 1) for o in OTHERS)] for system in SUMS]
                    parts.append(table(heads, rows))

        # Both measures at every weight, which README draws.
        if title == PARTS[0][0]:
            rows = []
            for system in SYSTEMS:
                means = np.mean([of.points[system] for of in sets.values()], axis=0)
                rows.append([system, *(f"{first:.2f}, {second:.2f}" for first, second in means)])
            heads = ("weight of the second label", *(f"{weight:g}" for weight in (0, *WEIGHTS, 1)))
            over = f"Means over {len(sets)} sets."
            parts += ["### Both measures at every weight", over, table(heads, rows)]

        # Each set.
        for name, of in sets.items():
            parts += [f"### {name}: {title.lower()}", f"{of.n} queries, seeds: {of.seeds}."]
            rows = []
            for system in SYSTEMS:
                cells = [f"{figure:.2f}" for figure in of.figures[system][0]]
                if system != BASE:
                    cells = [
                        f"{cell} ({difference([of], system, BASE, at)})" for at, cell in enumerate(cells)
                    ]
                rows.append([system, f"{of.trees[system]:.0f}", *cells])
            parts.append(table(("system", "trees", *FIGURES), rows))
    return parts


def serving() -> str:
    """A table of the processor time of merged models over that of their two members, measured by turns."""
    data, rows = SETS["log"](Path()).part(np.arange(600) < 200), []
    for engine in ("LightGBM", "XGBoost"):
        members: list[Any] = []
        for label in (data.first, data.second):
            if engine == "LightGBM":
                params = {"num_leaves": 31, "num_threads": 1, "verbose": -1}
                members.append(lgb.train(params, lgb.Dataset(data.features, label), TREES))
            else:
                params = {"max_leaves": 31, "max_depth": 0, "grow_policy": "lossguide", "nthread": 1}
                members.append(xgb.train(params, xgb.DMatrix(data.features, label), TREES))
        merged, cells = merge(members, [0.5, 0.5]), [f"{engine}: time of the merged model / of both"]
        for n in (30, 3000):
            times = np.zeros((7, 3))
            for turn, at in np.ndindex(times.shape):
                model, began = (merged, *members)[at], time.process_time()
                for _ in range(6000 // n):
                    if engine == "LightGBM":
                        model.predict(data.features[:n], num_threads=1)
                    else:
                        model.inplace_predict(data.features[:n])
                times[turn, at] = time.process_time() - began
            cells.append(f"{np.median(times[:, 0] / times[:, 1:].sum(axis=1)):.2f}")
        rows.append(cells)
    heads = (f"two models of {TREES} trees of 31 leaves, one thread", "30 rows", "3,000 rows")
    return table(heads, rows)


def main(
    data: Annotated[Path, typer.Argument(help="the folder of the sets, which two_label_sets.py describes")],
    seeds: Annotated[int, whole("0 writes the page of what was trained", least=0)] = 2,
    out: Annotated[Path, typer.Option(help="the page; values in a .pkl beside it")] = Path("two_labels.md"),
) -> Runs:
    """Train every system on every set that is not in the values beside the page yet, and write the page.

    Values of other sources are kept too, and count as missing.
    """
    kept, by_digest = out.with_suffix(".pkl"), dict[str, Runs]()
    if kept.exists():
        by_digest = pickle.loads(kept.read_bytes())
    runs = by_digest.setdefault(digest(SOURCES), {})
    for seed, (_, known, names) in product(range(seeds), PARTS):
        for name in names:
            if (name, known, seed) in runs:
                continue
            labelled, began = SETS[name](data), time.process_time()
            if found := leaks(labelled.features, labelled.queries):
                raise ValueError(f"{name}: features {found} hold a label")
            runs[name, known, seed] = one_seed(labelled, known, seed)
            kept.write_bytes(pickle.dumps(by_digest))
            took = time.process_time() - began
            note(f"{name}, grades {known:.0%}, seed {seed}: {took:.0f} s of processor time")
    parts = page(runs, provenance("python -m benchmarks.gain.two_labels DATA", *SOURCES), SAMPLES)
    out.write_text("\n\n".join([*parts, "## Serving", serving()]) + "\n", encoding="utf-8")
    return runs


if __name__ == "__main__":
    run(main)
