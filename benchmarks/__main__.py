"""Command line of the benchmarks: `python -m benchmarks --help`."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.lengths import lengths
from benchmarks.machine import this_machine
from benchmarks.measures import measures
from benchmarks.plan import FULL, QUICK, Plan
from benchmarks.provenance import provenance
from benchmarks.scaling import scaling
from benchmarks.section import Section
from benchmarks.start import start
from benchmarks.training import training
from experiments.common.report import draw
from experiments.common.script import Quick, note, run, whole
from lambdaboost._jit import threads as available
from lambdaboost._jit import using

SECTIONS: dict[str, Callable[[Plan, int], Section]] = {
    one.__name__: one for one in (training, lengths, scaling, start, measures)
}
RESULTS = Path(__file__).parent / "results"
ELSEWHERE = Path("lambdaboost-bench")
Name = StrEnum("Name", list(SECTIONS))  # type: ignore[misc]


def main(
    only: Annotated[list[Name] | None, typer.Option(help="run only this part; may be repeated")] = None,
    threads: Annotated[int | None, whole("number of threads (default: 2)")] = None,
    quick: Quick = False,
    out: Annotated[Path | None, typer.Option(help="(default: results, or of some parts elsewhere)")] = None,
) -> dict[str, Section]:
    """Run the benchmarks, print every section when it is done, and write all to a folder.

    training: λ and μ inside trainings, against the engines' own objectives. lengths: λ inside trainings by the length
    of the lists, in processor time. scaling: one list of up to 512,000 documents. start: import and compilation.
    measures: measures against ir-measures.

    Keep the machine idle otherwise. All parts take a quarter of an hour.
    """
    most = available()
    if threads is not None and threads > most:
        raise ValueError(
            f"--threads is {threads}: at most {most} here (processors, NUMBA_NUM_THREADS or OMP_NUM_THREADS)"
        )
    threads = threads or min(2, most)
    if out is None:
        out = ELSEWHERE if only or quick else RESULTS
    out.mkdir(parents=True, exist_ok=True)
    command = ["python -m benchmarks", *(f"--only {name}" for name in only or ()), *["--quick"] * quick]
    texts = ["# Benchmarks of lambdaboost", provenance(" ".join(command), "objectives", "evaluation")]
    texts.append(this_machine(threads))
    note(texts[-1])
    found = {}
    with using(threads):
        for name in map(str, only or SECTIONS):
            note(f"measuring: {name}")
            section = found[name] = SECTIONS[name](QUICK if quick else FULL, threads)
            texts.append(section.markdown())
            print(texts[-1], end="\n\n", flush=True)
            if section.draw:
                draw(out / f"{name}.png", section.draw, width=6.4)
                texts.append(f"![{section.title}]({name}.png)")
    (out / "benchmarks.md").write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    note(f"written: {out / 'benchmarks.md'}")
    return found


if __name__ == "__main__":
    run(main)
