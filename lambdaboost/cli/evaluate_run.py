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
    """Print measures of a TREC run; `letor` names what was given of the other way to evaluate."""
    if run is None or qrels is None:
        raise ValueError("--run and --qrels belong together: give both")
    if letor:
        raise ValueError(f"--run and --qrels say all there is to measure: leave {', '.join(letor)} out")
    measures = parse_measures(measure_texts)
    check_measures(measures, Columns())
    with ERR.status("reading …"):
        scores, q, _ = from_run(read_trec_qrels(qrels), read_trec_run(run))
    # As they stand: rows are in the order in which trec_eval ranks documents of equal score.
    figures = {repr(measure): float(measure(scores, q)) for measure in measures or default_measures(q)}
    if as_json:
        told = {"file": run.name, "qrels": qrels.name, "queries": q.n_queries, "documents": q.n_documents}
        print_json({**told, "measures": json_figures(figures)})
        return
    OUT.print(figures_table({run.name: figures}))
    tell(remark(run.name, q))
