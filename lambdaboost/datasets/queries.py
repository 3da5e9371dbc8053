"""`Queries`: documents grouped by query, with one or more sources of labels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._checks import RowError, check_new_source, check_rows, refuse_labels
from lambdaboost._words import counted, listed
from lambdaboost.datasets.arrays import (
    Positions,
    as_array,
    as_floats,
    check_order,
    factorize_in_order,
    labels_of,
    positions_of,
    query_ids,
    weights_of,
)

RELEVANCE = "relevance"
NEGATIVE = (
    "labels must be ≥ 0, except for measures and objectives of their order, such as Spearman(), RankNet() and "
    "LambdaRank(Spearman()): use these, or ranks within the query"
)
CHUNK = 1 << 17  # documents of a chunk: its temporary arrays are small compared with the labels of large data
NO_POSITIONS = None, None  # in place of codes and names
REMEMBERED = 128  # cached results per `Queries`; an objective needs about five


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Queries:
    r"""Documents grouped by query, with every label source and the weights; immutable.

    Parameters
    ----------
    relevance : array of shape (n_documents,)
        Grades, finite, not necessarily integers; NaN where missing. Labels below 0, such as returns, are for measures
        and objectives of their order, such as `Spearman`; all others refuse them.
    sizes : array of int, shape (n_queries,), optional
        Number of documents of each query, in row order, each ≥ 1, summing to n_documents (LightGBM's ``group``).
    ids : array of shape (n_documents,), optional
        The query of each row, the rows of a query adjacent (XGBoost's ``qid``). Give either `sizes` or `ids`.
    weight : array, optional
        One weight ≥ 0 per query or per document. Weights multiply gradient and Hessian; in measures a query counts by
        the mean weight of its rows.
    position : array of shape (n_documents,), optional
        Where each row was shown: its rank, a whole number from 1, or the category of any other bias factor, as text or
        as a categorical; missing (NaN, None) where it was not shown. Each session is a query of its own.
    **sources : arrays of shape (n_documents,)
        Further label sources by name, such as ``clicks=``, like `relevance`.

    Attributes
    ----------
    offsets : int64 (n_queries + 1,)
        Query q holds rows ``offsets[q]:offsets[q + 1]``.
    labels : mapping of str to float32 (n_documents,)
        Every source by name, ``"relevance"`` first; read-only.
    ids : array (n_queries,) or None
        The id of each query, if ids were given.
    position : int32 (n_documents,), or None
        The rank, or the code of the category: 1 for the first of `position_names`, and so on; 0 where a row was not
        shown. Read-only.
    position_names : tuple of str, or None
        The categories in sorted order; None if positions are ranks.
    index : pandas.Index, or None
        The index of `relevance`, where that is a pandas column: scores with an index are checked against it.

    Raises
    ------
    ValueError
        If an argument is invalid; names it, the first invalid row or value, and what is expected.

    Examples
    --------
    >>> q = Queries([2, 0, 1, 1, 0], sizes=[3, 2], clicks=[0.5, 0.0, 0.1, float("nan"), 0.0])
    >>> q
    Queries(5 documents in 2 queries; relevance, clicks)
    >>> q.offsets
    array([0, 3, 5])
    >>> Queries([1, 0, 1], ids=["a", "a", "b"]).sizes
    array([2, 1])
    >>> Queries([1, 0, 0], sizes=[3], position=[2, 1, None]).position
    array([2, 1, 0], dtype=int32)

    """

    offsets: NDArray[np.int64]
    labels: Mapping[str, NDArray[np.float32]]
    ids: NDArray[Any] | None
    weight: NDArray[np.float32] | None
    position: NDArray[np.int32] | None
    position_names: tuple[str, ...] | None
    index: Any

    def __init__(
        self,
        /,
        relevance: ArrayLike,
        sizes: ArrayLike | None = None,
        *,
        ids: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        position: ArrayLike | Positions | None = None,
        **sources: ArrayLike,
    ) -> None:
        for name, of_rows in {"ids": ids, "weight": weight, "position": position, **sources}.items():
            check_order(name, of_rows, RELEVANCE, relevance)
        labels = {RELEVANCE: labels_of(RELEVANCE, relevance)}
        n = labels[RELEVANCE].size
        if (sizes is None) == (ids is None):
            raise ValueError("give one of sizes= (documents of each query) and ids= (query of each row)")

        # Rows of each query, by their number or by the id of each row.
        offsets: NDArray[np.int64]
        of_query: NDArray[Any] | None = None
        if ids is None:
            offsets = offsets_of_sizes("sizes", sizes, n)
        else:
            of_row = query_ids("ids", ids)
            if of_row.shape != (n,) or n == 0:
                raise ValueError(
                    f"ids has shape {of_row.shape}, relevance has {n} rows: give the query of each row, of one at least"
                )
            starts = np.append(0, np.flatnonzero(of_row[1:] != of_row[:-1]) + 1)
            offsets, of_query = np.append(starts, n), of_row[starts]
            _, first = factorize_in_order(of_query)
            if first.size < starts.size:
                again = np.setdiff1d(np.arange(starts.size), first)[0]
                what = f"is {listed(of_query[[again]])} again, after other queries"
                raise RowError(
                    "ids", int(starts[again]), what, "sort the rows by query, so that each is whole"
                )

        # What belongs to the rows; weights of queries become those of their rows.
        for name, values in sources.items():
            labels[name] = _source(name, values, n)
        codes, names = _positions(position, n)
        weights = None
        if weight is not None:
            query_of_row = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
            weights = weights_of_rows(weight, query_of_row, of_query)
        index = getattr(relevance, "index", None) if hasattr(relevance, "iloc") else None
        self.__dict__.update(vars(queries_of(offsets, labels, of_query, weights, codes, names, index)))

    def __reduce__(self) -> tuple[Any, ...]:
        of_rows = self.weight, self.position, self.position_names, self.index
        return queries_of, (self.offsets, dict(self.labels), self.ids, *of_rows)

    def _with(self, **checked: Any) -> Queries:
        """These queries with other arrays, which are checked already."""
        kept = {name: value for name, value in vars(self).items() if name != "_memo"}
        return queries_of(**kept | checked)

    def __repr__(self) -> str:
        documents, queries = (
            counted(self.n_documents, "document"),
            counted(self.n_queries, "query", "queries"),
        )
        return f"Queries({documents} in {queries}; {', '.join(self.columns)})"

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the label sources, and "position" if there are positions."""
        names = tuple(self.labels)
        if self.position is not None:
            names += ("position",)
        return names

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self.offsets.size - 1

    @property
    def n_documents(self) -> int:
        """Number of documents: the rows of the data."""
        return int(self.offsets[-1])

    @property
    def relevance(self) -> NDArray[np.float32]:
        """The grades: ``source("relevance")``, which are ≥ 0."""
        return self.source(RELEVANCE)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of documents of each query, shape (n_queries,)."""
        return np.diff(self.offsets)

    @property
    def query_of_row(self) -> NDArray[np.int64]:
        """Index of each row's query, shape (n_documents,)."""
        return np.repeat(np.arange(self.n_queries), self.sizes)

    @property
    def query_weight(self) -> NDArray[np.float64]:
        """Weight of each query in a mean over queries, shape (n_queries,): the mean weight of its rows, or 1."""
        if self.weight is None:
            return np.ones(self.n_queries)
        return np.add.reduceat(self.weight.astype(np.float64), self.offsets[:-1]) / self.sizes

    def source(self, name: str, *, allow_negative: bool = False) -> NDArray[np.float32]:
        """The labels of one source, float32 (n_documents,).

        Raises
        ------
        ValueError
            If the source does not exist, or a label is below 0 and not `allow_negative`.

        """
        try:
            labels = self.labels[name]
        except KeyError:
            known = ", ".join(self.labels)
            raise ValueError(
                f"no label source {name!r} here, only {known}: give it as {name}=… to Queries, or to the data set by "
                f"attach(data, {name}=…)"
            ) from None
        if not allow_negative and self.memo(("below 0", name), lambda: bool((labels < 0).any())):
            refuse_labels(name, labels, labels < 0, NEGATIVE)
        return labels

    def is_ordered(self, name: str) -> NDArray[np.bool_]:
        """Whether each query has two documents of different labels in a source, bool (n_queries,); NaN is no label.

        >>> Queries([1, 1, 0, 1], sizes=[2, 2]).is_ordered("relevance")
        array([False,  True])
        """
        labels = self.source(name, allow_negative=True)
        high, low = (limit.reduceat(labels, self.offsets[:-1]) for limit in (np.fmax, np.fmin))
        different: NDArray[np.bool_] = high > low
        return different

    def required_position(self) -> NDArray[np.int32]:
        """The position of each row; raises ValueError if there are no positions."""
        if self.position is None:
            raise ValueError(
                "no positions here: give the rank of each row, from 1, as position=… to Queries, or to the data set by "
                "attach(data, position=…)"
            )
        return self.position

    def take(self, queries: ArrayLike) -> Queries:
        """Select queries by index or mask, in the order given.

        >>> Queries([2, 0, 1, 1, 0], sizes=[3, 2]).take([1]).relevance
        array([1., 0.], dtype=float32)
        """
        chosen = np.arange(self.n_queries)[np.atleast_1d(queries)]
        return self._taken(self.rows_of(chosen), chosen)

    def rows_of(self, queries: ArrayLike) -> NDArray[np.int64]:
        """Row indices of queries given by index or mask, in that order."""
        chosen = np.arange(self.n_queries)[np.atleast_1d(queries)]
        sizes = self.sizes[chosen]
        starts = np.cumsum(sizes) - sizes
        return np.arange(sizes.sum()) + np.repeat(self.offsets[:-1][chosen] - starts, sizes)

    def shuffled_rows(self, seed: int = 0) -> NDArray[np.int64]:
        """A seeded random order of rows that shuffles the documents inside each query.

        Files are often sorted by grade: in round 0, where all scores tie, the row order is the ranking, and an
        unshuffled file would start from a perfect one.
        """
        return np.lexsort((np.random.default_rng(seed).random(self.n_documents), self.query_of_row))

    def reordered(self, rows: NDArray[np.int64]) -> Queries:
        """The same queries with reordered rows, such as by `shuffled_rows`."""
        n = self.n_documents
        if not np.array_equal(np.sort(rows, axis=None), np.arange(n)) or np.ndim(rows) != 1:
            raise ValueError(f"rows must hold each of 0 to {n - 1} once, such as shuffled_rows(seed) gives")
        if not np.array_equal(self.query_of_row[rows], self.query_of_row):
            raise ValueError(
                "rows moves documents between queries: it may only reorder them inside each query"
            )
        return self._taken(rows, slice(None))

    def _taken(self, rows: NDArray[np.int64] | slice, queries: NDArray[np.int64] | slice) -> Queries:
        """Some rows and queries; slices are not copied."""
        of_rows = {"weight": self.weight, "position": self.position, "index": self.index}
        taken = {name: values[rows] for name, values in of_rows.items() if values is not None}
        if self.ids is not None:
            taken["ids"] = self.ids[queries]
        labels = {name: values[rows] for name, values in self.labels.items()}
        return self._with(offsets=np.append(0, np.cumsum(self.sizes[queries])), labels=labels, **taken)

    def chunks(self, documents: int = CHUNK) -> Iterator[tuple[int, int, Queries]]:
        """All queries in chunks of about this number of documents, not copied: first and last query, and the chunk."""
        first = 0
        while first < self.n_queries:
            start = int(self.offsets[first])
            last = max(first + 1, int(np.searchsorted(self.offsets, start + documents, side="right")) - 1)
            yield first, last, self._taken(slice(start, int(self.offsets[last])), slice(first, last))
            first = last

    def with_source(self, name: str, labels: ArrayLike) -> Queries:
        """The same queries with one more label source.

        >>> Queries([1, 0], sizes=[2]).with_source("clicks", [0, 1])
        Queries(2 documents in 1 query; relevance, clicks)
        """
        check_new_source(name, self.labels)
        return self._with(labels={**self.labels, name: _source(name, labels, self.n_documents)})

    def with_positions(self, position: ArrayLike | Positions | None) -> Queries:
        """The same queries with other positions, or with none."""
        codes, names = _positions(position, self.n_documents)
        return self._with(position=codes, position_names=names)

    @staticmethod
    def concat(parts: Sequence[Queries] | Mapping[str, Queries], *, keep_ids: bool = True) -> Queries:
        """The queries of all parts, in order; a part without weights gets weight 1.

        Without `keep_ids` parts may share ids, and the queries have none. Errors call parts by their names, if given.

        Raises
        ------
        ValueError
            If parts differ in their label sources or kind of positions, only some have ids or positions, or two share
            an id.

        """
        of_name = name_parts(parts)
        parts, first = list(of_name.values()), next(iter(of_name))
        for name, part in of_name.items():
            one, other = (
                [*sorted(q.columns), *(["query ids"] if keep_ids and q.ids is not None else [])]
                for q in (part, parts[0])
            )
            if one != other:
                raise ValueError(
                    f"{name} has {listed(one)}, {first} has {listed(other)}: give both the same sources, positions and "
                    "ids"
                )
        offsets = np.concatenate([[0], np.cumsum(np.concatenate([q.sizes for q in parts]))])
        labels = {name: np.concatenate([q.labels[name] for q in parts]) for name in parts[0].labels}

        # All parts have ids, or none; where these differ in type they are objects, so that numbers stay numbers.
        ids_of = {name: q.ids for name, q in of_name.items() if keep_ids and q.ids is not None}
        check_distinct(ids_of, "remove it from one, or give keep_ids=False if these are different queries")
        given_ids = list(ids_of.values())
        ids = None
        if len({part.dtype.kind for part in given_ids}) > 1:
            given_ids = [part.astype(object) for part in given_ids]
        if given_ids:
            ids = np.concatenate(given_ids)

        # Weights and positions.
        weight = None
        if any(q.weight is not None for q in parts):
            weight = np.concatenate(
                [np.ones(q.n_documents, np.float32) if q.weight is None else q.weight for q in parts]
            )
        of_rows = [Positions(q.position, q.position_names) for q in parts if q.position is not None]
        positions = Positions.concat(of_rows) if of_rows else NO_POSITIONS
        return queries_of(offsets, labels, ids, weight, *positions)

    def memo(self, key: Hashable, build: Callable[[], Any]) -> Any:
        """The result of `build`, computed once for these queries and cached under `key`.

        Of more than `REMEMBERED` results the oldest is forgotten, so that a search over settings does not fill memory.
        """
        memo: dict[Hashable, Any] = self.__dict__["_memo"]
        try:
            return memo[key]
        except KeyError:
            value = build()
        if len(memo) >= REMEMBERED:
            oldest, *_ = list(memo)  # in one step, as another thread may add one
            memo.pop(oldest, None)
        return memo.setdefault(key, value)

    def scores(self, scores: ArrayLike, *, allow_minus_infinity: bool = False) -> NDArray[np.float64]:
        """Check scores and convert them to C-contiguous float64 (n_documents,).

        All must be finite; where allowed, −inf is the score of a document that was not retrieved. They belong to the
        rows by place; a pandas Series is refused where `index` has its rows in another order.
        """
        if hasattr(scores, "predict"):
            raise TypeError(
                f"scores is of type {type(scores).__name__}: give what it predicts, model.predict(X)"
            )
        if self.index is not None and hasattr(scores, "iloc"):
            check_order("scores", scores, RELEVANCE, self.index.to_series())
        s = np.ascontiguousarray(as_floats("scores", scores))
        if s.shape != (self.n_documents,):
            raise ValueError(
                f"scores has shape {s.shape}, expected ({self.n_documents},): one score per document"
            )
        with np.errstate(all="ignore"):
            total = s.sum()
        if not np.isfinite(total):  # which it is, in one pass, where all scores are finite and not too large
            bad = np.isnan(s) | (s == np.inf) | (np.isneginf(s) & (not allow_minus_infinity))
            if bad.any():
                row = int(bad.argmax())
                raise ValueError(f"scores[{row}] is {s[row]}: every score must be finite")
        return s


def queries_of(
    offsets: NDArray[np.int64],
    labels: Mapping[str, NDArray[np.float32]],
    ids: NDArray[Any] | None,
    weight: NDArray[np.float32] | None,
    position: NDArray[np.int32] | None,
    position_names: tuple[str, ...] | None,
    index: Any = None,
) -> Queries:
    """`Queries` of arrays that are already checked, as read-only views; nothing else is cached for them yet."""
    given = {"offsets": offsets, "ids": ids, "weight": weight, "position": position, **labels}
    arrays = {name: array.view() for name, array in given.items() if array is not None}
    for array in arrays.values():
        array.flags.writeable = False
    sources = MappingProxyType({name: arrays.pop(name) for name in labels})
    fields = {"ids": None, "weight": None, "position": None, **arrays}
    made = object.__new__(Queries)
    made.__dict__.update(fields, labels=sources, position_names=position_names, index=index, _memo={})
    return made


def _source(name: str, values: ArrayLike, n: int) -> NDArray[np.float32]:
    """The labels of a further source of `n` rows."""
    check_new_source(name)
    labels = labels_of(name, values)
    check_rows(name, labels.size, RELEVANCE, n)
    return labels


def _positions(given: ArrayLike | Positions | None, n: int) -> Positions | tuple[None, None]:
    """The positions of `n` rows."""
    if given is None:
        return NO_POSITIONS
    positions = positions_of("position", given)
    check_rows("position", positions.codes.size, RELEVANCE, n)
    return positions


def name_parts(parts: Sequence[Any] | Mapping[str, Any]) -> dict[str, Any]:
    """Parts by their names, or by their numbers; raises ValueError without any.

    >>> name_parts(["a", "b"]), name_parts({"X": "a"})
    ({'part 0': 'a', 'part 1': 'b'}, {'X': 'a'})
    """
    if not parts:
        raise ValueError("the list of parts is empty: give at least one")
    if isinstance(parts, Mapping):
        return dict(parts)
    return {f"part {i}": part for i, part in enumerate(parts)}


def check_distinct(ids: Mapping[str, NDArray[Any]], remedy: str) -> None:
    """Raise if two parts, which the keys name, share the id of a query."""
    seen: dict[Any, str] = {}
    for name, part in ids.items():
        for query in part.tolist():
            if (first := seen.setdefault(query, name)) != name:
                raise ValueError(f"query {query!r} is in {first} and {name}: {remedy}")


def offsets_of_sizes(name: str, sizes: Any, n: int) -> NDArray[np.int64]:
    """The first row of each query, and the end, by the number of documents of each; checked against all `n` rows.

    >>> offsets_of_sizes("sizes", [3, 2], 5)
    array([0, 3, 5])
    """
    given = as_array(sizes)
    if given.ndim != 1 or given.size == 0:
        raise ValueError(f"{name} has shape {given.shape}, expected the number of documents of each query")
    if given.dtype.kind not in "iuf" or (given != np.floor(given)).any():
        raise TypeError(
            f"{name} must be whole numbers, got {given.dtype}: give the number of documents of each query"
        )
    if (bad := (given < 1) | (given > n)).any():
        query = int(bad.argmax())
        raise ValueError(
            f"{name}[{query}] is {given[query]:.0f}, but there are {n} rows, and each query has at least one: leave "
            "empty ones out"
        )
    if given.sum() != n:
        raise ValueError(
            f"{name} sum to {given.sum():.0f}, but there are {n} rows: each row belongs to one query"
        )
    return np.append(0, np.cumsum(given, dtype=np.int64))


def weights_of_rows(
    weight: Any, query_of_row: NDArray[np.int64], ids: NDArray[Any] | None
) -> NDArray[np.float32]:
    """The weight of each row, from one for each row or for each query.

    A pandas Series with a weight for each query is matched by its index, as ``frame.groupby("query").w.first()`` gives
    it. An array has the order of the queries' first rows; where rows of a query are scattered, it is refused.

    >>> import pandas as pd
    >>> weights_of_rows(pd.Series([1.0, 2.0], index=["a", "b"]), np.array([0, 0, 1]), np.array(["b", "a"], object))
    array([2., 2., 1.], dtype=float32)
    """
    a, n, n_queries = weights_of("weight", weight), query_of_row.size, int(query_of_row.max()) + 1
    if a.size == n:
        return a
    if a.size != n_queries:
        raise ValueError(
            f"weight has {a.size} values: give one per query ({n_queries}) or per document ({n})"
        )
    if hasattr(weight, "iloc") and ids is not None:
        import pandas as pd

        index = weight.index
        if index.is_unique and (places := index.get_indexer(pd.Index(ids))).min() >= 0:
            return a[places][query_of_row]
        if not isinstance(index, pd.RangeIndex):
            missing = next((one for one in ids.tolist() if one not in index), ids[0])
            raise ValueError(
                f"weight has one value for each query, and its index lacks the query {missing!r}: index it by the "
                "query, or give a weight for each row"
            )
    if (query_of_row[1:] < query_of_row[:-1]).any():
        raise ValueError(
            "weight has one value for each query, but the rows of queries are apart, so that their order is in doubt: "
            "give a Series with the query as its index, or a weight for each row"
        )
    return a[query_of_row]
