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

# Options of the columns of a file, which become one value.
COLUMNS = ("source", "drop", "query", "label", "features", "position")
OVERWRITE = Annotated[
    bool, typer.Option("--overwrite", help="Replace existing files at the places of the outputs.")
]


def implemented(command: Callable[..., None]) -> Callable[..., None]:
    """The command as it runs: ~ is expanded, its files are checked, and `run` of the module of its name is called.

    A command that writes files gets the option ``--overwrite``.

    Raises
    ------
    TypeError
        If a parameter takes a path, and its annotation has neither `Reads` nor `Writes`.

    """
    hints = get_type_hints(command, include_extras=True)
    kinds = {
        name: kind
        for name, hint in hints.items()
        if (kind := _kind(f"{command.__name__}: {name}", hint)) is not None
    }
    parameters = inspect.signature(command).parameters
    declared = [parameters[name].replace(annotation=hints[name]) for name in parameters]

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
    source: tuple[str, ...], drop: tuple[str, ...], features: int | None, **names: str | None
) -> Any:
    """The options of the columns as one value, which is imported only now."""
    from lambdaboost.cli.columns import Columns

    named = {name: value or None for name, value in names.items()}
    return Columns.parse(source, drop, n_features=features or None, **named)
