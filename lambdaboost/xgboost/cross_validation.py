"""`cv`: xgboost.cv over whole queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.rounds import ToldRounds
from lambdaboost.objectives import LambdaRank, Objective
from lambdaboost.xgboost._arguments import Metric, check_rounds, plan, rows_of
from lambdaboost.xgboost._rounds import TellRounds
from lambdaboost.xgboost._stopping import engine_callbacks
from lambdaboost.xgboost.dmatrix import DMatrix, take, whole_queries

Rows = NDArray[np.int64]


def cv(
    params: Mapping[str, Any],
    data: xgb.DMatrix,
    rounds: int = 100,
    *,
    objective: Objective | str = LambdaRank(),
    leaves: Leaves = "engine",
    nfold: int = 5,
    folds: Any = None,
    seed: int = 0,
    custom_metric: Metric | Sequence[Metric] | None = None,
    early_stopping_rounds: int | None = None,
    callbacks: Sequence[Any] | None = None,
    verbose_eval: bool | int | None = None,
) -> Any:
    """Cross-validate a ranking objective over whole queries, which keep their weights and label sources.

    Parameters
    ----------
    params, data, rounds, objective, leaves, custom_metric, callbacks, verbose_eval
        As in `lambdaboost.xgboost.train`.
    nfold : int
        Number of folds of (nearly) equally many queries, drawn by `seed`.
    folds : list of (train rows, test rows), or a scikit-learn splitter, optional
        Folds of your own, which may not cut a query; a splitter is given each row's query as group: ``GroupKFold(5)``.
    seed : int
        For the draw of the folds.
    early_stopping_rounds : int, optional
        Stop after so many rounds in which the first metric's mean over the folds has not improved; the table ends at
        the best.

    Returns
    -------
    pandas.DataFrame
        One row a round, mean and standard deviation over the folds of each measure: ``train-ndcg(k=3)-mean``, ….

    Raises
    ------
    ValueError, TypeError
        As `train`, and where a fold cuts a query, naming it.

    """
    check_rounds("rounds", rounds)
    made = plan(params, objective, leaves, custom_metric, documents=rows_of("data", data), evaluated=True)
    made.check_trained("data", data)
    made.check_evaluated("data", data)
    pointer = data.get_uint_info("group_ptr").astype(np.int64)
    chosen = _drawn(nfold, seed, pointer) if folds is None else _given(folds, data, pointer)
    whole = data if isinstance(data, DMatrix) else take(data, np.arange(data.num_row()))
    told = ToldRounds(made.objective)
    return xgb.cv(
        made.params,
        whole,
        int(rounds),
        folds=chosen,
        obj=made.engine_objective(told),
        custom_metric=made.metrics,
        callbacks=[
            TellRounds(told, whole),
            *engine_callbacks(callbacks, verbose_eval, early_stopping_rounds),
        ],
        seed=seed,
    )


def _drawn(nfold: int, seed: int, pointer: Rows) -> list[tuple[Rows, Rows]]:
    n_queries = pointer.size - 1
    check_rounds("nfold", nfold)
    if not 2 <= nfold <= n_queries:
        raise ValueError(f"nfold is {nfold}, expected 2 to {n_queries}, the number of queries")
    fold_of_query = np.empty(n_queries, dtype=np.int64)
    fold_of_query[np.random.default_rng(seed).permutation(n_queries)] = np.arange(n_queries) % nfold
    fold_of_row = np.repeat(fold_of_query, np.diff(pointer))
    return [(np.flatnonzero(fold_of_row != k), np.flatnonzero(fold_of_row == k)) for k in range(nfold)]


def _given(folds: Any, data: xgb.DMatrix, pointer: Rows) -> list[tuple[Rows, Rows]]:
    if hasattr(folds, "split"):
        query_of_row = np.repeat(np.arange(pointer.size - 1), np.diff(pointer))
        folds = folds.split(np.zeros((data.num_row(), 1)), data.get_label(), query_of_row)
    if not isinstance(folds, Iterable):
        raise TypeError(
            f"folds is {folds!r}, expected a list of (train rows, test rows) or a splitter such as GroupKFold(5)"
        )
    chosen = []
    for k, (train, test) in enumerate(folds):
        sides = []
        for name, rows in (("train", train), ("test", test)):
            # Only which rows they are matters; sorted, the rows of a query stand side by side.
            sides.append(np.sort(np.asarray(rows, dtype=np.int64)))
            whole_queries(f"folds[{k}] ({name})", sides[-1], pointer)
        chosen.append((sides[0], sides[1]))
    return chosen
