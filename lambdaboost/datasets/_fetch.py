"""`fetch`: download, verify and cache public ranking data sets."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from lambdaboost.datasets import _lock, _unpack
from lambdaboost.datasets._download import Resumable
from lambdaboost.datasets._letor_lines import EXPECTED
from lambdaboost.datasets._part import NotAFile
from lambdaboost.datasets.catalogue import Published, published

CACHE = "LAMBDABOOST_CACHE"


def fetch(name: str, folder: str | os.PathLike[str] | None = None) -> Path:
    """Fetch a public ranking data set and return the folder of its LETOR files.

    The first call downloads it from its owner, or takes it from your `folder`, unpacks it and keeps it in the cache:
    the folder named by the environment variable ``LAMBDABOOST_CACHE``, or else your system's cache folder. By fetching
    a data set you accept its owner's terms; ``lambdaboost fetch`` lists the terms and sizes. An interrupted download
    resumes.

    The archive is verified against its published SHA-256 (MSLR, Istella). None is published for LETOR and Yahoo: for
    these the first archive is trusted. In both cases the SHA-256 of every file is recorded in ``<name>.lock.json``
    beside the data, and every later call verifies all files.

    Parameters
    ----------
    name : str
        ``"mslr-web10k"``, ``"mslr-web30k"``, ``"mq2007"``, ``"mq2008"``, ``"yahoo-ltrc"`` or ``"istella"``.
    folder : path, optional
        The folder that holds the owner's archive or its unpacked files. Required for LETOR, which comes as RAR from a
        web page, and for Yahoo, which requires a form.

    Returns
    -------
    pathlib.Path
        The folder, for ``read_letor(fetch("mslr-web10k") / "Fold1" / "train.txt")``.

    Raises
    ------
    ValueError
        If the name is unknown, the data set needs a manual download, `folder` does not hold it, or an archive or file
        fails verification; the cache is unchanged.
    OSError
        If the server cannot be reached, another fetch is downloading the same archive, or the disk is full; downloaded
        bytes are kept.
    ImportError
        If pooch, the optional extra ``fetch``, is not installed.

    """
    return obtain(published(name), None if folder is None else Path(folder))


def cache_folder() -> Path:
    """The folder in which data sets are kept; it need not exist."""
    named = os.environ.get(CACHE)
    return Path(named) if named else Path(_pooch().os_cache("lambdaboost"))


def obtain(dataset: Published, folder: Path | None) -> Path:
    """The folder of a data set's files, fetched first if it is not in the cache."""
    _pooch()
    home = cache_folder() / dataset.name
    if home.is_dir():
        _lock.check_complete(home, dataset.files)
        _lock.check(_lock.digests_of(home, dataset.files), _lock.read_lock(home), home, f"{home} has changed")
        return home
    if folder is None and dataset.address is None:
        raise ValueError(
            f"{dataset.name} needs a manual download: {dataset.by_hand} ({dataset.page}), "
            f"then {_from(dataset)}"
        )
    if folder is not None and not folder.is_dir():
        raise ValueError(f"folder {str(folder)!r} does not exist: give the folder with the files")
    home.parent.mkdir(parents=True, exist_ok=True)
    # Work in a folder beside the final one, which can be renamed in one step; it is always removed.
    with tempfile.TemporaryDirectory(prefix=f".{dataset.name}.", dir=home.parent) as aside:
        work = Path(aside)
        sources = _downloaded(dataset, work) if folder is None else _given(dataset, folder, work)
        ready = work / "ready"
        _unpack.gather(sources, ready)
        for name in dataset.files:
            _check_letor(ready / name, name)
        digests = _lock.digests_of(ready, dataset.files)
        _lock.check(digests, _lock.read_lock(home), home, f"this is not the {dataset.name} fetched before")
        _lock.write_lock(home, digests, dataset.sha256)
        os.replace(ready, home)
    return home


def _from(dataset: Published) -> str:
    """How to continue after a manual download."""
    return f"lambdaboost fetch {dataset.name} --from FOLDER, or fetch({dataset.name!r}, FOLDER)"


def _downloaded(dataset: Published, work: Path) -> dict[str, Path]:
    """Download the owner's archive, verify it, unpack its files and remove it."""
    pooch = _pooch()
    free = shutil.disk_usage(work).free
    assert dataset.size is not None  # true for every data set with an address: see test_catalogue
    if dataset.size > free:
        raise ValueError(
            f"{dataset.name} is {dataset.roughly} before it is unpacked, and {work.parent} has {free:,} bytes free: "
            f"free some space, or set {CACHE} to another folder"
        )
    part = work.parent / f"{dataset.archives[0]}.part"
    try:
        archive = pooch.retrieve(
            dataset.address,
            dataset.sha256,
            fname=dataset.archives[0],
            path=work,
            downloader=Resumable(part, dataset.size),
        )
    except ConnectionError as error:
        raise ConnectionError(
            f"{error}. Or {dataset.by_hand} ({dataset.page}), then {_from(dataset)}"
        ) from None
    except NotAFile:
        raise
    except ValueError:
        raise ValueError(
            f"the download from {dataset.address} does not have the published SHA-256 {dataset.sha256}: it was "
            "removed; fetch it again"
        ) from None
    return _in_archive(dataset, Path(archive), work)


def _given(dataset: Published, folder: Path, work: Path) -> dict[str, Path]:
    """The files from the user's folder, archived or unpacked; the folder is not changed."""
    found = _unpack.texts(folder, dataset.files)
    if found is not None:
        return found
    archive = _unpack.archive(folder, dataset.archives)
    if archive is None:
        names = ", ".join((*dataset.files[:3], *(["…"] if len(dataset.files) > 3 else [])))
        raise ValueError(
            f"{folder} holds neither {' nor '.join(dataset.archives)} nor all of its {len(dataset.files)} files "
            f"{names}: {dataset.by_hand} ({dataset.page})"
        )
    if archive.name == dataset.archives[0] and dataset.sha256 is not None:
        digest = _lock.sha256(archive)
        if digest != dataset.sha256:
            raise ValueError(
                f"{archive} has the SHA-256 {digest}, not the published {dataset.sha256}: download it again"
            )
    return _in_archive(dataset, archive, work)


def _in_archive(dataset: Published, archive: Path, work: Path) -> dict[str, Path]:
    """The files of an archive, including those in nested archives."""
    for depth in range(len(dataset.archives)):
        into = work / f"unpacked{depth}"
        _unpack.unpack(archive, into, (*dataset.files, *dataset.archives[1:]))
        found = _unpack.texts(into, dataset.files)
        if found is not None:
            return found
        inner = _unpack.archive(into, dataset.archives[1:])
        if inner is None:
            break
        archive = inner
    raise ValueError(
        f"{archive} does not hold {', '.join(dataset.files[:3])} …: is it {dataset.archives[0]}?"
    )


def _check_letor(path: Path, name: str) -> None:
    """Raise if a file does not begin with a LETOR line, before it is kept."""
    with open(path, "rb") as file:
        words = file.readline(1 << 16).split()
    if len(words) < 2 or not words[1].startswith(b"qid:"):
        raise ValueError(f"{name} is not LETOR text: {EXPECTED}")


def _pooch() -> Any:
    try:
        import pooch
        import requests  # noqa: F401
        import tqdm  # noqa: F401
    except ImportError:
        raise ImportError("fetch needs pooch: pip install 'lambdaboost[fetch]'") from None
    pooch.get_logger().setLevel("WARNING")  # its messages show temporary names
    return pooch
