"""Ranking measures, significance tests between systems, and reports.

Imports only `lambdaboost.datasets` and `lambdaboost.clicks`.
"""

if __name__ != "lambdaboost.evaluation":
    raise ImportError(
        "import lambdaboost.evaluation, not the folder 'evaluation': numba would cache its kernels twice"
    )

from lambdaboost.evaluation.auc import AUC
from lambdaboost.evaluation.bpref import BPref
from lambdaboost.evaluation.click_dcg import ClickDCG
from lambdaboost.evaluation.cndcg import CNDCG
from lambdaboost.evaluation.comparison.paired import Comparison, Difference, compare
from lambdaboost.evaluation.comparison.significance import Significance, significances
from lambdaboost.evaluation.comparison.system import Figures, System
from lambdaboost.evaluation.comparison.trade_off import best_without_loss, non_dominated
from lambdaboost.evaluation.err import ERR
from lambdaboost.evaluation.kendall_tau import KendallTau
from lambdaboost.evaluation.map import MAP
from lambdaboost.evaluation.measure import MEASURES, Measure
from lambdaboost.evaluation.mrr import MRR
from lambdaboost.evaluation.naming import parse, read_value
from lambdaboost.evaluation.ndcg import NDCG
from lambdaboost.evaluation.pair_accuracy import PairAccuracy
from lambdaboost.evaluation.pearson import Pearson
from lambdaboost.evaluation.precision import Precision
from lambdaboost.evaluation.recall import Recall
from lambdaboost.evaluation.reports.write import report
from lambdaboost.evaluation.spearman import Spearman
from lambdaboost.evaluation.trec.files import read_trec_qrels, read_trec_run, write_trec_qrels, write_trec_run
from lambdaboost.evaluation.trec.frames import from_run, from_runs, to_qrels, to_run
from lambdaboost.evaluation.wta import WTA

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
