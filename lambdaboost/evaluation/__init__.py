"""Ranking measures, significance tests between systems, and reports.

Imports only `lambdaboost.datasets`.
"""

if __name__ != "lambdaboost.evaluation":
    raise ImportError(
        "import lambdaboost.evaluation, not the folder 'evaluation': numba would cache its kernels twice"
    )

from lambdaboost.evaluation._parse import full_name, read_value
from lambdaboost.evaluation.auc import AUC
from lambdaboost.evaluation.bpref import BPref
from lambdaboost.evaluation.cndcg import CNDCG
from lambdaboost.evaluation.comparison.compare import Comparison, compare
from lambdaboost.evaluation.comparison.difference import Difference
from lambdaboost.evaluation.comparison.rank_changes import RankChanges, rank_changes
from lambdaboost.evaluation.comparison.significance import Significance, significances
from lambdaboost.evaluation.comparison.system import Figures, System
from lambdaboost.evaluation.comparison.top_grades import top_grades
from lambdaboost.evaluation.err import ERR
from lambdaboost.evaluation.kendall_tau import KendallTau
from lambdaboost.evaluation.map import MAP
from lambdaboost.evaluation.measure import Measure
from lambdaboost.evaluation.mrr import MRR
from lambdaboost.evaluation.ndcg import NDCG, ndcg_curve
from lambdaboost.evaluation.pair_accuracy import PairAccuracy
from lambdaboost.evaluation.precision import Precision
from lambdaboost.evaluation.recall import Recall
from lambdaboost.evaluation.report.report import report
from lambdaboost.evaluation.trec.files import read_trec_qrels, read_trec_run, write_trec_qrels, write_trec_run
from lambdaboost.evaluation.trec.interchange import JudgedRun, from_run, from_runs, to_qrels, to_run
from lambdaboost.evaluation.untied import untied
from lambdaboost.evaluation.wta import WTA

MEASURES: dict[str, type[Measure]] = {
    cls.__name__: cls
    for cls in (AUC, BPref, CNDCG, ERR, KendallTau, MAP, MRR, NDCG, PairAccuracy, Precision, Recall, WTA)
}

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
    "Comparison",
    "Difference",
    "Figures",
    "JudgedRun",
    "KendallTau",
    "Measure",
    "PairAccuracy",
    "Precision",
    "RankChanges",
    "Recall",
    "Significance",
    "System",
    "compare",
    "from_run",
    "from_runs",
    "ndcg_curve",
    "parse",
    "rank_changes",
    "read_trec_qrels",
    "read_trec_run",
    "read_value",
    "report",
    "significances",
    "to_qrels",
    "to_run",
    "top_grades",
    "untied",
    "write_trec_qrels",
    "write_trec_run",
]


def parse(text: str) -> Measure:
    """Parse a measure: its `repr`, its bare name for the defaults, or its short name with a cutoff.

    Short names are those of LightGBM, XGBoost and ir_measures, in any case: ``ndcg@10``, ``map``, ``mrr@10``, ``P@5``.
    They give lambdaboost's measure of that name, so a query without a relevant document counts as 0. The text is
    never run as code.

    Raises
    ------
    ValueError
        If the text names no measure (lists the known ones), or gives a cutoff to a measure that has none.

    Examples
    --------
    >>> parse("NDCG(k=3)"), parse("MAP"), parse("ndcg@10")
    (NDCG(k=3), MAP(), NDCG(k=10))

    """
    measure = read_value(full_name(text, MEASURES), MEASURES)
    if not isinstance(measure, Measure):
        raise ValueError(f"{text!r} is not a measure: give one of {', '.join(MEASURES)}, such as NDCG(k=3)")
    return measure
