"""`Table`: a table that prints to the terminal, Markdown, LaTeX and HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

Style = Literal["plain", "bold", "italic"]

MARKDOWN = {"plain": "{}", "bold": "**{}**", "italic": "*{}*"}
LATEX = {"plain": "{}", "bold": r"\textbf{{{}}}", "italic": r"\textit{{{}}}"}
HTML = {"plain": "{}", "bold": "<b>{}</b>", "italic": "<i>{}</i>"}
RICH = {"plain": "{}", "bold": "[bold]{}[/bold]", "italic": "[italic]{}[/italic]"}

LATEX_ESCAPES = str.maketrans(
    {c: "\\" + c for c in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\~{}", "^": r"\^{}"}
    | {"<": "$<$", ">": "$>$", "▲": r"$\blacktriangle$", "▼": r"$\blacktriangledown$"}
)
# In Markdown these are an escape, a cell border, emphasis, code or a link; the next ones begin a tag or an entity.
MARKDOWN_SPECIAL = re.compile(r"[\\|*`\[\]]|(?<!\w)_|_(?!\w)")
HTML_IN_MARKDOWN = re.compile(r"<(?=[A-Za-z/!?])|&(?=#?\w+;)")


@dataclass(frozen=True)
class Cell:
    """A text and its style."""

    text: str
    style: Style = "plain"


@dataclass(frozen=True)
class Table:
    """A header and rows of cells, the first column aligned left and the others right; prints as plain text.

    Examples
    --------
    >>> print(Table(("Method", "@3"), ((Cell("LightGBM"), Cell("61.66", "bold")),), "Mean NDCG.").markdown())
    | Method | @3 |
    |:---|---:|
    | LightGBM | **61.66** |
    <BLANKLINE>
    Mean NDCG.

    """

    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str

    def markdown(self) -> str:
        """The table as GitHub Markdown, with special characters escaped."""

        def line(cells: Iterable[Cell]) -> str:
            texts = (MARKDOWN[c.style].format(_markdown(c.text)) for c in cells)
            return f"| {' | '.join(texts)} |"

        rule = f"|:---|{'---:|' * (len(self.header) - 1)}"
        head = line(map(Cell, self.header))
        return "\n".join([head, rule, *map(line, self.rows), "", _markdown(self.caption)])

    def latex(self) -> str:
        """The table as a LaTeX float, for the packages booktabs and amssymb."""

        def line(cells: tuple[Cell, ...]) -> str:
            texts = [LATEX[c.style].format(c.text.translate(LATEX_ESCAPES)) for c in cells]
            return f"{' & '.join(texts)} \\\\"

        return "\n".join(
            [
                r"\begin{table}",
                rf"\caption{{{self.caption.translate(LATEX_ESCAPES)}}}",
                rf"\begin{{tabular}}{{l{'r' * (len(self.header) - 1)}}}",
                r"\toprule",
                line(tuple(map(Cell, self.header))),
                r"\midrule",
                *map(line, self.rows),
                r"\bottomrule",
                r"\end{tabular}",
                r"\end{table}",
            ]
        )

    def html(self) -> str:
        """The table as HTML."""

        def line(tag: str, cells: tuple[Cell, ...]) -> str:
            texts = [HTML[c.style].format(html.escape(c.text)) for c in cells]
            name = tag.partition(" ")[0]
            return "<tr>" + "".join(f"<{tag}>{text}</{name}>" for text in texts) + "</tr>"

        head = line('th scope="col"', tuple(map(Cell, self.header)))
        rows = "\n".join(line("td", row) for row in self.rows)
        caption = html.escape(self.caption)
        # Browsers repeat <thead> on every printed page.
        body = f"<thead>\n{head}\n</thead>\n<tbody>\n{rows}\n</tbody>"
        return f"<table>\n<caption>{caption}</caption>\n{body}\n</table>"

    def __rich__(self) -> Any:
        return self._rich(RICH)

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(width=10_000, color_system=None, markup=True, highlight=False)
        with console.capture() as text:
            console.print(self._rich(MARKDOWN))
        return "\n".join(line.rstrip() for line in text.get().strip("\n").splitlines())

    def _repr_html_(self) -> str:
        return self.html()

    def _rich(self, styles: dict[str, str]) -> Any:
        from rich.box import SIMPLE_HEAD
        from rich.markup import escape
        from rich.table import Table as RichTable

        table = RichTable(box=SIMPLE_HEAD, caption=escape(self.caption), caption_justify="left")
        for i, name in enumerate(self.header):
            table.add_column(escape(name), justify="right" if i else "left", overflow="fold")
        for row in self.rows:
            table.add_row(*(styles[c.style].format(escape(c.text)) for c in row))
        return table


def _markdown(text: str) -> str:
    """A text on one line with Markdown's special characters escaped."""
    text = HTML_IN_MARKDOWN.sub(lambda found: html.escape(found[0]), " ".join(text.splitlines()))
    return MARKDOWN_SPECIAL.sub(lambda found: "\\" + found[0], text)
