"""``lambdaboost report``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.cli import model_file
from lambdaboost.cli.columns import Columns, Source
from lambdaboost.cli.console import ERR, note, tell
from lambdaboost.cli.data_file import DataFile, shown
from lambdaboost.cli.evaluate import read_scores
from lambdaboost.cli.measuring import check_measures, parse_measures
from lambdaboost.cli.model_file import LoadedModel
from lambdaboost.clicks import Propensities
from lambdaboost.datasets import Queries
from lambdaboost.datasets._files import check_place, sha256
from lambdaboost.diagnostics import Recorder, pictures, replay
from lambdaboost.diagnostics._parts import pair_parts
from lambdaboost.diagnostics.pictures import is_of_pairs
from lambdaboost.engines.native import read_objective
from lambdaboost.engines.saving import beside
from lambdaboost.evaluation import System, report
from lambdaboost.evaluation.report.svg import has_matplotlib
from lambdaboost.objectives import Objective
from lambdaboost.objectives.base.objective import check_objective

REPLAYED = 40  # number of rounds of a model in its diagnostics
SAMPLE = 200  # number of queries in the diagnostics
# Entries of a model's description on the page, in order.
SHOWN_KEYS = (
    "objective",
    "leaves",
    "engine",
    "params",
    "rounds",
    "rounds_kept",
    "early_stopping",
    "seed",
    "data",
    "versions",
)


@dataclass(frozen=True)
class Given:
    """A model or a file of scores, and its name on the page."""

    option: str
    name: str
    path: Path

    @classmethod
    def parse(cls, option: str, text: str) -> Given:
        """Parse ``PATH`` or ``NAME=PATH``.

        >>> Given.parse("--model", "graded=models/7.txt").name, Given.parse("--model", "models/7.txt").name
        ('graded', '7')
        """
        name, equals, path = text.partition("=")
        whole = Path(text).expanduser()
        if not equals or whole.exists():
            return cls(option, whole.stem, whole)
        if not name.strip() or not path:
            raise ValueError(f"{option} {text!r}: expected PATH or NAME=PATH, such as graded=model.txt")
        return cls(option, name.strip(), Path(path).expanduser())


@dataclass(frozen=True)
class Ranked:
    """A system with its scores, facts about it, and its model if it has one."""

    given: Given
    scores: NDArray[np.floating]
    facts: Mapping[str, Any]
    model: LoadedModel | None = None
    features: Any = None


def run_report(
    path: Path,
    model_texts: tuple[str, ...],
    scores_texts: tuple[str, ...],
    baseline: str | None,
    measure_texts: tuple[str, ...],
    options: Columns,
    segments: tuple[str, ...],
    propensities_texts: tuple[str, ...],
    seed: int,
    out: Path,
) -> None:
    """Evaluate, replay diagnostics and write the page."""
    check_place("--out", out)
    given = _ordered(
        [
            *(Given.parse("--model", text) for text in model_texts),
            *(Given.parse("--scores", text) for text in scores_texts),
        ],
        baseline,
    )
    curves = _curves(propensities_texts)
    measures = parse_measures(measure_texts)
    models = {g: _model(g, options) for g in given if g.option == "--model"}
    columns = _labels(options, models)
    check_measures(measures, columns)
    if not has_matplotlib():
        note("the page has no pictures: they need matplotlib, pip install 'lambdaboost[plots]'")
    with ERR.status("measuring …"):
        file = columns.opened(path)
        if options.position is None and columns.position not in file.names:  # models of clicks on graded data
            columns = replace(columns, position=None)
        q = columns.queries(file)
        ranked = [_ranked(g, models.get(g), file, q) for g in given]
        # Ties in random order, so that a file sorted by grade has no advantage.
        rows = q.shuffled_rows(seed)
        shuffled = q.reordered(rows)
        systems = [System(r.given.name, r.scores[rows], shuffled) for r in ranked]
        run: dict[str, Any] = {
            "Measured on": path.name,
            "SHA-256": sha256(path),
            "Order of ties": f"seed {seed}",
        }
        report(
            out,
            *systems,
            measures=measures or None,
            histories={
                r.given.name: r.model.about["history"]
                for r in ranked
                if r.model and r.model.about.get("history")
            },
            diagnostics=_diagnostics(ranked, rows, shuffled) | pictures(propensities=curves),
            importance={r.given.name: _importance(r.model, file) for r in ranked if r.model},
            segments={name: segment_of_queries(file, name, q) for name in segments},
            documents=(_document_names(file) if file.documents is None else file.documents)[rows],
            run=run | {r.given.name: r.facts for r in ranked},
            title=f"Ranking report: {path.name}",
        )
    tell(str(out))


def _model(given: Given, options: Columns) -> LoadedModel:
    """Load the model; --source and --position affect the features of plain models only."""
    if beside(given.path).exists():
        return model_file.load(given.path, replace(options, sources=(), dropped=(), position=None))
    return model_file.load(given.path, options)


def _importance(model: LoadedModel, file: DataFile) -> dict[str, float]:
    """The total gain of each feature."""
    names = model.columns_in(file).feature_names(file)
    return dict(zip(names, map(float, model.engine.importance(model.booster)), strict=True))


def _document_names(file: DataFile) -> NDArray[np.str_]:
    """Names of the documents, or row numbers from 1 if they have none."""
    return file.as_grouped(np.array([f"row {row}" for row in range(1, len(file) + 1)]))


def segment_of_queries(file: DataFile, name: str, q: Queries) -> NDArray[Any]:
    """The value of a column in each query; raises ValueError if a text differs within a query."""
    if name not in file.names:
        raise ValueError(f"--segment {name}: {file.path} has no column {name}, only {shown(file.names)}")
    values = file.values(name)
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


def _ordered(given: Sequence[Given], baseline: str | None) -> list[Given]:
    """The baseline first."""
    if not given:
        raise ValueError("no systems: give --model MODEL or --scores SCORES, preferably several")
    names = [g.name for g in given]
    for g in given:
        if names.count(g.name) > 1:
            raise ValueError(
                f"{g.option} {g.path}: the name {g.name!r} is taken; give another, as in {g.option} NAME={g.path}"
            )
    if baseline is not None and baseline not in names:
        raise ValueError(f"--baseline {baseline!r} is no system: choose among {', '.join(names)}")
    return sorted(given, key=lambda g: g.name != (baseline or names[0]))


def _labels(options: Columns, models: Mapping[Given, LoadedModel]) -> Columns:
    """The label columns: those of the options, else those of the models' training."""
    found: dict[str, tuple[Source, Given]] = {}
    for given, model in models.items():
        options = replace(
            options,
            query=options.query or model.columns.query,
            label=options.label or model.columns.label,
            position=options.position or model.columns.position,
        )
        for source in model.columns.sources:
            other, of = found.setdefault(source.name, (source, given))
            if other != source and not options.sources:
                raise ValueError(
                    f"--model {given.path} was trained with {source}, --model {of.path} with {other}: "
                    f"choose one for the evaluation, such as --source {source}"
                )
    recorded = tuple(source for source, _ in found.values() if source.column != options.label)
    return replace(options, sources=options.sources or recorded)


def _ranked(given: Given, model: LoadedModel | None, file: DataFile, q: Queries) -> Ranked:
    facts: dict[str, Any]
    if model is None:
        facts = {"scores": given.path.name, "SHA-256": sha256(given.path)}
        return Ranked(given, file.as_grouped(read_scores(given.path, q.n_documents, file.path)), facts)
    features = model.matrix(file)
    facts = {"model": given.path.name, "SHA-256": model.about["model_sha256"]}
    facts |= {name: model.about[name] for name in SHOWN_KEYS if model.about.get(name) not in (None, {})}
    if model.columns.dropped:
        facts["dropped columns"] = model.columns.dropped
    if model.columns.sources:
        facts["label sources, not features"] = tuple(map(str, model.columns.sources))
    return Ranked(given, model.scores_of(features), facts, model, features)


def _curves(texts: tuple[str, ...]) -> dict[str, Propensities]:
    """Curves of position bias by name."""
    curves: dict[str, Propensities] = {}
    for given in (Given.parse("--propensities", text) for text in texts):
        if given.name in curves:
            raise ValueError(
                f"--propensities has two curves {given.name!r}: name them, such as {given.name}2=FILE"
            )
        curves[given.name] = Propensities.load(given.path)
    return curves


def _diagnostics(
    ranked: Sequence[Ranked], rows: NDArray[np.int64], q: Queries
) -> dict[str, Callable[[Any], Any]]:
    """The 2011 paper's diagnostics of each model, replayed from its trees on the documents of the file."""
    drawn: dict[str, Callable[[Any], Any]] = {}
    objectives: dict[str, Objective] = {}
    for r in ranked:
        if r.model is None:
            continue
        if "objective" not in r.model.about:
            note(f"{r.given.name} has no diagnostics: {r.given.path} has no record of its objective")
            continue
        try:
            objective = read_objective(r.model.about["objective"])
            check_objective("objective", objective)
            recorder = recorder_for(objective, r.features[rows], q, r.model.engine.n_rounds(r.model.booster))
            drawn |= pictures(replay(recorder, r.model.booster), of=r.given.name)
            objectives[repr(objective)] = objective
        except (TypeError, ValueError) as error:
            note(f"{r.given.name} has no diagnostics: {error}")
    return drawn | pictures(objectives=objectives)


def recorder_for(objective: Objective, X: Any, q: Queries, rounds: int, diagnosed: bool = True) -> Recorder:
    """A recorder of rankings, with enough rounds for a curve; if `diagnosed`, also of λ that are sums over pairs."""
    of_pairs = diagnosed and is_of_pairs(objective)
    parts = [part for _, part in pair_parts(objective)] if of_pairs else []
    if q.n_queries > SAMPLE:  # before the recorder samples, so that the grades are those of the sample
        chosen = np.sort(np.random.default_rng(0).choice(q.n_queries, SAMPLE, replace=False))
        X, q = X[q.rows_of(chosen)], q.take(chosen)
    return Recorder(
        X,
        q,
        objective,
        compare=[(parts[0], part) for part in parts[1:] if part != parts[0]],
        grades=_high_grades(q) if of_pairs else (),
        every=max(1, rounds // REPLAYED),
        sample=None,
    )


def _high_grades(q: Queries) -> tuple[int, ...]:
    """The paper's 3 and 4, else the highest grade; empty if grades are not whole."""
    there = np.unique(q.relevance[~np.isnan(q.relevance)])
    if not there.size or (there != np.floor(there)).any() or there[-1] == 0:
        return ()
    return tuple(int(g) for g in there if g in (3, 4)) or (int(there[-1]),)
