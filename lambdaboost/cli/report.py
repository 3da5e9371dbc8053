"""``lambdaboost report``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._files import sha256
from lambdaboost._installed import remedy
from lambdaboost._words import listed, plain
from lambdaboost.cli import model_file
from lambdaboost.cli.columns import Columns
from lambdaboost.cli.console import ERR, note, tell
from lambdaboost.cli.files import Named
from lambdaboost.cli.measuring import check_columns, check_evaluated, parse_measures, read_scores
from lambdaboost.cli.model_file import LoadedModel
from lambdaboost.clicks import Propensities
from lambdaboost.datasets import Queries
from lambdaboost.datasets.data_file import as_grouped
from lambdaboost.datasets.document_file import DocumentFile
from lambdaboost.datasets.folder import digest
from lambdaboost.diagnostics import Recorder, pictures, replay
from lambdaboost.diagnostics.lambdas import is_of_pairs, pair_parts
from lambdaboost.engines.native import read_objective
from lambdaboost.engines.saving import beside
from lambdaboost.evaluation import System
from lambdaboost.evaluation import report as write_report
from lambdaboost.evaluation.naming import default_measures
from lambdaboost.evaluation.reports.page import has_matplotlib
from lambdaboost.objectives import Objective
from lambdaboost.objectives.base.objective import check_objective

REPLAYED = 40  # number of rounds of a model in its diagnostics
SAMPLE = 200  # number of queries in the diagnostics
# Entries of a model's description that are not on the page, or elsewhere on it.
HIDDEN = {"columns", "history", "measures", "model_sha256", "tuning"}


@dataclass(frozen=True)
class Ranked:
    """A model or a file of scores with the scores of the documents; of a model with the features of a sample."""

    name: str
    path: Path
    scores: NDArray[np.floating]
    model: LoadedModel | None = None
    features: Any = None

    def facts(self) -> dict[str, Any]:
        """What the page says of it."""
        if self.model is None:
            return {"scores": self.path.name, "SHA-256": sha256(self.path)}
        about, columns = self.model.about, self.model.columns
        facts = {"model": self.path.name, "SHA-256": about["model_sha256"]}
        facts |= {
            name: value for name, value in about.items() if name not in HIDDEN and value not in (None, {})
        }
        facts |= {"dropped columns": columns.dropped} if columns.dropped else {}
        return facts | ({"label sources, not features": columns.sources} if columns.sources else {})


def run(
    file: Path,
    model: tuple[Named, ...],
    scores: tuple[Named, ...],
    baseline: str | None,
    measure: tuple[str, ...],
    columns: Columns,
    segment: tuple[str, ...],
    propensities: tuple[Named, ...],
    seed: int,
    out: Path,
) -> None:
    """Evaluate, replay diagnostics and write the page."""
    _check_names((*model, *scores), baseline)
    curves = _curves(propensities)
    measures = parse_measures(measure)
    models = {named: _model(named, columns) for named in model}
    labels, data = model_file.label_columns(columns, list(models.values()), file)
    check_columns(measures, labels)
    if not has_matplotlib():
        note(f"the page has no pictures: they need matplotlib, {remedy('matplotlib')}")
    with ERR.status("measuring …"):
        q = labels.queries(data)
        # Ties in random order, so that a file sorted by grade has no advantage.
        rows = q.shuffled_rows(seed)
        shuffled = q.reordered(rows)
        chosen = np.sort(
            np.random.default_rng(0).choice(q.n_queries, min(SAMPLE, q.n_queries), replace=False)
        )
        sample, ranked = rows[q.rows_of(chosen)], []
        for named, loaded in models.items():
            values, features = loaded.scored(data, sample)
            ranked.append(Ranked(named.name, named.path, values, loaded, features))
        for named in scores:
            values = as_grouped(data, read_scores(named.path, q.n_documents, file))
            ranked.append(Ranked(named.name, named.path, values))
        check_evaluated("FILE", q, data, measures or default_measures(q))
        ranked.sort(key=lambda r: r.name != baseline)  # stable: without one, the first
        loaded_models = {r.name: r.model for r in ranked if r.model}
        facts = {"Measured on": file.name, "SHA-256": digest(file), "Order of ties": f"seed {seed}"}
        write_report(
            out,
            *(System(r.name, r.scores[rows], shuffled) for r in ranked),
            measures=measures or None,
            histories={
                name: m.about["history"] for name, m in loaded_models.items() if m.about.get("history")
            },
            diagnostics=_diagnostics(ranked, data, sample, shuffled.take(chosen))
            | pictures(propensities=curves),
            importance={name: _importance(m, data) for name, m in loaded_models.items()},
            segments={name: segment_of_queries(data, name, q) for name in segment},
            documents=_document_names(labels, data, q.n_documents)[rows],
            run=facts | {r.name: r.facts() for r in ranked},
            title=f"Ranking report: {file.name}",
        )
    tell(str(out))


def _check_names(systems: Sequence[Named], baseline: str | None) -> None:
    if not systems:
        raise ValueError("no systems: give --model MODEL or --scores SCORES, preferably several")
    names = [named.name for named in systems]
    for named in systems:
        if names.count(named.name) > 1:
            raise ValueError(f"the name {named.name!r} is taken: give another, as in NAME={named.path}")
    if baseline is not None and baseline not in names:
        raise ValueError(f"--baseline {baseline!r} is no system: choose among {listed(names)}")


def _model(named: Named, options: Columns) -> LoadedModel:
    """Load the model; --drop is for plain models only."""
    described = beside(named.path).exists()
    return model_file.load(named.path, replace(options, dropped=()) if described else options)


def _importance(model: LoadedModel, file: DocumentFile) -> dict[str, float]:
    """The total gain of each feature of a model."""
    names = model.columns_in(file).feature_names(file)
    return dict(zip(names, map(float, model.engine.importance(model.booster)), strict=True))


def _document_names(columns: Columns, file: DocumentFile, n: int) -> NDArray[np.str_]:
    """Names of the documents, or row numbers from 1 if they have none."""
    if (names := columns.documents(file)) is not None:
        return names
    return as_grouped(file, np.array([f"row {row}" for row in range(1, n + 1)]))


def segment_of_queries(file: DocumentFile, name: str, q: Queries) -> NDArray[Any]:
    """The value of a column in each query; raises ValueError if a text differs within a query."""
    file.check(name, f"--segment {plain(name)}")
    values = file.beside([name]).values(name)
    first = values[q.offsets[:-1]]
    same = (values == first[q.query_of_row]) | ((values != values) & (first != first)[q.query_of_row])
    if same.all():
        return first
    if not np.issubdtype(values.dtype, np.number):
        raise ValueError(
            f"--segment {name}: {name} differs between the documents of a query; give a column of queries"
        )
    note(f"--segment {name} differs between the documents of a query: its mean over them is used")
    return np.add.reduceat(values.astype(np.float64), q.offsets[:-1]) / q.sizes


def _curves(propensities: tuple[Named, ...]) -> dict[str, Propensities]:
    """Curves of position bias by name."""
    curves: dict[str, Propensities] = {}
    for named in propensities:
        if named.name in curves:
            raise ValueError(
                f"--propensities has two curves {named.name!r}: name them, such as {named.name}2=FILE"
            )
        curves[named.name] = Propensities.load(named.path)
    return curves


def _diagnostics(
    ranked: Sequence[Ranked], file: DocumentFile, rows: NDArray[np.int64], q: Queries
) -> dict[str, Callable[[Any], Any]]:
    """The 2011 paper's diagnostics of each model, replayed from its trees on a sample: these rows of the file."""
    drawn: dict[str, Callable[[Any], Any]] = {}
    objectives: dict[str, Objective] = {}
    for r in ranked:
        if r.model is None:
            continue
        if "objective" not in r.model.about:
            note(f"{r.name} has no diagnostics: {r.path} has no record of its objective")
            continue
        try:
            objective = read_objective(r.model.about["objective"])
            check_objective("objective", objective)
            n_rounds = r.model.engine.n_rounds(r.model.booster)
            with file.naming_rows(rows):
                recorder = recorder_for(objective, r.features, q, n_rounds)
                drawn |= pictures(replay(recorder, r.model.booster), of=r.name)
            objectives[repr(objective)] = objective
        except (TypeError, ValueError) as error:
            note(f"{r.name} has no diagnostics: {error}")
    return drawn | pictures(objectives=objectives)


def recorder_for(objective: Objective, X: Any, q: Queries, rounds: int) -> Recorder:
    """A recorder of rankings, with enough rounds for a curve, and of the λ if these are sums over pairs."""
    of_pairs = is_of_pairs(objective)
    parts = [part for _, part in pair_parts(objective)] if of_pairs else []
    compare = [(parts[0], part) for part in parts[1:] if part != parts[0]]
    grades = _high_grades(q) if of_pairs else ()
    every = max(1, rounds // REPLAYED)
    return Recorder(X, q, objective, compare, grades=grades, every=every, sample=None)


def _high_grades(q: Queries) -> tuple[int, ...]:
    """The paper's 3 and 4, else the highest grade; empty if grades are not whole."""
    there = np.unique(q.relevance[~np.isnan(q.relevance)])
    if not there.size or (there != np.floor(there)).any() or there[-1] == 0:
        return ()
    return tuple(int(g) for g in there if g in (3, 4)) or (int(there[-1]),)
