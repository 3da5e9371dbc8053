"""Command line of the benchmarks: `python -m benchmarks --help`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

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
from experiments.common.script import at_least, note, run
from lambdaboost._jit import threads as available
from lambdaboost._jit import using

SECTIONS: dict[str, tuple[Callable[[Plan, int], Section], str]] = {
    "training": (training, "λ and μ inside trainings, against the engines' own objectives"),
    "lengths": (lengths, "λ inside trainings by the length of the lists, in processor time"),
    "scaling": (scaling, "one list of up to 512,000 documents"),
    "start": (start, "import and compilation"),
    "measures": (measures, "measures against ir-measures"),
}
RESULTS = Path(__file__).parent / "results"
ELSEWHERE = Path("lambdaboost-bench")


def main(arguments: Sequence[str] | None = None) -> dict[str, Section]:
    """Run the benchmarks, print every section when it is done, and write all to a folder."""
    options = _parser().parse_args(arguments)
    most = available()
    if options.threads is not None and options.threads > most:
        raise ValueError(
            f"--threads is {options.threads}: at most {most} here (processors, NUMBA_NUM_THREADS or OMP_NUM_THREADS)"
        )
    threads = options.threads or min(2, most)
    whole = options.only is None and not options.quick
    out = options.out or (RESULTS if whole else ELSEWHERE)
    out.mkdir(parents=True, exist_ok=True)
    command = [
        "python -m benchmarks",
        *(f"--only {name}" for name in options.only or ()),
        "--quick" * options.quick,
    ]
    head = provenance(" ".join(filter(None, command)), "objectives", "evaluation")
    texts = ["# Benchmarks of lambdaboost", head, this_machine(threads)]
    note(texts[-1])
    found = {}
    with using(threads):
        for name in options.only or SECTIONS:
            note(f"measuring: {name}")
            section = found[name] = SECTIONS[name][0](QUICK if options.quick else FULL, threads)
            texts.append(section.markdown())
            print(texts[-1], end="\n\n", flush=True)
            if section.draw:
                draw(out / f"{name}.png", section.draw, width=6.4)
                texts.append(f"![{section.title}]({name}.png)")
    (out / "benchmarks.md").write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    note(f"written: {out / 'benchmarks.md'}")
    return found


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "python -m benchmarks",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="\n".join(f"{name}: {what}." for name, (_, what) in SECTIONS.items())
        + "\n\nKeep the machine idle otherwise. All parts take a quarter of an hour.",
    )
    made.add_argument(
        "--only", action="append", choices=list(SECTIONS), help="run only this part; may be repeated"
    )
    made.add_argument("--threads", type=at_least(1), help="number of threads (default: 2)")
    made.add_argument("--quick", action="store_true", help="tiny sizes, as a test; not for publication")
    made.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help=f"(default: benchmarks/results, which the documentation shows; of some parts or --quick: {ELSEWHERE})",
    )
    return made


if __name__ == "__main__":
    run(main)
