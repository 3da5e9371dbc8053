"""Parsing of LETOR text by scikit-learn, with line numbers and comments."""

from __future__ import annotations

import io
import re
from array import array
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets._files import reading
from lambdaboost.datasets._given import split_query

EXPECTED = "expected 'grade qid:Q 1:v 2:v … # comment' with feature indices rising from 1"
# Comments in LETOR 3 and 4 hold more than the name: "docid = GX008-86-4444840 inc = 1 prob = 0.086622".
DOCID = re.compile(rb"\s*docid\s*=\s*(\S+)")


class Parsed(NamedTuple):
    """The contents of a LETOR text; `ids` is empty if its lines have no qid."""

    features: Any
    relevance: NDArray[np.float64]
    ids: NDArray[np.int64]
    documents: NDArray[np.str_] | None


class Lines:
    """Iterator over the rows of LETOR text, without comments; remembers its position.

    scikit-learn expects a binary file but only iterates over its lines, so an error of its parser concerns the
    line that it read last.
    """

    def __init__(self, file: Iterable[bytes]) -> None:
        self.file = file
        self.body = b""
        self.numbers = array("q")
        self.names: list[bytes] = []
        self.with_qid = False

    def read(self, size: int = -1) -> bytes:
        """Not supported: scikit-learn only iterates over lines."""
        raise io.UnsupportedOperation("read")

    def __iter__(self) -> Iterator[bytes]:
        for number, line in enumerate(self.file, 1):
            self.body, _, comment = (line.removeprefix(BOM_UTF8) if number == 1 else line).partition(b"#")
            words = self.body.split(None, 2)
            if not words:
                continue
            self.numbers.append(number)
            self.names.append(document_name(comment))
            self._check_qid(len(words) > 1 and words[1].startswith(b"qid:"))
            yield self.body

    def _check_qid(self, has_qid: bool) -> None:
        # scikit-learn ignores a missing qid, which would shift every later row to another query.
        if len(self.numbers) == 1:
            self.with_qid = has_qid
        if has_qid != self.with_qid:
            raise ValueError(
                "qid: is missing" if self.with_qid else "qid: is here, but not on the lines above"
            )


def document_name(comment: bytes) -> bytes:
    """The word after ``docid =``, or the whole comment if there is none.

    >>> document_name(b" docid = GX1 inc = 1 prob = 0.08"), document_name(b" my page")
    (b'GX1', b'my page')
    """
    found = DOCID.match(comment)
    return found[1] if found else comment.strip()


def parse(path: Path) -> Parsed:
    """Parse a LETOR file; a ValueError names the file and the line."""
    from sklearn.datasets import load_svmlight_file

    with reading(path) as file:
        lines = Lines(file)
        try:
            features, relevance, ids = load_svmlight_file(
                lines, dtype=np.float32, zero_based=False, query_id=True
            )
        except (ValueError, OverflowError) as error:
            # repr escapes control characters that a terminal would execute.
            line = lines.body[:60].decode(errors="replace").strip()
            raise _at(path, lines, -1, f"{str(error).rstrip('.')} in {line!r}") from None
    if not relevance.size:
        raise ValueError(f"{path} has no rows; {EXPECTED}")
    if (bad := ~(np.isfinite(relevance) & (relevance >= 0))).any():
        row = int(np.flatnonzero(bad)[0])
        raise _at(path, lines, row, f"the grade is {relevance[row]:g}: grades must be finite and ≥ 0")
    if ids.size and (split := split_query(ids)):
        query, row = split
        raise _at(
            path, lines, row, f"query {query} reappears here: sort the lines by qid, keeping their order"
        )
    # Values out of float32's range have become infinite, which XGBoost refuses; see read_letor.
    largest = np.finfo(np.float32).max
    np.clip(features.data, -largest, largest, out=features.data)
    named = any(lines.names)
    documents = np.array([name.decode(errors="replace") for name in lines.names]) if named else None
    return Parsed(features, relevance, ids, documents)


def _at(path: Path, lines: Lines, row: int, problem: str) -> ValueError:
    return ValueError(f"{path}:{lines.numbers[row]}: {problem}; {EXPECTED}")
