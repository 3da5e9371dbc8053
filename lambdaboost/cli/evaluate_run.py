"""``lambdaboost evaluate --run … --qrels …``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lambdaboost.cli.columns import Columns
from lambdaboost.cli.console import ERR, OUT, print_json, tell
from lambdaboost.cli.measuring import (
    check_measures,
    figures_table,
    json_figures,
    parse_measures,
    remark,
)
from lambdaboost.evaluation import from_run, read_trec_qrels, read_trec_run
from lambdaboost.evaluation.report.default_measures import default_measures


def run_evaluate_run(
    run: Path | None,
    qrels: Path | None,
    measure_texts: tuple[str, ...],
    letor: Sequence[str],
    as_json: bool,
) -> None:
    """Print measures of a TREC run; `letor` names given arguments of the other form of the command."""
    if run is None or qrels is None:
        raise ValueError("--run and --qrels belong together: give both")
    if letor:
        raise ValueError(f"{', '.join(letor)} cannot be combined with --run and --qrels: omit it")
    measures = parse_measures(measure_texts)
    check_measures(measures, Columns())
    with ERR.status("reading …"):
        scores, q, _ = from_run(read_trec_qrels(qrels), read_trec_run(run))
    # Not shuffled: rows are in the order in which trec_eval ranks ties.
    figures = {repr(measure): float(measure(scores, q)) for measure in measures or default_measures(q)}
    if as_json:
        facts = {"file": run.name, "qrels": qrels.name, "queries": q.n_queries, "documents": q.n_documents}
        print_json({**facts, "measures": json_figures(figures)})
        return
    OUT.print(figures_table({run.name: figures}))
    tell(remark(run.name, q))
