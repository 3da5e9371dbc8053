"""Misspelt parameters, which an engine would ignore."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
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


def refuse_misspelt(params: Iterable[str], known: Set[str], engine: str) -> None:
    """Raise if a name is unknown to the engine but similar to a known one; other unknown names pass."""
    for name in params:
        meant = likely(name, known) if isinstance(name, str) else None
        if meant is not None:
            raise ValueError(f"params has {name!r}, which {engine} does not know: did you mean {meant!r}?")


def refuse_misspelt_own(params: Mapping[str, Any], own: Set[str], known: Set[str]) -> None:
    """Raise if a ranker's parameters have a name similar to one of its `own`, or hold the queries.

    `known` are the engine's parameters, which pass.
    """
    for name, value in params.items():
        if name in ("qid", "group", "groups", "query_id") and value is not None:
            raise ValueError(
                f"{name}={value!r} is no parameter of a ranker: name the column of the queries as query=, or give "
                "them to fit as group= or qid="
            )
        meant = None if name in known else likely(name, own)
        if meant is not None:
            raise ValueError(f"{name}={value!r} is no parameter of a ranker: did you mean {meant!r}?")
