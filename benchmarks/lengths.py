"""λ inside trainings against the length of the lists, of both engines and of lambdaboost."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from benchmarks.data import made
from benchmarks.engines import ENGINES
from benchmarks.plan import Case, Plan, Shape
from benchmarks.section import Section
from benchmarks.timing import Timed
from benchmarks.training import gradients_inside
from experiments.common.report import legend
from lambdaboost._jit import using
from lambdaboost.evaluation.charts import COLOURS

METHOD = """\
Processor time of λ and μ a document and round, in microseconds, on one thread, so that other programs on the machine \
change little; all pairs, five grades. Native: native training time − training time with replayed gradients. \
LightGBM refuses lists of more than 10,000 documents."""

Lines = dict[str, dict[int, Timed]]


def lengths(plan: Plan, threads: int) -> Section:
    """Measure every length on one thread, whatever `threads` is."""
    plan = replace(plan, rounds_trained=min(plan.rounds_trained, 4), repetitions=min(plan.repetitions, 3))
    lines: Lines = {}
    with using(1):
        for n in plan.lengths:
            shape = Shape(max(1, plan.length_documents // n), n)
            documents = shape.queries * n * 1e-6
            for name, make in ENGINES.items():
                engine = make(made(shape), 1)
                found = gradients_inside(engine, Case(shape), plan, time.process_time)
                times = {f"{name}'s {engine.native}": next(iter(found.values()))["native"]}
                times |= {f"{objective} in {name}": of["here"] for objective, of in found.items()}
                for label, seconds in times.items():
                    lines.setdefault(label, {})[n] = seconds / documents
    rows = [(label, *(one.text() for one in line.values())) for label, line in lines.items()]
    heads = ("documents a list", *(f"{n:,}" for n in plan.lengths))
    sizes = (
        f"{plan.length_documents:,} documents, {plan.rounds_trained} rounds, {plan.repetitions} repetitions"
    )
    method = f"{METHOD} {sizes}."
    return Section(
        "λ by the length of the list", method, heads, tuple(rows), draw=lambda axes: draw(axes, lines)
    )


def draw(axes: Any, lines: Lines) -> None:
    """Plot the medians, log-log: a colour for each engine, lambdaboost's lines solid."""
    for at, (label, line) in enumerate(lines.items()):
        style = ("s--", "o-", "^-")[at % 3]
        medians = [one.median for one in line.values()]
        axes.plot(list(line), medians, style, color=COLOURS[at // 3], markersize=4, label=label)
    axes.set(xscale="log", yscale="log", xlabel="Documents a list", ylabel="λ and μ: µs a document and round")
    axes.set_xticks(list(line), [f"{n:,}" for n in line])
    axes.minorticks_off()
    legend(axes)
