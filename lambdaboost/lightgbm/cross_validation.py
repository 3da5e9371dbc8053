"""`cv`: `lightgbm.cv` over folds that keep each query whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import lightgbm as lgb

from lambdaboost.datasets.engines import queries_of
from lambdaboost.engines.folds import Fold, Rows, check_nfold, drawn, given
from lambdaboost.engines.leaves import Leaves
from lambdaboost.lightgbm._metrics import by_first_metric, is_asked
from lambdaboost.lightgbm._plan import Feval, planned
from lambdaboost.objectives import LambdaRank, Objective


def cv(
    params: dict[str, Any],
    data: lgb.Dataset,
    rounds: int = 100,
    *,
    objective: Objective | str = LambdaRank(),
    leaves: Leaves = "engine",
    nfold: int = 5,
    folds: Any = None,
    seed: int = 0,
    feval: Feval = None,
    callbacks: Sequence[Any] | None = None,
    return_cvbooster: bool = False,
) -> dict[str, Any]:
    """Cross-validate a ranker with `lightgbm.cv`, every query whole in one fold.

    Parameters
    ----------
    params, data, rounds, objective, leaves, feval, callbacks
        As of `lambdaboost.lightgbm.train`.
    nfold : int
        Folds, of equally many queries but for one.
    seed : int
        Draws the folds, the same queries as `lambdaboost.xgboost.cv` draws by it.
    folds : splitter or iterable of (training rows, validation rows), optional
        In place of `nfold`; a splitter gets the query of each row as ``groups``.
    return_cvbooster : bool
        Whether to add the boosters under ``"cvbooster"``.

    Returns
    -------
    dict
        As `lightgbm.cv` returns it: ``{"valid NDCG(k=3)-mean": […], "valid NDCG(k=3)-stdv": […]}``.

    Raises
    ------
    TypeError, ValueError
        As `train`, and where there are fewer queries than folds, or a fold splits a query.

    """
    if folds is None:
        check_nfold(nfold)
    if isinstance(params, dict):  # else refused below
        params, callbacks = by_first_metric(params, callbacks)
    plan = planned(params, data, objective, leaves, feval, callbacks)
    results = lgb.cv(
        plan.params,
        data,
        num_boost_round=rounds,
        folds=_WholeQueries(data, nfold, seed, folds),
        feval=plan.feval,
        callbacks=plan.callbacks,
        return_cvbooster=return_cvbooster,
    )
    # LightGBM has stored its results before any callback sees them.
    return {name: curve for name, curve in results.items() if _is_asked(name, plan.asked)}


def _is_asked(name: str, asked: list[str]) -> bool:
    """Whether a curve is asked for; its name is like ``valid ndcg@5-mean``."""
    return is_asked(name.partition(" ")[2].rpartition("-")[0], asked)


class _WholeQueries:
    """Folds as LightGBM asks for them, once data are constructed: a splitter that never splits a query."""

    def __init__(self, data: Any, nfold: int, seed: int, folds: Any) -> None:
        self.data, self.nfold, self.seed, self.folds = data, nfold, seed, folds

    def split(self, X: Any, y: Any, groups: Rows) -> Iterator[Fold]:
        """Training and validation rows of each fold."""
        queries_of(self.data)  # says what is missing where there are no groups
        if self.folds is None:
            return drawn(groups, self.nfold, self.seed)
        return given(self.folds, X, y, groups)
