"""The systems of the 2011 paper's tables, their parameter grids, and the definition of a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from experiments.common.data import Fold
from lambdaboost import NDCG, Exponential, GradientStep, LambdaRank, Linear, graded, iteration_dependent
from lambdaboost.objectives import Objective

CUTOFFS = tuple(range(1, 11))
SELECTED_BY = NDCG(3)
EVERY = 10  # rounds between checkpoints
# Figure 7: how NDCG grows with the training data, of three systems.
SHARES = (0.1, 0.25, 0.5, 0.75)

NEWTON, DESCENT = "Baseline (Newton)", "Baseline (gradient descent)"
EXPONENTIAL, LINEAR = "λL + λS exponential", "λL + λS linear"
EXPONENTIAL_AT_3, LINEAR_AT_3 = "λL + λS@3 exponential", "λL + λS@3 linear"
ENGINE_LEAVES, NATIVE = "λL, LightGBM's steps", "LightGBM's own lambdarank"
GROWING = (NEWTON, DESCENT, LINEAR)


def graded_name(clicks: str) -> str:
    """The name in tables of the graded system of a click setting."""
    return f"λL + λC of {clicks} (Newton)"


@dataclass(frozen=True)
class Grid:
    """The values of all swept parameters.

    `reused` is the number of the baseline's best (rate, documents) with which each blended system is trained.
    """

    rates: tuple[float, ...] = (0.05, 0.1, 0.2, 0.5)
    documents: tuple[int, ...] = (20, 50, 100, 200)
    click_weights: tuple[float, ...] = (0.01, 0.1, 0.2, 0.3, 0.4, 0.5)
    starts: tuple[float, ...] = (0.1, 0.25, 0.5)
    exponential_rates: tuple[float, ...] = (100.0, 250.0)
    linear_rates: tuple[float, ...] = (0.1, 0.01, 0.001)
    reused: int = 2


QUICK = Grid((0.05, 0.2), (20, 100), (0.1, 0.3, 0.5), (0.25,), (100.0,), (0.01, 0.001), reused=1)


@dataclass(frozen=True)
class System:
    """A row of the tables: its objectives (None is the engine's own), by LightGBM's trees or with MART's Newton leaves.

    It sweeps all rates and leaf sizes, or `follows` a baseline and reuses its best ones.
    """

    name: str
    by_mart: bool
    objectives: tuple[Objective | None, ...]
    follows: str | None = None


def systems(grid: Grid, clicks: Iterable[str]) -> tuple[System, ...]:
    """All systems; those that others follow come first."""
    exponential = [Exponential(w, eta) for w, eta in product(grid.starts, grid.exponential_rates)]
    linear = [Linear(w, eta) for w, eta in product(grid.starts, grid.linear_rates)]
    weights = grid.click_weights
    return (
        System(NEWTON, True, (LambdaRank(),)),
        System(DESCENT, False, (GradientStep(LambdaRank()),)),
        System(NATIVE, False, (None,)),
        System(ENGINE_LEAVES, False, (LambdaRank(),)),
        *(
            System(graded_name(name), True, tuple(graded(w, name, zeros="missing") for w in weights), NEWTON)
            for name in clicks
        ),
        *(
            System(name, False, tuple(iteration_dependent(s, metric) for s in schedules), DESCENT)
            for name, schedules, metric in (
                (EXPONENTIAL, exponential, NDCG()),
                (LINEAR, linear, NDCG()),
                (EXPONENTIAL_AT_3, exponential, NDCG(3)),
                (LINEAR_AT_3, linear, NDCG(3)),
            )
        ),
    )


@dataclass(frozen=True)
class Setting:
    """The settings common to all runs."""

    rounds: int
    every: int
    num_leaves: int
    seed: int


@dataclass(frozen=True)
class Trial:
    """One run: an objective, None for the engine's own, with one choice of every parameter.

    `documents` is the minimum number of documents in a leaf.
    """

    fold: Fold
    objective: Objective | None
    by_mart: bool
    rate: float
    documents: int
    share: float = 1.0


def trials_of(system: System, fold: Fold, steps: Iterable[tuple[float, int]]) -> list[Trial]:
    """A system's runs over its objectives, each with every pair of a rate and a least number of documents in a leaf."""
    return [
        Trial(fold, objective, system.by_mart, rate, documents)
        for (rate, documents), objective in product(steps, system.objectives)
    ]
