"""The commands as a table of contents, their help as paragraphs, and the names that a shell completes."""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from typer.core import TyperGroup

TRAIN, MEASURE, DATA = ("Train and predict", "Measure and compare", "Data")
ORDER = ("demo", "train", "predict", "evaluate", "report", "fetch")
# A line of a list, such as "speed: λ, μ and whole trainings …", stays a line.
ITEM = re.compile(r"\w+: ")


class Contents(TyperGroup):
    """The commands in the order of a first acquaintance."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names, in which order the help shows them."""
        return sorted(super().list_commands(ctx), key=ORDER.index)


def with_home(command: Callable[..., None]) -> Callable[..., None]:
    """The command with ~ expanded in its paths, which shells leave alone in ``--out=~/model``."""

    @functools.wraps(command)
    def expanded(**given: Any) -> None:
        command(**{k: Path(os.path.expanduser(v)) if isinstance(v, Path) else v for k, v in given.items()})

    return expanded


def prose(doc: str | None) -> str:
    r"""A docstring with its paragraphs on one line each, so that any width of terminal breaks them itself.

    >>> prose("Train.\n\n    It reads\n    text.\n\n    a: one\n    b: two\n    ")
    'Train.\n\nIt reads text.\n\na: one\nb: two'
    """
    lines = inspect.cleandoc(doc or "").splitlines()
    text = ""
    for line in lines:
        joined = text and line and not text.endswith("\n") and not ITEM.match(line)
        text += (" " if joined else "\n" if text else "") + line
    return re.sub("\n{3,}", "\n\n", text).strip()


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def complete_objective(incomplete: str) -> list[str]:
    """Objectives and recipes that begin so."""
    from lambdaboost.objectives.base.registry import OBJECTIVES, RECIPES

    return _beginning((*RECIPES, *OBJECTIVES), incomplete)


def complete_measure(incomplete: str) -> list[str]:
    """Measures that begin so, in either case."""
    from lambdaboost.evaluation import MEASURES

    return _beginning((*MEASURES, *(name.lower() for name in MEASURES)), incomplete)


def complete_dataset(incomplete: str) -> list[str]:
    """Data sets of the catalogue that begin so."""
    from lambdaboost.datasets.catalogue import CATALOGUE

    return _beginning(CATALOGUE, incomplete)
