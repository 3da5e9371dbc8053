"""The call stack: the functions that wait for the one that runs, and warnings that point at the user's own line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from types import FrameType
from typing import Any

_LIBRARIES = ("lambdaboost", "lightgbm", "xgboost", "sklearn", "joblib")


def warn(message: str) -> None:
    """Warn at the user's line that called lambdaboost, directly or through an engine."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _LIBRARIES:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


def waiting() -> Iterator[FrameType]:
    """The frames of all callers, the innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def owner_waiting(marks: tuple[str, ...], method: str = "") -> Any:
    """The object whose method waits, the innermost one or that alone, of a class with one of these methods."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_varnames[:1] == ("self",) and code.co_name == (method or code.co_name):
            owner = frame.f_locals.get("self")
            for mark in marks:
                if hasattr(type(owner), mark):
                    return owner
        frame = frame.f_back
    return None
