"""`LambdaRanker`: LightGBM's scikit-learn ranker with lambdaboost's objectives, leaves, label sources and measures."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import lightgbm as lgb
import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, column_or_1d

from lambdaboost._lightgbm import take_over
from lambdaboost.engines.metric_names import AtCutoff, metrics_in, read_metric
from lambdaboost.engines.ranker import OWN, Part, Ranker
from lambdaboost.evaluation import NDCG
from lambdaboost.evaluation.measure import Measure
from lambdaboost.lightgbm.callbacks import Callback
from lambdaboost.lightgbm.data import Dataset, Sources
from lambdaboost.lightgbm.engine import ALIASES, ENGINE
from lambdaboost.lightgbm.training import train


class LambdaRanker(Ranker, lgb.LGBMRanker):
    """An `lightgbm.LGBMRanker` with the objectives and measures of lambdaboost.

    Parameters
    ----------
    {PARAMETERS}
    **parameters
        Those of LGBMRanker: ``n_estimators=``, ``learning_rate=``, ``num_leaves=``, …; ``class_weight`` has no effect.
        ``min_child_samples``, the minimum number of documents in a leaf, is by default 20, or 100 for gradient steps.

    Notes
    -----
    {NOTES}

    Examples
    --------
    >>> from lambdaboost.datasets import web_search_log
    >>> from lambdaboost.lightgbm import LambdaRanker
    >>> X, q = web_search_log(queries=20, documents=30, seed=3)
    >>> ranker = LambdaRanker(objective="LambdaRank(NDCG(k=3))", n_estimators=3, verbose=-1)
    >>> ranker.fit(X, q.relevance, group=q.sizes).predict(X).shape
    (584,)

    """

    _engine, _stock = ENGINE, lgb.LGBMRanker
    _defaults: ClassVar = {"min_child_samples": None}
    _of_rows = ("sample_weight", "init_score")

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

        {FIT}
        eval_X, eval_y : X and y, or tuples of them, optional
            The same as in LightGBM 4.7, in place of `eval_set`.
        eval_metric : measure, callable, str or list of them, optional
            Measures such as ``CNDCG(k=3)``; callables ``(y_true, y_pred[, weight[, group]])``; names of LightGBM's
            metrics, also with a cutoff as in ``"ndcg@5"``, and of measures that it does not have, such as ``"mrr@10"``.
            By default NDCG at each of `eval_at`. Early stopping uses the first one, unless the parameter
            ``first_metric_only=False`` is given.
        eval_at : sequence of int
            Cutoffs of the default measures, and of LightGBM's own metrics.
        init_score, feature_name, categorical_feature, callbacks, init_model, eval_names, eval_init_score
            As in `lightgbm.LGBMRanker`.

        Raises
        ------
        TypeError, ValueError
            As `lambdaboost.lightgbm.train`, and if the `eval_…` lists do not match `eval_set`.

        """
        objective, part, sets = self._prepared(locals(), _eval_set(eval_set, eval_X, eval_y))
        # The base class turns these into parameters, here and in `predict`.
        self._objective, self._eval_at = objective, list(eval_at)
        params = self._process_params("fit")
        del params["objective"]
        feval, order = self._measures(params, eval_metric)
        given = _fields(part)
        features = given["data"] = _checked(given["data"])
        if sample_weight is not None:
            given["weight"] = column_or_1d(sample_weight)
        data = Dataset(**given, feature_name=feature_name, categorical_feature=categorical_feature)
        history: dict[str, Any] = {}
        booster = train(
            params,
            data,
            self.n_estimators,
            objective=objective,
            leaves=self.leaves,
            valid_sets=[data if one is None else data.create_valid(**_fields(one)) for one in sets],
            valid_names=eval_names,
            feval=feval,
            init_model=getattr(init_model, "booster_", init_model),
            callbacks=[*order, *(callbacks or []), lgb.record_evaluation(history)],
        )
        named = hasattr(features, "columns") or feature_name != "auto"
        take_over(self, booster, history, features.shape[1], named)
        self._note(objective, features)
        return self

    def _process_params(self, stage: str) -> dict[str, Any]:
        params = {
            name: value for name, value in super()._process_params(stage).items() if name not in OWN[1:]
        }
        if params["min_child_samples"] is None:
            del params["min_child_samples"]
        return params | ({"objective": "None"} if stage == "predict" else {})

    def _measures(
        self, params: dict[str, Any], eval_metric: Any
    ) -> tuple[list[Callable[..., Any]] | None, list[Any]]:
        """Measures and callables for feval, and a callback where they come first; names of metrics go to `params`."""
        named = params.pop("metric")  # "ndcg", unless it was given
        given = [] if set(ALIASES["metric"]).isdisjoint(self.get_params()) else metrics_in("metric", named)
        requested = [
            part
            for metric in (*metrics_in("eval_metric", eval_metric), *given)
            for part in read_metric(ENGINE, metric)
        ]
        feval = [
            metric if isinstance(metric, Measure | AtCutoff) else _feval(metric)
            for metric in requested
            if callable(metric)
        ]
        if not (names := [metric for metric in requested if isinstance(metric, str)]):
            return feval or [NDCG(k=k) for k in _cutoffs(params["eval_at"])], []
        params["metric"] = names
        first_of_all = feval and not isinstance(requested[0], str)
        return feval or None, [_own_last(names)] if first_of_all else []


def _fields(part: Part) -> dict[str, Any]:
    """The arguments of `Dataset`."""
    X, sizes, sources, position = part.rows
    label, weight, start = (part.items[name] for name in ("y", "sample_weight", "init_score"))
    beside = {"label": label, "weight": weight, "init_score": start}
    return {"data": X, "group": sizes, "sources": sources, "position": position, **beside}


def _own_last(names: Sequence[str]) -> Callback:
    """Put LightGBM's own metrics, which it evaluates first, after the others, so that early stopping uses these."""

    def arrange(env: Any) -> None:
        env.evaluation_result_list.sort(key=lambda result: result[1].partition("@")[0] in names)

    return Callback(arrange, False, -1e305)  # before the steps of the training, and the user's callbacks


def _checked(X: Any) -> Any:
    """An array or sparse matrix, checked as by LGBMRanker: real numbers, not empty, NaN if missing."""
    if hasattr(X, "columns"):
        return X
    # scikit-learn 1.6 renamed the argument.
    renamed = "ensure_all_finite" in inspect.signature(check_array).parameters
    return check_array(
        X, accept_sparse=True, **{"ensure_all_finite" if renamed else "force_all_finite": False}
    )


def _cutoffs(eval_at: Any) -> list[int]:
    """The cutoffs of ``eval_at`` or one of its aliases: a whole number, several, or a text such as "3,10"."""
    return [int(k) for k in eval_at.split(",")] if isinstance(eval_at, str) else list(np.atleast_1d(eval_at))


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
    if eval_X is None or eval_y is None:
        missing = "eval_X" if eval_X is None else "eval_y"
        raise ValueError(f"{missing} is missing: give both eval_X and eval_y")
    rows, grades = (given if isinstance(given, tuple) else (given,) for given in (eval_X, eval_y))
    if isinstance(eval_X, tuple) != isinstance(eval_y, tuple) or len(rows) != len(grades):
        raise ValueError(
            f"eval_X has {len(rows)} sets, eval_y {len(grades)}: give both as tuples of the same length, or as one set"
        )
    return list(zip(rows, grades, strict=True))
