"""`tune`: find objective, parameters and number of rounds for your data, with the certainty of the choice."""

from lambdaboost.tuning.choice import Choice
from lambdaboost.tuning.front import Front
from lambdaboost.tuning.nested import HeldOut
from lambdaboost.tuning.setting import Setting
from lambdaboost.tuning.tune import Stopped, tune
from lambdaboost.tuning.tuned import Tuned

__all__ = ["Choice", "Front", "HeldOut", "Setting", "Stopped", "Tuned", "tune"]
