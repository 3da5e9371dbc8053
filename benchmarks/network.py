"""What the workers of a training send one another in a round.

Usage: unshare -rn sh -c 'ip link set lo up; python -m benchmarks.network'

In a network of its own, whose loopback counts nothing else. Bytes of a round are those of a training of 10 rounds less
those of one of 5, over 5; with the headers of TCP and IP.
"""

from __future__ import annotations

import socket
from concurrent.futures import Executor, ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from threading import Thread
from typing import Any

from experiments.common.report import table

WORKERS, ROUNDS, DOCUMENTS, LIST = 4, 5, 5_000, 25
SHAPES = ((20, 63, 16), (20, 255, 16), (40, 255, 32))  # features, bins and leaves
NATIVE = {"lightgbm": "lambdarank", "xgboost": "rank:ndcg"}
HEADS = ("engine", "objective", "features", "bins", "leaves", "bytes a round", "a leaf, feature and bin")


def sent() -> int:
    """Bytes over the loopback so far."""
    lines = Path("/proc/net/dev").read_text(encoding="utf-8").splitlines()
    (loopback,) = (line.split() for line in lines if line.strip().startswith("lo:"))
    return int(loopback[9])


def work(
    engine: str,
    objective: Any,
    network: dict[str, Any],
    worker: int,
    shape: tuple[int, int, int],
    rounds: int,
) -> None:
    """Train on the rows of a worker."""
    import numpy as np

    features, bins, leaves = shape
    rng = np.random.default_rng(worker)
    X = rng.standard_normal((DOCUMENTS, features), dtype=np.float32)
    y = np.clip(np.round(X.sum(axis=1) / 4 + rng.standard_normal(DOCUMENTS)), 0, 4)
    sizes = [LIST] * (DOCUMENTS // LIST)
    if engine == "lightgbm":
        from lambdaboost import lightgbm as lgb

        params = {
            "verbose": -1,
            "num_threads": 1,
            "max_bin": bins,
            "num_leaves": leaves,
            "tree_learner": "data",
        }
        data = lgb.Dataset(X, y, group=sizes)
        lgb.train(params | network, data, rounds, objective=objective).free_network()
    else:
        from xgboost.collective import CommunicatorContext

        from lambdaboost import xgboost as xgb

        params = {"nthread": 1, "max_bin": bins, "max_depth": leaves.bit_length() - 1, "verbosity": 0}
        with CommunicatorContext(**network):
            data = xgb.DMatrix(X, y, group=sizes)
            xgb.train(params, data, rounds, objective=objective, verbose_eval=False)


def networks(engine: str) -> list[dict[str, Any]]:
    """The network parameters of each worker."""
    if engine == "lightgbm":
        ports = [_free_port() for _ in range(WORKERS)]
        machines = ",".join(f"127.0.0.1:{port}" for port in ports)
        return [{"machines": machines, "num_machines": WORKERS, "local_listen_port": port} for port in ports]
    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(n_workers=WORKERS, host_ip="127.0.0.1", sortby="task")
    tracker.start()
    Thread(target=tracker.wait_for, daemon=True).start()
    return [tracker.worker_args() | {"DMLC_TASK_ID": str(worker)} for worker in range(WORKERS)]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def moved(pool: Executor, engine: str, objective: Any, shape: tuple[int, int, int], rounds: int) -> int:
    """Bytes that a training sends over all workers."""
    before = sent()
    calls = [
        pool.submit(work, engine, objective, network, worker, shape, rounds)
        for worker, network in enumerate(networks(engine))
    ]
    for call in calls:
        call.result()
    return sent() - before


def row(pool: Executor, engine: str, objective: Any, shape: tuple[int, int, int]) -> tuple[str, ...]:
    """A row of the table."""
    few, many = (moved(pool, engine, objective, shape, rounds) for rounds in (ROUNDS, 2 * ROUNDS))
    features, bins, leaves = shape
    of_round = (many - few) / ROUNDS
    counts = (f"{of_round:,.0f}", f"{of_round / (features * bins * leaves):.1f}")
    return engine, str(objective), str(features), str(bins), str(leaves), *counts


def main() -> None:
    """Print the table."""
    from lambdaboost import LambdaRank

    with ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
        rows = [
            row(pool, engine, objective, shape)
            for engine, shape in product(NATIVE, SHAPES)
            for objective in (NATIVE[engine], LambdaRank())
        ]
    print(table(HEADS, rows))


if __name__ == "__main__":
    main()
