"""Peak memory of a Dask worker that trains from Parquet files, by lambdaboost and by each engine's own Dask.

Usage: python -m benchmarks.dask_memory

Bytes a document above those of a worker that has imported everything: 2,000,000 documents of 40 float32 features in
lists of 25, in 20 files, on one worker of one thread, 3 rounds.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peak import peak
from experiments.common.report import table

DOCUMENTS, FEATURES, LIST, FILES, ROUNDS = 2_000_000, 40, 25, 20, 3
NAMES = [f"f{i}" for i in range(FEATURES)]


def write(folder: Path) -> None:
    """The files, whose grades follow from four features and noise."""
    import pandas as pd

    rng, n = np.random.default_rng(0), DOCUMENTS // FILES
    for file in range(FILES):
        X = rng.standard_normal((n, FEATURES), dtype=np.float32)
        y = np.clip(np.round(X[:, :4].sum(axis=1) / 2 + rng.standard_normal(n)), 0, 4).astype(np.float32)
        rows = pd.DataFrame(X, columns=NAMES).assign(y=y, qid=(file * n + np.arange(n)) // LIST)
        rows.to_parquet(folder / f"part-{file:02}.parquet", index=False)


def with_imports() -> int:
    """The peak of this process so far, in bytes, with all that any of the trainings imports."""
    import lightgbm.dask  # noqa: F401
    import xgboost.dask  # noqa: F401

    import lambdaboost.xgboost  # noqa: F401

    return peak()


def by_lambdaboost(engine: str) -> Callable[[Any, Any], object]:
    """A training by lambdaboost."""

    def call(client: Any, frame: Any) -> object:
        from lambdaboost.dask import train

        params: dict[str, Any] = {"verbose": -1} if engine == "lightgbm" else {}
        return train(client, params, frame[NAMES], frame["y"], qid=frame["qid"], engine=engine, rounds=ROUNDS)

    return call


def column(frame: Any, name: str | list[str]) -> Any:
    """Columns with the partitions of the frame: of files of which it reads one column Dask would join several."""
    return frame.map_partitions(itemgetter(name), meta=frame._meta[name])


def sizes(rows: Any) -> Any:
    """The sizes of a partition's queries."""
    return rows.groupby("qid", sort=False).size()


def lightgbms_own(client: Any, frame: Any) -> object:
    """A training by LightGBM's own Dask."""
    import lightgbm as lgb

    ranker = lgb.DaskLGBMRanker(client=client, n_estimators=ROUNDS, verbose=-1)
    group = frame.map_partitions(sizes, meta=(None, int))
    return ranker.fit(column(frame, NAMES), column(frame, "y"), group=group)


def xgboosts_own(client: Any, frame: Any) -> object:
    """A training by XGBoost's own Dask."""
    from xgboost import dask

    X, y, qid = (column(frame, name) for name in (NAMES, "y", "qid"))
    return dask.train(client, {"objective": "rank:ndcg"}, dask.DaskDMatrix(client, X, y, qid=qid), ROUNDS)


CASES = {
    "LightGBM, lambdaboost.dask": by_lambdaboost("lightgbm"),
    "LightGBM, DaskLGBMRanker": lightgbms_own,
    "XGBoost, lambdaboost.dask": by_lambdaboost("xgboost"),
    "XGBoost, xgboost.dask": xgboosts_own,
}


def measured(call: Callable[[Any, Any], object], folder: Path) -> float:
    """Bytes a document."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=1, threads_per_worker=1, memory_limit=0, dashboard_address=":0", silence_logs="CRITICAL"
    )
    with cluster, Client(cluster) as client:
        (before,) = client.run(with_imports).values()
        call(client, dd.read_parquet(folder))
        (after,) = client.run(with_imports).values()
    return (after - before) / DOCUMENTS


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        write(Path(name))
        rows = [(case, f"{measured(call, Path(name)):.0f}") for case, call in CASES.items()]
    print(table(("training", "bytes a document"), rows))


if __name__ == "__main__":
    main()
