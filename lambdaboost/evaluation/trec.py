"""TREC runs and qrels: files and pandas frames of them, and the scores and `Queries` that they hold.

A run frame has the columns ``query_id, doc_id, score``, a qrels frame ``query_id, doc_id, relevance``; ids are text.

Of trec_eval's values, ``map``, ``recip_rank``, ``P_k``, ``recall_k`` and ``bpref`` are those of `MAP()`,
`MRR()`, `Precision(k)`, `Recall(k)` and `BPref()`; ``ndcg`` and ``ndcg_cut_k`` are those of
``NDCG(k, gain="linear")``. Not equal are `NDCG(k)`, whose gain is 2^l − 1, and ``map_cut_k``, which divides by R where
`MAP(k)` divides by min(R, k). trec_eval reads scores as float32, so that scores closer than that tie there.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._files import SUFFIX, reading, replacing
from lambdaboost._warn import warn
from lambdaboost._words import listed, quote
from lambdaboost.datasets import Queries
from lambdaboost.datasets.arrays import check_order
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation.rankings import ranking

KEY = ["query_id", "doc_id"]
RUN, QRELS = "query Q0 document rank score tag", "query subtopic document grade"  # the fields of a line
MARK = b"\xef\xbb\xbf"  # of UTF-8, which editors write at the beginning of a file
MAXIMUM = "groupby(['query_id', 'doc_id'], sort=False, as_index=False).max()"


def read_trec_run(path: str | Path) -> Any:
    """Read a file of lines ``query Q0 document rank score tag``, plain or compressed, as a run frame in file order.

    Ranks, tags and what follows them are ignored, as in trec_eval; so are blank lines, and those that begin with ``#``
    and are no line of a run. Raises ValueError, with file and line, for a missing field, a score that is no finite
    number, or a document twice.
    """
    return _read(Path(path), RUN, 4, float, "score")


def read_trec_qrels(path: str | Path) -> Any:
    """Read a file of lines ``query subtopic document grade``, plain or compressed, as a qrels frame in file order.

    As `read_trec_run`; grades are whole numbers, those below 0 are kept, and no text may follow them. A document that
    was judged for several subtopics, which the second field names, has the highest of its grades.
    """
    judged = _read(Path(path), QRELS, 3, np.int64, "relevance")
    return judged.groupby(KEY, sort=False, as_index=False).max()


def _read(path: Path, form: str, at: int, convert: Callable[[str], Any], column: str) -> Any:
    """A frame of the query, the document and the number of each line; `form` has the fields, the number is field `at`.

    A document may be in a run once, and in qrels once for each subtopic.
    """
    import pandas as pd

    rows, n = [], len(form.split())
    line_of: dict[tuple[str, str, str], int] = {}
    with reading(path) as file:
        for line, text in enumerate(file, 1):
            if line == 1:
                text = text.removeprefix(MARK)
            # Bytes are split at ASCII blanks alone, as by trec_eval.
            fields = text.split(None, n)
            if not fields:
                continue
            try:
                if len(fields) < n or (len(fields) > n and form == QRELS):
                    raise ValueError("it has other fields")
                query, subtopic, document = (field.decode() for field in fields[:3])
                number = fields[at].decode()
                if "_" in number:  # Python reads 1_000 as 1000
                    raise ValueError(f"{number!r} is no number")
                value = convert(number)
                if not math.isfinite(value):
                    raise ValueError(f"score {number} is not finite")
            except (ValueError, OverflowError) as error:
                if fields[0].startswith(b"#"):  # a comment
                    continue
                raise ValueError(f"line {line} of {path}: {error}; expected lines {form!r}") from None
            key = query, document, subtopic if form == QRELS else ""
            if key in line_of:
                again = f"document {quote(document)} of query {quote(query)}, as line {line_of[key]}"
                raise ValueError(f"line {line} of {path} repeats {again}: remove one of them")
            line_of[key] = line
            rows.append((query, document, value))
    if not rows:
        raise ValueError(f"{path} is empty: expected lines {form!r}")
    return pd.DataFrame(rows, columns=[*KEY, column])


def write_trec_run(path: str | Path, run: Any, tag: str = "lambdaboost") -> None:
    """Write a run frame, such as `to_run` gives, as a run file; scores are written exactly, `tag` ends each line.

    Documents are ordered by score, and ties by id, descending, as trec_eval ranks them. A `path` in ``.gz``, ``.xz`` or
    ``.bz2`` is compressed; an old file is replaced once the new one is whole. Raises ValueError for a frame that
    `from_runs` refuses, and for an id or tag that is not one word.
    """
    frame = _check_frame("run", run, "score").assign(Q0="Q0", tag=str(tag))
    frame["place"] = frame.groupby("query_id", sort=False).ngroup()
    frame = frame.sort_values(["place", "score", "doc_id"], ascending=[True, False, False], kind="stable")
    frame["rank"] = frame.groupby("place").cumcount() + 1
    _write(Path(path), frame[["query_id", "Q0", "doc_id", "rank", "score", "tag"]])


def write_trec_qrels(path: str | Path, qrels: Any) -> None:
    r"""Write a qrels frame of whole grades, such as `to_qrels` gives, as a qrels file; otherwise as `write_trec_run`.

    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> path = pathlib.Path(tempfile.mkdtemp(), "qrels.txt")
    >>> write_trec_qrels(path, pd.DataFrame({"query_id": [301], "doc_id": ["FT941-1"], "relevance": [2]}))
    >>> path.read_text()
    '301 0 FT941-1 2\n'
    """
    frame = _check_frame("qrels", qrels, "relevance")
    whole = frame["relevance"].astype(np.int64)
    bad = whole != frame["relevance"]
    _refuse(bad, "qrels", frame, "has a grade that is not a whole number, or beyond int64; round it")
    frame = frame.assign(zero="0", relevance=whole)
    _write(Path(path), frame[["query_id", "zero", "doc_id", "relevance"]])


def _write(path: Path, frame: Any) -> None:
    for column in frame:
        word = frame[column].astype(str)
        bad = (word == "") | word.str.contains(r"[ \t-\r]")
        _refuse(bad, "the frame", frame, f"has a {column} that is not one word, which TREC's files need")
    with replacing(path) as raw, SUFFIX.get(path.suffix, lambda file, mode: file)(raw, "wb") as file:
        frame.to_csv(file, sep=" ", header=False, index=False, quoting=csv.QUOTE_NONE, lineterminator="\n")


def from_runs(qrels: Any, runs: Mapping[str, Any]) -> tuple[dict[str, NDArray[np.float64]], Queries]:
    """Convert runs by name, and their judgments, to scores and `Queries`, on which measures agree with trec_eval.

    Which measures do is said above. The queries are those of the qrels, in their order, and their documents those
    judged or retrieved by any run:

    - retrieved without a judgment, or with a negative one: the label is NaN, so the gain is 0, and `BPref` and pairwise
      measures ignore the document;
    - judged but not retrieved: the score is −inf, which gains 0 and counts in the ideal and among the relevant ones.

    Documents of equal score rank by id, descending. A judged query that a run lacks counts as 0, as in
    ``trec_eval -c``; in `KendallTau`, as −1; a warning says where a run lacks more than half of them. Frames may be of
    pandas, polars or pyarrow.

    Raises
    ------
    ValueError, TypeError
        If a frame lacks a column, is empty, repeats a document or has a non-finite value, or a run shares no query with
        the qrels.

    Examples
    --------
    >>> import pandas as pd
    >>> from lambdaboost.evaluation import MRR, compare
    >>> qrels = pd.DataFrame({"query_id": ["q", "r"], "doc_id": ["a", "a"], "relevance": [1, 1]})
    >>> before = qrels.assign(score=1.0)
    >>> after = pd.concat([before, before.assign(doc_id="b", score=2.0)])
    >>> compare(*from_runs(qrels, {"before": before, "after": after}), measures=MRR())["after", MRR()].difference
    -0.5

    """
    import pandas as pd

    if not isinstance(runs, Mapping) or not runs:
        raise TypeError(
            f"runs is of type {type(runs).__name__}, expected a dict of at least one run by its name"
        )
    judged = _check_frame("qrels", qrels, "relevance")
    scored = {name: _check_frame(f"run {quote(name)}", run, "score") for name, run in runs.items()}
    queries_judged = judged["query_id"].drop_duplicates()
    for name, run in scored.items():
        shared, n = int(queries_judged.isin(run["query_id"]).sum()), len(queries_judged)
        if not shared:
            raise ValueError(f"run {quote(name)} and qrels share no query: give both the same query ids")
        if shared < n / 2:
            warn(
                f"run {quote(name)} has {shared:,} of the {n:,} judged queries; the others count as 0: are ids the "
                "same text in both, or '01' in one and '1' in the other?"
            )
    pool = pd.concat([table[KEY] for table in (judged, *scored.values())]).drop_duplicates()
    pool = pool[pool["query_id"].isin(judged["query_id"])]
    pool = pool.assign(place=pd.factorize(pool["query_id"])[0])
    pool = pool.sort_values(["place", "doc_id"], ascending=[True, False])
    relevance = pool.merge(judged, "left", KEY)["relevance"].to_numpy(np.float64)
    queries = Queries(np.where(relevance < 0, np.nan, relevance), ids=pool["query_id"].to_numpy())
    scores = {name: pool.merge(run, "left", KEY)["score"].fillna(-np.inf) for name, run in scored.items()}
    return {name: s.to_numpy(np.float64) for name, s in scores.items()}, queries


def to_run(scores: ArrayLike, queries: Queries, documents: ArrayLike | None = None) -> Any:
    """Convert scores to a run frame, the documents of each query in rank order, without those of score −inf.

    Queries without ids are numbered from 1, and rows from 0 where no ids of `documents` are given. Scores that tie are
    in input order here, as in measures, but `write_trec_run`, `from_runs` and trec_eval order them by id, descending.

    >>> print(to_run([0.1, 0.9], Queries([1, 0], ids=["q", "q"]), ["a", "b"]).to_string(index=False))
    query_id doc_id  score
           q      b    0.9
           q      a    0.1
    """
    frame, s = _name_rows(queries, documents), queries.scores(scores, allow_minus_infinity=True)
    rows = np.repeat(queries.offsets[:-1], queries.sizes) + ranking(s, queries.offsets)
    return frame.assign(score=s).iloc[rows[s[rows] > -np.inf]].reset_index(drop=True)


def to_qrels(queries: Queries, documents: ArrayLike | None = None, source: str = RELEVANCE) -> Any:
    """Convert the labels of one source to a qrels frame, int64 where all are whole, without NaN; ids as in `to_run`."""
    frame = _name_rows(queries, documents).assign(relevance=queries.source(source).astype(np.float64))
    frame = frame.dropna().reset_index(drop=True)
    if frame.empty:
        raise ValueError(f"{source} has no labels: give a source with judgments")
    if (frame["relevance"] % 1 == 0).all():
        frame = frame.astype({"relevance": np.int64})
    return frame


def _name_rows(queries: Queries, documents: ArrayLike | None) -> Any:
    """The query_id and doc_id of every row."""
    import pandas as pd

    if not isinstance(queries, Queries):
        raise TypeError(f"queries is of type {type(queries).__name__}: give Queries(relevance, sizes=…)")
    n, ids = queries.n_documents, queries.ids
    if ids is None:
        ids = np.arange(1, queries.n_queries + 1)
    if documents is None:
        documents = np.arange(n)
    elif queries.index is not None:
        check_order("documents", documents, RELEVANCE, queries.index.to_series())
    names = np.asarray(documents)
    if names.shape != (n,):
        raise ValueError(f"documents has shape {names.shape}, expected ({n},): one id per document")
    table = pd.DataFrame({"query_id": np.repeat(ids, queries.sizes), "doc_id": names})
    frame = _ids_as_text("queries and documents", table)
    _refuse(frame.duplicated(KEY), "queries and documents", frame, "repeats a document; keep one of them")
    return frame


def _ids_as_text(name: str, table: Any) -> Any:
    """The columns query_id and doc_id as text, so that 301 is '301'."""
    for c in KEY:
        if table[c].dtype.kind == "f":
            raise TypeError(f"{c} of {name} is {table[c].dtype}: give text or whole numbers")
        _refuse(table[c].isna(), name, table, f"has no {c}; give one, or leave the row out")
    return table[KEY].astype(str)


def _check_frame(name: str, frame: Any, column: str) -> Any:
    """The columns query_id, doc_id and `column` as a pandas frame, ids as text."""
    try:
        table = nw.from_native(frame, eager_only=True).to_pandas().reset_index(drop=True)
    except TypeError:
        kind = type(frame).__name__
        raise TypeError(f"{name} is of type {kind}: give a DataFrame (pandas, polars, pyarrow)") from None
    if missing := [c for c in (*KEY, column) if c not in table]:
        raise ValueError(f"{name} has no column {missing[0]!r}, only {listed(table)}: rename its columns")
    if table[column].dtype.kind not in "biuf":
        raise TypeError(f"{column} of {name} is {table[column].dtype}: give numbers")
    out = _ids_as_text(name, table).assign(**{column: table[column].to_numpy(np.float64, na_value=np.nan)})
    if out.empty:
        raise ValueError(f"{name} is empty: give at least one document of one query")
    _refuse(~np.isfinite(out[column]), name, out, f"has no finite {column}; give one, or leave the row out")
    again = f"repeats a document of a query; keep one, of several subtopics the maximum: {MAXIMUM}"
    _refuse(out.duplicated(KEY), name, out, again)
    return out


def _refuse(bad: Any, name: str, frame: Any, what: str) -> None:
    """Raise for the first row that is bad."""
    if bad.any():
        row = bad.idxmax()
        query, document = (quote(frame[c][row]) for c in KEY)
        raise ValueError(f"row {row} of {name} (query {query}, document {document}) {what}")
