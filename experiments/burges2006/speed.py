"""Section 6.1: RankNet pair by pair (V1) against the factored gradient (V2), in processor time of one thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import process_time

import numpy as np

from benchmarks.timing import Slope, Timed, alternate, fitted
from experiments.burges2006 import loops
from experiments.burges2006.nets import HIDDEN
from experiments.common.cubic import cubic_polynomial
from experiments.common.report import table
from experiments.common.script import note
from lambdaboost import Queries
from lambdaboost.datasets import Collection

PAPER_SPEEDUP = {"one layer": 5.1, "two layers": 8.0}
PAPER_SLOPES = {"pairs": 1.943, "factored": 1.185}
NAMES = {"pairs": "pair by pair (V1)", "factored": "factored (V2)"}
EPOCHS = {"pairs": loops.pairwise_epoch, "factored": loops.factored_epoch}
RATE = 1e-6  # so small that the weights hardly change
LONGEST = 512_000  # documents of the paper's longest list


@dataclass(frozen=True)
class SpeedPlan:
    """The sizes that are timed."""

    # Queries and documents per query: 26.1 on average in the paper; the second shape has longer lists.
    shapes: tuple[tuple[int, int], ...] = ((1000, 26), (10, 250))
    features: int = 367
    repetitions: int = 5
    # Documents of one list: 4,000 to 512,000 in the paper, which pair by pair would take hours to days.
    pair_lists: tuple[int, ...] = (500, 1000, 2000, 4000)
    factored_lists: tuple[int, ...] = (4000, 8000, 16_000, 32_000)
    list_features: int = 50
    list_repetitions: int = 3


QUICK = SpeedPlan(((60, 26), (3, 60)), 367, 2, (100, 200, 400), (500, 1000), 50, 1)


@dataclass(frozen=True, eq=False)
class Speed:
    """The times: epochs both ways by (layers, documents), and those of one list by (way, layers) and documents."""

    plan: SpeedPlan
    epochs: dict[tuple[str, int], dict[str, Timed]]
    lists: dict[tuple[str, str], dict[int, Timed]]

    def slope(self, way: str, layers: str) -> Slope:
        """The slope of log seconds over log documents."""
        return fitted({n: one.median for n, one in self.lists[way, layers].items()})

    def speedups(self) -> str:
        """Seconds of an epoch by V1 and V2, and the speed-up beside the paper's."""
        rows = []
        for (layers, documents), seconds in self.epochs.items():
            pairs, factored = seconds["pairs"], seconds["factored"]
            paper = f"{PAPER_SPEEDUP[layers]:.1f}×" if documents == self.plan.shapes[0][1] else ""
            times = [pairs.text(" s"), factored.text(" s"), (pairs / factored).ratio(), paper]
            rows.append([layers, str(documents), *times])
        shapes = " and ".join(f"{queries} queries of {documents}" for queries, documents in self.plan.shapes)
        caption = (
            f"One epoch over {shapes} documents with {self.plan.features} features, weights moved after each query; "
            f"processor time, median of {self.plan.repetitions} repetitions in turn, lowest to highest in brackets."
        )
        header = ["Net", "documents a query", "pair by pair (V1)", "factored (V2)", "speed-up", "paper's"]
        return table(header, rows, caption)

    def slopes(self) -> str:
        """Growth of the time of one long list."""
        rows = []
        for (way, layers), seconds in self.lists.items():
            ends = f"{min(seconds):,} to {max(seconds):,}"
            row = [f"{NAMES[way]}, {layers}", ends, seconds[max(seconds)].text(" s")]
            rows.append([*row, str(self.slope(way, layers)), f"{PAPER_SLOPES[way]:.3f}"])
        known = self.lists["pairs", "two layers"]
        hours = known[max(known)].median * (LONGEST / max(known)) ** 2 / 3600
        caption = (
            f"One list, {self.plan.list_features} features, median of {self.plan.list_repetitions}; slope of log "
            "seconds over log documents with its standard error. The paper's lists have 4,000 to 512,000 documents "
            "both ways; it gives one slope for each, of its own sums over pairs. By the square, "
            f"{LONGEST:,} documents would take {hours:,.3g} hours pair by pair with two layers."
        )
        return table(["Gradient", "documents", "longest", "slope", "paper's"], rows, caption)


def measure_speed(plan: SpeedPlan) -> Speed:
    """Time everything on this machine, in a block ``using(1)``."""
    epochs: dict[tuple[str, int], dict[str, Timed]] = {}
    for queries, documents in plan.shapes:
        data = cubic_polynomial(queries, documents, plan.features)
        note(f"{queries} queries of {documents} documents, {plan.repetitions} times")
        for layers, hidden in HIDDEN.items():
            jobs = {way: _epoch_of(way, data, hidden) for way in NAMES}
            for job in jobs.values():
                job()
            epochs[layers, documents] = alternate(jobs, plan.repetitions, process_time)

    x, q = cubic_polynomial(1, max(plan.factored_lists), plan.list_features)
    lists: dict[tuple[str, str], dict[int, Timed]] = {}
    for layers, hidden in HIDDEN.items():
        for way, sizes in {"pairs": plan.pair_lists, "factored": plan.factored_lists}.items():
            note(f"one list of {min(sizes):,} to {max(sizes):,} documents: {way}, {layers}")
            for n in sizes:
                job = _epoch_of(way, Collection(x[:n], Queries(q.relevance[:n], sizes=[n])), hidden)
                timed = alternate({way: job}, plan.list_repetitions, process_time)
                lists.setdefault((way, layers), {})[n] = timed[way]
    return Speed(plan, epochs, lists)


def _epoch_of(way: str, data: Collection, hidden: int) -> Callable[[], None]:
    """An epoch by compiled loops."""
    x, q = data
    net = loops.a_net(data.n_features, hidden)
    return partial(EPOCHS[way], q.offsets, x, q.relevance, np.float32(RATE), net, loops.nothing(net))
