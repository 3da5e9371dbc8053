"""Checks that a log determines a curve, with messages that name the positions where it does not."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

MOST_NAMED = 8  # positions in a message


def check_shown(by_position: NDArray[np.float64], names: tuple[str, ...] | None) -> None:
    """Raise if a position up to the last one was never shown."""
    if (by_position > 0).all():
        return
    never = words(np.flatnonzero(by_position <= 0) + 1, names)
    raise ValueError(
        f"{never}: never shown, so the propensity cannot be estimated; give a log of all positions, or take() the rows "
        "of those before"
    )


def check_clicked(clicks: NDArray[np.float64], names: tuple[str, ...] | None, where: str = "") -> None:
    """Raise if a position has no clicks."""
    if (clicks > 0).all():
        return
    never = words(np.flatnonzero(clicks <= 0) + 1, names)
    raise ValueError(
        f"{never}: no click{where}, so the propensity cannot be estimated; give more sessions, or take() the rows of "
        "the other positions"
    )


def check_connected(part: NDArray[np.integer], names: tuple[str, ...] | None, what: str, remedy: str) -> None:
    """Raise unless all positions are in one connected part; `what` connects two positions."""
    here = part == part[0]
    if here.all():
        return
    one, other = (words(np.flatnonzero(of) + 1, names) for of in (here, ~here))
    raise ValueError(
        f"no {what} connects {one} with {other}: none was shown in both groups, so their ratio cannot be estimated; "
        f"{remedy}"
    )


def words(positions: Iterable[int], names: tuple[str, ...] | None = None) -> str:
    """Positions in the words of a message, the first of many.

    >>> words([3]), words([1, 4, 5]), words([2], ("side", "top"))
    ('position 3', 'positions 1, 4, 5', "position 'top'")
    >>> words(range(3, 30))
    'positions 3, 4, 5, 6, 7, 8, 9, 10 and 19 more'
    """
    given = list(map(int, positions))
    shown = [str(k) if names is None else repr(names[k - 1]) for k in given[:MOST_NAMED]]
    more = f" and {len(given) - MOST_NAMED} more" if len(given) > MOST_NAMED else ""
    return f"position{'s' if len(given) > 1 else ''} {', '.join(shown)}{more}"
