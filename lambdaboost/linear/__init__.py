"""Linear rankers with the ½‖w‖² of support vector machines; needs clarabel (``pip install 'lambdaboost[linear]'``)."""

from lambdaboost.linear._cutting_plane import Cut, Solution, cutting_plane
from lambdaboost.linear.ranker import LinearRanker

__all__ = ["Cut", "LinearRanker", "Solution", "cutting_plane"]
