"""TREC run and qrels files, as trec_eval reads them."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from lambdaboost.datasets._files import SUFFIX, reading, replacing
from lambdaboost.evaluation.trec.frames import KEY, Figure, checked

RUN = "query Q0 document rank score tag"
QRELS = "query 0 document grade"
PathLike = str | os.PathLike[str]


def read_trec_run(path: PathLike) -> Any:
    r"""Read a run file of lines ``query Q0 document rank score tag``, plain or compressed by gzip, xz or bzip2.

    Documents rank by score; ranks, tags and anything after a tag are ignored, as in trec_eval. Blank lines and lines
    that begin with ``#`` are skipped.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    pandas.DataFrame
        Columns ``query_id, doc_id, score``, in file order; ids as text.

    Raises
    ------
    ValueError
        If a line has fewer than six fields, a score is not a finite number, a document is repeated or the file is
        empty; names file and line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "bm25.run")
    >>> _ = path.write_text("301 Q0 FR940202-2-00150 1 14.5 bm25\n301 Q0 FT941-1 2 13 bm25\n")
    >>> read_trec_run(path).score.tolist()
    [14.5, 13.0]
    >>> folder.cleanup()

    """
    return _read(Path(path), RUN, 4, float, "score", more=True)


def read_trec_qrels(path: PathLike) -> Any:
    """Read a qrels file of lines ``query 0 document grade``, plain or compressed by gzip, xz or bzip2.

    The second field is ignored, as in trec_eval; blank lines and lines that begin with ``#`` are skipped.

    Parameters
    ----------
    path : path
        The file.

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
    """Write a run frame as a run file; scores are written exactly.

    The documents of a query are ordered by score, and ties by id, descending, as trec_eval ranks them; use `untied`
    for another order of ties.

    Parameters
    ----------
    path : path
        Where to write; ``.gz``, ``.xz`` and ``.bz2`` compress. An old file is replaced once the new one is whole.
    run : pandas.DataFrame or polars.DataFrame
        Columns ``query_id, doc_id, score``, such as `to_run` gives.
    tag : str
        Name of the run, the last field of each line.

    Raises
    ------
    ValueError, TypeError
        As `from_run`, and if an id or the tag is empty or contains white space; nothing is written then.

    """
    if not isinstance(tag, str) or len(tag.split()) != 1 or tag.split()[0] != tag:
        raise ValueError(f"tag is {tag!r}: give a name of one word")
    frame = _wordlike("run", checked("run", run, "score"))
    frame = frame.assign(place=frame.groupby("query_id", sort=False).ngroup())
    frame = frame.sort_values(["place", "score", "doc_id"], ascending=[True, False, False], kind="stable")
    rank = frame.groupby("place").cumcount() + 1
    fields = zip(frame.query_id, frame.doc_id, rank, frame.score, strict=True)
    _write(Path(path), (f"{query} Q0 {doc} {r} {score!r} {tag}\n" for query, doc, r, score in fields))


def write_trec_qrels(path: PathLike, qrels: Any) -> None:
    r"""Write a qrels frame as a qrels file.

    Parameters
    ----------
    path : path
        Where to write; ``.gz``, ``.xz`` and ``.bz2`` compress. An old file is replaced once the new one is whole.
    qrels : pandas.DataFrame or polars.DataFrame
        Columns ``query_id, doc_id, relevance``, such as `to_qrels` gives.

    Raises
    ------
    ValueError, TypeError
        As `from_run`, and if an id is empty or contains white space, or a grade is not whole; nothing is written
        then.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "qrels.txt")
    >>> write_trec_qrels(path, pd.DataFrame({"query_id": [301], "doc_id": ["FT941-1"], "relevance": [2]}))
    >>> path.read_text()
    '301 0 FT941-1 2\n'
    >>> folder.cleanup()

    """
    frame = _wordlike("qrels", checked("qrels", qrels, "relevance"))
    broken = (frame.relevance != np.floor(frame.relevance)).to_numpy()
    if broken.any():
        row = int(np.flatnonzero(broken)[0])
        raise ValueError(
            f"relevance is {frame.relevance[row]:g} in row {row} of qrels: TREC's grades are whole numbers; round them"
        )
    fields = zip(frame.query_id, frame.doc_id, frame.relevance.astype(np.int64), strict=True)
    _write(Path(path), (f"{query} 0 {doc} {grade}\n" for query, doc, grade in fields))


def _read(
    path: Path, form: str, at: int, number: Callable[[str], float], figure: Figure, *, more: bool
) -> Any:
    """The rows of a file with the fields of `form`, the number in field `at`; `more` allows further text."""
    import pandas as pd

    queries: list[str] = []
    documents: list[str] = []
    figures: list[float] = []
    lines = array("q")
    n_fields = len(form.split())
    with reading(path) as file:
        for line, raw in enumerate(file, 1):
            try:
                words = raw.decode().split()
                if not words or words[0].startswith("#"):
                    continue
                if len(words) < n_fields or (len(words) > n_fields and not more):
                    raise ValueError(f"{len(words)} fields")
                value = number(words[at])
                if not np.isfinite(value):
                    raise ValueError(f"{figure} is {words[at]}")
            except ValueError as error:
                raise ValueError(f"{path}:{line}: {error}; expected {form!r}") from None
            queries.append(words[0])
            documents.append(words[2])
            figures.append(value)
            lines.append(line)
    if not lines:
        raise ValueError(f"{path} is empty; expected lines {form!r}")
    frame = pd.DataFrame({"query_id": queries, "doc_id": documents, figure: figures})
    if (again := frame.duplicated(KEY)).any():
        row = int(np.flatnonzero(again)[0])
        raise ValueError(
            f"{path}:{lines[row]}: document {documents[row]!r} of query {queries[row]!r} is also on a line above; "
            "keep one of them"
        )
    return frame


def _wordlike(name: str, frame: Any) -> Any:
    """Return the frame; raise unless its ids are single words."""
    for column in KEY:
        bad = (frame[column].str.contains(r"\s", regex=True) | (frame[column] == "")).to_numpy(dtype=bool)
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise ValueError(
                f"{column} is {frame[column][row]!r} in row {row} of {name}: TREC's files need ids without white space"
            )
    return frame


def _write(path: Path, lines: Iterable[str]) -> None:
    with replacing(path) as raw, SUFFIX.get(path.suffix, lambda file, mode: file)(raw, "wb") as file:
        file.writelines(line.encode() for line in lines)
