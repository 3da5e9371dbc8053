"""`LinearRanker`: a linear scoring function with a margin, as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import validation
from sklearn.utils.validation import check_is_fitted

from lambdaboost._checks import check_number, check_whole
from lambdaboost.datasets import Queries
from lambdaboost.datasets.named_columns import NamedColumns
from lambdaboost.linear._cutting_plane import Cut, cutting_plane
from lambdaboost.objectives import Hinge, parse


class LinearRanker(BaseEstimator):
    r"""Scores s = X w that minimise :math:`\frac12\|w\|^2 + \frac{C}{|Q|}\sum_q \xi_q` (2008, eq. 1).

    ξ_q is the slack of a query by a hinge: ``StructuredHinge(AUC())`` is SVM-AUC, ``StructuredHinge(MAP())`` SVM-MAP,
    ``StructuredHinge(NDCG(10))`` SVM-NDCG, `Combo` SVM-COMBO, `PairwiseHinge` RankSVM. Solved by the cutting plane
    method with one slack (Joachims, Finley and Yu 2009), its quadratic programs by clarabel. There is no intercept,
    since it would not change the order. Scale the features first.

    Parameters
    ----------
    objective : Hinge or str
        A hinge, or its repr.
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
    n_features_in_ : int
    feature_names_in_ : array of str (n_features,)
        The column names, if X was a DataFrame.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 2.0], [2.0, 1.0]])
    >>> ranker = LinearRanker("StructuredHinge(AUC())", C=10).fit(X, [0, 1, 0, 1], qid=[1, 1, 2, 2])
    >>> bool(np.diff(ranker.predict(X))[0] > 0)
    True

    """

    def __init__(
        self,
        objective: Hinge | str = "StructuredHinge(MAP())",
        *,
        C: float = 1.0,
        epsilon: float = 1e-3,
        max_iter: int = 1000,
    ) -> None:
        self.objective = objective
        self.C = C
        self.epsilon = epsilon
        self.max_iter = max_iter

    def fit(self, X: Any, y: ArrayLike, qid: ArrayLike | None = None) -> Self:
        """Train on documents grouped by query.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_documents, n_features)
            Finite features. A pandas or polars DataFrame may hold the queries as column ``qid``.
        y : array of shape (n_documents,)
            Grades ≥ 0, NaN where missing.
        qid : array of shape (n_documents,), optional
            The query of each row, the rows of a query adjacent; omit it if X has a column ``qid``.

        Raises
        ------
        TypeError, ValueError
            If a parameter, the features, grades or queries are invalid, or no query has a constraint.

        """
        hinge = self._checked()
        columns = NamedColumns()
        qid = columns.query_of_row("X", X, None, qid)
        if qid is None:
            raise ValueError("qid is missing: give qid=[query of each row]")
        X = self._features(columns.features(X), reset=True)
        q = Queries(y, ids=qid)
        if q.n_documents != X.shape[0]:
            raise ValueError(f"y has {q.n_documents} grades, X has {X.shape[0]} rows: give one grade per row")
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
        """Scores of documents, float64 (n_documents,), higher ranks first; a column ``qid`` is ignored."""
        check_is_fitted(self)
        return np.asarray(self._features(NamedColumns().features(X), reset=False) @ self.coef_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def _features(self, X: Any, reset: bool) -> Any:
        """Features checked by scikit-learn, which records or compares their number and names."""
        checks = {"accept_sparse": "csr", "dtype": np.float64, "reset": reset}
        # scikit-learn 1.6 replaced the method by a function.
        if hasattr(validation, "validate_data"):
            return validation.validate_data(self, X, **checks)
        return self._validate_data(X, **checks)

    def _checked(self) -> Hinge:
        """The hinge, after all parameters are checked."""
        hinge = parse(self.objective) if isinstance(self.objective, str) else self.objective
        if not isinstance(hinge, Hinge):
            raise TypeError(
                f"objective is {hinge!r}, expected a hinge: StructuredHinge(MAP()), PairwiseHinge() or a Combo"
            )
        check_number("C", self.C, above=0)
        check_number("epsilon", self.epsilon, above=0)
        check_whole("max_iter", self.max_iter)
        return hinge
