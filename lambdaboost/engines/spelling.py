"""Misspelt names of parameters."""

from __future__ import annotations

from collections.abc import Set
from difflib import get_close_matches
from typing import Any


def likely(name: str, known: Set[str]) -> str | None:
    """The known name that was probably meant; None if `name` is known, or similar to none.

    >>> known = {"n_estimators", "max_depth"}
    >>> likely("n_estimator", known), likely("depth", known), likely("max_depth", known), likely("my_own", known)
    ('n_estimators', 'max_depth', None, None)
    """
    if name in known:
        return None
    ends = [full for full in known if full.endswith(f"_{name}")]
    ends = [full for full in ends if not any(full.endswith(f"_{end}") for end in ends)]
    close = ends if len(ends) == 1 else get_close_matches(name, sorted(known), 1, 0.8)
    return close[0] if close else None


def remedy(name: Any, known: Set[str]) -> str:
    """What to do about a name that is not known.

    >>> remedy("max_depht", {"max_depth"}), remedy("my_own", {"max_depth"})
    ("did you mean 'max_depth'?", 'leave it out')
    """
    meant = likely(name, known) if isinstance(name, str) else None
    close = [meant] if meant else get_close_matches(str(name), known, 2)
    return f"did you mean {' or '.join(map(repr, close))}?" if close else "leave it out"
