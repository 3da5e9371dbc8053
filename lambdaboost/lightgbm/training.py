"""`train`: `lightgbm.train` with any objective and any kind of leaves."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import lightgbm as lgb

from lambdaboost.engines.checkpoint import Checkpoint
from lambdaboost.engines.constraint import (
    alone,
    kept_by,
    params_alone,
    refuse_continued,
    training_alone,
    with_reference,
)
from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.plan import Plan
from lambdaboost.engines.resume import Resumed, resumed
from lambdaboost.engines.traps import warn_without_split
from lambdaboost.lightgbm._callbacks import check_before_alone
from lambdaboost.lightgbm._constraint import check_constraint
from lambdaboost.lightgbm._engine import ENGINE
from lambdaboost.lightgbm._leaks import warn_of_leaking_features
from lambdaboost.lightgbm._metrics import by_first_metric
from lambdaboost.lightgbm._plan import Feval, arguments, plan_of
from lambdaboost.lightgbm._private import ResetParameter
from lambdaboost.lightgbm._resume import ResumeCallbacks, keeping_raw, refuse_unfit
from lambdaboost.lightgbm.dataset import keep_positions
from lambdaboost.objectives import LambdaRank, Objective
from lambdaboost.objectives.constrained import constraint_in
from lambdaboost.objectives.mcrank import GradeModel

NO_SPLIT = (
    "min_data_in_leaf (20 by default) counts documents as LightGBM estimates them from hessians, and "
    "min_sum_hessian_in_leaf sums the hessians, which are small for small data and small weights: try lower values, or "
    "leaves='gradient', with which both count documents"
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
        The training data, with groups, and the label sources and positions that the objective reads.
    rounds : int
        Number of boosting rounds; ``num_iterations`` in `params` overrides it, as in LightGBM.
    objective : Objective, GradeModel or str
        An objective, or `McRank`, with which the booster predicts grades; or its text:
        ``"Blend(LambdaRank(), ClickTier(), Linear(0.1, 0.001))"``. ``"lambdarank"`` and ``"rank_xendcg"`` are
        LightGBM's own objectives, computed by LightGBM. With `Constrained` without a reference, its primary objective
        is trained alone first, with the same parameters.
    leaves : "engine", "gradient" or "newton"
        ``"engine"``: LightGBM's splits and leaves, by gradient over hessian. ``"gradient"``: `GradientStep` of the
        objective, with ``min_data_in_leaf=100``, or a twentieth of the data if that is less, unless `params` set it,
        since smaller leaves lower NDCG. ``"newton"``: as in MART, splits by least squares on the gradient, then in each
        leaf Newton's step :math:`-\mathrm{rate}\cdot G/(H + \lambda_2)`, whose size before the rate is at most
        ``max_delta_step`` (by default 1000). Each tree is grown twice, so random growth is refused (bagging, feature
        sampling, dart, goss, extra_trees), and so are other rules for leaf values (lambda_l1, path_smooth, linear_tree,
        monotone_constraints).
    valid_sets, valid_names, init_model, keep_training_booster, callbacks
        As in `lightgbm.train`.
    feval : measure, str, callable or list of them, optional
        Measures of `valid_sets`, such as ``[NDCG(k=3), CNDCG(k=3)]`` or ``"mrr@10"``; ``NDCG(k=3)`` if `params` have no
        ``metric`` either. LightGBM's own metrics are given as ``params["metric"]`` and evaluated first: ``"ndcg"`` at
        each of ``eval_at``, or ``"ndcg@5"``; names that it does not know, such as ``"mrr@10"``, are measures there
        too. The gains of its own metrics are one table for the whole process.

        Early stopping, by ``callbacks=[lightgbm.early_stopping(30)]`` or by a parameter, uses the first metric on each
        of `valid_sets` except the training data; with ``first_metric_only=False`` in `params` it uses any metric, as
        LightGBM does.
    checkpoint : Checkpoint or path, optional
        Where the training is saved regularly; the same call resumes from there, see `Checkpoint`. It carries the
        reference of `Constrained`; the training that measures it is not saved.

    Returns
    -------
    lightgbm.Booster
        As returned by `lightgbm.train`; after early stopping it predicts with the rounds up to the best.

    Raises
    ------
    TypeError, ValueError
        Before the first round, if `params` name an objective, data lack groups, a label source or positions, or Newton
        leaves are not possible with the parameters.

    Warns
    -----
    UserWarning
        If no tree has a split, a feature leaks a label source (`lambdaboost.engines.leaks`), or the constraint of
        `Constrained` is broken on the training data.

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
    refuse_continued(plan.rule, "init_model", init_model)
    resumption = resumed(checkpoint, init_model, "init_model", ENGINE, plan, rounds)
    if resumption is not None:
        refuse_unfit(params, [data, *(valid_sets or [])])
    warn_of_leaking_features(data)  # the first training may free the features
    plan = with_reference(
        plan,
        resumption,
        rounds,
        lambda: _trained_alone(plan, params, data, rounds, valid_sets or [], callbacks, resumption),
    )
    if resumption is not None:
        rounds = resumption.rounds
        init_model = None if resumption.model is None else ENGINE.read(resumption.model)
        callbacks = ResumeCallbacks(resumption, plan, by_first_metric(plan.params, callbacks)[1]).callbacks
    on_training = any(valid is data for valid in valid_sets or [])
    for valid in valid_sets or []:
        keep_positions(valid)
    # A checkpoint has fewer trees than rounds if some trees had no split.
    rounds_done = resumption.begin if resumption is not None and resumption.begin else None
    to_engine = arguments(plan, data, callbacks, on_training, rounds_done)
    constrained = constraint_in(plan.rule) is not None
    booster = lgb.train(
        to_engine.params,
        data,
        num_boost_round=rounds,
        valid_sets=valid_sets,
        valid_names=_listed(valid_names),
        feval=to_engine.feval,
        init_model=init_model,
        keep_training_booster=keep_training_booster or constrained,
        callbacks=to_engine.callbacks,
    )
    if to_engine.in_rounds is not None and constrained:
        check_constraint(booster, to_engine.in_rounds, rolls_back=not keep_training_booster)
    if constrained and not keep_training_booster:
        booster.model_from_string(booster.model_to_string()).free_dataset()  # as lightgbm.train does
    if rounds > 0 and not booster.feature_importance("split").any():
        warn_without_split(NO_SPLIT, data, plan.rule.sources)
    return booster


def _trained_alone(
    plan: Plan,
    params: dict[str, Any],
    data: lgb.Dataset,
    rounds: int,
    valid_sets: Sequence[Any],
    callbacks: Sequence[Any] | None,
    resumption: Resumed | None,
) -> list[float]:
    """The measure on the training data after each round of the reference model."""
    history: dict[str, Any] = {}
    resumes = resumption is not None and resumption.begin > 0
    with training_alone(), keeping_raw([data, *valid_sets]) if resumes else nullcontext():
        train(
            params_alone(plan, params),
            data,
            rounds,
            objective=alone(plan.rule),
            leaves=plan.leaves,
            valid_sets=[data],
            valid_names=["alone"],
            feval=kept_by(plan.rule),
            callbacks=[
                check_before_alone(plan, valid_sets),
                *(callback for callback in callbacks or () if isinstance(callback, ResetParameter)),
                lgb.record_evaluation(history),
            ],
        )
    (curve,) = history["alone"].values()
    return curve


def _listed(value: Any) -> list[Any] | None:
    if value is None:
        return None
    return [value] if isinstance(value, lgb.Dataset | str) else list(value)
