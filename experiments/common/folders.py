"""Data sets in folders: LETOR's five parts S1 … S5, or files named train…, vali… and test…."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from experiments.common.clicks import Clicks
from experiments.common.data import Data, Fold
from lambdaboost.datasets import Collection, read_letor

FIVE = ("S1", "S2", "S3", "S4", "S5")
ROLES = ("train", "vali", "test")
ENDINGS = {"", ".txt", ".gz", ".xz", ".bz2", ".txt.gz", ".txt.xz", ".txt.bz2"}


def read_folder(
    folder: Path, clicks: Sequence[Clicks] = (), dropped: Sequence[int] = (), seed: int = 0
) -> Data:
    """Read a folder of LETOR text.

    S1 … S5 form LETOR's five folds: fold 1 trains on S1 to S3, validates on S4 and tests on S5; the others are
    rotations. Otherwise files named train…, vali… and test… form one fold. Parsed copies are kept beside the files.
    """
    files = _files(folder)
    folds = _folds(folder, files)
    used = sorted({name for fold in folds for name in (*fold.train, *fold.valid, *fold.test)})
    read = {name: read_letor(files[name]) for name in used}
    width = max(part.n_features for part in read.values())
    _check_columns(folder, clicks, dropped, width)
    is_dense = any(isinstance(part.features, np.ndarray) for part in read.values())
    parts = {}
    for name, part in read.items():
        if part.n_features < width:
            part = read_letor(files[name], n_features=width)
        if is_dense and not isinstance(part.features, np.ndarray):
            part = replace(part, features=part.features.toarray())
        parts[name] = _prepared(part, clicks, dropped, str(files[name])).shuffled(seed)
    origin = f"{len(used)} files: {', '.join(files[name].name for name in used)}"
    return Data(folder.resolve().name, parts, folds, tuple(clicks), origin)


def _files(folder: Path) -> dict[str, Path]:
    """LETOR files by name without suffixes."""
    if not folder.is_dir():
        raise ValueError(f"DATA is {str(folder)!r}: give a folder of LETOR text, or the word synthetic")
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        name = path.name.split(".")[0]
        known = name in FIVE or name.startswith(ROLES)
        if known and path.name[len(name) :] in ENDINGS and path.is_file():
            if name in found:
                raise ValueError(f"{folder} has {found[name].name} and {path.name}: keep one of them")
            found[name] = path
    return found


def _folds(folder: Path, files: dict[str, Path]) -> tuple[Fold, ...]:
    if all(name in files for name in FIVE):
        around = FIVE * 2
        return tuple(
            Fold(f"fold {i + 1}", around[i : i + 3], around[i + 3 : i + 4], around[i + 4 : i + 5])
            for i in range(5)
        )
    roles = [tuple(name for name in files if name.startswith(role)) for role in ROLES]
    if not all(roles):
        raise ValueError(
            f"{folder} has {', '.join(path.name for path in files.values()) or 'no LETOR text of a known name'}: "
            "expected S1.txt … S5.txt, or train.txt, vali.txt and test.txt, plain or as .gz, .xz or .bz2"
        )
    return (Fold("the one fold", *roles),)


def _check_columns(folder: Path, clicks: Sequence[Clicks], dropped: Sequence[int], width: int) -> None:
    names = [setting.name for setting in clicks]
    if len(set(names)) < len(names):
        raise ValueError(f"--clicks has the names {', '.join(names)}: give each setting a different name")
    options = [(f"--clicks {c}", c.column or 0) for c in clicks] + [(f"--drop {d}", d) for d in dropped]
    for option, column in options:
        if not 1 <= column <= width:
            raise ValueError(f"{option}: {folder} has no column {column}, only 1 to {width}")
    taken = [column for _, column in options]
    for column in taken:
        if taken.count(column) > 1:
            raise ValueError(f"column {column} is given twice: a column has one use; give it once")
    if len(taken) >= width:
        raise ValueError(f"--clicks and --drop leave no feature of {folder}: keep at least one")


def _prepared(part: Collection, clicks: Sequence[Clicks], dropped: Sequence[int], where: str) -> Collection:
    # By name, since indices shift when columns are removed.
    part = replace(part, feature_names=tuple(str(column) for column in range(1, part.n_features + 1)))
    for setting in clicks:
        part = setting.taken_from(part, where)
    return part.without_features(map(str, dropped))
