"""`Candidate`: an objective on an engine that `tune` tries; those that it tries where none are named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lambdaboost._installed import package
from lambdaboost._words import plain
from lambdaboost.engines import ENGINES
from lambdaboost.engines.native import NativeObjective
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.objectives import (
    XENDCG,
    Blend,
    GradientStep,
    LambdaLoss,
    LambdaRank,
    ListNet,
    Scorecard,
    YetiLoss,
    graded,
)
from lambdaboost.objectives.objective import check_objective
from lambdaboost.objectives.parsing import read_objective
from lambdaboost.objectives.swaps.registry import SWAPS

ENGINE_OF = {name: one.NAME for one in ENGINES.values() for name in one.NATIVE_OBJECTIVES}


@dataclass(frozen=True)
class Candidate:
    """An objective on an engine."""

    objective: Any
    engine: str
    label: str = ""  # its name in tables; by default the objective
    is_reference: bool = False  # trained to be compared with, and never chosen

    @property
    def name(self) -> str:
        """Its name in tables."""
        return self.label or repr(self.objective)


def without_further_sources(objective: Any) -> Any:
    """What an objective would be without its further label sources; None where it has none, or no such part.

    >>> without_further_sources(GradientStep(graded(0.2)))
    GradientStep(objective=LambdaRank())
    >>> without_further_sources(LambdaRank()) is None
    True
    """
    if isinstance(objective, GradientStep):
        inner = without_further_sources(objective.objective)
        return None if inner is None else replace(objective, objective=inner)
    parts: tuple[Any, ...] = ()
    if isinstance(objective, Blend):
        parts = objective.parts
    elif isinstance(objective, Scorecard):
        parts = objective.objectives
    several = parts and set(objective.sources) - set(parts[0].sources)
    return parts[0] if several else None


def add_second_goal(rule: Any, measures: Sequence[Any], weight: float) -> Any:
    """An objective of the first measure with a weight of LambdaRank of the second; itself at 0.

    An engine's own objective, which cannot be a part of another, becomes LambdaRank of the first measure.

    >>> from lambdaboost.evaluation import CNDCG
    >>> add_second_goal(LambdaRank(), (NDCG(10), CNDCG(10)), 0.25)
    Scorecard(objectives=(LambdaRank(), LambdaRank(metric=CNDCG(k=10))), weights=(0.75, 0.25))
    """
    if weight == 0:
        return rule
    if isinstance(rule, GradientStep):
        return replace(rule, objective=add_second_goal(rule.objective, measures, weight))
    if isinstance(rule, NativeObjective):
        known = isinstance(measures[0], tuple(SWAPS))
        rule = LambdaRank(replace(measures[0], empty=0.0)) if known else LambdaRank()
    return Scorecard((rule, LambdaRank(replace(measures[1], empty=0.0))), (1 - weight, weight))


def parse_candidates(objectives: Any, engines: Sequence[str]) -> tuple[Candidate, ...]:
    """Candidates of the objectives that the user names; raises for what is no objective of the engines."""
    if isinstance(objectives, str) or hasattr(objectives, "gradient"):
        objectives = (objectives,)
    if not isinstance(objectives, Iterable):
        raise TypeError(
            f"objectives is {plain(repr(objectives))}: give objectives such as LambdaRank(), or their texts"
        )
    found = [_parse_candidate(one, engines) for one in dict.fromkeys(map(read_objective, objectives))]
    if not found:
        raise ValueError("objectives is empty: name at least one, such as 'LambdaRank', or leave it out")
    rules = [one.objective for one in found]
    firsts = {
        part: one.engine for one in found if (part := without_further_sources(one.objective)) is not None
    }
    found += [Candidate(*of, is_reference=True) for of in firsts.items() if of[0] not in rules]
    return tuple(found)


def _parse_candidate(rule: Any, engines: Sequence[str]) -> Candidate:
    if isinstance(rule, NativeObjective):
        engine = ENGINE_OF[rule.name]
        package(engine)
        if engine not in engines:
            owner = ENGINES[rule.owner].TITLE
            raise ValueError(
                f"objective {rule.name} is {owner}'s own, but the engine is {engines[0]}: choose {engine}"
            )
        return Candidate(rule, engine)
    check_objective("objectives", rule)
    rule.refuse_on_engines()
    return Candidate(rule, engines[0])


def standard_candidates(
    measures: Sequence[Measure], engines: Sequence[str], sources: Iterable[str]
) -> tuple[Candidate, ...]:
    """The candidates where none are named, on the first of `engines`: its own, and lambdaboost's.

    LambdaRank has the other engine too, to compare the engines.

    >>> [one.name for one in standard_candidates([NDCG(3)], ["xgboost"], ["clicks"])][:4]
    ['rank:ndcg', 'rank:pairwise', 'ListNet()', 'LambdaRank()']
    """
    engine = engines[0]
    ndcg = next((replace(m, k=None, empty=0.0) for m in measures if isinstance(m, NDCG)), NDCG())
    rule = LambdaRank(ndcg)
    others: list[Any] = [m for m in measures if not isinstance(m, NDCG) and isinstance(m, tuple(SWAPS))]

    names = ("lambdarank", "rank_xendcg", "rank:ndcg", "rank:pairwise")
    table = [_parse_candidate(NativeObjective(name), engines) for name in names if ENGINE_OF[name] == engine]
    rules = [ListNet(), rule, *(LambdaRank(replace(m, empty=0.0)) for m in others)]
    # LightGBM's own XE-NDCG grows the same trees.
    rules += [LambdaLoss(ndcg)] if engine == "lightgbm" else [LambdaLoss(ndcg), XENDCG(ndcg)]
    table += [Candidate(one, engine) for one in (*rules, YetiLoss(ndcg))]
    table += [Candidate(rule, other, f"{rule!r} on {ENGINES[other].TITLE}") for other in engines[1:]]
    for source in sources:
        table.append(Candidate(graded(source=source, metric=ndcg), engine, f"graded(source={source!r})"))
    return tuple(table)
