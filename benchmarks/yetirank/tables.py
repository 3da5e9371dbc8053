"""`Results`: what every arm gives, and its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.yetirank.arms import BASE, CHANGES, LOSSES, NEWTON, OBJECTIVES, PROTOTYPES, TREES, Name
from experiments.common.report import table
from lambdaboost.evaluation.comparison.significance import LEGEND, Significance, significances, two_sided_p

Figures = NDArray[np.float64]  # NDCG of every seed and test query
YETI: Name = ("catboost", "as it is", "")


@dataclass(frozen=True, eq=False)
class Results:
    """NDCG@k of every seed and test query, by cutoff and arm, with the better learning rate of each seed."""

    figures: Mapping[int, Mapping[Name, Figures]]

    def mean(self, arm: Name, k: int = 3) -> str:
        """The mean over seeds and queries, times 100."""
        return f"{100 * self.figures[k][arm].mean():.2f}"

    def pooled(self, arms: Sequence[Name]) -> Figures:
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
    rows = [["YetiRank", results.mean(YETI), results.mean(YETI, 10), "", "", ""]]
    for family in (CHANGES, LOSSES):
        names = [name for name in family if name != YETI[1]]
        of = [("catboost", name, "") for name in names]
        found = compared([(results.figures[3][arm], results.figures[3][YETI]) for arm in of])
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


def of_prototypes(results: Results, engine: str) -> str:
    """Each prototype against every objective that there is, pooled over all trees but least-squares splits."""
    trees = [name for name in TREES[engine] if name != NEWTON]
    pooled = {o: results.pooled([(engine, o, t) for t in trees]) for o in map(str, OBJECTIVES[engine])}
    new = list(map(str, PROTOTYPES))
    pairs = [(mine, known) for mine in new for known in pooled if known not in new]
    found = compared([(pooled[mine], pooled[known]) for mine, known in pairs])
    rows = [[f"{mine} − {known}", *cells(one)] for (mine, known), one in zip(pairs, found, strict=True)]
    caption = f"{LEGEND} at NDCG@3, pooled over the trees; p after Holm."
    return table([engine, *HEADS], rows, caption)


def best_beside_yetirank(results: Results) -> str:
    """The highest cells of LightGBM and XGBoost, picked by these same figures, against YetiRank."""
    own = [arm for arm in results.figures[3] if arm[0] != "catboost"]
    found = dict(
        zip(own, compared([(results.figures[3][arm], results.figures[3][YETI]) for arm in own]), strict=True)
    )
    best = sorted(own, key=lambda arm: -results.figures[3][arm].mean())[:10]
    rows = [[", ".join(arm), results.mean(arm), *cells(found[arm])] for arm in best]
    caption = f"{LEGEND} than YetiRank at NDCG@3; p after Holm for all {len(own)} of LightGBM and XGBoost."
    return table(["highest ten", "NDCG@3", *HEADS], rows, caption)
