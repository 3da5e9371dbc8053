"""`Table`: a table that prints to the terminal, Markdown and HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lambdaboost._words import plain

LONGEST = 120  # characters of a cell
LONGEST_CAPTION = 4_000

# In Markdown these are an escape, a cell border, emphasis, code or a link; the next ones begin a tag or an entity.
MARKDOWN_SPECIAL = re.compile(r"[\\|*`\[\]]|(?<!\w)_|_(?!\w)")
HTML_IN_MARKDOWN = re.compile(r"<(?=[A-Za-z/!?])|&(?=#?\w+;)")


class Bold(str):
    """A cell in bold type."""


def percent(figure: float) -> str:
    """A mean times 100 with two decimals, or a dash where it is undefined.

    >>> percent(0.61661), percent(float("nan"))
    ('61.66', '–')
    """
    return "–" if figure != figure else f"{100 * figure:.2f}"


@dataclass(frozen=True)
class Table:
    """A header and rows of cells, the first column aligned left and the others right; prints as plain text.

    Examples
    --------
    >>> print(Table(("Method", "@3"), (("LightGBM", Bold("61.66")),), "Mean NDCG.").markdown())
    | Method | @3 |
    |:---|---:|
    | LightGBM | **61.66** |
    <BLANKLINE>
    Mean NDCG.

    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str

    def __post_init__(self) -> None:
        """Every way to print a table shows texts that are short and without control characters."""
        rows = (tuple(type(cell)(_safe(cell)) for cell in row) for row in self.rows)
        object.__setattr__(self, "header", tuple(map(_safe, self.header)))
        object.__setattr__(self, "rows", tuple(rows))
        object.__setattr__(self, "caption", _safe(self.caption, LONGEST_CAPTION))

    def markdown(self) -> str:
        """The table as GitHub Markdown, with special characters escaped."""
        head, *rows = (
            f"| {' | '.join(_styled(row, _markdown, '**{}**'))} |" for row in (self.header, *self.rows)
        )
        rule = f"|:---|{'---:|' * (len(self.header) - 1)}"
        return "\n".join([head, rule, *rows, "", _markdown(self.caption)])

    def html(self, captioned: bool = True) -> str:
        """The table as HTML, with its caption or without."""
        caption = f"<caption>{html.escape(self.caption)}</caption>\n" if captioned else ""
        head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in self.header)
        rows = (
            "".join(f"<td>{cell}</td>" for cell in _styled(row, html.escape, "<b>{}</b>"))
            for row in self.rows
        )
        body = "\n".join(f"<tr>{cells}</tr>" for cells in rows)
        # Browsers repeat <thead> on every printed page.
        return f"<table>\n{caption}<thead>\n<tr>{head}</tr>\n</thead>\n<tbody>\n{body}\n</tbody>\n</table>"

    def __rich__(self) -> Any:
        return self._rich("[bold]{}[/bold]")

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(width=10_000, color_system=None, markup=True, highlight=False)
        with console.capture() as text:
            console.print(self._rich("**{}**"))
        return "\n".join(line.rstrip() for line in text.get().strip("\n").splitlines())

    def _repr_html_(self) -> str:
        return self.html()

    def _rich(self, bold: str) -> Any:
        from rich.box import SIMPLE_HEAD
        from rich.markup import escape
        from rich.table import Table as RichTable

        table = RichTable(box=SIMPLE_HEAD, caption=escape(self.caption), caption_justify="left")
        for i, name in enumerate(self.header):
            table.add_column(escape(name), justify="right" if i else "left", overflow="fold")
        for row in self.rows:
            table.add_row(*_styled(row, escape, bold))
        return table


def _styled(row: tuple[str, ...], escape: Callable[[str], str], bold: str) -> list[str]:
    return [bold.format(escape(cell)) if isinstance(cell, Bold) else escape(cell) for cell in row]


def _safe(text: str, longest: int = LONGEST) -> str:
    return plain(text, longest) if text else ""


def _markdown(text: str) -> str:
    """A text with Markdown's special characters escaped."""
    text = HTML_IN_MARKDOWN.sub(lambda found: html.escape(found[0]), text)
    return MARKDOWN_SPECIAL.sub(lambda found: "\\" + found[0], text)
