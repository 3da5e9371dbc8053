"""The report: the field pooled and by data set, regret, recipes, and what follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

import benchmarks.field as protocol
from benchmarks.field.candidates import DEFAULT, LAMBDARANK
from benchmarks.field.data import SYNTHETIC, graded_only
from benchmarks.field.results import Results, Searched
from benchmarks.field.study import CUTOFFS
from benchmarks.field.verdicts import findings, recipes
from experiments.common import report
from experiments.common.data import Data
from experiments.common.report import table
from experiments.common.verdicts import marked
from lambdaboost import NDCG

TUNED = 3  # the cutoff of the measure that stops and chooses
AROUND = 1e-9  # two means of the same figures


def write_report(
    searched: Searched, results: Results, defaults: Results, data: Mapping[str, Data], out: Path, command: str
) -> None:
    """Write report.md; `command` repeats it."""
    real = [name for name in data if name != SYNTHETIC]
    sections = [_text("Findings", findings(results, searched, real))]
    if real:
        sections.append(_text("Data sets pooled", _pooled(results, searched, real)))
    if SYNTHETIC in data:
        sections.append(_text("Synthetic log", _pooled(results, searched, [SYNTHETIC])))
    for k in CUTOFFS:
        sections.append(_text(f"NDCG@{k} by data set", _by_set(results, searched, list(data), k)))
    if searched.recipes:
        sections.append(_text("Recipes", recipes(results, searched, list(data))))
    sections.append(_text("Defaults", _defaults(results, defaults, searched, real or list(data))))
    sections.append(_text("Data", _described(data)))
    report.write(out, "The field under equal tuning", _head(searched, command), sections)


def _head(searched: Searched, command: str) -> str:
    text = (protocol.__doc__ or "").split("\n\n", 1)[1].strip()
    engines = [name for name in ("lightgbm", "xgboost", "catboost") if _trains(searched, name)]
    return f"`{command}`: T = {searched.draws}. {report.versions(*engines)}.\n\n{text}"


def _trains(searched: Searched, engine: str) -> bool:
    return any(candidate.engine == engine for candidate in searched.candidates)


def _text(title: str, body: str) -> str:
    return f"## {title}\n\n{body}"


def _pooled(results: Results, searched: Searched, data: Sequence[str]) -> str:
    """Every row: its figures with marks, those of the refit, regret and seconds."""
    base, field = LAMBDARANK.name, searched.names
    others = [row for row in results.rows if row != base and row not in searched.recipes]
    plain = results.compared(base, others, CUTOFFS, data)
    refit = results.compared(base, others, (TUNED,), data, refit=True)
    rows = []
    for row in [base, *others]:
        cells = [f"{100 * results.mean(row, k, data):.2f}" for k in CUTOFFS]
        again = f"{100 * results.mean(row, TUNED, data, refit=True):.2f}"
        if row != base:
            cells = [marked(c, plain.significance[row, NDCG(k)]) for c, k in zip(cells, CUTOFFS, strict=True)]
            again = marked(again, refit.significance[row, NDCG(TUNED)])
        lost = [results.regret(row, TUNED, data, field, refit=r) for r in (False, True)]
        rows.append(
            [row, *cells, again, *(f"{100 * x:.2f}" for x in lost), f"{results.total_seconds(row, data):.0f}"]
        )
    header = ["", *(f"NDCG@{k}" for k in CUTOFFS), f"refit @{TUNED}", "regret", "refit", "seconds"]
    n = results.per_query(base, TUNED, data).size
    caption = (
        f"Means over {n:,} test queries, times 100. ▲ better, ▼ worse than {base} ({plain.criterion}; the refits "
        f"are a family of {len(others)}). Regret: points of NDCG@{TUNED} behind the best objective of each set, mean "
        f"over {len(data)} set{'s' * (len(data) > 1)}, without and with the refit. Seconds: the searches of all folds, "
        "on one thread of a busy machine."
    )
    return table(header, rows, caption)


def _by_set(results: Results, searched: Searched, data: Sequence[str], k: int) -> str:
    shown = [row for row in results.rows if row not in searched.recipes]
    best = {name: max(results.mean(row, k, [name]) for row in searched.names) for name in data}
    rows = []
    for row in shown:
        means = {name: results.mean(row, k, [name]) for name in data}
        cells = [
            f"**{100 * mean:.2f}**" if mean >= best[name] - AROUND else f"{100 * mean:.2f}"
            for name, mean in means.items()
        ]
        rows.append([row, *cells])
    return table(["", *data], rows, "Not refitted. Bold: at least the best objective of the set.")


def _defaults(results: Results, defaults: Results, searched: Searched, data: Sequence[str]) -> str:
    """The first draw of every candidate, and what the others gain."""
    base = DEFAULT.name
    others = [row for row in searched.names if row != base]
    found = defaults.compared(base, others, CUTOFFS, data)
    rows = []
    for row in [base, *others]:
        cells = [f"{100 * defaults.mean(row, k, data):.2f}" for k in CUTOFFS]
        if row != base:
            cells = [marked(c, found.significance[row, NDCG(k)]) for c, k in zip(cells, CUTOFFS, strict=True)]
        gain = results.mean(row, TUNED, data) - defaults.mean(row, TUNED, data)
        rows.append([row, *cells, f"{100 * gain:+.2f}"])
    header = ["", *(f"NDCG@{k}" for k in CUTOFFS), f"by tuning @{TUNED}"]
    caption = (
        f"The first draw, pooled: each engine's defaults with early stopping, or those of lambdaboost.lightgbm.train. "
        f"▲ better, ▼ worse than {base}, the default of LambdaRanker ({found.criterion}). By tuning: what the best of "
        "all draws gains."
    )
    return table(header, rows, caption)


def _described(data: Mapping[str, Data]) -> str:
    rows = []
    for name, one in data.items():
        parts = [graded_only(part) for part in one.parts.values()]
        queries = sum(part.queries.n_queries for part in parts)
        documents = sum(part.queries.n_documents for part in parts)
        highest = max(float(np.nanmax(part.queries.relevance)) for part in parts)
        counts = (queries, documents, parts[0].n_features)
        rows.append([name, *(f"{count:,}" for count in counts), f"0–{highest:g}", str(len(one.folds))])
    header = ["", "queries", "documents", "features", "grades", "folds"]
    origins = "\n".join(f"- {name}: {one.origin}; SHA-256 `{one.digest}`." for name, one in data.items())
    return table(header, rows, "Queries with a relevant document.") + "\n\n" + origins
