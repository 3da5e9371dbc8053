"""The candidates that are tried where none are named: one table, from simple to complex."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.objectives import (
    XENDCG,
    Blend,
    GradientStep,
    GumbelRanks,
    LambdaLoss,
    LambdaRank,
    Linear,
    ListNet,
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

    The engines' own objectives train on their engine, all others on the first of `engines`.

    >>> [c.name for c in standard([NDCG(3)], ["xgboost"], ["clicks"])][:4]
    ['rank:ndcg', 'rank:pairwise', 'RankNet()', 'ListNet()']
    """
    engine = engines[0]
    ndcg = next((replace(m, k=None, empty=0.0) for m in measures if isinstance(m, NDCG)), NDCG())
    rule, shown = LambdaRank(ndcg), "" if ndcg == NDCG() else repr(ndcg)

    def of(objective: Any, *knobs: Knob, label: str = "", **more: Any) -> Candidate:
        return Candidate(objective, engine, knobs, label, **more)

    def by_steps(objective: Any, *knobs: Knob, label: str = "", of_ndcg: str = "") -> Candidate:
        labels = {"label": label and f"{label} {STEPS}", "of_ndcg": of_ndcg and f"{of_ndcg} {STEPS}"}
        inner = (replace(knob, field=f"objective.{knob.field}") for knob in knobs)
        return of(GradientStep(objective), *inner, **labels)

    cut, cutoff = _with_cutoff(ndcg, measures)
    noisy = GumbelRanks(rule, beta=NOISE.start)
    blend = Blend(rule, SigmoidLocal(ndcg), Linear(START.start, RATE.start))
    table = [
        native("lambdarank"),
        native("rank_xendcg"),
        native("rank:ndcg"),
        native("rank:pairwise"),
        of(RankNet(), SIGMA),
        of(ListNet()),
        of(rule, SIGMA, of_ndcg="LambdaRank()"),
        of(
            cut,
            cutoff,
            SIGMA,
            label=f"LambdaRank({shown}) with a cutoff",
            of_ndcg="LambdaRank() with a cutoff",
        ),
        *(of(LambdaRank(m), SIGMA, of_data=True) for m in _other_measures(measures)),
        # LightGBM's own XE-NDCG grows the same trees.
        *([of(XENDCG(ndcg), of_ndcg="XENDCG()")] if engine != "lightgbm" else []),
        of(LambdaLoss(ndcg, mu=BOUND.start), BOUND, label=f"LambdaLoss({shown})", of_ndcg="LambdaLoss()"),
        by_steps(rule, SIGMA, of_ndcg="LambdaRank()"),
        by_steps(blend, START, RATE, label="iteration_dependent()"),
        by_steps(
            noisy, NOISE, label=f"GumbelRanks(LambdaRank({shown}))", of_ndcg="GumbelRanks(LambdaRank())"
        ),
    ]
    for source in sources:
        second, label = graded(WEIGHT.start, source=source, metric=ndcg), f"graded(source={source!r})"
        table += [of(second, WEIGHT, label=label, of_data=True), by_steps(second, WEIGHT, label=label)]
    return tuple(candidate for candidate in table if candidate.engine in engines)


def _with_cutoff(ndcg: NDCG, measures: Sequence[Measure]) -> tuple[Any, Knob]:
    """LambdaRank with a cutoff, which is searched from the measure's upwards, and its knob."""
    k = next((k for m in measures if (k := getattr(m, "k", None)) is not None), None)
    low, start = (3, 10) if k is None else (k, k)
    knob = replace(CUTOFF, field="metric.k", low=low, start=start, high=max(30, 5 * start))
    return LambdaRank(replace(ndcg, k=start)), knob


def _other_measures(measures: Sequence[Measure]) -> list[Any]:
    """Those that are not NDCG, if their swaps are known."""
    known: list[Any] = [m for m in measures if not isinstance(m, NDCG) and isinstance(m, tuple(SWAPS))]
    return [replace(m, empty=0.0) for m in known]
