"""`train` and `cv`: `xgboost.train` and `xgboost.cv` with any objective and any kind of leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import xgboost as xgb

from lambdaboost._checks import check_whole
from lambdaboost.engines.job import Metrics
from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.plan import planned
from lambdaboost.engines.train import cross_validated, trained
from lambdaboost.objectives import LambdaRank, Objective
from lambdaboost.xgboost.callbacks import engine_callbacks
from lambdaboost.xgboost.engine import ENGINE


def train(
    params: Mapping[str, Any],
    data: xgb.DMatrix,
    rounds: int = 100,
    *,
    objective: Objective | str = LambdaRank(),
    leaves: Leaves = "engine",
    evals: Sequence[tuple[xgb.DMatrix, str]] | None = None,
    custom_metric: Metrics = None,
    early_stopping_rounds: int | None = None,
    maximize: bool | None = None,
    evals_result: dict[str, Any] | None = None,
    verbose_eval: bool | int | None = True,
    xgb_model: Any = None,
    callbacks: Sequence[Any] | None = None,
) -> xgb.Booster:
    """Train a ranker with `xgboost.train`, with safe defaults.

    Scores start at 0 (XGBoost would start custom objectives at 0.5), the model is saved as a ``rank:ndcg`` one,
    measures are maximised, and missing groups or label sources are reported before the first round. XGBoost's
    ``min_child_weight=1`` is kept: a sum of hessians, which are some tenths a document at first. Set it to 0 for small
    data.

    Parameters
    ----------
    params : mapping
        XGBoost's parameters, without ``objective``.
    data : DMatrix
        The training data, with groups, labels, and positions if the objective reads them. In a stock `xgboost.DMatrix`,
        ``label_lower_bound`` and ``label_upper_bound`` are the further sources that `objective` reads, in order.
    rounds : int
        Number of boosting rounds.
    objective : Objective or str
        An objective or its text, such as ``"graded"``.
        ``"rank:ndcg"``, ``"rank:pairwise"`` and ``"rank:map"`` are XGBoost's own objectives, computed by XGBoost.
    leaves : "engine" or "gradient"
        ``"engine"``: XGBoost's splits and leaves, by gradient over hessian. ``"gradient"``: `GradientStep` of the
        objective, with ``min_child_weight=100`` documents, or a twentieth of the data if that is less, unless `params`
        set it.
    evals : sequence of (DMatrix, name), optional
        Evaluated after each round; early stopping uses the last one.
    custom_metric : measure, str, callable or list of them, optional
        What to evaluate, such as ``NDCG(k=3)`` or ``"mrr@10"``; by default NDCG(3), unless ``params["eval_metric"]``
        names metrics, which are evaluated first.
    early_stopping_rounds : int, optional
        Stop if the first metric has not improved for this number of rounds. As in XGBoost, the booster keeps all trees;
        the best round is its ``best_iteration``. XGBoost's ``callbacks=[EarlyStopping(…)]`` uses the first metric too,
        unless it has a ``metric_name=``.
    maximize : bool, optional
        Whether higher is better; by default yes for measures, and for others by their names, as in XGBoost.
    evals_result, verbose_eval, xgb_model, callbacks
        As in `xgboost.train`.

    Returns
    -------
    xgboost.Booster

    Raises
    ------
    ValueError, TypeError
        For invalid arguments or data, or what the engine would do in silence (docs/traps.md), before the first round.

    Warns
    -----
    UserWarning
        If no tree has a split, a feature leaks a label source, or the constraint of `Constrained` is broken.

    """
    evals = list(evals or [])
    for _, name in evals:
        if "-" in name:
            raise ValueError(f"evals has the name {name!r}: XGBoost reads no names with '-'")
    if early_stopping_rounds and not evals:
        raise ValueError(
            f"early_stopping_rounds is {early_stopping_rounds}, but nothing is evaluated: give evals="
        )
    job = planned(
        ENGINE,
        params,
        data,
        check_whole("rounds", rounds),
        objective,
        leaves,
        custom_metric,
        [(name, matrix) for matrix, name in evals],
        xgb_model,
        evals_result=evals_result,
        callbacks=engine_callbacks(callbacks, verbose_eval, early_stopping_rounds, maximize),
    )
    return trained(job)


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
    custom_metric: Metrics = None,
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
        Number of folds; their numbers of queries differ by at most one.
    folds : list of (train rows, test rows), or a scikit-learn splitter, optional
        Your own folds of whole queries, in place of `nfold`; a splitter such as ``GroupKFold(5)`` receives the query
        of each row as ``groups``.
    seed : int
        Seed of the folds; the same seed gives the same folds in `lambdaboost.lightgbm.cv`.
    early_stopping_rounds : int, optional
        Stop if the mean of the first metric over the folds has not improved for this number of rounds; the
        table ends at the best round.

    Returns
    -------
    pandas.DataFrame
        One row per round; mean and standard deviation of each measure over the folds: ``train-ndcg(k=3)-mean``, ….

    Raises
    ------
    ValueError, TypeError
        As `train`, and if a fold splits a query, which the message names.

    """
    rounds = check_whole("rounds", rounds)
    more: dict[str, Any] = {
        "callbacks": engine_callbacks(callbacks, verbose_eval, early_stopping_rounds),
        "seed": seed,
    }
    job = planned(ENGINE, params, data, rounds, objective, leaves, custom_metric, **more)
    return cross_validated(job, nfold, seed, folds)
