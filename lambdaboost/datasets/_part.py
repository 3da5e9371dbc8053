"""The partial file of a download: kept when a connection breaks, and locked while it is written."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class Busy(OSError):
    """Another fetch is writing the file."""


class NotAFile(ValueError):
    """The path is a link or not a regular file: nothing is written to it."""


@contextmanager
def opened_part(path: Path) -> Iterator[IO[bytes]]:
    """Open the file at `path` for reading and writing, created if missing, and lock it against other fetches.

    Raises
    ------
    Busy
        If another fetch is writing it.
    NotAFile
        If `path` is a link or not a regular file: nothing is written through it.

    """
    with _opened(path) as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise Busy(f"another fetch is writing {path}: wait until it is done") from None
            if not _is_at(file, path):
                raise Busy(f"another fetch has just finished with {path}: call again")
        yield file


def _opened(path: Path) -> IO[bytes]:
    flags = os.O_RDWR | os.O_CREAT
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    try:
        descriptor = os.open(path, flags, 0o666)
    except OSError:
        if not path.is_symlink():
            raise
        raise _not_a_file(path) from None
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode) or about.st_nlink > 1:
        os.close(descriptor)
        raise _not_a_file(path)
    return os.fdopen(descriptor, "r+b")


def _is_at(file: IO[bytes], path: Path) -> bool:
    """Whether the open file is still at `path`, and was not moved before it was locked."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.lstat(path))
    except FileNotFoundError:
        return False


def _not_a_file(path: Path) -> NotAFile:
    return NotAFile(f"{path} is a link or not a regular file, and downloads are not written to it: remove it")
