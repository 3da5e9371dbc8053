"""`write_report`: report.md, figure_1.png and figure_2.png."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from lambdaboost.bench.machine import this_machine
from lambdaboost.diagnostics.plots import COLOURS
from lambdaboost.evaluation import NDCG, Difference, compare
from lambdaboost.evaluation.comparison.table import Cell, Table
from lambdaboost.reproduce.burges2006.nets import CUTOFFS, HIDDEN, SELECTED_BY, SLOWER, SYSTEMS, Accuracy
from lambdaboost.reproduce.burges2006.speed import NAMES, PAPER_SLOPES, Speed
from lambdaboost.reproduce.data import Data
from lambdaboost.reproduce.store import written, written_text

PAPER = (
    "Burges, Ragno and Le, *Learning to Rank with Nonsmooth Cost Functions*, NIPS 2006, after its section 6"
)


def write_report(name: str, speed: Speed | None, accuracy: Accuracy | None, out: Path) -> None:
    """Write everything that is told into the folder `out`, report.md last."""
    sections = [
        f"# The 2006 paper's experiments on {name}",
        f"{PAPER}, repeated by `lambdaboost reproduce burges2006`.",
    ]
    if speed is not None:
        _drawn(out / "figure_1.png", lambda axes: _draw_slopes(speed, axes))
        sections += ["## The factored gradient (section 6.1, Figure 1)", speed.speedups().markdown()]
        sections += [speed.slopes().markdown(), "![Figure 1](figure_1.png)", DIFFERENT_SPEED]
    if accuracy is not None:
        _drawn(out / "figure_2.png", lambda axes: _draw_ndcg(accuracy, axes))
        sections += ["## RankNet and LambdaRank (section 6.3, Figure 2)", ndcg_table(accuracy).markdown()]
        sections += ["\n".join(_findings(accuracy)), "![Figure 2](figure_2.png)", _different_nets(accuracy)]
        sections += ["## Selected runs", _selected(accuracy).markdown(), "## Data", _described(accuracy.data)]
    sections += ["## Machine", f"{this_machine(1).markdown()}\nPyTorch {version('torch')}."]
    written_text(out / "report.md", "\n\n".join(sections) + "\n")


DIFFERENT_SPEED = """\
What differs from the paper, and why:

- Its 1,000 web queries with 26.1 documents and 367 features are not public: the queries here are cubic polynomial \
data of that shape. Time does not depend on what is learnt.
- "Compiled loops" go through the net one document after the other, as programs of 2006 did; each pair costs two \
passes forward and two back, and the factored gradient passes every document forward twice, as the paper counts it. \
Its activations are not stored, its λ take an exponential a pair.
- "PyTorch" computes all pairs of a query in one call, so that few documents cost about as much as many: what the \
factored gradient saves there shows on longer lists.
- Pair by pair, the longest lists of the paper would take hours to days: that slope is fitted to shorter lists. Of the \
factored gradient's long lists, λ comes from `RankNet()`, which sums long lists without visiting their pairs; the \
paper sums pairs, and neglects them."""


def ndcg_table(accuracy: Accuracy) -> Table:
    """Test NDCG at 1 to 10, LambdaRank compared with RankNet in the same net."""
    rows = []
    for system in SYSTEMS:
        figures = accuracy.figures(system)
        cells = [Cell(f"{100 * figures.per_query(NDCG(k)).mean():.2f}") for k in CUTOFFS]
        if "LambdaRank" in system.name:
            cells = [_marked(d) for d in _changes(accuracy, system.layers)]
        rows.append((Cell(system.name), *cells))
    caption = (
        f"Means over {figures.n_queries} test queries, times 100. Bold: LambdaRank is better than RankNet in the same "
        "net at the 95% level (paired t-test); ▼: it is worse. The paper shows curves without figures."
    )
    return Table(("Net", *(f"@{k}" for k in CUTOFFS)), tuple(rows), caption)


def _changes(accuracy: Accuracy, layers: str) -> list[Difference]:
    ranknet, lambdarank = (accuracy.figures(system) for system in SYSTEMS if system.layers == layers)
    comparison = compare(ranknet, lambdarank, measures=[NDCG(k) for k in CUTOFFS])
    return list(comparison.differences)


def _marked(d: Difference) -> Cell:
    figure = f"{100 * d.after.mean():.2f}"
    if d.p_value < 0.05:
        return Cell(figure, "bold") if d.mean > 0 else Cell(f"{figure} ▼")
    return Cell(figure)


def _findings(accuracy: Accuracy) -> list[str]:
    """What the paper found, and whether it holds here."""
    lines = []
    for layers in HIDDEN:
        changes = _changes(accuracy, layers)
        better = sum(d.p_value < 0.05 and d.mean > 0 for d in changes)
        worse = sum(d.p_value < 0.05 and d.mean < 0 for d in changes)
        gaps = ", ".join(f"{100 * changes[k - 1].mean:+.1f} at @{k}" for k in (1, 5, 10))
        lines.append(
            f"- LambdaRank beats RankNet with {layers} (the paper: clearly): better at {better} of {len(changes)} "
            f"truncations, worse at {worse} (95% level); {gaps} points."
        )
    return lines


def _different_nets(accuracy: Accuracy) -> str:
    rates = "; ".join(
        f"{type(s.objective).__name__} {', '.join(f'{rate:g}' for rate in s.rates)}" for s in SYSTEMS[:2]
    )
    return f"""\
What differs from the paper, and why:

- {accuracy.epochs} epochs in place of 300, and fewer queries, so that all is done in minutes (`--epochs`, `--queries`).
- The rate is one of three for each objective ({rates}) in place of a wide sweep; rate and epoch are those that \
validate best by mean {SELECTED_BY!r}, as the paper keeps its net with the best validation NDCG.
- The rate falls to {SLOWER} of itself where the training cost rose, as in the paper; the cost is one less \
{SELECTED_BY!r} for both, where the paper takes the cross-entropy for RankNet.
- Nothing is restarted from other weights. Hidden nodes are tanh, features are scaled to mean 0 and deviation 1.
- Weights move after each query, as in the paper. Training queries without a relevant document are left out; a test \
query without one counts as 0."""


def _selected(accuracy: Accuracy) -> Table:
    rows = []
    for system in SYSTEMS:
        for fold in accuracy.data.folds:
            run = accuracy.selected(system, fold)
            at_edge = " (last)" if run.best_epoch == accuracy.epochs else ""
            figures = (fold.name, f"{run.rate:g}", f"{run.best_epoch}{at_edge}", f"{100 * run.figure:.2f}")
            rows.append((Cell(system.name), *map(Cell, figures)))
    header = ("Net", "fold", "rate", "epoch", f"validation {SELECTED_BY!r}")
    caption = "Where the epoch is the last, more epochs might do better. Validation figures are the best of all runs."
    return Table(header, tuple(rows), caption)


def _described(data: Data) -> str:
    lines = [f"- {data.origin}.", f"- SHA-256 of features, labels and queries as used: `{data.digest}`."]
    for name, (x, q) in data.parts.items():
        counts = ", ".join(
            f"{n} of grade {g}" for g, n in enumerate(np.bincount(np.nan_to_num(q.relevance).astype(int)))
        )
        lines.append(
            f"- {name}: {q.n_queries} queries, {q.n_documents} documents, {x.shape[1]} features; {counts}."
        )
    return "\n".join(lines)


def _drawn(path: Path, draw: Any) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.2, 4.2), layout="constrained")
    draw(figure.subplots())
    written(path, lambda file: figure.savefig(file, format="png", dpi=120))


def _draw_slopes(speed: Speed, axes: Any) -> None:
    """Seconds of an epoch over documents, both logarithmic: the right panel of Figure 1."""
    for at, ((way, layers), seconds) in enumerate(speed.lists.items()):
        middle = [one.median for one in seconds.values()]
        label = (
            f"{NAMES[way]}, {layers}: slope {speed.slope(way, layers).slope:.2f} (paper {PAPER_SLOPES[way]})"
        )
        axes.plot(
            list(seconds), middle, "o-" if way == "factored" else "s--", color=COLOURS[at], label=label, ms=4
        )
    axes.set(xscale="log", yscale="log", xlabel="Documents of the list", ylabel="Seconds of an epoch")
    _plain(axes)


def _draw_ndcg(accuracy: Accuracy, axes: Any) -> None:
    """Test NDCG over truncation levels with 95% intervals: Figure 2."""
    for at, system in enumerate(SYSTEMS):
        figures = [100 * accuracy.figures(system).per_query(NDCG(k)) for k in CUTOFFS]
        half = [1.96 * one.std(ddof=1) / np.sqrt(one.size) for one in figures]
        means = [one.mean() for one in figures]
        # A little apart, so that the intervals can be told from each other.
        at_k = np.array(CUTOFFS) + 0.08 * (at - 1.5)
        dashes = "-" if system.layers == "two layers" else "--"
        axes.errorbar(
            at_k, means, half, ls=dashes, color=COLOURS[at], label=system.name, capsize=2, ms=3, marker="o"
        )
    axes.set(xlabel="NDCG truncation level", ylabel="Mean test NDCG × 100", xticks=CUTOFFS)
    _plain(axes)


def _plain(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, fontsize=8)
