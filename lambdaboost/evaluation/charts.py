"""Charts of systems by matplotlib, which is imported where one is drawn, and their SVG for a page."""

from __future__ import annotations

import html
import io
import re
import textwrap
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._words import plain
from lambdaboost.evaluation.comparison import Comparison, non_dominated
from lambdaboost.evaluation.measure import Measure

# Draws on matplotlib Axes.
Draw = Callable[[Any], Any]

# Okabe and Ito's colours; curves differ in their dashes as well.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)), (0, (3, 1, 1, 1)))
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
WIDTH, HEIGHT, LINE = 5.0, 3.0, 0.19  # inches; the text stays readable on a phone with 390 pixels
MARKED = 25  # up to this number of points each has a marker
BARS = 250  # with more queries, evenly spaced ones are drawn
# These colours become the page's text and background colours; see report.css.
ON_PAGE = {"#000000": "currentColor", "#1a1a1a": "currentColor", "#0072b2": "var(--blue)"}
INK = "#1a1a1a"


def has_matplotlib() -> bool:
    """Whether charts can be drawn."""
    return find_spec("matplotlib") is not None


def line(at: int) -> dict[str, Any]:
    """Colour, dashes and marker of curve number `at`, from 0; the first 49 differ in colour or dashes."""
    turn = at // len(COLOURS)
    return {
        "color": COLOURS[at % len(COLOURS)],
        "linestyle": DASHES[(at + turn) % len(DASHES)],
        "marker": MARKS[at % len(MARKS)],
        "markersize": 4,
    }


def label(text: str) -> str:
    r"""A text that matplotlib shows literally: short, no mathtext, no control characters.

    >>> label("$x$"), label("_hidden")
    ('\\$x\\$', ' _hidden')
    """
    text = plain(text)
    # Matplotlib ignores labels that begin with an underscore.
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


def label_axes(axes: Any, x: str, y: str) -> None:
    """Label the axes and add a faint grid."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)


def draw_curves(axes: Any, curves: Mapping[str, tuple[ArrayLike, ArrayLike]], x: str, y: str) -> None:
    """Draw curves, abscissae and ordinates by name; each point of a short one has a marker."""
    label_axes(axes, x, y)
    for at, (name, curve) in enumerate(curves.items()):
        marks = {} if np.size(curve[0]) <= MARKED else {"marker": None}
        axes.plot(*curve, label=label(name), **line(at) | marks)


def draw_intervals(
    axes: Any,
    points: Mapping[str, Sequence[tuple[float, float, float]]],
    rows: Sequence[str],
    x: str,
    first: int = 0,
) -> None:
    """Draw points with intervals, each system's (value, low, high) by row; infinite ends are left out.

    `first` is the number of the first system, which has the colour and mark of that number.
    """
    label_axes(axes, x, "")
    for at, (name, of_rows) in enumerate(points.items()):
        middle, low, high = np.array(of_rows).T
        y = np.arange(len(rows)) + 0.6 * ((at + 0.5) / len(points) - 0.5)
        reach = np.where(np.isfinite([low, high]), np.abs([middle - low, high - middle]), 0.0)
        axes.errorbar(middle, y, xerr=reach, label=label(name), **line(first + at) | {"linestyle": "none"})
    axes.set_yticks(range(len(rows)), [textwrap.fill(label(row), 20) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.figure.set_figheight(0.9 + max(1.0, 0.1 + 0.13 * len(points)) * 0.45 * len(rows))


def draw_gains(axes: Any, differences: NDArray[np.float64], measure: str) -> None:
    """Draw the difference of each query, sorted: gains on the left, losses on the right."""
    values = np.sort(differences)[::-1]
    edges = np.unique(np.linspace(0, values.size, min(values.size, BARS) + 1).round().astype(int))
    heights = values[(edges[:-1] + edges[1:] - 1) // 2]
    for side, text, colour in ((heights > 0, "better", COLOURS[0]), (heights < 0, "worse", COLOURS[1])):
        axes.stairs(np.where(side, heights, np.nan), edges, fill=True, color=colour, label=text)
    axes.axhline(0, color=INK, linewidth=0.8)
    label_axes(axes, "Queries by their difference", f"Difference in {label(measure)}")


def draw_front(axes: Any, comparison: Comparison, across: Measure, up: Measure) -> list[str]:
    """Draw each system by two measures, times 100, with the Pareto front, and return the names on the front.

    Bars are the 95% intervals of the differences from the baseline.
    """
    points = {}
    for system in comparison.systems:
        both = [comparison[system, measure] for measure in (across, up)]
        mean, difference, low, high = 100 * np.array([[d.mean, d.difference, d.low, d.high] for d in both]).T
        points[system] = mean
        reach = np.nan_to_num([difference - low, high - difference], nan=0.0, posinf=0.0)
        at = len(points) - 1
        style = line(at) | {"linestyle": "none", "markersize": 7, "elinewidth": 1}
        bars = {"xerr": reach[:, :1], "yerr": reach[:, 1:]}
        axes.errorbar(mean[:1], mean[1:], label=label(system), zorder=2, **bars, **style)
    on = non_dominated(list(points.values()))
    front = [name for name, is_on in zip(points, on, strict=True) if is_on]
    axes.plot(*np.array(sorted(map(tuple, (points[name] for name in front)))).T, color="#999999", zorder=1)
    label_axes(axes, f"Mean {label(repr(across))} × 100", f"Mean {label(repr(up))} × 100")
    return front


def svg_of(draw: Draw, name: str, alt: str) -> str:
    """The SVG element that `draw` draws, for a page; `name` makes its ids unique there."""
    import matplotlib
    from matplotlib.figure import Figure

    settings = {
        "svg.fonttype": "none",  # keep text as text: smaller, and searchable
        "svg.hashsalt": name,  # reproducible, and unique on the page
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": 9.5,
        "legend.fontsize": 9,
    }
    file = io.StringIO()
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        # The browser draws glyphs that matplotlib's font lacks.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        axes = figure.subplots()
        draw(axes)
        axes.set_ylabel(textwrap.fill(axes.get_ylabel(), 28))
        _legend_below(figure, axes)
        figure.savefig(file, format="svg", metadata={"Date": None}, transparent=True)
    return _inline(file.getvalue(), alt)


def _legend_below(figure: Any, axes: Any) -> None:
    """Put the legend below the axes, where it covers no curve."""
    handles, names = axes.get_legend_handles_labels()
    if axes.get_legend() is not None:
        axes.get_legend().remove()
    if not handles:
        return
    wrapped = [textwrap.fill(name, 58) for name in names]
    columns = 2 if max(map(len, names)) <= 24 and len(names) > 1 else 1
    lines = sum(name.count("\n") + 1 for name in wrapped) / columns
    figure.set_figheight(figure.get_figheight() + LINE * lines)
    figure.legend(handles, wrapped, loc="outside lower left", ncols=columns, frameon=False, borderaxespad=0.2)


def _inline(svg: str, alt: str) -> str:
    """Remove what does not belong inside a page: prolog, metadata, styles, sizes and ids of groups."""
    svg = re.sub(r"<metadata>.*?</metadata>|<style .*?</style>|<!--.*?-->", "", svg, flags=re.DOTALL)
    head, rest = svg[svg.index("<svg") :].strip().split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None
    rest = re.sub(r'(?<=<g) id="[^"]*"', "", rest)
    for colour, on_page in ON_PAGE.items():
        rest = re.sub(colour, on_page, rest, flags=re.IGNORECASE)
    rest = re.sub(r">\s+<", ">\n<", rest)
    rest = re.sub(
        r'\bd="[^"]*"', lambda path: re.sub(r"(\.\d)\d+", r"\1", path[0]), rest
    )  # tenths of a point
    return f'<svg role="img" aria-label="{html.escape(alt)}" {box[0]}>{rest}'
