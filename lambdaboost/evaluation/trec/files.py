"""TREC run and qrels files, as trec_eval reads them."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from lambdaboost._files import SUFFIX, reading, replacing
from lambdaboost._words import shown
from lambdaboost.evaluation.trec.frames import KEY, Figure, checked, first

RUN = "query Q0 document rank score tag"
QRELS = "query 0 document grade"
BLANK = re.compile(r"[ \t-\r]")  # separates fields
PathLike = str | os.PathLike[str]


def read_trec_run(path: PathLike) -> Any:
    """Read a run file of lines ``query Q0 document rank score tag``, plain or compressed by gzip, xz or bzip2.

    Documents rank by score; ranks, tags and anything after a tag are ignored, as in trec_eval. Blank lines and lines
    that begin with ``#`` are skipped.

    Returns
    -------
    pandas.DataFrame
        Columns ``query_id, doc_id, score``, in file order; ids as text.

    Raises
    ------
    ValueError
        If a line has fewer than six fields, a score is not a finite number, a document is repeated or the file is
        empty; names file and line.

    """
    return _read(Path(path), RUN, 4, float, "score", more=True)


def read_trec_qrels(path: PathLike) -> Any:
    """Read a qrels file of lines ``query 0 document grade``, plain or compressed by gzip, xz or bzip2.

    The second field is ignored, as in trec_eval; blank lines and lines that begin with ``#`` are skipped.

    Returns
    -------
    pandas.DataFrame
        Columns ``query_id, doc_id, relevance`` (int64; negative grades are kept), in file order; ids as text.

    Raises
    ------
    ValueError
        If a line does not have four fields, a grade is not a whole number, a document is repeated or the file is
        empty; names file and line.

    """
    return _read(Path(path), QRELS, 3, int, "relevance", more=False)


def write_trec_run(path: PathLike, run: Any, tag: str = "lambdaboost") -> None:
    """Write a run frame, such as `to_run` gives, as a run file; scores are written exactly, `tag` ends each line.

    The documents of a query are ordered by score, and ties by id, descending, as trec_eval ranks them. A `path` in
    ``.gz``, ``.xz`` or ``.bz2`` is compressed; an old file is replaced once the new one is whole.

    Raises
    ------
    ValueError, TypeError
        As `from_run`, and if an id or the tag is empty or contains white space; nothing is written then.

    """
    if not isinstance(tag, str) or not tag or BLANK.search(tag):
        raise ValueError(f"tag is {shown(tag)}: give a name of one word")
    frame = _wordlike("run", checked("run", run, "score"))
    frame = frame.assign(place=frame.groupby("query_id", sort=False).ngroup())
    frame = frame.sort_values(["place", "score", "doc_id"], ascending=[True, False, False], kind="stable")
    rank = frame.groupby("place").cumcount() + 1
    fields = zip(frame.query_id, frame.doc_id, rank, frame.score, strict=True)
    _write(Path(path), (f"{query} Q0 {doc} {r} {score!r} {tag}\n" for query, doc, r, score in fields))


def write_trec_qrels(path: PathLike, qrels: Any) -> None:
    r"""Write a qrels frame, such as `to_qrels` gives, as a qrels file; `path` as in `write_trec_run`.

    Raises
    ------
    ValueError, TypeError
        As `from_run`, and if an id is empty or contains white space, or a grade is not whole; nothing is written
        then.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "qrels.txt")
    ...     write_trec_qrels(path, pd.DataFrame({"query_id": [301], "doc_id": ["FT941-1"], "relevance": [2]}))
    ...     path.read_text()
    '301 0 FT941-1 2\n'

    """
    frame = _wordlike("qrels", checked("qrels", qrels, "relevance"))
    if (row := first(frame.relevance != np.floor(frame.relevance))) is not None:
        raise ValueError(
            f"relevance is {frame.relevance[row]:g} in row {row} of qrels: TREC's grades are whole numbers; round them"
        )
    fields = zip(frame.query_id, frame.doc_id, frame.relevance.astype(np.int64), strict=True)
    _write(Path(path), (f"{query} 0 {doc} {grade}\n" for query, doc, grade in fields))


def _read(
    path: Path, form: str, at: int, number: Callable[[bytes], float], figure: Figure, *, more: bool
) -> Any:
    """The rows of a file with the fields of `form`, the number in field `at`; `more` allows further text."""
    import pandas as pd

    rows: list[tuple[str, str, float, int]] = []
    n_fields = len(form.split())
    with reading(path) as file:
        for line, raw in enumerate(file, 1):
            try:
                words = raw.split()  # at ASCII blanks only, as trec_eval; an id may hold any other
                if not words or words[0].startswith(b"#"):
                    continue
                if len(words) < n_fields or (len(words) > n_fields and not more):
                    raise ValueError(f"{len(words)} fields")
                value = _number(words[at], number, figure)
                rows.append((words[0].decode(), words[2].decode(), value, line))
            except ValueError as error:
                raise ValueError(f"{path}:{line}: {error}; expected {form!r}") from None
    if not rows:
        raise ValueError(f"{path} is empty; expected lines {form!r}")
    frame = pd.DataFrame(rows, columns=[*KEY, figure, "line"])
    if (row := first(frame.duplicated(KEY))) is not None:
        query, document, _, line = rows[row]
        raise ValueError(
            f"{path}:{line}: document {shown(document)} of query {shown(query)} is also on a line above; keep one of "
            "them"
        )
    return frame.drop(columns="line")


def _number(word: bytes, kind: Callable[[bytes], float], figure: Figure) -> float:
    """The number in a field; Python would also read 1_0, which trec_eval does not."""
    with contextlib.suppress(ValueError):
        if b"_" not in word and np.isfinite(value := kind(word)):
            return value
    what = "a whole number" if kind is int else "a finite number"
    raise ValueError(f"{figure} is {shown(word.decode(errors='replace'))}, not {what}")


def _wordlike(name: str, frame: Any) -> Any:
    """Return the frame; raise unless its ids are single words."""
    for column in KEY:
        if (row := first(frame[column].str.contains(BLANK) | (frame[column] == ""))) is not None:
            raise ValueError(
                f"{column} is {shown(frame[column][row])} in row {row} of {name}: TREC's files need ids without "
                "white space"
            )
    return frame


def _write(path: Path, lines: Iterable[str]) -> None:
    with replacing(path) as raw, SUFFIX.get(path.suffix, lambda file, mode: file)(raw, "wb") as file:
        file.writelines(line.encode() for line in lines)
