"""Floor 2: ranking measures, value per query; significance and reports.

Imports only `lambdaboost.datasets`.
"""

if __name__ != "lambdaboost.evaluation":
    raise ImportError(
        "import lambdaboost.evaluation, not the folder 'evaluation': numba would cache its kernels twice"
    )

from lambdaboost.evaluation.cndcg import CNDCG
from lambdaboost.evaluation.measure import Measure
from lambdaboost.evaluation.ndcg import NDCG, ndcg_curve

__all__ = ["CNDCG", "NDCG", "Measure", "ndcg_curve"]
