"""``lambdaboost fetch``."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from lambdaboost.cli.console import OUT, note, print_json, tell
from lambdaboost.datasets import fetch
from lambdaboost.datasets._fetch import cache_folder
from lambdaboost.datasets.catalogue import CATALOGUE, Published, published


def run_fetch(name: str | None, folder: Path | None, yes: bool, as_json: bool) -> None:
    """Fetch a data set, or list all."""
    if name is None:
        if folder is not None:
            raise ValueError("--from needs the name of a data set: lambdaboost fetch NAME --from FOLDER")
        _list(as_json)
        return
    dataset = published(name)
    home = cache_folder() / dataset.name
    if not home.is_dir():
        _tell_terms(dataset, folder)
        # For files in a folder, the user has accepted the owner's terms before.
        if folder is None and dataset.address is not None:
            _confirm(dataset, yes)
    home = fetch(name, folder)
    if as_json:
        print_json(_as_json(dataset))
    else:
        tell(f"{home} holds {', '.join(dataset.files[:3])}{' …' if len(dataset.files) > 3 else ''}")


def _fetched(dataset: Published) -> Path | None:
    """The folder of a data set in the cache, or None if it is not there or pooch is missing."""
    with contextlib.suppress(ImportError):
        home = cache_folder() / dataset.name
        if home.is_dir():
            return home
    return None


def _tell_terms(dataset: Published, folder: Path | None) -> None:
    checked = "checked against its published SHA-256" if dataset.sha256 else "no SHA-256 is published"
    note(f"{dataset.name}: {dataset.about}")
    note(f"owner's terms: {dataset.terms}: {dataset.page}")
    note(f"archive: {dataset.archives[0]}, {dataset.roughly}, more once unpacked; {checked}")
    note(f"from: {folder or dataset.address or 'by hand'}; kept in: {cache_folder() / dataset.name}")
    if dataset.sha256 is None:
        note("the first download is trusted: its SHA-256 is recorded beside it and checked from then on")


def _confirm(dataset: Published, yes: bool) -> None:
    """Ask for confirmation on a terminal; elsewhere require --yes."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise ValueError(f"no terminal to confirm on: give --yes if you accept the terms of {dataset.name}")
    typer.confirm("Accept the terms and fetch it?", abort=True, err=True)


def _list(as_json: bool) -> None:
    if as_json:
        print_json([_as_json(dataset) for dataset in CATALOGUE.values()])
        return
    table = Table("name", "what it is", "archive", "how")
    for dataset in CATALOGUE.values():
        table.add_row(dataset.name, dataset.about, dataset.roughly, _how(dataset))
    OUT.print(table)
    tell("Each owner has its own terms, which are shown for confirmation before anything is fetched.")
    try:
        tell(f"Cache folder: {cache_folder()}; set the environment variable LAMBDABOOST_CACHE to change it.")
    except ImportError as error:
        tell(f"This is only the list; {error}.")


def _how(dataset: Published) -> str:
    if _fetched(dataset):
        return "in the cache"
    return "download, or --from FOLDER" if dataset.address else "by hand, then --from FOLDER"


def _as_json(dataset: Published) -> dict[str, Any]:
    home = _fetched(dataset)
    return {
        "name": dataset.name,
        "about": dataset.about,
        "page": dataset.page,
        "terms": dataset.terms,
        "address": dataset.address,
        "by_hand": dataset.by_hand,
        "archive": dataset.archives[0],
        "size": dataset.size,
        "roughly": dataset.roughly,
        "sha256": dataset.sha256,
        "folder": None if home is None else str(home),
        "files": list(dataset.files),
    }
