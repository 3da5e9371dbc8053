"""Parsed pieces of a LETOR text, and the arrays of the whole made from them."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Below this share of stored values a matrix stays sparse: dense, it would take over five times the memory.
DENSE_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class Piece:
    """The rows of one chunk; `indices`, from 1, are None if every row has all indices from 1 to `width`.

    ``values[ends[r - 1] : ends[r]]`` are the values of row r.
    """

    lines: int
    width: int
    values: NDArray[np.float32]
    indices: NDArray[np.uint16] | NDArray[np.int32] | None
    ends: NDArray[np.int64]
    grades: NDArray[np.float64]
    ids: NDArray[np.int64]
    names: NDArray[np.str_] | None


def returned_copy(values: NDArray[Any], dtype: Any = None) -> NDArray[Any]:
    """A copy whose memory returns to the system when it is freed, which `malloc` does not promise."""
    dtype = np.dtype(dtype or values.dtype)
    copy = np.frombuffer(mmap.mmap(-1, max(1, values.size * dtype.itemsize)), dtype, values.size)
    copy[:] = values
    return copy


def features_of(pieces: list[Piece]) -> tuple[Any, int]:
    """The features, dense or CSR, and the number of stored values; takes the values out of the list, last first.

    What is taken is freed at once, so that the matrix and the pieces together need at most twice the matrix's memory.
    """
    n = sum(piece.grades.size for piece in pieces)
    d = max(1, *(piece.width for piece in pieces))
    stored = sum(piece.values.size for piece in pieces)
    into = _into_dense if stored >= DENSE_SHARE * n * d else _into_sparse
    return into(pieces, n, d, stored), stored


def _into_dense(pieces: list[Piece], n: int, d: int, stored: int) -> NDArray[np.float32]:
    from scipy.sparse import csr_array

    features = np.zeros((n, d), dtype=np.float32)
    end = n
    while pieces:
        piece = pieces.pop()
        rows = piece.grades.size
        part = features[end - rows : end]
        # Both ways add, so that -0 becomes 0 in either.
        if piece.indices is None:
            part[:, : piece.width] += piece.values.reshape(rows, piece.width)
        else:
            indices, ends = piece.indices.astype(np.int32) - np.int32(1), _starts(piece.ends).astype(np.int32)
            csr_array((piece.values, indices, ends), shape=(rows, d)).toarray(out=part)
        end -= rows
    return features


def _into_sparse(pieces: list[Piece], n: int, d: int, stored: int) -> Any:
    from scipy.sparse import csr_matrix

    # scipy uses one type for both.
    kind = np.int32 if stored <= np.iinfo(np.int32).max else np.int64
    values, indices = np.empty(stored, dtype=np.float32), np.empty(stored, dtype=kind)
    starts = np.zeros(n + 1, dtype=kind)
    end, last = n, stored
    while pieces:
        piece = pieces.pop()
        rows, begin = piece.grades.size, last - piece.values.size
        values[begin:last] = piece.values
        within = np.tile(np.arange(1, piece.width + 1), rows) if piece.indices is None else piece.indices
        np.subtract(within, 1, out=indices[begin:last], casting="unsafe")
        starts[end - rows + 1 : end + 1] = piece.ends + begin
        end, last = end - rows, begin
    return csr_matrix((values, indices, starts), shape=(n, d))


def _starts(ends: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], ends])


def names_of(pieces: list[Piece]) -> NDArray[np.str_] | None:
    """The names of all documents, empty where there are none; None if no piece has names."""
    width = max(0 if piece.names is None else piece.names.dtype.itemsize // 4 for piece in pieces)
    if width == 0:
        return None
    names = np.zeros(sum(piece.grades.size for piece in pieces), dtype=f"U{width}")
    end = 0
    for piece in pieces:
        begin, end = end, end + piece.grades.size
        if piece.names is not None:
            names[begin:end] = piece.names
    return names
