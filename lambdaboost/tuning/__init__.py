"""`tune`: find objective, parameters and number of rounds for your data, with the certainty of the choice."""

from lambdaboost.tuning.choice import Choice, Front
from lambdaboost.tuning.keep import Kept
from lambdaboost.tuning.run import Stopped, tune
from lambdaboost.tuning.second_label import SecondLabel
from lambdaboost.tuning.tuned import HeldOut, Tuned
from lambdaboost.tuning.worth import Worth

__all__ = ["Choice", "Front", "HeldOut", "Kept", "SecondLabel", "Stopped", "Tuned", "Worth", "tune"]
