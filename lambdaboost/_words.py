"""Words shown to users, in messages, on the terminal and in reports; and what was meant by misspelt ones."""

from __future__ import annotations

from collections.abc import Iterable, Set
from difflib import get_close_matches
from typing import Any

LONGEST_SHOWN = 60  # characters of one text
MOST_LISTED = 8  # items of a list


def shown(text: object) -> str:
    r"""A user's text in one short line, safe in a terminal: quoted, with control characters escaped.

    >>> print(shown("price"), shown("\x1b[31mred\n"), shown("x" * 10_000_000))
    'price' '\x1b[31mred\n' 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' (10,000,000 characters)
    """
    whole = str(text)
    quoted = repr(whole[:LONGEST_SHOWN])
    if len(whole) <= LONGEST_SHOWN:
        return quoted
    return f"{quoted[:-1]}…{quoted[-1]} ({len(whole):,} characters)"


def plain(text: object, longest: int = LONGEST_SHOWN) -> str:
    r"""`shown` without quotes, for cells and headings; blanks at either end become visible.

    >>> print(plain("q 17"), plain("\x1b]0;x\x07"), plain("  "), plain("y" * 90))
    q 17 \x1b]0;x\x07 '  ' yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…
    """
    whole = str(text)
    cut = whole[:longest]
    safe = cut if cut.isprintable() else repr(cut)[1:-1]
    if safe != safe.strip() or not safe:
        return repr(cut)
    return safe + "…" * (len(whole) > longest)


def listed(items: Iterable[object], most: int = MOST_LISTED) -> str:
    """A list in a sentence: the first items and how many more there are.

    >>> print(listed("abc"), "|", listed(range(30), 3))
    'a', 'b', 'c' | 0, 1, 2 and 27 more
    """
    every = list(items)
    named = ", ".join(shown(item) if isinstance(item, str) else str(item) for item in every[:most])
    return named + (f" and {len(every) - most} more" if len(every) > most else "")


def counted(n: int, one: str, more: str = "") -> str:
    """A number with its noun.

    >>> print(counted(1, "query", "queries"), counted(1200, "row"))
    1 query 1,200 rows
    """
    return f"{n:,} {one if n == 1 else more or one + 's'}"


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
