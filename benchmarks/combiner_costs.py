"""The time of sums of objectives relative to that of the objectives one by one."""

from __future__ import annotations

from benchmarks.data import made
from benchmarks.engines import one_pass
from benchmarks.plan import Plan, Shape
from benchmarks.section import Section
from benchmarks.speed import recorded_rounds
from benchmarks.timing import Timed, alternate
from lambdaboost import CNDCG, NDCG, Constrained, LambdaRank, Scaled, Scorecard
from lambdaboost.objectives import Objective

PARTS = "LambdaRank() and LambdaRank(CNDCG()), one by one"
GRADES, CLICKS = LambdaRank(NDCG()), LambdaRank(CNDCG())
HALVES = Scaled((0.5, 0.5))
METHOD = """\
The time of the gradient at the scores of each round of a LightGBM training, as a multiple of the time of both \
gradients one by one in the same repetition: medians with the lowest and highest."""


def combiner_costs(plan: Plan, threads: int) -> Section:
    """Measure the sums of two objectives at every shape."""
    found = {shape: _seconds(shape, plan, threads) for shape in plan.shapes}
    names = next(iter(found.values()))
    rows = tuple((name, *(_cell(name, seconds) for seconds in found.values())) for name in names)
    method = f"{METHOD} {plan.rounds} rounds, {plan.repetitions} repetitions."
    return Section("Sums beside their objectives", method, ("weights", *map(str, found)), rows)


def _seconds(shape: Shape, plan: Plan, threads: int) -> dict[str, Timed]:
    """Seconds per round of each sum."""
    data = made(shape)
    recorded = recorded_rounds(data, plan.rounds, threads)
    fixed, constrained = Scorecard((GRADES, CLICKS), (0.5, 0.5)), _constrained(plan.rounds)
    objectives: dict[str, Objective] = {"(0.5, 0.5)": fixed}
    objectives[repr(HALVES)] = Scorecard((GRADES, CLICKS), HALVES)
    objectives["Constrained(…)"] = constrained
    passes = [one_pass(part, recorded, data) for part in (GRADES, CLICKS)]
    jobs = {PARTS: lambda: [one() for one in passes]}
    jobs |= {name: one_pass(objective, recorded, data) for name, objective in objectives.items()}
    for job in jobs.values():
        job()
    seconds = alternate(jobs, plan.repetitions)
    return {name: one / plan.rounds for name, one in seconds.items()}


def _constrained(rounds: int) -> Constrained:
    """Both parts weigh in every round: the tolerance is wide."""
    return Constrained(GRADES, CLICKS, keep=0.999, reference=(0.9,) * rounds)


def _cell(name: str, seconds: dict[str, Timed]) -> str:
    return seconds[PARTS].milliseconds() if name == PARTS else (seconds[name] / seconds[PARTS]).ratio()
