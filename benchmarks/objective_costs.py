"""The time of each objective relative to `LambdaRank()`."""

from __future__ import annotations

from benchmarks.data import made
from benchmarks.engines import one_pass
from benchmarks.plan import Plan, Shape
from benchmarks.section import Section
from benchmarks.speed import recorded_rounds
from benchmarks.timing import Timed, alternate
from lambdaboost.objectives import Objective, parse

BASE = "LambdaRank()"
METHOD = """\
The time of the gradient at the scores of each round of a LightGBM training, as a multiple of LambdaRank()'s in the \
same repetition: medians with the lowest and highest."""
WANTED = (
    BASE,
    "RankNet()",
    "LambdaRank(NDCG(k=30))",
    "SigmoidLocal()",
    "ClickTier()",
    "graded()",
    "iteration_dependent()",
    "GradientStep(LambdaRank())",
    "LambdaRank(CNDCG())",
    "LambdaRank(MAP())",
    "LambdaRank(MRR())",
    "LambdaRank(ERR())",
    "LambdaRank(WTA())",
    "LambdaRank(PairAccuracy())",
    "LambdaRank(Spearman())",
    "XENDCG()",
    "LambdaRank(BPref())",
)


def known_objectives() -> dict[str, Objective]:
    """All objectives, and LambdaRank with all measures that it supports."""
    known = {}
    for text in WANTED:
        try:
            known[text] = parse(text)
        except (TypeError, ValueError):
            continue
    return known


def objective_costs(plan: Plan, threads: int) -> Section:
    """Measure every objective at every shape."""
    known = known_objectives()
    found = {shape: _seconds(shape, known, plan, threads) for shape in plan.shapes}
    rows = tuple((name, *(_cell(name, seconds) for seconds in found.values())) for name in known)
    method = f"{METHOD} {plan.rounds} rounds, {plan.repetitions} repetitions."
    heads = ("objective", *map(str, found))
    return Section("Objectives beside LambdaRank()", method, heads, rows)


def _seconds(shape: Shape, known: dict[str, Objective], plan: Plan, threads: int) -> dict[str, Timed]:
    """Seconds per round of each objective."""
    data = made(shape)
    recorded = recorded_rounds(data, plan.rounds, threads)
    jobs = {name: one_pass(objective, recorded, data) for name, objective in known.items()}
    for job in jobs.values():
        job()
    seconds = alternate(jobs, plan.repetitions)
    return {name: one / plan.rounds for name, one in seconds.items()}


def _cell(name: str, seconds: dict[str, Timed]) -> str:
    return seconds[BASE].milliseconds() if name == BASE else (seconds[name] / seconds[BASE]).ratio()
