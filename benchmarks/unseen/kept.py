"""Outcomes of runs in a folder, so that finished runs are not repeated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

Outcome = dict[str, Any]  # arrays by name
Run = TypeVar("Run")


def load(path: Path) -> Outcome | None:
    """A kept outcome, or None if there is none."""
    if not path.exists():
        return None
    with np.load(path) as kept:
        return {name: kept[name] for name in kept.files}


def run_or_load(work: Callable[[Run], Outcome], run: Run, path: Path) -> Outcome:
    """The kept outcome of a run; if there is none, run it and keep it."""
    if (kept := load(path)) is None:
        part = path.with_suffix(".part.npz")
        np.savez_compressed(part, **work(run))
        part.replace(path)
        kept = load(path)
    assert kept is not None
    return kept
