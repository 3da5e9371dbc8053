"""``lambdaboost predict``."""

from __future__ import annotations

import sys
from pathlib import Path

from lambdaboost.cli import model_file
from lambdaboost.cli.columns import Columns
from lambdaboost.cli.console import ERR
from lambdaboost.cli.data_file import open_data
from lambdaboost.datasets._files import check_place, replacing


def run_predict(model_path: Path, file: Path, out: Path | None, options: Columns) -> None:
    """Write one score per line."""
    if out is not None:
        check_place("--out", out)
    model = model_file.load(model_path, options)
    with ERR.status("reading …"):
        data = open_data(file)
    scores = model.scores(data)
    # The shortest text that parses to the same number in the engine's precision, so ties stay ties.
    text = "".join(f"{score!s}\n" for score in scores)
    if out is None:
        sys.stdout.write(text)
        return
    with replacing(out) as opened:
        opened.write(text.encode())
