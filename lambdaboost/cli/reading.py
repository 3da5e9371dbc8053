"""Python that reads files as the command line read them, for scripts that users keep."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from lambdaboost.cli.columns import Columns
from lambdaboost.cli.data_file import PARQUET, is_table
from lambdaboost.datasets import read_letor


def reading_of(files: dict[str, Path], columns: Columns) -> str:
    """Lines that read each file into a collection of its name, by public functions where these can do it.

    They cannot read positions from LETOR text, sparse features without their zeros, or the index of a Parquet file.
    """
    if all(_is_csv(path) for path in files.values()):
        names = ["click_rate", "from_frame"] if any(s.rate for s in columns.sources) else ["from_frame"]
        lines = [line for name, path in files.items() for line in _of_csv(name, path, columns)]
        return f"import pandas as pd\nfrom lambdaboost.datasets import {', '.join(names)}\n\n" + "".join(
            lines
        )
    if _is_plain_letor(files.values(), columns):
        names = ["click_rate", "read_letor"] if any(s.rate for s in columns.sources) else ["read_letor"]
        lines = [f"{name} = {_of_letor(path, columns)}\n" for name, path in files.items()]
        return f"from lambdaboost.datasets import {', '.join(names)}\n\n" + "".join(lines)
    return (
        "from pathlib import Path\n"
        "from lambdaboost.cli.columns import Columns, Source\n\n"
        f"columns = {columns!r}\n"
        + "".join(
            f"{name} = columns.collection(columns.opened(Path({str(path)!r})))\n"
            for name, path in files.items()
        )
    )


def _is_csv(path: Path) -> bool:
    return is_table(path) and path.suffix.lower() not in PARQUET


def _is_plain_letor(paths: Iterable[Path], columns: Columns) -> bool:
    """Whether all files are LETOR text with dense features and no positions."""
    return columns.position is None and all(
        not is_table(path)
        and isinstance(read_letor(path, n_features=columns.n_features).features, np.ndarray)
        for path in paths
    )


def _of_csv(name: str, path: Path, columns: Columns) -> list[str]:
    """A frame with the rows of each query together, as a collection."""
    rates = [source for source in columns.sources if source.rate]
    features = [*(columns.features or ()), *(source.column for source in rates)]
    sources = {source.name: source.column for source in columns.sources if not source.rate}
    arguments = [f"query={columns.query!r}", f"relevance={columns.label!r}", f"features={features!r}"]
    arguments += [f"sources={sources!r}"] if sources else []
    arguments += [f"position={columns.position!r}"] if columns.position is not None else []
    made = "".join(f".source_from_feature({s.name!r}, {s.column!r}, click_rate)" for s in rates)
    return [
        f"frame = pd.read_csv({str(path)!r}, encoding='utf-8-sig', low_memory=False)\n",
        f"frame = frame.iloc[frame[{columns.query!r}].factorize()[0].argsort(kind='stable')]\n",
        f"{name} = from_frame(frame, {', '.join(arguments)}){made}\n",
    ]


def _of_letor(path: Path, columns: Columns) -> str:
    """LETOR text, without the columns that are label sources or dropped."""
    made = f"read_letor({str(path)!r}, n_features={columns.n_features})"
    left = list(map(str, range(1, (columns.n_features or 0) + 1)))
    for source in columns.sources:
        transform = ", click_rate" if source.rate else ""
        made += f".source_from_feature({source.name!r}, {left.index(source.column)}{transform})"
        left.remove(source.column)
    gone = [left.index(column) for column in columns.dropped]
    return f"{made}.without_features({gone})" if gone else made
