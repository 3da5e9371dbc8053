"""Dask over two processes: model and measures of one machine, whole queries, errors before any training."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from one_machine import OBJECTIVE, PARAMS, booster_of
from one_machine import scores as scores_of

from experiments.yue2007.slopes import FiniteDifference
from lambdaboost import (
    CNDCG,
    NDCG,
    Blend,
    ClickDCG,
    GradientStep,
    LambdaRank,
    Queries,
    RankNet,
    graded,
)
from lambdaboost import xgboost as lb_xgboost
from lambdaboost.clicks import Propensities
from lambdaboost.datasets import Collection
from lambdaboost.evaluation import compare

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")

from lambdaboost.dask import evaluate, train  # noqa: E402
from lambdaboost.dask.networks import Lasting  # noqa: E402
from lambdaboost.dask.waiting import WorkerDied, finish  # noqa: E402

SIZES = [20, 15, 30, 25] * 12
CUTS = (0, 12, 24, 33, 48)  # queries of four partitions
RNG = np.random.default_rng(7)
N = sum(SIZES)
RELEVANCE = RNG.choice(4, p=[0.5, 0.25, 0.15, 0.1], size=N).astype(np.float32)
CLICKS = np.where(RNG.random(N) < 0.3, np.round(RNG.random(N), 1), np.nan).astype(np.float32)
# Few values, all of them on each worker: LightGBM finds its bins from the rows of single workers.
X = np.clip(np.round(RELEVANCE[:, None] + 2 * RNG.normal(size=(N, 6))), 0, 4)
Q = Queries(RELEVANCE, sizes=SIZES, clicks=CLICKS)
QID = Q.query_of_row + 100
WEIGHT = np.repeat(np.linspace(0.5, 2, len(SIZES)), SIZES).astype(np.float32)
RANK = np.arange(N) % 7 + 1
VALID = Collection(
    np.clip(np.round(RELEVANCE[::2, None] + 2 * RNG.normal(size=(N // 2, 6))), 0, 4),
    Queries(RELEVANCE[::2], sizes=[9] * (N // 18), clicks=CLICKS[::2]),
)
TRAIN = Collection(X, Queries(RELEVANCE, sizes=SIZES, clicks=CLICKS, weight=WEIGHT, position=RANK))
LIGHTGBM, XGBOOST = PARAMS["lightgbm"], PARAMS["xgboost"]
ENGINE = pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def spread(values, cuts=CUTS, q=Q):
    """Rows in partitions of whole queries."""
    values = np.asarray(values)
    rows = tuple(np.diff(q.offsets[list(cuts)]).tolist())
    return da.from_array(values, chunks=(rows, *((size,) for size in values.shape[1:])))


def of_valid(values):
    """Rows of the validation data in three partitions."""
    return spread(values, (0, 5, 40, VALID.queries.n_queries), VALID.queries)


VALID_PARTS = {
    "X": of_valid(VALID.features),
    "y": of_valid(VALID.queries.relevance),
    "qid": of_valid(VALID.queries.query_of_row),
    "sources": {"clicks": of_valid(VALID.queries.labels["clicks"])},
}


def given(**more):
    return {
        "X": spread(X),
        "y": spread(RELEVANCE),
        "qid": spread(QID),
        "sources": {"clicks": spread(CLICKS)},
    } | more


def on_cluster(client, engine, rounds=12, objective=OBJECTIVE, params=None, **more):
    params = PARAMS[engine] if params is None else params
    return train(client, params, engine=engine, rounds=rounds, objective=objective, **given(**more))


def on_one_machine(engine, rounds=12, objective=OBJECTIVE, weight=None, params=None, position=None, **more):
    params = PARAMS[engine] if params is None else params
    q = Queries(RELEVANCE, sizes=SIZES, clicks=CLICKS, weight=weight, position=position)
    return booster_of(engine, params, Collection(X, q), rounds, objective, **more)


def scores(engine, booster, X=X):
    return scores_of(engine, booster, X)


# The model.


@pytest.mark.parametrize(
    "objective", [RankNet(), OBJECTIVE, GradientStep(FiniteDifference(ClickDCG(5)))], ids=repr
)
def test_on_workers_an_objective_reads_what_it_does_alone(objective):
    """RankNet takes labels below 0, on workers too."""
    lasting = Lasting(objective)
    for name in ("sources", "allows_negative", "reads_positions", "ranks_ties_by_row"):
        assert getattr(lasting, name) == getattr(objective, name)


@ENGINE
def test_the_engine_itself_gives_the_same_model(client, engine):
    """What ours can be expected to do: native objectives over the cluster and on one machine."""
    if engine == "lightgbm":
        sizes = da.from_array(np.array(SIZES), chunks=(tuple(np.diff(CUTS).tolist()),))
        with pytest.warns(UserWarning):  # of ports that it looks for
            there = lgb.DaskLGBMRanker(client=client, n_estimators=12, **LIGHTGBM).fit(
                spread(X), spread(RELEVANCE), group=sizes
            )
        here = lgb.LGBMRanker(n_estimators=12, n_jobs=1, **LIGHTGBM).fit(X, RELEVANCE, group=SIZES)
        there, here = there.booster_, here.booster_
    else:
        from xgboost import dask as dxgb

        params = XGBOOST | {"objective": "rank:ndcg", "base_score": 0}
        data = dxgb.DaskDMatrix(client, spread(X), spread(RELEVANCE), qid=spread(QID))
        there = dxgb.train(client, params, data, 12)["booster"]
        here = xgb.train(params, xgb.DMatrix(X, RELEVANCE, qid=QID), 12)
    np.testing.assert_allclose(scores(engine, there), scores(engine, here), rtol=1e-5, atol=1e-6)


@ENGINE
@pytest.mark.parametrize("leaves", ["engine", "gradient"])
def test_the_model_of_one_machine(client, engine, leaves):
    params = dict(PARAMS[engine])
    if leaves == "gradient":  # leaves then hold a twentieth of all documents, not of a worker's
        del params["min_data_in_leaf" if engine == "lightgbm" else "min_child_weight"]
    booster = on_cluster(client, engine, leaves=leaves, params=params)
    expected = scores(engine, on_one_machine(engine, leaves=leaves, params=params))
    assert np.ptp(expected) > 0.5
    np.testing.assert_allclose(scores(engine, booster), expected, rtol=1e-5, atol=1e-6)


@ENGINE
def test_features_of_many_values(client, engine):
    """Bins are found worker by worker, so trees differ from those of one machine, and rank as well."""
    rng = np.random.default_rng(11)
    many = RELEVANCE[:, None] + 2 * rng.normal(size=(N, 6))
    objective = LambdaRank()
    booster = on_cluster(client, engine, X=spread(many), objective=objective, rounds=20)
    alone = booster_of(engine, PARAMS[engine], Collection(many, Q), 20, objective)
    fresh = RELEVANCE[:, None] + 2 * rng.normal(size=(N, 6))
    there, here = (NDCG(10)(scores(engine, b, fresh), Q) for b in (booster, alone))
    untrained = NDCG(10)(np.zeros(N), Q)
    assert here > untrained + 0.1
    assert abs(there - here) < 0.03


@ENGINE
def test_weights(client, engine):
    booster = on_cluster(client, engine, weight=spread(WEIGHT))
    expected = scores(engine, on_one_machine(engine, weight=WEIGHT))
    np.testing.assert_allclose(scores(engine, booster), expected, rtol=1e-5, atol=1e-6)
    assert np.abs(expected - scores(engine, on_one_machine(engine))).max() > 1e-3


@ENGINE
def test_frames_shuffled_by_query(client, engine):
    """Rows of a query anywhere in a partition; features by name."""
    dd = pytest.importorskip("dask.dataframe")
    names = [f"f{i}" for i in range(6)]
    frame = pd.DataFrame(X, columns=names).assign(qid=QID, y=RELEVANCE, clicks=CLICKS)
    scattered = dd.from_pandas(frame.sample(frac=1, random_state=1), npartitions=4, sort=False)
    with pytest.raises(ValueError, match=r"query \d+ is in partition 0 and partition"):
        on_cluster(
            client,
            engine,
            X=scattered[names],
            y=scattered["y"],
            qid=scattered["qid"],
            sources=scattered[["clicks"]],
        )
    divisions = client.persist(scattered.shuffle("qid"))
    booster = on_cluster(
        client,
        engine,
        X=divisions[names],
        y=divisions["y"],
        qid=divisions["qid"],
        sources=divisions[["clicks"]],
        valid=VALID,
        early_stopping=50,
    )
    assert (booster.feature_name() if engine == "lightgbm" else booster.feature_names) == names
    alone = divisions.compute().sort_values("qid", kind="stable")
    q = Queries(alone["y"], ids=alone["qid"], clicks=alone["clicks"])
    rounds = booster.best_iteration + (engine == "xgboost")
    expected = booster_of(engine, PARAMS[engine], Collection(alone[names].to_numpy(), q), rounds, OBJECTIVE)
    expected = scores(engine, expected, frame[names])
    np.testing.assert_allclose(scores(engine, booster, frame[names]), expected, rtol=1e-5, atol=1e-6)


def from_shards(folder, data=TRAIN, shards=8, padding=0):
    """The arguments of `train` as columns of Parquet files of whole queries, of which nothing is read here."""
    dd = pytest.importorskip("dask.dataframe")
    q = data.queries
    names = [f"f{i}" for i in range(6 + padding)]
    features = pd.DataFrame(np.hstack([data.features, np.zeros((len(q.relevance), padding))]), columns=names)
    given = {"y": q.relevance, "qid": q.query_of_row, "weight": q.weight, "position": q.position}
    columns = {name: values for name, values in given.items() if values is not None}
    folder.mkdir()
    for shard, of_shard in features.assign(clicks=q.labels["clicks"], **columns).groupby(
        q.query_of_row * shards // q.n_queries
    ):
        of_shard.to_parquet(folder / f"part-{shard}.parquet", index=False)
    frame = dd.read_parquet(folder)
    return {"X": frame[names], "sources": frame[["clicks"]]} | {name: frame[name] for name in columns}


def test_files_are_read_by_the_workers_alone(client, tmp_path, monkeypatch):
    """Dask joins small files of which one column is read, but not those of many; no feature reaches the client."""
    from dask.sizeof import sizeof

    shards = from_shards(tmp_path / "train", padding=60)
    assert len(shards["X"].to_delayed()) == 8 > len(shards["y"].to_delayed())
    received, gather = [], client.gather
    monkeypatch.setattr(client, "gather", lambda *a, **k: received.append(gather(*a, **k)) or received[-1])
    booster = train(client, LIGHTGBM, objective=OBJECTIVE, rounds=3, **shards)
    features = shards.pop("X")
    there = features.map_partitions(booster.predict, meta=(None, float))
    figures = evaluate(client, there, measures=[NDCG(10), CNDCG(5)], **shards)
    assert (
        0 < sum(map(sizeof, received)) < N * features.shape[1] < features.memory_usage().sum().compute() / 4
    )

    here = on_one_machine("lightgbm", rounds=3, weight=WEIGHT).predict(X)
    np.testing.assert_allclose(booster.predict(features.compute()), here, rtol=1e-5, atol=1e-6)
    q = Queries(RELEVANCE, ids=QID, weight=WEIGHT, clicks=CLICKS)
    for measure in (NDCG(10), CNDCG(5)):
        assert figures.mean(measure) == measure(booster.predict(features.compute()), q)


def test_measures_are_those_of_one_process(client):
    """To the bit, whatever the partitions, and NaN where a measure is undefined."""
    there, here = RNG.normal(size=N), Queries(RELEVANCE, ids=QID, clicks=CLICKS, position=RANK)
    given = {"qid": spread(QID), "sources": {"clicks": spread(CLICKS)}, "position": spread(RANK)}
    measures = (NDCG(3), CNDCG(3, empty=float("nan")), ClickDCG(5))
    figures = evaluate(client, spread(there), spread(RELEVANCE), measures=measures, name="first", **given)
    for measure in measures:
        np.testing.assert_array_equal(figures.per_query(measure), measure.per_query(there, here))
        assert figures.mean(measure) == measure(there, here)
    second = evaluate(client, spread(X[:, 0]), spread(RELEVANCE), measures="ndcg@3", name="second", **given)
    np.testing.assert_array_equal(
        compare(figures, second, measures="ndcg@3")["second", NDCG(3)].after, second.per_query(NDCG(3))
    )


def test_scores_that_cannot_be_evaluated(client):
    broken = np.where(np.arange(N) == Q.offsets[12] + 2, np.nan, X[:, 0])
    cut = np.where(np.arange(N) == Q.offsets[12], QID[0], QID)
    for error, message, scores, more in (
        (ValueError, r"partition 1: scores\[2\] is nan", spread(broken), {}),
        (ValueError, "query 100 is in partition 0 and partition 1", spread(X[:, 0]), {"qid": spread(cut)}),
        (
            ValueError,
            r"CNDCG\(k=3\) reads the source 'clicks': give it",
            spread(X[:, 0]),
            {"measures": CNDCG(3)},
        ),
        (
            ValueError,
            "measures has ClickDCG.*value of a query depends on all others",
            spread(X[:, 0]),
            {"measures": ClickDCG(3, source="relevance", estimator="snips")},
        ),
        (ValueError, "y has 4 partitions, scores has 2", spread(X[:, 0], (0, 12, 48)), {}),
        (ValueError, "scores has no rows", da.zeros(0), {"y": da.zeros(0), "qid": da.zeros(0)}),
        (TypeError, "scores is ndarray, expected a Dask array", X[:, 0], {}),
    ):
        given = {"y": spread(RELEVANCE), "qid": spread(QID), "measures": NDCG(3)} | more
        with pytest.raises(error, match=message):
            evaluate(client, scores, **given)


@ENGINE
def test_one_worker_will_do(client, engine):
    whole = (0, 48)
    rows = {"X": spread(X, whole), "y": spread(RELEVANCE, whole), "qid": spread(QID, whole)}
    booster = on_cluster(client, engine, sources={"clicks": spread(CLICKS, whole)}, **rows)
    expected = scores(engine, on_one_machine(engine))
    np.testing.assert_allclose(scores(engine, booster), expected, rtol=1e-5, atol=1e-6)


@ENGINE
@pytest.mark.parametrize("valid", [VALID, VALID_PARTS], ids=["in the client", "on the workers"])
def test_early_stopping_is_that_of_one_machine(client, engine, valid):
    """On validation data that every worker has, so that all stop in the same round, which the booster knows."""
    faster = PARAMS[engine] | {"learning_rate": 1.0}
    there = on_cluster(
        client, engine, rounds=60, params=faster, valid=valid, measure=NDCG(5), early_stopping=5
    )
    here = on_one_machine(engine, 60, params=faster, valid=VALID, measure=NDCG(5), early_stopping=5)
    best = here.best_iteration
    if engine == "lightgbm":
        assert there.current_iteration() == best < 55
    else:
        assert there.num_boosted_rounds() == best + 1 < 55
        here = here[: best + 1]
    assert there.best_iteration == best
    np.testing.assert_allclose(scores(engine, there), scores(engine, here), rtol=1e-4, atol=1e-4)


@ENGINE
def test_validation_that_cannot_be_is_refused_before_any_training(client, engine):
    narrow = Collection(VALID.features[:, :5], VALID.queries)
    graded_only = Collection(VALID.features, Queries(VALID.queries.relevance, sizes=VALID.queries.sizes))
    stop = {"valid": VALID, "early_stopping": 5}
    for error, message, more in (
        (ValueError, "valid and early_stopping go together", {"early_stopping": 5}),
        (ValueError, "valid and early_stopping go together", {"valid": VALID}),
        (
            TypeError,
            r"valid is a ndarray, expected Collection\(features, Queries.* or Dask collections as \{'X': …",
            stop | {"valid": VALID.features},
        ),
        (ValueError, "valid has 5 features, X has 6: give the same columns", stop | {"valid": narrow}),
        (ValueError, "clicks", stop | {"valid": graded_only, "measure": CNDCG(3)}),
        (TypeError, "measure is 'ndcg'", stop | {"measure": "ndcg"}),
        (ValueError, "early_stopping is 0", stop | {"early_stopping": 0}),
        (ValueError, "engine is 'catboost': give 'lightgbm' or 'xgboost'", {}),
    ):
        with pytest.raises(error, match=message):
            on_cluster(client, engine if more else "catboost", params={}, **more)


def test_validation_that_workers_read_is_refused_before_any_training(client, monkeypatch):
    monkeypatch.setattr("lambdaboost.dask.training.finish", lambda *_: pytest.fail("it trains"))
    grades, ids = VALID.queries.relevance, VALID.queries.query_of_row
    first = np.arange(ids.size) == VALID.queries.offsets[5]  # row of the second partition
    cut = np.where(first, 4, ids)
    nothing = {
        "X": da.zeros((0, 6)),
        "y": da.zeros(0),
        "qid": da.zeros(0),
        "sources": {"clicks": da.zeros(0)},
    }
    for error, message, more in (
        (ValueError, "valid has no qid: give {'X': …, 'y': …, 'qid': …}", {"qid": None}),
        (ValueError, "valid has 'group': give {'X': …", {"group": of_valid(ids)}),
        (TypeError, "valid: y is ndarray, expected a Dask array", {"y": grades}),
        (ValueError, "valid: query 4 is in partition 0 and partition 1: keep", {"qid": of_valid(cut)}),
        (ValueError, "valid: y has 1 partitions, X has 3", {"y": da.from_array(grades, chunks=-1)}),
        (ValueError, "valid: X has no rows", nothing),
        (
            ValueError,
            r"valid: CNDCG\(k=3\) reads the source 'clicks': give it in sources=",
            {"sources": None},
        ),
        (
            ValueError,
            r"valid: partition 1: clicks\[0\] is -1",
            {"sources": {"clicks": of_valid(-1.0 * first)}},
        ),
        (ValueError, "valid has 5 features, X has 6: give the same", {"X": of_valid(VALID.features[:, :5])}),
    ):
        with pytest.raises(error, match=message):
            on_cluster(client, "lightgbm", valid=VALID_PARTS | more, measure=CNDCG(3), early_stopping=5)


def test_validation_with_other_columns_is_refused(client):
    """LightGBM would take them by their place."""
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(pd.DataFrame(X[:20], columns=list("abcdef")), npartitions=1)
    labels = {"y": frame["a"], "qid": frame["b"]}
    for error, message, features in (
        (ValueError, "valid has 'd' as column 2, X has 'c': give the same columns", frame[list("abdcef")]),
        (TypeError, "valid has X as Array, train as DataFrame: give the same kind", spread(X)),
    ):
        with pytest.raises(error, match=message):
            train(client, LIGHTGBM, frame, **labels, valid=labels | {"X": features}, early_stopping=5)


def test_nothing_of_the_cluster_is_left_in_the_model(client):
    text = on_cluster(client, "lightgbm", rounds=2).model_to_string()
    assert "[machines: ]" in text and "[num_machines: 1]" in text and "127.0.0.1" not in text


def test_objectives_in_the_engines_own_dask(client):
    """Without further sources, an objective drops into the engines' own interfaces."""
    sizes = da.from_array(np.array(SIZES), chunks=(tuple(np.diff(CUTS).tolist()),))
    ranker = lgb.DaskLGBMRanker(client=client, n_estimators=12, objective=LambdaRank(), **LIGHTGBM)
    with pytest.warns(UserWarning):
        ranker.fit(spread(X), spread(RELEVANCE), group=sizes)
    expected = scores("lightgbm", on_one_machine("lightgbm", objective=LambdaRank()))
    np.testing.assert_allclose(ranker.booster_.predict(X), expected, rtol=1e-5, atol=1e-6)

    from xgboost import dask as dxgb

    data = dxgb.DaskDMatrix(
        client, spread(X), spread(RELEVANCE), qid=spread(QID), label_lower_bound=spread(np.nan_to_num(CLICKS))
    )
    params = XGBOOST | {"objective": "rank:ndcg", "base_score": 0, "disable_default_eval_metric": True}
    booster = dxgb.train(client, params, data, 12, obj=OBJECTIVE)["booster"]
    local = lb_xgboost.DMatrix(X, RELEVANCE, qid=QID, sources={"clicks": np.nan_to_num(CLICKS)})
    expected = lb_xgboost.train(XGBOOST, local, 12, objective=OBJECTIVE, verbose_eval=False)
    np.testing.assert_allclose(scores("xgboost", booster), scores("xgboost", expected), rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_the_page_runs_as_a_script(tmp_path):
    """Its cluster starts processes, which import the script."""
    docs = Path(__file__).parent.parent / "docs"
    page = (docs / "distributed.md").read_text(encoding="utf-8")
    (code,) = (
        block for block in re.findall(r"^```python\n(.*?)^```", page, re.M | re.S) if "LocalCluster" in block
    )
    script = tmp_path / "page.py"
    script.write_text((docs / "howto" / "prelude.py").read_text(encoding="utf-8") + code, encoding="utf-8")
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr
    assert 1 <= int(ran.stdout.split()[-1]) <= 10


# Errors.


class FailsOnOneWorker:
    """A schedule that breaks on the second worker in round 3."""

    def __call__(self, iteration):
        from distributed import get_worker

        if iteration == 3 and get_worker().name == 1:
            raise RuntimeError("one worker fails")
        return 0.1


@ENGINE
def test_one_worker_fails(client, engine):
    import cloudpickle

    cloudpickle.register_pickle_by_value(__import__(__name__))
    try:
        with pytest.raises(RuntimeError, match="one worker fails"):
            on_cluster(client, engine, objective=Blend(RankNet(), LambdaRank(), FailsOnOneWorker()))
    finally:
        cloudpickle.unregister_pickle_by_value(__import__(__name__))
    assert on_cluster(client, engine, rounds=1) is not None


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a worker is killed by a signal")
@ENGINE
def test_four_workers_from_files(engine, tmp_path):
    """Sources, positions, weights, validation and measures; a killed worker, and a training after it."""
    import cloudpickle

    shards, valid = from_shards(tmp_path / "train"), from_shards(tmp_path / "valid", VALID, shards=3)
    stop = {"valid": valid, "measure": NDCG(5), "early_stopping": 5, "rounds": 60}
    faster = PARAMS[engine] | {"learning_rate": 1.0}
    given = {"engine": engine, "objective": OBJECTIVE} | shards
    cluster = distributed.LocalCluster(
        n_workers=4, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
    )
    cloudpickle.register_pickle_by_value(__import__(__name__))
    try:
        with cluster, distributed.Client(cluster) as client:
            booster = train(client, faster, **given, **stop)
            dies = Blend(RankNet(), LambdaRank(), Dies(tmp_path / "killed", False))
            with pytest.raises(WorkerDied, match=r"died during the call: .*train again"):
                train(client, faster, **given | {"objective": dies})
            restart(client, 4)
            again = train(client, faster, **given, **stop)
    finally:
        cloudpickle.unregister_pickle_by_value(__import__(__name__))
    first, second = scores(engine, booster), scores(engine, again)
    np.testing.assert_allclose(first, second, rtol=1e-5, atol=1e-6)
    if engine == "xgboost":  # on three workers or more LightGBM may differ
        here = Collection(X, TRAIN.queries.with_positions(None))  # which this objective would not read
        alone = booster_of(engine, faster, here, objective=OBJECTIVE, **stop | {"valid": VALID})
        assert booster.best_iteration == alone.best_iteration < 55
        expected = scores(engine, alone[: alone.best_iteration + 1])
        np.testing.assert_allclose(first, expected, rtol=1e-4, atol=1e-4)
    untrained, trained = NDCG(5)(np.zeros(N), Q), NDCG(5)(first, Q)
    assert trained > untrained + 0.1


class Dies:
    """A schedule in which the second worker is killed in round 3, as the kernel kills for want of memory.

    The first one goes on into the engine, or `waits`: then it gives no sign of its own.
    """

    def __init__(self, path, waits):
        self.path, self.waits = path, waits

    def __call__(self, iteration):
        from distributed import get_worker

        if iteration == 3 and get_worker().name == 1:
            self.path.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if iteration == 3 and self.waits:
            time.sleep(600)
        return 0.1


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="workers are killed by a signal")
@ENGINE
@pytest.mark.parametrize("waits", [False, True])
def test_a_worker_that_dies_is_an_error_within_seconds(client, engine, waits, tmp_path):
    """Whatever the engine makes of it on the other worker; and both can be used again."""
    import cloudpickle

    killed = tmp_path / "killed"
    cloudpickle.register_pickle_by_value(__import__(__name__))
    try:
        with pytest.raises(RuntimeError, match=r"workers? tcp://.* died during the call: .*train again"):
            on_cluster(client, engine, objective=Blend(RankNet(), LambdaRank(), Dies(killed, waits)))
    finally:
        cloudpickle.unregister_pickle_by_value(__import__(__name__))
    assert time.time() - killed.stat().st_mtime < 250  # not the minutes that an engine waits
    restart(client)
    assert on_cluster(client, engine, rounds=1) is not None


def restart(client, workers=2):
    """Wait for all workers; on a busy machine Dask may give up a killed one, so another is asked for."""
    deadline = time.monotonic() + 600
    while True:
        try:
            return client.wait_for_workers(workers, timeout=20)
        except TimeoutError:
            if time.monotonic() > deadline:
                raise
            client.cluster.scale(workers)


def test_a_worker_that_died_before_the_call(client):
    address, gone = sorted(client.scheduler_info()["workers"])[0], "tcp://127.0.0.1:1"
    calls = {
        place: client.submit(int, workers=[place], allow_other_workers=False, pure=False)
        for place in (address, gone)
    }
    finish(client, {address: calls[address]})
    assert calls[address].result() == 0
    with pytest.raises(WorkerDied, match=f"worker {gone} died during the call"):
        finish(client, calls)


@ENGINE
def test_positions_are_matched_by_name_whatever_a_partition_has(client, engine):
    place = np.where(Q.query_of_row < 20, "top", "side").astype(object)
    place[::3] = "foot"
    curve = Propensities([0.4, 0.2, 1.0], names=["foot", "side", "top"])
    objective = FiniteDifference(ClickDCG(k=3, propensities=curve))
    more = {"objective": objective, "rounds": 4}
    booster = on_cluster(client, engine, position=spread(place), **more)
    expected = scores(engine, on_one_machine(engine, position=place, **more))
    assert np.ptp(expected) > 0.1
    np.testing.assert_allclose(scores(engine, booster), expected, rtol=1e-5, atol=1e-6)
    zero = spread(np.where(np.arange(N) == Q.offsets[24], 0, 1))
    for message, wrong in (
        ("no position", {"position": None}),
        (
            r"partition 2: position\[0\] is 0: give the rank",
            {"position": zero, "objective": LambdaRank()},
        ),
        (
            r"partition [01]: position has \d+ rows, X has \d+",
            {"position": spread(place, (0, 11, 24, 33, 48))},
        ),
    ):
        with pytest.raises(ValueError, match=message):
            on_cluster(client, engine, **more | wrong)
    ranks = da.concatenate([spread(place).blocks[:2], spread(np.ones(N)).blocks[2:]])
    with pytest.raises(ValueError, match="position is a rank in one partition and a name in another"):
        on_cluster(client, engine, position=ranks, objective=LambdaRank())


@ENGINE
def test_rows_without_a_query_are_refused(client, engine):
    for missing in (np.where(np.arange(N) == 5, np.nan, QID), np.where(np.arange(N) == 5, None, QID)):
        with pytest.raises(
            ValueError, match="partition 0: qid is missing in row 5: give the query of every row"
        ):
            on_cluster(client, engine, qid=spread(missing))
    masked = da.ma.masked_where(spread(QID) == 107, spread(QID))
    with pytest.raises(ValueError, match=r"partition 0: qid is missing in row \d+"):
        on_cluster(client, engine, qid=masked)


@ENGINE
def test_masked_grades_are_missing_ones(client, engine):
    grades = np.where(np.arange(N) % 7 == 0, np.nan, RELEVANCE)
    masked = da.ma.masked_invalid(spread(grades))
    there, here = on_cluster(client, engine, y=masked), on_cluster(client, engine, y=spread(grades))
    np.testing.assert_array_equal(scores(engine, there), scores(engine, here))


@ENGINE
def test_errors_before_any_training(client, engine):
    cut = np.array(QID)
    cut[Q.offsets[12]] = cut[Q.offsets[12] - 1]  # the last query of a partition runs on in the next
    cut[Q.offsets[33]] = cut[Q.offsets[33] - 1]
    negative = np.array(RELEVANCE)
    negative[3] = -1
    for error, named, more in (
        (
            ValueError,
            "query 111 is in partition 0 and partition 1: keep the rows of a query",
            {"qid": spread(cut)},
        ),
        (
            ValueError,
            "qid has 2 partitions, X has 4: partition them alike",
            {"qid": spread(QID, (0, 20, 48))},
        ),
        (
            ValueError,
            r"partition [01]: y has \d+ rows, X has \d+",
            {"y": spread(RELEVANCE, (0, 11, 24, 33, 48))},
        ),
        (ValueError, r"reads the source 'clicks': give it in sources=\{'clicks': …\}", {"sources": None}),
        (ValueError, "-1", {"y": spread(negative)}),
        (TypeError, "y is ndarray, expected a Dask array, DataFrame or Series", {"y": RELEVANCE}),
        (ValueError, "normalize='all'.* no worker has all", {"objective": GradientStep(OBJECTIVE, "all")}),
        (ValueError, "normalize='all'", {"objective": Blend(RankNet(), GradientStep(RankNet(), "all"), 0.1)}),
    ):
        with pytest.raises(error, match=named):
            on_cluster(client, engine, **more)


def test_errors_of_one_engine(client):
    with pytest.raises(ValueError, match="tree_learner='feature': rows are spread over the workers"):
        on_cluster(client, "lightgbm", params=LIGHTGBM | {"tree_learner": "feature"})
    with pytest.raises(ValueError, match=r"weight\[1\] is 1.0009.* XGBoost weights whole queries"):
        on_cluster(client, "xgboost", weight=spread(np.linspace(1, 2, N)))


@ENGINE
def test_a_part_without_a_pair_is_named_by_the_client(client, engine):
    """Once, and only if no partition has a pair."""
    with pytest.warns(UserWarning, match=r"ClickTier\(\) has no pair.*missing \(NaN\) in every row") as seen:
        on_cluster(client, engine, 1, graded(), sources={"clicks": spread(np.full(N, np.nan))})
    assert len(seen) == 1
    one_partition = np.where(np.arange(N) < Q.offsets[CUTS[1]], CLICKS, np.nan)
    on_cluster(client, engine, 1, graded(), sources={"clicks": spread(one_partition)})
