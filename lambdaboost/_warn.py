"""The call stack: the frames of all callers, and warnings that point at the user's own line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from types import FrameType

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
