"""The candidates that are tried where none are named: one table, from simple to complex."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.objectives.swaps.registry import SWAPS
from lambdaboost.tuning.candidates import CUTOFF, STEPS, Candidate, native
from lambdaboost.tuning.knobs import Knob

SIGMA = Knob("sigma", 0.5, 4.0, 1.0, log=True)
WEIGHT = Knob("weight", 0.01, 0.5, 0.1, log=True)
NOISE = Knob("beta", 0.1, 3.0, 1.0, log=True)
BOUND = Knob("mu", 0.1, 10.0, 10.0, log=True)
START, RATE = Knob("start", 0.0, 0.5, 0.1), Knob("rate", 1e-4, 1e-2, 1e-3, log=True)


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
    table = [
        native("lambdarank", turn=4),
        native("rank_xendcg", turn=0),
        native("rank:ndcg", turn=5),
        native("rank:pairwise", turn=11),
        *_of_pairs(engine, ndcg, measures),
        *_of_measures(engine, measures),
        *_of_losses(engine, ndcg),
        *_by_steps(engine, ndcg),
        *_of_sources(engine, ndcg, measures, sources),
    ]
    return tuple(candidate for candidate in table if candidate.engine in engines)


def _of_pairs(engine: str, ndcg: NDCG, measures: Sequence[Measure]) -> Iterator[Candidate]:
    """RankNet, and LambdaRank without and with a cutoff, which is searched from the measure's upwards."""
    k = next((k for m in measures if (k := getattr(m, "k", None)) is not None), None)
    low, start = (3, 10) if k is None else (k, k)
    cutoff = replace(CUTOFF, low=low, start=start, high=max(30, 5 * start))
    cut = repr(replace(ndcg, k=1)).replace("k=1", "k={truncation}")
    yield Candidate("RankNet(sigma={sigma})", engine, knobs=(SIGMA,), turn=10)
    yield Candidate(f"LambdaRank({ndcg!r}, sigma={{sigma}})", engine, knobs=(SIGMA,), turn=1)
    label = f"LambdaRank({_shown(ndcg)}) with a cutoff"
    text = f"LambdaRank({cut}, sigma={{sigma}})"
    yield Candidate(text, engine, knobs=(cutoff, SIGMA), turn=8, label=label)


def _of_measures(engine: str, measures: Sequence[Measure]) -> Iterator[Candidate]:
    """LambdaRank of each measure that is not NDCG, if its swaps are known."""
    for measure in measures:
        if not isinstance(measure, NDCG) and isinstance(measure, tuple(SWAPS)):
            own: Any = replace(measure, empty=0.0)  # type: ignore[type-var]
            yield Candidate(f"LambdaRank({own!r}, sigma={{sigma}})", engine, knobs=(SIGMA,), turn=2)


def _of_losses(engine: str, ndcg: NDCG) -> Iterator[Candidate]:
    """XE-NDCG, unless the engine's own grows the same trees, and LambdaLoss."""
    if engine != "lightgbm":
        yield Candidate(f"XENDCG({ndcg!r})", engine, turn=0)
    label = f"LambdaLoss({_shown(ndcg)})"
    yield Candidate(f"LambdaLoss({ndcg!r}, mu={{mu}})", engine, knobs=(BOUND,), turn=3, label=label)


def _by_steps(engine: str, ndcg: NDCG) -> Iterator[Candidate]:
    """LambdaRank by gradient steps: alone, with a schedule, and with noisy ranks."""
    rule = f"LambdaRank({ndcg!r})"
    yield Candidate(f"LambdaRank({ndcg!r}, sigma={{sigma}})", engine, "gradient", (SIGMA,), turn=7)
    blend = f"Blend({rule}, SigmoidLocal({ndcg!r}), Linear({{start}}, {{rate}}))"
    label = f"iteration_dependent() {STEPS}"
    yield Candidate(blend, engine, "gradient", (START, RATE), turn=6, label=label)
    label = f"GumbelRanks(LambdaRank({_shown(ndcg)})) {STEPS}"
    yield Candidate(f"GumbelRanks({rule}, beta={{beta}})", engine, "gradient", (NOISE,), turn=2, label=label)


def _of_sources(
    engine: str, ndcg: NDCG, measures: Sequence[Measure], sources: Iterable[str]
) -> Iterator[Candidate]:
    """`graded` of each further label source, the first to try where a measure reads it."""
    read = {source for measure in measures for source in measure.sources}
    for source in sources:
        text = f"graded({{weight}}, source={source!r}, metric={ndcg!r})"
        turn = -1 if source in read else 9
        label = f"graded(source={source!r})"
        yield Candidate(text, engine, "engine", (WEIGHT,), turn=turn, label=label)
        yield Candidate(text, engine, "gradient", (WEIGHT,), turn=turn, label=f"{label} {STEPS}")


def _shown(metric: NDCG) -> str:
    """The metric as an argument, nothing for the default."""
    return "" if metric == NDCG() else repr(metric)
