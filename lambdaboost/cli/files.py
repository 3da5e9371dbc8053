"""What a command reads and writes: declared by `Reads` and `Writes`, and checked before it runs.

No output may be an input or another output, and an existing file is replaced only with ``--overwrite``. Each also holds
for the files next to it, such as MODEL.json, and through relative paths, symbolic and hard links.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

from lambdaboost._files import check_place, without_compression_suffix
from lambdaboost._installed import SUFFIXES, TITLES


@dataclass(frozen=True)
class Reads:
    """Marks a parameter as a file that is read, with the files of these suffixes next to it."""

    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Writes:
    """Marks a parameter as a file that is written, with the files of these suffixes next to it.

    In one that `resumes`, which may exist, an earlier run goes on.
    """

    beside: tuple[str, ...] = ()
    resumes: bool = False


# LightGBM's sizes of queries lie next to LETOR text.
TABLE = Reads((".query", ".query.gz", ".query.xz", ".query.bz2"))
MODEL = Reads((".json",))
PLAIN = Reads()


@dataclass(frozen=True)
class Named:
    """A file and its name on a page."""

    name: str
    path: Path

    @classmethod
    def parse(cls, text: str) -> Named:
        """Parse ``PATH`` or ``NAME=PATH``.

        >>> Named.parse("graded=models/7.txt").name, Named.parse("models/7.txt").name
        ('graded', '7')
        """
        name, equals, path = text.partition("=")
        whole = Path(text).expanduser()
        if not equals or whole.exists():
            return cls(whole.stem, whole)
        if not name.strip() or not path:
            raise typer.BadParameter(f"{text!r}: expected PATH or NAME=PATH, such as graded=model.txt")
        return cls(name.strip(), Path(path).expanduser())


@dataclass(frozen=True)
class Place:
    """A path given to a command: the option, and what becomes of the file."""

    option: str
    path: Path
    kind: Reads | Writes

    def files(self) -> Iterator[Path]:
        """The file and those next to it; sizes of queries are named without a suffix of compression."""
        yield self.path
        names = {self.path.name}
        if isinstance(self.kind, Reads):
            names |= {without_compression_suffix(self.path).name}
        yield from (
            self.path.parent / f"{name}{suffix}" for name in sorted(names) for suffix in self.kind.beside
        )

    def named(self, file: Path) -> str:
        """One of the files, in the words of a message."""
        beside = "" if file == self.path else f"{file.name} beside "
        return f"{beside}{self.option} {self.path}"


def check_places(places: Iterable[Place], overwrite: bool) -> None:
    """Raise ValueError if an output cannot be written, or would replace what it must not."""
    places = list(places)
    outputs = [(place, file) for place in places if isinstance(place.kind, Writes) for file in place.files()]
    for place, file in outputs:
        if file != place.path and os.path.isdir(file):
            raise ValueError(f"{place.named(file)} is a folder: give another name")
        check_place(place.option, file)
        for other in (other for other in places if other is not place):
            if theirs := next((theirs for theirs in other.files() if _is_same(file, theirs)), None):
                role = "written too" if isinstance(other.kind, Writes) else "read"
                raise ValueError(
                    f"{place.named(file)} is {other.named(theirs)}, which is {role}: give another name"
                )
    for place, file in outputs:
        replaces = isinstance(place.kind, Writes) and not place.kind.resumes and not overwrite
        if replaces and os.path.lexists(file):
            raise ValueError(f"{place.named(file)} exists: give another name, or --overwrite to replace it")


def engine_of_suffix(path: Path) -> str | None:
    """The engine in whose format the suffix of a model file says it is; None for any other suffix."""
    suffix = path.suffix.lower()
    return next((engine for engine, suffixes in SUFFIXES.items() if suffix in suffixes), None)


def check_suffix(name: str, path: Path, engine: str) -> None:
    """Raise where the suffix of a model file is that of another engine's format; `name` is what messages call it."""
    other = engine_of_suffix(path)
    if other not in (None, engine):
        raise ValueError(
            f"{name} {path}: {path.suffix} is {TITLES[other]}'s format, and the model is {TITLES[engine]}'s: give "
            f"{' or '.join(SUFFIXES[engine])} or no suffix, or train on {TITLES[other]}"
        )


def _is_same(a: Path, b: Path) -> bool:
    if os.path.normcase(os.path.realpath(a)) == os.path.normcase(os.path.realpath(b)):
        return True
    return a.exists() and b.exists() and os.path.samefile(a, b)
