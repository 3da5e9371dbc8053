"""`implemented`: what runs when a command declared in `app` is called."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer

from lambdaboost.cli.files import Named, Place, Reads, Writes, check_places

# The options of the columns of a file, which become one value: type, metavar and help.
COLUMNS: dict[str, tuple[Any, str | None, str]] = {
    "query": (str, "COLUMN", "Column of a table with the query of each row; default qid."),
    "label": (str, "COLUMN", "Column of a table with the grades; default label."),
    "source": (
        *(list[str], "NAME[=COLUMN][:rate]"),
        "Use a column, in LETOR text by number from 1, as a label source and not as a feature; may be repeated. "
        "':rate' converts click counts to log1p(count) / largest log1p(count) of the query, in 0 to 1. In evaluate and "
        "report the default are the label sources of the models' training.",
    ),
    "position": (
        *(str, "COLUMN"),
        "Column with the rank from 1 at which each row was shown, or any bias factor as text, for objectives and "
        "measures that correct for it; not a feature. Empty, in LETOR text 0, where a row was not shown.",
    ),
    "weight": (str, "COLUMN", "Column with the weight of each row; not a feature."),
    "document": (
        str,
        "COLUMN",
        "Column of a table with the name of each row, for predict --ids; not a feature.",
    ),
    "categorical": (
        *(list[str], "COLUMNS"),
        "Features of a table that are categories, texts or whole numbers, as of --drop. Columns of Parquet that have a "
        "categorical type are so anyway. The model records the values.",
    ),
    "drop": (
        *(list[str], "COLUMNS"),
        "Columns to leave out, by name or, in LETOR text, by number from 1; ranges are allowed: title,134-136. For a "
        "model only where no MODEL.json records its columns.",
    ),
    "unseen": (
        *(StrEnum("Unseen", ["error", "missing"]), None),
        "What a category is that training did not have; the default is that of the model, else error.",
    ),
    "features": (int, "N", "Number of columns of LETOR text, if the last ones do not occur in TRAIN."),
}
EVERY = tuple(COLUMNS)
OVERWRITE = Annotated[
    bool, typer.Option("--overwrite", help="Replace existing files at the places of the outputs.")
]


def implemented(command: Callable[..., None]) -> Callable[..., None]:
    """The command as it runs: ~ is expanded, its files are checked, and `run` of the module of its name is called.

    A command that writes files gets the option ``--overwrite``, and one with a parameter `columns` the options of the
    columns that are its default.

    Raises
    ------
    TypeError
        If a parameter takes a path, and its annotation has neither `Reads` nor `Writes`.

    """
    hints = get_type_hints(command, include_extras=True)
    parameters = list(inspect.signature(command).parameters.values())
    for at in [at for at, parameter in enumerate(parameters) if parameter.name == "columns"]:
        for name in (names := parameters[at].default):
            kind, metavar, words = COLUMNS[name]
            option = typer.Option(metavar=metavar, help=words, min=1 if kind is int else None)
            hints[name] = Annotated[kind | None, option]
        of = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters[at : at + 1] = [inspect.Parameter(name, of, default=None) for name in names]
    kinds = {
        name: kind
        for name, hint in hints.items()
        if (kind := _kind(f"{command.__name__}: {name}", hint)) is not None
    }
    declared = [parameter.replace(annotation=hints[parameter.name]) for parameter in parameters]

    @functools.wraps(command)
    def called(*, overwrite: bool = False, **given: Any) -> None:
        given = {name: _plain(value, hints[name]) for name, value in given.items()}
        places = []
        for name, kind in kinds.items():
            for value in given[name] if isinstance(given[name], tuple) else (given[name],):
                if value is not None:
                    path = value.path if isinstance(value, Named) else value
                    places.append(Place(option_of(command, name), path, kind))
        check_places(places, overwrite)
        if "query" in given:
            given["columns"] = _columns(**{name: given.pop(name, ()) for name in COLUMNS})
        import_module(f"lambdaboost.cli.{command.__name__}").run(**given)

    if any(isinstance(kind, Writes) for kind in kinds.values()):
        keyword = inspect.Parameter.KEYWORD_ONLY
        declared.append(inspect.Parameter("overwrite", keyword, default=False, annotation=OVERWRITE))
    called.__annotations__ = {p.name: p.annotation for p in declared}
    called.__signature__ = inspect.Signature(declared)  # type: ignore[attr-defined]
    return called


def option_of(command: Callable[..., None], name: str) -> str:
    """How a parameter is called on the command line, such as ``--early-stopping`` or ``TRAIN``."""
    info = next(
        m for m in get_args(get_type_hints(command, include_extras=True)[name]) if hasattr(m, "metavar")
    )
    if isinstance(info, type(typer.Argument())):
        return info.metavar or name.upper()
    return (info.param_decls or (f"--{name.replace('_', '-')}",))[0]


def _kind(parameter: str, hint: Any) -> Reads | Writes | None:
    """Whether a parameter is a file that is read or written."""
    kinds = [m for m in get_args(hint) if isinstance(m, Reads | Writes)]
    if not kinds and takes_path(hint):
        raise TypeError(f"{parameter} is a path: annotate it with Reads(…) or Writes(…)")
    return kinds[0] if kinds else None


def takes_path(hint: Any) -> bool:
    """Whether the values of a type are files."""
    return any(hint is t or any(map(takes_path, get_args(hint))) for t in (Path, Named))


def _plain(value: Any, hint: Any) -> Any:
    """The value as commands take it: lists are tuples, choices are text, and paths have no ~."""
    if "list[" in str(get_args(hint)[:1]):
        return tuple(value or ())
    if isinstance(value, StrEnum):
        return value.value
    return Path(os.path.expanduser(value)) if isinstance(value, Path) else value


def _columns(
    source: tuple[str, ...],
    drop: tuple[str, ...],
    categorical: tuple[str, ...],
    features: int | None,
    **names: str | None,
) -> Any:
    """The options of the columns as one value, which is imported only now."""
    from lambdaboost.cli.columns import parse_columns

    named = {name: value for name, value in names.items() if value}
    return parse_columns(source, drop, categorical, n_features=features or None, **named)
