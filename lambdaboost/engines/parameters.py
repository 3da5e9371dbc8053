"""What was meant by one that an engine would pass over."""

from __future__ import annotations

from collections.abc import Iterable, Set
from difflib import get_close_matches


def likely(name: str, known: Set[str]) -> str | None:
    """The known name that was probably meant; None where `name` is known, or like none of them.

    >>> known = {"n_estimators", "max_depth"}
    >>> likely("n_estimator", known), likely("max_depth", known), likely("my_own", known)
    ('n_estimators', None, None)
    """
    if name in known:
        return None
    close = get_close_matches(name, sorted(known), 1, 0.8)
    return close[0] if close else None


def refuse_misspelt(params: Iterable[str], known: Set[str], engine: str) -> None:
    """Raise where a name is not known to the engine but close to one that is; others are passed on as they are."""
    for name in params:
        meant = likely(name, known) if isinstance(name, str) else None
        if meant is not None:
            raise ValueError(f"params has {name!r}, which {engine} does not know: did you mean {meant!r}?")
