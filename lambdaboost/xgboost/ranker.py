"""`LambdaRanker`: XGBRanker with any objective of this package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import ArrayLike
from xgboost.sklearn import _wrap_evaluation_matrices

from lambdaboost.datasets import Queries
from lambdaboost.datasets.columns import given_qid, part_qid, query_weights, sizes_of
from lambdaboost.datasets.engines import queries_of
from lambdaboost.engines.leaks import warn_of_leaks
from lambdaboost.engines.leaves import Leaves
from lambdaboost.evaluation import Measure, parse
from lambdaboost.objectives import LambdaRank, Objective
from lambdaboost.xgboost._arguments import DEFAULT_MEASURE
from lambdaboost.xgboost._mcrank import scores_of, trainer_of
from lambdaboost.xgboost.dmatrix import Sources, part_labels

LabelSources = Mapping[str, ArrayLike] | None
# Arguments of ours that are no parameters of the engine.
_OURS = ("objective", "leaves", "eval_metric")


class LambdaRanker(xgb.XGBRanker):
    """An `xgboost.XGBRanker` that takes the objectives and measures of this package.

    A scikit-learn estimator as XGBRanker is: clone, pickle, grid search, ``save_model`` (which saves the trees, not the
    objective). Queries come as ``group=``, as ``qid=``, or as column ``qid`` of a pandas or polars DataFrame, which
    scikit-learn then splits with its rows: ``GridSearchCV(LambdaRanker(), grid, cv=GroupKFold(5)).fit(X, y,
    groups=X["qid"])``. Any measure is a ``scoring=``; without one, `score` is.

    Parameters
    ----------
    objective : Objective or str
        An objective or its text, such as ``"graded"``; `McRank` and `OrdinalMcRank` too.
    leaves : "engine", "gradient" or "newton"
        As in `lambdaboost.xgboost.train`; predictions have one column in each.
    eval_metric : measure, str or list of them, optional
        Measures, their text such as ``"NDCG(k=3)"``, or XGBoost's own metrics by their names, which are in lower case.
        By default NDCG(3). The last one decides early stopping; measures are maximised.
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
        self, *, objective: Objective | str = LambdaRank(), leaves: Leaves = "engine", **parameters: Any
    ) -> None:
        super().__init__(objective="rank:ndcg", **parameters)  # which refuses callables here, and only here
        self.objective = objective
        self.leaves = leaves

    def get_xgb_params(self) -> dict[str, Any]:
        """The engine's own parameters."""
        return {name: value for name, value in super().get_xgb_params().items() if name not in _OURS}

    def load_model(self, fname: Any) -> None:
        """Load trees that `save_model` saved; the objective stays what it is here, for a file does not hold it."""
        objective = self.objective
        super().load_model(fname)
        self.objective = objective

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        group: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        sources: LabelSources = None,
        sample_weight: ArrayLike | None = None,
        base_margin: ArrayLike | None = None,
        eval_set: Sequence[tuple[Any, Any]] | None = None,
        eval_group: Sequence[ArrayLike] | None = None,
        eval_qid: Sequence[ArrayLike] | None = None,
        eval_sources: Sequence[LabelSources] | None = None,
        verbose: bool | int | None = False,
        xgb_model: Any = None,
        sample_weight_eval_set: Sequence[ArrayLike] | None = None,
        base_margin_eval_set: Sequence[ArrayLike] | None = None,
        feature_weights: ArrayLike | None = None,
    ) -> LambdaRanker:
        """Fit the ranker; arguments are XGBRanker's, and the label sources.

        Parameters
        ----------
        X, y
            Features and grades; grades may be NaN where there is none. A pandas or polars DataFrame may hold the
            queries as column ``qid``.
        group, qid
            Documents of each query, or the query of each row, the rows of a query adjacent.
        sources : mapping of str to array of shape (n_documents,), optional
            Further label sources by name. Give a DataFrame where scikit-learn is to split it with X, as in grid search.
        sample_weight : array of shape (n_queries,), optional
            One weight for each query; or for each row, the same for all rows of a query, which scikit-learn can split.
        eval_set, eval_group, eval_qid, eval_sources, sample_weight_eval_set, base_margin_eval_set
            The same for each validation set, in lists.
        verbose, xgb_model, base_margin, feature_weights
            As in `XGBRanker.fit`.

        Raises
        ------
        ValueError, TypeError
            As `lambdaboost.xgboost.train` and `XGBRanker.fit`.

        """
        native, measures = _parted(self.eval_metric)
        given = X, group, qid
        X, group = _by_query("X", *given)
        y, labels = part_labels(y, sources)
        eval_set, eval_labels = _part_eval(eval_set, eval_sources)
        if eval_set is not None:
            # XGBoost makes no second matrix of the training data if it finds the very same objects.
            sets = [
                (X, group)
                if all(a is b for a, b in zip(of_set, given, strict=True))
                else _by_query(name, *of_set)
                for name, of_set in _eval_queries(eval_set, eval_group, eval_qid)
            ]
            eval_set = [(rows, grades) for (rows, _), (_, grades) in zip(sets, eval_set, strict=True)]
            eval_group = [sizes for _, sizes in sets]
            if sample_weight_eval_set is not None:
                sample_weight_eval_set = [
                    _weights(f"sample_weight_eval_set[{i}]", weight, sizes)
                    for i, (weight, sizes) in enumerate(zip(sample_weight_eval_set, eval_group, strict=True))
                ]
        data, evals = _wrap_evaluation_matrices(
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
            eval_set=eval_set,
            sample_weight_eval_set=sample_weight_eval_set,
            base_margin_eval_set=base_margin_eval_set,
            eval_group=eval_group,
            eval_qid=None,
            create_dmatrix=self._create_ltr_dmatrix,
            enable_categorical=self.enable_categorical,
            feature_types=self.feature_types,
        )
        _attach("sources", data, labels)
        for i, ((matrix, _), further) in enumerate(zip(evals, eval_labels, strict=True)):
            _attach(f"eval_sources[{i}]", matrix, further)
        if isinstance(data, xgb.QuantileDMatrix):  # of which training sees no single features
            warn_of_leaks(X, queries_of(data))
        params = self.get_xgb_params()
        if native:
            params["eval_metric"] = native
        evals_result: dict[str, Any] = {}
        with xgb.config_context(verbosity=self.verbosity):
            self._Booster = trainer_of(self.objective)(
                params,
                data,
                self.get_num_boosting_rounds(),
                objective=self.objective,
                leaves=self.leaves,
                evals=evals,
                custom_metric=measures or None,
                early_stopping_rounds=self.early_stopping_rounds,
                evals_result=evals_result,
                verbose_eval=verbose,
                xgb_model=xgb_model.get_booster() if isinstance(xgb_model, xgb.XGBModel) else xgb_model,
                callbacks=self.callbacks,
            )
        self._set_evaluation_result(evals_result)
        return self

    def predict(self, X: Any, **arguments: Any) -> Any:
        """Scores of documents, as `XGBRanker.predict` gives them; a column ``qid`` is no feature."""
        predicted = super().predict(part_qid(X)[0], **arguments)
        return predicted if arguments.get("output_margin") else scores_of(self.objective, predicted)

    def apply(self, X: Any, iteration_range: Any = None) -> Any:
        """The leaf of each document in each tree, as `XGBRanker.apply` gives it."""
        return super().apply(part_qid(X)[0], iteration_range)

    def score(self, X: Any, y: ArrayLike, *, group: Any = None, qid: Any = None) -> float:
        """The last measure of `eval_metric`, by default NDCG(3), for documents X and grades y.

        Give the queries as `group`, as `qid`, or as column ``qid`` of a DataFrame.
        """
        X, qid = given_qid("X", X, group, qid)
        sizes = sizes_of(group, qid)
        if sizes is None:
            raise ValueError(
                "X has no column 'qid', and there is no qid or group: score needs the query of each row"
            )
        native, measures = _parted(self.eval_metric)
        if native and not measures:
            data = xgb.DMatrix(
                X, y, group=sizes, missing=self.missing, enable_categorical=self.enable_categorical
            )
            return float(self.get_booster().eval(data).rsplit(":", 1)[1])
        measure = measures[-1] if measures else DEFAULT_MEASURE
        return measure(self.predict(X), Queries(y, sizes))


def _by_query(name: str, X: Any, group: Any, qid: Any) -> tuple[Any, Any]:
    """The features alone, and the documents of each query."""
    X, qid = given_qid(name, X, group, qid)
    return X, sizes_of(group, qid, getattr(X, "shape", (None,))[0])


def _eval_queries(
    eval_set: Sequence[tuple[Any, Any]], groups: Sequence[Any] | None, qids: Sequence[Any] | None
) -> Iterator[tuple[str, tuple[Any, Any, Any]]]:
    """Name, features, group and qid of each validation set."""
    for name, values in (("eval_group", groups), ("eval_qid", qids)):
        if values is not None and len(values) != len(eval_set):
            raise ValueError(
                f"{name} has {len(values)} items, eval_set {len(eval_set)}: give one for each set"
            )
    nothing = [None] * len(eval_set)
    for i, ((X, _), group, qid) in enumerate(zip(eval_set, groups or nothing, qids or nothing, strict=True)):
        yield f"eval_set[{i}]", (X, group, qid)


def _weights(name: str, weight: Any, sizes: Any) -> Any:
    if weight is None or sizes is None:
        return weight
    return query_weights(name, weight, sizes, int(np.sum(sizes)))


def _parted(eval_metric: Any) -> tuple[list[str], list[Measure]]:
    """XGBoost's own metrics by name, and measures, of an `eval_metric`."""
    if eval_metric is None:
        return [], []
    given = list(eval_metric) if isinstance(eval_metric, list | tuple) else [eval_metric]
    native = [metric for metric in given if isinstance(metric, str) and metric == metric.lower()]
    measures = [parse(m) if isinstance(m, str) else m for m in given if m not in native]
    for measure in measures:
        if not isinstance(measure, Measure):
            raise TypeError(f"eval_metric has {measure!r}, expected a measure such as NDCG(3), or its text")
    return native, measures


def _part_eval(
    eval_set: Sequence[tuple[Any, Any]] | None, eval_sources: Sequence[LabelSources] | None
) -> tuple[list[tuple[Any, Any]] | None, list[Sources]]:
    if eval_set is None:
        if eval_sources is not None:
            raise ValueError("eval_sources is given without eval_set: give both")
        return None, []
    further = [None] * len(eval_set) if eval_sources is None else list(eval_sources)
    if len(further) != len(eval_set):
        raise ValueError(
            f"eval_sources has {len(further)} items, eval_set {len(eval_set)}: give one for each set"
        )
    parted = [part_labels(y, labels) for (_, y), labels in zip(eval_set, further, strict=True)]
    return [(X, y) for (X, _), (y, _) in zip(eval_set, parted, strict=True)], [labels for _, labels in parted]


def _attach(name: str, data: xgb.DMatrix, labels: Sources) -> None:
    for source, values in labels.items():
        if values.size != data.num_row():
            raise ValueError(
                f"{name}[{source!r}] has {values.size} rows, X has {data.num_row()}: give one label a document"
            )
    if labels:
        data.sources = labels
