"""What commands write: no input, no other output and no file of the user's is replaced, for every command and pair."""

import inspect
import itertools
import os
import types
from pathlib import Path
from typing import get_args

import pytest

from lambdaboost.cli.app import app
from lambdaboost.cli.command import implemented, option_of, takes_path
from lambdaboost.cli.files import Named, Place, Reads, Writes
from lambdaboost.cli.run import run


def declared(command):
    """Each parameter that is a file, with what becomes of it."""
    found = {}
    for name, parameter in inspect.signature(command).parameters.items():
        kinds = [m for m in get_args(parameter.annotation) if isinstance(m, Reads | Writes)]
        assert bool(kinds) == takes_path(parameter.annotation), f"{command.__name__}: {name}"
        found |= {name: kinds[0]} if kinds else {}
    return found


COMMANDS = {info.callback.__name__: info.callback for info in app.registered_commands}
FILES = {name: declared(command) for name, command in COMMANDS.items()}
PAIRS = [
    (name, out, other)
    for name, files in FILES.items()
    for out, other in itertools.permutations(files, 2)
    if isinstance(files[out], Writes)
]


def arguments(command, paths):
    """The words of a call with these paths; `paths` are by parameter."""
    words = [command]
    for name, path in paths.items():
        option = option_of(COMMANDS[command], name)
        words += [option, str(path)] if option.startswith("--") else [str(path)]
    return words


def placed(folder, command):
    """A file or a free place for every parameter."""
    paths = {name: folder / f"{name}.in" for name in FILES[command]}
    for name, kind in FILES[command].items():
        if isinstance(kind, Reads):
            paths[name].write_text(f"the user's {name}")
    return paths


def contents(folder):
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def calls(monkeypatch):
    """The calls of commands, none of which runs."""
    made = []
    stub = types.SimpleNamespace(run=lambda **given: made.append(given))
    monkeypatch.setattr("lambdaboost.cli.command.import_module", lambda name: stub)
    return made


def refused(capsys, words):
    assert run(words) == 1
    error = capsys.readouterr().err
    assert error.startswith("lambdaboost: ") and error.count("\n") == 1
    return error


def test_every_command_that_writes_can_overwrite():
    """`train` and the others that write are among them; a new command is walked like these."""
    for name, command in COMMANDS.items():
        writes = any(isinstance(kind, Writes) for kind in FILES[name].values())
        assert writes == ("overwrite" in inspect.signature(command).parameters)
    assert {name for name, _, _ in PAIRS} >= {"train", "tune", "predict", "report"}


@pytest.mark.parametrize(("command", "out", "other"), PAIRS, ids="-".join)
def test_no_output_is_another_file_of_the_command(capsys, calls, tmp_path, monkeypatch, command, out, other):
    """Each file of one, with those beside it, in place of the other: named so, by other paths, and by links."""
    paths = placed(tmp_path, command)
    ours, theirs = FILES[command][out], FILES[command][other]
    for mine, suffix in itertools.product(("", *ours.beside), ("", *theirs.beside)):
        taken = Path(f"{paths[other]}{suffix}") if not mine else paths[other]
        if mine and (suffix or isinstance(theirs, Writes)):
            continue
        place = paths | {out: taken}
        if mine:  # the file that is read lies where one beside the output is written
            place = paths | {out: tmp_path / "new", other: tmp_path / f"new{mine}"}
        if isinstance(theirs, Reads):
            Path(f"{place[other]}{suffix}").write_bytes(b"the user's")
        before = contents(tmp_path)
        for more in ([], ["--overwrite"]):
            error = refused(capsys, arguments(command, place) + more)
            assert "give another name" in error
        if not mine and taken.exists():
            monkeypatch.chdir(tmp_path)
            (tmp_path / "soft").symlink_to(taken)
            os.link(taken, tmp_path / "hard")
            (tmp_path / "sub").mkdir()
            for same in ("soft", "hard", f"sub/../{taken.name}", taken.name):
                words = [*arguments(command, place | {out: same}), "--overwrite"]
                assert "give another name" in refused(capsys, words)
            for name in ("soft", "hard"):
                (tmp_path / name).unlink()
            (tmp_path / "sub").rmdir()
        assert contents(tmp_path) == before and calls == []


OUTPUTS = [
    (name, out)
    for name, files in FILES.items()
    for out, kind in files.items()
    if isinstance(kind, Writes) and not kind.resumes
]


@pytest.mark.parametrize(("command", "out"), OUTPUTS, ids="-".join)
def test_an_existing_file_is_replaced_only_where_that_is_asked_for(capsys, calls, tmp_path, command, out):
    paths = placed(tmp_path, command)
    assert run(arguments(command, paths)) == 0 and len(calls) == 1
    for suffix in ("", *FILES[command][out].beside):
        theirs = Path(f"{paths[out]}{suffix}")
        for make in (lambda p: p.write_bytes(b"the user's"), lambda p: p.symlink_to(tmp_path / "nowhere")):
            make(theirs)
            error = refused(capsys, arguments(command, paths))
            assert theirs.name in error and "exists: give another name, or --overwrite to replace it" in error
            assert run([*arguments(command, paths), "--overwrite"]) == 0
            theirs.unlink()
        theirs.mkdir()
        assert "is a folder" in refused(capsys, [*arguments(command, paths), "--overwrite"])
        theirs.rmdir()
    assert len(calls) == 1 + 2 * (1 + len(FILES[command][out].beside))


def test_a_study_may_exist_to_be_resumed(capsys, calls, tmp_path):
    paths = placed(tmp_path, "tune")
    paths["study"].write_text("trials")
    assert run(arguments("tune", paths)) == 0
    assert "is a folder" in refused(capsys, arguments("tune", paths | {"study": tmp_path}))
    missing = arguments("tune", paths | {"study": tmp_path / "no" / "study"})
    assert "does not exist; create it first" in refused(capsys, missing)


def test_home_is_expanded_and_compared(capsys, calls, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    paths = placed(tmp_path, "predict")
    words = arguments("predict", paths | {"out": "~/file.in"})
    assert "give another name" in refused(capsys, words)
    assert run(arguments("predict", paths | {"out": "~/scores"})) == 0
    assert calls[0]["out"] == tmp_path / "scores"


REPORTED = [
    "predict m.txt v.txt --out v.txt",
    "predict m.txt v.txt --out m.txt",
    "predict m.txt v.txt --out m.txt.json",
    "report v.txt --model m.txt --out v.txt",
    "report v.txt --model m.txt --out m.txt",
    "report v.txt --model x=m.txt --out m.txt.json",
    "tune v.txt --out model",
    "train m.json --out m",
    "train v.txt --valid m.json --out m",
    "tune t.txt.py --out t.txt",
    "tune v.txt --study st --out st/trial-0.npz",
    "tune v.txt --study z --out z",
]


@pytest.mark.parametrize("words", REPORTED)
def test_the_reported_losses(capsys, tmp_path, monkeypatch, words):
    """Before anything is read: none of these files is a model or data."""
    monkeypatch.chdir(tmp_path)
    for name in ("m.txt", "m.txt.json", "v.txt", "model.py", "model.json", "m.json", "t.txt.py"):
        Path(name).write_bytes(b"the user's")
    Path("st").mkdir()
    before = contents(tmp_path)
    error = refused(capsys, words.split())
    assert any(option in error for option in ("--out", "--report", "--study"))
    assert contents(tmp_path) == before


def test_a_path_without_its_use_is_refused():
    def forgetful(out: Path) -> None:
        """Writes where it wants."""

    with pytest.raises(TypeError, match=r"forgetful: out is a path: annotate it with Reads\(…\) or Writes"):
        implemented(forgetful)


def test_sizes_of_queries_are_named_without_compression():
    read = Place("TRAIN", Path("rank.train.xz"), Reads((".query",)))
    assert set(map(str, read.files())) == {"rank.train.xz", "rank.train.query", "rank.train.xz.query"}
    assert Named.parse("a=b.txt") == Named("a", Path("b.txt"))
