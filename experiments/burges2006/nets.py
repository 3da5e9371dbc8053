"""Section 6.3: nets of one and two layers, trained by RankNet and by LambdaRank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from experiments.burges2006.loss import Loss, query_batches
from experiments.common.data import Data, Fold, standardised
from experiments.common.script import note
from experiments.common.verdicts import Figures, joined
from lambdaboost import NDCG, LambdaRank, Queries, RankNet
from lambdaboost.objectives import Objective

CUTOFFS = tuple(range(1, 11))
SELECTED_BY = NDCG(10)
HIDDEN = {"one layer": 0, "two layers": 10}
SLOWER = 0.8  # factor of the learning rate after the training cost rose


@dataclass(frozen=True)
class NetSystem:
    """An objective and a net, with the learning rates to try."""

    objective: Objective
    layers: str
    rates: tuple[float, ...]

    @property
    def name(self) -> str:
        """The name in the paper's legends."""
        return f"{type(self.objective).__name__}, {self.layers}"


# Pair weights are 1 in RankNet and sum to about 1 in LambdaRank, so learning rates differ.
RATES: dict[Objective, tuple[float, ...]] = {RankNet(): (1e-5, 1e-4, 1e-3), LambdaRank(): (1e-3, 1e-2, 1e-1)}
SYSTEMS = tuple(
    NetSystem(objective, layers, rates) for layers in HIDDEN for objective, rates in RATES.items()
)


@dataclass(frozen=True, eq=False)
class Run:
    """One training: validation NDCG after each epoch, and the test scores of the best epoch."""

    system: NetSystem
    rate: float
    valid: tuple[float, ...]
    test_scores: NDArray[np.float64]

    @property
    def figure(self) -> float:
        """The validation value by which runs are selected; 0 if the run diverged in its first epoch."""
        return max(self.valid, default=0.0)

    @property
    def best_epoch(self) -> int:
        """The best epoch, from 1, the first among ties; 0 if the run diverged in its first epoch."""
        return 1 + int(np.argmax(self.valid)) if self.valid else 0


@dataclass(frozen=True, eq=False)
class Accuracy:
    """All runs by system and fold, and test values of the selected runs."""

    data: Data
    epochs: int
    runs: dict[tuple[str, str], tuple[Run, ...]]

    def selected(self, system: NetSystem, fold: Fold) -> Run:
        """The run with the best validation value, the first among ties."""
        return max(self.runs[system.name, fold.name], key=lambda run: run.figure)

    def figures(self, system: NetSystem) -> Figures:
        """NDCG at 1 to 10 on the test queries of all folds."""
        parts = []
        for fold in self.data.folds:
            q, scores = self.data.joined(fold.test).queries, self.selected(system, fold).test_scores
            parts.append({NDCG(k): NDCG(k).per_query(scores, q) for k in CUTOFFS})
        return joined(parts)


def train_all(data: Data, epochs: int, seed: int) -> Accuracy:
    """Train every system at every rate on every fold."""
    runs = {}
    for fold in data.folds:
        scaled = standardised(data.training_valid_test(fold))  # by the training part
        parts = [(torch.from_numpy(x.astype(np.float32)), q) for x, q in scaled]
        for system in SYSTEMS:
            note(f"{fold.name}: {system.name}")
            runs[system.name, fold.name] = tuple(
                train(system, rate, parts, epochs, seed) for rate in system.rates
            )
    return Accuracy(data, epochs, runs)


Part = tuple[Any, Queries]  # features as a tensor


def train(system: NetSystem, rate: float, parts: list[Part], epochs: int, seed: int) -> Run:
    """Gradient descent with one update per query; keeps the epoch with the best validation value."""
    (x, q), (x_valid, q_valid), (x_test, q_test) = parts
    net = torch_net(x.shape[1], HIDDEN[system.layers], seed)
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    loss = Loss(system.objective, SELECTED_BY)
    batches = [(x[rows], queries) for rows, queries in query_batches(q)]
    order = np.random.default_rng(seed)
    valid: list[float] = []
    cost, test_scores = float("inf"), np.zeros(q_test.n_documents)
    for _ in range(epochs):
        before, cost = cost, _epoch(net, optimizer, loss, batches, order.permutation(len(batches)))
        scores = _scores(net, x_valid)
        if not np.isfinite(cost) or not np.isfinite(scores).all():  # the rate is too high for this net
            break
        if cost > before:
            optimizer.param_groups[0]["lr"] *= SLOWER
        valid.append(SELECTED_BY(scores, q_valid))
        if valid[-1] > max(valid[:-1], default=-1.0):
            test_scores = _scores(net, x_test)
    return Run(system, rate, tuple(valid), test_scores)


def _epoch(net: Any, optimizer: Any, loss: Any, batches: list[Part], order: NDArray[np.int64]) -> float:
    """One pass over the queries; returns the sum of losses, NaN if a score is not finite."""
    cost = 0.0
    for at in order:
        documents, queries = batches[at]
        scores = net(documents)
        if not scores.isfinite().all():
            return float("nan")
        optimizer.zero_grad()
        value = loss(scores, queries)
        value.backward()
        optimizer.step()
        cost += value.item()
    return cost


def torch_net(n_features: int, n_hidden: int, seed: int) -> Any:
    """A net of one layer, or with a hidden layer of tanh nodes, with seeded random weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if not n_hidden:
            return torch.nn.Linear(n_features, 1)
        return torch.nn.Sequential(
            torch.nn.Linear(n_features, n_hidden), torch.nn.Tanh(), torch.nn.Linear(n_hidden, 1)
        )


def _scores(net: Any, x: Any) -> NDArray[np.float64]:
    with torch.no_grad():
        scores: NDArray[np.float64] = net(x)[:, 0].double().numpy()
    return scores
