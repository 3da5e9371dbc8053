"""`tune`: the objective, the parameters and the number of rounds that suit your data, and how sure the choice is."""

from lambdaboost.tuning.tune import tune
from lambdaboost.tuning.tuned import Tuned

__all__ = ["Tuned", "tune"]
