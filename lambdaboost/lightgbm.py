"""LightGBM: the scikit-learn ranker `LambdaRanker`.

>>> from lambdaboost import LambdaRank
>>> from lambdaboost.datasets import web_search_log
>>> from lambdaboost.lightgbm import LambdaRanker
>>> X, q = web_search_log(queries=20, documents=30, seed=3)
>>> ranker = LambdaRanker(objective=LambdaRank(), n_estimators=3, verbose=-1)
>>> ranker.fit(X, q.relevance, group=q.sizes).predict(X).shape
(584,)
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lambdaboost._installed import package
from lambdaboost.datasets.table import QUERY
from lambdaboost.engines import lightgbm as engine
from lambdaboost.engines.base import is_true, with_min_leaf_size
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.objectives import Objective, YetiLoss
from lambdaboost.ranker import OWN_PARAMS, Documents, Ranker, as_list, read_metrics
from lambdaboost.scoring import remember_rows
from lambdaboost.training import attach_queries

lgb = package("lightgbm")

__all__ = ["LambdaRanker"]


class LambdaRanker(Ranker, lgb.LGBMRanker):  # type: ignore[name-defined]
    """A `lightgbm.LGBMRanker` with the objectives and measures of lambdaboost.

    Parameters
    ----------
    objective : Objective or str
        An objective or its text, such as ``"graded"``, by default `YetiLoss`; or LightGBM's own ``"lambdarank"``,
        ``"rank_xendcg"``.
    query : str
        The column of a pandas, polars or pyarrow table that holds the query of each row.
    sources : list of str, or dict of str to str, optional
        The columns of further label sources, or the column of each source by name.
    position : str, optional
        The column of the positions at which rows were shown, as of `Queries`.
    weight : str, optional
        The column of the weight of each row, or of its query.
    unseen : "error" or "missing"
        How to treat categories that were not in the training data: raise an error, or treat them as missing with one
        warning that counts the rows.
    min_child_samples : int, optional
        The minimum number of documents in a leaf, by default 20; for gradient steps 100, or a twentieth of the
        documents if that is less, at least 20.
    **kwargs
        Those of LGBMRanker: ``n_estimators=``, ``num_leaves=``, ``learning_rate=``, ….

    Notes
    -----
    The columns `query`, `sources`, `position` and `weight` are not features; arrays have none, and objectives that read
    further sources need a table, or `attach` and `lightgbm.train`. scikit-learn splits them with the rows:
    ``GridSearchCV(LambdaRanker(query="srch_id"), grid, cv=GroupKFold(5)).fit(X, y, groups=X["srch_id"])``. Any measure
    can be the ``scoring=``. A ranker fitted on a DataFrame takes its features from later ones by name, in any order.

    """

    _engine = engine

    def __init__(
        self,
        *,
        objective: Objective | str = YetiLoss(),
        query: str = QUERY,
        sources: Sequence[str] | Mapping[str, str] | None = None,
        position: str | None = None,
        weight: str | None = None,
        unseen: str = "error",
        min_child_samples: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(objective=objective, min_child_samples=min_child_samples, **kwargs)
        self.query, self.sources, self.position = query, sources, position
        self.weight, self.unseen = weight, unseen

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        init_score: ArrayLike | None = None,
        group: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        eval_set: Any = None,
        eval_names: Sequence[str] | None = None,
        eval_group: Sequence[Any] | None = None,
        eval_qid: Sequence[Any] | None = None,
        eval_sample_weight: Sequence[Any] | None = None,
        eval_init_score: Sequence[Any] | None = None,
        eval_metric: Any = None,
        eval_at: Any = None,
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
        X : array, sparse matrix or DataFrame of shape (n_rows, n_features), or Collection
            Features. A pandas, polars or pyarrow table also holds the columns that the ranker names, as do validation
            sets. A Collection has its own grades, queries, sources and weights: ``fit(collection, None)``.
        y : array of shape (n_rows,)
            Grades, or NaN if missing; below 0 only for objectives of their order, such as `RankNet`.
        sample_weight : array of shape (n_rows,) or (n_queries,), optional
            Weight of each row, or of each query.
        group, qid
            The number of documents of each query, or the query of each row; give one of them, or the column `query`.
        eval_set : (X, y) or list or tuple of them, optional
            Validation sets.
        eval_group, eval_qid, eval_sample_weight, eval_init_score : lists, optional
            The same arrays for the validation sets, one item per set. A set that is the training's own X and y is the
            training data with all of its arrays, unless one is given that differs: such a set has those given alone.
        eval_metric : measure, callable, str or list of them, optional
            Measures or their names, such as ``CNDCG(k=3)`` or ``"ndcg@5"``; LightGBM's own metrics as
            ``"lightgbm:ndcg"``, in which a query without a relevant document counts 1, not 0, or by the parameter
            ``metric=``; callables ``(y_true, y_pred[, weight[, group]])``. By default NDCG at each of `eval_at`. Early
            stopping uses the first one, unless the parameter ``first_metric_only=False`` is given.
        eval_at : sequence of int, optional
            Cutoffs of the default measures, by default 1 to 5, of ``eval_metric="ndcg"`` or ``"map"``, and of
            LightGBM's own metrics.
        init_score, eval_names, feature_name, categorical_feature, callbacks, init_model, eval_X, eval_y
            As in `lightgbm.LGBMRanker`.

        Raises
        ------
        TypeError, ValueError
            Before the first round, if an argument is wrong, or if the engine would silently ignore or change it
            (docs/traps.md).

        """
        if self.class_weight is not None:
            raise ValueError(
                f"class_weight={self.class_weight!r}: grades are no classes; give sample_weight to fit"
            )
        # The validation sets may also be given as `eval_X` and `eval_y`.
        sets = eval_set
        if eval_X is not None or eval_y is not None:
            if eval_set is not None:
                raise ValueError("eval_set is given as well as eval_X and eval_y: give one or the other")
            rows, grades = (given if isinstance(given, tuple) else (given,) for given in (eval_X, eval_y))
            if eval_X is None or eval_y is None or len(rows) != len(grades):
                raise ValueError(
                    "eval_X and eval_y differ: give both, as one set or as tuples of the same length"
                )
            sets = list(zip(rows, grades, strict=True))
        # Validation sets have the same arrays, by their roles.
        eval_arrays = {
            "eval_group": ("group", eval_group),
            "eval_qid": ("qid", eval_qid),
            "eval_sample_weight": ("weight", eval_sample_weight),
            "eval_init_score": ("init_score", eval_init_score),
        }
        # Parameters: the base class makes some of these attributes, here and in `predict`.
        objective = self._objective_to_fit()
        cutoffs = np.atleast_1d((1, 2, 3, 4, 5) if eval_at is None else eval_at).tolist()
        self._objective, self._eval_at = objective, cutoffs
        params = self._process_params("fit")
        params["objective"] = objective
        feval, early = self._measures(params, eval_metric, eval_at is not None)
        stops = list(callbacks or ())

        # Data sets; a validation set that is the training data is the same one.
        arrays = {"group": group, "qid": qid, "weight": sample_weight, "init_score": init_score}
        first, encoder, training = self._read_training(X, y, objective, init_model, **arrays)
        valid = self._read_eval_sets(sets, eval_arrays, training, encoder, feval)
        # LightGBM counts the features, among which the columns of queries and labels are not.
        places = []
        if isinstance(categorical_feature, list):
            places = [one for one in categorical_feature if isinstance(one, int | np.integer)]
        columns, features = (list(getattr(one, "columns", ())) for one in (X, training.features))
        if any(columns[at : at + 1] != features[at : at + 1] for at in places):
            raise ValueError(
                f"categorical_feature={categorical_feature!r} counts features, and X has other columns before them: "
                "give names"
            )

        def as_dataset(documents: Documents, reference: Any = None) -> Any:
            data = engine.dataset(
                documents.features,
                documents.queries,
                reference=reference,
                init_score=documents.init_score,
                feature_name=feature_name,
                categorical_feature=categorical_feature,
            )
            return attach_queries(data, documents.queries)

        data = as_dataset(training)
        valid_sets = [data if one is training else as_dataset(one, data) for one in valid]
        params = with_min_leaf_size(params, engine, objective, training.queries.n_documents)

        # Early stopping by the first metric: LightGBM stops as soon as any metric of any validation set stalls.
        first_only = is_true(params.get("first_metric_only", True))
        if first_only and engine.given(params, "early_stopping_round") is not None:
            params["first_metric_only"] = True
        for at, callback in enumerate(stops):
            if first_only and hasattr(callback, "stopping_rounds") and hasattr(callback, "first_metric_only"):
                stops[at] = copy.copy(callback)  # the caller may use it elsewhere
                stops[at].first_metric_only = True
        if callable(objective):
            early = [engine.prevent_reset, *early]

        history: dict[str, Any] = {}
        booster = lgb.train(
            params,
            data,
            self.n_estimators,
            valid_sets=valid_sets,
            valid_names=eval_names,
            feval=feval,
            init_model=first,
            callbacks=[*early, *stops, lgb.record_evaluation(history)],
        )
        engine.set_booster(self, booster, history)
        self._fitted_with_feature_names = hasattr(training.features, "columns") or feature_name != "auto"
        self._fitted_objective, self._fitted = objective, encoder
        remember_rows(self, X, training.queries)
        return self

    def _process_params(self, stage: str) -> dict[str, Any]:
        params = super()._process_params(stage)
        for name in OWN_PARAMS:
            params.pop(name, None)
        if self.min_child_samples is None:
            params.pop("min_child_samples", None)
        if stage == "predict":
            params["objective"] = "None"
        return params

    def _measures(
        self, params: dict[str, Any], eval_metric: Any, has_cutoffs: bool
    ) -> tuple[list[Callable[..., Any]], list[Any]]:
        """Measures and callables for feval, and a callback where they come first; names of metrics go to `params`."""
        cutoffs = np.atleast_1d(params["eval_at"]).tolist()
        requested: list[Any] = []
        for metric in as_list(eval_metric):
            if has_cutoffs and metric in ("ndcg", "map"):
                requested += [f"{metric}@{k}" for k in cutoffs]
            else:
                requested.append(metric)
        requested = read_metrics("eval_metric", requested, engine)
        # The parameter is LightGBM's, and so are the names that it knows; "ndcg" unless it was given.
        named = params.pop("metric")
        if engine.given(self.get_params(), "metric") is not None:
            for metric in as_list(named):
                if isinstance(metric, str) and engine.is_metric(metric):
                    requested.append(metric)
                else:
                    requested += read_metrics("metric", metric, engine)
        requested = requested or [NDCG(k=k) for k in cutoffs]
        params["metric"] = [metric for metric in requested if isinstance(metric, str)] or "None"
        # Callables ``(y_true, y_pred[, weight[, group]])`` are LGBMRanker's to call.
        feval = [metric for metric in requested if callable(metric)]
        for at, metric in enumerate(feval):
            if not isinstance(metric, Measure):
                feval[at] = lgb.sklearn._EvalFunctionWrapper(metric)
        return feval, [_sort_own_last] if callable(requested[0]) else []


def _sort_own_last(env: Any) -> None:
    """A callback that puts LightGBM's own metrics, which it evaluates first, after the others.

    Early stopping then uses the first of the others.
    """
    own = engine.own_metrics(env.model)
    env.evaluation_result_list.sort(key=lambda result: result[1] in own)


_sort_own_last.order = -1e305  # type: ignore[attr-defined]  # before all other callbacks
