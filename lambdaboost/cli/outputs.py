"""What a command writes: no input, no other output, and only with ``--overwrite`` any file that exists."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from lambdaboost._files import check_place, without_compression_suffix
from lambdaboost._installed import SUFFIXES, TITLES

# Of files that lie beside inputs: the description of a model, and LightGBM's sizes of the queries of LETOR text.
BESIDE = (".json", ".query", ".query.gz", ".query.xz", ".query.bz2")


def check_outputs(overwrite: bool, inputs: Iterable[Path | None], **outputs: list[Path]) -> None:
    """Raise ValueError if an output cannot be written, or would replace what it must not, also through links.

    `outputs` are the files of each option; `inputs` what the command reads.
    """
    read = [file for path in inputs if path is not None for file in _with_those_beside(path)]
    written: list[Path] = []
    for option, files in outputs.items():
        for file in files:
            check_place(option, file)
            for role, others in (("reads", read), ("writes too", written)):
                if any(_is_same(file, other) for other in others):
                    raise ValueError(f"{option} {file} is a file that this command {role}: give another name")
            if os.path.lexists(file) and not overwrite:
                raise ValueError(f"{option} {file} exists: give another name, or --overwrite to replace it")
        written += files


def check_suffix(out: Path, engine: str) -> None:
    """Raise ValueError where the suffix of a model file is that of another engine's format."""
    if engine_of_suffix(out) not in (None, engine):
        of = f"{TITLES[engine]}'s: give {' or '.join(SUFFIXES[engine])} or no suffix"
        raise ValueError(f"out {out} has the suffix of another engine's format, and the model is {of}")


def engine_of_suffix(path: Path) -> str | None:
    """The engine in whose format the suffix of a model file says it is; None for any other suffix."""
    return next((engine for engine, suffixes in SUFFIXES.items() if path.suffix.lower() in suffixes), None)


def _with_those_beside(path: Path) -> list[Path]:
    names = {path.name, without_compression_suffix(path).name}
    return [path, *(path.with_name(name + suffix) for name in names for suffix in BESIDE)]


def _is_same(a: Path, b: Path) -> bool:
    if os.path.normcase(os.path.realpath(a)) == os.path.normcase(os.path.realpath(b)):
        return True
    return a.exists() and b.exists() and os.path.samefile(a, b)
