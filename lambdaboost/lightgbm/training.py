"""`train`: `lightgbm.train` with any objective of lambdaboost, and with Newton leaves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lightgbm as lgb

from lambdaboost.engines.checkpoint import Checkpoint
from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.resume import resumed
from lambdaboost.engines.traps import warn_without_split
from lambdaboost.lightgbm._engine import ENGINE
from lambdaboost.lightgbm._leaks import warn_of_leaking_features
from lambdaboost.lightgbm._metrics import by_first_metric
from lambdaboost.lightgbm._plan import Feval, arguments, plan_of
from lambdaboost.lightgbm._resume import ResumeCallbacks, refuse_unfit
from lambdaboost.objectives import LambdaRank, Objective
from lambdaboost.objectives.mcrank import GradeModel

NO_SPLIT = (
    "min_data_in_leaf (20 by default) is met by documents as LightGBM estimates them from hessians, and "
    "min_sum_hessian_in_leaf by the hessians themselves, of which small data and small weights have little: try lower "
    "ones, or leaves='gradient', under which both count documents"
)


def train(
    params: dict[str, Any],
    data: lgb.Dataset,
    rounds: int = 100,
    *,
    objective: Objective | GradeModel | str = LambdaRank(),
    leaves: Leaves = "engine",
    valid_sets: lgb.Dataset | Sequence[lgb.Dataset] | None = None,
    valid_names: str | Sequence[str] | None = None,
    feval: Feval = None,
    init_model: str | Path | lgb.Booster | None = None,
    keep_training_booster: bool = False,
    callbacks: Sequence[Any] | None = None,
    checkpoint: Checkpoint | str | Path | None = None,
) -> lgb.Booster:
    r"""Train a ranker with `lightgbm.train`.

    Parameters
    ----------
    params : dict
        LightGBM's parameters, without an objective.
    data : Dataset
        Training data with groups, and with the label sources that the objective reads.
    rounds : int
        Boosting rounds; as everywhere in LightGBM, ``num_iterations`` in `params` goes before it.
    objective : Objective, GradeModel or str
        An objective, or `McRank`, of which the booster predicts grades; or the text of one:
        ``"Blend(LambdaRank(), ClickTier(), Linear(0.1, 0.001))"``.
    leaves : "engine", "gradient" or "newton"
        ``"engine"``: LightGBM's splits and leaves, by gradient over hessian. ``"gradient"``: `GradientStep` of the
        objective, with ``min_data_in_leaf=100``, or a twentieth of the data if that is less, unless `params` say
        otherwise, since smaller leaves cost it NDCG. ``"newton"``: MART's, splits by least squares on the gradient,
        then in each leaf Newton's step :math:`-\mathrm{rate}\cdot G/(H + \lambda_2)` with the objective's own sums,
        before the rate at most ``max_delta_step``, which is 1000 where `params` do not give it; each tree is grown
        twice, so it refuses what grows trees by chance (bagging, feature sampling, dart, goss, extra_trees) and other
        rules of leaves (lambda_l1, path_smooth, linear_tree, monotone_constraints).
    valid_sets, valid_names, init_model, keep_training_booster, callbacks
        As of `lightgbm.train`.
    feval : measure, callable or list of them, optional
        What to evaluate `valid_sets` by, such as ``[NDCG(k=3), CNDCG(k=3)]``. Without it and without ``metric`` in
        `params` it is ``NDCG(k=3)``. LightGBM's own metrics work too, as ``params["metric"]``, and are evaluated first:
        ``"ndcg"`` at each of ``eval_at``, or ``"ndcg@5"``. Their gains are one table for the whole process.

        Early stopping, be it ``callbacks=[lightgbm.early_stopping(30)]`` or a parameter, goes by the first metric, on
        each of `valid_sets` but the training data; with ``first_metric_only=False`` in `params`, by any metric, as
        LightGBM alone does.
    checkpoint : Checkpoint or path, optional
        Where to save every so many rounds; the same call goes on from what stands there, see `Checkpoint`.

    Returns
    -------
    lightgbm.Booster
        As `lightgbm.train` returns it, cut at the best round after early stopping.

    Raises
    ------
    TypeError, ValueError
        Before the first round: where `params` name an objective, data lack groups or a label source, or Newton leaves
        meet what they cannot work with.

    Warns
    -----
    UserWarning
        Where no tree of the model has a split, or a feature gives a label source away (`lambdaboost.engines.leaks`).

    Examples
    --------
    >>> import numpy as np
    >>> from lambdaboost.lightgbm import Dataset, train
    >>> data = Dataset(np.arange(8.0)[:, None], [0, 0, 1, 1, 0, 0, 1, 1], group=[4, 4])
    >>> train({"min_data_in_leaf": 1, "verbose": -1}, data, rounds=2, leaves="newton").num_trees()
    2

    """
    valid_sets = _listed(valid_sets)
    plan = plan_of(params, data, objective, leaves, feval)
    taken_up = resumed(checkpoint, init_model, "init_model", ENGINE, plan, rounds)
    if taken_up is not None:
        refuse_unfit(params, [data, *(valid_sets or [])])
        rounds = taken_up.rounds
        init_model = None if taken_up.model is None else ENGINE.read(taken_up.model)
        callbacks = ResumeCallbacks(taken_up, plan, by_first_metric(plan.params, callbacks)[1]).callbacks
    on_training = any(valid is data for valid in valid_sets or [])
    # The trees of a checkpoint are fewer than its rounds where some had no split.
    rounds_done = taken_up.begin if taken_up is not None and taken_up.begin else None
    to_engine = arguments(plan, data, callbacks, on_training, rounds_done)
    warn_of_leaking_features(data)
    booster = lgb.train(
        to_engine.params,
        data,
        num_boost_round=rounds,
        valid_sets=valid_sets,
        valid_names=_listed(valid_names),
        feval=to_engine.feval,
        init_model=init_model,
        keep_training_booster=keep_training_booster,
        callbacks=to_engine.callbacks,
    )
    if rounds > 0 and not booster.feature_importance("split").any():
        warn_without_split(NO_SPLIT, data, plan.rule.sources)
    return booster


def _listed(value: Any) -> list[Any] | None:
    if value is None:
        return None
    return [value] if isinstance(value, lgb.Dataset | str) else list(value)
