"""How the cost of one list grows with its documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.bench.data import graded
from lambdaboost.bench.plan import Plan
from lambdaboost.bench.section import Grid, Section, Setting
from lambdaboost.bench.sums import sampled_error
from lambdaboost.bench.timing import Figures, alternate
from lambdaboost.datasets import Queries
from lambdaboost.objectives import LambdaRank, Objective, RankNet, SigmoidLocal

OBJECTIVES: tuple[Objective, ...] = (LambdaRank(), RankNet(), SigmoidLocal())
PAIRS_2006, FASTER_2006 = 1.943, 1.185  # the slopes that the 2006 paper fitted: all pairs, and its speed-up
METHOD = """\
Seconds of one gradient over a single list, all pairs of different grades; between repetitions the scores move as a \
boosting round moves them. The slope is fitted to the logarithms: the 2006 paper (Burges, Ragno and Le) had 1.943 for \
pairs and 1.185 with its speed-up. Error: λ and μ of sampled documents against float64 sums over all their pairs, the \
largest difference relative to the largest λ or μ among them."""


@dataclass(frozen=True)
class Slope:
    """Of seconds over documents, both as logarithms, with its standard error."""

    slope: float
    error: float

    def __str__(self) -> str:
        return f"{self.slope:.3f} ± {self.error:.3f}"


def scaling(plan: Plan, setting: Setting) -> Section:
    """Measure every size."""
    seconds: dict[str, dict[int, Figures]] = {repr(o): {} for o in OBJECTIVES}
    errors: dict[str, dict[int, tuple[float, float]]] = {repr(o): {} for o in OBJECTIVES}
    for n in plan.list_sizes:
        for name, (time, error) in _list(n, plan, setting).items():
            seconds[name][n], errors[name][n] = time, error
    slopes = {name: fitted({n: one.median for n, one in found.items()}) for name, found in seconds.items()}
    figures = {
        name: {
            "slope": slopes[name].slope,
            "slope error": slopes[name].error,
            "seconds": {n: one.described() for n, one in seconds[name].items()},
            "largest error of λ": {n: one[0] for n, one in errors[name].items()},
            "largest error of μ": {n: one[1] for n, one in errors[name].items()},
        }
        for name in seconds
    }
    rows = [
        (
            name,
            str(slopes[name]),
            *(_cell(one.median) for one in seconds[name].values()),
            _largest(errors[name]),
        )
        for name in seconds
    ]
    heads = ("objective", "slope", *(f"{n:,}" for n in plan.list_sizes), "largest error")
    method = f"{METHOD} {plan.list_repetitions} repetitions, {plan.sampled} documents."
    return Section(
        "One long list", method, Grid(heads, tuple(rows)), figures, draw=lambda ax: draw(ax, seconds, slopes)
    )


def _cell(seconds: float) -> str:
    return Figures((seconds,)).milliseconds() if seconds < 1 else Figures((seconds,)).text(" s")


def _largest(errors: dict[int, tuple[float, float]]) -> str:
    return f"{max(map(max, errors.values())):.1e}"


def _list(n: int, plan: Plan, setting: Setting) -> dict[str, tuple[Figures, tuple[float, float]]]:
    """Seconds and errors of each objective on a list of `n` documents."""
    setting.told(f"{n:,} documents: warming up")
    rng = np.random.default_rng(n)
    scores = rng.normal(size=n)
    relevance = graded(scores + 2 * rng.normal(size=n))
    q = Queries(relevance, sizes=[n])
    rounds = list(islice(_moving(scores, n), plan.list_repetitions + 1))
    jobs = {repr(objective): partial(_next_gradient, objective, q, iter(rounds)) for objective in OBJECTIVES}
    for job in jobs.values():
        job()
    seconds = alternate(jobs, plan.list_repetitions, setting.telling(f"{n:,} documents"))
    sample = np.unique(np.concatenate([np.argsort(-scores)[:8], rng.choice(n, size=min(n, plan.sampled))]))
    return {
        repr(objective): (seconds[repr(objective)], sampled_error(objective, scores, q, sample))
        for objective in OBJECTIVES
    }


def _next_gradient(objective: Objective, q: Queries, rounds: Iterator[NDArray[np.float64]]) -> None:
    objective.gradient(next(rounds), q)


def _moving(scores: NDArray[np.float64], seed: int) -> Iterator[NDArray[np.float64]]:
    """Scores as a training moves them: each time a tree of 31 leaves is added, at a learning rate of 0.1."""
    rng = np.random.default_rng(seed)
    while True:
        scores = scores + 0.1 * rng.normal(size=31)[rng.integers(31, size=scores.size)]
        yield scores


def fitted(seconds: dict[int, float]) -> Slope:
    """The slope through the medians."""
    from scipy.stats import linregress

    found = linregress(np.log(list(seconds)), np.log(list(seconds.values())))
    return Slope(float(found.slope), float(found.stderr))


def draw(ax: Any, seconds: dict[str, dict[int, Figures]], slopes: dict[str, Slope]) -> None:
    """Seconds over documents, both logarithmic, with the 2006 paper's slopes from where RankNet starts."""
    from lambdaboost.diagnostics.plots import COLOURS

    for (name, found), colour, marker in zip(seconds.items(), COLOURS, "osD", strict=False):
        middle = np.array([one.median for one in found.values()])
        low = middle - np.array([min(one.values) for one in found.values()])
        high = np.array([max(one.values) for one in found.values()]) - middle
        label = f"{name}, slope {slopes[name].slope:.2f}"
        ax.errorbar(
            list(found),
            middle,
            [low, high],
            label=label,
            color=colour,
            marker=marker,
            markersize=4,
            capsize=2,
        )
    n = np.array(list(seconds[repr(OBJECTIVES[0])]), dtype=float)
    start = min(found[int(n[0])].median for found in seconds.values())
    for slope, text, dashes in ((PAIRS_2006, "all pairs", ":"), (FASTER_2006, "its speed-up", "--")):
        label = f"2006 paper, {text}, slope {slope}"
        ax.plot(n, start * (n / n[0]) ** slope, dashes, color="0.45", label=label)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(n, [f"{int(x / 1000)}k" if x >= 1000 else f"{int(x)}" for x in n])
    ax.minorticks_off()
    ax.set_xlabel("Documents of the list")
    ax.set_ylabel("Seconds of one gradient")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25)
    ax.legend(frameon=False)
