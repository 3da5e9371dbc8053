"""Diagnostics of training: those of figures 2–7 of the 2011 paper, as arrays and as plots.

Also a measure against a shifted weight and the test of local optimality, after the 2007 paper, and the 2006 paper's
test of a λ rule.

The plots are in `lambdaboost.diagnostics.plots`.
"""

from lambdaboost.diagnostics.agreement import lambda_agreement
from lambdaboost.diagnostics.cost_derivatives import cost_derivatives
from lambdaboost.diagnostics.lambda_jacobian import LambdaJacobian, lambda_jacobian
from lambdaboost.diagnostics.local_optimum import LocalOptimum, local_optimum_test
from lambdaboost.diagnostics.loop_work import loop_work
from lambdaboost.diagnostics.pictures import pictures
from lambdaboost.diagnostics.recorder import Recorder
from lambdaboost.diagnostics.replay import replay
from lambdaboost.diagnostics.schedule_weights import schedule_weights
from lambdaboost.diagnostics.share_by_grade import lambda_share_by_grade
from lambdaboost.diagnostics.training_share import TrainingShare, nested_queries, training_share
from lambdaboost.diagnostics.weight_sweep import WeightSweep, weight_sweep
from lambdaboost.evaluation.comparison.rank_changes import RankChanges, rank_changes
from lambdaboost.evaluation.comparison.top_grades import top_grades

__all__ = [
    "LambdaJacobian",
    "LocalOptimum",
    "RankChanges",
    "Recorder",
    "TrainingShare",
    "WeightSweep",
    "cost_derivatives",
    "lambda_agreement",
    "lambda_jacobian",
    "lambda_share_by_grade",
    "local_optimum_test",
    "loop_work",
    "nested_queries",
    "pictures",
    "rank_changes",
    "replay",
    "schedule_weights",
    "top_grades",
    "training_share",
    "weight_sweep",
]
