"""Ranking measures, significance tests between systems, and reports.

Measures are functions of scores and `Queries`; engines and scikit-learn call them by `lambdaboost.scoring`.
"""

if __name__ != "lambdaboost.evaluation":
    raise ImportError(
        "import lambdaboost.evaluation, not the folder 'evaluation': numba would cache its kernels twice"
    )

from lambdaboost.evaluation.binary import AUC, MAP, MRR, BPref, Precision, Recall
from lambdaboost.evaluation.click_dcg import ClickDCG
from lambdaboost.evaluation.comparison import Comparison, Difference, compare, compare_values
from lambdaboost.evaluation.correlations import KendallTau, PairAccuracy, Pearson, Spearman
from lambdaboost.evaluation.err import ERR
from lambdaboost.evaluation.measure import MEASURES, Measure
from lambdaboost.evaluation.naming import parse, read_value
from lambdaboost.evaluation.ndcg import CNDCG, NDCG
from lambdaboost.evaluation.report_page import report
from lambdaboost.evaluation.trade_offs import Choice, TradeOff, trade_off
from lambdaboost.evaluation.trec import (
    from_runs,
    read_trec_qrels,
    read_trec_run,
    to_qrels,
    to_run,
    write_trec_qrels,
    write_trec_run,
)

__all__ = [
    "AUC",
    "CNDCG",
    "ERR",
    "MAP",
    "MEASURES",
    "MRR",
    "NDCG",
    "BPref",
    "Choice",
    "ClickDCG",
    "Comparison",
    "Difference",
    "KendallTau",
    "Measure",
    "PairAccuracy",
    "Pearson",
    "Precision",
    "Recall",
    "Spearman",
    "TradeOff",
    "compare",
    "compare_values",
    "from_runs",
    "parse",
    "read_trec_qrels",
    "read_trec_run",
    "read_value",
    "report",
    "to_qrels",
    "to_run",
    "trade_off",
    "write_trec_qrels",
    "write_trec_run",
]
