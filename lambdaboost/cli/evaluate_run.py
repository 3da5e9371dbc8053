"""``lambdaboost evaluate --run … --qrels …``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lambdaboost.cli.console import ERR, OUT, print_json, tell
from lambdaboost.cli.measuring import (
    DEFAULT,
    check_sources,
    figures_table,
    json_figures,
    parse_measures,
    remark,
)
from lambdaboost.evaluation import from_run, read_trec_qrels, read_trec_run


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
    measures = parse_measures(measure_texts or DEFAULT)
    check_sources({m.source: f"--measure {m!r}" for m in measures}, ["relevance"])
    with ERR.status("reading …"):
        scores, q, _ = from_run(read_trec_qrels(qrels), read_trec_run(run))
    # As they stand: rows are in the order in which trec_eval ranks documents of equal score.
    figures = {repr(measure): float(measure(scores, q)) for measure in measures}
    if as_json:
        told = {"file": run.name, "qrels": qrels.name, "queries": q.n_queries, "documents": q.n_documents}
        print_json({**told, "measures": json_figures(figures)})
        return
    OUT.print(figures_table({run.name: figures}))
    tell(remark(run.name, q))
