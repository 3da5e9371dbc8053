"""Texts for users, in messages, on the terminal and in reports."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST_SHOWN = 60  # characters of one text
MOST_LISTED = 8  # items of a list


def quote(text: object) -> str:
    r"""A user's text in one short line, safe in a terminal: quoted, with control characters escaped.

    >>> print(quote("price"), quote("\x1b[31mred\n"), quote("x" * 10_000_000))
    'price' '\x1b[31mred\n' 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' (10,000,000 characters)
    """
    whole = str(text)
    quoted = repr(whole[:LONGEST_SHOWN])
    if len(whole) <= LONGEST_SHOWN:
        return quoted
    return f"{quoted[:-1]}…{quoted[-1]} ({len(whole):,} characters)"


def plain(text: object, longest: int = LONGEST_SHOWN) -> str:
    r"""`quote` without quotes, for cells and headings; blanks at either end become visible.

    >>> print(plain("q 17"), plain("\x1b]0;x\x07"), plain("  "), plain("y" * 90))
    q 17 \x1b]0;x\x07 '  ' yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…
    """
    whole = str(text)
    cut = whole[:longest]
    safe = cut
    if not cut.isprintable():
        safe = repr(cut)[1:-1]
    if safe != safe.strip() or not safe:
        return repr(cut)
    return safe + "…" * (len(whole) > longest)


def listed(items: Iterable[object], most: int = MOST_LISTED) -> str:
    """A list in a sentence: the first items and how many more there are.

    >>> print(listed("abc"), "|", listed(range(30), 3))
    'a', 'b', 'c' | 0, 1, 2 and 27 more
    """
    every = list(items)
    named = ", ".join(quote(item) if isinstance(item, str) else str(item) for item in every[:most])
    if len(every) > most:
        named += f" and {len(every) - most} more"
    return named


def counted(n: int, one: str, more: str = "") -> str:
    """A number with its noun.

    >>> print(counted(1, "query", "queries"), counted(1200, "row"))
    1 query 1,200 rows
    """
    noun = more or f"{one}s"
    if n == 1:
        noun = one
    return f"{n:,} {noun}"


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """The remedy for an unknown name.

    >>> did_you_mean("max_depht", {"max_depth"}), did_you_mean("my_own", {"max_depth"})
    ("did you mean 'max_depth'?", 'leave it out')
    """
    close = get_close_matches(str(name), sorted(known), 2)
    if not close:
        return "leave it out"
    return f"did you mean {' or '.join(map(repr, close))}?"
