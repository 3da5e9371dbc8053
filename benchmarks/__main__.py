"""Command line of the benchmarks: `python -m benchmarks --help`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from benchmarks.engine_measures import engine_measures
from benchmarks.growth import growth
from benchmarks.lengths import lengths
from benchmarks.load import load
from benchmarks.machine import this_machine
from benchmarks.memory import memory
from benchmarks.peers import peers
from benchmarks.plan import FULL, QUICK, Plan
from benchmarks.scaling import scaling
from benchmarks.section import Section
from benchmarks.speed import speed
from benchmarks.start import start
from benchmarks.training import evaluation, training
from experiments.common.report import draw
from experiments.common.script import add_out, at_least, note, run
from lambdaboost._threads import threads as available
from lambdaboost._threads import using

SECTIONS: dict[str, Callable[[Plan, int], Section]] = {
    "training": training,
    "evaluation": evaluation,
    "lengths": lengths,
    "speed": speed,
    "measures": engine_measures,
    "peers": peers,
    "scaling": scaling,
    "start": start,
    "memory": memory,
    "load": load,
    "growth": growth,
}


def main(arguments: Sequence[str] | None = None) -> dict[str, Section]:
    """Run the benchmarks, print every section when it is done, and write all to a folder."""
    options = _parser().parse_args(arguments)
    most = available()
    if options.threads is not None and options.threads > most:
        raise ValueError(
            f"--threads is {options.threads}: at most {most} here (processors, NUMBA_NUM_THREADS or OMP_NUM_THREADS)"
        )
    threads = options.threads or min(2, most)
    options.out.mkdir(parents=True, exist_ok=True)
    with using(threads):
        return _measured(options, threads)


def _measured(options: argparse.Namespace, threads: int) -> dict[str, Section]:
    machine = this_machine(threads).markdown()
    note(machine)
    found, texts = {}, ["# Benchmarks of lambdaboost", machine]
    for name in options.only or SECTIONS:
        note(f"measuring: {name}")
        section = found[name] = SECTIONS[name](QUICK if options.quick else FULL, threads)
        texts.append(section.markdown())
        print(texts[-1], end="\n\n", flush=True)
        if section.draw:
            draw(options.out / f"{name}.png", section.draw, width=6.4)
            texts.append(f"![{section.title}]({name}.png)")
    (options.out / "bench.md").write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    note(f"written: {options.out / 'bench.md'}")
    return found


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "python -m benchmarks",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="""\
training: λ and μ inside trainings, against the engines' own objectives.
evaluation: NDCG@3 inside trainings, against the engines' own metric.
lengths: λ inside trainings by the length of the lists, in processor time: the README's picture.
speed: λ, μ alone and whole trainings against the engines' own objectives.
measures: measures against the engines' own metrics.
peers: whole trainings, with CatBoost (if installed) and a NumPy objective.
scaling: one list of up to 512,000 documents.
start: import and compilation.
memory: memory of a gradient beyond its inputs.
load: reading LETOR text.
growth: processor time and memory of trainings of up to 20,000,000 documents, with 8 GB of memory and of disk.

Keep the machine idle otherwise. All parts take up to two hours.""",
    )
    made.add_argument(
        "--only", action="append", choices=list(SECTIONS), help="run only this part; may be repeated"
    )
    made.add_argument("--threads", type=at_least(1), help="number of threads (default: 2)")
    made.add_argument("--quick", action="store_true", help="tiny sizes, as a test; not for publication")
    add_out(made, "lambdaboost-bench")
    return made


if __name__ == "__main__":
    run(main)
