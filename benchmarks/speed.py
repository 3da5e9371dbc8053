"""Time of λ and μ, and of whole trainings, compared with the engines' own objectives."""

from __future__ import annotations

from benchmarks.data import made
from benchmarks.engines import ENGINES, Engine, one_pass
from benchmarks.plan import Case, Plan
from benchmarks.replay import Replay, Round
from benchmarks.section import Section
from benchmarks.timing import Job, Timed, alternate
from lambdaboost import NDCG, LambdaRank

LAMBDARANK = "λ and μ of LambdaRank()"
METHOD = """\
λ and μ of a round: native λ time = native training time − training time with replayed gradients, which grows the same \
trees; LambdaRank() is timed alone at the scores of LightGBM's training. Whole training: the engine with \
LambdaRank() against the engine with its own objective. All pairs unless a truncation is named. Each figure is the \
median of alternating repetitions, with the lowest and highest; ratios are taken inside a repetition. Above 1× \
LambdaRank() is faster."""


def speed(plan: Plan, threads: int) -> Section:
    """Measure all cases."""
    found = {str(case): measure_case(case, plan, threads) for case in plan.cases}
    heads = (
        "queries × documents",
        "against",
        "λ and μ",
        "whole training",
        "LambdaRank(), a round",
        "native, a round",
    )
    rows = tuple(_row(case, name, of_case) for case, of_case in found.items() for name in ENGINES)
    return Section(
        "λ and μ against the engines' own objectives",
        f"{METHOD} {plan.rounds} rounds, {plan.repetitions} repetitions; fewer repetitions where pairs are many.",
        heads,
        rows,
        _remarks(found),
    )


def _row(case: str, name: str, found: dict[str, Timed]) -> tuple[str, ...]:
    """The row of one engine in one case, ratios first."""
    ratios = (found[f"{name} λ ratio"].ratio(), found[f"{name} training ratio"].ratio())
    return case, name, *ratios, found[LAMBDARANK].milliseconds(), found[f"{name} λ"].milliseconds()


def measure_case(case: Case, plan: Plan, threads: int) -> dict[str, Timed]:
    data = made(case.shape)
    truncation = case.truncation or case.shape.documents
    objective = LambdaRank(NDCG(k=case.truncation))
    engines = {name: make(data, threads) for name, make in ENGINES.items()}
    recorded = {name: engine.record(truncation, plan.rounds) for name, engine in engines.items()}
    jobs: dict[str, Job] = {LAMBDARANK: one_pass(objective, recorded["LightGBM"], data)}
    for name, engine in engines.items():
        jobs |= _trainings(name, engine, recorded[name], objective, truncation)
    strays = {name: engine.strays(recorded[name], truncation) for name, engine in engines.items()}
    for name, job in jobs.items():
        if not name.endswith("native"):  # native trainings have just run, and can take minutes
            job()
    seconds = alternate(jobs, plan.repetitions_at(case.shape))
    return _compared(seconds, plan.rounds) | {
        f"{name} replay strays": Timed((far,)) for name, far in strays.items()
    }


def _trainings(
    name: str, engine: Engine, recorded: list[Round], objective: LambdaRank, truncation: int
) -> dict[str, Job]:
    rounds = len(recorded)
    replay = Replay(recorded)
    return {
        f"{name} native": lambda: engine.train(None, rounds, truncation),
        f"{name} replay": lambda: engine.train(replay, rounds),
        f"{name} with LambdaRank()": lambda: engine.train(objective, rounds),
    }


def _compared(seconds: dict[str, Timed], rounds: int) -> dict[str, Timed]:
    """Per-round times and ratios of one case."""
    found = {LAMBDARANK: seconds[LAMBDARANK] / rounds}
    for name in ENGINES:
        native = seconds[f"{name} native"]
        found[f"{name} λ"] = (native - seconds[f"{name} replay"]) / rounds
        found[f"{name} λ ratio"] = found[f"{name} λ"] / found[LAMBDARANK]
        found[f"{name} training ratio"] = native / seconds[f"{name} with LambdaRank()"]
    return found | {f"{job}, seconds": figures for job, figures in seconds.items() if job != LAMBDARANK}


def _remarks(cases: dict[str, dict[str, Timed]]) -> tuple[str, ...]:
    """Limitations of a result: noise, or a replay that grew other trees."""
    remarks = []
    for case, found in cases.items():
        for name in ENGINES:
            if min(found[f"{name} λ"].values) <= 0:
                remarks.append(
                    f"{case}: in some repetition {name}'s training was no slower than the replay; "
                    "its λ is below the noise of this machine."
                )
            if found[f"{name} replay strays"].median > 1e-3:
                remarks.append(f"{case}: the replay on {name} grew other trees than its own objective.")
    return tuple(remarks)
