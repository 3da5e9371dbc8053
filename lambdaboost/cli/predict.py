"""``lambdaboost predict``."""

from __future__ import annotations

import sys
from pathlib import Path

from lambdaboost._files import replacing
from lambdaboost.cli import model_file
from lambdaboost.cli.columns import Columns
from lambdaboost.cli.console import ERR
from lambdaboost.cli.data_file import open_data


def run(model: Path, file: Path, out: Path | None, columns: Columns) -> None:
    """Write one score per line."""
    loaded = model_file.load(model, columns)
    with ERR.status("reading …"):
        data = open_data(file, loaded.columns.text)
    # The shortest text that parses to the same number in the engine's precision, so ties stay ties.
    text = "".join(f"{score!s}\n" for score in loaded.scores(loaded.matrix(data)))
    if out is None:
        sys.stdout.write(text)
        return
    with replacing(out) as opened:
        opened.write(text.encode())
