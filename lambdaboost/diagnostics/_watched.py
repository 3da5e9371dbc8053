"""A progress bar on terminals only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def watched(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
    """Iterate over the items with a progress bar on standard error."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    yield from track(items, label, total, console=console, transient=True, disable=not console.is_terminal)
