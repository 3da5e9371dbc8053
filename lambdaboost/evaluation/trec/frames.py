"""Conversion between TREC runs and qrels and lambdaboost's scores and `Queries`.

A run frame has the columns ``query_id, doc_id, score``, a qrels frame ``query_id, doc_id, relevance``. Input may be
of pandas, polars or pyarrow, output is of pandas. Ids are text; whole numbers are converted. Errors name the first row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._words import listed, shown
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.comparison.system import System
from lambdaboost.evaluation.measure import check_scores
from lambdaboost.evaluation.rankings import ranking

KEY = ["query_id", "doc_id"]
Figure = Literal["score", "relevance"]
Floats = NDArray[np.float64]
JudgedRun = tuple[Floats, Queries, NDArray[np.str_]]


def from_run(qrels: Any, run: Any) -> JudgedRun:
    """Convert a run and its judgments to scores and `Queries`; measures then agree with trec_eval.

    The queries are those of the qrels, in their order; other queries of the run are ignored. The documents of a query
    are those judged and those retrieved:

    - retrieved without a judgment, or with a negative one (junk, in the web tracks): the label is NaN, so the gain is
      0, and `BPref` and pairwise measures ignore the document;
    - judged but not retrieved: the score is −inf. The document counts in the ideal DCG, in recall and in the number
      of relevant documents, but has gain 0; pairwise measures rank it below all retrieved documents;
    - judged queries that the run lacks count as 0, as in ``trec_eval -c``.

    Documents of equal score rank by id, descending, as in trec_eval: the rows of a query are in that order.
    (trec_eval 9, used by pytrec_eval and ir-measures, stores scores as float32 and may see ties where float64 has none.
    trec_eval 10 stores float64. RR@k in ir-measures is MS MARCO's, whose ties rank by id, ascending.)

    Parameters
    ----------
    qrels, run : DataFrames of pandas, polars or pyarrow
        Such as `read_trec_qrels` and `read_trec_run` give.

    Returns
    -------
    scores : float64 (n_documents,)
        The run's scores; −inf for documents that it did not retrieve.
    queries : Queries
        The judgments; NaN for unjudged documents. ``queries.ids`` are the query ids.
    documents : array of str (n_documents,)
        The document ids.

    Raises
    ------
    ValueError, TypeError
        If a frame lacks a column, is empty, repeats a document or has a non-finite value, or the two share no query.

    Examples
    --------
    >>> import pandas as pd
    >>> qrels = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "relevance": [1, 2]})
    >>> run = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["c", "a"], "score": [0.9, 0.5]})
    >>> scores, q, documents = from_run(qrels, run)
    >>> documents, scores, q.relevance
    (array(['c', 'b', 'a'], dtype='<U1'), array([ 0.9, -inf,  0.5]), array([nan,  2.,  1.], dtype=float32))

    """
    (scores,), queries, documents = _pooled(qrels, {"run": run})
    return scores, queries, documents


def from_runs(qrels: Any, runs: Mapping[str, Any]) -> tuple[System, ...]:
    """Convert several runs, by their names, to systems for `compare`: as `from_run`, on the documents of all of them.

    Raises
    ------
    ValueError, TypeError
        As `from_run`, and if one run ranks a judged query that another lacks.

    Examples
    --------
    >>> import pandas as pd
    >>> from lambdaboost.evaluation import MRR, compare
    >>> qrels = pd.DataFrame({"query_id": ["q", "r"], "doc_id": ["a", "a"], "relevance": [1, 1]})
    >>> before = qrels.assign(score=1.0)
    >>> after = pd.concat([before, before.assign(doc_id="b", score=2.0)])
    >>> compare(*from_runs(qrels, {"before": before, "after": after}), measures=MRR())["after", MRR()].mean
    -0.5

    """
    if not isinstance(runs, Mapping) or not runs:
        raise TypeError(f"runs is {type(runs).__name__}, expected a dict of at least one run by its name")
    scores, queries, _ = _pooled(qrels, runs)
    _check_covered(scores, queries, list(runs))
    return tuple(System(name, s, queries) for name, s in zip(runs, scores, strict=True))


def to_run(scores: ArrayLike, queries: Queries, documents: ArrayLike | None = None) -> Any:
    """Convert scores to a run frame, the documents of each query in rank order.

    A document of score −inf was not retrieved and is left out. Queries without ids are numbered from 1, and rows from 0
    where no `documents`, such as ``collection.documents``, are given.

    Raises
    ------
    ValueError, TypeError
        If scores or documents do not match the queries, or a document is repeated in a query.

    Examples
    --------
    >>> print(to_run([0.1, 0.9], Queries([1, 0], ids=["q", "q"]), ["a", "b"]).to_string(index=False))
    query_id doc_id  score
           q      b    0.9
           q      a    0.1

    """
    named = _named(queries, documents)
    s = check_scores(scores, queries)
    rows = np.repeat(queries.offsets[:-1], queries.sizes) + ranking(s, queries.offsets)
    return named.assign(score=s).iloc[rows[s[rows] > -np.inf]].reset_index(drop=True)


def to_qrels(queries: Queries, documents: ArrayLike | None = None, source: str = "relevance") -> Any:
    """Convert the labels of one source to a qrels frame, int64 where all are whole, without NaN; ids as in `to_run`.

    Raises
    ------
    ValueError, TypeError
        If the label source does not exist or has no label, or a document is repeated in a query.

    Examples
    --------
    >>> print(to_qrels(Queries([1, 0], ids=["q", "q"]), ["a", "b"]).to_string(index=False))
    query_id doc_id  relevance
           q      a          1
           q      b          0

    """
    named = _named(queries, documents)
    labels = queries.source(source).astype(np.float64)
    judged = np.flatnonzero(~np.isnan(labels))
    if not judged.size:
        raise ValueError(f"{source} has no labels: give a source with judgments")
    frame = named.assign(relevance=labels).iloc[judged].reset_index(drop=True)
    whole = (frame.relevance == np.floor(frame.relevance)).all()
    return frame.astype({"relevance": np.int64}) if whole else frame


def _pooled(qrels: Any, runs: Mapping[str, Any]) -> tuple[list[Floats], Queries, NDArray[np.str_]]:
    """Scores of each run, the queries and the documents: queries as in the qrels, all their documents from Z to A."""
    import pandas as pd

    judged = checked("qrels", qrels, "relevance")
    scored = {name: checked(name, run, "score") for name, run in runs.items()}
    for name, run in scored.items():
        if not run.query_id.isin(judged.query_id).any():
            raise ValueError(
                f"{name} and qrels share no query: the first of {name} is {run.query_id[0]!r}, the first of qrels "
                f"{judged.query_id[0]!r}; give both the same query ids"
            )
    pool = pd.concat([table[KEY] for table in (judged, *scored.values())]).drop_duplicates()
    pool = pool[pool.query_id.isin(judged.query_id)]
    pool = pool.assign(place=pd.factorize(pool.query_id)[0])
    pool = pool.sort_values(["place", "doc_id"], ascending=[True, False])
    scores = [
        pool.merge(run, "left", KEY).score.fillna(-np.inf).to_numpy(np.float64) for run in scored.values()
    ]
    relevance = pool.merge(judged, "left", KEY).relevance.to_numpy(np.float64)
    queries = Queries(np.where(relevance < 0, np.nan, relevance), ids=pool.query_id.to_numpy(np.str_))
    return scores, queries, pool.doc_id.to_numpy(np.str_)


def _check_covered(scores: list[Floats], queries: Queries, names: list[str]) -> None:
    """Raise if a run lacks a query that another ranks."""
    ranks = [np.maximum.reduceat(s, queries.offsets[:-1]) > -np.inf for s in scores]
    for name, has in zip(names[1:], ranks[1:], strict=True):
        if (apart := np.flatnonzero(has != ranks[0])).size:
            lacks, other = (names[0], name) if has[apart[0]] else (name, names[0])
            assert queries.ids is not None
            raise ValueError(
                f"{lacks!r} has no documents for query {str(queries.ids[apart[0]])!r}, which {other!r} ranks: "
                "compare runs over the same queries, or leave the query out of the qrels"
            )


def _named(queries: Queries, documents: ArrayLike | None) -> Any:
    """The query_id and doc_id of every row."""
    import pandas as pd

    if not isinstance(queries, Queries):
        raise TypeError(f"queries is a {type(queries).__name__}: give Queries(relevance, sizes=…)")
    n = queries.n_documents
    ids = np.arange(1, queries.n_queries + 1) if queries.ids is None else queries.ids
    names = np.arange(n) if documents is None else np.asarray(documents)
    if names.shape != (n,):
        raise ValueError(f"documents has shape {names.shape}, expected ({n},): one id per document")
    of_rows = np.repeat(ids.astype(np.str_).astype(object), queries.sizes)
    frame = pd.DataFrame({"query_id": of_rows, "doc_id": names.astype(np.str_).astype(object)})
    refuse_twice("documents", frame)
    return frame


def checked(name: str, frame: Any, figure: Figure) -> Any:
    """The columns query_id, doc_id and `figure` of a frame, as a pandas frame with ids as text.

    `name` is the frame's name in error messages, which count rows from 0.
    """
    import pandas as pd

    columns = [*KEY, figure]
    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise TypeError(
            f"{name} is a {type(frame).__name__}: give a DataFrame (pandas, polars, pyarrow) with the columns "
            f"{', '.join(columns)}, such as pandas.DataFrame({name}) of ir_measures' tuples"
        ) from None
    if missing := [c for c in columns if c not in table.columns]:
        raise ValueError(
            f"{name} has no column {missing[0]!r}, only {listed(table.columns)}: rename its columns"
        )
    if not len(table):
        raise ValueError(f"{name} is empty: give at least one document of one query")
    out = pd.DataFrame({c: _texts(name, table[c]) for c in KEY})
    out[figure] = _numbers(name, table[figure], out)
    refuse_twice(name, out)
    return out


def refuse_twice(name: str, frame: Any) -> None:
    """Raise for the first document that is repeated in a query."""
    if (row := first(frame.duplicated(KEY))) is not None:
        query, doc = (frame[c].iloc[row] for c in KEY)
        before = first((frame.query_id == query) & (frame.doc_id == doc))
        raise ValueError(
            f"{name} has document {shown(doc)} of query {shown(query)} twice, in rows {before} and {row}: keep one, "
            "such as the first by drop_duplicates(['query_id', 'doc_id'])"
        )


def first(chosen: Any) -> int | None:
    """The first row that is true."""
    rows = np.flatnonzero(chosen)
    return int(rows[0]) if rows.size else None


def _texts(name: str, ids: nw.Series[Any]) -> list[str]:
    """Ids as text, so that 301 in one frame matches '301' in another."""
    if (row := first(ids.is_null().to_numpy())) is not None:
        raise ValueError(
            f"{ids.name} is missing in row {row} of {name}: give a query and a document in every row"
        )
    if ids.dtype.is_float() or ids.dtype == nw.Boolean:
        raise TypeError(f"{ids.name} of {name} is {ids.dtype}: give ids as text or whole numbers")
    return list(map(str, ids.to_list()))


def _numbers(name: str, figures: nw.Series[Any], ids: Any) -> Any:
    if not figures.dtype.is_numeric():
        raise TypeError(f"{figures.name} of {name} is {figures.dtype}: give numbers")
    values = np.array(figures.cast(nw.Float64).to_list(), dtype=np.float64)
    if (row := first(~np.isfinite(values))) is not None:
        raise ValueError(
            f"{figures.name} is {values[row]} in row {row} of {name} (query {shown(ids.query_id[row])}, document "
            f"{shown(ids.doc_id[row])}): give a finite number, or leave the row out"
        )
    return values
