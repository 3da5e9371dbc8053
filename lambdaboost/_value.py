"""What objectives, schedules and measures have in common: they are values."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, Self


class Value:
    """A frozen dataclass whose `repr` shows what differs from the defaults and reads back.

    Deep copies are the value itself, which is right for what cannot change, and is what lets LightGBM, which copies its
    parameters, train with the very object that the user holds.
    """

    def __repr__(self) -> str:
        shown = []
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            default = field.default_factory() if field.default_factory is not MISSING else field.default
            if default is MISSING or not _same(value, default):
                shown.append(f"{field.name}={_text(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and (a == b or (a != a and b != b))


def _text(value: Any) -> str:
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return f"float('{value}')"
    return repr(value)
