"""Why a training went as it did: the diagnostics of the 2011 paper's figures 2–7, as arrays and as plots.

The plots are in `lambdaboost.diagnostics.plots`.
"""

from lambdaboost.diagnostics.agreement import lambda_agreement
from lambdaboost.diagnostics.cost_derivatives import cost_derivatives
from lambdaboost.diagnostics.recorder import Recorder
from lambdaboost.diagnostics.schedule_weights import schedule_weights
from lambdaboost.diagnostics.share_by_grade import lambda_share_by_grade
from lambdaboost.diagnostics.training_share import TrainingShare, nested_queries, training_share
from lambdaboost.evaluation.rank_changes import RankChanges, rank_changes
from lambdaboost.evaluation.top_grades import top_grades

__all__ = [
    "RankChanges",
    "Recorder",
    "TrainingShare",
    "cost_derivatives",
    "lambda_agreement",
    "lambda_share_by_grade",
    "nested_queries",
    "rank_changes",
    "schedule_weights",
    "top_grades",
    "training_share",
]
