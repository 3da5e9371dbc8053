"""Train over the workers of Ray Train from Parquet files: whole queries, label sources, early stopping, restarts.

python examples/ray_train.py --engine lightgbm
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import ray.train
from pyarrow.dataset import dataset
from ray.train import Checkpoint, FailureConfig, RunConfig, ScalingConfig

from lambdaboost import NDCG, Blend, ClickTier, LambdaRank, Linear, attach
from lambdaboost.datasets import web_search_log

OBJECTIVE = Blend(LambdaRank(), ClickTier(), Linear(0.1, 0.02))
MODEL = {"lightgbm": "model.txt", "xgboost": "model.ubj"}


def on_worker(config):
    """What each worker does: its own queries, all validation queries, the model so far if it was restarted."""
    worker = ray.train.get_context()
    rows = share(config["train"], worker.get_world_rank(), worker.get_world_size())
    valid = dataset(config["valid"]).to_table().to_pandas()
    train_on = {"lightgbm": on_lightgbm, "xgboost": on_xgboost}[config["engine"]]
    so_far = ray.train.get_checkpoint()
    with tempfile.TemporaryDirectory() as folder:
        if so_far is not None:
            so_far.to_directory(folder)
        train_on(config, columns(rows), columns(valid), Path(folder) / MODEL[config["engine"]])


def share(folder, worker, workers):
    """The whole queries of a worker, every so many in turn; of all others it reads the query column alone."""
    files = dataset(folder)
    query, _ = pd.factorize(files.to_table(columns=["qid"])["qid"].to_pandas())
    return files.take(np.flatnonzero(query % workers == worker)).to_pandas()


def columns(rows):
    """Features, grades, the number of documents of each query, and clicks; the rows of a query are adjacent."""
    sizes = rows.groupby("qid", sort=False).size()
    return rows.drop(columns=["qid", "grade", "clicks"]), rows["grade"], sizes.to_numpy(), rows["clicks"]


def write(log, folder, files):
    """A folder of Parquet files, in which queries may begin in one and end in the next."""
    q = log.queries
    rows = pd.DataFrame(log.features).rename(columns=str)
    rows = rows.assign(qid=q.query_of_row, grade=q.relevance, clicks=q.labels["clicks"])
    folder.mkdir()
    for number, at in enumerate(np.array_split(np.arange(len(rows)), files)):
        rows.iloc[at].to_parquet(folder / f"part-{number}.parquet", index=False)
    return str(folder)


def on_lightgbm(config, train, valid, path):
    """Train a share of the rows on LightGBM."""
    import lightgbm as lgb
    from ray.train.lightgbm import get_network_params

    X, y, sizes, clicks = train
    data = attach(lgb.Dataset(X, y, group=sizes), clicks=clicks)
    X, y, sizes, clicks = valid
    held_out = attach(data.create_valid(X, y, group=sizes), clicks=clicks)
    before = lgb.Booster(model_file=path) if path.exists() else None
    done = 0 if before is None else before.current_iteration()

    def each_round(env):
        if (env.iteration + 1) % config["every"] == 0:
            report(env.model, path, {"rounds": env.iteration + 1})

    own = {"objective": config["objective"], "metric": "None", "tree_learner": "data", "pre_partition": True}
    booster = lgb.train(
        config["params"] | own | get_network_params(),
        data,
        config["rounds"] - done,
        valid_sets=[held_out],
        feval=NDCG(10),
        init_model=before,
        callbacks=[each_round, lgb.early_stopping(config["early_stopping"], verbose=False)],
    )
    report(booster, path, {"rounds": booster.current_iteration(), "best": booster.best_iteration})


def on_xgboost(config, train, valid, path):
    """Train a share of the rows on XGBoost, whose network is Ray Train's already."""
    import xgboost as xgb

    data, held_out = (
        attach(xgb.DMatrix(X, y, group=sizes), clicks=clicks) for X, y, sizes, clicks in (train, valid)
    )
    before = xgb.Booster(model_file=path) if path.exists() else None
    done = 0 if before is None else before.num_boosted_rounds()

    class EachRound(xgb.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            if model.num_boosted_rounds() % config["every"] == 0:
                report(model, path, {"rounds": model.num_boosted_rounds()})
            return False

    own = {"objective": "rank:ndcg", "base_score": 0, "disable_default_eval_metric": True}
    booster = xgb.train(
        config["params"] | own,
        data,
        config["rounds"] - done,
        obj=config["objective"],
        evals=[(held_out, "valid")],
        custom_metric=NDCG(10),
        early_stopping_rounds=config["early_stopping"],
        xgb_model=before,
        callbacks=[EachRound()],
        verbose_eval=False,
    )
    report(booster, path, {"rounds": booster.num_boosted_rounds(), "best": booster.best_iteration + 1})


def report(booster, path, figures):
    """Hand the model to Ray Train, which restarts from it; every worker calls it, the first one has the file."""
    checkpoint = None
    if ray.train.get_context().get_world_rank() == 0:
        booster.save_model(path)
        checkpoint = Checkpoint.from_directory(path.parent)
    ray.train.report(figures, checkpoint=checkpoint)


def fit(config, folder, workers=2, max_failures=1):
    """The result of Ray Train, whose checkpoint holds the model."""
    if config["engine"] == "lightgbm":
        from ray.train.lightgbm import LightGBMTrainer as Trainer
    else:
        from ray.train.xgboost import XGBoostTrainer as Trainer
    return Trainer(
        on_worker,
        train_loop_config=config,
        scaling_config=ScalingConfig(num_workers=workers),
        run_config=RunConfig(
            storage_path=str(folder), failure_config=FailureConfig(max_failures=max_failures)
        ),
    ).fit()


def config(engine, train, valid):
    """Settings of the example, whose data are in two folders."""
    params = {
        "lightgbm": {"num_leaves": 7, "verbose": -1, "num_threads": 1},
        "xgboost": {"max_depth": 3, "nthread": 1},
    }
    return {
        "engine": engine,
        "params": params[engine],
        "train": train,
        "valid": valid,
        "objective": OBJECTIVE,
        "rounds": 40,
        "early_stopping": 10,
        "every": 5,
    }


def main():
    """Train on two workers of this machine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=MODEL, default="lightgbm")
    engine = parser.parse_args().engine
    log = web_search_log(60, documents=20, seed=2).shuffled(0)
    with tempfile.TemporaryDirectory() as folder:
        parts = {"train": (np.arange(40), 8), "valid": (np.arange(40, 60), 2)}
        shards = [write(log.take(at), Path(folder) / name, files) for name, (at, files) in parts.items()]
        result = fit(config(engine, *shards), folder)
        result.checkpoint.to_directory(".")
        print(f"{engine}: {result.metrics}, written to {MODEL[engine]}")


if __name__ == "__main__":
    main()
