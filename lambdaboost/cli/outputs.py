"""What a command writes: no input, no other output, and only with ``--overwrite`` any file that exists."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from lambdaboost._files import check_place
from lambdaboost.engines import ENGINES
from lambdaboost.saving import sidecar_path


def check_outputs(overwrite: bool, inputs: Iterable[Path | None], **outputs: list[Path]) -> None:
    """Raise ValueError if an output cannot be written, or would replace what it must not, also through links.

    `outputs` are the files of each option; `inputs` what the command reads, perhaps with a description next to it.
    """
    read = [file for path in inputs if path is not None for file in (path, sidecar_path(path))]
    written: list[Path] = []
    for option, files in outputs.items():
        for file in files:
            check_place(option, file)
            for role, others in (("reads", read), ("writes too", written)):
                for other in others:
                    is_linked = file.exists() and other.exists() and file.samefile(other)
                    if is_linked or file.resolve() == other.resolve():
                        raise ValueError(
                            f"{option} {file} is a file that this command {role}: give another name"
                        )
            if os.path.lexists(file) and not overwrite:
                raise ValueError(f"{option} {file} exists: give another name, or --overwrite to replace it")
        written += files


def check_suffix(out: Path, engine: str) -> None:
    """Raise ValueError where the suffix of a model file is that of another engine's format."""
    if engine_of_suffix(out) not in (None, engine):
        of = f"{ENGINES[engine].TITLE}'s: give {' or '.join(ENGINES[engine].SUFFIXES)} or no suffix"
        raise ValueError(f"out {out} has the suffix of another engine's format, and the model is {of}")


def engine_of_suffix(path: Path) -> str | None:
    """The engine in whose format the suffix of a model file says it is; None for any other suffix."""
    return next((name for name, one in ENGINES.items() if path.suffix.lower() in one.SUFFIXES), None)
