"""The quadratic program of the cuts, solved by clarabel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def simplex_weights(gram: Floats, values: Floats) -> Floats:
    r"""β that maximises :math:`v \cdot \beta - \frac12 \beta^\top G \beta` with β ≥ 0 and :math:`\sum\beta \le 1`.

    Parameters
    ----------
    gram : float64 (n, n)
        G, positive semidefinite.
    values : float64 (n,)
        v.

    Returns
    -------
    float64 (n,)
        Feasible up to rounding, whatever the solver's tolerance.

    Raises
    ------
    ImportError
        If clarabel is not installed.
    RuntimeError
        If the solver finds no solution.

    """
    from scipy import sparse

    clarabel = _clarabel()
    n = values.size
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    constraints = sparse.vstack([-sparse.eye(n), np.ones((1, n))], format="csc")
    bounds = np.append(np.zeros(n), 1.0)
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(gram)),
        -values,
        constraints,
        bounds,
        [clarabel.NonnegativeConeT(n + 1)],
        settings,
    )
    solution = solver.solve()
    weights = np.maximum(np.array(solution.x), 0.0)
    if not np.isfinite(weights).all():
        raise RuntimeError(f"clarabel found no solution ({solution.status}): scale the features, or lower C")
    return weights / max(weights.sum(), 1.0)


def _clarabel() -> Any:
    try:
        import clarabel  # type: ignore[import-untyped]
    except ImportError:
        raise ImportError("linear rankers need clarabel: pip install 'lambdaboost[linear]'") from None
    return clarabel
