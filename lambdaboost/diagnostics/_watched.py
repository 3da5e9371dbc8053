"""A bar of progress where somebody watches a terminal, and silence elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def watched(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
    """The items as they are, with a bar on standard error while they are worked through."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    yield from track(items, label, total, console=console, transient=True, disable=not console.is_terminal)
