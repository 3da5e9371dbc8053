"""Reading plain or compressed files, and writing files atomically."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import secrets
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

MAGIC: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\x00": lzma.open, b"BZh": bz2.open}
ZSTD, ZIP = b"\x28\xb5\x2f\xfd", (b"PK\x03\x04", b"PK\x05\x06")  # the latter of an empty one
SUFFIX: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}


@contextmanager
def reading(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading; gzip, xz, bzip2 and zip are recognised by their first bytes and decompressed."""
    check_file(path)
    with open(path, "rb") as raw:
        head = raw.read(6)
    if head.startswith(ZSTD):
        raise ValueError(f"{path} is compressed by zstd: decompress it, or compress it by gzip, xz or bzip2")
    opener = next((open_ for magic, open_ in MAGIC.items() if head.startswith(magic)), open)
    if head.startswith(ZIP):
        opener = _open_zip
    try:
        with opener(path, "rb") as file:
            yield file
    except (EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:  # of another file, or of its folder
            raise
        raise ValueError(f"{path} is damaged: {error}; fetch or compress it again") from None


def _open_zip(path: Path, mode: str) -> IO[bytes]:
    """The only file of a zip file, beside which macOS stores what it knows of it."""
    with zipfile.ZipFile(path) as folder:
        names = [
            name for name in folder.namelist() if not name.endswith("/") and not name.startswith("__MACOSX")
        ]
        if len(names) != 1:
            raise ValueError(f"{path} is a zip file of {len(names)} files; it must hold one")
        return io.BytesIO(folder.read(names[0]))


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces `path` once it is complete and on disk; removed on failure."""
    with replacing_all(path) as (file,):
        yield file


@contextmanager
def replacing_all(*paths: Path) -> Iterator[list[IO[bytes]]]:
    """Open a temporary file for each path; all replace their paths once all are complete and on disk, or none does.

    A path that is a link stays one, and the file that it names is replaced; a file that is replaced keeps its mode.
    """
    targets = [Path(os.path.realpath(path)) for path in paths]
    # Next to their targets; short, for names may be as long as the file system allows.
    temporary = [target.with_name(f".{secrets.token_hex(8)}") for target in targets]
    modes = [stat.S_IMODE(os.stat(target).st_mode) if target.exists() else None for target in targets]
    try:
        with contextlib.ExitStack() as opened:
            files: list[IO[bytes]] = []
            for name, mode in zip(temporary, modes, strict=True):
                files.append(opened.enter_context(open(name, "xb")))
                if mode is not None:  # before there is anything to read
                    os.chmod(name, mode | stat.S_IRUSR | stat.S_IWUSR)
            yield files
        for name, mode in zip(temporary, modes, strict=True):
            _sync(name)
            if mode is not None:
                os.chmod(name, mode)
        try:
            for name, target in zip(temporary, targets, strict=True):
                os.replace(name, target)
        except KeyboardInterrupt:
            # Not between two files that belong together.
            for name, target in zip(temporary, targets, strict=True):
                if name.exists():
                    os.replace(name, target)
            raise
    except BaseException:
        for name in temporary:
            name.unlink(missing_ok=True)
        raise
    for folder in {target.parent for target in targets}:
        with contextlib.suppress(OSError):  # a file system or Windows, where folders cannot be synced
            _sync(folder)


def _sync(path: Path) -> None:
    """Flush a file, or a folder's entries, to disk."""
    handle = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_place(name: str, path: Path) -> None:
    """Raise if no file can be written to `path`, before any computation; `name` is the argument."""
    folder = Path(os.path.realpath(path)).parent  # of the file that a link names
    if not folder.is_dir():
        raise ValueError(f"{name} {path}: folder {folder} does not exist; create it first")
    try:
        os.lstat(path)
    except FileNotFoundError:
        pass
    except OSError as error:  # a name that is too long, above all
        raise ValueError(f"{name} {path}: {error.strerror}; give another name") from None
    if path.is_dir():
        raise ValueError(f"{name} {path} is a folder: give a file name in it")
    if path.exists() and not path.is_file():
        raise ValueError(f"{name} {path} is a device or pipe: give a file name")
    try:  # access rights say too little of folders such as /proc
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        raise ValueError(f"{name} {path}: folder {folder} is not writable; choose another") from None


def check_file(path: Path) -> None:
    """Raise for a folder, and for a pipe, socket or device: these can be read only once and may never end."""
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise ValueError(f"path {path} is a folder: give a file")
    if not stat.S_ISREG(mode):
        raise ValueError(f"path {path} is a pipe or a device: save its output to a file, and read that file")
