"""`cv`: xgboost.cv over whole queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xgboost as xgb

from lambdaboost.engines.folds import drawn, given
from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.rounds import ToldRounds
from lambdaboost.objectives import LambdaRank, Objective
from lambdaboost.xgboost._arguments import Metric, check_rounds, plan, rows_of
from lambdaboost.xgboost._rounds import TellRounds
from lambdaboost.xgboost._stopping import engine_callbacks
from lambdaboost.xgboost.dmatrix import DMatrix, take


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
        Folds, of equally many queries but for one.
    folds : list of (train rows, test rows), or a scikit-learn splitter, optional
        Folds of your own, which may not cut a query; a splitter is given each row's query as group: ``GroupKFold(5)``.
    seed : int
        Draws the folds, the same queries as `lambdaboost.lightgbm.cv` draws by it.
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
    query = np.repeat(np.arange(pointer.size - 1), np.diff(pointer))
    if folds is None:
        chosen = drawn(query, nfold, seed)
    else:
        chosen = given(folds, np.zeros((data.num_row(), 1)), data.get_label(), query)
    whole = data if isinstance(data, DMatrix) else take(data, np.arange(data.num_row()))
    told = ToldRounds(made.objective)
    return xgb.cv(
        made.params,
        whole,
        int(rounds),
        folds=list(chosen),
        obj=made.engine_objective(told),
        custom_metric=made.metrics,
        callbacks=[
            TellRounds(told, whole),
            *engine_callbacks(callbacks, verbose_eval, early_stopping_rounds),
        ],
        seed=seed,
    )
