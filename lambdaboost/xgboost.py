"""XGBoost: the scikit-learn ranker `LambdaRanker`, and what the library itself needs of a training and a booster.

>>> from lambdaboost import NDCG, LambdaRank
>>> from lambdaboost.xgboost import LambdaRanker
>>> X, y = [[0.1], [0.9], [0.4], [0.2]], [0, 2, 1, 0]
>>> ranker = LambdaRanker(objective=LambdaRank(NDCG(3)), n_estimators=2, min_child_weight=0, n_jobs=1)
>>> ranker.fit(X, y, group=[4]).predict(X).argmax()
np.int64(1)
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost import _xgboost
from lambdaboost._installed import package
from lambdaboost.callback import SECOND, columns_of, xgboost_name
from lambdaboost.datasets import Collection, Queries
from lambdaboost.datasets.arrays import feature_array, query_weights
from lambdaboost.datasets.columns import QUERY
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engine_data import rows_in
from lambdaboost.evaluation import Measure
from lambdaboost.native import NativeObjective
from lambdaboost.objectives import LambdaRank, Objective
from lambdaboost.ranker import (
    DEFAULT_MEASURE,
    OWN,
    Documents,
    Ranker,
    RowFields,
    attach_queries,
    read_metrics,
)
from lambdaboost.saving import booster_in_use
from lambdaboost.traps import with_min_leaf_size

xgb = package("xgboost")

__all__ = ["LambdaRanker"]

NAME, TITLE, NATIVE = "xgboost", "XGBoost", "rank:ndcg"
PARAMETERS = _xgboost.parameter_names()  # empty if unknown
# Those for which `tune` and the command line have their own arguments.
RESERVED = frozenset({"disable_default_eval_metric"}).union(
    *(_xgboost.ALIASES[concept] for concept in ("objective", "metric", "rounds", "early stopping", "seed"))
)
UNNAMED, BLANK = "f{}", " "  # its names of features that were given none, and what it keeps for a blank
MIN_LEAF_SIZE = _xgboost.ALIASES["least leaf"]


class LambdaRanker(Ranker, xgb.XGBRanker):  # type: ignore[name-defined]
    """An `xgboost.XGBRanker` with the objectives and measures of lambdaboost.

    ``save_model`` saves the trees, not the objective.

    Parameters
    ----------
    objective : Objective or str
        An objective or its text, such as ``"graded"``; or XGBoost's own ``"rank:ndcg"``, ``"rank:pairwise"``,
        ``"rank:map"``.
    query : str
        The column of a pandas, polars or pyarrow table that holds the query of each row.
    sources : list of str, or dict of str to str, optional
        The columns of further label sources, or the column of each source by name.
    position : str, optional
        The column of the positions at which rows were shown, as of `Queries`.
    unseen : "error" or "missing"
        What a category is, in validation sets and in `predict`, that training did not have; ``"missing"`` says in one
        warning how many rows have one.
    eval_metric : measure, str, callable or list of them, optional
        Measures or their text, such as ``"NDCG(k=3)"`` or ``"mrr@10"``; XGBoost's own metrics by their names; or
        callables ``(y_true, y_score)`` of one query, as in XGBRanker. By default NDCG(3). Early stopping uses the first
        one; measures are maximised.
    **kwargs
        Those of XGBRanker: ``n_estimators=``, ``learning_rate=``, ``early_stopping_rounds=``, ….

    Notes
    -----
    The columns `query`, `sources` and `position` are no features. scikit-learn splits them with the rows:
    ``GridSearchCV(LambdaRanker(query="srch_id"), grid, cv=GroupKFold(5)).fit(X, y, groups=X["srch_id"])``. Any measure
    can be the ``scoring=``. A ranker fitted on a DataFrame takes its features from later ones by name, in any order.

    """

    _title, _parameter_names = TITLE, PARAMETERS
    _lists = RowFields(
        *("eval_group", "eval_qid", "eval_sources", "eval_position"),
        *("sample_weight_eval_set", "base_margin_eval_set"),
    )
    _inherited = ("sources", "position")

    def __init__(
        self,
        *,
        objective: Objective | str = LambdaRank(),
        query: str = QUERY,
        sources: Sequence[str] | Mapping[str, str] | None = None,
        position: str | None = None,
        unseen: str = "error",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.objective = objective  # XGBRanker's own __init__ refuses callables
        self.query, self.sources, self.position, self.unseen = query, sources, position, unseen

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        # XGBoost's own changes the class of a copy to its first base, which before 3.0 must be an XGBModel.
        params = {name: getattr(self, name) for name in (*OWN, *xgb.XGBModel._get_param_names())}
        return params | (getattr(self, "kwargs", None) or {})

    def get_xgb_params(self) -> dict[str, Any]:
        """The engine's own parameters."""
        own = {*OWN, "eval_metric"}
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
        columns = replace(columns_of(self), features=feature_names(booster), categories=categories(booster))
        self._note(self._objective_to_fit(), columns)

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        group: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        sources: Any = None,
        position: Any = None,
        sample_weight: ArrayLike | None = None,
        base_margin: ArrayLike | None = None,
        eval_set: Any = None,
        eval_group: Sequence[Any] | None = None,
        eval_qid: Sequence[Any] | None = None,
        eval_sources: Sequence[Any] | None = None,
        eval_position: Sequence[Any] | None = None,
        verbose: bool | int | None = False,
        xgb_model: Any = None,
        sample_weight_eval_set: Sequence[Any] | None = None,
        base_margin_eval_set: Sequence[Any] | None = None,
        feature_weights: ArrayLike | None = None,
    ) -> Self:
        """Fit the ranker.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features. A pandas, polars or pyarrow table may also hold the columns
            `query`, `sources` and `position` of the ranker.
        y : array of shape (n_rows,)
            Grades, or NaN if missing; below 0 only for objectives of their order, such as `RankNet`.
        group, qid
            The number of documents of each query, or the query of each row; give one of them, or the column.
        sources : mapping of str to array of shape (n_rows,), or DataFrame, optional
            Further label sources that are no columns of X.
        position : array of shape (n_rows,), optional
            Positions that are no column of X.
        sample_weight : array of shape (n_rows,) or (n_queries,), optional
            Weight of each query, or of each row, equal within a query.
        eval_set : (X, y) or list of them, optional
            Validation sets.
        eval_group, eval_qid, eval_sources, eval_position, sample_weight_eval_set, base_margin_eval_set : lists
            What belongs to them, one item for each set.
        base_margin, verbose, xgb_model, feature_weights
            As in `XGBRanker.fit`.

        Raises
        ------
        ValueError, TypeError
            Before the first round, if an argument is wrong, or the engine would silently do something else
            (docs/traps.md).

        """
        given = RowFields(group, qid, sources, position, sample_weight, base_margin)
        lists = RowFields(
            eval_group, eval_qid, eval_sources, eval_position, sample_weight_eval_set, base_margin_eval_set
        )
        first_model = None if xgb_model is None else booster_of(xgb_model)
        objective, training, valid = self._read(X, y, given, eval_set, lists, xgb_model)
        metrics = read_metrics("eval_metric", self.eval_metric, _is_own) or [DEFAULT_MEASURE]
        for one in valid:
            one.check("eval_sources", metrics, self.n_jobs)
        of_features = getattr(self, "feature_weights", None) if feature_weights is None else feature_weights
        data = self._matrix(training, feature_weights=of_features)
        evals = [
            (data if one is training else self._matrix(one, data), f"validation_{at}")
            for at, one in enumerate(valid)
        ]
        history: dict[str, Any] = {}
        params = with_min_leaf_size(
            self.get_xgb_params(), MIN_LEAF_SIZE, objective, training.queries.n_documents
        )
        with xgb.config_context(verbosity=self.verbosity):
            booster = xgb.train(
                _settings(
                    params, objective, [metric for metric in metrics if isinstance(metric, str)], first_model
                ),
                data,
                self.get_num_boosting_rounds(),
                evals=evals,
                obj=None if isinstance(objective, NativeObjective) else objective,
                custom_metric=_metric([metric for metric in metrics if callable(metric)], self.n_jobs),
                evals_result=history,
                verbose_eval=verbose,
                xgb_model=first_model,
                callbacks=self._callbacks(metrics),
            )
        _xgboost.take_over(self, booster, history)
        self._note(objective, training.columns)
        return self

    def _matrix(self, documents: Documents, reference: Any = None, **more: Any) -> Any:
        """The matrix that XGBRanker makes of the training data or a validation set."""
        name, features, q, start, fitted = documents
        data: Any = self._create_ltr_dmatrix(
            reference,
            features,
            None,
            group=q.sizes,
            label=np.nan_to_num(q.labels[RELEVANCE]),
            weight=_query_weights("sample_weight" if name == "X" else f"sample_weight of {name}", q),
            base_margin=None if start is None else np.asarray(start, dtype=np.float64),
            missing=self.missing,
            enable_categorical=self.enable_categorical or bool(fitted.categories),
            feature_types=self.feature_types,
            **more,
        )
        return attach_queries(data, q)

    def _callbacks(self, metrics: Sequence[Any]) -> list[Any]:
        """The user's callbacks, and early stopping by the first metric, unless it names another."""
        name = metrics[0] if isinstance(metrics[0], str) else _name_of(metrics[0])
        if name in metrics[1:]:
            name += SECOND
        found = list(self.callbacks or [])
        if self.early_stopping_rounds:
            found.append(xgb.callback.EarlyStopping(rounds=self.early_stopping_rounds))
        for at, callback in enumerate(found):
            if isinstance(callback, xgb.callback.EarlyStopping) and callback.metric_name is None:
                found[at] = copy.copy(callback)  # the caller may use it elsewhere
                found[at].metric_name = name
        return found

    def predict(self, X: Any, **arguments: Any) -> Any:
        """Scores as by `XGBRanker.predict`, or what ``pred_contribs=`` or ``pred_leaf=`` of `xgboost.Booster` ask."""
        if not any(name.startswith(("pred_", "approx_")) for name in arguments):
            return super().predict(X, **arguments)
        data = xgb.DMatrix(self._features(X), missing=self.missing, enable_categorical=True)
        return booster_in_use(self).predict(data, **arguments)

    def apply(self, X: Any, iteration_range: Any = None) -> Any:
        """The leaf of each document in each tree, as by `XGBRanker.apply`."""
        return super().apply(self._features(X), iteration_range)


def _query_weights(name: str, q: Queries) -> Any:
    """One weight for each query, as XGBoost takes them; None without any."""
    return None if q.weight is None else query_weights(name, q.weight, q.sizes)


def _is_own(text: str) -> bool:
    """Whether a text names one of XGBoost's own metrics, such as ``"ndcg@3"``."""
    return text.partition("@")[0] in _xgboost.METRICS


def _name_of(metric: Any) -> str:
    return xgboost_name(metric) if isinstance(metric, Measure) else str(metric.__name__)


def _metric(
    metrics: Sequence[Any], n_jobs: int | None
) -> Callable[[Any, Any], list[tuple[str, float]]] | None:
    """All measures, and callables ``(y_true, y_score)`` of one query, as one ``custom_metric``."""
    called = [
        metric if isinstance(metric, Measure) else _xgboost.metric_of_queries(metric, n_jobs)
        for metric in metrics
    ]

    def evaluate(scores: Any, data: Any) -> list[tuple[str, float]]:
        return [metric(scores, data) for metric in called]

    return evaluate if called else None


def _settings(
    params: Mapping[str, Any], objective: Any, metrics: Sequence[str], first_model: Any
) -> dict[str, Any]:
    """The parameters of `xgboost.train` for an objective, with safe defaults."""
    # The default metrics of ranking objectives refuse grades above 31.
    own = {"eval_metric": list(metrics)} if metrics else {"disable_default_eval_metric": True}
    if isinstance(objective, NativeObjective):
        return {**own, **params, "objective": objective.name}
    # The name sets the task of the model; the gradients are lambdaboost's. XGBoost starts custom objectives at 0.5 and
    # fits no intercept; a continued model has one already.
    start = {"base_score": 0.0} if first_model is None and params.get("base_score") is None else {}
    return {**own, **params, **start, "objective": NATIVE}


# What `tune`, the command line and saved models need.


def dataset(collection: Collection, reference: Any = None, named: bool = False) -> Any:
    """The matrix of a collection, `named` with its names."""
    q, features = collection.queries, collection.table(UNNAMED)
    given = {"group": q.sizes, "weight": _query_weights("weight", q), "enable_categorical": True}
    data = xgb.DMatrix(features, np.nan_to_num(q.labels[RELEVANCE]), **given)
    # Without names arrays of codes are scored too.
    data.feature_names = list(collection.feature_names or ()) if named else None
    return attach_queries(data, q)


OnRound = Callable[[float | None], bool | None]


class _EachRound(xgb.callback.TrainingCallback):  # type: ignore[name-defined]
    def __init__(self, on_round: OnRound) -> None:
        super().__init__()
        self.on_round = on_round

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Whether to stop after this round."""
        of_valid = evals_log.get("valid", {})
        values = next(iter(of_valid.values()), None)
        return bool(self.on_round(None if values is None else float(values[-1])))


def boost(
    objective: Any,
    params: Mapping[str, Any],
    rounds: int,
    data: Any,
    valid: Any = None,
    measure: Measure | None = None,
    early_stopping: int | None = None,
    on_round: OnRound | None = None,
) -> Any:
    """The booster of `xgboost.train`, without output; after early stopping it ends at its best round.

    `on_round` is called after every round with the measure of the validation data, if there are any; where it returns
    True the training ends with this round.
    """
    booster = xgb.train(
        _settings(
            with_min_leaf_size(params, MIN_LEAF_SIZE, objective, rows_in(data) or 0), objective, (), None
        ),
        data,
        rounds,
        evals=[] if valid is None else [(valid, "valid")],
        obj=None if isinstance(objective, NativeObjective) else objective,
        custom_metric=None if valid is None else measure,
        early_stopping_rounds=early_stopping,
        verbose_eval=False,
        callbacks=None if on_round is None else [_EachRound(on_round)],
    )
    return booster if early_stopping is None else booster[: booster.best_iteration + 1]


def booster_of(model: Any) -> Any:
    """The booster of a ranker, of a booster, or of a model file."""
    booster = model.get_booster() if isinstance(model, xgb.XGBModel) else model
    return booster if isinstance(booster, xgb.Booster) else xgb.Booster(model_file=booster)


def best_round(booster: Any) -> int | None:
    """The number of rounds up to the best one; None if it did not stop early."""
    best = booster.attr("best_iteration")
    return None if best is None else int(best) + 1


def n_rounds(booster: Any) -> int:
    """The number of rounds of a booster that is saved."""
    return int(booster.num_boosted_rounds())


def scores(booster: Any, features: Any, rounds: int | None = None) -> NDArray[np.floating]:
    """The scores after `rounds`, by default the best ones, shape (n_documents,)."""
    # By default up to the best round after early stopping, as XGBRanker predicts.
    up_to = (0, rounds or best_round(booster) or 0)
    features = features if hasattr(features, "columns") else feature_array(features)
    data = xgb.DMatrix(features, feature_names=booster.feature_names)
    return np.asarray(booster.predict(data, output_margin=True, iteration_range=up_to))


def predict(booster: Any, X: Any, params: Mapping[str, Any]) -> Any:
    """The predictions of a `LambdaRanker` with these parameters, bit for bit."""
    # In place if XGBoost can, which rounds differently than with a DMatrix.
    missing = params.get("missing", np.nan)
    try:
        return booster.inplace_predict(X, missing=missing)
    except (TypeError, xgb.core.XGBoostError):  # sparse matrices of some kinds, linear models
        return booster.predict(xgb.DMatrix(X, missing=missing, enable_categorical=True))


def write(booster: Any, suffix: str) -> bytes:
    """The bytes of the booster's file, in JSON if its name ends so."""
    return bytes(booster.save_raw(raw_format="json" if suffix == ".json" else "ubj"))


def read(content: bytes) -> Any:
    """Load a booster from the bytes of its file."""
    return xgb.Booster(model_file=bytearray(content))


def feature_names(booster: Any) -> tuple[str, ...] | None:
    """Names of the features, or None if the booster has none."""
    names = tuple(booster.feature_names or ())
    return None if names == tuple(map(UNNAMED.format, range(len(names)))) else names


def categories(booster: Any) -> dict[str, list[Any]]:
    """The values of each categorical feature that the booster itself stores."""
    try:  # stored since XGBoost 3.1, and not with a linear model
        arrow = dict(booster.get_categories(export_to_arrow=True).to_arrow())
    except (AttributeError, ImportError, xgb.core.XGBoostError):
        return {}
    return {name: values.to_pylist() for name, values in arrow.items() if values is not None}


def n_features(booster: Any) -> int:
    """The number of features."""
    return int(booster.num_features())
