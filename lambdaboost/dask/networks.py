"""The engines' own networks, and how a worker trains within one."""

from __future__ import annotations

import gc
import traceback
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any
from urllib.parse import urlparse

import numpy as np

from lambdaboost.dask.rows import Rows, joined
from lambdaboost.engines.engine import Training, engine_named
from lambdaboost.engines.train import fit
from lambdaboost.objectives import Objective
from lambdaboost.objectives.base.wrapper import Wrapper

Network = dict[str, Any]  # LightGBM's parameters of a worker, or the arguments of XGBoost's communicator
Trained = tuple[bytes, int]  # the model's file, the same on all workers, and its best round
# LightGBM's network parameters in the text of a model, as in one trained on a single machine.
ALONE = {"machines": "", "num_machines": "1", "local_listen_port": "12400", "tree_learner": "serial"}


def _lightgbm_network(client: Any, workers: list[str], params: Mapping[str, Any]) -> dict[str, Network]:
    learner = params.get("tree_learner", "data")
    if learner not in ("data", "data_parallel", "voting", "voting_parallel"):
        raise ValueError(
            f"params has tree_learner={learner!r}: rows are spread over the workers, so use 'data' or 'voting'"
        )
    if len(workers) == 1:
        return {workers[0]: {"tree_learner": "serial"}}
    machines: list[str] = []
    while len(set(machines)) < len(workers):  # workers on one host may receive the same port
        ports = client.run(_free_port, workers=workers)
        machines = [f"{urlparse(worker).hostname}:{ports[worker]}" for worker in workers]
    shared = {"machines": ",".join(machines), "num_machines": len(machines), "tree_learner": learner}
    return {worker: shared | {"local_listen_port": ports[worker]} for worker in workers}


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("", 0))
        return probe.getsockname()[1]


def _xgboost_network(client: Any, workers: list[str], params: Mapping[str, Any]) -> dict[str, Network]:
    host = urlparse(client.scheduler.address).hostname
    shared = client.run_on_scheduler(_start_tracker, len(workers), host)
    return {worker: shared | {"DMLC_TASK_ID": f"{rank:06d}"} for rank, worker in enumerate(workers)}


def _start_tracker(workers: int, host: str) -> Network:
    """Start what XGBoost's workers find one another by; its address."""
    from threading import Thread

    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(n_workers=workers, host_ip=host, sortby="task")
    tracker.start()
    Thread(target=tracker.wait_for, daemon=True).start()
    return dict(tracker.worker_args())


class Lasting(Wrapper, registered=False):
    """An objective that records an error and continues the training without gradients.

    LightGBM's other workers would wait forever for a worker that stops.
    """

    objective: Objective
    errors: list[Exception] = field(default_factory=list, compare=False)

    def gradient(self, scores: Any, q: Any, iteration: int = 0) -> Any:
        """Gradient and hessian; zeros and ones after an error."""
        if not self.errors:
            try:
                return self.objective.gradient(scores, q, iteration)
            except Exception as error:
                self.errors.append(error)
        return np.zeros(scores.size, dtype=np.float32), np.ones(scores.size, dtype=np.float32)


def _on_lightgbm(parts: list[Rows], training: Training, network: Network, held_out: list[Rows]) -> Trained:
    from lambdaboost._lightgbm import with_parameters

    gc.collect()  # a booster of an earlier training that is deleted during this one would close its network
    lasting = Lasting(training.objective)
    # By its own default leaf size LightGBM would drop features.
    params = {"feature_pre_filter": False, **training.params, **network}
    try:
        training = replace(training, objective=lasting, params=params)
        booster = _trained("lightgbm", "num_threads", parts, training, held_out)
    except BaseException as error:
        # The booster closes its network when it is deleted, which the traceback would delay.
        traceback.clear_frames(error.__traceback__)
        raise
    booster.free_network()
    if lasting.errors:
        raise lasting.errors[0]
    return with_parameters(booster.model_to_string(), ALONE).encode(), booster.best_iteration


def _on_xgboost(parts: list[Rows], training: Training, network: Network, held_out: list[Rows]) -> Trained:
    from xgboost.collective import CommunicatorContext

    with CommunicatorContext(**network):
        booster = _trained("xgboost", "nthread", parts, training, held_out)
    return bytes(booster.save_raw()), booster.num_boosted_rounds() - 1


def _trained(engine: str, threads: str, parts: list[Rows], training: Training, held_out: list[Rows]) -> Any:
    from distributed import get_worker

    stock: Any = engine_named(engine)  # its data sets are made from any features, as `Rows` has them
    training = replace(training, params={**training.params, threads: int(get_worker().state.nthreads)})
    data = stock.data(joined(parts))
    valid = stock.data(joined(held_out), data) if held_out else None
    return fit(stock, training, data, valid, lambda _: None)


ENGINES = {"lightgbm": (_lightgbm_network, _on_lightgbm), "xgboost": (_xgboost_network, _on_xgboost)}
