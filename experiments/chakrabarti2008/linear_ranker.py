"""`LinearRanker`: a linear scoring function with a margin, as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, check_is_fitted

from experiments.chakrabarti2008.cutting_plane import Cut, cutting_plane
from experiments.chakrabarti2008.hinge import Hinge
from lambdaboost.datasets import Queries


class LinearRanker(BaseEstimator):
    r"""Scores s = X w that minimise :math:`\frac12\|w\|^2 + \frac{C}{|Q|}\sum_q \xi_q` (2008, eq. 1).

    ξ_q is the slack of a query by a hinge: ``StructuredHinge(AUC())`` is SVM-AUC, ``StructuredHinge(MAP())`` SVM-MAP,
    ``StructuredHinge(NDCG(10))`` SVM-NDCG, `Combo` SVM-COMBO, `PairwiseHinge` RankSVM. Solved by the cutting plane
    method with one slack (Joachims, Finley and Yu 2009), its quadratic programs by clarabel. There is no intercept,
    since it would not change the order. Scale the features first.

    Parameters
    ----------
    objective : Hinge
    C : float
        Weight of the mean slack, > 0.
    epsilon : float
        Stop when no constraint is violated by more than this, > 0.
    max_iter : int
        Maximum number of cuts.

    Attributes
    ----------
    coef_ : float64 (n_features,)
        w.
    slack_ : float
        The mean slack of the training queries that have constraints.
    objective_value_, gap_ : float
        The objective at w, and the duality gap, ≤ C ε; NaN if the hinge is not convex (DORM).
    n_iter_ : int
        Number of cuts made.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 2.0], [2.0, 1.0]])
    >>> from experiments.chakrabarti2008.structured_hinge import StructuredHinge
    >>> from lambdaboost import AUC
    >>> ranker = LinearRanker(StructuredHinge(AUC()), C=10).fit(X, [0, 1, 0, 1], qid=[1, 1, 2, 2])
    >>> bool(np.diff(ranker.predict(X))[0] > 0)
    True

    """

    def __init__(
        self,
        objective: Hinge,
        *,
        C: float = 1.0,
        epsilon: float = 1e-3,
        max_iter: int = 1000,
    ) -> None:
        self.objective = objective
        self.C = C
        self.epsilon = epsilon
        self.max_iter = max_iter

    def fit(self, X: Any, y: ArrayLike, qid: ArrayLike) -> Self:
        """Train on documents, an array or sparse matrix (n_documents, n_features), grouped by query."""
        hinge, X = self.objective, check_array(X, accept_sparse="csr", dtype=np.float64)
        q = Queries(y, ids=qid)
        n_counted = np.count_nonzero(hinge.counted(q))
        if not n_counted:
            raise ValueError(
                f"no query has documents that {hinge!r} distinguishes, so there is nothing to learn: check y and qid"
            )

        def cut_at(w: NDArray[np.float64]) -> Cut:
            loss, direction = hinge.violators(np.asarray(X @ w), q)
            return Cut(float(loss.sum()) / n_counted, np.asarray(X.T @ direction) / n_counted)

        found = cutting_plane(cut_at, X.shape[1], float(self.C), float(self.epsilon), self.max_iter)
        if not found.converged:
            warnings.warn(
                f"stopped at max_iter={self.max_iter} cuts with a gap of {found.gap:.3g} in an objective of "
                f"{found.objective:.3g}: raise max_iter or epsilon, or lower C",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.coef_ = found.w
        self.slack_ = found.risk
        self.objective_value_ = found.objective
        self.gap_ = found.gap if hinge.convex else float("nan")
        self.n_iter_ = found.n_iter
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Scores of documents, float64 (n_documents,), higher ranks first."""
        check_is_fitted(self)
        return np.asarray(check_array(X, accept_sparse="csr", dtype=np.float64) @ self.coef_)
