"""Options that several commands have, how their texts are read, and what a command may write."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from lambdaboost._checks import check_new_source
from lambdaboost._files import check_place
from lambdaboost._words import quote
from lambdaboost.datasets import Columns
from lambdaboost.engines import ENGINES, first_installed
from lambdaboost.evaluation import Measure, parse
from lambdaboost.saving import sidecar_path


def parsed_by(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """A parser of an option from a function that raises TypeError or ValueError for a wrong text."""

    def parser(text: str) -> Any:
        try:
            return read(text)
        except (TypeError, ValueError) as error:
            raise typer.BadParameter(str(error)) from None

    return parser


def read_source(text: str) -> tuple[str, str, bool]:
    """Read ``NAME[=COLUMN][:rate]``: the name, the column, and whether it holds counts of clicks.

    >>> read_source("clicks=134:rate")
    ('clicks', '134', True)
    """
    given = text.strip().removesuffix(":rate")
    name, equals, column = (part.strip() for part in given.partition("="))
    if not name.isidentifier() or (equals and not column):
        raise ValueError(f"{quote(text)}: expected NAME=COLUMN or NAME=COLUMN:rate, such as clicks=134:rate")
    return name, column or name, given != text.strip()


def read_param(text: str) -> tuple[str, Any]:
    """Read ``KEY=VALUE``: numbers, lists, true and false as in JSON, anything else as text.

    >>> read_param("num_leaves=63"), read_param("boosting=dart")
    (('num_leaves', 63), ('boosting', 'dart'))
    """
    key, equals, value = (part.strip() for part in text.partition("="))
    if not (key and equals and value):
        raise ValueError(f"{quote(text)}: expected KEY=VALUE, such as num_leaves=63")
    try:
        found = json.loads(value, parse_constant=str)
    except ValueError:
        found = {"True": True, "False": False}.get(value, value)
    return key, found


def read_named(text: str) -> tuple[str, Path]:
    """Read ``PATH`` or ``NAME=PATH``.

    >>> read_named("models/7.txt")
    Traceback (most recent call last):
    ValueError: file 'models/7.txt' does not exist
    """
    name, equals, path = text.partition("=")
    if not equals or Path(text).exists():
        name, path = Path(text).stem, text
    if not name.strip() or not path:
        raise ValueError(f"{quote(text)}: expected PATH or NAME=PATH, such as graded=model.txt")
    if not Path(path).is_file():
        raise ValueError(f"file {quote(path)} does not exist")
    return name.strip(), Path(path)


def columns_of(
    query: str,
    label: str,
    source: list[Any] | None = None,
    position: str | None = None,
    weight: str | None = None,
    document: str | None = None,
    categorical: list[str] | None = None,
    drop: list[str] | None = None,
) -> Columns:
    """The options of columns as one value."""
    sources: dict[str, str] = {}
    for name, column, _ in source or ():
        check_new_source(name, sources)
        sources[name] = column
    rates = [name for name, _, is_count in source or () if is_count]
    dropped, kinds = (
        [name.strip() for text in texts or () for name in text.split(",") if name.strip()]
        for texts in (drop, categorical)
    )
    return Columns(query, label, sources, position, weight, document, kinds, drop=dropped, rates=rates)


def given(**files: Path | None) -> dict[str, Path]:
    """The files that were given, by their argument."""
    return {name: path for name, path in files.items() if path is not None}


def existing(text: str) -> Any:
    """An option that is a file to read, with its help."""
    return Option(exists=True, dir_okay=False, help=text)


def measures(text: str) -> Any:
    """An option that is one measure or several, with its help."""
    return Option(metavar="MEASURE", parser=parsed_by(parse), help=text)


def argument(metavar: str, text: str) -> Any:
    """An argument that is a file to read, with its help."""
    return Argument(metavar=metavar, exists=True, dir_okay=False, help=text)


def check_outputs(
    overwrite: bool, inputs: Iterable[Path | None], *outputs: Path, option: str = "out"
) -> None:
    """Raise ValueError if an output cannot be written, or would replace what it must not, also through links.

    `inputs` are what the command reads, perhaps with a description next to it.
    """
    read = [file for path in inputs if path is not None for file in (path, sidecar_path(path))]
    for file in outputs:
        check_place(option, file)
        for other in read:
            is_linked = file.exists() and other.exists() and file.samefile(other)
            if is_linked or file.resolve() == other.resolve():
                raise ValueError(f"{option} {file} is a file that this command reads: give another name")
        if os.path.lexists(file) and not overwrite:
            raise ValueError(f"{option} {file} exists: give another name, or --overwrite to replace it")


Engine = StrEnum("Engine", list(ENGINES))  # type: ignore[misc]
Unseen = StrEnum("Unseen", ["error", "missing"])
ENGINE = Engine(first_installed())
PAGE = Path("lambdaboost-report.html")

# The options of columns.
Query = Annotated[str, Option(metavar="COLUMN", help="Column of a table with the query of each row.")]
Label = Annotated[str, Option(metavar="COLUMN", help="Column of a table with the grades.")]
Sources = Annotated[
    list[Any] | None,
    Option(
        metavar="NAME[=COLUMN][:rate]",
        parser=parsed_by(read_source),
        help="Column of a further label source, in LETOR text its number; may be repeated. ':rate' turns counts of "
        "clicks into rates.",
    ),
]
POSITION = (
    "Column with the rank from 1 at which each row was shown, empty (in LETOR text 0) where it was not."
)
Position = Annotated[str | None, Option(metavar="COLUMN", help=POSITION)]
Weight = Annotated[str | None, Option(metavar="COLUMN", help="Column with the weight of each row.")]
Document = Annotated[str | None, Option(metavar="COLUMN", help="Column with the name of each row.")]
CATEGORICAL = "Categorical features of a table: columns of text or of whole numbers."
Categorical = Annotated[list[str] | None, Option(metavar="COLUMN,…", help=CATEGORICAL)]
DROP = "Columns to leave out, by name or in LETOR text by number: title,url."
Drop = Annotated[list[str] | None, Option(metavar="COLUMN,…", help=DROP)]
UNSEEN = "How to treat categories not seen in training; default: error, or what the model was trained with."
UnseenOption = Annotated[Unseen | None, Option(help=UNSEEN)]

# What is trained, measured and written.
MODEL = "Model written by train, or a plain model of LightGBM or XGBoost."
OBJECTIVE = (
    "such as 'LambdaRank(NDCG(k=3))', graded or iteration_dependent; or the engine's own: lambdarank, rank_xendcg; "
    "rank:ndcg, rank:pairwise, rank:map."
)
EngineOption = Annotated[Engine, Option(help="The engine; the default is the first that is installed.")]
PARAM = "Parameter of the engine, such as num_leaves=63; may be repeated."
Params = Annotated[list[Any] | None, Option(metavar="KEY=VALUE", parser=parsed_by(read_param), help=PARAM)]
MEASURE = "A measure such as ndcg@10, map, mrr@10 or 'NDCG(k=3, empty=1)'; may be repeated."
DEFAULTS = "Default: NDCG at 10, 5, 3 and 1, and CNDCG of each further label source."
Measures = Annotated[list[Measure] | None, measures(f"{MEASURE} {DEFAULTS}")]
SEED = "Seed of the engine and of the order of the rows of a query in training."
TIES = (
    "Shuffle the rows of each query by this seed: ties are then in random order, by default in that of FILE."
)
Seed = Annotated[int, Option(min=0, help=SEED)]
TieSeed = Annotated[int | None, Option("--seed", min=0, help=TIES)]
Json = Annotated[bool, Option("--json", help="Print JSON instead of tables.")]
Page = Annotated[Path, Option(metavar="PAGE", help="HTML file to write.")]
Overwrite = Annotated[bool, Option("--overwrite", help="Replace output files that exist.")]
