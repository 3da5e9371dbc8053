"""`Page`: sections of tables, texts and pictures as one self-contained HTML document."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from lambdaboost.evaluation.comparison.table import Table
from lambdaboost.evaluation.report.styles import CSS
from lambdaboost.evaluation.report.svg import Draw, has_matplotlib, picture

# Whatever the page holds, the browser loads nothing; without the empty icon it would ask a server for one.
ONLY_ITSELF = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


@dataclass(frozen=True)
class Picture:
    """A drawing function, a caption and an alternative text."""

    draw: Draw
    caption: str
    alt: str


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
        at = len(self._sections)
        self._body.append(f'<h2 id="section-{at}">{html.escape(heading)}</h2>')

    def heading(self, text: str) -> None:
        """A heading inside a section."""
        self._body.append(f"<h3>{html.escape(text)}</h3>")

    def text(self, text: str) -> None:
        """A paragraph."""
        self._body.append(f"<p>{html.escape(text)}</p>")

    def points(self, points: Iterable[tuple[str, str]]) -> None:
        """A list of names, each with a text."""
        items = (f"<li><b>{html.escape(name)}</b> {html.escape(text)}</li>" for name, text in points)
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
            f'<tr><th scope="row">{html.escape(name)}</th><td>{html.escape(text)}</td></tr>'
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
        drawn = []
        for shown in pictures:
            self._pictures += 1
            svg = picture(shown.draw, f"picture-{self._pictures}", shown.alt)
            caption = html.escape(shown.caption)
            drawn.append(f"<figure>\n{svg}\n<figcaption>{caption}</figcaption>\n</figure>")
        self._body.append('<div class="pictures">\n' + "\n".join(drawn) + "\n</div>")

    def html(self) -> str:
        """The document as HTML."""
        title, lead = html.escape(self.title), html.escape(self.lead)
        links = "\n".join(
            f'<li><a href="#section-{at}">{html.escape(heading)}</a></li>'
            for at, heading in enumerate(self._sections, start=1)
        )
        missing = (
            "" if has_matplotlib() else "<p>Without pictures: they need matplotlib, lambdaboost[plots].</p>\n"
        )
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{ONLY_ITSELF}">\n<link rel="icon" href="data:,">\n'
            f"<title>{title}</title>\n<style>{CSS}</style>\n</head>\n<body>\n"
            f'<header>\n<h1>{title}</h1>\n<p>{lead}</p>\n{missing}<nav aria-label="Contents">\n<ul>\n{links}\n</ul>\n'
            "</nav>\n</header>\n<main>\n" + "\n".join(self._body) + "\n</main>\n</body>\n</html>\n"
        )


def _figure(table: Table) -> str:
    bare = replace(table, caption="").html().replace("<caption></caption>\n", "")
    caption = html.escape(table.caption)
    return (
        f'<figure>\n<div class="scroll" tabindex="0" role="region" aria-label="{caption}">\n{bare}\n</div>\n'
        f"<figcaption>{caption}</figcaption>\n</figure>"
    )
