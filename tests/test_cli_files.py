"""What commands write: no input, no other output and no file of the user's is replaced, for every command and pair."""

import itertools
import os
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
import typer
from command import COMMANDS, refused

WRITTEN = {"train": ["", ".json"], "tune": ["", ".json"]}
NAMED = ("model", "scores")  # of report: NAME=PATH


def files(command):
    """The parameters of a command that are files, with what Typer knows of each."""
    found = {}
    for name, hint in get_type_hints(COMMANDS[command], include_extras=True).items():
        kind, *infos = get_args(hint) or (hint,)
        if Path in (kind, *get_args(kind)) or (command == "report" and name in NAMED):
            found[name] = infos[0]
    return found


def is_read(command, name):
    return files(command)[name].exists or (command == "report" and name in NAMED)


PAIRS = [
    (command, out, other)
    for command in COMMANDS
    for out, other in itertools.permutations(files(command), 2)
    if not is_read(command, out)
]


def words(command, paths):
    """The words of a call with these paths, by parameter."""
    found = [command]
    for name, path in paths.items():
        is_option = isinstance(files(command)[name], typer.models.OptionInfo)
        found += [f"--{name}", str(path)] if is_option else [str(path)]
    return found


def placed(folder, command):
    """A file or a free place for every parameter."""
    paths = {name: folder / f"{name}.in" for name in files(command)}
    for name, path in paths.items():
        if is_read(command, name):
            path.write_text(f"the user's {name}")
    return paths


def contents(folder):
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize(("command", "out", "other"), PAIRS, ids="-".join)
def test_no_output_is_another_file_of_the_command(capsys, tmp_path, monkeypatch, command, out, other):
    """By its name, by another path to it, and by links."""
    monkeypatch.chdir(tmp_path)
    paths = placed(tmp_path, command)
    (tmp_path / "sub").mkdir()
    same = [paths[other], Path(f"sub/../{paths[other].name}"), Path(paths[other].name)]
    if paths[other].exists():
        Path("soft").symlink_to(paths[other])
        os.link(paths[other], "hard")
        same += [Path("soft"), Path("hard")]
    calls = [paths | {out: path} for path in same]
    if is_read(command, other):  # its description, and that of the model that is written
        calls.append(paths | {out: Path(f"{paths[other]}.json")})
        described = Path(f"{paths[out]}.json")
        if command in WRITTEN:
            described.write_bytes(b"the user's")
            calls.append(paths | {other: described})
    before = contents(tmp_path)
    for call in calls:
        said = refused(capsys, *words(command, call), "--overwrite")
        assert "is a file that this command" in said and "give another name" in said
    assert contents(tmp_path) == before


@pytest.mark.parametrize(("command", "out"), sorted({(command, out) for command, out, _ in PAIRS}))
def test_an_existing_file_is_replaced_only_where_that_is_asked_for(capsys, tmp_path, command, out):
    """Nor one beside it; whatever stands there, and before anything is read: no file here is a model or data."""
    paths = placed(tmp_path, command)
    for suffix in WRITTEN.get(command, [""]) if out == "out" else [""]:
        theirs = Path(f"{paths[out]}{suffix}")
        for make in (lambda p: p.write_bytes(b"the user's"), lambda p: p.symlink_to(tmp_path / "nowhere")):
            make(theirs)
            said = refused(capsys, *words(command, paths))
            assert f"{theirs} exists: give another name, or --overwrite to replace it" in said
            assert "exists" not in refused(capsys, *words(command, paths), "--overwrite")
            theirs.unlink()
        theirs.mkdir()
        assert "is a folder" in refused(capsys, *words(command, paths), "--overwrite")
        theirs.rmdir()
