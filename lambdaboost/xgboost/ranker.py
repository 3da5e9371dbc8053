"""`LambdaRanker`: XGBoost's scikit-learn ranker with lambdaboost's objectives, leaves, label sources and measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import ArrayLike
from xgboost.callback import EarlyStopping

from lambdaboost.datasets.columns import features_and_qid, query_weights, sizes_of, split_qid
from lambdaboost.datasets.engines import queries_of
from lambdaboost.engines.estimator import check_one_each, listed, scored_queries
from lambdaboost.engines.grades import scores_of
from lambdaboost.engines.labels import Labels
from lambdaboost.engines.leaks import warn_of_leaks
from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.plan import DEFAULT_MEASURE, Metric, read_objective
from lambdaboost.engines.saving import in_use
from lambdaboost.evaluation import Measure, parse
from lambdaboost.objectives import LambdaRank, Objective
from lambdaboost.objectives.mcrank import GradeModel
from lambdaboost.xgboost._engine import ENGINE
from lambdaboost.xgboost._private import evaluation_matrices, ltr_metric_decorator, take_over
from lambdaboost.xgboost.dmatrix import split_labels
from lambdaboost.xgboost.training import train

LabelSources = Mapping[str, ArrayLike] | None
# Parameters that XGBoost does not know.
_OWN = ("objective", "leaves", "eval_metric")


class LambdaRanker(xgb.XGBRanker):
    """An `xgboost.XGBRanker` with the objectives and measures of lambdaboost.

    It can be cloned, pickled, and used in a grid search; ``save_model`` saves the trees, not the objective. Give the
    queries as ``group=``, as ``qid=``, or as column ``qid`` of a pandas or polars DataFrame, which scikit-learn splits
    with the rows: ``GridSearchCV(LambdaRanker(), grid, cv=GroupKFold(5)).fit(X, y, groups=X["qid"])``. Any measure can
    be the ``scoring=``; the default is `score`.

    Parameters
    ----------
    objective : Objective or str
        An objective or its text, such as ``"graded"``; also `McRank` and `OrdinalMcRank`.
    leaves : "engine", "gradient" or "newton"
        As in `lambdaboost.xgboost.train`; predictions have one column in each.
    eval_metric : measure, str, callable or list of them, optional
        Measures or their text, such as ``"NDCG(k=3)"``; XGBoost's own metrics by their names, which are in lower case;
        or callables ``(y_true, y_score)`` of one query, as in XGBRanker. By default NDCG(3). Early stopping uses the
        first one; measures are maximised.
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
        **parameters: Any,
    ) -> None:
        super().__init__(
            objective="rank:ndcg", **parameters
        )  # XGBRanker refuses callables here, and only here
        self.objective = objective
        self.leaves = leaves

    def get_xgb_params(self) -> dict[str, Any]:
        """The engine's own parameters."""
        return {name: value for name, value in super().get_xgb_params().items() if name not in _OWN}

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
        """Fit the ranker; the arguments are those of XGBRanker, and the label sources.

        Parameters
        ----------
        X, y
            Features and grades; NaN if a grade is missing. A pandas or polars DataFrame may hold the queries as column
            ``qid``.
        group, qid
            The number of documents of each query, or the query of each row, the rows of a query adjacent.
        sources : mapping of str to array of shape (n_documents,), optional
            Further label sources by name. In a grid search give a DataFrame, which scikit-learn splits with X.
        sample_weight : array of shape (n_queries,), optional
            One weight per query; or one per row, equal within each query, which scikit-learn can split.
        eval_set, eval_group, eval_qid, eval_sources, sample_weight_eval_set, base_margin_eval_set
            Lists of the same for the validation sets.
        verbose, xgb_model, base_margin, feature_weights
            As in `XGBRanker.fit`.

        Raises
        ------
        ValueError, TypeError
            As `lambdaboost.xgboost.train` and `XGBRanker.fit`.

        """
        native, metrics = _split_metrics(self.eval_metric, self.n_jobs)
        training = X, group, qid
        X, group = _by_query("X", *training)
        y, labels = split_labels(y, sources)
        eval_set, eval_labels = _split_eval(eval_set, eval_sources)
        if eval_set is not None:
            # XGBoost makes no second matrix of the training data if it finds the very same objects.
            sets = [
                (X, group)
                if all(a is b for a, b in zip(of_set, training, strict=True))
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
        self.objective_, self.leaves_ = objective, self.leaves
        return self

    def _stopping(self, evals: Sequence[Any], native: list[str], metrics: list[Metric]) -> dict[str, Any]:
        """The arguments of `train` for early stopping by the first of `eval_metric`."""
        callbacks, rounds = self.callbacks, self.early_stopping_rounds
        if rounds and evals and native and metrics and listed(self.eval_metric)[0] not in native:
            # XGBoost evaluates its own metrics first.
            first = metrics[0]
            name = first._xgboost_name if isinstance(first, Measure) else first.__name__
            stopping = EarlyStopping(rounds=rounds, metric_name=name)
            callbacks, rounds = [*(callbacks or []), stopping], None
        return {"callbacks": callbacks, "early_stopping_rounds": rounds}

    def predict(self, X: Any, **arguments: Any) -> Any:
        """Scores of documents, as by `XGBRanker.predict`; a column ``qid`` is ignored."""
        predicted = super().predict(split_qid(X)[0], **arguments)
        # `objective` may have been changed since `fit`.
        return predicted if arguments.get("output_margin") else scores_of(ENGINE, self.objective_, predicted)

    def apply(self, X: Any, iteration_range: Any = None) -> Any:
        """The leaf of each document in each tree, as by `XGBRanker.apply`."""
        return super().apply(split_qid(X)[0], iteration_range)

    def score(self, X: Any, y: ArrayLike, *, group: Any = None, qid: Any = None) -> float:
        """The first measure of `eval_metric`, by default NDCG(3), for documents X and grades y.

        Give the queries as `group`, as `qid`, or as column ``qid`` of a DataFrame.
        """
        X, q = scored_queries(X, y, group, qid)
        native, metrics = _split_metrics(self.eval_metric, self.n_jobs)
        if metrics and isinstance(metrics[0], Measure):
            return metrics[0](self.predict(X), q)
        if not native and not metrics:
            return DEFAULT_MEASURE(self.predict(X), q)
        data = xgb.DMatrix(
            X, y, group=q.sizes, missing=self.missing, enable_categorical=self.enable_categorical
        )
        if metrics:
            return float(metrics[0](self.predict(X), data)[1])
        evaluated = xgb.Booster(
            {"eval_metric": native, "disable_default_eval_metric": True},
            model_file=in_use(self).save_raw(),
        )
        return float(evaluated.eval(data).split(":")[1].split()[0])


def _by_query(name: str, X: Any, group: Any, qid: Any) -> tuple[Any, Any]:
    """The features alone, and the documents of each query."""
    X, qid = features_and_qid(name, X, group, qid)
    return X, sizes_of(group, qid, getattr(X, "shape", (None,))[0])


def _eval_queries(
    eval_set: Sequence[tuple[Any, Any]], groups: Sequence[Any] | None, qids: Sequence[Any] | None
) -> Iterator[tuple[str, tuple[Any, Any, Any]]]:
    """Name, features, group and qid of each validation set."""
    check_one_each({"eval_group": groups, "eval_qid": qids}, len(eval_set))
    nothing = [None] * len(eval_set)
    for i, ((X, _), group, qid) in enumerate(zip(eval_set, groups or nothing, qids or nothing, strict=True)):
        yield f"eval_set[{i}]", (X, group, qid)


def _weights(name: str, weight: Any, sizes: Any) -> Any:
    if weight is None or sizes is None:
        return weight
    return query_weights(name, weight, sizes, int(np.sum(sizes)))


def _native(eval_metric: Any) -> list[str]:
    """XGBoost's own metrics, by name."""
    return [m for m in listed(eval_metric) if isinstance(m, str) and m == m.lower()]


def _split_metrics(eval_metric: Any, n_jobs: int | None) -> tuple[list[str], list[Metric]]:
    """The names of XGBoost's own metrics in `eval_metric`, and its measures and callables."""
    native = _native(eval_metric)
    metrics: list[Metric] = []
    for metric in (parse(m) if isinstance(m, str) else m for m in listed(eval_metric) if m not in native):
        metrics.append(metric if isinstance(metric, Measure) else ltr_metric_decorator(metric, n_jobs))
    return native, metrics


def _split_eval(
    eval_set: Sequence[tuple[Any, Any]] | None, eval_sources: Sequence[LabelSources] | None
) -> tuple[list[tuple[Any, Any]] | None, list[Labels]]:
    if eval_set is None:
        if eval_sources is not None:
            raise ValueError("eval_sources is given without eval_set: give both")
        return None, []
    check_one_each({"eval_sources": eval_sources}, len(eval_set))
    further = [None] * len(eval_set) if eval_sources is None else list(eval_sources)
    split = [split_labels(y, labels) for (_, y), labels in zip(eval_set, further, strict=True)]
    return [(X, y) for (X, _), (y, _) in zip(eval_set, split, strict=True)], [labels for _, labels in split]


def _attach(name: str, data: xgb.DMatrix, labels: Labels) -> None:
    for source, values in labels.items():
        if values.size != data.num_row():
            raise ValueError(
                f"{name}[{source!r}] has {values.size} rows, X has {data.num_row()}: give one label per document"
            )
    if labels:
        data.sources = labels
