"""`Collection`: features and their queries, as loaders and generators return them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._checks import refuse_labels
from lambdaboost._words import counted
from lambdaboost.datasets.arrays import as_floats
from lambdaboost.datasets.queries import Queries, name_parts

Categories = Mapping[Any, Sequence[Any]]  # the values of each categorical column, in the order of their codes


@dataclass(frozen=True, eq=False, repr=False)
class Collection:
    """Features with their queries; unpacks as ``X, q = collection``.

    Parameters
    ----------
    features : float32 or float64 array of shape (n_documents, n_features), or scipy CSR matrix
        One row per document, the rows of a query adjacent.
    queries : Queries
        Sizes, ids and every label source.
    documents : array of str, shape (n_documents,), optional
        Name of each document.
    feature_names : sequence of str, shape (n_features,), optional
        Name of each column, without duplicates.
    categories : dict of str to sequence, optional
        The values of each categorical feature; its column holds their codes, from 0, or NaN.
    rows : int64 array of shape (n_documents,), optional
        The row of the table that each document was, where they have another order: ``table.iloc[rows]`` has that of
        the features.

    Raises
    ------
    TypeError
        If `features` is neither a float array nor CSR, or `queries` is not a `Queries`.
    ValueError
        If shapes do not match or a feature name is given twice.

    Examples
    --------
    >>> X, q = Collection(np.eye(3), Queries([2, 0, 1], sizes=[2, 1]))
    >>> X.shape, q
    ((3, 3), Queries(3 documents in 2 queries; relevance))

    """

    features: Any
    queries: Queries
    documents: NDArray[np.object_] | None = None
    feature_names: tuple[str, ...] | None = None
    categories: Categories = field(default_factory=dict)
    rows: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.queries, Queries):
            raise TypeError(f"queries must be Queries, got {type(self.queries).__name__}")
        features, n = self.features, self.queries.n_documents
        dtype, is_sparse = getattr(features, "dtype", None), getattr(features, "format", None) == "csr"
        is_dense = isinstance(features, np.ndarray) and not np.ma.isMaskedArray(features)
        if not (is_dense or is_sparse) or dtype not in (np.float32, np.float64):
            raise TypeError(
                f"features is a {type(features).__name__} of {dtype}: give an array or scipy CSR matrix of float32 or "
                "float64"
            )
        if features.ndim != 2 or features.shape[0] != n:
            raise ValueError(
                f"features has shape {features.shape}, queries has {n} documents: give one row per document"
            )
        if self.documents is not None:
            # As objects: in an array of text the longest name would take its width in every row.
            documents = np.asarray(self.documents, dtype=object)
            if documents.shape != (n,):
                raise ValueError(
                    f"documents has shape {documents.shape}, expected ({n},): one name per document"
                )
            object.__setattr__(self, "documents", documents)
        if self.feature_names is not None:
            names, columns = tuple(self.feature_names), self.n_features
            if not len(names) == len(set(names)) == columns:
                raise ValueError(
                    f"feature_names has {len(names)} names, of which {len(set(names))} differ, for {columns} columns: "
                    "give each its own"
                )
            object.__setattr__(self, "feature_names", names)
        if unnamed := [name for name in self.categories if name not in (self.feature_names or ())]:
            raise ValueError(
                f"categories has {unnamed[0]!r}, which is none of the feature_names: name it there"
            )

    def __iter__(self) -> Iterator[Any]:
        return iter((self.features, self.queries))

    def __repr__(self) -> str:
        q = self.queries
        documents, features = counted(q.n_documents, "document"), counted(self.n_features, "feature")
        queries = counted(q.n_queries, "query", "queries")
        return f"Collection({documents} × {features} in {queries}; {', '.join(q.columns)})"

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.features.shape[1])

    def take(self, queries: ArrayLike) -> Collection:
        """Select queries by index or mask, in the order given.

        >>> Collection(np.eye(3), Queries([2, 0, 1], sizes=[2, 1])).take([1]).features
        array([[0., 0., 1.]])
        """
        return self._with_rows(self.queries.rows_of(queries), self.queries.take(queries))

    def shuffled(self, seed: int = 0) -> Collection:
        """Shuffle the documents inside each query, as by `Queries.shuffled_rows`; the order of the queries stays.

        >>> Collection(np.eye(3), Queries([2, 0, 1], sizes=[2, 1])).shuffled(seed=4).queries.relevance
        array([0., 2., 1.], dtype=float32)
        """
        rows = self.queries.shuffled_rows(seed)
        return self._with_rows(rows, self.queries.reordered(rows))

    def without_features(self, columns: Iterable[int | str]) -> Collection:
        """Remove feature columns, given by index from 0 or by name.

        >>> c = Collection(np.eye(3), Queries([2, 0, 1], sizes=[3]), feature_names=("a", "b", "c"))
        >>> c.without_features(["a", 2]).feature_names, c.without_features(iter("ab")).feature_names
        (('b',), ('c',))
        """
        if isinstance(columns, str):
            raise TypeError(f"columns is the string {columns!r}: give a list, such as [{columns!r}]")
        known, columns = [*range(self.n_features), *(self.feature_names or ())], list(columns)
        # True is equal to 1: a mask would remove other columns.
        if strange := [one for one in columns if one not in known or isinstance(one, bool | np.bool_)]:
            raise ValueError(
                f"no feature is called {strange[0]!r}: give a name or an index from 0 to {self.n_features - 1}"
            )
        gone = {known.index(column) % self.n_features for column in columns}
        keep = [at for at in range(self.n_features) if at not in gone]
        names = None
        if self.feature_names is not None:
            names = tuple(self.feature_names[at] for at in keep)
        kept = {name: values for name, values in self.categories.items() if name in (names or ())}
        return replace(self, features=self.features[:, keep], feature_names=names, categories=kept)

    @staticmethod
    def concat(
        collections: Sequence[Collection] | Mapping[str, Collection], *, keep_ids: bool = True
    ) -> Collection:
        """Concatenate collections, such as the parts of a fold.

        The result is sparse if any part is, and keeps document names if every part has them. Without `keep_ids` parts
        may share ids of queries. Parts that differ in features, or as in `Queries.concat`, raise ValueError, which
        calls them by their names, if given.

        >>> one = Collection(np.eye(2), Queries([1, 0], ids=[7, 7]))
        >>> two = Collection(np.eye(2), Queries([2, 0], ids=[9, 9]))
        >>> Collection.concat([one, two]).queries.ids
        array([7, 9])
        """
        of_name = name_parts(collections)
        parts, first = list(of_name.values()), next(iter(of_name))
        for name, part in of_name.items():
            for what in ("n_features", "feature_names", "categories"):
                if getattr(part, what) != getattr(parts[0], what):
                    raise ValueError(
                        f"{name} and {first} differ in {what}: read both by the same Columns or with the same "
                        "n_features="
                    )
        features: Any = [part.features for part in parts]
        if all(isinstance(part, np.ndarray) for part in features):
            features = np.concatenate(features)
        else:
            from scipy import sparse

            features = sparse.vstack([sparse.csr_matrix(part) for part in features], format="csr")
        documents, names = [part.documents for part in parts if part.documents is not None], None
        if len(documents) == len(parts):
            names = np.concatenate(documents)
        return Collection(
            features,
            Queries.concat({name: part.queries for name, part in of_name.items()}, keep_ids=keep_ids),
            names,
            parts[0].feature_names,
            parts[0].categories,
        )

    def _with_rows(self, rows: NDArray[np.int64], queries: Queries) -> Collection:
        documents, of_table = self.documents, rows
        if documents is not None:
            documents = documents[rows]
        if self.rows is not None:
            of_table = self.rows[rows]
        return replace(
            self, features=self.features[rows], queries=queries, documents=documents, rows=of_table
        )


def click_rate(counts: ArrayLike, queries: Queries) -> NDArray[np.float64]:
    """Click counts as log1p(count) / largest log1p(count) of the query, float64 (n_documents,) in [0, 1].

    Data sets such as MSLR-WEB30K give counts, while CNDCG of Svore, Volkovs & Burges (2011, eq. 9) needs
    rates. The order within each query is kept; in a query without clicks every rate is 0, and NaN stays NaN.

    >>> click_rate([0, 1, 3, 0, 0], Queries([0, 1, 2, 0, 0], sizes=[3, 2]))
    array([0. , 0.5, 1. , 0. , 0. ])
    """
    clicks = as_floats("counts", counts)
    if clicks.shape != (queries.n_documents,):
        raise ValueError(
            f"counts has shape {clicks.shape}, expected ({queries.n_documents},): one count per document"
        )
    refuse_labels(
        "counts",
        clicks,
        np.isinf(clicks) | (clicks < 0),
        "counts must be finite and ≥ 0, or NaN where unknown",
    )
    log = np.log1p(clicks)
    largest = np.fmax.reduceat(log, queries.offsets[:-1])  # fmax ignores NaN
    return log / np.where(largest > 0, largest, 1.0)[queries.query_of_row]


def check_alone(name: str, **given: Any) -> None:
    """Raise if labels or weights are given beside a Collection that is called `name`, which has its own."""
    for argument, value in given.items():
        if value is not None:
            raise TypeError(
                f"{name} is a Collection, which has its own queries, labels and weights, so {argument}= would be "
                "ignored: leave it out, and put it into the Queries of the Collection"
            )
