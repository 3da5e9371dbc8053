"""`tune`: find the trees, the objective and the number of rounds for your data, and what each of them gave."""

from lambdaboost.tuning.run import Stopped, tune
from lambdaboost.tuning.tuned import Tuned

__all__ = ["Stopped", "Tuned", "tune"]
