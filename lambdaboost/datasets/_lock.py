"""The lock file beside a fetched data set: the SHA-256 of each of its files at the first fetch."""

from __future__ import annotations

import json
from pathlib import Path

from lambdaboost.datasets._files import replacing, sha256


def lock_path(home: Path) -> Path:
    """``mq2008.lock.json`` beside ``mq2008``."""
    return home.with_name(f"{home.name}.lock.json")


def read_lock(home: Path) -> dict[str, str]:
    """SHA-256 by file; empty if there is no lock file."""
    path = lock_path(home)
    if not path.exists():
        return {}
    try:
        files = json.loads(path.read_text(encoding="utf-8"))["files"]
        return {str(name): str(digest) for name, digest in files.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(
            f"{path} is not a lock file: remove it and {home}, and fetch {home.name} again"
        ) from None


def write_lock(home: Path, digests: dict[str, str], archive: str | None) -> None:
    """Record the digests; `archive` is the published hash that the archive was verified against, or None."""
    with replacing(lock_path(home)) as file:
        lock = {"published_archive_sha256": archive, "files": digests}
        file.write((json.dumps(lock, indent=2) + "\n").encode())


def digests_of(folder: Path, names: tuple[str, ...]) -> dict[str, str]:
    """SHA-256 of each file in a folder, with a progress bar on a terminal."""
    from tqdm import tqdm

    there = [name for name in names if (folder / name).is_file()]
    return {name: sha256(folder / name) for name in tqdm(there, desc="checking", unit="file", disable=None)}


def check_complete(home: Path, names: tuple[str, ...]) -> None:
    """Raise if the lock file does not record every file: the folder cannot be verified."""
    lock = read_lock(home)
    for name in names:
        if name not in lock:
            state = f"does not record {name}" if lock else "does not exist"
            raise ValueError(
                f"{home} cannot be verified: {lock_path(home)} {state}; remove the folder and fetch {home.name} again"
            )


def check(digests: dict[str, str], lock: dict[str, str], home: Path, whose: str) -> None:
    """Raise if digests differ from those in the lock file; `whose` begins the message."""
    for name, expected in lock.items():
        if digests.get(name) != expected:
            state = "is missing" if name not in digests else "has another SHA-256 than at the first fetch"
            raise ValueError(
                f"{whose}: {name} {state}, recorded in {lock_path(home)}; remove {home} and fetch it again, and remove "
                "the lock file too if the change is expected"
            )
