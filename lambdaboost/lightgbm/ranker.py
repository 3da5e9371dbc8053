"""`LambdaRanker`: LightGBM's scikit-learn ranker with lambdaboost's objectives, leaves, label sources and measures."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import lightgbm as lgb
import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, column_or_1d

from lambdaboost.datasets.named_columns import QID, NamedColumns, names_in
from lambdaboost.engines.estimator import OWN, listed, scored_queries
from lambdaboost.engines.eval_sets import EvalSet, eval_sets
from lambdaboost.engines.grades import scores_of
from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.metric_names import measure_named
from lambdaboost.engines.native import NativeObjective, read_objective
from lambdaboost.engines.parameters import refuse_misspelt_own
from lambdaboost.engines.plan import DEFAULT_MEASURE
from lambdaboost.evaluation import NDCG
from lambdaboost.evaluation.measure import Measure
from lambdaboost.lightgbm._engine import ALIASES, ENGINE
from lambdaboost.lightgbm._metrics import in_order
from lambdaboost.lightgbm._private import take_over
from lambdaboost.lightgbm.dataset import Dataset, Sources
from lambdaboost.lightgbm.training import train
from lambdaboost.objectives import LambdaRank, Objective
from lambdaboost.objectives.base.objective import check_objective
from lambdaboost.objectives.mcrank import GradeModel


class LambdaRanker(lgb.LGBMRanker):
    """An `lightgbm.LGBMRanker` with the objectives and measures of lambdaboost.

    Parameters
    ----------
    objective : Objective or str
        An objective or its text; also `McRank` and `OrdinalMcRank`; or LightGBM's own, ``"lambdarank"`` or
        ``"rank_xendcg"``.
    leaves : "engine", "gradient" or "newton"
        As in `lambdaboost.lightgbm.train`.
    query : str
        The column of a pandas or polars DataFrame that holds the query of each row.
    sources : list of str, or dict of str to str, optional
        The columns of further label sources, or the column of each source by name.
    position : str, optional
        The column of the positions at which rows were shown, as of `Queries`.
    n_estimators, learning_rate, num_leaves, …
        As in `lightgbm.LGBMRanker`; ``class_weight`` has no effect.
    min_child_samples : int, optional
        The minimum number of documents in a leaf: by default LightGBM's 20, or 100 for gradient steps.

    Notes
    -----
    The columns `query`, `sources` and `position` are no features. scikit-learn splits them with the rows:
    ``GridSearchCV(LambdaRanker(query="srch_id"), grid, cv=GroupKFold(5)).fit(X, y, groups=X["srch_id"])``. Any measure
    can be the ``scoring=``; the default is `score`. Queries, sources and positions can also be given to `fit` as
    arrays, in place of columns. A ranker fitted on a DataFrame takes its features from later ones by name, in any
    order.

    Examples
    --------
    >>> from lambdaboost.datasets import web_search_log
    >>> from lambdaboost.lightgbm import LambdaRanker
    >>> X, q = web_search_log(queries=20, documents=30, seed=3)
    >>> ranker = LambdaRanker(objective="LambdaRank(NDCG(k=3))", n_estimators=3, verbose=-1)
    >>> ranker.fit(X, q.relevance, group=q.sizes).predict(X).shape
    (584,)

    """

    # scikit-learn reads the parameters off this signature, so it repeats the base class's.
    def __init__(
        self,
        *,
        boosting_type: str = "gbdt",
        num_leaves: int = 31,
        max_depth: int = -1,
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample_for_bin: int = 200000,
        objective: Objective | GradeModel | str = LambdaRank(),
        leaves: Leaves = "engine",
        query: str = QID,
        sources: Sequence[str] | Mapping[str, str] | None = None,
        position: str | None = None,
        class_weight: Any = None,
        min_split_gain: float = 0.0,
        min_child_weight: float = 1e-3,
        min_child_samples: int | None = None,
        subsample: float = 1.0,
        subsample_freq: int = 0,
        colsample_bytree: float = 1.0,
        reg_alpha: float = 0.0,
        reg_lambda: float = 0.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        importance_type: str = "split",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            boosting_type=boosting_type,
            num_leaves=num_leaves,
            max_depth=max_depth,
            learning_rate=learning_rate,
            n_estimators=n_estimators,
            subsample_for_bin=subsample_for_bin,
            objective=objective,
            class_weight=class_weight,
            min_split_gain=min_split_gain,
            min_child_weight=min_child_weight,
            min_child_samples=min_child_samples,
            subsample=subsample,
            subsample_freq=subsample_freq,
            colsample_bytree=colsample_bytree,
            reg_alpha=reg_alpha,
            reg_lambda=reg_lambda,
            random_state=random_state,
            n_jobs=n_jobs,
            importance_type=importance_type,
            **kwargs,
        )
        self.leaves = leaves
        self.query = query
        self.sources = sources
        self.position = position

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        group: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        sources: Sources | None = None,
        position: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        init_score: ArrayLike | None = None,
        eval_set: Sequence[tuple[Any, ArrayLike]] | None = None,
        eval_names: Sequence[str] | None = None,
        eval_group: Sequence[ArrayLike] | None = None,
        eval_qid: Sequence[ArrayLike] | None = None,
        eval_sources: Sequence[Sources] | None = None,
        eval_position: Sequence[ArrayLike] | None = None,
        eval_sample_weight: Sequence[ArrayLike] | None = None,
        eval_init_score: Sequence[ArrayLike] | None = None,
        eval_metric: Any = None,
        eval_at: Sequence[int] = (1, 2, 3, 4, 5),
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        callbacks: Sequence[Any] | None = None,
        init_model: Any = None,
        eval_X: Any = None,
        eval_y: Any = None,
    ) -> Self:
        """Fit the ranker.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features, the rows of one query adjacent. A pandas or polars DataFrame may also hold the columns `query`,
            `sources` and `position` of the ranker.
        y : array of shape (n_rows,)
            Grades, or NaN if missing; below 0 only for objectives of their order, such as `RankNet`.
        group, qid
            The number of documents of each query, or the query of each row; give one of them.
        sources : mapping of str to array of shape (n_rows,), or pandas or polars DataFrame, optional
            Further label sources that are no columns of X. In a grid search give a DataFrame, which scikit-learn
            splits with X.
        position : array of shape (n_rows,), optional
            Positions that are no column of X.
        sample_weight : array of shape (n_rows,) or (n_queries,), optional
            Weight of each row, or of each query.
        init_score : array of shape (n_rows,), optional
            As in `lightgbm.LGBMRanker`.
        eval_set : list of (X, y), optional
            Validation sets; the other `eval_…` lists have one item for each.
        eval_X, eval_y : X and y, or tuples of them, optional
            The same as in LightGBM 4.7, in place of `eval_set`.
        eval_names, eval_group, eval_qid, eval_sources, eval_position, eval_sample_weight, eval_init_score
            Lists, optional: names, queries, sources, positions, weights and initial scores of the validation sets.
        eval_metric : measure, callable, str or list of them, optional
            Measures such as ``CNDCG(k=3)``; callables ``(y_true, y_pred[, weight[, group]])``; names of LightGBM's
            metrics, also with a cutoff as in ``"ndcg@5"``, and of measures that it does not have, such as ``"mrr@10"``.
            By default NDCG at each of `eval_at`. Early stopping uses the first one, unless the parameter
            ``first_metric_only=False`` is given.
        eval_at : sequence of int
            Cutoffs of the default measures, and of LightGBM's own metrics.
        feature_name, categorical_feature, callbacks, init_model
            As in `lightgbm.LGBMRanker`.

        Raises
        ------
        TypeError, ValueError
            As `lambdaboost.lightgbm.train`, and if the `eval_…` lists do not match `eval_set`.

        """
        refuse_misspelt_own(self.get_params(), OWN, ENGINE.parameters())
        columns = NamedColumns.of(self)
        training = {"X": X, "y": y}
        X, group, sources, position = columns.split_training(X, group, qid, sources, position)
        objective = read_objective(self.objective)
        # The base class turns these into parameters, here and in `predict`.
        self._objective = objective
        if not isinstance(objective, GradeModel | NativeObjective):
            check_objective("objective", objective)
        self._eval_at = list(eval_at)
        params = self._process_params("fit")
        del params["objective"]
        feval, order = self._measures(params, eval_metric)
        X = X if hasattr(X, "columns") else _checked(X)
        if sample_weight is not None:
            sample_weight = column_or_1d(sample_weight)
        data = Dataset(
            X,
            y,
            weight=sample_weight,
            group=group,
            init_score=init_score,
            feature_name=feature_name,
            categorical_feature=categorical_feature,
            sources=sources,
            position=position,
        )
        lists = {
            "eval_group": eval_group,
            "eval_qid": eval_qid,
            "eval_sources": eval_sources,
            "eval_position": eval_position,
            "eval_sample_weight": eval_sample_weight,
            "eval_init_score": eval_init_score,
        }
        sets = eval_sets(_eval_set(eval_set, eval_X, eval_y), lists)
        history: dict[str, Any] = {}
        booster = train(
            params,
            data,
            self.n_estimators,
            objective=objective,
            leaves=self.leaves,
            valid_sets=[
                data if valid.is_training(**training) else _valid_set(columns, data, valid) for valid in sets
            ],
            valid_names=eval_names,
            feval=feval,
            init_model=getattr(init_model, "booster_", init_model),
            callbacks=[*order, *(callbacks or []), lgb.record_evaluation(history)],
        )
        take_over(self, booster, history, X.shape[1], hasattr(X, "columns") or feature_name != "auto")
        # `_objective` may be that of a later fit that failed.
        self._fitted_objective, self.leaves_, self._fitted_columns = objective, self.leaves, names_in(X)
        return self

    def predict(
        self,
        X: Any,
        raw_score: bool = False,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        pred_leaf: bool = False,
        pred_contrib: bool = False,
        validate_features: bool = False,
        **more: Any,
    ) -> Any:
        """Scores of documents, as by `LGBMRanker.predict`; of a DataFrame, the features are taken by name."""
        predicted = super().predict(
            NamedColumns.of(self).features(X, getattr(self, "_fitted_columns", None)),
            raw_score,
            start_iteration,
            num_iteration,
            pred_leaf,
            pred_contrib,
            validate_features,
            **more,
        )
        if raw_score or pred_leaf or pred_contrib:
            return predicted
        return scores_of(ENGINE, self._fitted_objective, predicted)

    def score(self, X: Any, y: ArrayLike, *, group: Any = None, qid: Any = None) -> float:
        """NDCG(3) of documents X with grades y; queries as `group`, as `qid`, or as the column `query` of X."""
        X, q = scored_queries(NamedColumns.of(self), X, y, group, qid, DEFAULT_MEASURE)
        return DEFAULT_MEASURE(self.predict(X), q)

    @property
    def objective_(self) -> Objective | GradeModel | NativeObjective:
        """The objective that the model was fitted with."""
        _ = self.booster_  # raises before `fit`
        return self._fitted_objective

    def _process_params(self, stage: str) -> dict[str, Any]:
        params = super()._process_params(stage)
        for name in OWN - {"objective"}:
            del params[name]
        if params["min_child_samples"] is None:
            del params["min_child_samples"]
        if stage == "predict":
            params["objective"] = "None"
        return params

    def _measures(
        self, params: dict[str, Any], eval_metric: Any
    ) -> tuple[list[Callable[..., Any]] | None, list[Any]]:
        """Measures and callables for feval, and a callback that keeps their order; names of metrics go to `params`."""
        requested = [_metric(metric) for metric in listed(eval_metric)]
        names = [metric for metric in requested if isinstance(metric, str)]
        named = params.pop("metric")
        if any(alias in self.get_params() for alias in ALIASES["metric"]):
            given = [_metric(name) for name in ([named] if isinstance(named, str) else list(named or []))]
            names += [name for name in given if isinstance(name, str)]
            requested += [measure for measure in given if not isinstance(measure, str)]
        if names:
            params["metric"] = names
        feval = [
            metric if isinstance(metric, Measure) else _feval(metric)
            for metric in requested
            if callable(metric)
        ]
        # LightGBM evaluates its own metrics first.
        order = [in_order([*requested, *names])] if feval and names else []
        return feval or (None if names else [NDCG(k=k) for k in _cutoffs(params["eval_at"])]), order


def _metric(metric: Any) -> Any:
    """A metric, or the measure that its name stands for."""
    return (measure_named(ENGINE, metric) or metric) if isinstance(metric, str) else metric


def _checked(X: Any) -> Any:
    """An array or sparse matrix, checked as by LGBMRanker: real numbers, not empty, NaN if missing."""
    # scikit-learn 1.6 renamed the argument.
    renamed = "ensure_all_finite" in inspect.signature(check_array).parameters
    return check_array(
        X, accept_sparse=True, **{"ensure_all_finite" if renamed else "force_all_finite": False}
    )


def _cutoffs(eval_at: Any) -> list[int]:
    """The cutoffs of ``eval_at`` or one of its aliases: a whole number, several, or a text such as "3,10"."""
    if isinstance(eval_at, str):
        return [int(k) for k in eval_at.split(",")]
    return list(np.atleast_1d(eval_at))


def _feval(metric: Callable[..., Any]) -> Callable[..., Any]:
    """A metric ``(y_true, y_pred[, weight[, group]])``, as LGBMRanker takes it, for `lightgbm.train`."""
    n = len(inspect.signature(metric).parameters)

    def evaluate(scores: Any, data: Any) -> Any:
        return metric(*(data.get_label(), scores, data.get_weight(), data.get_group())[:n])

    return evaluate


def _eval_set(eval_set: Any, eval_X: Any, eval_y: Any) -> list[tuple[Any, Any]]:
    """The validation sets, from ``eval_set=`` or from ``eval_X=`` and ``eval_y=``."""
    if eval_X is None and eval_y is None:
        return list(eval_set or [])
    if eval_set is not None:
        raise ValueError("eval_set is given beside eval_X and eval_y: give one or the other")
    for name, value, other in (("eval_X", eval_X, "eval_y"), ("eval_y", eval_y, "eval_X")):
        if value is None:
            raise ValueError(f"{other} is given without {name}: give both")
    rows = eval_X if isinstance(eval_X, tuple) else (eval_X,)
    grades = eval_y if isinstance(eval_y, tuple) else (eval_y,)
    if isinstance(eval_X, tuple) != isinstance(eval_y, tuple) or len(rows) != len(grades):
        raise ValueError(
            f"eval_X has {len(rows)} sets, eval_y {len(grades)}: give both as tuples of the same length, or as one set"
        )
    return list(zip(rows, grades, strict=True))


def _valid_set(columns: NamedColumns, data: Dataset, valid: EvalSet) -> Dataset:
    rows = valid.rows(columns, names_in(data.data))
    return data.create_valid(
        rows.features,
        valid.y,
        weight=valid.items.get("sample_weight"),
        group=rows.sizes,
        init_score=valid.items.get("init_score"),
        sources=rows.sources,
        position=rows.position,
    )
