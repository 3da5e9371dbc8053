"""`picture`: a drawing as inline SVG for an HTML page."""

from __future__ import annotations

import html
import io
import re
import textwrap
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

# Draws on matplotlib Axes.
Draw = Callable[[Any], Any]

# Inches; the text stays readable on a phone with 390 pixels.
WIDTH, HEIGHT, LEGEND_LINE = 5.0, 3.0, 0.19
LONG = 28  # characters after which an axis label is wrapped
# These colours become the page's text and background colours; see styles.py.
ON_PAGE = {"#000000": "currentColor", "#1a1a1a": "currentColor", "#0072b2": "var(--blue)"}
SETTINGS = {
    "svg.fonttype": "none",  # keep text as text: smaller, and searchable
    "svg.hashsalt": "lambdaboost",  # reproducible bytes
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "legend.fontsize": 9,
}


def has_matplotlib() -> bool:
    """Whether pictures can be drawn."""
    return find_spec("matplotlib") is not None


def picture(draw: Draw, name: str, alt: str) -> str:
    """The SVG element drawn by `draw`; `name` makes its ids unique on the page."""
    import matplotlib
    from matplotlib.figure import Figure

    file = io.StringIO()
    with matplotlib.rc_context(SETTINGS), warnings.catch_warnings():
        # The browser draws glyphs that matplotlib's font lacks.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        axes = figure.subplots()
        draw(axes)
        axes.set_ylabel(textwrap.fill(axes.get_ylabel(), LONG))
        _legend_below(figure, axes)
        figure.savefig(file, format="svg", metadata={"Date": None}, transparent=True)
    return _inline(file.getvalue(), name, alt)


def label(text: str) -> str:
    r"""Escape a text so that matplotlib shows it literally: no mathtext, no invisible characters.

    >>> label("$x$"), label("_hidden")
    ('\\$x\\$', ' _hidden')
    """
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    # Matplotlib ignores labels that begin with an underscore.
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


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
    figure.set_figheight(HEIGHT + LEGEND_LINE * lines)
    figure.legend(handles, wrapped, loc="outside lower left", ncols=columns, frameon=False, borderaxespad=0.2)


def _inline(svg: str, name: str, alt: str) -> str:
    """Remove what does not belong inside a page: prolog, metadata, namespaces and global styles."""
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>|<style .*?</style>|<defs>\s*</defs>", "", svg, flags=re.DOTALL)
    head, rest = svg.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None
    # Unused ids, and attributes and comments without effect.
    rest = re.sub(
        r'(?<=<g) id="[^"]*"|(?<=") transform="rotate\(-0 [^"]*"|<!--.*?-->', "", rest, flags=re.DOTALL
    )
    for colour, on_page in ON_PAGE.items():
        rest = re.sub(colour, on_page, rest, flags=re.IGNORECASE)
    rest = re.sub(r">\s+<", ">\n<", rest)
    rest = re.sub(r'(\bid="|url\(#|xlink:href="#)', rf"\g<1>{name}-", rest)
    rest = re.sub(r'\bd="[^"]*"', _shorter, rest)
    return f'<svg role="img" aria-label="{html.escape(alt)}" {box[0]}>{rest}'


def _shorter(path: re.Match[str]) -> str:
    """Round a path to tenths of a point and remove its blanks."""
    text = re.sub(r"(\.\d)\d+", r"\1", " ".join(path[0].split()))
    return re.sub(r" ?([A-Za-z]) ", r"\1", text)
