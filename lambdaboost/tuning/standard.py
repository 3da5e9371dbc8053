"""The candidates that are tried where none are named: one table, from simple to complex."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from lambdaboost.engines.leaves import Leaves
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.objectives import (
    XENDCG,
    Blend,
    GumbelRanks,
    LambdaLoss,
    LambdaRank,
    Linear,
    RankNet,
    SigmoidLocal,
    graded,
)
from lambdaboost.objectives.swaps.registry import SWAPS
from lambdaboost.tuning.candidates import CUTOFF, STEPS, Candidate, Knob, native

SIGMA = Knob("sigma", 0.5, 4.0, 1.0, log=True, field="sigma")
WEIGHT = Knob("weight", 0.01, 0.5, 0.1, log=True, field="weight")
NOISE = Knob("beta", 0.1, 3.0, 1.0, log=True, field="beta")
BOUND = Knob("mu", 0.1, 10.0, 10.0, log=True, field="mu")
START = Knob("start", 0.0, 0.5, 0.1, field="weight.start")
RATE = Knob("rate", 1e-4, 1e-2, 1e-3, log=True, field="weight.rate")


def standard(
    measures: Sequence[Measure], engines: Sequence[str], sources: Iterable[str]
) -> tuple[Candidate, ...]:
    """The standard candidates, from simple to complex.

    The engines' own objectives train on their engine, all others on the first of `engines`. Their turns, by
    judgement, matter only where half of the budget is too small to try all of them.

    >>> [c.name for c in standard([NDCG(3)], ["xgboost"], ["clicks"])][:4]
    ['rank:ndcg', 'rank:pairwise', 'RankNet()', 'LambdaRank()']
    """
    engine = engines[0]
    ndcg = next((replace(m, k=None, empty=0.0) for m in measures if isinstance(m, NDCG)), NDCG())
    rule, shown = LambdaRank(ndcg), "" if ndcg == NDCG() else repr(ndcg)

    def of(objective: Any, turn: int, *knobs: Knob, label: str = "", leaves: Leaves = "engine") -> Candidate:
        return Candidate(objective, engine, leaves, knobs, turn, label)

    def by_steps(objective: Any, turn: int, *knobs: Knob, label: str = "") -> Candidate:
        return of(objective, turn, *knobs, label=label and f"{label} {STEPS}", leaves="gradient")

    table = [
        native("lambdarank", turn=4),
        native("rank_xendcg", turn=0),
        native("rank:ndcg", turn=5),
        native("rank:pairwise", turn=11),
        of(RankNet(), 10, SIGMA),
        of(rule, 1, SIGMA),
        of(*_with_cutoff(ndcg, measures), SIGMA, label=f"LambdaRank({shown}) with a cutoff"),
        *(of(LambdaRank(m), 2, SIGMA) for m in _other_measures(measures)),
        # LightGBM's own XE-NDCG grows the same trees.
        *([of(XENDCG(ndcg), 0)] if engine != "lightgbm" else []),
        of(LambdaLoss(ndcg, mu=BOUND.start), 3, BOUND, label=f"LambdaLoss({shown})"),
        by_steps(rule, 7, SIGMA),
        by_steps(
            Blend(rule, SigmoidLocal(ndcg), Linear(START.start, RATE.start)),
            6,
            START,
            RATE,
            label="iteration_dependent()",
        ),
        by_steps(GumbelRanks(rule, beta=NOISE.start), 2, NOISE, label=f"GumbelRanks(LambdaRank({shown}))"),
    ]
    read = {source for measure in measures for source in measure.sources}
    for source in sources:  # the first to try where a measure reads it
        blend, label = graded(WEIGHT.start, source=source, metric=ndcg), f"graded(source={source!r})"
        turn = -1 if source in read else 9
        table += [of(blend, turn, WEIGHT, label=label), by_steps(blend, turn, WEIGHT, label=label)]
    return tuple(candidate for candidate in table if candidate.engine in engines)


def _with_cutoff(ndcg: NDCG, measures: Sequence[Measure]) -> tuple[Any, int, Knob]:
    """LambdaRank with a cutoff, which is searched from the measure's upwards; its turn and its knob."""
    k = next((k for m in measures if (k := getattr(m, "k", None)) is not None), None)
    low, start = (3, 10) if k is None else (k, k)
    knob = replace(CUTOFF, field="metric.k", low=low, start=start, high=max(30, 5 * start))
    return LambdaRank(replace(ndcg, k=start)), 8, knob


def _other_measures(measures: Sequence[Measure]) -> list[Any]:
    """Those that are not NDCG, if their swaps are known."""
    known: list[Any] = [m for m in measures if not isinstance(m, NDCG) and isinstance(m, tuple(SWAPS))]
    return [replace(m, empty=0.0) for m in known]
