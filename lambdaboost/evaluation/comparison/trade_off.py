"""Several measures: points on the Pareto front, and the best system without a loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.evaluation.comparison.paired import Comparison
from lambdaboost.evaluation.comparison.significance import LEVEL
from lambdaboost.evaluation.measure import Measure


def non_dominated(points: ArrayLike) -> NDArray[np.bool_]:
    r"""Whether each point is on the Pareto front: no other is as good in all measures and better in one.

    .. math:: \nexists\, j:\ \forall k\ p_{jk} \ge p_{ik} \ \wedge\ \exists k\ p_{jk} > p_{ik}

    Equal points are on it together. `points`, (n, m), has one row per system and one column per measure, higher is
    better; the result is a bool array (n,).

    Raises
    ------
    ValueError
        If `points` is not a table of finite numbers with at least two columns.

    Examples
    --------
    >>> non_dominated([[1, 1], [2, 1], [0, 3]])
    array([False,  True,  True])

    """
    p = _table(points)
    beaten = [bool(((p >= one).all(axis=1) & (p > one).any(axis=1)).any()) for one in p]
    return ~np.array(beaten, dtype=np.bool_)


def _table(points: ArrayLike) -> NDArray[np.float64]:
    p = np.asarray(points, dtype=np.float64)
    if p.ndim != 2 or p.shape[1] < 2:
        raise ValueError(
            f"points has shape {p.shape}: give one row for each system and a column for each of two measures or more"
        )
    if not np.isfinite(p).all():
        row = int(np.flatnonzero(~np.isfinite(p).all(axis=1))[0])
        raise ValueError(f"points[{row}] is {p[row].tolist()}: give finite numbers; leave out such systems")
    return p


def best_without_loss(comparison: Comparison, primary: Measure, raised: Measure) -> str:
    """The system with the highest mean of `raised` among those without a significant loss of `primary`.

    The baseline is among them. The paired t-test is that of `primary` alone, unadjusted: the more tests a correction
    counts, the more losses would pass as none. The absence of a significant loss does not prove that there is none;
    `loss_of` gives its interval.

    `primary` and `raised` are two measures of `comparison`; the result is the name of the system.

    Raises
    ------
    ValueError
        If a measure was not compared.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> from lambdaboost.evaluation import MRR, NDCG, System, compare
    >>> q = Queries([1, 0, 1, 0], sizes=[2, 2])
    >>> found = compare(System("a", [1, 0, 0, 1], q), System("b", [1, 0, 1, 0], q), measures=(NDCG(1), MRR()))
    >>> best_without_loss(found, NDCG(1), MRR())
    'b'

    """
    for name, measure in (("primary", primary), ("raised", raised)):
        if measure not in comparison.measures:
            known = ", ".join(map(repr, comparison.measures))
            raise ValueError(f"{name} is {measure!r}, which was not compared: choose among {known}")
    first = comparison.systems[0]
    means = {comparison.baseline: comparison[first, raised].mean_before}
    means |= {system: comparison[system, raised].mean_after for system in without_loss(comparison, primary)}
    return max(means, key=means.__getitem__)


def without_loss(comparison: Comparison, primary: Measure) -> list[str]:
    """The compared systems without a significant loss of `primary`, unadjusted."""
    changes = {system: comparison[system, primary] for system in comparison.systems}
    return [name for name, change in changes.items() if not (change.mean < 0 and change.p_value < LEVEL)]


def loss_of(comparison: Comparison, system: str, primary: Measure) -> str:
    """How much a system changes `primary`, in points, with the unadjusted 95% interval; "" for the baseline.

    >>> from lambdaboost.datasets import Queries
    >>> from lambdaboost.evaluation import MRR, System, compare
    >>> q = Queries([1, 0, 1, 0], sizes=[2, 2])
    >>> found = compare(System("a", [1, 0, 1, 0], q), System("b", [1, 0, 0, 1], q), measures=MRR())
    >>> loss_of(found, "b", MRR())
    'b changes MRR() by -25.00 points from a (too few queries for a 95% interval).'
    """
    if system == comparison.baseline:
        return ""
    change = comparison[system, primary]
    points = f"{100 * change.mean:+.2f} points from {comparison.baseline} ({change.interval_text(100, 2)})"
    return f"{system} changes {primary!r} by {points}."
