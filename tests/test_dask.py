"""Dask over two processes: the model of one machine, whole queries, errors before any training."""

import os
import signal
import sys
import time
from contextlib import contextmanager
from functools import partial
from itertools import pairwise

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from one_machine import OBJECTIVE, PARAMS, booster_of, log, scores

from lambdaboost import NDCG, Blend, GradientStep, InversePropensity, LambdaRank, Queries, RankNet
from lambdaboost.clicks import Propensities
from lambdaboost.datasets import Collection

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

import lambdaboost.dask  # noqa: E402
from lambdaboost.dask import finish, train  # noqa: E402

TRAIN, VALID = log(48, 7), log(20, 8)
X, Q = TRAIN.features, TRAIN.queries
CUTS = (0, 12, 24, 33, 48)  # queries of four partitions
N, NAMES = len(X), [f"x{at}" for at in range(6)]
WEIGHT = np.repeat(np.linspace(0.5, 2, Q.n_queries), Q.sizes).astype(np.float32)


def frame_of(log, first=0):
    q = log.queries
    frame = pd.DataFrame(log.features, columns=NAMES)
    return frame.assign(qid=first + q.query_of_row, grade=q.relevance, clicks=q.labels["clicks"])


FRAME, VALID_FRAME = frame_of(TRAIN, 100), frame_of(VALID)
COLUMNS = {"query": "qid", "relevance": "grade", "sources": ["clicks"]}


@contextmanager
def client_of_two_workers():
    with (
        dask.config.set({"distributed.scheduler.work-stealing": False}),  # both have partitions, however busy
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    with client_of_two_workers() as client:
        yield client


@pytest.fixture
def own_client():
    """A cluster of this test alone: Dask may give up a killed worker, also after it has come back."""
    with client_of_two_workers() as client:
        yield client


def parts_of(frame, cuts=CUTS, offsets=Q.offsets):
    """A Dask frame in partitions of whole queries."""
    rows = offsets[list(cuts)]
    pieces = [frame.iloc[a:b] for a, b in pairwise(rows)]
    return dd.concat([dd.from_pandas(piece, npartitions=1) for piece in pieces])


def valid_parts(frame=VALID_FRAME):
    return parts_of(frame, (0, 5, 12, 20), VALID.queries.offsets)


def on_cluster(client, engine, rounds=12, objective=OBJECTIVE, params=None, frame=FRAME, **more):
    params = PARAMS.get(engine, {}) if params is None else params
    frame = parts_of(frame) if isinstance(frame, pd.DataFrame) else frame
    return train(client, params, frame, engine=engine, rounds=rounds, objective=objective, **COLUMNS | more)


def on_one_machine(engine, rounds=12, objective=OBJECTIVE, params=None, position=None, weight=None, **more):
    params = PARAMS[engine] if params is None else params
    q = Queries(Q.relevance, Q.sizes, weight=weight, position=position, clicks=Q.labels["clicks"])
    return booster_of(engine, params, Collection(X, q), rounds, objective, **more)


def same(engine, booster, expected, atol=1e-6):
    one, other = (scores(engine, of, X) for of in (booster, expected))
    assert np.ptp(other) > 0.1
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=atol)


# The model.


RANK, CURVE = np.arange(N) % 7 + 1, Propensities(tuple(1 / np.arange(1, 9)))
# What the cluster and one machine are given.
SETTINGS = {
    "weights": ({"frame": FRAME.assign(w=WEIGHT), "weight": "w"}, {"weight": WEIGHT}),
    "positions": ({"frame": FRAME.assign(rank=RANK), "position": "rank"}, {"position": RANK}),
    "gradient steps": ({}, {}),  # their smallest leaf is that of the documents of all workers
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_model_of_one_machine(client, engine, setting):
    on_workers, here = SETTINGS[setting]
    shared = {}
    if setting == "positions":
        shared = {"objective": InversePropensity(LambdaRank(), CURVE), "rounds": 4}
    if setting == "gradient steps":
        params = {
            name: value for name, value in PARAMS[engine].items() if not name.endswith(("in_leaf", "weight"))
        }
        shared = {"objective": GradientStep(OBJECTIVE), "params": params}
    booster = on_cluster(client, engine, **on_workers, **shared)
    same(engine, booster, on_one_machine(engine, **here, **shared))
    assert (booster.feature_name() if engine == "lightgbm" else booster.feature_names) == NAMES
    if engine == "lightgbm":  # nothing of the cluster is left
        text = booster.model_to_string()
        assert "[machines: ]" in text and "[num_machines: 1]" in text and "[tree_learner: serial]" in text
        assert "127.0.0.1" not in text


def test_early_stopping_is_that_of_one_machine_by_columns_of_the_same_names(client, engine):
    stop = {"measure": NDCG(5), "early_stopping": 3, "rounds": 60}
    params = PARAMS[engine] | {"learning_rate": 1.0}
    expected = on_one_machine(engine, params=params, valid=VALID, **stop)
    for columns in (list(VALID_FRAME), list(VALID_FRAME)[::-1]):
        booster = on_cluster(client, engine, params=params, valid=valid_parts(VALID_FRAME[columns]), **stop)
        rounds = [
            b.num_trees() if engine == "lightgbm" else b.num_boosted_rounds() for b in (booster, expected)
        ]
        assert rounds[0] == rounds[1] < 55
        same(engine, booster, expected, atol=1e-4)
    with pytest.raises(ValueError, match="lacks the features 'x3'"):
        on_cluster(client, engine, valid=valid_parts(VALID_FRAME.drop(columns="x3")), **stop)


def test_objectives_in_the_engines_own_dask(client):
    """Without further sources, an objective drops into the engines' own interfaces."""
    frame = parts_of(FRAME)
    sizes = dd.from_pandas(pd.Series(Q.sizes), npartitions=1).to_dask_array(lengths=True)
    sizes = sizes.rechunk((tuple(np.diff(CUTS).tolist()),))
    ranker = lgb.DaskLGBMRanker(client=client, n_estimators=12, objective=LambdaRank(), **PARAMS["lightgbm"])
    with pytest.warns(UserWarning):  # of ports that it looks for
        ranker.fit(
            frame[NAMES].to_dask_array(lengths=True), frame["grade"].to_dask_array(lengths=True), group=sizes
        )
    expected = on_one_machine("lightgbm", objective=LambdaRank())
    np.testing.assert_allclose(ranker.booster_.predict(X), expected.predict(X), rtol=1e-5, atol=1e-6)

    from xgboost import dask as dxgb

    data = dxgb.DaskDMatrix(client, frame[NAMES], frame["grade"], qid=frame["qid"])
    params = PARAMS["xgboost"] | {
        "objective": "rank:ndcg",
        "base_score": 0,
        "disable_default_eval_metric": True,
    }
    booster = dxgb.train(client, params, data, 12, obj=LambdaRank())["booster"]
    same("xgboost", booster, on_one_machine("xgboost", objective=LambdaRank()))


# Errors.


def test_errors_before_any_training(client):
    category = FRAME.assign(c=pd.Categorical(["a", "b"] * (N // 2)))
    unknown = parts_of(category.astype({"c": str})).astype({"c": "category"})
    halves = dd.from_pandas(FRAME, npartitions=7)
    wrong = (
        ("engine is 'catboost'", {"engine": "catboost"}),
        ("partition 0.*partition 1|query .* is in", {"frame": halves}),
        ("categories that Dask does not know", {"frame": unknown}),
        ("lambdarank|own Dask module", {"objective": "lambdarank"}),
        ("go together", {"early_stopping": 3}),
        ("is -1: .*≥ 0", {"frame": parts_of(FRAME.assign(grade=-1.0)), "objective": LambdaRank()}),
        ("no column 'nope'", {"query": "nope"}),
        ("'clicks', which partition . does not have: name its column in sources=", {"sources": ()}),
        ("rounds", {"rounds": 0}),
        ("name its column in position=", {"objective": InversePropensity(LambdaRank(), CURVE)}),
    )
    for message, more in wrong:
        with pytest.raises((ValueError, TypeError), match=message):
            on_cluster(client, **{"engine": "lightgbm"} | more)
    with pytest.raises(TypeError, match=r"expected a dask.dataframe.DataFrame"):
        train(client, {}, FRAME, **COLUMNS)


def test_known_categories_train(client, engine):
    """Codes are those of all categories, also where a partition lacks some."""
    kind = np.where(Q.query_of_row < 20, "a", np.where(np.arange(N) % 2, "b", "c"))
    frame = parts_of(FRAME.assign(c=kind)).astype({"c": "category"}).categorize()
    booster = on_cluster(client, engine, frame=frame)
    known = FRAME.assign(c=pd.Categorical(kind))
    table = known[[*NAMES, "c"]]
    if engine == "lightgbm":
        found = booster.predict(table)
    else:
        found = booster.predict(xgb.DMatrix(table, enable_categorical=True))
    assert found.shape == (N,) and np.ptp(found) > 0.1


def test_validation_data_have_the_codes_of_the_training(client):
    """A category that only they have is refused, whatever Dask knows of theirs."""
    frame, valid = (
        parts.assign(c=parts["qid"] % 2 + more).astype({"c": "category"}).categorize()
        for parts, more in ((parts_of(FRAME), 0), (valid_parts(), 5))
    )
    with pytest.raises(ValueError, match=r"column 'c' is '[56]' .*, none of its categories in training"):
        on_cluster(client, "lightgbm", frame=frame, valid=valid, early_stopping=3)


class OnTheSecondWorker:
    """A schedule that calls a function on the second worker in round 3; then the first one `waits` for some seconds."""

    def __init__(self, function, waits=0):
        self.function, self.waits = function, waits

    def __call__(self, iteration):
        from distributed import get_worker

        if iteration == 3:
            if get_worker().name > 0:  # one that Dask started for a lost one has a higher number
                self.function()
            time.sleep(self.waits)
        return 0.1


@pytest.fixture
def sent_by_value():
    """Classes and functions of this file, which workers cannot import."""
    import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def fails():
    raise RuntimeError("one worker fails")


def test_one_worker_fails(client, engine, sent_by_value):
    restart(client)
    with pytest.raises(RuntimeError, match="one worker fails"):
        on_cluster(client, engine, objective=Blend(RankNet(), LambdaRank(), OnTheSecondWorker(fails)))
    assert on_cluster(client, engine, rounds=1) is not None


def dies(path):
    """As the kernel kills for want of memory."""
    path.touch()
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="workers are killed by a signal")
@pytest.mark.parametrize("waits", [0, 600], ids=["goes on into the engine", "gives no sign of its own"])
def test_a_worker_that_dies_is_an_error_within_seconds(own_client, engine, waits, tmp_path, sent_by_value):
    """Whatever the engine makes of it on the other worker; and both can be used again."""
    client, killed = own_client, tmp_path / "killed"
    schedule = OnTheSecondWorker(partial(dies, killed), waits)
    with pytest.raises(RuntimeError, match=r"workers died during the call: tcp://.*train again"):
        on_cluster(client, engine, objective=Blend(RankNet(), LambdaRank(), schedule))
    assert time.time() - killed.stat().st_mtime < 250  # not the minutes that an engine waits
    restart(client)
    assert on_cluster(client, engine, rounds=1) is not None


def restart(client):
    """Wait for all workers; on a busy machine Dask may give up a killed one, so another is asked for."""
    deadline = time.monotonic() + 600
    while True:
        try:
            return client.wait_for_workers(2, timeout=20)
        except TimeoutError:
            if time.monotonic() > deadline:
                raise
            client.cluster.scale(2)


def test_a_worker_that_died_before_the_call(client, monkeypatch):
    address, gone = sorted(client.scheduler_info()["workers"])[0], "tcp://127.0.0.1:1"
    calls = {
        place: client.submit(int, workers=[place], allow_other_workers=False, pure=False)
        for place in (address, gone)
    }
    finish(client, {address: calls[address]})
    assert calls[address].result() == 0
    with pytest.raises(RuntimeError, match=f"workers died during the call: {gone}"):
        finish(client, calls)
    # Between the reading of its partitions and the training, as where another training ended it.
    read = lambdaboost.dask._read_partitions
    monkeypatch.setattr(
        lambdaboost.dask, "_read_partitions", lambda *of: [part._replace(worker=gone) for part in read(*of)]
    )
    with pytest.raises(RuntimeError, match=f"workers died before the training: {gone}; train again"):
        on_cluster(client, "lightgbm")
