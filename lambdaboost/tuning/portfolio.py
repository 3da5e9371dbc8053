"""The settings of trees that `tune` tries, in this order, under the parameter names of each engine's ranker.

One row is one setting on both engines, so that engines are compared with equal tree parameters: grown leaf by leaf to
the same number of leaves, with the same learning rate, fractions and L2. What bounds a leaf from below differs:
LightGBM counts documents, XGBoost sums hessians.

The first setting is each engine's own defaults.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from lambdaboost.engines import ENGINES


class Trees(NamedTuple):
    """A setting of trees; see `params_of` for the engines' names."""

    learning_rate: float
    leaves: int
    feature_fraction: float
    row_fraction: float
    l2: float
    least_documents: int  # in a leaf, LightGBM
    least_hessian: float  # in a leaf, XGBoost


# Mined by `python -m benchmarks.portfolio FOLDER --minutes 36` from 12 settings made by hand and 9 drawn ones, with
# `YetiLoss()`, 2 folds and up to 150 rounds: LightGBM on mq2008, clueweb09, mslr, netflix, lightgbm, posts, talks and
# two synthetic logs, XGBoost on four of these, at most 300 queries each (benchmarks/results/portfolio.md). After the
# third setting the order is that of the means, since no regret is left.
PORTFOLIO: tuple[Trees | None, ...] = (
    None,
    Trees(0.063, 8, 0.75, 0.96, 0.28, 8, 0.1),
    Trees(0.1, 4, 0.8, 0.8, 1.0, 20, 0.1),
    Trees(0.1, 6, 1.0, 1.0, 0.0, 20, 0.1),
    Trees(0.093, 8, 0.95, 0.84, 0.12, 5, 1.9),
    Trees(0.085, 9, 0.93, 0.69, 1.5, 13, 0.22),
    Trees(0.05, 16, 0.8, 0.8, 0.0, 50, 1.0),
    Trees(0.13, 17, 0.47, 0.87, 0.4, 17, 0.035),
    Trees(0.07, 16, 0.6, 0.97, 0.25, 16, 0.1),
    Trees(0.04, 8, 0.5, 0.7, 5.0, 20, 0.1),
    Trees(0.07, 31, 0.8, 0.8, 1.0, 50, 0.1),
    Trees(0.05, 31, 0.5, 0.8, 1.0, 20, 0.1),
)
# How many `tune` tries by default: with more, what is chosen on some hundred queries is no better on others, but worse.
TRIED = 4


def params_of(engine: str, trees: Trees | None) -> dict[str, Any]:
    """The parameters of the engine's ranker for a setting of trees; none for the engine's own trees.

    >>> params_of("lightgbm", PORTFOLIO[1])["num_leaves"], params_of("xgboost", PORTFOLIO[1])["max_leaves"]
    (8, 8)
    >>> params_of("xgboost", None)
    {}
    """
    if trees is None:
        return {}
    shared = {
        "learning_rate": trees.learning_rate,
        "colsample_bytree": trees.feature_fraction,
        "reg_lambda": trees.l2,
    }
    return shared | ENGINES[engine].tree_params(
        trees.leaves, trees.least_documents, trees.least_hessian, trees.row_fraction
    )
