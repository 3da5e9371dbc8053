"""The example that trains over Ray Train's workers: the model of one machine, restarts; `make test-large` runs it."""

import importlib
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from one_machine import OBJECTIVE, PARAMS, booster_of, log, scores

from lambdaboost import NDCG, Blend, ClickTier, LambdaRank

# Ray starts many processes, which takes a while on a busy machine; no token is written, nothing is reported.
os.environ.setdefault("RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S", "300")
os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
pytest.importorskip("ray.train", exc_type=ImportError)
import ray
import ray.cloudpickle

pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.skipif(os.name != "posix", reason="a worker is killed by a signal"),
]
TRAIN, VALID = log(40, 1), log(20, 2)


class Dies:
    """A schedule in which the second worker is killed in round 13, the first time."""

    def __init__(self, path):
        self.path = path

    def __call__(self, iteration):
        if iteration == 12 and ray.train.get_context().get_world_rank() == 1 and not self.path.exists():
            self.path.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return 0.1 + 0.02 * iteration


@pytest.fixture(scope="module")
def example():
    module = importlib.import_module("ray_train")
    for of_driver in (module, sys.modules[__name__]):
        ray.cloudpickle.register_pickle_by_value(of_driver)
    ray.init(num_cpus=5, include_dashboard=False, log_to_driver=False)
    yield module
    ray.shutdown()


def on_one_machine(engine, config):
    """The scores of the training without a cluster, and its number of rounds."""
    stop = {"valid": VALID, "measure": NDCG(10), "early_stopping": config["early_stopping"]}
    booster = booster_of(engine, config["params"], TRAIN, config["rounds"], OBJECTIVE, **stop)
    best = booster.current_iteration() if engine == "lightgbm" else booster.num_boosted_rounds()
    return scores(engine, booster, VALID.features), best


def predicted(engine, result, example):
    with result.checkpoint.as_directory() as folder:
        read = importlib.import_module(engine).Booster
        booster = read(model_file=Path(folder) / example.MODEL[engine])
    if engine == "xgboost":  # whose file has the rounds after the best one too
        booster = booster[: result.metrics["best"]]
    return scores(engine, booster, VALID.features)


def assert_same_model(there, here):
    """Workers add histograms up in another order, which may break a tie between two splits otherwise."""
    assert np.isclose(there, here, rtol=1e-4, atol=1e-4).mean() > 0.95
    assert np.ptp(here) > 0.5


def configured(example, engine, folder, **more):
    shards = [example.write(log, folder / name, 6) for name, log in (("train", TRAIN), ("valid", VALID))]
    return example.config(engine, *shards) | {"params": PARAMS[engine]} | more


@pytest.mark.parametrize("workers", [2, 4])
def test_early_stopping_gives_the_model_of_one_machine(example, engine, workers, tmp_path):
    # It stops after a few rounds: in a later one a tie between two splits may be broken otherwise.
    faster = PARAMS[engine] | {"learning_rate": 0.3}
    config = configured(example, engine, tmp_path, rounds=60, early_stopping=1, params=faster)
    result = example.fit(config, tmp_path, workers)
    expected, best = on_one_machine(engine, config)
    assert result.metrics["best"] == best < 10
    assert_same_model(predicted(engine, result, example), expected)


def test_a_killed_worker_restarts_the_training_from_the_checkpoint(example, engine, tmp_path):
    killed = tmp_path / "killed"
    config = configured(example, engine, tmp_path, rounds=20, early_stopping=20, every=5)
    config["objective"] = Blend(LambdaRank(), ClickTier(), Dies(killed))
    result = example.fit(config, tmp_path, workers=4)
    assert killed.exists() and result.error is None and result.metrics["rounds"] == 20
    expected, _ = on_one_machine(engine, config)
    assert_same_model(predicted(engine, result, example), expected)
