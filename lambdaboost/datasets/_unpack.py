"""Extraction of wanted files from archives, and search for a data set's files in folders."""

from __future__ import annotations

import lzma
import os
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO

from lambdaboost.datasets._files import SUFFIX, reading

DEPTH = 2  # levels of subfolders that are searched


def unpack(archive: Path, into: Path, names: Sequence[str]) -> None:
    """Extract only the named files of a zip or tar archive, plain or compressed, below `into`.

    Members are matched by the end of their paths, up to two folders down. Only regular files are read, and target
    paths never come from the archive, so no name, link or device in it reaches the file system.

    Raises
    ------
    ValueError
        If the archive is damaged, of another format, or holds a file twice.

    """
    if archive.suffix == ".rar":
        raise ValueError(
            f"{archive} is a RAR archive, which Python cannot unpack: unpack it with unrar, bsdtar or 7z, and give "
            "the folder that holds its files"
        )
    try:
        members = _zip_members if zipfile.is_zipfile(archive) else _tar_members
        _write_named(members(archive), into, names)
    except FileExistsError as error:
        raise ValueError(f"{archive} holds {Path(error.filename).name} twice in one folder") from None
    except OSError as error:
        if error.errno is not None:  # a disk error, not a damaged archive
            raise
        raise _unusable(archive, error) from None
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        EOFError,
        zlib.error,
        lzma.LZMAError,
        RuntimeError,
    ) as error:
        raise _unusable(archive, error) from None  # RuntimeError: encrypted, or an unknown compression


def _unusable(archive: Path, error: Exception) -> ValueError:
    return ValueError(f"{archive} is damaged: {error}; download it again")


def _zip_members(archive: Path) -> Iterator[tuple[str, Callable[[], IO[bytes] | None]]]:
    """The path of each regular file, and a function that opens it."""
    with zipfile.ZipFile(archive) as zipped:
        for member in zipped.infolist():
            kind = stat.S_IFMT(member.external_attr >> 16)
            if not member.is_dir() and kind in (0, stat.S_IFREG):
                yield member.filename, partial(zipped.open, member)


def _tar_members(archive: Path) -> Iterator[tuple[str, Callable[[], IO[bytes] | None]]]:
    with tarfile.open(archive) as tarred:
        for member in tarred:
            if member.isreg():
                yield member.name, partial(tarred.extractfile, member)


def _write_named(
    members: Iterator[tuple[str, Callable[[], IO[bytes] | None]]], into: Path, names: Sequence[str]
) -> None:
    from tqdm import tqdm

    wanted = {name + suffix for name in names for suffix in ("", *SUFFIX)}
    into.mkdir()
    folders: dict[tuple[str, ...], Path] = {}  # folder in the archive -> folder below `into`
    for path, opened in tqdm(members, desc="unpacking", unit="file", disable=None):
        parts = tuple(part for part in path.split("/") if part not in ("", "."))
        for depth in range(min(DEPTH + 1, len(parts))):
            name = "/".join(parts[depth:])
            if name in wanted:
                place = folders.setdefault(parts[:depth], into / str(len(folders))) / name
                place.parent.mkdir(parents=True, exist_ok=True)
                with open(place, "xb") as written, opened() as read:
                    shutil.copyfileobj(read, written, 1 << 20)
                break


def texts(folder: Path, names: Sequence[str]) -> dict[str, Path] | None:
    """Paths of the named files, plain or compressed, up to two folders down; None unless all are found."""
    for base in _folders(folder):
        found = {name: path for name in names if (path := _text(base / name)) is not None}
        if len(found) == len(names):
            return found
    return None


def archive(folder: Path, names: Sequence[str]) -> Path | None:
    """The first of the named archives that is in a folder, or up to two folders down."""
    paths = (base / name for name in names for base in _folders(folder))
    return next((path for path in paths if path.is_file()), None)


def _folders(folder: Path) -> Iterator[Path]:
    """The folder and its subfolders, nearest first."""
    level = [folder]
    for _ in range(DEPTH + 1):
        yield from level
        level = sorted(path for base in level for path in base.iterdir() if path.is_dir() and _opens(path))


def _opens(folder: Path) -> bool:
    return os.access(folder, os.R_OK | os.X_OK)


def _text(path: Path) -> Path | None:
    names = (path, *(path.with_name(path.name + suffix) for suffix in SUFFIX))
    return next((name for name in names if name.is_file()), None)


def gather(sources: dict[str, Path], into: Path) -> None:
    """Put the decompressed files into `into`: moved if they were unpacked beside it, else copied."""
    for name, source in sources.items():
        place = into / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_relative_to(into.parent) and source.suffix not in SUFFIX:
            os.replace(source, place)
            continue
        with reading(source) as read, open(place, "xb") as written:
            shutil.copyfileobj(read, written, 1 << 20)
