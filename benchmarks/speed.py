"""The cost of λ and μ against the engines' own objectives, and of whole trainings."""

from __future__ import annotations

from typing import Any

from lambdaboost.bench.data import Data, made
from lambdaboost.bench.engines import ENGINES, Engine, one_pass
from lambdaboost.bench.plan import Case, Plan
from lambdaboost.bench.replay import Replay, Round
from lambdaboost.bench.section import Grid, Section, Setting
from lambdaboost.bench.timing import Figures, Job, alternate
from lambdaboost.evaluation import NDCG
from lambdaboost.objectives import LambdaRank

OURS = "λ and μ of ours"
METHOD = """\
λ and μ of a round: an engine's own objective costs what its training takes longer than the same training with the \
recorded gradients of that objective handed in, which grows the same trees; ours is timed by itself on the scores of \
LightGBM's training. Whole training: the engine with our objective plugged in against the engine with its own. All \
pairs unless a truncation is named. Each figure is the median of alternating repetitions, with the lowest and highest; \
ratios are taken inside a repetition. Above 1× ours is faster."""


def speed(plan: Plan, setting: Setting) -> Section:
    """Measure all cases."""
    found = {str(case): _case(case, plan, setting) for case in plan.cases}
    figures = {
        case: {name: one.described() for name, one in of_case.items()} for case, of_case in found.items()
    }
    heads = (
        "queries × documents",
        "against",
        "λ and μ",
        "whole training",
        "ours, a round",
        "theirs, a round",
    )
    rows = tuple(_row(case, name, of_case) for case, of_case in found.items() for name in ENGINES)
    return Section(
        "λ and μ against the engines' own objectives",
        f"{METHOD} {plan.rounds} rounds, {plan.repetitions} repetitions; fewer repetitions where pairs are many.",
        Grid(heads, rows),
        figures,
        _remarks(figures),
    )


def _row(case: str, name: str, found: dict[str, Figures]) -> tuple[str, ...]:
    """One engine in one case, ratios first."""
    ratios = (found[f"{name} λ ratio"].ratio(), found[f"{name} training ratio"].ratio())
    return case, name, *ratios, found[OURS].milliseconds(), found[f"{name} λ"].milliseconds()


def _case(case: Case, plan: Plan, setting: Setting) -> dict[str, Figures]:
    data = made(case.shape)
    truncation = case.truncation or case.shape.documents
    ours = LambdaRank(NDCG(k=case.truncation))
    setting.told(f"{case}: warming up")
    engines = {name: make(data, setting.threads) for name, make in ENGINES.items()}
    recorded = {name: engine.record(truncation, plan.rounds) for name, engine in engines.items()}
    jobs: dict[str, Job] = {OURS: one_pass(ours, recorded["LightGBM"], data)}
    for name, engine in engines.items():
        jobs |= _trainings(name, engine, recorded[name], ours, truncation)
    strays = {name: engine.strays(recorded[name], truncation) for name, engine in engines.items()}
    for name, job in jobs.items():
        if not name.endswith("native"):  # these have just been trained, and can take minutes
            job()
    seconds = alternate(jobs, plan.repetitions_at(case.shape), setting.telling(case))
    return _compared(seconds, plan.rounds) | {
        f"{name} replay strays": Figures((far,)) for name, far in strays.items()
    }


def _trainings(
    name: str, engine: Engine, recorded: list[Round], ours: LambdaRank, truncation: int
) -> dict[str, Job]:
    rounds = len(recorded)
    replay = Replay(recorded)
    return {
        f"{name} native": lambda: engine.train(None, rounds, truncation),
        f"{name} replay": lambda: engine.train(replay, rounds),
        f"{name} with ours": lambda: engine.train(ours, rounds),
    }


def _compared(seconds: dict[str, Figures], rounds: int) -> dict[str, Figures]:
    """Per-round costs and ratios of one case."""
    found = {OURS: seconds[OURS] / rounds}
    for name in ENGINES:
        native = seconds[f"{name} native"]
        found[f"{name} λ"] = (native - seconds[f"{name} replay"]) / rounds
        found[f"{name} λ ratio"] = found[f"{name} λ"] / found[OURS]
        found[f"{name} training ratio"] = native / seconds[f"{name} with ours"]
    return found | {f"{job}, seconds": figures for job, figures in seconds.items() if job != OURS}


def _remarks(figures: dict[str, Any]) -> tuple[str, ...]:
    """Differences that the noise swallows are told."""
    remarks = []
    for case, found in figures.items():
        for name in ENGINES:
            if found[f"{name} λ"]["low"] <= 0:
                remarks.append(
                    f"{case}: in some repetition {name}'s training was no slower than the replay; "
                    "its λ is below the noise of this machine."
                )
            if found[f"{name} replay strays"]["median"] > 1e-3:
                remarks.append(f"{case}: the replay on {name} grew other trees than its own objective.")
    return tuple(remarks)


def recorded_rounds(data: Data, rounds: int, setting: Setting) -> list[Round]:
    """The rounds of a training of LightGBM, for the scores in them: as a training has them, round by round."""
    return ENGINES["LightGBM"](data, setting.threads).record(30, rounds)
