"""`Page`: sections of tables, texts and pictures as one self-contained HTML document."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from lambdaboost._files import replacing
from lambdaboost._installed import remedy
from lambdaboost._words import plain
from lambdaboost.evaluation.comparison.table import Table
from lambdaboost.evaluation.reports.drawing import Draw, drawn, has_matplotlib

# Whatever the page holds, the browser loads nothing; without the empty icon it would ask a server for one.
ONLY_ITSELF = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
LONGEST = 4_000  # characters of a paragraph or a caption


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
    caption = escaped(table.caption)
    return (
        f'<figure>\n<div class="scroll" tabindex="0" role="region" aria-label="{caption}">\n{table.bare_html()}\n'
        f"</div>\n<figcaption>{caption}</figcaption>\n</figure>"
    )
