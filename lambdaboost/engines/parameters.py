"""Misspelt parameters, which an engine would ignore."""

from __future__ import annotations

from collections.abc import Iterable, Set
from difflib import get_close_matches


def likely(name: str, known: Set[str]) -> str | None:
    """The known name that was probably meant; None if `name` is known, or similar to none.

    >>> known = {"n_estimators", "max_depth"}
    >>> likely("n_estimator", known), likely("max_depth", known), likely("my_own", known)
    ('n_estimators', None, None)
    """
    if name in known:
        return None
    close = get_close_matches(name, sorted(known), 1, 0.8)
    return close[0] if close else None


def refuse_misspelt(params: Iterable[str], known: Set[str], engine: str) -> None:
    """Raise if a name is unknown to the engine but similar to a known one; other unknown names pass."""
    for name in params:
        meant = likely(name, known) if isinstance(name, str) else None
        if meant is not None:
            raise ValueError(f"params has {name!r}, which {engine} does not know: did you mean {meant!r}?")
