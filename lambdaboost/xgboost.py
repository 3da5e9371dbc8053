"""XGBoost: the scikit-learn ranker `LambdaRanker`.

>>> from lambdaboost import NDCG, LambdaRank
>>> from lambdaboost.xgboost import LambdaRanker
>>> X, y = [[0.1], [0.9], [0.4], [0.2]], [0, 2, 1, 0]
>>> ranker = LambdaRanker(objective=LambdaRank(NDCG(3)), n_estimators=2, min_child_weight=0, n_jobs=1)
>>> ranker.fit(X, y, group=[4]).predict(X).argmax()
np.int64(1)
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lambdaboost._installed import package
from lambdaboost._warn import warn
from lambdaboost.datasets import Encoder
from lambdaboost.datasets.arrays import query_weights
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.datasets.table import QUERY
from lambdaboost.engines import xgboost as engine
from lambdaboost.engines.base import with_min_leaf_size
from lambdaboost.evaluation import Measure
from lambdaboost.objectives import Objective, YetiLoss
from lambdaboost.ranker import DEFAULT_MEASURE, OWN_PARAMS, Documents, Ranker, read_metrics
from lambdaboost.saving import known_encoder
from lambdaboost.scoring import RENAMED, columns_of, remember_rows
from lambdaboost.training import attach_queries

xgb = package("xgboost")

__all__ = ["LambdaRanker"]


class LambdaRanker(Ranker, xgb.XGBRanker):  # type: ignore[name-defined]
    """An `xgboost.XGBRanker` with the objectives and measures of lambdaboost.

    Its own parameters, and what scikit-learn does with them, are those of `lambdaboost.lightgbm.LambdaRanker`, but
    XGBoost's own objectives are ``"rank:ndcg"``, ``"rank:pairwise"`` and ``"rank:map"``. ``save_model`` saves the
    trees, not the objective.

    Parameters
    ----------
    objective, query, sources, position, weight, unseen
        As in `lambdaboost.lightgbm.LambdaRanker`.
    eval_metric : measure, str, callable or list of them, optional
        Measures or their names, such as ``"ndcg@10-clicks"`` or ``"mrr@10"``; XGBoost's own metrics as
        ``"xgboost:ndcg@10"``, in which a query without a relevant document counts 1, not 0, and which ``ndcg_exp_gain``
        changes; or callables ``(y_true, y_score)`` of one query, as in XGBRanker. By default NDCG(3). Early stopping
        uses the first one; measures are maximised.
    **kwargs
        Those of XGBRanker: ``n_estimators=``, ``learning_rate=``, ``early_stopping_rounds=``, ….

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
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.objective = objective  # XGBRanker's own __init__ refuses callables
        self.query, self.sources, self.position = query, sources, position
        self.weight, self.unseen = weight, unseen

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        # XGBoost's own changes the class of a copy to its first base, which before 3.0 must be an XGBModel.
        names = ("objective", *OWN_PARAMS, *xgb.XGBModel._get_param_names())
        params = {name: getattr(self, name) for name in names}
        return params | (getattr(self, "kwargs", None) or {})

    def get_xgb_params(self) -> dict[str, Any]:
        """The engine's own parameters."""
        own = {"objective", *OWN_PARAMS, "eval_metric"}
        params = {name: value for name, value in super().get_xgb_params().items() if name not in own}
        seed = params.get("random_state")
        if draw := getattr(seed, "integers", None) or getattr(seed, "randint", None):
            params["random_state"] = int(draw(2**31 - 1))
        return params

    def load_model(self, fname: Any) -> None:
        """Load the trees that `save_model` saved; the objective is not in the file, and stays unchanged."""
        objective = self.objective
        super().load_model(fname)
        self.objective = objective
        booster = self.get_booster()
        self._fitted_objective = self._objective_to_fit()
        self._fitted = Encoder(
            columns_of(self), booster.feature_names or (), engine.categories(booster), self.unseen
        )

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        group: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        base_margin: ArrayLike | None = None,
        eval_set: Any = None,
        eval_group: Sequence[Any] | None = None,
        eval_qid: Sequence[Any] | None = None,
        verbose: bool | int | None = False,
        xgb_model: Any = None,
        sample_weight_eval_set: Sequence[Any] | None = None,
        base_margin_eval_set: Sequence[Any] | None = None,
        feature_weights: ArrayLike | None = None,
    ) -> Self:
        """Fit the ranker.

        Parameters
        ----------
        X, y, group, qid, eval_set, eval_group, eval_qid
            As in `lambdaboost.lightgbm.LambdaRanker.fit`.
        sample_weight : array of shape (n_rows,) or (n_queries,), optional
            Weight of each query, or of each row, equal within a query.
        base_margin, verbose, xgb_model, sample_weight_eval_set, base_margin_eval_set, feature_weights
            As in `XGBRanker.fit`.

        Raises
        ------
        TypeError, ValueError
            As `lambdaboost.lightgbm.LambdaRanker.fit`.

        """
        objective = self._objective_to_fit()
        metrics = read_metrics("eval_metric", self.eval_metric, engine) or [DEFAULT_MEASURE]
        arrays = {"group": group, "qid": qid, "weight": sample_weight, "init_score": base_margin}
        first, encoder, training = self._read_training(X, y, objective, xgb_model, **arrays)
        eval_arrays = {
            "eval_group": ("group", eval_group),
            "eval_qid": ("qid", eval_qid),
            "sample_weight_eval_set": ("weight", sample_weight_eval_set),
            "base_margin_eval_set": ("init_score", base_margin_eval_set),
        }
        valid = self._read_eval_sets(eval_set, eval_arrays, training, encoder, metrics)
        is_linear = self.booster == "gblinear"
        # XGBoost would end with a stack of C++, or drop the trees.
        if first is not None and is_linear != (engine.params_of(first).get("booster") == "gblinear"):
            raise ValueError(
                "xgb_model: trees cannot continue a linear model, nor a linear model trees: give the booster= of "
                "xgb_model, or leave xgb_model out"
            )
        has_codes = first is not None and encoder.categories and "c" in (first.feature_types or ())
        if has_codes and known_encoder(xgb_model) is None and not engine.categories(first):
            warn(
                "xgb_model does not store the values of its categories, as XGBoost before 3.1 does not, so that their "
                "codes are those of X: give the LambdaRanker or what load returned, or the same pandas.CategoricalDtype"
            )
        if feature_weights is None:
            feature_weights = getattr(self, "feature_weights", None)
        data = self._matrix("sample_weight", training, encoder, feature_weights=feature_weights)
        evals = []
        for at, one in enumerate(valid):
            matrix = data
            if one is not training:
                matrix = self._matrix(f"sample_weight of eval_set[{at}]", one, encoder, data)
            evals.append((matrix, f"validation_{at}"))

        # The engine's own metrics by name, and one `custom_metric` of all measures and of callables
        # ``(y_true, y_score)`` of one query.
        names = [metric for metric in metrics if isinstance(metric, str)]
        evaluated = [metric for metric in metrics if callable(metric)]
        for at, metric in enumerate(evaluated):
            if not isinstance(metric, Measure):
                evaluated[at] = xgb.sklearn.ltr_metric_decorator(metric, self.n_jobs)

        def evaluate(scores: Any, data: Any) -> list[tuple[str, float]]:
            return [metric(scores, data) for metric in evaluated]

        # Early stopping by the first metric, unless it names another.
        first_name = metrics[0]
        if isinstance(first_name, Measure):
            first_name, _ = engine.metric_result(first_name.name, 0.0)
        elif callable(first_name):
            first_name = first_name.__name__
        if first_name in metrics[1:]:
            first_name += RENAMED
        callbacks = list(self.callbacks or ())
        if self.early_stopping_rounds:
            callbacks.append(xgb.callback.EarlyStopping(rounds=self.early_stopping_rounds))
        for at, callback in enumerate(callbacks):
            if isinstance(callback, xgb.callback.EarlyStopping) and callback.metric_name is None:
                callbacks[at] = copy.copy(callback)  # the caller may use it elsewhere
                callbacks[at].metric_name = first_name

        history: dict[str, Any] = {}
        params = with_min_leaf_size(self.get_xgb_params(), engine, objective, training.queries.n_documents)
        with xgb.config_context(verbosity=self.verbosity):
            booster = xgb.train(
                engine.settings(objective, params, names, continues=first is not None),
                data,
                self.get_num_boosting_rounds(),
                evals=evals,
                obj=objective if callable(objective) else None,
                custom_metric=evaluate if evaluated else None,
                evals_result=history,
                verbose_eval=verbose,
                xgb_model=first,
                callbacks=callbacks,
            )
        engine.set_booster(self, booster, history)
        self._fitted_objective, self._fitted = objective, encoder
        remember_rows(self, X, training.queries)
        return self

    def _matrix(
        self, weight: str, documents: Documents, encoder: Encoder, reference: Any = None, **more: Any
    ) -> Any:
        """The matrix that XGBRanker makes of the training data or a validation set; `weight` is for messages."""
        q, weights = documents.queries, None
        if q.weight is not None:
            weights = query_weights(weight, q.weight, q.sizes)
        data: Any = self._create_ltr_dmatrix(
            reference,
            engine.readable(documents.features),
            None,
            group=q.sizes,
            label=np.nan_to_num(q.labels[RELEVANCE]),
            weight=weights,
            base_margin=documents.init_score,
            missing=self.missing,
            enable_categorical=self.enable_categorical or bool(encoder.categories),
            feature_types=self.feature_types,
            **more,
        )
        return attach_queries(data, q)

    def _features(self, X: Any) -> Any:
        return engine.readable(super()._features(X))

    def apply(self, X: Any, iteration_range: Any = None) -> Any:
        """The leaf of each document in each tree, as by `XGBRanker.apply`."""
        reader = copy.copy(self)
        reader.enable_categorical = True  # without it XGBoost refuses the frame of the features
        return xgb.XGBRanker.apply(reader, self._features(X), iteration_range)
