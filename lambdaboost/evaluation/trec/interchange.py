"""Conversion between TREC runs and qrels and lambdaboost's scores and `Queries`.

A run frame has the columns ``query_id, doc_id, score``, a qrels frame ``query_id, doc_id, relevance``. Input may be
pandas or polars, output is pandas. Ids are text; whole numbers are converted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import _checks
from lambdaboost.evaluation.comparison.system import System
from lambdaboost.evaluation.ranking import ranking
from lambdaboost.evaluation.trec.frames import KEY, checked, refuse_twice


class JudgedRun(NamedTuple):
    """The result of `from_run`: ``scores, queries, documents``.

    Attributes
    ----------
    scores : float64 (n_documents,)
        The run's scores; −inf for documents that it did not retrieve.
    queries : Queries
        The judgments; NaN for unjudged documents. ``queries.ids`` are the query ids.
    documents : array of str (n_documents,)
        The document ids.

    """

    scores: NDArray[np.float64]
    queries: Queries
    documents: NDArray[np.str_]


def from_run(qrels: Any, run: Any, **sources: Any) -> JudgedRun:
    """Convert a run and its judgments to scores and `Queries`; measures then agree with trec_eval.

    The queries are those of the qrels, in their order; other queries of the run are ignored. The documents of a query
    are those judged and those retrieved:

    - retrieved without a judgment, or with a negative one (junk, in the web tracks): the label is NaN, so the gain is
      0, and `BPref` and pairwise measures ignore the document;
    - judged but not retrieved: the score is −inf. The document counts in the ideal DCG, in recall and in the number
      of relevant documents, but has gain 0; pairwise measures rank it below all retrieved documents;
    - judged queries that the run lacks count as 0, as in ``trec_eval -c``.

    Documents of equal score rank by id, descending, as in trec_eval: the rows of a query are in that order.
    (trec_eval 9, used by pytrec_eval and ir-measures, stores scores as float32 and may see ties where float64 has none;
    `untied` avoids them. trec_eval 10 stores float64. RR@k in ir-measures is MS MARCO's, whose ties rank by id,
    ascending.)

    Parameters
    ----------
    qrels : pandas.DataFrame or polars.DataFrame
        Columns ``query_id, doc_id, relevance``, such as `read_trec_qrels` gives.
    run : pandas.DataFrame or polars.DataFrame
        Columns ``query_id, doc_id, score``, such as `read_trec_run` gives.
    **sources : frames like `qrels`
        Further label sources by name, such as ``clicks=``.

    Returns
    -------
    JudgedRun
        The tuple ``(scores, queries, documents)``.

    Raises
    ------
    ValueError, TypeError
        If a frame lacks a column, is empty, repeats a document or has a non-finite value, or the two share no query;
        names the first row.

    Examples
    --------
    >>> import pandas as pd
    >>> from lambdaboost.evaluation import MAP
    >>> qrels = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "relevance": [1, 2]})
    >>> run = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["c", "a"], "score": [0.9, 0.5]})
    >>> scores, q, documents = from_run(qrels, run)
    >>> documents, scores, q.relevance
    (array(['c', 'b', 'a'], dtype='<U1'), array([ 0.9, -inf,  0.5]), array([nan,  2.,  1.], dtype=float32))
    >>> MAP()(scores, q)
    0.25

    """
    (scores,), queries, documents = _pooled(qrels, {"run": run}, sources)
    return JudgedRun(scores, queries, documents)


def from_runs(qrels: Any, runs: Mapping[str, Any], **sources: Any) -> tuple[System, ...]:
    """Convert several runs over the same judgments to systems for `compare`.

    Like `from_run`, on the documents of all runs together.

    Parameters
    ----------
    qrels : pandas.DataFrame or polars.DataFrame
        Columns ``query_id, doc_id, relevance``.
    runs : mapping of str to frames
        The frame of each run by its name in tables.
    **sources : frames like `qrels`
        Further label sources by name, such as ``clicks=``.

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
    scores, queries, _ = _pooled(qrels, runs, sources)
    _check_covered(scores, queries, list(runs))
    return tuple(System(name, s, queries) for name, s in zip(runs, scores, strict=True))


def to_run(scores: ArrayLike, queries: Queries, documents: ArrayLike | None = None) -> Any:
    """Convert scores to a run frame, the documents of each query in rank order.

    Parameters
    ----------
    scores : array of shape (n_documents,)
        Finite scores; a document of score −inf was not retrieved and is left out.
    queries : Queries
        The documents; queries without ids are numbered from 1.
    documents : array of str, shape (n_documents,), optional
        Document ids, such as ``collection.documents``; row numbers, from 0, without.

    Returns
    -------
    pandas.DataFrame
        Columns ``query_id, doc_id, score``.

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
    _check_queries(queries)
    s = _checks.scores(scores, queries)
    frame = _named(queries, documents).assign(score=s)
    rows = np.repeat(queries.offsets[:-1], queries.sizes) + ranking(s, queries.offsets)
    return frame.iloc[rows[s[rows] > -np.inf]].reset_index(drop=True)


def to_qrels(queries: Queries, documents: ArrayLike | None = None, source: str = "relevance") -> Any:
    """Convert the labels of one source to a qrels frame; documents without a label are left out.

    Parameters
    ----------
    queries : Queries
        The documents and their labels; queries without ids are numbered from 1.
    documents : array of str, shape (n_documents,), optional
        Document ids, such as ``collection.documents``; row numbers, from 0, without.
    source : str
        The label source.

    Returns
    -------
    pandas.DataFrame
        Columns ``query_id, doc_id, relevance``, the last as int64 where every label is whole.

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
    _check_queries(queries)
    labels = queries.source(source).astype(np.float64)
    judged = np.flatnonzero(~np.isnan(labels))
    if not judged.size:
        raise ValueError(f"{source} has no labels: give a source with judgments")
    frame = _named(queries, documents).assign(relevance=labels).iloc[judged].reset_index(drop=True)
    whole = (frame.relevance == np.floor(frame.relevance)).all()
    return frame.astype({"relevance": np.int64}) if whole else frame


def _pooled(
    qrels: Any, runs: Mapping[str, Any], sources: Mapping[str, Any]
) -> tuple[list[NDArray[np.float64]], Queries, NDArray[np.str_]]:
    """Scores of each run, and the queries, over the documents of all frames together."""
    judged = checked("qrels", qrels, "relevance")
    scored = [checked(name, run, "score") for name, run in runs.items()]
    labelled = [checked(name, frame, "relevance") for name, frame in sources.items()]
    for name, run in zip(runs, scored, strict=True):
        _check_shared(name, run, judged)
    queries_judged = judged.query_id.unique()
    tables = [table[table.query_id.isin(queries_judged)] for table in (judged, *scored, *labelled)]
    rows, query_ids, documents = _rows(tables)
    n = documents.size
    relevance = _spread(tables[0].relevance, rows[0], n, np.nan)
    scores = [
        _spread(table.score, at, n, -np.inf)
        for table, at in zip(tables[1 : 1 + len(scored)], rows[1:], strict=False)
    ]
    further = {
        name: _spread(table.relevance, at, n, np.nan)
        for name, table, at in zip(sources, tables[1 + len(scored) :], rows[1 + len(scored) :], strict=True)
    }
    queries = Queries(np.where(relevance < 0, np.nan, relevance), ids=query_ids, **further)
    return scores, queries, documents


def _rows(tables: list[Any]) -> tuple[list[NDArray[np.int64]], NDArray[np.str_], NDArray[np.str_]]:
    """The pooled row of each table's documents, and the pooled ids: queries in input order, documents from Z to A."""
    import pandas as pd

    pairs = pd.concat([table[KEY] for table in tables])
    query, queries = pd.factorize(pairs.query_id)
    doc, docs = pd.factorize(pairs.doc_id)
    from_z = np.argsort(np.asarray(docs, dtype=object))[::-1]
    place = np.empty_like(from_z)
    place[from_z] = np.arange(from_z.size)
    pool, row = np.unique(query * from_z.size + place[doc], return_inverse=True)
    parts = np.split(row, np.cumsum([len(table) for table in tables])[:-1])
    ids = np.asarray(queries, dtype=np.str_)[pool // from_z.size]
    return parts, ids, np.asarray(docs, dtype=np.str_)[from_z[pool % from_z.size]]


def _spread(figures: Any, rows: NDArray[np.int64], n: int, otherwise: float) -> NDArray[np.float64]:
    """An array of n rows with `figures` in `rows` and `otherwise` elsewhere."""
    out = np.full(n, otherwise)
    out[rows] = figures
    return out


def _check_shared(name: str, run: Any, qrels: Any) -> None:
    if not run.query_id.isin(qrels.query_id.unique()).any():
        raise ValueError(
            f"{name} and qrels share no query: the first of {name} is {run.query_id[0]!r}, the first of qrels "
            f"{qrels.query_id[0]!r}; give both the same query ids"
        )


def _check_covered(scores: list[NDArray[np.float64]], queries: Queries, names: list[str]) -> None:
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


def _check_queries(queries: object) -> None:
    if not isinstance(queries, Queries):
        raise TypeError(f"queries is a {type(queries).__name__}: give Queries(relevance, sizes=…)")


def _named(queries: Queries, documents: ArrayLike | None) -> Any:
    """The query_id and doc_id of every row."""
    import pandas as pd

    n = queries.n_documents
    ids = np.arange(1, queries.n_queries + 1) if queries.ids is None else queries.ids
    names = np.arange(n) if documents is None else np.asarray(documents)
    if names.shape != (n,):
        raise ValueError(f"documents has shape {names.shape}, expected ({n},): one id per document")
    of_rows = np.repeat(ids.astype(np.str_).astype(object), queries.sizes)
    frame = pd.DataFrame({"query_id": of_rows, "doc_id": names.astype(np.str_).astype(object)})
    refuse_twice("documents", frame)
    return frame
