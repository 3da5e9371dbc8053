"""The Pareto front of several measures: `non_dominated` points, and the `hypervolume` below them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def non_dominated(points: ArrayLike) -> NDArray[np.bool_]:
    r"""Whether each point is on the Pareto front: no other is as good in all measures and better in one.

    .. math:: \nexists\, j:\ \forall k\ p_{jk} \ge p_{ik} \ \wedge\ \exists k\ p_{jk} > p_{ik}

    Equal points are on it together.

    Parameters
    ----------
    points : array of shape (n, m)
        One row per system, one column per measure; higher is better.

    Returns
    -------
    bool array of shape (n,)

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
    if p.shape[1] == 2:
        return _staircase(p)
    found = np.ones(p.shape[0], dtype=np.bool_)
    for at, point in enumerate(p):
        found[at] = not np.any((p >= point).all(axis=1) & (p > point).any(axis=1))
    return found


def hypervolume(points: ArrayLike, reference: ArrayLike) -> float:
    r"""The volume between the points' front and a reference point; larger is better.

    .. math:: \mathrm{vol}\Big(\bigcup_i \prod_k [r_k, p_{ik}]\Big)

    the measure of Zitzler and Thiele (1998); a point that is not above the reference in every measure adds nothing.
    Two measures take one sort; more are cut into slices along the last one (While, Hingston, Barone and Huband 2006),
    which is exact, with time exponential in m.

    Parameters
    ----------
    points : array of shape (n, m)
        One row per system, one column per measure; higher is better.
    reference : array of shape (m,)
        The corner that volumes are counted from, such as the worst acceptable value of each measure.

    Returns
    -------
    float
        ≥ 0, in the product of the measures' units.

    Raises
    ------
    ValueError
        If `points` is not a table of finite numbers with at least two columns, or `reference` has another length.

    Examples
    --------
    >>> hypervolume([[3, 1], [1, 2], [1, 1]], reference=[0, 0])
    4.0
    >>> hypervolume([[1, 1, 1], [2, 1, 0.5]], reference=[0, 0, 0])
    1.5

    """
    p = _table(points)
    r = np.asarray(reference, dtype=np.float64)
    if r.shape != p.shape[1:] or not np.isfinite(r).all():
        raise ValueError(
            f"reference is {reference!r}: give {p.shape[1]} finite numbers, one for each measure"
        )
    sides = (p - r)[(p > r).all(axis=1)]
    return _volume(sides)


def _volume(sides: NDArray[np.float64]) -> float:
    """The volume of the union of boxes from the origin, given their sides (n, m), all > 0."""
    if sides.shape[0] == 0:
        return 0.0
    sides = sides[np.argsort(-sides[:, -1], kind="stable")]
    depths = -np.diff(sides[:, -1], append=0.0)
    if sides.shape[1] == 2:
        return float(np.maximum.accumulate(sides[:, 0]) @ depths)
    # Between two heights the union is a prism over all boxes that reach them.
    return sum(
        float(depth) * _volume(_front(sides[: at + 1, :-1])) for at, depth in enumerate(depths) if depth > 0
    )


def _front(sides: NDArray[np.float64]) -> NDArray[np.float64]:
    return sides[non_dominated(sides)]


def _staircase(p: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The front of two measures, by one sort: no point that is higher in the first is as high in the second."""
    order = np.lexsort((-p[:, 1], -p[:, 0]))
    first, second = p[order].T
    start = np.searchsorted(-first, -first, side="left")  # of the points that are equal in the first measure
    above = np.concatenate([[-np.inf], np.maximum.accumulate(second)])[start]
    found = np.empty(p.shape[0], dtype=np.bool_)
    found[order] = (second > above) & (second == second[start])
    return found


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
