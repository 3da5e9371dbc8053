"""Feature importance of the systems, and its difference from the baseline's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lambdaboost.evaluation.comparison.table import Cell, Table

SHOWN = 20  # features

Importance = Mapping[str, float]


def checked(
    importance: Mapping[str, Importance] | None, names: tuple[str, ...]
) -> dict[str, dict[str, float]]:
    """Importance shares of each system's features, which sum to 1, in the order of `names`.

    Raises
    ------
    ValueError, TypeError
        If a system is unknown, or a value is negative or not a number.

    """
    remedy = "give {'system': {'feature': gain}}, such as a booster's gain of each feature"
    shares: dict[str, dict[str, float]] = {}
    for system, of_features in (importance or {}).items():
        if system not in names:
            raise ValueError(f"importance[{system!r}] is of no system: choose among {', '.join(names)}")
        try:
            gains = np.array([float(gain) for gain in of_features.values()])
            features = [str(feature) for feature in of_features]
        except (AttributeError, TypeError, ValueError):
            raise TypeError(f"importance[{system!r}] is {str(of_features)[:80]}: {remedy}") from None
        if not (np.isfinite(gains) & (gains >= 0)).all():
            raise ValueError(f"importance[{system!r}] has values that are negative or not finite: {remedy}")
        shares[system] = dict(zip(features, gains / (gains.sum() or 1.0), strict=True))
    return {name: shares[name] for name in names if name in shares}


def importance_table(shares: Mapping[str, Mapping[str, float]]) -> Table:
    """The features with the largest shares, times 100, and their differences from the first system.

    >>> print(importance_table({"a": {"bm25": 0.75, "age": 0.25}, "b": {"bm25": 0.5, "age": 0.5}}).markdown())
    | Feature | a | b | b − a |
    |:---|---:|---:|---:|
    | bm25 | 75.0 | 50.0 | -25.0 |
    | age | 25.0 | 50.0 | +25.0 |
    <BLANKLINE>
    Share of the gain of all splits, times 100.
    """
    first, *others = shares
    features = list(dict.fromkeys(feature for of_system in shares.values() for feature in of_system))
    largest = {f: max(of_system.get(f, 0.0) for of_system in shares.values()) for f in features}
    chosen = [f for f in sorted(features, key=lambda f: -largest[f]) if largest[f] > 0][:SHOWN]
    header = ("Feature", first, *(name for other in others for name in (other, f"{other} − {first}")))
    rows = []
    for feature in chosen:
        base = shares[first].get(feature, 0.0)
        cells = [Cell(feature), _percent(base)]
        for other in others:
            share = shares[other].get(feature, 0.0)
            cells += [_percent(share), Cell(f"{100 * (share - base):+z.1f}")]
        rows.append(tuple(cells))
    left = len(features) - len(chosen)
    caption = "Share of the gain of all splits, times 100" + (
        f"; {left} less important features are left out." if left else "."
    )
    return Table(header, tuple(rows), caption)


def _percent(share: float) -> Any:
    return Cell(f"{100 * share:.1f}")
