"""`LambdaRanker`: XGBoost's scikit-learn ranker with lambdaboost's objectives, leaves, label sources and measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import xgboost as xgb
from numpy.typing import ArrayLike
from xgboost.callback import EarlyStopping

from lambdaboost._xgboost import metric_of_queries, take_over
from lambdaboost.calls.callback import xgboost_name
from lambdaboost.calls.data import queries_of
from lambdaboost.datasets.named_columns import NamedColumns
from lambdaboost.engines.job import DEFAULT_MEASURE, Metric
from lambdaboost.engines.leaks import warn_of_leaks
from lambdaboost.engines.metric_names import measure_named, metrics_in
from lambdaboost.engines.native import read_objective
from lambdaboost.engines.ranker import OWN, Part, Ranker, categories_of
from lambdaboost.engines.saving import in_use
from lambdaboost.evaluation import Measure, parse
from lambdaboost.xgboost.data import fields_of
from lambdaboost.xgboost.engine import ENGINE
from lambdaboost.xgboost.training import train

Sources = Mapping[str, ArrayLike] | None
# Arguments of `predict` that XGBRanker does not have, but its booster.
OF_BOOSTER = {"pred_contribs", "approx_contribs", "pred_interactions", "pred_leaf"}


class LambdaRanker(Ranker, xgb.XGBRanker):
    """An `xgboost.XGBRanker` with the objectives and measures of lambdaboost.

    ``save_model`` saves the trees, not the objective.

    Parameters
    ----------
    {PARAMETERS}
    eval_metric : measure, str, callable or list of them, optional
        Measures or their text, such as ``"NDCG(k=3)"`` or ``"mrr@10"``; XGBoost's own metrics by their names, which are
        in lower case; or callables ``(y_true, y_score)`` of one query, as in XGBRanker. By default NDCG(3). Early
        stopping uses the first one; measures are maximised.
    **parameters
        Those of XGBRanker: ``n_estimators=``, ``learning_rate=``, ``early_stopping_rounds=``, ….

    Notes
    -----
    {NOTES}

    Examples
    --------
    >>> from lambdaboost import LambdaRank, NDCG
    >>> X, y = [[0.1], [0.9], [0.4], [0.2]], [0, 2, 1, 0]
    >>> ranker = LambdaRanker(objective=LambdaRank(NDCG(3)), n_estimators=2, min_child_weight=0, n_jobs=1)
    >>> ranker.fit(X, y, group=[4]).predict(X).argmax()
    np.int64(1)

    """

    _engine, _stock = ENGINE, xgb.XGBRanker
    _identity = ("X", "y", "group", "qid", "sample_weight", "base_margin")
    _of_rows = ("sample_weight", "base_margin")

    def get_xgb_params(self) -> dict[str, Any]:
        """The engine's own parameters."""
        own = {*OWN, "eval_metric"}
        return {name: value for name, value in super().get_xgb_params().items() if name not in own}

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the objective: ``objective__weight=0.1``.

        Those of a fitted ranker are also set in its booster, including XGBoost's own metrics.
        """
        super().set_params(**params)
        if self.__sklearn_is_fitted__():
            names = [name for name in self._metrics() if isinstance(name, str)]
            self.get_booster().set_param([("eval_metric", name) for name in names])
        return self

    def load_model(self, fname: Any) -> None:
        """Load the trees that `save_model` saved; the objective is not in the file, and stays unchanged."""
        objective = self.objective
        super().load_model(fname)
        self.objective = objective
        self._note(read_objective(objective), None)
        self._fitted_columns = list(ENGINE.feature_names(self.get_booster()) or ()) or None
        self._fitted_categories = ENGINE.categories(self.get_booster()) or None

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        group: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        sources: Sources = None,
        position: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        base_margin: ArrayLike | None = None,
        eval_set: Sequence[tuple[Any, Any]] | None = None,
        eval_group: Sequence[ArrayLike] | None = None,
        eval_qid: Sequence[ArrayLike] | None = None,
        eval_sources: Sequence[Sources] | None = None,
        eval_position: Sequence[ArrayLike] | None = None,
        verbose: bool | int | None = False,
        xgb_model: Any = None,
        sample_weight_eval_set: Sequence[ArrayLike] | None = None,
        base_margin_eval_set: Sequence[ArrayLike] | None = None,
        feature_weights: ArrayLike | None = None,
    ) -> Self:
        """Fit the ranker.

        {FIT}
        verbose, xgb_model, base_margin, base_margin_eval_set, feature_weights
            As in `XGBRanker.fit`.

        Raises
        ------
        ValueError, TypeError
            As `lambdaboost.xgboost.train` and `XGBRanker.fit`.

        """
        objective, part, sets = self._prepared(locals(), eval_set or [])
        requested = self._metrics()
        native = [metric for metric in requested if isinstance(metric, str)]
        metrics = [metric for metric in requested if not isinstance(metric, str)]
        first_of_all = metrics[0] if sets and native and not isinstance(requested[0], str) else None
        of_features = getattr(self, "feature_weights", None) if feature_weights is None else feature_weights
        data = self._matrix(part, feature_weights=of_features)
        evals = [
            (data if one is None else self._matrix(one, data), f"validation_{i}")
            for i, one in enumerate(sets)
        ]
        if isinstance(data, xgb.QuantileDMatrix):  # training cannot read single features from it
            warn_of_leaks(lambda: (part.rows.features, queries_of(data)))
        evals_result: dict[str, Any] = {}
        with xgb.config_context(verbosity=self.verbosity):
            booster = train(
                self.get_xgb_params() | ({"eval_metric": native} if native else {}),
                data,
                self.get_num_boosting_rounds(),
                objective=objective,
                leaves=self.leaves,
                evals=evals,
                custom_metric=metrics or None,
                evals_result=evals_result,
                verbose_eval=verbose,
                xgb_model=xgb_model.get_booster() if isinstance(xgb_model, xgb.XGBModel) else xgb_model,
                **self._stopping(first_of_all),
            )
        take_over(self, booster, evals_result)
        self._note(objective, part.rows.features)
        return self

    def _matrix(self, part: Part, reference: xgb.DMatrix | None = None, **more: Any) -> xgb.DMatrix:
        """The matrix that XGBRanker makes of the training data or a validation set, with what it carries beside."""
        X, sizes, sources, position = part.rows
        given = {"group": sizes, "weight": part.items["sample_weight"]}
        weight = f"sample_weight_{part.name}" if part.name else "sample_weight"
        fields, carried, positions = fields_of(X, part.items["y"], sources, position, given, weight)
        data: Any = self._create_ltr_dmatrix(
            reference,
            X,
            **fields,
            base_margin=part.items["base_margin"],
            missing=self.missing,
            enable_categorical=self.enable_categorical or bool(categories_of(X)),
            feature_types=self.feature_types,
            **more,
        )
        data.sources, data.positions = carried, positions
        return data

    def _metrics(self) -> list[Any]:
        """`eval_metric` in its order: the names of XGBoost's own metrics, measures, and callables of a matrix."""
        read = [_read(metric) for metric in metrics_in("eval_metric", self.eval_metric)]
        return [
            one if isinstance(one, str | Measure) else metric_of_queries(one, self.n_jobs) for one in read
        ]

    def _stopping(self, first_of_all: Metric | None) -> dict[str, Any]:
        """The arguments of `train` for early stopping, by a metric that XGBoost evaluates after its own."""
        callbacks, rounds = self.callbacks, self.early_stopping_rounds
        if rounds and first_of_all is not None:
            name = xgboost_name(first_of_all) if isinstance(first_of_all, Measure) else first_of_all.__name__
            callbacks, rounds = [*(callbacks or []), EarlyStopping(rounds=rounds, metric_name=name)], None
        return {"callbacks": callbacks, "early_stopping_rounds": rounds}

    def predict(self, X: Any, **arguments: Any) -> Any:
        """Scores as by `XGBRanker.predict`, of a DataFrame by the names of features; or what ``pred_contribs=`` asks.

        ``pred_contribs``, ``approx_contribs``, ``pred_interactions`` and ``pred_leaf`` are those of `xgboost.Booster`,
        with the rounds up to the best after early stopping.
        """
        if OF_BOOSTER.isdisjoint(arguments):
            return super().predict(X, **arguments)
        return in_use(self).predict(self._unlabelled(X), **arguments)

    def apply(self, X: Any, iteration_range: Any = None) -> Any:
        """The leaf of each document in each tree, as by `XGBRanker.apply`."""
        return super().apply(self._features(X), iteration_range)

    def score(self, X: Any, y: ArrayLike, *, group: Any = None, qid: Any = None) -> float:
        """The first measure of `eval_metric`, by default NDCG(3), for documents X and grades y.

        Give the queries as `group`, as `qid`, or as the column `query` of a DataFrame.
        """
        first: Any = min(self._metrics(), key=lambda metric: isinstance(metric, str), default=DEFAULT_MEASURE)
        if isinstance(first, Measure):
            return self._measured(first, X, y, group, qid)
        sizes = NamedColumns.of(self).scored(X, y, DEFAULT_MEASURE, group, qid).sizes
        data = self._unlabelled(X, label=y, group=sizes)
        if callable(first):
            return float(first(self.predict(X), data)[1])
        params = {"eval_metric": first, "disable_default_eval_metric": True}
        evaluated = xgb.Booster(params, model_file=in_use(self).save_raw())
        return float(evaluated.eval(data).split(":")[1])

    def _unlabelled(self, X: Any, **labels: Any) -> xgb.DMatrix:
        return xgb.DMatrix(self._features(X), missing=self.missing, enable_categorical=True, **labels)


def _read(metric: Any) -> Any:
    """A metric, the measure that its text stands for, or the name of one of XGBoost's own, in lower case."""
    if not isinstance(metric, str):
        return metric
    return (measure_named(ENGINE, metric) or metric) if metric == metric.lower() else parse(metric)
