"""`LambdaRanker`: XGBRanker with any objective of this package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import xgboost as xgb
from numpy.typing import ArrayLike
from xgboost.sklearn import _wrap_evaluation_matrices

from lambdaboost._leaves import Leaves
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import Measure, parse
from lambdaboost.objectives import LambdaRank, Objective
from lambdaboost.xgboost._arguments import DEFAULT_MEASURE
from lambdaboost.xgboost.dmatrix import Sources, part_labels
from lambdaboost.xgboost.training import train

LabelSources = Mapping[str, ArrayLike] | None
# Arguments of ours that are no parameters of the engine.
_OURS = ("objective", "leaves", "eval_metric")


class LambdaRanker(xgb.XGBRanker):
    """An `xgboost.XGBRanker` that takes the objectives and measures of this package.

    A scikit-learn estimator as XGBRanker is: clone, pickle, grid search, ``save_model`` (which saves the trees, not the
    objective). `score` is the last measure of `eval_metric`, on a DataFrame with a column ``qid``.

    Parameters
    ----------
    objective : Objective or str
        An objective or its text, such as ``"graded"``.
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
            Features and grades; grades may be NaN where there is none. A DataFrame may hold the queries as column
            ``qid``.
        group, qid
            Documents of each query, or the query of each row.
        sources : mapping of str to array of shape (n_documents,), optional
            Further label sources by name. Give a DataFrame where scikit-learn is to split it with X, as in grid search.
        sample_weight : array of shape (n_queries,), optional
            One weight for each query.
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
        y, labels = part_labels(y, sources)
        eval_set, eval_labels = _part_eval(eval_set, eval_sources)
        data, evals = _wrap_evaluation_matrices(
            missing=self.missing,
            X=X,
            y=y,
            group=group,
            qid=qid,
            sample_weight=sample_weight,
            base_margin=base_margin,
            feature_weights=getattr(self, "feature_weights", None)
            if feature_weights is None
            else feature_weights,
            eval_set=eval_set,
            sample_weight_eval_set=sample_weight_eval_set,
            base_margin_eval_set=base_margin_eval_set,
            eval_group=eval_group,
            eval_qid=eval_qid,
            create_dmatrix=self._create_ltr_dmatrix,
            enable_categorical=self.enable_categorical,
            feature_types=self.feature_types,
        )
        _attach("sources", data, labels)
        for i, ((matrix, _), further) in enumerate(zip(evals, eval_labels, strict=True)):
            _attach(f"eval_sources[{i}]", matrix, further)
        params = self.get_xgb_params()
        if native:
            params["eval_metric"] = native
        evals_result: dict[str, Any] = {}
        with xgb.config_context(verbosity=self.verbosity):
            self._Booster = train(
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

    def score(self, X: Any, y: ArrayLike) -> float:
        """The last measure of `eval_metric` for documents X, a DataFrame with a column ``qid``, and grades y."""
        native, measures = _parted(self.eval_metric)
        if "qid" not in getattr(X, "columns", ()):
            raise ValueError(
                "X has no column 'qid': score needs a DataFrame that holds the query of each row"
            )
        measure = measures[-1] if measures else DEFAULT_MEASURE
        if native and not measures:
            return super().score(X, y)
        return measure(self.predict(X), Queries(y, ids=X["qid"]))


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
