"""A parsed copy beside each LETOR file, so that the text is parsed only once."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np

from lambdaboost.datasets._files import replacing
from lambdaboost.datasets._given import split_query
from lambdaboost.datasets._letor_lines import Parsed

# Increase it whenever `Parsed` changes for the same text.
FORMAT = 2


def cache_path(source: Path) -> Path:
    """``train.txt.xz.lambdaboost.npz`` for ``train.txt.xz``."""
    return source.with_name(f"{source.name}.lambdaboost.npz")


def load(source: Path, digest: str) -> Parsed | None:
    """The parsed copy, or None if it is missing, damaged, forged or of a text with another SHA-256."""
    try:
        with open(cache_path(source), "rb") as file, np.load(file, allow_pickle=False) as npz:
            if str(npz["digest"]) != digest or int(npz["format"]) != FORMAT:
                return None
            arrays = dict(npz)  # reads everything; zip checks each array's CRC
        parsed = _parsed(arrays)
    except Exception:
        # A damaged zip may raise almost any error; the source can always be parsed again.
        return None
    return parsed if _sound(parsed) else None


def store(source: Path, digest: str, parsed: Parsed) -> None:
    """Write a parsed copy beside the source; do nothing if the folder is not writable."""
    with contextlib.suppress(OSError), replacing(cache_path(source)) as file:
        np.savez(file, format=FORMAT, digest=digest, **_arrays(parsed))


def _arrays(parsed: Parsed) -> dict[str, Any]:
    x = parsed.features
    if isinstance(x, np.ndarray):
        arrays = {"dense": x}
    else:
        arrays = {"data": x.data, "indices": x.indices, "indptr": x.indptr, "shape": np.array(x.shape)}
    if parsed.documents is not None:
        arrays["documents"] = parsed.documents
    return arrays | {"relevance": parsed.relevance, "ids": parsed.ids, "stored": np.array(parsed.stored)}


def _parsed(arrays: dict[str, Any]) -> Parsed:
    from scipy.sparse import csr_matrix

    if "dense" in arrays:
        features = arrays["dense"]
    else:
        shape = tuple(arrays["shape"].tolist())
        features = csr_matrix((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
        # Indices out of range would access memory outside the matrix.
        features.check_format(full_check=True)
    stored = int(arrays["stored"])
    return Parsed(features, arrays["relevance"], arrays["ids"], arrays.get("documents"), stored)


def _sound(parsed: Parsed) -> bool:
    """Whether shapes, dtypes and values are such as `parse` returns."""
    features, relevance, ids, documents, stored = parsed
    n = relevance.size
    if isinstance(features, np.ndarray):
        values, whole = features, features.ndim == 2 and 0 <= stored <= features.size
    else:  # as wide as the highest index, so a forged file cannot demand more memory than its text would
        values = features.data
        whole = (
            features.shape[1] == max(1, int(features.indices.max(initial=-1)) + 1) and stored == values.size
        )
    return (
        whole
        and features.shape[0] == n > 0
        and (values.dtype, relevance.dtype, ids.dtype) == (np.float32, np.float64, np.int64)
        and not np.isinf(values).any()
        and relevance.shape == (n,)
        and bool((np.isfinite(relevance) & (relevance >= 0)).all())
        and (ids.shape == (0,) or (ids.shape == (n,) and split_query(ids) is None))
        and (documents is None or (documents.shape == (n,) and documents.dtype.kind == "U"))
    )
