"""The wanted files of archives, and the texts of a data set found in folders."""

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

DEPTH = 2  # folders between the one named and the one in which the texts lie


def unpack(archive: Path, into: Path, names: Sequence[str]) -> None:
    """Write the named files of a zip or tar archive, plain or compressed, and nothing else of it, below `into`.

    Members are found by the end of their paths, up to two folders down. Where they are written is decided here and
    only regular files are read, so that no name, link or device in an archive reaches the file system.

    Raises
    ------
    ValueError
        Where the archive is damaged, of another kind, or holds a file twice.

    """
    if archive.suffix == ".rar":
        raise ValueError(
            f"{archive} is a RAR archive, which Python cannot unpack: unpack it with unrar, bsdtar or 7z, and give "
            "the folder that you unpacked it to"
        )
    try:
        members = _zip_members if zipfile.is_zipfile(archive) else _tar_members
        _write_named(members(archive), into, names)
    except FileExistsError as error:
        raise ValueError(f"{archive} holds {Path(error.filename).name} twice in one folder") from None
    except OSError as error:
        if error.errno is not None:  # the disk, not the archive
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
        raise _unusable(archive, error) from None  # RuntimeError: encrypted, or compressed in an unknown way


def _unusable(archive: Path, error: Exception) -> ValueError:
    return ValueError(f"{archive} is damaged: {error}; download it again")


def _zip_members(archive: Path) -> Iterator[tuple[str, Callable[[], IO[bytes] | None]]]:
    """Path of each regular file, and what opens it."""
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
    folders: dict[tuple[str, ...], Path] = {}  # of the archive, and what stands for each of them below `into`
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
    """Where the named texts lie in a folder, plain or compressed, or up to two folders down; None where not all do."""
    for base in _folders(folder):
        found = {name: path for name in names if (path := _text(base / name)) is not None}
        if len(found) == len(names):
            return found
    return None


def archive(folder: Path, names: Sequence[str]) -> Path | None:
    """The first of the named archives that lies in a folder, or up to two folders down."""
    paths = (base / name for name in names for base in _folders(folder))
    return next((path for path in paths if path.is_file()), None)


def _folders(folder: Path) -> Iterator[Path]:
    """The folder and those in it, nearest first."""
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
    """The texts under their names, plain: moved where they were unpacked beside `into`, copied from elsewhere."""
    for name, source in sources.items():
        place = into / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_relative_to(into.parent) and source.suffix not in SUFFIX:
            os.replace(source, place)
            continue
        with reading(source) as read, open(place, "xb") as written:
            shutil.copyfileobj(read, written, 1 << 20)
