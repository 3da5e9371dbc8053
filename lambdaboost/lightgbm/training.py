"""`train` and `cv`: `lightgbm.train` and `lightgbm.cv` with any objective and any kind of leaves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lightgbm as lgb

from lambdaboost.engines.job import Metrics
from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.plan import planned
from lambdaboost.engines.train import cross_validated, trained
from lambdaboost.lightgbm.engine import ENGINE
from lambdaboost.objectives import LambdaRank, Objective


def train(
    params: dict[str, Any],
    data: lgb.Dataset,
    rounds: int = 100,
    *,
    objective: Objective | str = LambdaRank(),
    leaves: Leaves = "engine",
    valid_sets: lgb.Dataset | Sequence[lgb.Dataset] | None = None,
    valid_names: str | Sequence[str] | None = None,
    feval: Metrics = None,
    init_model: str | Path | lgb.Booster | None = None,
    keep_training_booster: bool = False,
    callbacks: Sequence[Any] | None = None,
) -> lgb.Booster:
    r"""Train a ranker with `lightgbm.train`.

    Parameters
    ----------
    params : dict
        LightGBM's parameters, without an objective.
    data : Dataset
        The training data, with groups, and the label sources and positions that the objective reads.
    rounds : int
        Number of boosting rounds; ``num_iterations`` in `params` overrides it, as in LightGBM.
    objective : Objective or str
        An objective or its text:
        ``"Blend(LambdaRank(), ClickTier(), Linear(0.1, 0.001))"``. ``"lambdarank"`` and ``"rank_xendcg"`` are
        LightGBM's own objectives, computed by LightGBM.
    leaves : "engine" or "gradient"
        ``"engine"``: LightGBM's splits and leaves, by gradient over hessian. ``"gradient"``: `GradientStep` of the
        objective, with ``min_data_in_leaf=100``, or a twentieth of the data if that is less, unless `params` set it.
    valid_sets, valid_names, init_model, keep_training_booster, callbacks
        As in `lightgbm.train`.
    feval : measure, str, callable or list of them, optional
        Measures of `valid_sets`, such as ``[NDCG(k=3), CNDCG(k=3)]`` or ``"mrr@10"``; ``NDCG(k=3)`` if `params` have no
        ``metric`` either, whose metrics are evaluated first, and may also be ``"ndcg@5"`` or ``"mrr@10"``. Early
        stopping uses the first metric on each of `valid_sets` except the training data; with
        ``first_metric_only=False`` in `params` it uses any metric, as LightGBM does.

    Returns
    -------
    lightgbm.Booster
        As returned by `lightgbm.train`; after early stopping it predicts with the rounds up to the best.

    Raises
    ------
    TypeError, ValueError
        Before the first round, if an argument is wrong, data lack groups, a label source or positions, or the engine
        would do something else in silence (docs/traps.md).

    Warns
    -----
    UserWarning
        If no tree has a split, a feature leaks a label source, or the constraint of `Constrained` is broken.

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaboost.lightgbm import Dataset, train
    >>> data = Dataset(np.arange(8.0)[:, None], [0, 0, 1, 1, 0, 0, 1, 1], group=[4, 4])
    >>> train({"min_data_in_leaf": 1, "verbose": -1}, data, rounds=2).num_trees()
    2

    """
    sets = [valid_sets] if isinstance(valid_sets, lgb.Dataset) else list(valid_sets or [])
    names = [valid_names] if isinstance(valid_names, str) else valid_names and list(valid_names)
    if names and len(names) != len(sets):
        raise ValueError(
            f"valid_names has {len(names)} names, valid_sets {len(sets)} sets: give one for each"
        )
    job = planned(
        ENGINE,
        params,
        data,
        rounds,
        objective,
        leaves,
        feval,
        zip(names or [f"valid_{i}" for i in range(len(sets))], sets, strict=True),
        init_model,
        valid_names=names,
        keep_training_booster=keep_training_booster,
        callbacks=callbacks,
    )
    return trained(job)


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
    feval: Metrics = None,
    callbacks: Sequence[Any] | None = None,
    return_cvbooster: bool = False,
) -> dict[str, Any]:
    """Cross-validate a ranker with `lightgbm.cv`, over folds of whole queries.

    Parameters
    ----------
    params, data, rounds, objective, leaves, feval, callbacks
        As of `lambdaboost.lightgbm.train`.
    nfold : int
        Number of folds; their numbers of queries differ by at most one.
    seed : int
        Seed of the folds; the same seed gives the same folds in `lambdaboost.xgboost.cv`.
    folds : splitter or iterable of (training rows, validation rows), optional
        Your own folds, in place of `nfold`; a splitter receives the query of each row as ``groups``.
    return_cvbooster : bool
        Whether to return the boosters under ``"cvbooster"``.

    Returns
    -------
    dict
        As `lightgbm.cv` returns it: ``{"valid NDCG(k=3)-mean": […], "valid NDCG(k=3)-stdv": […]}``.

    Raises
    ------
    TypeError, ValueError
        As `train`, and if there are fewer queries than folds, or a fold splits a query.

    """
    more: dict[str, Any] = {"callbacks": callbacks, "return_cvbooster": return_cvbooster}
    job = planned(ENGINE, params, data, rounds, objective, leaves, feval, **more)
    results: dict[str, Any] = cross_validated(job, nfold, seed, folds)
    return results
