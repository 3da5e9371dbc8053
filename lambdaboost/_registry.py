"""`Registry`: classes and functions by name, each registered by a decorator at its definition."""

from __future__ import annotations

from typing import Any, TypeVar

Entry = TypeVar("Entry")
Added = TypeVar("Added")


class Registry(dict[str, Entry]):
    """Classes or functions by their ``__name__``.

    >>> numbers: Registry[Any] = Registry()
    >>> @numbers.add
    ... class One:
    ...     pass
    >>> list(numbers)
    ['One']
    """

    def add(self, entry: Added) -> Added:
        """Register a class or function under its own name, as a decorator.

        lambdaboost's own names stand; any other name is the last definition's.

        Raises
        ------
        ValueError
            If two modules of lambdaboost register one name.

        """
        name: str = entry.__name__  # type: ignore[attr-defined]
        before: Any = self.get(name)
        if _is_own(before) and not _is_own(entry):
            return entry
        if _is_own(before) and before.__module__ != entry.__module__:
            raise ValueError(
                f"{name} of {entry.__module__} is registered by {before.__module__}: choose another name"
            )
        self[name] = entry  # type: ignore[assignment]
        return entry


def _is_own(entry: Any) -> bool:
    return entry is not None and entry.__module__.split(".")[0] == "lambdaboost"
