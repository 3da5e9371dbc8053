"""Files are written whole or not at all, reach the disk, and leave nothing behind where a writer was killed."""

import os
import signal
import subprocess
import sys

import pytest

from lambdaboost.datasets._files import check_place, replacing

WRITER = """
import sys
from pathlib import Path
from lambdaboost.datasets._files import replacing
with replacing(Path(sys.argv[1])) as file:
    file.write(b"half")
    print("writing", flush=True)
    sys.stdin.read()
"""


def writer(path):
    """A process that has begun to write `path`, and finishes when its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "writing\n"
    return process


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path):
    path = tmp_path / "model.txt"
    killed = writer(path)
    killed.kill()
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    (left,) = os.listdir(tmp_path)
    assert left.startswith(".model.txt.")
    for name in (".other.txt.01234567", ".model.txt.bak", ".model.txt.0123456g"):
        (tmp_path / name).write_text("somebody's")
    with replacing(path) as file:
        file.write(b"whole")
    assert sorted(os.listdir(tmp_path)) == [
        ".model.txt.0123456g",
        ".model.txt.bak",
        ".other.txt.01234567",
        "model.txt",
    ]
    assert path.read_bytes() == b"whole"


def test_a_writer_that_lives_keeps_its_file(tmp_path):
    path = tmp_path / "model.txt"
    living = writer(path)
    with replacing(path) as file:
        assert len(os.listdir(tmp_path)) == 2  # of a writer in this process too
        with replacing(path) as other:
            other.write(b"first")
        file.write(b"second")
    assert path.read_bytes() == b"second"
    living.communicate()
    assert living.returncode == 0
    assert path.read_bytes() == b"half" and os.listdir(tmp_path) == ["model.txt"]


def test_a_file_is_on_the_disk_before_it_is_named_and_its_name_after(tmp_path, monkeypatch):
    done = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (done.append(os.fstat(handle)), fsync(handle)))
    monkeypatch.setattr(os, "replace", lambda *names: (done.append("named"), replace(*names)))
    with replacing(tmp_path / "model.txt") as file:
        file.write(b"whole")
    content, named, folder = done
    assert named == "named"
    assert content.st_size == 5 and content.st_ino == os.stat(tmp_path / "model.txt").st_ino
    assert folder.st_ino == os.stat(tmp_path).st_ino


def test_a_file_that_its_writer_closes_is_held_until_it_is_named(tmp_path):
    path = tmp_path / "model.txt"
    with replacing(path) as file:
        file.write(b"second")
        file.close()
        with replacing(path) as other:
            other.write(b"first")
        assert path.read_bytes() == b"first"
    assert path.read_bytes() == b"second" and os.listdir(tmp_path) == ["model.txt"]


def test_nothing_is_left_where_writing_fails(tmp_path):
    with pytest.raises(RuntimeError, match="half-way"), replacing(tmp_path / "model.txt") as file:
        file.write(b"half")
        raise RuntimeError("half-way")
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes among its files")
def test_pipes_are_refused_before_anything_waits_for_them(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match=r"checkpoint .*pipe is a device or pipe: give a file name"):
        check_place("checkpoint", tmp_path / "pipe")
