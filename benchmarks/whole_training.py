"""One training as `growth` measures it, in a process of its own that imports lambdaboost for its objective alone."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks.peak import peak

QUERY, LABEL = "qid", "label"
Features = NDArray[np.float32]
Train = Callable[[int], Any]  # a number of rounds


def measure(engine: str, own: bool, in_shards: bool, files: Sequence[str], rounds: int) -> None:
    """Print the peak in bytes, and processor seconds of the data set and of a round, as JSON.

    `own` says whether the objective is the engine's, `in_shards` whether the engine reads batches; a training on the
    first file, which is small, loads the kernels.
    """
    prepare = {"LightGBM": lightgbm, "XGBoost": xgboost}[engine]
    objective = None if own else lambdarank()
    with TemporaryDirectory(dir=Path(files[0]).parent) as cache:
        prepare(files[:1], objective, in_shards, f"{cache}/small")(1)
        start = time.process_time()
        train = prepare(files[1:], objective, in_shards, f"{cache}/large")
        built = time.process_time()
        train(rounds)
        trained = time.process_time()
        print(json.dumps({"build": built - start, "round": (trained - built) / rounds, "peak": peak()}))
        del train  # and with it XGBoost's cache


def lambdarank() -> Any:
    """LambdaRank of lambdaboost."""
    from lambdaboost import LambdaRank

    return LambdaRank()


def lightgbm(files: Sequence[str], objective: Any, in_shards: bool, cache: str) -> Train:
    """LightGBM with its default trees; in shards it reads each shard as a `Sequence`."""
    import lightgbm as lgb

    class Shard(lgb.Sequence):
        def __init__(self, file: str) -> None:
            self.file, self.rows = file, pq.read_metadata(file).num_rows

        def __len__(self) -> int:
            return self.rows

        def __getitem__(self, at: Any) -> Any:
            rows = features(self.file)[at]
            # LightGBM samples rows as float64, which must be no views: these would hold the shard.
            return rows if isinstance(at, slice) else rows.astype(np.float64)

    params = {"num_threads": 1, "verbose": -1}
    X = [Shard(file) for file in files] if in_shards else loaded(files)
    sizes = np.unique(column(files, QUERY), return_counts=True)[1]
    data = lgb.Dataset(X, column(files, LABEL), group=sizes, params=params).construct()
    return lambda rounds: (lgb.train(params | {"objective": objective or "lambdarank"}, data, rounds), X)


def xgboost(files: Sequence[str], objective: Any, in_shards: bool, cache: str) -> Train:
    """XGBoost with its default trees; in shards it reads batches and keeps the bins in files."""
    import xgboost as xgb

    class Shards(xgb.DataIter):
        def reset(self) -> None:
            self.left: Iterator[str] = iter(files)

        def next(self, input_data: Callable[..., None]) -> bool:
            if (file := next(self.left, None)) is None:
                return False
            input_data(data=features(file), label=column([file], LABEL), qid=column([file], QUERY))
            return True

    X: Any = None
    if in_shards:
        data = xgb.ExtMemQuantileDMatrix(Shards(cache_prefix=cache), nthread=1)
    else:
        X = loaded(files)
        data = xgb.QuantileDMatrix(X, column(files, LABEL), qid=column(files, QUERY), nthread=1)
    params = {"objective": "rank:ndcg", "base_score": 0, "nthread": 1}
    return lambda rounds: (xgb.train(params, data, rounds, obj=objective), X)


@lru_cache(maxsize=1)
def features(file: str) -> Features:
    """The features of a shard, of which one is held."""
    table = pq.read_table(file, use_threads=False).drop_columns([QUERY, LABEL])
    return np.column_stack([of.to_numpy() for of in table.columns])


def column(files: Sequence[str], name: str) -> NDArray[Any]:
    """One column of all shards."""
    return np.concatenate([pq.read_table(file, columns=[name], use_threads=False)[name] for file in files])


def loaded(files: Sequence[str]) -> Features:
    """The features of all shards in one array, without a copy."""
    rows = [pq.read_metadata(file).num_rows for file in files]
    found = np.empty((sum(rows), features(files[0]).shape[1]), np.float32)
    for file, last in zip(files, np.cumsum(rows), strict=True):
        found[last - len(features(file)) : last] = features(file)
    features.cache_clear()
    return found
