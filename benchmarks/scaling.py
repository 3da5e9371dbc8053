"""Growth of the time of a gradient with the length of the list."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.plan import Plan
from benchmarks.section import Section
from benchmarks.timing import Slope, Timed, alternate, fitted
from experiments.common.report import legend
from lambdaboost import LambdaRank, Queries, RankNet, SigmoidLocal
from lambdaboost.datasets.synthetic import grades_by_share
from lambdaboost.evaluation.charts import COLOURS
from lambdaboost.objectives import Objective

OBJECTIVES: tuple[Objective, ...] = (LambdaRank(), RankNet(), SigmoidLocal())
PAIRS_2006 = 1.943  # slope of sums over all pairs in the 2006 paper
METHOD = """\
Seconds of one gradient over a single list, all pairs of different grades; between repetitions scores change as by a \
boosting round. The slope is fitted to the logarithms. Sums over all pairs have slope 2 (1.943 in the 2006 paper of \
Burges, Ragno and Le; its speed-up, of slope 1.185, also sums over all pairs and saves passes through a net, so it is \
not comparable)."""


def scaling(plan: Plan, threads: int) -> Section:
    """Measure every size."""
    seconds: dict[str, dict[int, Timed]] = {repr(o): {} for o in OBJECTIVES}
    for n in plan.list_sizes:
        for name, time in _list(n, plan).items():
            seconds[name][n] = time
    slopes = {name: fitted({n: one.median for n, one in found.items()}) for name, found in seconds.items()}
    rows = [
        (name, str(slopes[name]), *(Timed((one.median,)).milliseconds() for one in of_sizes.values()))
        for name, of_sizes in seconds.items()
    ]
    heads = ("objective", "slope", *(f"{n:,}" for n in plan.list_sizes))
    method = f"{METHOD} {plan.list_repetitions} repetitions."
    return Section("One long list", method, heads, tuple(rows), draw=lambda ax: draw(ax, seconds, slopes))


def _list(n: int, plan: Plan) -> dict[str, Timed]:
    """Seconds of each objective on a list of `n` documents."""
    rng = np.random.default_rng(n)
    scores = rng.normal(size=n)
    relevance = grades_by_share(scores + 2 * rng.normal(size=n))
    q = Queries(relevance, sizes=[n])
    rounds = list(islice(_moving(scores, n), plan.list_repetitions + 1))
    jobs = {repr(objective): partial(_next_gradient, objective, q, iter(rounds)) for objective in OBJECTIVES}
    for job in jobs.values():
        job()
    return alternate(jobs, plan.list_repetitions)


def _next_gradient(objective: Objective, q: Queries, rounds: Iterator[NDArray[np.float64]]) -> None:
    objective.gradient(next(rounds), q)


def _moving(scores: NDArray[np.float64], seed: int) -> Iterator[NDArray[np.float64]]:
    """Scores that change as in a training: each step adds a tree of 31 leaves at a learning rate of 0.1."""
    rng = np.random.default_rng(seed)
    while True:
        scores = scores + 0.1 * rng.normal(size=31)[rng.integers(31, size=scores.size)]
        yield scores


def draw(ax: Any, seconds: dict[str, dict[int, Timed]], slopes: dict[str, Slope]) -> None:
    """Plot seconds over documents, log-log, with a reference line for sums over all pairs."""
    for (name, found), colour, marker in zip(seconds.items(), COLOURS, "osD", strict=False):
        middle = np.array([one.median for one in found.values()])
        low = middle - np.array([min(one.values) for one in found.values()])
        high = np.array([max(one.values) for one in found.values()]) - middle
        label = f"{name}, slope {slopes[name].slope:.2f}"
        style = {"color": colour, "marker": marker, "markersize": 4, "capsize": 2}
        ax.errorbar(list(found), middle, [low, high], label=label, **style)
    n = np.array(list(seconds[repr(OBJECTIVES[0])]), dtype=float)
    start = min(found[int(n[0])].median for found in seconds.values())
    label = f"sums over all pairs, slope {PAIRS_2006} (2006 paper)"
    ax.plot(n, start * (n / n[0]) ** PAIRS_2006, ":", color="0.45", label=label)
    ax.set(xscale="log", yscale="log", xlabel="Documents of the list", ylabel="Seconds of one gradient")
    ax.set_xticks(n, [f"{int(x / 1000)}k" if x >= 1000 else f"{int(x)}" for x in n])
    ax.minorticks_off()
    legend(ax)
