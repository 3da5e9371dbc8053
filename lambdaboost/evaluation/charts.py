"""How results are shown: charts by matplotlib, which is imported where one is drawn, and tables by pandas."""

from __future__ import annotations

import html
import io
import textwrap
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._words import plain

# Okabe and Ito's colours; curves differ in their dashes as well.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)), (0, (3, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
WIDTH, HEIGHT, LINE = 5.0, 3.0, 0.19  # inches; the text stays readable on a phone with 390 pixels
BARS = 250  # with more queries, evenly spaced ones are drawn
MAX_CELL = 120  # characters of a text in a table


def has_matplotlib() -> bool:
    """Whether charts can be drawn."""
    return find_spec("matplotlib") is not None


def line_style(at: int, points: int = 1) -> dict[str, Any]:
    """Colour, dashes and marker of curve number `at`, from 0; one of more than 25 points has no markers."""
    style: dict[str, Any] = {
        "color": COLOURS[at % len(COLOURS)],
        "linestyle": DASHES[(at + at // len(COLOURS)) % len(DASHES)],
    }
    if points <= 25:
        style |= {"marker": MARKERS[at % len(MARKERS)], "markersize": 4}
    return style


def escape_label(text: str) -> str:
    r"""A text that matplotlib shows literally: short, no mathtext, no control characters.

    >>> escape_label("$x$"), escape_label("_hidden")
    ('\\$x\\$', ' _hidden')
    """
    text = plain(text).replace("$", r"\$")
    if text.startswith("_"):  # Matplotlib ignores such labels
        text = f" {text}"
    return text


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
    axes: Any, points: Mapping[str, ArrayLike], rows: Sequence[str], x: str, zero: bool = False
) -> None:
    """Draw points with intervals, each system's (value, low, high) by row; infinite ends are left out.

    With a line at `zero`, for differences from the first system, the colours begin with that of the second.
    """
    label_axes(axes, x, "")
    if zero:
        axes.axvline(0, color="black", linewidth=0.8)
    for at, (name, of_rows) in enumerate(points.items()):
        middle, low, high = np.transpose(of_rows)
        y = np.arange(len(rows)) + 0.6 * ((at + 0.5) / len(points) - 0.5)
        reach = np.where(np.isfinite([low, high]), np.abs([middle - low, high - middle]), 0.0)
        style = line_style(at + zero) | {"linestyle": "none"}
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
    axes.xaxis.get_major_locator().set_params(integer=True)
    label_axes(axes, "Queries by their difference", y)


def draw_front(axes: Any, points: Mapping[str, ArrayLike], x: str, y: str) -> None:
    """Draw each system by two measures, (mean, difference, low, high) of each, with the Pareto front.

    Bars are the intervals of the differences from the baseline.
    """
    means = []
    for at, (name, of_measures) in enumerate(points.items()):
        mean, difference, low, high = np.transpose(of_measures)
        means.append(mean)
        reach = np.nan_to_num([difference - low, high - difference], nan=0.0, posinf=0.0)
        style = line_style(at) | {"linestyle": "none", "markersize": 7, "elinewidth": 1}
        bars = {"xerr": reach[:, :1], "yerr": reach[:, 1:]}
        axes.errorbar(mean[:1], mean[1:], label=escape_label(name), zorder=2, **bars, **style)
    front = np.array(means)
    front = front[on_front(front)]
    axes.plot(*front[front[:, 0].argsort()].T, color="#999999", zorder=1)
    label_axes(axes, x, y)


def on_front(points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether no other of the points, (n, 2), is as high in both columns and higher in one: the Pareto front.

    >>> on_front(np.array([[2, 1], [1, 1], [0, 3]]))
    array([ True, False,  True])
    """
    return np.array([not ((points >= p).all(axis=1) & (points > p).any(axis=1)).any() for p in points])


def render_svg(draw: Callable[[Any], None]) -> bytes:
    """The SVG of what a function draws on matplotlib Axes, with a legend below them."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    settings = {
        "svg.fonttype": "none",  # keep text as text: smaller
        "svg.hashsalt": "lambdaboost",  # reproducible ids
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": 9.5,
        "legend.fontsize": 9,
    }
    file = io.BytesIO()
    with rc_context(settings), warnings.catch_warnings():
        # The browser draws glyphs that matplotlib's font lacks.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        axes = figure.subplots()
        draw(axes)
        handles, names = axes.get_legend_handles_labels()
        if handles:
            figure.set_figheight(figure.get_figheight() + LINE * len(names))
            figure.legend(handles, names, loc="outside lower left", frameon=False, borderaxespad=0.2)
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()


def as_html(*parts: Any) -> str:
    """What notebooks show of a result: texts as paragraphs, frames as tables, and what functions draw on axes.

    Charts are left out without matplotlib.
    """
    pieces = []
    for part in parts:
        if isinstance(part, str):
            pieces.append(f"<p>{html.escape(part)}</p>")
        elif not callable(part):
            pieces.append(html_table(part))
        elif has_matplotlib():
            pieces.append("".join(render_svg(part).decode().partition("<svg")[1:]))
    return "\n".join(pieces)


def text_frame(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Any:
    """A pandas frame of texts, each short and without control characters."""
    import pandas as pd

    cells = [[cell and plain(cell, MAX_CELL) for cell in row] for row in (header, *rows)]
    return pd.DataFrame(cells[1:], columns=cells[0])


def ends_of(low: float, high: float) -> str:
    """An interval times 100 in a cell.

    >>> ends_of(-1e-6, 0.02), ends_of(-np.inf, np.inf)
    ('+0.00 to +2.00', 'too few queries')
    """
    if not np.isfinite(high - low):
        return "too few queries"
    return f"{100 * low:+z.2f} to {100 * high:+z.2f}"


def value_text(value: Any) -> str:
    """The value of a feature, which is a float for a model; a whole number, such as a year, has no point.

    >>> value_text(2022.0), value_text(0.1 + 0.2), value_text("de")
    ('2022', '0.3', 'de')
    """
    if not isinstance(value, float | np.floating):
        return str(value)
    if value.is_integer():
        return f"{value:.0f}"
    return f"{value:.6g}"


def html_table(frame: Any, **options: Any) -> str:
    """A frame of texts as HTML, escaped; `options` are those of ``DataFrame.to_html``."""
    import pandas as pd

    with pd.option_context("display.max_colwidth", None):
        table: str = frame.to_html(index=False, border=0, **options)
    return table
