"""`LambdaRanker`: XGBoost's scikit-learn ranker with lambdaboost's objectives, leaves, label sources and measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xgboost as xgb
from numpy.typing import ArrayLike
from xgboost.callback import EarlyStopping

from lambdaboost.datasets.columns import query_weights
from lambdaboost.datasets.engines import queries_of
from lambdaboost.datasets.named_columns import QID, NamedColumns, Rows, names_in
from lambdaboost.engines.estimator import OWN, listed, scored_queries
from lambdaboost.engines.eval_sets import EvalSet, eval_sets
from lambdaboost.engines.grades import scores_of
from lambdaboost.engines.labels import Labels, checked_positions
from lambdaboost.engines.leaks import warn_of_leaks
from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.metric_names import measure_named
from lambdaboost.engines.native import read_objective
from lambdaboost.engines.parameters import refuse_misspelt_own
from lambdaboost.engines.plan import DEFAULT_MEASURE, Metric
from lambdaboost.engines.saving import in_use
from lambdaboost.evaluation import Measure, parse
from lambdaboost.objectives import LambdaRank, Objective
from lambdaboost.objectives.mcrank import GradeModel
from lambdaboost.xgboost._engine import ENGINE
from lambdaboost.xgboost._private import evaluation_matrices, ltr_metric_decorator, take_over
from lambdaboost.xgboost.dmatrix import split_labels
from lambdaboost.xgboost.training import train

LabelSources = Mapping[str, ArrayLike] | None


class LambdaRanker(xgb.XGBRanker):
    """An `xgboost.XGBRanker` with the objectives and measures of lambdaboost.

    It can be cloned, pickled, and used in a grid search; ``save_model`` saves the trees, not the objective. The columns
    `query`, `sources` and `position` are no features. scikit-learn splits them with the rows:
    ``GridSearchCV(LambdaRanker(query="srch_id"), grid, cv=GroupKFold(5)).fit(X, y, groups=X["srch_id"])``. Any measure
    can be the ``scoring=``; the default is `score`. Queries, sources and positions can also be given to `fit` as
    arrays, in place of columns. A ranker fitted on a DataFrame takes its features from later ones by name, in any
    order.

    Parameters
    ----------
    objective : Objective or str
        An objective or its text, such as ``"graded"``; also `McRank` and `OrdinalMcRank`; or XGBoost's own,
        ``"rank:ndcg"``, ``"rank:pairwise"`` or ``"rank:map"``.
    leaves : "engine", "gradient" or "newton"
        As in `lambdaboost.xgboost.train`; predictions have one column in each.
    query : str
        The column of a pandas or polars DataFrame that holds the query of each row.
    sources : list of str, or dict of str to str, optional
        The columns of further label sources, or the column of each source by name.
    position : str, optional
        The column of the positions at which rows were shown, as of `Queries`.
    eval_metric : measure, str, callable or list of them, optional
        Measures or their text, such as ``"NDCG(k=3)"`` or ``"mrr@10"``; XGBoost's own metrics by their names, which are
        in lower case; or callables ``(y_true, y_score)`` of one query, as in XGBRanker. By default NDCG(3). Early
        stopping uses the first one; measures are maximised.
    **parameters
        Those of XGBRanker: ``n_estimators=``, ``learning_rate=``, ``early_stopping_rounds=``, ….

    Examples
    --------
    >>> from lambdaboost import NDCG
    >>> X, y = [[0.1], [0.9], [0.4], [0.2]], [0, 2, 1, 0]
    >>> ranker = LambdaRanker(objective=LambdaRank(NDCG(3)), n_estimators=2, min_child_weight=0, n_jobs=1)
    >>> ranker.fit(X, y, group=[4]).predict(X).argmax()
    np.int64(1)

    """

    def __init__(
        self,
        *,
        objective: Objective | GradeModel | str = LambdaRank(),
        leaves: Leaves = "engine",
        query: str = QID,
        sources: Sequence[str] | Mapping[str, str] | None = None,
        position: str | None = None,
        **parameters: Any,
    ) -> None:
        # XGBRanker refuses callables here, and only here.
        super().__init__(objective="rank:ndcg", **parameters)
        self.objective = objective
        self.leaves = leaves
        self.query = query
        self.sources = sources
        self.position = position

    def get_xgb_params(self) -> dict[str, Any]:
        """The engine's own parameters."""
        return {
            name: value
            for name, value in super().get_xgb_params().items()
            if name not in {*OWN, "eval_metric"}
        }

    def set_params(self, **params: Any) -> LambdaRanker:
        """Set parameters; those of a fitted ranker are also set in its booster, including XGBoost's own metrics."""
        super().set_params(**params)
        if self.__sklearn_is_fitted__():
            self.get_booster().set_param([("eval_metric", name) for name in _native(self.eval_metric)])
        return self

    def load_model(self, fname: Any) -> None:
        """Load the trees that `save_model` saved; the objective is not in the file, and stays unchanged."""
        objective = self.objective
        super().load_model(fname)
        self.objective = objective
        self.objective_ = read_objective(objective)
        self._fitted_columns = list(ENGINE.feature_names(self.get_booster()) or ()) or None

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        group: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        sources: LabelSources = None,
        position: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        base_margin: ArrayLike | None = None,
        eval_set: Sequence[tuple[Any, Any]] | None = None,
        eval_group: Sequence[ArrayLike] | None = None,
        eval_qid: Sequence[ArrayLike] | None = None,
        eval_sources: Sequence[LabelSources] | None = None,
        eval_position: Sequence[ArrayLike] | None = None,
        verbose: bool | int | None = False,
        xgb_model: Any = None,
        sample_weight_eval_set: Sequence[ArrayLike] | None = None,
        base_margin_eval_set: Sequence[ArrayLike] | None = None,
        feature_weights: ArrayLike | None = None,
    ) -> LambdaRanker:
        """Fit the ranker; the arguments are those of XGBRanker, and the label sources.

        Parameters
        ----------
        X, y
            Features and grades; NaN if a grade is missing. A pandas or polars DataFrame may also hold the columns
            `query`, `sources` and `position` of the ranker.
        group, qid
            The number of documents of each query, or the query of each row, the rows of a query adjacent.
        sources : mapping of str to array of shape (n_documents,), optional
            Further label sources that are no columns of X. In a grid search give a DataFrame, which scikit-learn
            splits with X.
        position : array of shape (n_documents,), optional
            Positions that are no column of X.
        sample_weight : array of shape (n_queries,), optional
            One weight per query; or one per row, equal within each query, which scikit-learn can split.
        eval_set, eval_group, eval_qid, eval_sources, eval_position, sample_weight_eval_set, base_margin_eval_set
            Lists of the same for the validation sets.
        verbose, xgb_model, base_margin, feature_weights
            As in `XGBRanker.fit`.

        Raises
        ------
        ValueError, TypeError
            As `lambdaboost.xgboost.train` and `XGBRanker.fit`.

        """
        native, metrics = _split_metrics(self.eval_metric, self.n_jobs)
        refuse_misspelt_own(self.get_params(), OWN, ENGINE.parameters())
        columns = NamedColumns.of(self)
        training = {"X": X, "group": group, "qid": qid}
        X, group, sources, position = columns.split_training(X, group, qid, sources, position)
        y, labels = split_labels(y, sources)
        lists = {
            "eval_group": eval_group,
            "eval_qid": eval_qid,
            "eval_sources": eval_sources,
            "eval_position": eval_position,
            "sample_weight_eval_set": sample_weight_eval_set,
            "base_margin_eval_set": base_margin_eval_set,
        }
        valid = [
            _Valid.of(
                of_set,
                of_set.rows(columns, names_in(X)),
                (X, group) if of_set.is_training(**training) else None,
            )
            for of_set in eval_sets(eval_set or [], lists)
        ]
        data, evals = evaluation_matrices(
            missing=self.missing,
            X=X,
            y=y,
            group=group,
            qid=None,
            sample_weight=_weights("sample_weight", sample_weight, group),
            base_margin=base_margin,
            feature_weights=getattr(self, "feature_weights", None)
            if feature_weights is None
            else feature_weights,
            eval_set=[(of_set.X, of_set.y) for of_set in valid],
            sample_weight_eval_set=[of_set.weight for of_set in valid],
            base_margin_eval_set=[of_set.base_margin for of_set in valid],
            eval_group=[of_set.group for of_set in valid],
            eval_qid=None,
            create_dmatrix=self._create_ltr_dmatrix,
            enable_categorical=self.enable_categorical,
            feature_types=self.feature_types,
        )
        _attach("sources", data, labels)
        data.positions = checked_positions(position, data.num_row())
        for i, ((matrix, _), of_set) in enumerate(zip(evals, valid, strict=True)):
            _attach(f"eval_sources[{i}]", matrix, of_set.labels)
            if matrix is not data:
                matrix.positions = checked_positions(of_set.position, matrix.num_row())
        objective = read_objective(self.objective)
        if isinstance(data, xgb.QuantileDMatrix):  # training cannot read single features from it
            warn_of_leaks(X, queries_of(data))
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
                **self._stopping(evals, native, metrics),
            )
        take_over(self, booster, evals_result)
        self.objective_, self.leaves_, self._fitted_columns = objective, self.leaves, names_in(X)
        return self

    def _features(self, X: Any) -> Any:
        return NamedColumns.of(self).features(X, getattr(self, "_fitted_columns", None))

    def _stopping(self, evals: Sequence[Any], native: list[str], metrics: list[Metric]) -> dict[str, Any]:
        """The arguments of `train` for early stopping by the first of `eval_metric`."""
        callbacks, rounds = self.callbacks, self.early_stopping_rounds
        if (
            rounds
            and evals
            and native
            and metrics
            and not isinstance(_metric(listed(self.eval_metric)[0]), str)
        ):
            # XGBoost evaluates its own metrics first.
            first = metrics[0]
            name = first._xgboost_name if isinstance(first, Measure) else first.__name__
            stopping = EarlyStopping(rounds=rounds, metric_name=name)
            callbacks, rounds = [*(callbacks or []), stopping], None
        return {"callbacks": callbacks, "early_stopping_rounds": rounds}

    def predict(self, X: Any, **arguments: Any) -> Any:
        """Scores of documents, as by `XGBRanker.predict`; of a DataFrame, the features are taken by name."""
        predicted = super().predict(self._features(X), **arguments)
        # `objective` may have been changed since `fit`.
        return predicted if arguments.get("output_margin") else scores_of(ENGINE, self.objective_, predicted)

    def apply(self, X: Any, iteration_range: Any = None) -> Any:
        """The leaf of each document in each tree, as by `XGBRanker.apply`."""
        return super().apply(self._features(X), iteration_range)

    def score(self, X: Any, y: ArrayLike, *, group: Any = None, qid: Any = None) -> float:
        """The first measure of `eval_metric`, by default NDCG(3), for documents X and grades y.

        Give the queries as `group`, as `qid`, or as the column `query` of a DataFrame.
        """
        native, metrics = _split_metrics(self.eval_metric, self.n_jobs)
        X, q = scored_queries(NamedColumns.of(self), X, y, group, qid, metrics[0] if metrics else None)
        if metrics and isinstance(metrics[0], Measure):
            return metrics[0](self.predict(X), q)
        if not native and not metrics:
            return DEFAULT_MEASURE(self.predict(X), q)
        data = xgb.DMatrix(
            self._features(X),
            y,
            group=q.sizes,
            missing=self.missing,
            enable_categorical=self.enable_categorical,
        )
        if metrics:
            return float(metrics[0](self.predict(X), data)[1])
        evaluated = xgb.Booster(
            {"eval_metric": native, "disable_default_eval_metric": True},
            model_file=in_use(self).save_raw(),
        )
        return float(evaluated.eval(data).split(":")[1].split()[0])


class _Valid(NamedTuple):
    """A validation set as `evaluation_matrices` takes it, its further labels and its positions."""

    X: Any
    y: Any
    group: Any
    weight: Any
    base_margin: Any
    labels: Labels
    position: Any

    @classmethod
    def of(cls, given: EvalSet, rows: Rows, trained: tuple[Any, Any] | None) -> _Valid:
        """The set `given`; `trained` holds X and group of the training if the set has them."""
        y, labels = split_labels(given.y, rows.sources)
        # XGBoost makes no second matrix of the training data if it finds the very same objects.
        X, group = trained or (rows.features, rows.sizes)
        weight = _weights(f"sample_weight_{given.name}", given.items.get("sample_weight"), group)
        return cls(X, y, group, weight, given.items.get("base_margin"), labels, rows.position)


def _weights(name: str, weight: Any, sizes: Any) -> Any:
    if weight is None or sizes is None:
        return weight
    return query_weights(name, weight, sizes, int(np.sum(sizes)))


def _metric(metric: Any) -> Any:
    """A metric, the measure that its text stands for, or the name of one of XGBoost's own, in lower case."""
    if not isinstance(metric, str):
        return metric
    return (measure_named(ENGINE, metric) or metric) if metric == metric.lower() else parse(metric)


def _native(eval_metric: Any) -> list[str]:
    """XGBoost's own metrics, by name."""
    return [metric for metric in map(_metric, listed(eval_metric)) if isinstance(metric, str)]


def _split_metrics(eval_metric: Any, n_jobs: int | None) -> tuple[list[str], list[Metric]]:
    """The names of XGBoost's own metrics in `eval_metric`, and its measures and callables."""
    others = [metric for metric in map(_metric, listed(eval_metric)) if not isinstance(metric, str)]
    metrics: list[Metric] = [
        metric if isinstance(metric, Measure) else ltr_metric_decorator(metric, n_jobs) for metric in others
    ]
    return _native(eval_metric), metrics


def _attach(name: str, data: xgb.DMatrix, labels: Labels) -> None:
    for source, values in labels.items():
        if values.size != data.num_row():
            raise ValueError(
                f"{name}[{source!r}] has {values.size} rows, X has {data.num_row()}: give one label per document"
            )
    if labels:
        # The training data may be evaluated too.
        data.sources = labels | (getattr(data, "sources", None) or {})
