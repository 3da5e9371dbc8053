"""``lambdaboost report``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._files import sha256
from lambdaboost._installed import install_command
from lambdaboost._words import listed, plain
from lambdaboost.cli import model_file
from lambdaboost.cli.columns import options_of
from lambdaboost.cli.console import ERR, note, tell
from lambdaboost.cli.files import Named
from lambdaboost.cli.measuring import check_columns, check_evaluated, parse_measures, read_scores
from lambdaboost.cli.model_file import LoadedModel
from lambdaboost.clicks import Propensities
from lambdaboost.datasets import Columns, Queries
from lambdaboost.datasets.tables import Table
from lambdaboost.evaluation import report as write_report
from lambdaboost.evaluation.charts import has_matplotlib, label, label_axes, line
from lambdaboost.evaluation.naming import default_measures
from lambdaboost.saving import sidecar_path

# Entries of a model's description that are not on the page, or elsewhere on it.
HIDDEN = {"columns", "history", "measures", "model_sha256", "tuning"}


@dataclass(frozen=True)
class Ranked:
    """A model or a file of scores with the scores of the documents."""

    name: str
    path: Path
    scores: NDArray[np.floating]
    model: LoadedModel | None = None

    def facts(self) -> dict[str, Any]:
        """What the page says of it."""
        if self.model is None:
            return {"scores": self.path.name, "SHA-256": sha256(self.path)}
        about, columns = self.model.about, self.model.columns
        facts = {"model": self.path.name, "SHA-256": about["model_sha256"]}
        facts |= {
            name: value for name, value in about.items() if name not in HIDDEN and value not in (None, {})
        }
        facts |= {"dropped columns": columns.drop} if columns.drop else {}
        return facts | ({"label sources, not features": options_of(columns)} if columns.sources else {})


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
    """Evaluate and write the page."""
    _check_names((*model, *scores), baseline)
    curves = _curves(propensities)
    measures = parse_measures(measure)
    models = {named: _model(named, columns) for named in model}
    labels, data = model_file.label_columns(columns, list(models.values()), file)
    check_columns(measures, labels)
    if not has_matplotlib():
        note(f"the page has no pictures: they need matplotlib, {install_command('matplotlib')}")
    with ERR.status("measuring …"):
        q, _, of_file = labels.labels(data)
        of_file = np.arange(q.n_documents) if of_file is None else of_file
        # Ties in random order, so that a file sorted by grade has no advantage.
        rows = q.shuffled_rows(seed)
        shuffled = q.reordered(rows)
        ranked = [
            Ranked(n.name, n.path, loaded.scored(data)[of_file], loaded) for n, loaded in models.items()
        ]
        for named in scores:
            values = read_scores(named.path, q.n_documents, file)
            ranked.append(Ranked(named.name, named.path, values[of_file]))
        check_evaluated("FILE", q, file, of_file, measures or default_measures(q))
        ranked.sort(key=lambda r: r.name != baseline)  # stable: without one, the first
        loaded_models = {r.name: r.model for r in ranked if r.model}
        facts = {"Measured on": file.name, "SHA-256": sha256(file), "Order of ties": f"seed {seed}"}
        write_report(
            out,
            {r.name: r.scores[rows] for r in ranked},
            shuffled,
            measures or None,
            histories={
                name: m.about["history"] for name, m in loaded_models.items() if m.about.get("history")
            },
            diagnostics=_pictures(curves),
            segments={name: segment_of_queries(data, name, q, of_file) for name in segment},
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
    described = sidecar_path(named.path).exists()
    return model_file.load(named.path, replace(options, drop=()) if described else options)


def segment_of_queries(file: Table, name: str, q: Queries, rows: NDArray[np.int64]) -> NDArray[Any]:
    """The value of a column in each query; raises ValueError if a text differs within a query."""
    file.check(name, f"--segment {plain(name)}")
    values = file.values(name)[rows]
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


def _pictures(curves: Mapping[str, Propensities]) -> dict[str, Callable[[Any], Any]]:
    """The curves of position bias in one picture, with its caption."""
    if not curves:
        return {}

    def draw(ax: Any) -> None:
        label_axes(ax, "", "")
        for at, (name, curve) in enumerate(curves.items()):
            curve.plot(ax, label=label(name), **line(at))
        ax.legend(frameon=False)

    bounded = any(curve.low is not None for curve in curves.values())
    caption = "Propensities by position, relative to the best position"
    return {caption + (", with 95 % intervals." if bounded else "."): draw}
