"""Order of the commands, formatting of their help, and shell completion."""

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
ORDER = ("demo", "train", "tune", "predict", "evaluate", "report", "fetch")
# A list item, such as "speed: λ, μ and whole trainings …", keeps its line.
ITEM = re.compile(r"\w+: ")


class Contents(TyperGroup):
    """The commands in the order in which they are learned."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names in the order of the help."""
        return sorted(super().list_commands(ctx), key=ORDER.index)


def with_home(command: Callable[..., None]) -> Callable[..., None]:
    """Expand ~ in the paths of a command, which shells do not do in ``--out=~/model``."""

    @functools.wraps(command)
    def expanded(**given: Any) -> None:
        command(**{k: Path(os.path.expanduser(v)) if isinstance(v, Path) else v for k, v in given.items()})

    return expanded


def prose(doc: str | None) -> str:
    r"""Join each paragraph of a docstring to one line, which a terminal wraps at its own width.

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
    """Objectives, recipes and the engines' own objectives with this prefix."""
    from lambdaboost.engines.native import NATIVE
    from lambdaboost.objectives.base.registry import OBJECTIVES, RECIPES

    return _beginning(
        (*RECIPES, *OBJECTIVES, *(name for names in NATIVE.values() for name in names)), incomplete
    )


def complete_measure(incomplete: str) -> list[str]:
    """Measures with this prefix, ignoring case."""
    from lambdaboost.evaluation import MEASURES

    return _beginning((*MEASURES, *(name.lower() for name in MEASURES)), incomplete)


def complete_dataset(incomplete: str) -> list[str]:
    """Data sets with this prefix."""
    from lambdaboost.datasets.catalogue import CATALOGUE

    return _beginning(CATALOGUE, incomplete)
