"""Diagnostics of training: the 2011 paper's figures 2 to 5, as arrays and as plots.

The plots are in `lambdaboost.diagnostics.plots`.
"""

from lambdaboost.diagnostics.lambdas import cost_derivatives, lambda_agreement, lambda_share_by_grade
from lambdaboost.diagnostics.plots import pictures
from lambdaboost.diagnostics.recorder import Recorder, replay

__all__ = [
    "Recorder",
    "cost_derivatives",
    "lambda_agreement",
    "lambda_share_by_grade",
    "pictures",
    "replay",
]
