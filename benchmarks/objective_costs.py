"""What each objective costs beside `LambdaRank()`."""

from __future__ import annotations

from lambdaboost.bench.data import made
from lambdaboost.bench.engines import one_pass
from lambdaboost.bench.plan import Plan, Shape
from lambdaboost.bench.section import Grid, Section, Setting
from lambdaboost.bench.speed import recorded_rounds
from lambdaboost.bench.timing import Figures, alternate
from lambdaboost.objectives import Objective, parse

BASE = "LambdaRank()"
METHOD = """\
A gradient of all queries on the scores of each round of a training of LightGBM, as a multiple of LambdaRank()'s in \
the same repetition: medians with the lowest and highest."""
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
    "LambdaRank(BPref())",
)


def objectives() -> dict[str, Objective]:
    """Every objective that this version has; LambdaRank refuses measures that it cannot swap."""
    known = {}
    for text in WANTED:
        try:
            known[text] = parse(text)
        except (TypeError, ValueError):
            continue
    return known


def objective_costs(plan: Plan, setting: Setting) -> Section:
    """Measure every objective at every shape."""
    known = objectives()
    found = {shape: _seconds(shape, known, plan, setting) for shape in plan.shapes}
    figures = {
        str(shape): {
            name: {"ratio": (one / seconds[BASE]).described(), "seconds per round": one.described()}
            for name, one in seconds.items()
        }
        for shape, seconds in found.items()
    }
    rows = tuple((name, *(_cell(name, seconds) for seconds in found.values())) for name in known)
    method = f"{METHOD} {plan.rounds} rounds, {plan.repetitions} repetitions."
    heads = ("objective", *map(str, found))
    return Section("Objectives beside LambdaRank()", method, Grid(heads, rows), figures)


def _seconds(shape: Shape, known: dict[str, Objective], plan: Plan, setting: Setting) -> dict[str, Figures]:
    """Seconds per round of each objective."""
    data = made(shape)
    setting.told(f"{shape}: warming up")
    recorded = recorded_rounds(data, plan.rounds, setting)
    jobs = {name: one_pass(objective, recorded, data) for name, objective in known.items()}
    for job in jobs.values():
        job()
    seconds = alternate(jobs, plan.repetitions, setting.telling(shape))
    return {name: one / plan.rounds for name, one in seconds.items()}


def _cell(name: str, seconds: dict[str, Figures]) -> str:
    return seconds[BASE].milliseconds() if name == BASE else (seconds[name] / seconds[BASE]).ratio()
