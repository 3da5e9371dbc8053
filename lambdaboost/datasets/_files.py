"""Reading plain or compressed files, and writing files atomically."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import hashlib
import lzma
import os
import re
import secrets
import stat
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

MAGIC: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\x00": lzma.open, b"BZh": bz2.open}
ZSTD = b"\x28\xb5\x2f\xfd"
SUFFIX: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}


@contextmanager
def reading(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading; gzip, xz and bzip2 are recognised by their first bytes and decompressed."""
    check_seekable(path)
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
    """Open a temporary file that replaces `path` once it is complete and on disk, and is removed on failure.

    The temporary file lies beside `path` and stays locked while its writer lives, so the next writer of `path` can
    remove the files of killed writers.
    """
    _remove_abandoned(path)
    file = _temporary(path)
    handle = os.dup(file.fileno())  # keeps the lock after `file` is closed
    try:
        with file:
            yield file
        os.fsync(handle)
        if fcntl is None:
            handle = _closed(handle)  # Windows cannot rename an open file
        os.replace(file.name, path)
    except BaseException:
        if fcntl is None:
            handle = _closed(handle)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(file.name)
        raise
    finally:
        _closed(handle)
    _sync_folder(path.parent)


def _closed(handle: int) -> int:
    """Close `handle` if it is open; return -1."""
    if handle >= 0:
        os.close(handle)
    return -1


def _temporary(path: Path) -> IO[bytes]:
    """A new file beside `path`, open and locked."""
    while True:
        name = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        file = open(name, "xb")  # noqa: SIM115
        # Until it is locked, another writer may remove the file as abandoned.
        if not _locked(file.fileno()) or name.exists():
            return file
        file.close()


def _remove_abandoned(path: Path) -> None:
    """Remove the unlocked temporary files that killed writers of `path` left beside it."""
    abandoned = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}").fullmatch
    found = []
    with contextlib.suppress(OSError), os.scandir(path.parent) as entries:
        found = [e.path for e in entries if abandoned(e.name) and e.is_file(follow_symlinks=False)]
    for name in found:
        with contextlib.suppress(OSError):  # another user's file, or on Windows a file being written
            if fcntl is None:
                os.unlink(name)
                continue
            handle = os.open(name, os.O_RDWR | os.O_NOFOLLOW)
            try:
                if _locked(handle):
                    os.unlink(name)
            finally:
                os.close(handle)


def _locked(handle: int) -> bool:
    """Lock the open file; False if another process holds the lock or the file system has no locks."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _sync_folder(folder: Path) -> None:
    """Flush a folder's entries to disk, where the system supports it."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError):  # the folder cannot be opened, or the file system cannot sync it
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def check_place(name: str, path: Path) -> None:
    """Raise if no file can be written to `path`, before any computation; `name` is the argument."""
    folder = path.parent
    if not folder.is_dir():
        raise ValueError(f"{name} {path}: folder {folder} does not exist; create it first")
    if path.is_dir():
        raise ValueError(f"{name} {path} is a folder: give a file name in it")
    if path.exists() and not path.is_file():
        raise ValueError(f"{name} {path} is a device or pipe: give a file name")
    try:  # access rights say too little of folders such as /proc
        with TemporaryFile(dir=folder):
            pass
    except OSError:
        raise ValueError(f"{name} {path}: folder {folder} is not writable; choose another") from None


def check_no_input(name: str, path: Path, inputs: Iterable[Path | None]) -> None:
    """Raise if `path` is one of the files that are read, which writing to it would replace."""
    if path.exists() and any(read is not None and read.exists() and path.samefile(read) for read in inputs):
        raise ValueError(f"{name} {path} is a file that is read: give another name")


def check_seekable(path: Path) -> None:
    """Raise for a pipe, socket or device: these can be read only once and may never end."""
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise ValueError(f"{path} is a pipe or a device: save its output to a file, and read that file")


def without_compression_suffix(path: Path) -> Path:
    """``rank.train`` for ``rank.train.xz``."""
    return path.with_suffix("") if path.suffix in SUFFIX else path


def sha256(path: Path) -> str:
    """SHA-256 of a file's bytes on disk, in hex."""
    check_seekable(path)
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
