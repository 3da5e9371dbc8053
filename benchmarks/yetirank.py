"""Why CatBoost's YetiRank leads on the synthetic log: `python -m benchmarks.yetirank --help`.

Protocol, settled before any figure was seen
--------------------------------------------
Data: one `web_search_log`, queries without a relevant document left out. Its first 4,000 queries test; each of five
seeds trains on 1,000 queries of its own and validates on 500 more. A training stops after 20 rounds without a higher
NDCG@3 of the validation part, or after 200. Every arm has two learning rates, .07 and .2, of which each seed takes the
one with the higher NDCG@3 of its validation part. All else is the engine's default, but for what an arm names; gradient
steps have 100 documents a leaf, on XGBoost as ``min_child_weight``.

CatBoost's arms change YetiRank one thing at a time: its noise, weights, trees, score function, bootstrap, random
strength and leaves; others are its other losses. CatBoost prohibits another leaf estimation than one Newton step for
YetiRank, and on the processor it has no second-order score function. LightGBM and XGBoost have no symmetric trees: what
stands for them is small trees and trees of limited depth; what stands for random strength is ``extra_trees`` and half
of the features at each node, on LightGBM. Least-squares splits with Newton's leaves, as CatBoost's are, are
``leaves="newton"``, without gradient steps. `QuerySoftmax` is CatBoost's QuerySoftMax on these engines: ListNet and
XE-NDCG, on LightGBM its own ``rank_xendcg``, are other softmaxes.

Figures: NDCG of each test query, averaged over the seeds. Tests: paired t-tests over the test queries, Holm's correction
within a table; "seeds" counts those in which the arm is the higher one. Chance of the training data shows in the seeds,
not in the p-values.

A softmax becomes an objective only if it is significantly above both ListNet and XE-NDCG, pooled over the trees, on both
engines. A form of trees becomes a recommendation only if it is significantly above 31 leaves, pooled over the
objectives, on its engine.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.field.candidates import Candidate
from benchmarks.field.data import graded_only
from benchmarks.field.trainers import PATIENCE, ROUNDS, Predict, Prepared, matrix
from benchmarks.field.trainers import trained as trained_by_catboost
from experiments.common.report import table, versions
from experiments.common.script import at_least, note, run
from experiments.common.workers import Outcome, Workers
from lambdaboost import (
    NDCG,
    XENDCG,
    GradientStep,
    GumbelRanks,
    LambdaLoss,
    LambdaRank,
    ListNet,
    Queries,
)
from lambdaboost.datasets import Collection, web_search_log
from lambdaboost.engines.leaves import GRADIENT_LEAF
from lambdaboost.evaluation.comparison.significance import LEGEND, Significance, significances, two_sided_p
from lambdaboost.objectives import Objective
from lambdaboost.objectives.base.objective import Floats, LambdaMu

SEEDS, TRAIN, VALID, TEST, DOCUMENTS = 5, 1000, 500, 4000, 20
RATES = (0.07, 0.2)
MEASURE, CUTOFFS = NDCG(3), (3, 10)
REGULARIZER = 0.01  # CatBoost's lambda of QuerySoftMax

Params = tuple[tuple[str, Any], ...]
Figures = NDArray[np.float64]  # NDCG@3 by seed and test query


class QuerySoftmax(Objective, registered=False):
    """CatBoost's QuerySoftMax: the cross-entropy of grades and a softmax, each query weighted by its sum of grades."""

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> LambdaMu:
        """λ and μ of every document."""
        starts, grades = q.offsets[:-1], q.relevance.astype(np.float64)
        e = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), q.sizes))
        p = e / np.repeat(np.add.reduceat(e, starts), q.sizes)
        total = np.repeat(np.add.reduceat(grades, starts), q.sizes)
        return grades - total * p, total * (p * (1 - p) + REGULARIZER)


@dataclass(frozen=True)
class Arm:
    """An objective with trees: a cell of a table."""

    engine: Literal["catboost", "lightgbm", "xgboost"]
    objective: Objective | str
    trees: str = ""
    params: Params = ()
    leaves: Literal["engine", "newton"] = "engine"

    @property
    def key(self) -> str:
        """What files are named by."""
        text = f"{self.engine} {self.objective} {self.params} {self.leaves}"
        return "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in text)

    def given(self, rate: float, seed: int) -> dict[str, Any]:
        """The engine's parameters."""
        named = {"catboost": "random_seed", "lightgbm": "seed", "xgboost": "seed"}
        return dict(self.params) | {"learning_rate": rate, named[self.engine]: seed}

    def catboost(self, rate: float, seed: int) -> CatBoostSetting:
        """The same for the field's trainer."""
        return CatBoostSetting(self.given(rate, seed))


@dataclass(frozen=True)
class CatBoostSetting:
    """Parameters in place of a setting of the field."""

    params: dict[str, Any]

    def catboost(self) -> dict[str, Any]:
        """CatBoost's parameters."""
        return self.params


# --- The arms

PLAIN = {"bootstrap_type": "No", "random_strength": 0}
LEAFWISE = {"grow_policy": "Lossguide"}  # of 31 leaves
YETI = "YetiRank"
SOFTMAX = "QuerySoftMax"
CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "as it is": (YETI, {}),
    "no bootstrap": (YETI, {"bootstrap_type": "No"}),
    "random strength 0": (YETI, {"random_strength": 0}),
    "neither": (YETI, PLAIN),
    "leaf-wise trees of 31 leaves": (YETI, LEAFWISE),
    "neither, leaf-wise": (YETI, PLAIN | LEAFWISE),
    "depth-wise trees": (YETI, {"grow_policy": "Depthwise"}),
    "depth 4": (YETI, {"depth": 4}),
    "score function L2": (YETI, {"score_function": "L2"}),
    "l2_leaf_reg 3": (YETI, {"l2_leaf_reg": 3}),
    "no noise": (f"{YETI}:noise=No", {}),
    "1 permutation": (f"{YETI}:permutations=1", {}),
    "decay .85": (f"{YETI}:decay=0.85", {}),
    "ΔNDCG of neighbours": (f"{YETI}:mode=NDCG;dcg_type=Exp", {}),
    "ΔNDCG of all pairs": (f"{YETI}:mode=NDCG;dcg_type=Exp;num_neighbors=-1", {}),
}
LOSSES: dict[str, tuple[str, dict[str, Any]]] = {
    SOFTMAX: (SOFTMAX, {}),
    "QuerySoftMax, Newton's leaves": (SOFTMAX, {"leaf_estimation_method": "Newton"}),
    "QuerySoftMax, neither": (SOFTMAX, PLAIN),
    "QuerySoftMax, leaf-wise": (SOFTMAX, LEAFWISE),
    "QuerySoftMax, neither, leaf-wise": (SOFTMAX, PLAIN | LEAFWISE),
    "LambdaMart": ("LambdaMart", {}),
    "PairLogit": ("PairLogit", {}),
    "QueryRMSE": ("QueryRMSE", {}),
}
BASE = "31 leaves"
NEWTON = "least-squares splits"
LIGHTGBM: dict[str, dict[str, Any]] = {
    BASE: {},
    "8 leaves": {"num_leaves": 8},
    "4 leaves": {"num_leaves": 4},
    "depth 3": {"max_depth": 3, "num_leaves": 8},
    "depth 4": {"max_depth": 4, "num_leaves": 16},
    "depth 6": {"max_depth": 6, "num_leaves": 64},
    "extra trees": {"extra_trees": True},
    "half of the features": {"feature_fraction_bynode": 0.5},
    NEWTON: {},
}
XGBOOST: dict[str, dict[str, Any]] = {
    BASE: {"grow_policy": "lossguide", "max_depth": 0, "max_leaves": 31},
    "depth 6": {},
    "depth 3": {"max_depth": 3},
}
NOISY = GradientStep(GumbelRanks(LambdaRank()))
SHARED = (LambdaRank(), LambdaLoss(), NOISY, ListNet(), QuerySoftmax())
OBJECTIVES: dict[str, tuple[Objective | str, ...]] = {
    "lightgbm": ("lambdarank", "rank_xendcg", *SHARED),
    "xgboost": ("rank:ndcg", XENDCG(), *SHARED),
}
TREES = {"lightgbm": LIGHTGBM, "xgboost": XGBOOST}


def arms() -> dict[tuple[str, str, str], Arm]:
    """Every arm by engine, row and column; CatBoost's where it is installed."""
    found = {}
    if find_spec("catboost") is not None:
        for row, (loss, params) in (CHANGES | LOSSES).items():
            found["catboost", row, ""] = Arm("catboost", loss, row, tuple(params.items()))
    for engine, objectives in OBJECTIVES.items():
        for objective in objectives:
            for trees, params in TREES[engine].items():
                if trees != NEWTON or not isinstance(objective, str):
                    found[engine, str(objective), trees] = _arm(engine, objective, trees, params)
    return found


def _arm(engine: Any, objective: Objective | str, trees: str, params: dict[str, Any]) -> Arm:
    if trees == NEWTON:
        inner = objective.objective if isinstance(objective, GradientStep) else objective
        return Arm(engine, inner, trees, tuple(params.items()), "newton")
    if engine == "xgboost" and isinstance(objective, GradientStep):
        params = params | {"min_child_weight": GRADIENT_LEAF}
    return Arm(engine, objective, trees, tuple(params.items()))


# --- Training


@dataclass(frozen=True)
class Task:
    """An arm with a seed and a learning rate."""

    arm: Arm
    seed: int
    rate: float

    @property
    def key(self) -> str:
        """The name of the file that keeps the outcome."""
        return f"{self.seed}-{self.rate}-{self.arm.key}"


class Log:
    """The test part and every seed's data."""

    def __init__(self) -> None:
        self.whole = web_search_log(TEST + SEEDS * (TRAIN + VALID), DOCUMENTS)
        self.prepared = cache(self._prepared)
        self.test = self.part(0, TEST)

    def part(self, first: int, queries: int) -> Collection:
        """Consecutive queries, those with a relevant document."""
        taken = self.whole.take(np.arange(first, first + queries)).shuffled(0)
        return graded_only(Collection(taken.features, Queries(taken.queries.relevance, taken.queries.sizes)))

    def _prepared(self, seed: int) -> Prepared:
        first = TEST + seed * (TRAIN + VALID)
        return Prepared(self.part(first, TRAIN), self.part(first + TRAIN, VALID))

    def __call__(self, task: Task) -> Outcome:
        """NDCG@3 of the validation part, and NDCG of every test query at each cutoff."""
        data = self.prepared(task.seed)
        predict, rounds = trained(task, data)
        assert data.valid is not None
        valid = MEASURE(predict(matrix(data.valid)), data.valid.queries)
        scores = predict(matrix(self.test))
        figures = {f"NDCG@{k}": NDCG(k).per_query(scores, self.test.queries) for k in CUTOFFS}
        return figures | {"valid": np.array(valid), "rounds": np.array(rounds)}


def trained(task: Task, data: Prepared) -> tuple[Predict, int]:
    """Train until the measure of the validation part stalls."""
    if task.arm.engine == "catboost":
        candidate = Candidate(str(task.arm.objective), "catboost", task.arm.objective)
        setting: Any = task.arm.catboost(task.rate, task.seed)
        model = trained_by_catboost(candidate, setting, data, MEASURE)
        return model.predict, model.rounds
    return (_lightgbm if task.arm.engine == "lightgbm" else _xgboost)(task, data)


def _lightgbm(task: Task, data: Prepared) -> tuple[Predict, int]:
    import lightgbm as lgb

    from lambdaboost.lightgbm import train

    params = {"verbosity": -1, "num_threads": 1, "deterministic": True, "force_row_wise": True}
    learn, valid = data.lightgbm
    booster = train(
        params | task.arm.given(task.rate, task.seed),
        learn,
        ROUNDS,
        objective=task.arm.objective,
        leaves=task.arm.leaves,
        valid_sets=valid,
        feval=MEASURE,
        callbacks=[lgb.early_stopping(PATIENCE, verbose=False)],
    )
    return lambda X: booster.predict(X, raw_score=True, num_threads=1), booster.best_iteration


def _xgboost(task: Task, data: Prepared) -> tuple[Predict, int]:
    from lambdaboost.xgboost import train

    learn, valid = data.xgboost
    booster = train(
        {"verbosity": 0, "nthread": 1} | task.arm.given(task.rate, task.seed),
        learn,
        ROUNDS,
        objective=task.arm.objective,
        evals=[(valid, "valid")],
        custom_metric=MEASURE,
        early_stopping_rounds=PATIENCE,
        verbose_eval=False,
    )
    best = booster[: booster.best_iteration + 1]
    return lambda X: best.inplace_predict(X, predict_type="margin").astype(
        np.float64
    ), best.num_boosted_rounds()


# --- Tables


@dataclass(frozen=True, eq=False)
class Results:
    """NDCG@k of every seed and test query, by cutoff and arm, with the better learning rate of each seed."""

    figures: Mapping[int, Mapping[tuple[str, str, str], Figures]]

    def mean(self, arm: tuple[str, str, str], k: int = 3) -> str:
        """The mean over seeds and queries, times 100."""
        return f"{100 * self.figures[k][arm].mean():.2f}"

    def pooled(self, arms: Sequence[tuple[str, str, str]]) -> Figures:
        """NDCG@3 averaged over arms."""
        return np.mean([self.figures[3][arm] for arm in arms], axis=0)


def compared(pairs: Sequence[tuple[Figures, Figures]]) -> list[tuple[Significance, str]]:
    """Each first against its second: the test over queries, one family, and the seeds in which the first is higher."""
    differences = [(one - other).mean(axis=0) for one, other in pairs]
    tested = significances((float(d.mean()), two_sided_p(d, np.ones(d.size))) for d in differences)
    ahead = [int(((one - other).mean(axis=1) > 0).sum()) for one, other in pairs]
    return [(s, f"{n} of {len(one)}") for s, n, (one, _) in zip(tested, ahead, pairs, strict=True)]


def cells(found: tuple[Significance, str]) -> list[str]:
    """A difference in points with its mark, its p-value, and the seeds."""
    significance, seeds = found
    text = f"{100 * significance.difference:+.2f}"
    return [significance.marked(text), f"{significance.adjusted:.2g}", seeds]


HEADS = ("difference", "p", "seeds")


def of_catboost(results: Results) -> str:
    """YetiRank's changes and CatBoost's other losses, two families against YetiRank as it is."""
    base = ("catboost", "as it is", "")
    rows = [["YetiRank", results.mean(base), results.mean(base, 10), "", "", ""]]
    for family in (CHANGES, LOSSES):
        names = [name for name in family if name != base[1]]
        of = [("catboost", name, "") for name in names]
        found = compared([(results.figures[3][arm], results.figures[3][base]) for arm in of])
        rows += [
            [name, results.mean(arm), results.mean(arm, 10), *cells(one)]
            for name, arm, one in zip(names, of, found, strict=True)
        ]
    caption = f"{LEGEND} than YetiRank at NDCG@3; p after Holm's correction, changes and losses apart."
    return table(["CatBoost", "NDCG@3", "NDCG@10", *HEADS], rows, caption)


def of_engine(results: Results, engine: str) -> str:
    """Objectives by trees."""
    rows = []
    for objective in map(str, OBJECTIVES[engine]):
        arms = [(engine, objective, trees) for trees in TREES[engine]]
        rows.append([objective, *(results.mean(a) if a in results.figures[3] else "" for a in arms)])
    return table([engine, *TREES[engine]], rows, "NDCG@3.")


def of_trees(results: Results, engine: str) -> str:
    """Each form of trees against 31 leaves, pooled over the objectives that have it."""
    names = [trees for trees in TREES[engine] if trees != BASE]
    pairs = []
    for trees in names:
        arms = [arm for arm in results.figures[3] if arm[0] == engine and arm[2] == trees]
        pairs.append((results.pooled(arms), results.pooled([(engine, row, BASE) for _, row, _ in arms])))
    found = compared(pairs)
    rows = [[trees, *cells(one)] for trees, one in zip(names, found, strict=True)]
    return table(
        [engine, *HEADS],
        rows,
        f"{LEGEND} than 31 leaves at NDCG@3, pooled over the objectives; p after Holm.",
    )


def of_objectives(results: Results, engine: str) -> str:
    """Each objective against QuerySoftmax and YetiRank, pooled over all trees but least-squares splits."""
    trees = [name for name in TREES[engine] if name != NEWTON]
    pooled = {o: results.pooled([(engine, o, t) for t in trees]) for o in map(str, OBJECTIVES[engine])}
    softmax, yeti = pooled[str(QuerySoftmax())], results.figures[3].get(("catboost", "as it is", ""))
    others = [name for name in pooled if name != str(QuerySoftmax())]
    below = compared([(softmax, pooled[name]) for name in others])
    rows = [[f"QuerySoftmax − {name}", *cells(one)] for name, one in zip(others, below, strict=True)]
    if yeti is not None:
        of_yeti = compared([(figures, yeti) for figures in pooled.values()])
        rows += [[f"{name} − YetiRank", *cells(one)] for name, one in zip(pooled, of_yeti, strict=True)]
    caption = f"{LEGEND} at NDCG@3, pooled over the trees; p after Holm, the two groups apart."
    return table([engine, *HEADS], rows, caption)


def best_beside_yetirank(results: Results) -> str:
    """The highest cells of LightGBM and XGBoost, picked by the same figures, against YetiRank and its leaf-wise form."""
    yeti = ("catboost", "as it is", "")
    own = [arm for arm in results.figures[3] if arm[0] != "catboost"]
    best = sorted(own, key=lambda arm: -results.figures[3][arm].mean())[:10]
    found = compared([(results.figures[3][arm], results.figures[3][yeti]) for arm in best])
    rows = [[", ".join(arm), results.mean(arm), *cells(one)] for arm, one in zip(best, found, strict=True)]
    return table(
        ["highest ten", "NDCG@3", *HEADS], rows, f"{LEGEND} than YetiRank; p after Holm for {len(own)}."
    )


def main(arguments: Sequence[str] | None = None) -> Results:
    """Train what is missing, print the tables and write them."""
    options = _parser().parse_args(arguments)
    found = arms()
    tasks = [
        Task(arm, seed, rate) for seed in range(options.seeds) for arm in found.values() for rate in RATES
    ]
    options.out.mkdir(parents=True, exist_ok=True)
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        if done % 50 == 0:
            note(f"{done} of {len(tasks)}")

    with Workers(options.out / "runs", options.workers, Log) as pool:
        outcomes = pool.run({task.key: task for task in tasks}, count)

    def chosen(arm: Arm, seed: int) -> Outcome:
        return max((outcomes[Task(arm, seed, rate).key] for rate in RATES), key=lambda o: float(o["valid"]))

    picked = {name: [chosen(arm, seed) for seed in range(options.seeds)] for name, arm in found.items()}
    results = Results(
        {k: {name: np.array([o[f"NDCG@{k}"] for o in of]) for name, of in picked.items()} for k in CUTOFFS}
    )
    parts = [of_catboost(results), best_beside_yetirank(results)] if find_spec("catboost") else []
    for engine in TREES:
        parts += [of_engine(results, engine), of_trees(results, engine), of_objectives(results, engine)]
    packages = ["lightgbm", "xgboost", *(["catboost"] if find_spec("catboost") else [])]
    head = f"`python -m benchmarks.yetirank --seeds {options.seeds}`. {versions(*packages)}."
    text = "\n\n".join(["# CatBoost's YetiRank, taken apart", head, (__doc__ or "").strip(), *parts])
    (options.out / "report.md").write_text(text + "\n", encoding="utf-8")
    print(text)
    return results


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "python -m benchmarks.yetirank", description="CatBoost's YetiRank, one change at a time."
    )
    made.add_argument(
        "--seeds", type=int, choices=range(1, SEEDS + 1), default=SEEDS, help=f"(default: {SEEDS})"
    )
    made.add_argument("--workers", type=at_least(1), default=1, help="trainings at a time (default: 1)")
    made.add_argument(
        "--out",
        type=Path,
        default=Path("lambdaboost-yetirank"),
        metavar="DIR",
        help="report.md and the finished trainings, which are not repeated (default: lambdaboost-yetirank)",
    )
    return made


if __name__ == "__main__":
    run(main)
