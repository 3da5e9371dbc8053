"""`read_letor`: read the LETOR / SVMLight text format of public ranking data sets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from lambdaboost.datasets import _letor_cache
from lambdaboost.datasets._checks import check_count
from lambdaboost.datasets._files import SUFFIX, reading, sha256, without_compression_suffix
from lambdaboost.datasets._letor_lines import EXPECTED, Parsed, parse
from lambdaboost.datasets._letor_piece import DENSE_SHARE
from lambdaboost.datasets.collection import Collection
from lambdaboost.datasets.queries import Queries


def read_letor(
    path: str | os.PathLike[str],
    *,
    n_features: int | None = None,
    query_file: str | os.PathLike[str] | None = None,
    cache: bool = True,
) -> Collection:
    r"""Read LETOR / SVMLight text, lines ``grade qid:Q 1:v 2:v … # comment``, plain or as gzip, xz or bzip2.

    The format of LETOR 4.0 (Qin & Liu 2013), MSLR-WEB30K, Yahoo and Istella. LightGBM's variant has no qid; the
    query sizes are in a second file, ``rank.train.query`` for ``rank.train``, which is found in the same folder,
    compressed or not.

    Parameters
    ----------
    path : path
        The file. Compression is recognised by its first bytes, not by its name.
    n_features : int, optional
        Number of columns, for a part in which the last features never occur; by default the highest index.
    query_file : path, optional
        LightGBM's file of query sizes if it is in another folder; only for text without qid.
    cache : bool
        Keep a parsed copy, ``<name>.lambdaboost.npz``, beside the text and read it from then on. It holds the
        SHA-256 of the text and is rewritten if that differs or the copy is damaged. No copy is kept in a folder
        that is not writable.

    Returns
    -------
    Collection
        Features as float32, feature ``1:`` in column 0: dense, or CSR if the text holds less than a tenth of the
        values. Absent values are 0. Infinities and values out of float32's range, such as the 1.797e308 that
        marks missing values in Istella, become ±3.4028235e38. Ids are the qids. Document names are the comments,
        or the word after ``docid =`` in LETOR's comments; None if there are no comments.

    Raises
    ------
    ValueError
        If a line does not parse or a query's lines are not adjacent (names file and line); if the file is empty or
        damaged or has more features than `n_features`; if query sizes are missing, wrong or given twice.
    FileNotFoundError
        If `path` or `query_file` does not exist.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "train.txt")
    >>> _ = path.write_text("2 qid:10 1:0.5 2:1 # docid = a\n0 qid:10 1:0.1 # docid = b\n1 qid:11 2:4 # c\n")
    >>> train = read_letor(path)
    >>> train
    Collection(3 documents × 2 features in 2 queries; relevance)
    >>> train.queries.ids, train.documents
    (array([10, 11]), array(['a', 'b', 'c'], dtype='<U1'))
    >>> folder.cleanup()

    """
    path = Path(path)
    if n_features is not None:
        check_count("n_features", n_features)
    sizes_path = _query_file_beside(path) if query_file is None else Path(query_file)
    parsed = _parsed(path) if cache else parse(path)
    if parsed.ids.size and query_file is not None:
        raise ValueError(
            f"{path} has qids on its lines, so query_file={str(query_file)!r} is not needed: omit it"
        )
    features = _widened(parsed, n_features, path)
    return Collection(features, _queries(parsed, path, sizes_path), parsed.documents)


def _parsed(path: Path) -> Parsed:
    """The parsed text, from the cache if it is there."""
    digest = sha256(path)
    parsed = _letor_cache.load(path, digest)
    if parsed is None:
        parsed = parse(path)
        _letor_cache.store(path, digest, parsed)
    return parsed


def _query_file_beside(path: Path) -> Path | None:
    """LightGBM's ``<data>.query``, compressed or not, if it exists."""
    plain = without_compression_suffix(path)
    names = (plain.with_name(f"{plain.name}.query{suffix}") for suffix in ("", *SUFFIX))
    return next((name for name in names if name.exists()), None)


def _queries(parsed: Parsed, path: Path, sizes_path: Path | None) -> Queries:
    if parsed.ids.size:
        return Queries(parsed.relevance, ids=parsed.ids)
    if sizes_path is None:
        raise ValueError(
            f"{path} has no qid on its lines, and no {without_compression_suffix(path).name}.query beside; "
            f"{EXPECTED}, or give query_file="
        )
    try:
        return Queries(parsed.relevance, sizes=_sizes(sizes_path))
    except ValueError as error:
        raise ValueError(f"{path} and {sizes_path}: {error}") from None


def _sizes(path: Path) -> list[int]:
    """The number of documents of each query, one per line."""
    sizes = []
    with reading(path) as file:
        for number, line in enumerate(file, 1):
            text = line.strip()
            if not text.isdigit():
                shown = text[:60].decode(errors="replace")
                raise ValueError(f"{path}:{number}: {shown!r}; expected the number of documents of one query")
            sizes.append(int(text))
    return sizes


def _widened(parsed: Parsed, n_features: int | None, path: Path) -> Any:
    """The features, with columns of zeros up to `n_features`."""
    n, d = parsed.features.shape
    if n_features is None or n_features == d:
        return parsed.features
    if n_features < d:
        raise ValueError(f"n_features is {n_features}, but {path} has a feature {d}: give at least {d}")
    if isinstance(parsed.features, np.ndarray) and parsed.stored >= DENSE_SHARE * n * n_features:
        return np.pad(parsed.features, ((0, 0), (0, n_features - d)))
    from scipy.sparse import csr_matrix

    features = csr_matrix(parsed.features)
    features.resize((n, n_features))
    return features
