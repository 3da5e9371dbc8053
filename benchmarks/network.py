"""What the workers of a training send one another in a round.

Usage: unshare -rn sh -c 'ip link set lo up; python -m benchmarks.network'

In a network of its own, whose loopback counts nothing else. Bytes of a round are those of a training of 10 rounds less
those of one of 5, over 5; with the headers of TCP and IP.
"""

from __future__ import annotations

import socket
from concurrent.futures import Executor, ProcessPoolExecutor
from itertools import product
from math import prod
from multiprocessing import get_context
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from experiments.common.report import table

ROUNDS, DOCUMENTS, LIST = 5, 5_000, 25
NATIVE = {"lightgbm": "lambdarank", "xgboost": "rank:ndcg"}
HEADS = (
    "engine",
    "objective",
    "workers",
    "features",
    "bins",
    "leaves",
    "bytes a round",
    "a worker, leaf, feature and bin",
)


class Shape(NamedTuple):
    """What the bytes depend on."""

    workers: int
    features: int
    bins: int
    leaves: int


SHAPES = (
    Shape(4, 20, 63, 16),
    Shape(4, 20, 255, 16),
    Shape(2, 40, 255, 32),
    Shape(4, 40, 255, 32),
    Shape(8, 40, 255, 32),
)


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
    shape: Shape,
    rounds: int,
) -> None:
    """Train on the rows of a worker."""
    import numpy as np

    _, features, bins, leaves = shape
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


def networks(engine: str, workers: int) -> list[dict[str, Any]]:
    """The network parameters of each worker."""
    if engine == "lightgbm":
        ports = [_free_port() for _ in range(workers)]
        machines = ",".join(f"127.0.0.1:{port}" for port in ports)
        return [{"machines": machines, "num_machines": workers, "local_listen_port": port} for port in ports]
    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(n_workers=workers, host_ip="127.0.0.1", sortby="task")
    tracker.start()
    Thread(target=tracker.wait_for, daemon=True).start()
    return [tracker.worker_args() | {"DMLC_TASK_ID": str(worker)} for worker in range(workers)]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def moved(pool: Executor, engine: str, objective: Any, shape: Shape, rounds: int) -> int:
    """Bytes that a training sends over all workers."""
    before = sent()
    calls = [
        pool.submit(work, engine, objective, network, worker, shape, rounds)
        for worker, network in enumerate(networks(engine, shape.workers))
    ]
    for call in calls:
        call.result()
    return sent() - before


def row(engine: str, shape: Shape, objective: Any) -> tuple[str, ...]:
    """A row of the table."""
    with ProcessPoolExecutor(shape.workers, get_context("spawn")) as pool:
        few, many = (moved(pool, engine, objective, shape, rounds) for rounds in (ROUNDS, 2 * ROUNDS))
    of_round = (many - few) / ROUNDS
    counts = (f"{of_round:,.0f}", f"{of_round / prod(shape):.1f}")
    return engine, str(objective), *map(str, shape), *counts


def main() -> None:
    """Print the table of benchmarks/results/network.md."""
    from lambdaboost import LambdaRank

    rows = [
        row(engine, shape, objective)
        for engine, shape in product(NATIVE, SHAPES)
        for objective in (NATIVE[engine], LambdaRank())
    ]
    print(table(HEADS, rows))


if __name__ == "__main__":
    main()
