"""Section 6.1: RankNet pair by pair (V1) against the factored gradient (V2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from lambdaboost.bench.scaling import Slope, fitted
from lambdaboost.bench.timing import Figures, alternate
from lambdaboost.datasets import Collection, Queries, cubic_polynomial
from lambdaboost.evaluation.comparison.table import Cell, Table
from lambdaboost.objectives import RankNet
from lambdaboost.reproduce.burges2006 import loops
from lambdaboost.reproduce.burges2006.nets import HIDDEN, torch_net

PAPER_SPEEDUP = {"one layer": 5.1, "two layers": 8.0}
PAPER_SLOPES = {"pairs": 1.943, "factored": 1.185}
NAMES = {"pairs": "pair by pair (V1)", "factored": "factored (V2)"}
LOOPS, TORCH = "compiled loops", "PyTorch"
RATE = 1e-6  # weights move, and hardly
Told = Callable[[str], None]


@dataclass(frozen=True)
class SpeedPlan:
    """What is timed."""

    # Queries and their documents: on average 26.1 in the paper; the second shape shows what longer lists do.
    shapes: tuple[tuple[int, int], ...] = ((1000, 26), (10, 250))
    features: int = 367
    repetitions: int = 3
    pair_lists: tuple[int, ...] = (500, 1000, 2000, 4000)
    factored_lists: tuple[int, ...] = tuple(4000 * 2**doubling for doubling in range(8))
    list_features: int = 50
    list_repetitions: int = 2


QUICK = SpeedPlan(((60, 26), (3, 60)), 367, 2, (100, 200, 400), (1000, 2000, 4000), 50, 1)


@dataclass(frozen=True, eq=False)
class Speed:
    """What was timed: epochs by (how, layers, documents); those of one list by (way, layers) and documents."""

    plan: SpeedPlan
    epochs: dict[tuple[str, str, int], tuple[Figures, Figures]]
    lists: dict[tuple[str, str], dict[int, Figures]]

    def slope(self, way: str, layers: str) -> Slope:
        """Of seconds over documents, both as logarithms."""
        return fitted({n: one.median for n, one in self.lists[way, layers].items()})

    def speedups(self) -> Table:
        """Seconds of an epoch both ways, and their ratio beside the paper's."""
        rows = []
        for (how, layers, documents), (pairs, factored) in self.epochs.items():
            paper = f"{PAPER_SPEEDUP[layers]:.1f}×" if documents == self.plan.shapes[0][1] else ""
            times = (pairs.text(" s"), factored.text(" s"), (pairs / factored).ratio(), paper)
            rows.append((Cell(f"{how}, {layers}"), Cell(str(documents)), *map(Cell, times)))
        shapes = " and ".join(f"{queries} queries of {documents}" for queries, documents in self.plan.shapes)
        caption = (
            f"One epoch over {shapes} documents with {self.plan.features} features, weights moved after each query; "
            f"median of {self.plan.repetitions} repetitions in turn, lowest to highest in brackets."
        )
        header = ("Net", "documents a query", "pair by pair (V1)", "factored (V2)", "speed-up", "paper's")
        return Table(header, tuple(rows), caption)

    def slopes(self) -> Table:
        """How the time of one long list grows."""
        rows = []
        for (way, layers), seconds in self.lists.items():
            ends = f"{min(seconds):,} to {max(seconds):,}"
            last = seconds[max(seconds)].text(" s")
            paper = f"{PAPER_SLOPES[way]:.3f}"
            rows.append(
                (
                    Cell(f"{NAMES[way]}, {layers}"),
                    *map(Cell, (ends, last, str(self.slope(way, layers)), paper)),
                )
            )
        caption = (
            f"One list, {self.plan.list_features} features, median of {self.plan.list_repetitions}; slope of log "
            "seconds over log documents with its standard error. The paper's lists have 4,000 to 512,000 documents "
            f"both ways; it gives one slope for each. {self._at_the_end()}"
        )
        return Table(("Gradient", "documents", "longest", "slope", "paper's"), tuple(rows), caption)

    def _at_the_end(self) -> str:
        """What pairs would take on the longest list."""
        layers, longest = "two layers", max(self.plan.factored_lists)
        known = self.lists["pairs", layers]
        n = max(known)
        hours = Figures((known[n].median * (longest / n) ** 2 / 3600,)).text(" hours")
        return f"By the square, {longest:,} documents would take {hours} pair by pair with two layers."


def measure_speed(plan: SpeedPlan, told: Told) -> Speed:
    """Time everything on this machine, one thread."""
    import numba
    import torch

    threads = numba.get_num_threads(), torch.get_num_threads()
    numba.set_num_threads(1)
    torch.set_num_threads(1)
    try:
        epochs = _epochs(plan, told)
        lists = _lists(plan, told)
    finally:
        numba.set_num_threads(threads[0])
        torch.set_num_threads(threads[1])
    return Speed(plan, epochs, lists)


def _epochs(plan: SpeedPlan, told: Told) -> dict[tuple[str, str, int], tuple[Figures, Figures]]:
    found = {}
    for queries, documents in plan.shapes:
        data = cubic_polynomial(queries, documents, plan.features)
        jobs = {
            f"{how}, {layers}, {way}": make(way, data, hidden)
            for how, make in ((LOOPS, _loop_epoch), (TORCH, _torch_epoch))
            for layers, hidden in HIDDEN.items()
            for way in NAMES
        }
        told(f"{queries} queries of {documents} documents, {plan.repetitions} times")
        for job in jobs.values():
            job()
        seconds = alternate(jobs, plan.repetitions)
        for how in (LOOPS, TORCH):
            for layers in HIDDEN:
                both = seconds[f"{how}, {layers}, pairs"], seconds[f"{how}, {layers}, factored"]
                found[how, layers, documents] = both
    return found


def _loop_epoch(way: str, data: Collection, hidden: int) -> Callable[[], None]:
    """An epoch in compiled loops."""
    x, q = data
    net = loops.a_net(data.n_features, hidden)
    epoch = loops.pairwise_epoch if way == "pairs" else loops.factored_epoch
    return partial(epoch, q.offsets, x, q.relevance, np.float32(RATE), net, loops.nothing(net))


def _torch_epoch(way: str, data: Collection, hidden: int) -> Callable[[], None]:
    """The same in PyTorch: all pairs of a query in one batch, or `lambdaboost.torch.Loss`."""
    import torch

    from lambdaboost.torch import Loss, query_batches

    net = torch_net(data.n_features, hidden, seed=0)
    optimizer = torch.optim.SGD(net.parameters(), lr=RATE)
    batches = [(torch.from_numpy(data.features[rows]), q) for rows, q in query_batches(data.queries)]
    pairs = [tuple(map(torch.from_numpy, np.nonzero(q.relevance[:, None] > q.relevance))) for _, q in batches]
    ranknet = Loss(RankNet())

    def epoch() -> None:
        for (x, q), (i, j) in zip(batches, pairs, strict=True):
            optimizer.zero_grad()
            if way == "factored":
                cost = ranknet(net(x), q)
            else:
                cost = torch.nn.functional.softplus(net(x[j]) - net(x[i])).sum()
            cost.backward()
            optimizer.step()

    return epoch


def _lists(plan: SpeedPlan, told: Told) -> dict[tuple[str, str], dict[int, Figures]]:
    longest = max(*plan.pair_lists, *plan.factored_lists)
    told(f"one list: making {longest:,} documents")
    x, q = cubic_polynomial(1, longest, plan.list_features)
    found: dict[tuple[str, str], dict[int, Figures]] = {}
    for layers, hidden in HIDDEN.items():
        for way, sizes in (("pairs", plan.pair_lists), ("factored", plan.factored_lists)):
            told(f"one list of {min(sizes):,} to {max(sizes):,} documents: {NAMES[way]}, {layers}")
            for n in sizes:
                part = Collection(x[:n], Queries(q.relevance[:n], sizes=[n]))
                job = (
                    _loop_epoch(way, part, hidden)
                    if way == "pairs"
                    else partial(_factored_list, part, hidden)
                )
                if way == "factored":
                    job()  # levels and memory are there from the first epoch on
                found.setdefault((way, layers), {})[n] = alternate({"": job}, plan.list_repetitions)[""]
    return found


def _factored_list(data: Collection, hidden: int) -> None:
    """V2 with λ from `RankNet`, whose long lists are summed without visiting their pairs."""
    x, q = data
    net = loops.a_net(data.n_features, hidden)
    scores = np.empty(q.n_documents, np.float32)
    loops.all_forward(x, net, scores)
    grad, _ = RankNet().gradient(scores, q)
    loops.all_backward(x, grad, net, loops.nothing(net))
