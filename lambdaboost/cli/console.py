"""Output of the command line: results to standard output, progress and notes to standard error."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console

OUT = Console(highlight=False)
ERR = Console(stderr=True, highlight=False)


class StoppedButWrote(Exception):
    """Interrupted by Ctrl-C after the output was written."""


def note(text: str) -> None:
    """Print a line to standard error."""
    print(text, file=sys.stderr)


def tell(text: str) -> None:
    """Print a line of results, wrapped on a terminal only."""
    OUT.print(text, markup=False, soft_wrap=not OUT.is_terminal)


def print_json(value: Any) -> None:
    """Print a JSON document to standard output."""
    print(json.dumps(value, indent=2, allow_nan=False))
