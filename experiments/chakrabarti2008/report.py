"""`write_report`: report.md, per_query.csv and the figures."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from lambdaboost import __version__
from lambdaboost.evaluation import MAP, MRR, NDCG, Difference, Measure, compare
from lambdaboost.evaluation.comparison.table import Cell, Table
from lambdaboost.reproduce.chakrabarti2008 import paper
from lambdaboost.reproduce.chakrabarti2008.experiment import GRID, QUICK_GRID, RANDOM, Results
from lambdaboost.reproduce.chakrabarti2008.scaling import GOOD_SHARE, LISTS
from lambdaboost.reproduce.chakrabarti2008.trainers import (
    EPSILON,
    HINGES,
    MAX_CUTS,
    MCRANK,
    MEASURES,
    ROUNDS,
    K,
)
from lambdaboost.reproduce.store import written, written_text

PAPER = (
    "Chakrabarti, Khanna, Sawant and Bhattacharyya, *Structured Learning for Non-Smooth Ranking Losses*, KDD 2008, "
    "section 4"
)
WORSE = " ▼"


def write_report(results: Results, out: Path) -> None:
    """Write everything that is told of a reproduction into the folder `out`, report.md last."""
    _drawn(out / "figures_4_to_6.png", 3, lambda axes: _draw_sweep(results, axes))
    _drawn(out / "figure_8.png", 1, lambda axes: _draw_growth(results, axes[0]))
    written_text(out / "per_query.csv", _per_query_csv(results))
    sections = [
        f"# The 2008 paper's experiments on {results.data.name}",
        f"{PAPER}, repeated by `lambdaboost reproduce chakrabarti2008`.",
        "## Figure 9: test accuracy by training rule",
        figure_9(results).markdown(),
        "## What holds here",
        RULE,
        "\n".join(findings(results)),
        "## Figures 4 to 6: how each rule trains",
        f"![Figures 4 to 6](figures_4_to_6.png)\n\n{_SWEEP.format(fold=results.data.folds[0].name)}",
        "## Figures 8 and 10: time",
        _times(results).markdown(),
        "![Figure 8](figure_8.png)",
        _growth(results).markdown(),
        "## What was run, and how it differs from the paper",
        _what_was_run(results),
        "## Data",
        _data(results),
        "## Selected C",
        _selected(results).markdown(),
    ]
    written_text(out / "report.md", "\n\n".join(sections) + "\n")


def figure_9(results: Results) -> Table:
    """Every trainer by every test measure, beside the paper's means over LETOR."""
    theirs = paper.means()
    best = {m: max(results.trainers, key=lambda name: _mean(results, name, m)) for m in MEASURES}
    rows = []
    for name in (*results.trainers, RANDOM):
        cells = [_figure(results, name, best[m], m) for m in MEASURES]
        beside = [Cell(f"{figure:.3f}"[1:]) for figure in theirs[name]] if name in theirs else [Cell("–")] * 3
        rows.append((Cell(name), *cells, *beside))
    header = ("Trained by", *paper.COLUMNS, *(f"paper's {column}" for column in paper.COLUMNS))
    n = results.figures[RANDOM].n_queries
    caption = (
        f"Means over {n} test queries. Bold: the best of a column; {WORSE.strip()}: worse than it at the 95% level "
        "(paired t-test). The paper's: means of its Figure 9 over OHSUMED, TD2003 and TD2004, other data, so only "
        "the order of its rows compares."
    )
    return Table(header, tuple(rows), caption)


def _figure(results: Results, name: str, best: str, measure: Measure) -> Cell:
    text = f"{_mean(results, name, measure):.3f}"[1:]
    if name == best:
        return Cell(text, "bold")
    return Cell(text + WORSE if _change(results, best, name, measure).p_value < 0.05 else text)


def _mean(results: Results, name: str, measure: Measure) -> float:
    return float(results.figures[name].per_query(measure).mean())


def _change(results: Results, before: str, after: str, measure: Measure) -> Difference:
    figures = results.figures
    return compare(figures[before], figures[after], measures=measure)[after, measure]


RULE = (
    "A trainer beats another where its mean over the test queries is higher and the paired t-test gives p < 0.05; “no” "
    "is the opposite with p < 0.05; everything else is undecided: here the data cannot tell."
)


def findings(results: Results) -> list[str]:
    """The paper's findings, and whether they hold here."""
    own = {"MRR10": ("MRR", "MRR by φ_po"), "NDCG10": ("NDCG", "NDCG-NC", "DORM"), "MAP": ("MAP",)}
    rows = [name for name in results.trainers if name in paper.FIGURE_9]
    lines = []
    for column, measure in zip(paper.COLUMNS, MEASURES, strict=True):
        ranked = sorted(rows, key=lambda name: -_mean(results, name, measure))
        first = ranked[0]
        verdict = "no" if first in own[column] else "yes"
        mine = min((name for name in own[column] if name in rows), key=ranked.index)
        behind = (
            "" if first == mine else f"; {mine} beside it {_told(_change(results, first, mine, measure))}"
        )
        lines.append(
            f"- Training by another criterion is best for test {column}: **{verdict}, without a test** "
            f"({first} is first{behind})"
        )
    lines += [
        _beats(results, "MRR by φ_mrr beats MRR by φ_po in MRR10 (Figure 7)", "MRR by φ_po", "MRR", MRR(K)),
        _beats(results, "NDCG-NC beats the true NDCG loss in NDCG10", "NDCG", "NDCG-NC", NDCG(K)),
        _beats(results, "NDCG-NC beats DORM in NDCG10", "DORM", "NDCG-NC", NDCG(K)),
    ]
    lines += [
        _beats(results, f"Separate slacks beat shared ones in {column}", "COMBO, shared slacks", "COMBO", m)
        for column, m in zip(paper.COLUMNS, MEASURES, strict=True)
    ]
    places = [1 + sorted(rows, key=lambda name: -_mean(results, name, m)).index("COMBO") for m in MEASURES]
    lines.append(
        f"- COMBO is among the top two of each column: **{'yes' if max(places) <= 2 else 'no'}, without a test** "
        f"(places {', '.join(map(str, places))} of {len(rows)})"
    )
    lines.append(_beats(results, "MAP training beats McRank in MAP", MCRANK, "MAP", MAP()))
    return lines


def _beats(results: Results, finding: str, before: str, after: str, measure: Measure) -> str:
    d = _change(results, before, after, measure)
    verdict = "undecided" if d.p_value >= 0.05 else "yes" if d.mean > 0 else "no"
    return f"- {finding}: **{verdict}** ({_told(d)})"


def _told(d: Difference) -> str:
    return f"{100 * d.mean:+.1f} points, p={d.p_value:.2g}"


def _times(results: Results) -> Table:
    rows = []
    for name in results.trainers:
        runs = [results.selected(name, fold) for fold in results.data.folds]
        total = np.mean([run.total for run in runs])
        theirs = paper.FIGURE_10.get(name)
        beside = "–" if theirs is None else f"{theirs:g}"
        if name == MCRANK:
            cells = ("–", "–", f"{total:.2f}", beside)
        else:
            inference = np.mean([run.inference for run in runs])
            share = f"{inference:.3f} ({100 * inference / total:.0f}%)"
            cells = (f"{np.mean([run.cuts for run in runs]):.0f}", share, f"{total:.2f}", beside)
        rows.append((Cell(name), *map(Cell, cells)))
    header = ("Trained by", "cuts", "seconds in the search for ŷ", "seconds in all", "paper's, OHSUMED")
    caption = (
        "Processor time, means over the folds at the selected C, on this machine, kernels compiled before. The rest of "
        "the seconds is the quadratic program and products with the features. The paper's are from its Figure 10, in "
        "Java, in 2008."
    )
    return Table(header, tuple(rows), caption)


def _growth(results: Results) -> Table:
    sizes = sorted({n for growth in results.growth.values() for n in growth.seconds})
    rows = []
    for name, growth in results.growth.items():
        cells = [f"{1e3 * growth.seconds[n]:.3f}" if n in growth.seconds else "–" for n in sizes]
        rows.append((Cell(name), *map(Cell, cells), Cell(f"{growth.slope:.1f}")))
    header = ("ŷ for", *(f"{n} documents" for n in sizes), "slope")
    caption = (
        f"Milliseconds of processor time a list, the best of 7 passes over {LISTS} drawn lists, "
        f"{100 * GOOD_SHARE:.0f}% of their documents good. Slope: of log time over log documents, without the shortest "
        f"lists, where a call's own cost counts. DORM is cut at rank {K} and its decay at 30, so that its assignment "
        "has 30 ranks whatever the list; unclipped, it has as many as documents."
    )
    return Table(header, tuple(rows), caption)


def _what_was_run(results: Results) -> str:
    request = results.request
    runs = [run for some in results.runs.values() for run in some]
    stopped = sum(not run.converged for run in runs)
    grid = ", ".join(f"{C:g}" for C in (QUICK_GRID if request.quick else GRID))
    return f"""\
- {len(runs)} trainings, {sum(run.total for run in runs):.0f} seconds of processor time in all; \
lambdaboost {__version__}, \
clarabel {version("clarabel")}, lightgbm {version("lightgbm")}, numpy {np.__version__}, \
Python {platform.python_version()}; one thread, seed {request.seed}.
- Linear rankers minimise ½‖w‖² + C/|Q| Σξ by the cutting plane method with one slack, to ε = {EPSILON:g} or \
{MAX_CUTS} cuts, which {stopped} trainings reached. The paper used LaRank, with a slack a query, and does not give \
its ε.
- C of {grid}, widened once at both ends after a first run chose there; selected for each trainer and fold by the mean \
of MRR{K}, NDCG{K} and MAP on the validation part, the lowest of equals. The paper does not say how it chose C.
- Grades of at least {request.threshold:g} count as good. Queries without both good and bad documents are left out of \
all parts. Features are scaled to 0 to 1 within each query, as in LETOR. The paper also removed documents of all-zero \
features, and good and bad documents of one query whose cosine is above 0.99; here all stay.
- NDCG is discounted by 1/log2(1 + r) at rank r from 1, in training and tests; the paper's first two ranks both count 1.
- DORM decays by 1/√(1 + r), cut at rank 30, as in the paper's section 4.4; its NDCG is cut at {K}. The paper does not \
say which ideal order y* it takes among equal grades; here the one nearest to the scores.
- COMBO: separate slacks of MAP, NDCG, NDCG-NC and MRR, the paper's components “variously”. Rows without the paper's \
figures are additions: MRR and COMBO with φ_po in place of φ_mrr, COMBO with shared slacks, RankSVM, and the mean of \
20 random orders.
- McRank: LightGBM's classifier, {ROUNDS} rounds as in the paper, 31 leaves, the engine's rate of 0.1; the paper's \
trees are WEKA's."""


def _data(results: Results) -> str:
    data = results.data
    rows = []
    for name, part in data.parts.items():
        q = part.queries
        good = int((q.relevance == 1).sum())
        figures = (q.n_queries, q.n_documents, good, int((q.relevance == 0).sum()), part.n_features)
        rows.append((Cell(name), *(Cell(str(n)) for n in figures)))
    folds = "; ".join(
        f"{f.name}: training on {'+'.join(f.train)}, validation on {'+'.join(f.valid)}, test on {'+'.join(f.test)}"
        for f in data.folds
    )
    table = Table(
        ("Part", "Queries", "Documents", "good", "bad", "Features"), tuple(rows), f"Folds. {folds}."
    )
    digest = f"- SHA-256 of features, labels and queries as used: `{data.digest}`."
    return f"- {data.origin}.\n{digest}\n\n{table.markdown()}"


def _selected(results: Results) -> Table:
    grid = QUICK_GRID if results.request.quick else GRID
    rows = []
    for name in HINGES:
        chosen = [results.selected(name, fold).C for fold in results.data.folds]
        rows.append(
            (Cell(name), *(Cell(f"{C:g}" + (" (edge)" if C in (grid[0], grid[-1]) else "")) for C in chosen))
        )
    caption = "Edge: the lowest or highest C of the grid; a wider grid might do better."
    return Table(("Trained by", *(fold.name for fold in results.data.folds)), tuple(rows), caption)


def _per_query_csv(results: Results) -> str:
    import pandas as pd

    names = dict(zip(MEASURES, paper.COLUMNS, strict=True))
    frames = []
    for trainer, figures in results.figures.items():
        columns = {names[m]: figures.per_query(m) for m in MEASURES}
        frames.append(pd.DataFrame({"trainer": trainer, "query": np.arange(figures.n_queries), **columns}))
    return str(pd.concat(frames).to_csv(index=False, float_format="%.6f"))


# Figures.

_SWEEP = (
    "Mean training slack over C (left, Figure 4), the objective over its value at w = 0 (middle, Figure 5), and ‖w‖, "
    "the rightmost point scaled to 1 (right, Figure 6), at the end of training on {fold}. COMBO's slack is the sum of "
    "four."
)
SHOWN = ("AUC", "MAP", "NDCG", "NDCG-NC", "MRR", "DORM", "COMBO")
STYLES = ("o-", "s-", "^-", "v-", "D--", "x--", "+--", "*:")


def _drawn(path: Path, panels: int, draw: Any) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.0 * panels + 2.2, 3.8), layout="constrained")
    draw(np.atleast_1d(figure.subplots(1, panels)))
    written(path, lambda file: figure.savefig(file, format="png", dpi=120))


def _draw_sweep(results: Results, axes: Any) -> None:
    fold = results.data.folds[0].name
    for name, style in zip(SHOWN, STYLES, strict=False):
        runs = results.runs[name, fold]
        C = [run.C for run in runs]
        axes[0].plot(C, [run.slack for run in runs], style, label=name, ms=4)
        axes[1].plot(C, [run.share_of_objective for run in runs], style, ms=4)
        axes[2].plot(C, [run.norm / (runs[-1].norm or 1.0) for run in runs], style, ms=4)
    for panel, label in zip(
        axes, ("Mean slack", "Objective / objective at w = 0", "‖w‖, scaled"), strict=True
    ):
        panel.set(xscale="log", xlabel="C", ylabel=label)
    _plain(axes)
    axes[0].legend(frameon=False, fontsize=8, ncols=2)


def _draw_growth(results: Results, axes: Any) -> None:
    for (name, growth), style in zip(results.growth.items(), STYLES, strict=True):
        milliseconds = [1e3 * t for t in growth.seconds.values()]
        axes.plot(list(growth.seconds), milliseconds, style, label=f"{name}: slope {growth.slope:.1f}", ms=4)
    axes.set(xscale="log", yscale="log", xlabel="Documents of the list", ylabel="Milliseconds of one ŷ")
    _plain([axes])
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _plain(panels: Iterable[Any]) -> None:
    for panel in panels:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(alpha=0.25)
