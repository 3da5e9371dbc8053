"""Files are written whole or not at all, and reach the disk; what is no file is refused."""

import os

import file_size
import pytest
from rankers import Q, X, ranker

from lambdaboost import load, save
from lambdaboost._files import check_place, replacing, replacing_all


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


def test_save_leaves_the_last_model_or_the_new_one(tmp_path, engine):
    """With space for nothing, for one of the two files, for both."""
    old, new = (ranker(engine, n_estimators=n).fit(X, Q.relevance, group=Q.sizes) for n in (3, 1))
    save(new, tmp_path / "new")
    sizes = sorted((tmp_path / name).stat().st_size for name in ("new", "new.json"))
    save(old, tmp_path / "m")
    before = [(tmp_path / name).read_bytes() for name in ("m", "m.json")]
    for n_bytes in (0, sizes[0] - 1, sizes[0], sizes[1] - 1):
        with file_size.limited(n_bytes), pytest.raises(OSError, match="File too large"):
            save(new, tmp_path / "m")
        assert [(tmp_path / name).read_bytes() for name in ("m", "m.json")] == before
        assert len(os.listdir(tmp_path)) == 4
    with file_size.limited(sizes[1]):
        save(new, tmp_path / "m")
    assert load(tmp_path / "m").about == load(tmp_path / "new").about


@pytest.mark.skipif(os.name == "nt", reason="Windows has other modes and links")
def test_modes_and_links_are_kept(tmp_path):
    for name, mode in (("private", 0o600), ("shown", 0o644), ("fixed", 0o444)):
        path = tmp_path / name
        path.write_bytes(b"old")
        path.chmod(mode)
        (tmp_path / f"link to {name}").symlink_to(path)
        for target in (path, tmp_path / f"link to {name}"):
            with replacing(target) as file:
                file.write(b"new")
            assert path.read_bytes() == b"new" and path.stat().st_mode & 0o777 == mode
        assert (tmp_path / f"link to {name}").is_symlink()


@pytest.mark.parametrize("interrupted", [0, 1])
def test_an_interrupt_does_not_part_two_files(tmp_path, monkeypatch, interrupted):
    replace, calls = os.replace, []

    def interrupt(*names):
        calls.append(names)
        if len(calls) == interrupted + 1:
            raise KeyboardInterrupt
        replace(*names)

    monkeypatch.setattr(os, "replace", interrupt)
    paths = [tmp_path / name for name in ("model.txt", "model.txt.json")]
    with pytest.raises(KeyboardInterrupt), replacing_all(*paths) as files:
        for file in files:
            file.write(b"new")
    assert sorted(tmp_path.iterdir()) == paths and {path.read_bytes() for path in paths} == {b"new"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes among its files")
def test_pipes_are_refused_before_anything_waits_for_them(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match=r"checkpoint .*pipe is a device or pipe: give a file name"):
        check_place("checkpoint", tmp_path / "pipe")
