"""The systems of the 2011 paper's tables, and what is swept for each of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from lambdaboost.engines.leaves import Leaves
from lambdaboost.evaluation import NDCG
from lambdaboost.objectives import (
    Blend,
    ClickTier,
    Exponential,
    GradientStep,
    LambdaRank,
    Linear,
    Objective,
    iteration_dependent,
)
from lambdaboost.reproduce.data import Fold
from lambdaboost.reproduce.trial import Trial

NEWTON = "Baseline (Newton)"
DESCENT = "Baseline (gradient descent)"
EXPONENTIAL, LINEAR = "λL + λS exponential", "λL + λS linear"
EXPONENTIAL_AT_3, LINEAR_AT_3 = "λL + λS@3 exponential", "λL + λS@3 linear"
ENGINE_LEAVES = "λL, the engine's steps"
NATIVE = {"lightgbm": "LightGBM's own lambdarank", "xgboost": "XGBoost's own rank:ndcg"}


def graded_name(clicks: str) -> str:
    """What tables call the graded system of a click setting."""
    return f"λL + λC of {clicks} (Newton)"


@dataclass(frozen=True)
class Grid:
    """All values that are swept; fixed before a run starts.

    `reused` is how many of the best (rate, documents) of its baseline each blended system is trained with.
    """

    newton_rates: tuple[float, ...] = (0.05, 0.1, 0.2, 0.5)
    gradient_rates: tuple[float, ...] = (0.05, 0.1, 0.2, 0.5)
    documents: tuple[int, ...] = (20, 50, 100, 200)
    click_weights: tuple[float, ...] = (0.01, 0.1, 0.2, 0.3, 0.4, 0.5)
    starts: tuple[float, ...] = (0.1, 0.25, 0.5)
    exponential_rates: tuple[float, ...] = (100.0, 250.0)
    linear_rates: tuple[float, ...] = (0.1, 0.01, 0.001)
    reused: int = 2


QUICK = Grid(
    newton_rates=(0.05, 0.2),
    gradient_rates=(0.05, 0.2),
    documents=(20, 100),
    click_weights=(0.1, 0.3, 0.5),
    starts=(0.25,),
    exponential_rates=(100.0,),
    linear_rates=(0.01, 0.001),
    reused=1,
)


@dataclass(frozen=True)
class SweptSystem:
    """A system: the objectives that are swept, and the baseline whose best rates and leaves it reuses, if any."""

    name: str
    leaves: Leaves
    objectives: tuple[Objective | None, ...]
    rates: tuple[float, ...] = ()
    follows: str | None = None


def swept_systems(grid: Grid, engine: str, clicks: Iterable[str]) -> tuple[SweptSystem, ...]:
    """Every system, those that others follow first."""
    at_3 = NDCG(3)
    exponential = [Exponential(w, eta) for w, eta in product(grid.starts, grid.exponential_rates)]
    linear = [Linear(w, eta) for w, eta in product(grid.starts, grid.linear_rates)]
    return (
        SweptSystem(NEWTON, "newton", (LambdaRank(),), grid.newton_rates),
        SweptSystem(DESCENT, "gradient", (GradientStep(LambdaRank()),), grid.gradient_rates),
        SweptSystem(NATIVE[engine], "engine", (None,), grid.newton_rates),
        SweptSystem(ENGINE_LEAVES, "engine", (LambdaRank(),), grid.newton_rates),
        *(
            SweptSystem(
                graded_name(name),
                "newton",
                tuple(Blend(LambdaRank(), ClickTier(source=name), w) for w in grid.click_weights),
                follows=NEWTON,
            )
            for name in clicks
        ),
        *(
            SweptSystem(
                name, "gradient", tuple(iteration_dependent(s, metric) for s in schedules), follows=DESCENT
            )
            for name, schedules, metric in (
                (EXPONENTIAL, exponential, NDCG()),
                (LINEAR, linear, NDCG()),
                (EXPONENTIAL_AT_3, exponential, at_3),
                (LINEAR_AT_3, linear, at_3),
            )
        ),
    )


def baseline_trials(system: SweptSystem, grid: Grid, engine: str, fold: Fold) -> list[Trial]:
    """A system's runs over its own rates and leaf sizes."""
    # XGBoost's vector leaves, which Newton's step needs there, know no least size.
    documents = (None,) if engine == "xgboost" and system.leaves == "newton" else grid.documents
    return [
        Trial(fold, objective, system.leaves, rate, least)
        for objective, rate, least in product(system.objectives, system.rates, documents)
    ]


def following_trials(system: SweptSystem, best: Iterable[Trial]) -> list[Trial]:
    """A system's runs over its objectives, with the rates and leaf sizes of some runs of its baseline."""
    return [
        Trial(like.fold, objective, system.leaves, like.rate, like.documents)
        for like, objective in product(best, system.objectives)
    ]
