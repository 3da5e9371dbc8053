"""The call stack: the functions that are waiting for the one that runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType


def waiting() -> Iterator[FrameType]:
    """The frames of all callers, the innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def owner(frame: FrameType) -> object:
    """The object whose method the frame runs, by its first argument; None for a function."""
    return frame.f_locals.get("self") if frame.f_code.co_varnames[:1] == ("self",) else None
