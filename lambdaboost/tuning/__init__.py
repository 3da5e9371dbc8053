"""`tune`: the objective, the parameters and the number of rounds that suit your data, and how sure the choice is."""

from lambdaboost.tuning.choice import Choice
from lambdaboost.tuning.front import Front
from lambdaboost.tuning.nested import HeldOut
from lambdaboost.tuning.setting import Setting
from lambdaboost.tuning.tune import Stopped, tune
from lambdaboost.tuning.tuned import Tuned

__all__ = ["Choice", "Front", "HeldOut", "Setting", "Stopped", "Tuned", "tune"]
