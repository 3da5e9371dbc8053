"""Ranking measures, significance tests between systems, and reports.

Imports only `lambdaboost.datasets` and `lambdaboost.clicks`.
"""

if __name__ != "lambdaboost.evaluation":
    raise ImportError(
        "import lambdaboost.evaluation, not the folder 'evaluation': numba would cache its kernels twice"
    )

from lambdaboost.evaluation.binary import AUC, MAP, MRR, WTA, BPref, Precision, Recall
from lambdaboost.evaluation.click_dcg import ClickDCG
from lambdaboost.evaluation.cndcg import CNDCG
from lambdaboost.evaluation.comparison.paired import Comparison, Difference, compare
from lambdaboost.evaluation.comparison.significance import Significance, significances
from lambdaboost.evaluation.comparison.system import Figures, System
from lambdaboost.evaluation.comparison.trade_off import best_without_loss, non_dominated
from lambdaboost.evaluation.correlations import KendallTau, PairAccuracy, Pearson, Spearman
from lambdaboost.evaluation.err import ERR
from lambdaboost.evaluation.measure import MEASURES, Measure
from lambdaboost.evaluation.naming import parse, read_value
from lambdaboost.evaluation.ndcg import NDCG
from lambdaboost.evaluation.reports.write import report
from lambdaboost.evaluation.trec.files import read_trec_qrels, read_trec_run, write_trec_qrels, write_trec_run
from lambdaboost.evaluation.trec.frames import from_run, from_runs, to_qrels, to_run

__all__ = [
    "AUC",
    "CNDCG",
    "ERR",
    "MAP",
    "MEASURES",
    "MRR",
    "NDCG",
    "WTA",
    "BPref",
    "ClickDCG",
    "Comparison",
    "Difference",
    "Figures",
    "KendallTau",
    "Measure",
    "PairAccuracy",
    "Pearson",
    "Precision",
    "Recall",
    "Significance",
    "Spearman",
    "System",
    "best_without_loss",
    "compare",
    "from_run",
    "from_runs",
    "non_dominated",
    "parse",
    "read_trec_qrels",
    "read_trec_run",
    "read_value",
    "report",
    "significances",
    "to_qrels",
    "to_run",
    "write_trec_qrels",
    "write_trec_run",
]
