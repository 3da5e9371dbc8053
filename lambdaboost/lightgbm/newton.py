"""Least-squares splits with Newton leaves, inside LightGBM's own training loop.

LightGBM computes splits and leaves from the same gradient and hessian. MART splits by least squares on the gradient and
then takes Newton's step in each leaf. `set_leaf_output` changes a tree, but not the scores that LightGBM keeps for the
training and validation rows; only adding and removing trees changes these. So in each round, with F the scores so far:

1. grow a tree with hess = 1, or the weights of the rows: leaves T, scores F + T; find the leaf of each row, and compute
   Newton's leaves V;
2. set the leaves to 2T − V and remove the tree: scores F + T − (2T − V) = F + V − T;
3. let LightGBM grow the same tree again: scores F + V, for every metric that follows; set the leaves to V.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lambdaboost._lightgbm import Tree, last_tree, parameters_of
from lambdaboost.calls.traps import Case, look_for
from lambdaboost.engines.job import Job, Step
from lambdaboost.engines.leaves import LARGEST_STEP, least_squares
from lambdaboost.engines.traps import NEWTON
from lambdaboost.lightgbm.traps import TRAPS
from lambdaboost.objectives import Objective

L2, RATE = ("lambda_l2", "reg_lambda", "lambda"), ("learning_rate", "shrinkage_rate", "eta")
LARGEST = ("max_delta_step", "max_tree_output", "max_leaf_output")

Floats = NDArray[np.float64]
Derivative = NDArray[np.floating]


class NewtonStep(Step):
    """The objective for `lightgbm.train` or `lightgbm.cv` with ``leaves="newton"``, and its step."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.objective: Objective = job.rule
        self._boosters: dict[Any, Any] = {}  # by training data
        self._grown: dict[Any, tuple[Floats, Floats]] = {}  # by booster, within one round

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # LightGBM copies its parameters, and the step must share state with the copy.
        return self

    def __call__(self, scores: Floats, data: Any) -> tuple[Derivative, Derivative]:
        """The gradient and hessian of a least-squares tree, after shifting the scores by V − T."""
        grad, hess, of_splits = least_squares(self.objective, scores, data)
        booster = self._boosters[data]
        grown = _offset(booster, scores.copy(), hess, (grad, of_splits))
        if grown is not None:
            self._grown[booster] = grown
        return grad, of_splits

    def begin(self) -> None:
        """Raise where a tree could not be grown twice."""
        for booster, data in self.job.boosters:
            look_for(TRAPS, NEWTON, Case(params=parameters_of(booster)))
            self._boosters[data] = booster

    def after_round(self) -> None:
        """Step 3."""
        for booster, _ in self.job.boosters:
            grown = self._grown.pop(booster, None)
            if grown is not None:
                outputs, newton = grown
                _check_grown_again(last_tree(booster).outputs, outputs)
                _set_leaves(booster, newton)


def _offset(
    booster: Any,
    scores: Floats,
    hess: Derivative,
    of_splits: tuple[Derivative, Derivative],
) -> tuple[Floats, Floats] | None:
    """Steps 1 and 2: T and V, after which the scores are F + V − T, without the tree; None if nothing splits."""
    if booster.update(fobj=lambda *_: of_splits):
        return None
    tree = last_tree(booster)
    marks = np.zeros_like(tree.outputs)
    leaf = _nearest_leaf(training_scores(booster) - scores, tree.outputs, np.abs(scores).max())
    if leaf is None:
        # Leaves of equal output cannot be distinguished: mark each; removing the tree shows the marks in the scores.
        mark = 2.0 ** math.frexp(max(1.0, np.abs(scores).max()) * 1e-9)[1]
        marks = np.arange(tree.outputs.size, dtype=np.float64) * mark
        _set_leaves(booster, tree.outputs - marks)
        booster.rollback_one_iter()
        leaf = np.rint((training_scores(booster) - scores) / mark).astype(np.intp)
        booster.update(fobj=lambda *_: of_splits)
    newton = _newton_outputs(leaf, of_splits[0], hess, tree, booster.params)
    _set_leaves(booster, marks + 2 * tree.outputs - newton)
    booster.rollback_one_iter()
    return tree.outputs, newton


def _nearest_leaf(steps: Floats, outputs: Floats, scale: float) -> NDArray[np.intp] | None:
    """The leaf of each row, by the change of its score; None if two leaves are too close to distinguish."""
    order = np.argsort(outputs)
    ordered = outputs[order]
    if np.diff(ordered).min() <= 1e-12 * (scale + np.abs(outputs).max()):
        return None
    return order[np.searchsorted((ordered[1:] + ordered[:-1]) / 2, steps)]


def _newton_outputs(
    leaf: NDArray[np.intp], grad: Derivative, hess: Derivative, tree: Tree, params: dict[str, Any]
) -> Floats:
    """V = −rate·G/(H + λ2) of each leaf, the step capped, 0 where no document of the leaf has a gradient."""
    n = tree.outputs.size
    g, h = (
        np.bincount(leaf, grad, n),
        np.bincount(leaf, hess, n) + _full_precision(tree.l2, params, L2),
    )
    step = np.divide(g, h, where=h > 0, out=np.copysign(np.where(g == 0, 0.0, np.inf), g))
    limited = any(name in params for name in LARGEST)
    largest = _full_precision(tree.max_step, params, LARGEST) if limited else LARGEST_STEP
    if largest > 0:  # LightGBM reads 0 as no limit
        step = np.clip(step, -largest, largest)
    return -_full_precision(tree.rate, params, RATE) * np.where(np.isfinite(step), step, 0.0)


def _full_precision(printed: float, params: dict[str, Any], names: Sequence[str]) -> float:
    """The parameter in full precision; LightGBM prints six digits, which show which alias it used."""
    for name in names:
        if name in params and math.isclose(float(params[name]), printed, rel_tol=1e-5):
            return float(params[name])
    return printed


def training_scores(booster: Any) -> Floats:
    """A copy of the scores of the training rows."""
    seen: list[Floats] = []

    def look(scores: Floats, _: Any) -> list[Any]:
        seen.append(scores.copy())
        return []

    booster.eval_train(look)
    return seen[0]


def _set_leaves(booster: Any, outputs: Floats) -> None:
    tree = booster.num_trees() - 1
    for leaf, output in enumerate(outputs.tolist()):
        booster.set_leaf_output(tree, leaf, output)


def _check_grown_again(outputs: Floats, before: Floats) -> None:
    scale = np.abs(before).max()
    if outputs.size != before.size or np.abs(outputs - before).max() > 1e-6 * scale:
        raise RuntimeError(
            "LightGBM grew another tree from the same gradients, which leaves='newton' cannot use: "
            "set deterministic=True and force_row_wise=True, or use leaves='gradient'"
        )
