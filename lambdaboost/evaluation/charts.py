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

# Draws on matplotlib Axes.
Draw = Callable[[Any], Any]

# Okabe and Ito's colours; curves differ in their dashes as well.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)), (0, (3, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
WIDTH, HEIGHT, LINE = 5.0, 3.0, 0.19  # inches; the text stays readable on a phone with 390 pixels
BARS = 250  # with more queries, evenly spaced ones are drawn
# Black and blue become colours of the page, which differ in the dark theme; see report.html.
ON_PAGE = {"#000000": "currentColor", "#0072b2": "var(--blue)"}


def has_matplotlib() -> bool:
    """Whether charts can be drawn."""
    return find_spec("matplotlib") is not None


def line_style(at: int, points: int = 1) -> dict[str, Any]:
    """Colour, dashes and marker of curve number `at`, from 0; one of more than 25 points has no markers."""
    return {
        "color": COLOURS[at % len(COLOURS)],
        "linestyle": DASHES[(at + at // len(COLOURS)) % len(DASHES)],
        "marker": MARKERS[at % len(MARKERS)] if points <= 25 else None,
        "markersize": 4,
    }


def escape_label(text: str) -> str:
    r"""A text that matplotlib shows literally: short, no mathtext, no control characters.

    >>> escape_label("$x$"), escape_label("_hidden")
    ('\\$x\\$', ' _hidden')
    """
    text = plain(text)
    # Matplotlib ignores labels that begin with an underscore.
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


def label_axes(axes: Any, x: str, y: str) -> None:
    """Label the axes and add a faint grid."""
    axes.set_xlabel(x)
    axes.set_ylabel(textwrap.fill(y, 28))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)


def draw_curves(axes: Any, curves: Mapping[str, tuple[ArrayLike, ArrayLike]], x: str, y: str) -> None:
    """Draw curves, abscissae and ordinates by name."""
    label_axes(axes, x, y)
    for at, (name, curve) in enumerate(curves.items()):
        axes.plot(*curve, label=escape_label(name), **line_style(at, np.size(curve[0])))


def draw_intervals(
    axes: Any, points: Mapping[str, ArrayLike], rows: Sequence[str], x: str, first: int = 0
) -> None:
    """Draw points with intervals, each system's (value, low, high) by row; infinite ends are left out.

    `first` is the number of the first system, which has the colour and marker of that number.
    """
    label_axes(axes, x, "")
    for at, (name, of_rows) in enumerate(points.items()):
        middle, low, high = np.transpose(of_rows)
        y = np.arange(len(rows)) + 0.6 * ((at + 0.5) / len(points) - 0.5)
        reach = np.where(np.isfinite([low, high]), np.abs([middle - low, high - middle]), 0.0)
        style = line_style(first + at) | {"linestyle": "none"}
        axes.errorbar(middle, y, xerr=reach, label=escape_label(name), **style)
    axes.set_yticks(range(len(rows)), [textwrap.fill(escape_label(row), 20) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.figure.set_figheight(0.9 + max(1.0, 0.1 + 0.13 * len(points)) * 0.45 * len(rows))


def draw_gains(axes: Any, differences: NDArray[np.float64], y: str) -> None:
    """Draw the difference of each query, sorted: gains on the left, losses on the right."""
    values = np.sort(differences)[::-1]
    edges = np.unique(np.linspace(0, values.size, min(values.size, BARS) + 1).round().astype(int))
    heights = values[(edges[:-1] + edges[1:] - 1) // 2]
    for side, text, colour in ((heights > 0, "better", COLOURS[0]), (heights < 0, "worse", COLOURS[1])):
        axes.stairs(np.where(side, heights, np.nan), edges, fill=True, color=colour, label=text)
    axes.axhline(0, color="black", linewidth=0.8)
    label_axes(axes, "Queries by their difference", y)


def draw_front(axes: Any, comparison: Comparison, across: str, up: str) -> None:
    """Draw each system by two measures, times 100, with the Pareto front.

    Bars are the 95% intervals of the differences from the baseline.
    """
    points = []
    for at, system in enumerate(comparison.systems):
        both = [comparison[system, measure] for measure in (across, up)]
        mean, difference, low, high = 100 * np.array([[d.mean, d.difference, d.low, d.high] for d in both]).T
        points.append(mean)
        reach = np.nan_to_num([difference - low, high - difference], nan=0.0, posinf=0.0)
        style = line_style(at) | {"linestyle": "none", "markersize": 7, "elinewidth": 1}
        bars = {"xerr": reach[:, :1], "yerr": reach[:, 1:]}
        axes.errorbar(mean[:1], mean[1:], label=escape_label(system), zorder=2, **bars, **style)
    front = np.array(points)[non_dominated(points)]
    axes.plot(*front[np.lexsort(front.T[::-1])].T, color="#999999", zorder=1)
    label_axes(axes, f"Mean {escape_label(across)} × 100", f"Mean {escape_label(up)} × 100")


def render_svg(draw: Draw, alt: str) -> str:
    """The SVG element that `draw` draws, for a page, with `alt` as its description."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    settings = {
        "svg.fonttype": "none",  # keep text as text: smaller, and searchable
        "svg.hashsalt": alt,  # reproducible ids, unique on the page
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": 9.5,
        "legend.fontsize": 9,
    }
    file = io.StringIO()
    with rc_context(settings), warnings.catch_warnings():
        # The browser draws glyphs that matplotlib's font lacks.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        axes = figure.subplots()
        draw(axes)
        _move_legend_below(figure, axes)
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(file, format="svg", metadata=nothing, transparent=True)
    return _inline_svg(file.getvalue(), alt)


def _move_legend_below(figure: Any, axes: Any) -> None:
    """Put the legend below the axes, where it covers no curve."""
    handles, names = axes.get_legend_handles_labels()
    if axes.get_legend() is not None:
        axes.get_legend().remove()
    if handles:
        names = [textwrap.fill(name, 58) for name in names]
        lines = sum(name.count("\n") + 1 for name in names)
        figure.set_figheight(figure.get_figheight() + LINE * lines)
        figure.legend(handles, names, loc="outside lower left", frameon=False, borderaxespad=0.2)


def _inline_svg(svg: str, alt: str) -> str:
    """Remove what does not belong inside a page: prolog, styles, sizes and ids of groups; shorten coordinates."""
    head, rest = svg[svg.index("<svg") :].split(">", 1)
    box = re.findall(r'viewBox="[^"]*"', head)[0]
    rest = re.sub(r'<style .*?</style>|(?<=<g) id="[^"]*"|<!--.*?-->', "", rest, flags=re.DOTALL)
    for colour, on_page in ON_PAGE.items():
        rest = re.sub(colour, on_page, rest, flags=re.IGNORECASE)
    rest = re.sub(
        r'\bd="[^"]*"', lambda path: re.sub(r"(\.\d)\d+", r"\1", path[0]), rest
    )  # tenths of a point
    return f'<svg role="img" aria-label="{html.escape(alt)}" {box}>{rest.strip()}'
