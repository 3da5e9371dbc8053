"""`train`: `xgboost.train` with any objective and any kind of leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import xgboost as xgb
from xgboost.callback import LearningRateScheduler

from lambdaboost.datasets._checks import check_count
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
from lambdaboost.engines.plan import Metric, Plan
from lambdaboost.engines.resume import resumed
from lambdaboost.engines.traps import warn_without_split
from lambdaboost.objectives import LambdaRank, Objective
from lambdaboost.objectives.constrained import constraint_in
from lambdaboost.objectives.mcrank import GradeModel
from lambdaboost.xgboost import newton
from lambdaboost.xgboost._callbacks import engine_callbacks
from lambdaboost.xgboost._constraint import check_constraint
from lambdaboost.xgboost._engine import ENGINE
from lambdaboost.xgboost._grades import relabelled
from lambdaboost.xgboost._leaks import warn_of_leaking_features
from lambdaboost.xgboost._plan import arguments, check_evaluated, plan_of
from lambdaboost.xgboost._resume import resume_callbacks
from lambdaboost.xgboost.progress import Progress

NO_SPLIT = (
    "min_child_weight (1 by default) sums hessians, which are small for small data: try min_child_weight=0"
)


def train(
    params: Mapping[str, Any],
    data: xgb.DMatrix,
    rounds: int = 100,
    *,
    objective: Objective | GradeModel | str = LambdaRank(),
    leaves: Leaves = "engine",
    evals: Sequence[tuple[xgb.DMatrix, str]] | None = None,
    custom_metric: Metric | str | Sequence[Metric | str] | None = None,
    early_stopping_rounds: int | None = None,
    maximize: bool | None = None,
    evals_result: dict[str, Any] | None = None,
    verbose_eval: bool | int | None = True,
    xgb_model: Any = None,
    callbacks: Sequence[Any] | None = None,
    checkpoint: Checkpoint | str | Path | None = None,
) -> xgb.Booster:
    """Train a ranker with `xgboost.train`, with safe defaults.

    Scores start at 0 (XGBoost would start custom objectives at 0.5), the model is saved as a ``rank:ndcg`` one,
    measures are maximised, and missing groups or label sources are reported before the first round.

    XGBoost's default ``min_child_weight=1`` is kept, as in its own ``rank:ndcg``. With ``leaves="engine"`` it limits
    the sum of hessians in a leaf. A document's hessian is some tenths at first and decreases, so trees become smaller:
    on 8,000 documents from 49 leaves to 22, without loss of NDCG. Set it to 0 for small data. With
    ``leaves="gradient"`` it counts documents; it is 100, or a twentieth of the data if that is less, unless `params`
    set it, since smaller leaves lower NDCG.

    Parameters
    ----------
    params : mapping
        XGBoost's parameters, without ``objective``.
    data : DMatrix
        The training data, with groups, labels, and positions if the objective reads them. In a stock `xgboost.DMatrix`,
        ``label_lower_bound`` and ``label_upper_bound`` are the further sources that `objective` reads, in order.
    rounds : int
        Number of boosting rounds.
    objective : Objective, GradeModel or str
        An objective, or `McRank`, with which the booster predicts grades; or its text, such as ``"graded"``.
        ``"rank:ndcg"``, ``"rank:pairwise"`` and ``"rank:map"`` are XGBoost's own objectives, computed by XGBoost. With
        `Constrained` without a reference, its primary objective is trained alone first, with the same parameters.
    leaves : "engine", "gradient" or "newton"
        Splits and leaves by gradient over hessian; least-squares splits and mean normalised λ (`GradientStep`); or the
        least-squares splits and Newton leaves of MART and the 2011 paper, see `lambdaboost.xgboost.newton`.
    evals : sequence of (DMatrix, name), optional
        Evaluated after each round; early stopping uses the last one.
    custom_metric : measure, str, callable or list of them, optional
        What to evaluate, such as ``NDCG(k=3)`` or ``"mrr@10"``; by default NDCG(3), unless ``params["eval_metric"]``
        names XGBoost's own metrics, which are evaluated first. Names that XGBoost does not know, such as ``"mrr@10"``,
        are measures there too.
    early_stopping_rounds : int, optional
        Stop if the first metric has not improved for this number of rounds. As in XGBoost, the booster keeps all trees;
        the best round is its ``best_iteration``. XGBoost's ``callbacks=[EarlyStopping(…)]`` uses the first metric too,
        unless it has a ``metric_name=``.
    maximize : bool, optional
        Whether higher is better; by default yes for measures, and for others by their names, as in XGBoost.
    evals_result, verbose_eval, xgb_model, callbacks
        As in `xgboost.train`; with a `Progress`, nothing else is printed. With ``leaves="newton"``, callbacks see a
        booster whose predictions have two columns.
    checkpoint : Checkpoint or path, optional
        Where the training is saved regularly; the same call resumes from there, see `Checkpoint`. It carries the
        reference of `Constrained`; the training that measures it is not saved.

    Returns
    -------
    xgboost.Booster

    Raises
    ------
    ValueError, TypeError
        For invalid arguments or data, before anything is trained.
    NotImplementedError
        For ``leaves="newton"`` if XGBoost is older than 3.2.

    Warns
    -----
    UserWarning
        If no tree has a split, a feature leaks a label source (`lambdaboost.engines.leaks`), or the constraint of
        `Constrained` is broken on the training data.

    """
    rounds = check_count("rounds", rounds)
    evals = list(evals or [])
    plan = plan_of(params, data, objective, leaves, custom_metric)
    for matrix, name in evals:
        if "-" in name:
            raise ValueError(f"evals has the name {name!r}: XGBoost reads no names with '-'")
        check_evaluated(plan, f"evals {name!r}", matrix)
    if early_stopping_rounds and not evals:
        raise ValueError(
            f"early_stopping_rounds is {early_stopping_rounds}, but nothing is evaluated: give evals="
        )
    refuse_continued(plan.rule, "xgb_model", xgb_model)
    resumption = resumed(checkpoint, xgb_model, "xgb_model", ENGINE, plan, rounds)
    plan = with_reference(
        plan, resumption, rounds, lambda: _trained_alone(plan, params, data, rounds, callbacks)
    )
    resumes = resumption is not None and resumption.begin > 0
    to_engine = arguments(plan, data, continued=xgb_model is not None or resumes)
    if xgb_model is not None and leaves == "newton":
        xgb_model = newton.widened(xgb_model, plan.params.get("base_score"))
    if any(isinstance(callback, Progress) for callback in callbacks or ()):
        verbose_eval = False
    all_callbacks = engine_callbacks(callbacks, verbose_eval, early_stopping_rounds, maximize)
    if resumption is not None:
        all_callbacks = resume_callbacks(resumption, plan, data, evals, all_callbacks)
        rounds = resumption.rounds
        xgb_model = None if resumption.model is None else bytearray(resumption.model)
    if xgb_model is not None and leaves == "newton":
        # The model contains it, and XGBoost would require one for each of its two scores.
        to_engine.params.pop("base_score", None)
    warn_of_leaking_features(data, plan.sources)
    with relabelled(plan.rule, [data, *(matrix for matrix, _ in evals)], plan.sources):
        booster = xgb.train(
            to_engine.params,
            data,
            rounds,
            evals=evals,
            obj=to_engine.obj,
            custom_metric=to_engine.custom_metric,
            evals_result=evals_result,
            verbose_eval=None,
            xgb_model=xgb_model,
            callbacks=[*to_engine.callbacks, *all_callbacks],
        )
    if leaves == "newton":
        booster = newton.narrowed(booster, to_engine.params)
    if params.get("booster") != "gblinear" and not booster.get_score(importance_type="weight"):
        warn_without_split(NO_SPLIT, data, plan.rule.sources)
    if constraint_in(plan.rule) is not None:
        check_constraint(booster, data, plan.rule, plan.sources)
    return booster


def _trained_alone(
    plan: Plan,
    params: Mapping[str, Any],
    data: xgb.DMatrix,
    rounds: int,
    callbacks: Sequence[Any] | None,
) -> list[float]:
    """The measure on the training data after each round of the reference model."""
    history: dict[str, Any] = {}
    with training_alone():
        train(
            params_alone(plan, params),
            data,
            rounds,
            objective=alone(plan.rule),
            leaves=plan.leaves,
            evals=[(data, "alone")],
            custom_metric=kept_by(plan.rule),
            evals_result=history,
            verbose_eval=False,
            callbacks=[
                callback for callback in callbacks or () if isinstance(callback, LearningRateScheduler)
            ],
        )
    (curve,) = history["alone"].values()
    return curve
