"""`fetch`: public ranking data sets, checked and kept in a cache folder."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from lambdaboost.datasets import _lock, _unpack
from lambdaboost.datasets._download import Resumable
from lambdaboost.datasets._letor_lines import EXPECTED
from lambdaboost.datasets._part import NotAFile
from lambdaboost.datasets.catalogue import Published, published

CACHE = "LAMBDABOOST_CACHE"


def fetch(name: str, folder: str | os.PathLike[str] | None = None) -> Path:
    """Get a public ranking data set, and give the folder of its LETOR texts.

    The first time it is downloaded from its owner, or taken from a folder of yours, unpacked, and kept in the cache:
    the folder that the environment variable ``LAMBDABOOST_CACHE`` names, or else the one your system has for such
    things. By fetching it you accept the owner's terms: see ``lambdaboost fetch``, which shows them with the sizes.
    A download that was cut goes on from where it was.

    The owner's archive is checked against its SHA-256 where one has been published (MSLR, Istella). Nobody has
    published any for LETOR and Yahoo: there, what comes first is trusted. Either way the SHA-256 of every text is
    recorded in ``<name>.lock.json`` beside the data, and each further call checks all of them.

    Parameters
    ----------
    name : str
        ``"mslr-web10k"``, ``"mslr-web30k"``, ``"mq2007"``, ``"mq2008"``, ``"yahoo-ltrc"`` or ``"istella"``.
    folder : path, optional
        Where the owner's archive, or what it holds, lies already. LETOR and Yahoo need it: Yahoo asks for a form,
        and LETOR comes as RAR from a page for browsers.

    Returns
    -------
    pathlib.Path
        The folder, for ``read_letor(fetch("mslr-web10k") / "Fold1" / "train.txt")``.

    Raises
    ------
    ValueError
        Where there is no such data set, it has to be fetched by hand, `folder` does not hold it, or an archive or a
        text is not what it should be; the cache is as before.
    OSError
        Where the server cannot be reached, another fetch downloads the same archive, or the disk is full; what has come
        of a download is kept.
    ImportError
        Without pooch, the extra ``fetch``.

    """
    return obtain(published(name), None if folder is None else Path(folder))


def cache_folder() -> Path:
    """The folder in which data sets are kept; it need not be there."""
    named = os.environ.get(CACHE)
    return Path(named) if named else Path(_pooch().os_cache("lambdaboost"))


def obtain(dataset: Published, folder: Path | None) -> Path:
    """The folder of a data set's texts, fetched if it is not there."""
    _pooch()
    home = cache_folder() / dataset.name
    if home.is_dir():
        _lock.check_complete(home, dataset.files)
        _lock.check(_lock.digests_of(home, dataset.files), _lock.read_lock(home), home, f"{home} has changed")
        return home
    if folder is None and dataset.address is None:
        raise ValueError(
            f"{dataset.name} cannot be downloaded without you: {dataset.by_hand} ({dataset.page}), "
            f"then {_from(dataset)}"
        )
    if folder is not None and not folder.is_dir():
        raise ValueError(
            f"folder is {str(folder)!r}, and there is no such folder: name the one with the files"
        )
    home.parent.mkdir(parents=True, exist_ok=True)
    # A folder beside, so that it can take its place in one step; it goes away whatever happens.
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
    """What to do with a file that was fetched by hand."""
    return f"lambdaboost fetch {dataset.name} --from FOLDER, or fetch({dataset.name!r}, FOLDER)"


def _downloaded(dataset: Published, work: Path) -> dict[str, Path]:
    """The texts out of the owner's archive, which is checked and then removed."""
    pooch = _pooch()
    free = shutil.disk_usage(work).free
    assert dataset.size is not None  # as test_catalogue holds of every data set with an address
    if dataset.size > free:
        raise ValueError(
            f"{dataset.name} is {dataset.roughly} before it is unpacked, and {work.parent} has {free:,} bytes free: "
            f"make room, or name another folder in {CACHE}"
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
            f"what came from {dataset.address} has another SHA-256 than {dataset.sha256}, which was published: it was "
            "thrown away; fetch it again"
        ) from None
    return _in_archive(dataset, Path(archive), work)


def _given(dataset: Published, folder: Path, work: Path) -> dict[str, Path]:
    """The texts out of a folder of the user's, as archive or unpacked; nothing in it is changed."""
    found = _unpack.texts(folder, dataset.files)
    if found is not None:
        return found
    archive = _unpack.archive(folder, dataset.archives)
    if archive is None:
        names = ", ".join((*dataset.files[:3], *(["…"] if len(dataset.files) > 3 else [])))
        raise ValueError(
            f"{folder} holds neither {' nor '.join(dataset.archives)} nor all of its {len(dataset.files)} texts "
            f"{names}: {dataset.by_hand} ({dataset.page})"
        )
    if archive.name == dataset.archives[0] and dataset.sha256 is not None:
        digest = _lock.sha256(archive)
        if digest != dataset.sha256:
            raise ValueError(
                f"{archive} has the SHA-256 {digest}, not {dataset.sha256}, which was published: download it again"
            )
    return _in_archive(dataset, archive, work)


def _in_archive(dataset: Published, archive: Path, work: Path) -> dict[str, Path]:
    """The texts of an archive, through archives inside it."""
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
    """Refuse a text that does not begin as LETOR, before it is kept."""
    with open(path, "rb") as file:
        words = file.readline(1 << 16).split()
    if len(words) < 2 or not words[1].startswith(b"qid:"):
        raise ValueError(f"{name} is no LETOR text: {EXPECTED}")


def _pooch():  # type: ignore[no-untyped-def]
    try:
        import pooch
        import requests  # noqa: F401
        import tqdm  # noqa: F401
    except ImportError:
        raise ImportError("fetch needs pooch: pip install 'lambdaboost[fetch]'") from None
    pooch.get_logger().setLevel("WARNING")  # its notes tell of temporary names
    return pooch
