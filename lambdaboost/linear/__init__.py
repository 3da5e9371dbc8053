"""Linear rankers with the ½‖w‖² of support vector machines; needs clarabel."""

from lambdaboost.linear.ranker import LinearRanker

__all__ = ["LinearRanker"]
