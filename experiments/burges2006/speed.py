"""Section 6.1: RankNet pair by pair (V1) against the factored gradient (V2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from benchmarks.timing import Slope, Timed, alternate, fitted
from experiments.burges2006 import loops
from experiments.burges2006.loss import Loss, query_batches
from experiments.burges2006.nets import HIDDEN, torch_net
from experiments.common.cubic import cubic_polynomial
from experiments.common.report import table
from experiments.common.script import note
from lambdaboost import Queries, RankNet
from lambdaboost.datasets import Collection

PAPER_SPEEDUP = {"one layer": 5.1, "two layers": 8.0}
PAPER_SLOPES = {"pairs": 1.943, "factored": 1.185}
NAMES = {"pairs": "pair by pair (V1)", "factored": "factored (V2)"}
NEAR_LINEAR = "factored, λ by `RankNet()` in near-linear time"
LOOPS, TORCH = "compiled loops", "PyTorch"
RATE = 1e-6  # so small that the weights hardly change


@dataclass(frozen=True)
class SpeedPlan:
    """The sizes that are timed."""

    # Queries and documents per query: 26.1 on average in the paper; the second shape has longer lists.
    shapes: tuple[tuple[int, int], ...] = ((1000, 26), (10, 250))
    features: int = 367
    repetitions: int = 3
    # Documents of one list: 4,000 to 512,000 in the paper, which pair by pair would take hours to days.
    pair_lists: tuple[int, ...] = (500, 1000, 2000, 4000)
    factored_lists: tuple[int, ...] = (4000, 8000, 16_000, 32_000)
    near_linear_lists: tuple[int, ...] = tuple(4000 * 2**doubling for doubling in range(8))
    list_features: int = 50
    list_repetitions: int = 2


QUICK = SpeedPlan(((60, 26), (3, 60)), 367, 2, (100, 200, 400), (500, 1000), (1000, 2000, 4000), 50, 1)


@dataclass(frozen=True, eq=False)
class Speed:
    """The times: epochs by (how, layers, documents), and those of one list by (way, layers) and documents."""

    plan: SpeedPlan
    epochs: dict[tuple[str, str, int], tuple[Timed, Timed]]
    lists: dict[tuple[str, str], dict[int, Timed]]

    def slope(self, way: str, layers: str) -> Slope:
        """The slope of log seconds over log documents."""
        return fitted({n: one.median for n, one in self.lists[way, layers].items()})

    def speedups(self) -> str:
        """Seconds of an epoch by V1 and V2, and the speed-up beside the paper's."""
        rows = []
        for (how, layers, documents), (pairs, factored) in self.epochs.items():
            paper = f"{PAPER_SPEEDUP[layers]:.1f}×" if documents == self.plan.shapes[0][1] else ""
            times = [pairs.text(" s"), factored.text(" s"), (pairs / factored).ratio(), paper]
            rows.append([f"{how}, {layers}", str(documents), *times])
        shapes = " and ".join(f"{queries} queries of {documents}" for queries, documents in self.plan.shapes)
        caption = (
            f"One epoch over {shapes} documents with {self.plan.features} features, weights moved after each query; "
            f"median of {self.plan.repetitions} repetitions in turn, lowest to highest in brackets."
        )
        header = ["Net", "documents a query", "pair by pair (V1)", "factored (V2)", "speed-up", "paper's"]
        return table(header, rows, caption)

    def slopes(self) -> str:
        """Growth of the time of one long list."""
        rows = []
        for (way, layers), seconds in self.lists.items():
            ends = f"{min(seconds):,} to {max(seconds):,}"
            paper = PAPER_SLOPES.get(way)
            row = [f"{NAMES.get(way, way)}, {layers}", ends, seconds[max(seconds)].text(" s")]
            rows.append([*row, str(self.slope(way, layers)), "–" if paper is None else f"{paper:.3f}"])
        caption = (
            f"One list, {self.plan.list_features} features, median of {self.plan.list_repetitions}; slope of log "
            "seconds over log documents with its standard error. The paper's lists have 4,000 to 512,000 documents "
            f"both ways; it gives one slope for each, of its own sums over pairs. {self._at_the_end()}"
        )
        return table(["Gradient", "documents", "longest", "slope", "paper's"], rows, caption)

    def _at_the_end(self) -> str:
        """The extrapolated time of V1 on the longest list."""
        longest = max(self.plan.near_linear_lists)
        known = self.lists["pairs", "two layers"]
        hours = known[max(known)].median * (longest / max(known)) ** 2 / 3600
        return f"By the square, {longest:,} documents would take {hours:,.3g} hours pair by pair with two layers."


def measure_speed(plan: SpeedPlan) -> Speed:
    """Time everything on this machine, in a block ``using(1)``."""
    return Speed(plan, _epochs(plan), _lists(plan))


def _epochs(plan: SpeedPlan) -> dict[tuple[str, str, int], tuple[Timed, Timed]]:
    found = {}
    for queries, documents in plan.shapes:
        data = cubic_polynomial(queries, documents, plan.features)
        jobs = {
            f"{how}, {layers}, {way}": make(way, data, hidden)
            for how, make in ((LOOPS, _loop_epoch), (TORCH, _torch_epoch))
            for layers, hidden in HIDDEN.items()
            for way in NAMES
        }
        note(f"{queries} queries of {documents} documents, {plan.repetitions} times")
        for job in jobs.values():
            job()
        seconds = alternate(jobs, plan.repetitions)
        for how in (LOOPS, TORCH):
            for layers in HIDDEN:
                both = seconds[f"{how}, {layers}, pairs"], seconds[f"{how}, {layers}, factored"]
                found[how, layers, documents] = both
    return found


def _loop_epoch(way: str, data: Collection, hidden: int) -> Callable[[], None]:
    """An epoch by compiled loops."""
    x, q = data
    net = loops.a_net(data.n_features, hidden)
    epoch = loops.pairwise_epoch if way == "pairs" else loops.factored_epoch
    return partial(epoch, q.offsets, x, q.relevance, np.float32(RATE), net, loops.nothing(net))


def _torch_epoch(way: str, data: Collection, hidden: int) -> Callable[[], None]:
    """An epoch in PyTorch: all pairs of a query in one batch, or `Loss`."""
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


def _lists(plan: SpeedPlan) -> dict[tuple[str, str], dict[int, Timed]]:
    x, q = cubic_polynomial(1, max(plan.near_linear_lists), plan.list_features)
    sizes = {
        "pairs": plan.pair_lists,
        "factored": plan.factored_lists,
        NEAR_LINEAR: plan.near_linear_lists,
    }
    found: dict[tuple[str, str], dict[int, Timed]] = {}
    for layers, hidden in HIDDEN.items():
        for way, documents in sizes.items():
            note(f"one list of {min(documents):,} to {max(documents):,} documents: {way}, {layers}")
            for n in documents:
                part = Collection(x[:n], Queries(q.relevance[:n], sizes=[n]))
                if way in NAMES:
                    job = _loop_epoch(way, part, hidden)
                else:
                    job = partial(_near_linear, part, hidden)
                    job()  # fills the caches of the queries
                found.setdefault((way, layers), {})[n] = alternate({"": job}, plan.list_repetitions)[""]
    return found


def _near_linear(data: Collection, hidden: int) -> None:
    """V2 with λ from `RankNet`, which sums long lists without visiting all pairs."""
    x, q = data
    net = loops.a_net(data.n_features, hidden)
    scores = np.empty(q.n_documents, np.float32)
    loops.all_forward(x, net, scores)
    grad, _ = RankNet().gradient(scores, q)
    loops.all_backward(x, grad, net, loops.nothing(net))
