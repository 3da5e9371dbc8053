"""Reading plain or compressed files, and writing files atomically."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import secrets
import stat
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

MAGIC: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\x00": lzma.open, b"BZh": bz2.open}
ZSTD = b"\x28\xb5\x2f\xfd"
SUFFIX: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}


@contextmanager
def reading(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading; gzip, xz and bzip2 are recognised by their first bytes and decompressed."""
    check_file(path)
    with open(path, "rb") as raw:
        head = raw.read(6)
    if head.startswith(ZSTD):
        raise ValueError(f"{path} is compressed by zstd: decompress it, or compress it by gzip, xz or bzip2")
    opener = next((open_ for magic, open_ in MAGIC.items() if head.startswith(magic)), open)
    try:
        with opener(path, "rb") as file:
            yield file
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is damaged: {error}; fetch or compress it again") from None


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file next to `path` that replaces it once it is complete and on disk; removed on failure."""
    name = path.with_name(f".{secrets.token_hex(8)}")  # short: names may be as long as the file system allows
    try:
        with open(name, "xb") as file:
            yield file
        _sync(name)
        os.replace(name, path)
    except BaseException:
        name.unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):  # a file system or Windows, where folders cannot be synced
        _sync(path.parent)


def _sync(path: Path) -> None:
    """Flush a file, or a folder's entries, to disk."""
    handle = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_place(name: str, path: Path) -> None:
    """Raise if no file can be written to `path`, before any computation; `name` is the argument."""
    folder = path.parent
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


def without_compression_suffix(path: Path) -> Path:
    """``rank.train`` for ``rank.train.xz``."""
    return path.with_suffix("") if path.suffix in SUFFIX else path


def check_file(path: Path) -> None:
    """Raise for a folder, and for a pipe, socket or device: these can be read only once and may never end."""
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise ValueError(f"{path} is a folder: give a file")
    if not stat.S_ISREG(mode):
        raise ValueError(f"{path} is a pipe or a device: save its output to a file, and read that file")
