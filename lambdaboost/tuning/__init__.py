"""`tune` and `cross_validate`: which trees, which objective and how many rounds, as a table of paired comparisons."""

from lambdaboost.tuning.cross_validate import CrossValidated, cross_validate
from lambdaboost.tuning.tune import tune
from lambdaboost.tuning.tuned import Tuned

__all__ = ["CrossValidated", "Tuned", "cross_validate", "tune"]
