"""``lambdaboost predict``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from lambdaboost._files import replacing
from lambdaboost.cli import model_file
from lambdaboost.cli.console import ERR
from lambdaboost.cli.model_file import LoadedModel
from lambdaboost.datasets import Columns
from lambdaboost.datasets.tables import Table


def run(model: Path, file: Path, out: Path | None, columns: Columns) -> None:
    """Write one score per line."""
    loaded = model_file.load(model, columns)
    with ERR.status("reading …"):
        data = loaded.columns.open(file)
    assert data is not None
    if out is None:
        sys.stdout.writelines(_lines(loaded, data))
        return
    with replacing(out) as written:
        written.writelines(text.encode() for text in _lines(loaded, data))


def _lines(model: LoadedModel, data: Table) -> Iterator[str]:
    # The shortest text that parses to the same number in the engine's precision, so ties stay ties.
    return (f"{score!s}\n" for score in model.scored(data))
