"""Train over Spark's workers, on either engine, with label sources: whole queries, in one barrier stage.

python examples/spark_train.py --engine lightgbm
"""

import argparse
import json
import socket
from functools import partial
from threading import Thread

import numpy as np
import pandas as pd
from pyspark import BarrierTaskContext
from pyspark.sql import SparkSession

from lambdaboost import Blend, ClickTier, LambdaRank, Linear, attach
from lambdaboost.datasets import web_search_log

OBJECTIVE = Blend(LambdaRank(), ClickTier(), Linear(0.1, 0.02))
PARAMS = {
    "lightgbm": {"num_leaves": 7, "verbose": -1, "num_threads": 1},
    "xgboost": {"max_depth": 3, "nthread": 1},
}


def fit(frame, engine, params=None, objective=OBJECTIVE, rounds=40, workers=2):
    """The model's file, of a Spark frame with the columns qid, grade, clicks, and features."""
    on_worker = partial(
        train, engine=engine, params=params or PARAMS[engine], objective=objective, rounds=rounds
    )
    queries = frame.repartition(workers, "qid").sortWithinPartitions("qid")
    (row,) = queries.mapInPandas(on_worker, "model binary", barrier=True).collect()
    return bytes(row.model)


def train(batches, engine, params, objective, rounds):
    """What each worker does with its rows; the first one returns the model, which all have."""
    task = BarrierTaskContext.get()
    table = pd.concat(batches)
    features = table.drop(columns=["qid", "grade", "clicks"])
    labels = {"label": table["grade"], "group": table.groupby("qid", sort=False).size().to_numpy()}
    train_on = {"lightgbm": on_lightgbm, "xgboost": on_xgboost}[engine]
    model = train_on(task, params, features, labels, table["clicks"], rounds, objective)
    if task.partitionId() == 0:
        yield pd.DataFrame({"model": [model]})


def on_lightgbm(task, params, features, labels, clicks, rounds, objective):
    """LightGBM's workers need the addresses of all."""
    import lightgbm as lgb

    with socket.socket() as probe:
        probe.bind(("", 0))
        port = probe.getsockname()[1]
    host = socket.gethostbyname(task.getTaskInfos()[task.partitionId()].address.split(":")[0])
    machines = task.allGather(f"{host}:{port}")
    network = {
        "tree_learner": "data",
        "pre_partition": True,
        "machines": ",".join(machines),
        "num_machines": len(machines),
        "local_listen_port": port,
    }
    data = attach(lgb.Dataset(features, **labels), clicks=clicks)
    booster = lgb.train(params | network | {"objective": objective, "metric": "None"}, data, rounds)
    booster.free_network()
    return booster.model_to_string().encode()


def on_xgboost(task, params, features, labels, clicks, rounds, objective):
    """XGBoost's workers find one another by a tracker, which the first one starts."""
    import xgboost as xgb
    from xgboost.collective import CommunicatorContext
    from xgboost.tracker import RabitTracker

    address = ""
    if task.partitionId() == 0:
        workers = task.getTaskInfos()
        tracker = RabitTracker(len(workers), workers[0].address.split(":")[0], sortby="task")
        tracker.start()
        Thread(target=tracker.wait_for, daemon=True).start()
        address = json.dumps(tracker.worker_args())
    shared = json.loads(task.allGather(address)[0])
    with CommunicatorContext(**shared, DMLC_TASK_ID=f"{task.partitionId():06d}"):
        data = attach(xgb.DMatrix(features, **labels), clicks=clicks)
        own = {"objective": "rank:ndcg", "base_score": 0, "disable_default_eval_metric": True}
        booster = xgb.train(params | own, data, rounds, obj=objective)
    return bytes(booster.save_raw())


def main():
    """Train on two workers of this machine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=PARAMS, default="lightgbm")
    engine = parser.parse_args().engine
    log = web_search_log(60, documents=20, seed=2)
    features = pd.DataFrame(log.features, columns=[f"f{i}" for i in range(log.n_features)])
    q = log.queries
    rows = features.assign(
        qid=q.query_of_row, grade=q.relevance, clicks=q.labels["clicks"].astype(np.float64)
    )
    spark = SparkSession.builder.master("local[2]").getOrCreate()
    print(f"{engine}: a model of {len(fit(spark.createDataFrame(rows), engine))} bytes")


if __name__ == "__main__":
    main()
