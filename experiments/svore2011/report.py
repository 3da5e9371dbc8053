"""`write_report`: report.md, runs.csv, per_query.csv and the figures."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

import numpy as np

from lambdaboost import __version__
from lambdaboost.evaluation.comparison.table import Cell, Table
from lambdaboost.reproduce.clicks import SCALES
from lambdaboost.reproduce.data import Data, has_any
from lambdaboost.reproduce.diagnosis import diagnose
from lambdaboost.reproduce.figures import draw_figures
from lambdaboost.reproduce.findings import RULE, findings
from lambdaboost.reproduce.protocol import Results
from lambdaboost.reproduce.store import written_text
from lambdaboost.reproduce.systems import NATIVE, Grid
from lambdaboost.reproduce.tables import table_1, table_2
from lambdaboost.reproduce.training import CURVATURE
from lambdaboost.reproduce.trial import Trial

PAPER = "Svore, Volkovs and Burges, *Learning to Rank with Multiple Objective Functions*, WWW 2011, after its section 6"


def write_report(results: Results, out: Path) -> None:
    """Write everything that is told of a reproduction into the folder `out`, report.md last."""
    diagnosis = diagnose(results)
    drawn = draw_figures(results, diagnosis, out)
    written_text(out / "runs.csv", _runs_csv(results))
    written_text(out / "per_query.csv", _per_query_csv(results))
    found = [finding.markdown() for finding in findings(results, diagnosis)]
    sections = [
        f"# The 2011 paper's experiments on {results.data.name}, {results.setting.engine}",
        f"{PAPER}, repeated by `lambdaboost reproduce svore2011`.",
        *(("## Table 1: graded objectives", table_1(results).markdown()) if results.data.clicks else ()),
        "## Table 2: iteration-dependent objectives",
        table_2(results).markdown(),
        "## What holds here",
        RULE,
        "\n".join(found),
        "## Figures",
        "\n\n".join(f"![{text.partition(':')[0]}]({path.name})\n\n{text}" for path, text in drawn),
        "## What was run",
        _what_was_run(results),
        "## Data",
        _data(results.data),
        "## Grids",
        _grids(results.grid, results.setting.engine),
        "## Selected parameters",
        _selected(results),
    ]
    written_text(out / "report.md", "\n\n".join(sections) + "\n")


def _what_was_run(results: Results) -> str:
    setting = results.setting
    outcomes = [o for runs in results.runs.values() for o in runs.values()] + list(results.shares.values())
    minutes = sum(outcome.seconds for outcome in outcomes) / 60
    return "\n".join(
        [
            f"- {len(outcomes)} runs, {minutes:.0f} minutes of one core in all, "
            f"of {setting.rounds} rounds with {setting.num_leaves} leaves a tree.",
            f"- lambdaboost {__version__}, {setting.engine} {version(setting.engine)}, numpy {np.__version__}, "
            f"Python {platform.python_version()}; one thread a run, seed {setting.seed}.",
            f"- Each run is validated every {setting.every} rounds by mean NDCG@3; run and number of rounds are "
            "selected for each system and fold on the validation part alone, the first of equals. Each run scores the "
            "test part at its own best checkpoint, and only the selected run's scores are measured.",
            "- Rows are shuffled inside each query with the seed, so that round 0, where all scores tie, starts from "
            "no order of the file. Training queries without a relevant document are left out.",
            "- Test queries of all folds are pooled. A test query without a relevant document counts as NDCG 0, one "
            "without clicks as CNDCG 0, for every system: it lowers all means alike and adds ties to the tests. The "
            "paper does not say how it counts them.",
            "- Significance: paired t-test over test queries, two-sided. Selected parameters differ from fold to fold, "
            "and folds share training data: p-values speak for these models, not for other draws of training data.",
            "- Newton: least-squares splits, Newton leaves ΣλΣμ⁻¹ (MART, the paper's baseline). Gradient descent: "
            "λ of each query over its standard deviation, leaves of mean λ. "
            f"For reference also {NATIVE[setting.engine]}, and λL with the engine's own steps, splits and leaves by "
            "gradient over hessian; the paper has neither.",
        ]
    )


def _data(data: Data) -> str:
    lines = [f"- {data.origin}.", f"- SHA-256 of features, labels and queries as used: `{data.digest}`."]
    for clicks in data.clicks:
        source = "made by the click model" if clicks.column is None else f"column {clicks.column}"
        how = (
            ""
            if clicks.column is None
            else f", label = {SCALES[clicks.scale][1]}; the column left the features"
        )
        lines.append(f"- Click labels {clicks.name}: {source}{how}.")
    if not data.clicks:
        lines.append("- No click labels were given, so there is no Table 1.")
    highest = max(int(np.nanmax(part.queries.relevance)) for part in data.parts.values())
    grades = [f"grade {g}" for g in range(highest + 1)]
    header = ("Part", "Queries", "without relevant", "Documents", "Features", *grades)
    header += tuple(f"{c.name} > 0" for c in data.clicks)
    header += tuple(f"Queries without {c.name}" for c in data.clicks)
    rows = []
    for name, part in data.parts.items():
        q = part.queries
        counts = [int((q.relevance == g).sum()) for g in range(highest + 1)]
        labels = [q.labels[clicks.name] for clicks in data.clicks]
        counts += [int((values > 0).sum()) for values in labels]
        counts += [int((~has_any(values, q)).sum()) for values in labels]
        empty = int((~has_any(q.relevance, q)).sum())
        figures = (q.n_queries, empty, q.n_documents, part.n_features, *counts)
        rows.append((Cell(name), *(Cell(str(n)) for n in figures)))
    folds = "; ".join(
        f"{f.name}: training on {'+'.join(f.train)}, validation on {'+'.join(f.valid)}, test on {'+'.join(f.test)}"
        for f in data.folds
    )
    return "\n".join(lines) + "\n\n" + Table(header, tuple(rows), f"Folds. {folds}.").markdown()


def _grids(grid: Grid, engine: str) -> str:
    def values(some: Iterable[float]) -> str:
        return ", ".join(f"{v:g}" for v in some)

    lines = [
        "Fixed before the runs of this report; the rates were widened once, after coarse runs chose at the edge.",
        "",
        f"- Learning rate: {values(grid.newton_rates)} (Newton, and the reference systems), "
        f"{values(grid.gradient_rates)} (gradient descent, with leaves of mean λ of unit spread). The paper: 0.2, 0.5.",
        f"- Least documents in a leaf: {values(grid.documents)}. The paper's 6000, 8000 and 10000 are for 19 million "
        "documents.",
        f"- Graded: w of {values(grid.click_weights)}. Iteration-dependent: w0 of {values(grid.starts)}; "
        f"η of {values(grid.exponential_rates)} (exponential), {values(grid.linear_rates)} (linear).",
        f"- Blended systems take the {grid.reused} best pairs of learning rate and leaf size of their baseline, by "
        "validation on the same fold: Newton's for graded, gradient descent's for iteration-dependent ones.",
        "- Figure 7 trains with the parameters that were selected on all the training data.",
    ]
    if engine == "lightgbm":
        lines.append(
            "- LightGBM estimates documents in a leaf from hessians: exactly for Newton and gradient descent here, "
            "roughly for the reference systems."
        )
    else:
        lines.append(
            "- XGBoost can keep leaves above a number of documents for gradient descent; for Newton's vector leaves it "
            "cannot, so there is no such sweep; for the reference systems `min_child_weight` is "
            f"{CURVATURE:g} × documents, about their curvature in the first rounds."
        )
    return "\n".join(lines)


def _selected(results: Results) -> str:
    rows = []
    for system in results.systems:
        for fold in results.data.folds:
            trial, outcome = results.selected(system.name, fold)
            cells = (
                fold.name,
                "the engine's own" if trial.objective is None else f"`{trial.objective!r}`",
                f"{trial.rate:g}",
                "–" if trial.documents is None else str(trial.documents),
                str(outcome.best_rounds),
                f"{100 * outcome.figure:.2f}",
                str(len(results.runs[system.name, fold.name])),
            )
            rows.append((Cell(system.name), *map(Cell, cells)))
    header = ("System", "Fold", "Objective", "Rate", "Documents", "Rounds", "Validation NDCG@3", "of runs")
    edge = (
        "Rounds is the selected checkpoint: where it is the last one, more rounds might do better (`--rounds`). "
        "Validation figures are the best of all runs and checkpoints, so they flatter."
    )
    return Table(header, tuple(rows), edge).markdown()


def _runs_csv(results: Results) -> str:
    import pandas as pd

    rows = []
    for system in results.systems:
        for fold in results.data.folds:
            selected, _ = results.selected(system.name, fold)
            for trial, outcome in results.runs[system.name, fold.name].items():
                row = _run_row(results, system.name, trial)
                row |= {"best_rounds": outcome.best_rounds, "valid_ndcg_at_3": outcome.figure}
                rows.append(row | {"seconds": outcome.seconds, "selected": trial == selected})
    for (name, fold_name, share), outcome in results.shares.items():
        fold = next(f for f in results.data.folds if f.name == fold_name)
        like = results.selected(name, fold)[0]
        trial = Trial(fold, like.objective, like.leaves, like.rate, like.documents, share)
        row = _run_row(results, name, trial)
        row |= {"best_rounds": outcome.best_rounds, "valid_ndcg_at_3": outcome.figure}
        rows.append(row | {"seconds": outcome.seconds, "selected": False})
    return str(pd.DataFrame(rows).to_csv(index=False))


def _run_row(results: Results, system: str, trial: Trial) -> dict[str, object]:
    return {
        "system": system,
        "fold": trial.fold.name,
        "objective": "native" if trial.objective is None else repr(trial.objective),
        "leaves": trial.leaves,
        "learning_rate": trial.rate,
        "documents_per_leaf": trial.documents,
        "share": trial.share,
        "key": trial.key(results.setting),
    }


def _per_query_csv(results: Results) -> str:
    import pandas as pd

    parts = []
    for system in results.systems:
        for fold in results.data.folds:
            q = results.data.joined(fold.test).queries
            ids = np.arange(q.n_queries) if q.ids is None else q.ids
            figures = results.per_fold[system.name, fold.name]
            columns = {repr(measure): figures.per_query(measure) for measure in results.measures()}
            parts.append(pd.DataFrame({"system": system.name, "fold": fold.name, "query": ids, **columns}))
    return str(pd.concat(parts).to_csv(index=False, float_format="%.6g"))
