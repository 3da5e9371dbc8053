"""Files as they lie on disk: compressed or plain when read, whole or absent when written."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import os
import secrets
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

MAGIC: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\x00": lzma.open, b"BZh": bz2.open}
SUFFIX: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}


@contextmanager
def reading(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked if its first bytes say gzip, xz or bzip2, whatever its name."""
    check_seekable(path)
    with open(path, "rb") as raw:
        head = raw.read(6)
    opener = next((open_ for magic, open_ in MAGIC.items() if head.startswith(magic)), open)
    try:
        with opener(path, "rb") as file:
            yield file
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is damaged: {error}; fetch or compress it again") from None


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write that takes the place of `path` once whole, and leaves no trace if anything fails."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with open(temporary, "xb") as file:
        try:
            with file:  # closing writes what is left, which fails too where there is no room
                yield file
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise


def check_place(name: str, path: Path) -> None:
    """Refuse a place that no file can be written to, before anything is computed for it; `name` is the argument."""
    folder = path.parent
    if not folder.is_dir():
        raise ValueError(f"{name} {path}: there is no folder {folder}; make it first")
    if path.is_dir():
        raise ValueError(f"{name} {path} is a folder: give the name of a file in it")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"{name} {path}: the folder {folder} cannot be written to; choose another")


def check_seekable(path: Path) -> None:
    """Refuse a pipe, socket or device, which can be read only once and may never end."""
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise ValueError(f"{path} is a pipe or a device: write what it gives to a file first, and read that")


def without_compression_suffix(path: Path) -> Path:
    """``rank.train`` for ``rank.train.xz``."""
    return path.with_suffix("") if path.suffix in SUFFIX else path


def sha256(path: Path) -> str:
    """SHA-256 of a file's bytes as they lie on disk, in hex."""
    check_seekable(path)
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
