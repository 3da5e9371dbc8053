"""`picture`: a drawing as SVG that stands inside an HTML page."""

from __future__ import annotations

import html
import io
import re
import textwrap
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

# Draws into matplotlib's Axes.
Draw = Callable[[Any], Any]

# Inches. On a phone's 390 pixels the letters are then still of a size to read.
WIDTH, HEIGHT, LEGEND_LINE = 5.0, 3.0, 0.19
LONG = 28  # letters of an axis's name that has to go on in a second line
# Colours that follow the page's: black on white, white on black. See styles.py.
ON_PAGE = {"#000000": "currentColor", "#1a1a1a": "currentColor", "#0072b2": "var(--blue)"}
SETTINGS = {
    "svg.fonttype": "none",  # letters stay letters: small, and found by a search
    "svg.hashsalt": "lambdaboost",  # the same picture in the same bytes
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "legend.fontsize": 9,
}


def has_matplotlib() -> bool:
    """Whether pictures can be drawn."""
    return find_spec("matplotlib") is not None


def picture(draw: Draw, name: str, alt: str) -> str:
    """The SVG element of what `draw` draws; `name` sets its ids apart from those of other pictures on the page."""
    import matplotlib
    from matplotlib.figure import Figure

    file = io.StringIO()
    with matplotlib.rc_context(SETTINGS), warnings.catch_warnings():
        # Letters that its own font lacks are drawn by the browser.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        axes = figure.subplots()
        draw(axes)
        axes.set_ylabel(textwrap.fill(axes.get_ylabel(), LONG))
        _legend_below(figure, axes)
        figure.savefig(file, format="svg", metadata={"Date": None}, transparent=True)
    return _inline(file.getvalue(), name, alt)


def label(text: str) -> str:
    r"""A text that matplotlib shows as it is: no formula between dollars, nothing that cannot be seen.

    >>> label("$x$"), label("_hidden")
    ('\\$x\\$', ' _hidden')
    """
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    # Matplotlib passes over labels that begin with an underscore.
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


def _legend_below(figure: Any, axes: Any) -> None:
    """The legend under the axes, where it covers no curve however long its names are."""
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
    """Without what a file has and a page must not: prolog, metadata, namespaces, a style for the whole document."""
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>|<style .*?</style>|<defs>\s*</defs>", "", svg, flags=re.DOTALL)
    head, rest = svg.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None
    # What nothing refers to, and what says nothing.
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
    """A path to the tenth of a point, without its blanks."""
    text = re.sub(r"(\.\d)\d+", r"\1", " ".join(path[0].split()))
    return re.sub(r" ?([A-Za-z]) ", r"\1", text)
