"""`Page`: tables, texts and pictures as one HTML document, and the pictures drawn by matplotlib as inline SVG."""

from __future__ import annotations

import html
import io
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaboost._files import replacing
from lambdaboost._installed import remedy
from lambdaboost._words import plain
from lambdaboost.evaluation.comparison.table import Table

# Whatever the page holds, the browser loads nothing; without the empty icon it would ask a server for one.
ONLY_ITSELF = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
LONGEST = 4_000  # characters of a paragraph or a caption

# Draws on matplotlib Axes.
Draw = Callable[[Any], Any]

# Okabe and Ito's colours; curves differ in their dashes as well.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)), (0, (3, 1, 1, 1)))
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
# Inches; the text stays readable on a phone with 390 pixels.
WIDTH, HEIGHT, LEGEND_LINE = 5.0, 3.0, 0.19
MARKED = 25  # up to this number of points each has a marker
LONG = 28  # characters after which an axis label is wrapped
# These colours become the page's text and background colours; see style.css.
ON_PAGE = {"#000000": "currentColor", "#1a1a1a": "currentColor", "#0072b2": "var(--blue)"}
SETTINGS = {
    "svg.fonttype": "none",  # keep text as text: smaller, and searchable
    "svg.hashsalt": "lambdaboost",  # reproducible bytes
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "legend.fontsize": 9,
}


def escaped(text: str, longest: int = LONGEST) -> str:
    r"""Text for HTML, short and without control characters; every text of a page passes through here.

    >>> print(escaped("<b> & \x1b[31m"))
    &lt;b&gt; &amp; \x1b[31m
    """
    return html.escape(plain(text, longest)) if text else ""


@dataclass(frozen=True)
class Picture:
    """A drawing function, a caption, and what readers of the page who do not see it are told besides."""

    draw: Draw
    caption: str
    alt: str = "Chart."


@dataclass
class Page:
    """Builder of an HTML document; escapes every text."""

    title: str
    lead: str
    _sections: list[str] = field(default_factory=list)
    _body: list[str] = field(default_factory=list)
    _pictures: int = 0

    def section(self, heading: str) -> None:
        """Begin a section, linked from the top of the page."""
        self._sections.append(heading)
        self._body.append(f'<h2 id="section-{len(self._sections)}">{escaped(heading)}</h2>')

    def heading(self, text: str) -> None:
        """A heading inside a section."""
        self._body.append(f"<h3>{escaped(text)}</h3>")

    def text(self, text: str) -> None:
        """A paragraph."""
        self._body.append(f"<p>{escaped(text)}</p>")

    def points(self, points: Iterable[tuple[str, str]]) -> None:
        """A list of names, each with a text."""
        items = (f"<li><b>{escaped(name)}</b> {escaped(text)}</li>" for name, text in points)
        self._body.append("<ul>\n" + "\n".join(items) + "\n</ul>")

    def table(self, table: Table) -> None:
        """A table with its caption below; it scrolls if it is too wide."""
        self._body.append(_figure(table))

    def tables(self, tables: Iterable[Table]) -> None:
        """Tables side by side, if the screen is wide enough."""
        self._body.append('<div class="tables">\n' + "\n".join(map(_figure, tables)) + "\n</div>")

    def facts(self, facts: Mapping[str, str]) -> None:
        """A table of names and values."""
        rows = (
            f'<tr><th scope="row">{escaped(name)}</th><td>{escaped(text)}</td></tr>'
            for name, text in facts.items()
        )
        self._body.append('<table class="facts">\n' + "\n".join(rows) + "\n</table>")

    def code(self, code: str) -> None:
        """Lines of code; they scroll if they are too wide."""
        self._body.append(f'<pre class="scroll" tabindex="0"><code>{html.escape(code)}</code></pre>')

    def pictures(self, pictures: Iterable[Picture]) -> None:
        """Pictures side by side, or below each other on a phone; omitted if matplotlib is missing."""
        if not has_matplotlib():
            return
        figures = []
        for shown in pictures:
            self._pictures += 1
            alt = plain(f"{shown.alt} {shown.caption}", LONGEST)
            svg = drawn(shown.draw, f"picture-{self._pictures}", alt)
            figures.append(f"<figure>\n{svg}\n<figcaption>{escaped(shown.caption)}</figcaption>\n</figure>")
        self._body.append('<div class="pictures">\n' + "\n".join(figures) + "\n</div>")

    def html(self) -> str:
        """The document as HTML."""
        title = escaped(self.title)
        links = "\n".join(
            f'<li><a href="#section-{at}">{escaped(heading)}</a></li>'
            for at, heading in enumerate(self._sections, start=1)
        )
        style = files("lambdaboost.evaluation.reports").joinpath("style.css").read_text(encoding="utf-8")
        needs = f"<p>Without pictures: they need matplotlib, {html.escape(remedy('matplotlib'))}.</p>\n"
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{ONLY_ITSELF}">\n<link rel="icon" href="data:,">\n'
            f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
            f"<header>\n<h1>{title}</h1>\n<p>{escaped(self.lead)}</p>\n{'' if has_matplotlib() else needs}"
            f'<nav aria-label="Contents">\n<ul>\n{links}\n</ul>\n'
            "</nav>\n</header>\n<main>\n" + "\n".join(self._body) + "\n</main>\n</body>\n</html>\n"
        )

    def write(self, path: Path) -> None:
        """Write the document; an existing file is replaced only when it is complete."""
        content = self.html().encode(errors="replace")
        with replacing(path) as file:
            file.write(content)


def _figure(table: Table) -> str:
    caption, bare = escaped(table.caption), table.html(captioned=False)
    return (
        f'<figure>\n<div class="scroll" tabindex="0" role="region" aria-label="{caption}">\n{bare}\n</div>\n'
        f"<figcaption>{caption}</figcaption>\n</figure>"
    )


def has_matplotlib() -> bool:
    """Whether pictures can be drawn."""
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


def draw_curves(axes: Any, curves: Mapping[str, tuple[ArrayLike, ArrayLike]], x: str, y: str) -> None:
    """Draw curves, abscissae and ordinates by name; each point of a short one has a marker."""
    label_axes(axes, x, y)
    for at, (name, curve) in enumerate(curves.items()):
        marks = {} if np.size(curve[0]) <= MARKED else {"marker": None}
        axes.plot(*curve, label=label(name), **line(at) | marks)


def label_axes(axes: Any, x: str, y: str) -> None:
    """Label the axes and add a faint grid."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)


def label(text: str) -> str:
    r"""A text that matplotlib shows literally: short, no mathtext, no control characters.

    >>> label("$x$"), label("_hidden")
    ('\\$x\\$', ' _hidden')
    """
    text = plain(text)
    # Matplotlib ignores labels that begin with an underscore.
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


def drawn(draw: Draw, name: str, alt: str) -> str:
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
    useless = r'(?<=<g) id="[^"]*"|(?<=") transform="rotate\(-0 [^"]*"|<!--.*?-->'
    rest = re.sub(useless, "", rest, flags=re.DOTALL)
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
