"""Output of the command line: results to standard output, progress and notes to standard error.

Every text passes through `lambdaboost._words.plain`, so that a file cannot send control characters to a terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lambdaboost._words import plain

OUT = Console(highlight=False)
ERR = Console(stderr=True, highlight=False)
MAX_LINE = 2_000  # characters of a line, which keeps its beginning and its end, the remedy


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table."""
    table = Table(box=SIMPLE_HEAD)
    for at, name in enumerate(header):
        table.add_column(escape(plain(name)), justify="right" if at else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(plain(cell)) for cell in row))
    OUT.print(table)


def note(text: str) -> None:
    """Print a line to standard error."""
    print(_line(text), file=sys.stderr)


def tell(text: str) -> None:
    """Print lines of results."""
    for line in text.splitlines():
        print(_line(line))


def _line(text: str) -> str:
    line = " ".join(text.split())
    if len(line) > MAX_LINE:
        line = f"{line[: MAX_LINE // 2]} … {line[-MAX_LINE // 2 :]}"
    return plain(line, 2 * MAX_LINE)
