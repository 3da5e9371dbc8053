"""Archives unpacked, and the texts of a data set found in folders."""

from __future__ import annotations

import os
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from lambdaboost.datasets._files import SUFFIX, reading

DEPTH = 2  # folders between the one named and the one in which the texts lie


def unpack(archive: Path, into: Path) -> None:
    """Unpack a zip or tar archive; one that is damaged, or of another kind, is a ValueError."""
    from tqdm import tqdm

    if archive.suffix == ".rar":
        raise ValueError(
            f"{archive} is a RAR archive, which Python cannot unpack: unpack it with unrar, bsdtar or 7z, and give "
            "the folder that you unpacked it to"
        )
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as zipped:
                for name in tqdm(zipped.namelist(), desc="unpacking", unit="file", disable=None):
                    zipped.extract(name, into)
        else:
            with tarfile.open(archive) as tarred:
                for member in tqdm(tarred, desc="unpacking", unit="file", disable=None):
                    tarred.extract(member, into, filter="data")
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error) as error:
        raise ValueError(f"{archive} is damaged: {error}; download it again") from None


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
