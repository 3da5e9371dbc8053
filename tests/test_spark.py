"""Spark: the example on both engines, and what XGBoost's own estimator accepts; `make test-large` runs it."""

import importlib
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lambdaboost import Blend, ClickTier, LambdaRank, Linear
from lambdaboost import lightgbm as lb_lightgbm
from lambdaboost import xgboost as lb_xgboost

# Workers run this interpreter, on this machine alone.
os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
pytest.importorskip("pyspark")
import lightgbm as lgb
import xgboost as xgb
from pyspark import cloudpickle
from pyspark.ml.feature import VectorAssembler
from pyspark.sql import SparkSession
from xgboost.spark import SparkXGBRanker

pytestmark = pytest.mark.filterwarnings("default")
OBJECTIVE = Blend(LambdaRank(), ClickTier(), Linear(0.1, 0.02))
PARAMS = {
    "lightgbm": {
        "verbose": -1,
        "num_leaves": 7,
        "min_data_in_leaf": 5,
        "min_data_in_bin": 1,
        "num_threads": 1,
    },
    "xgboost": {"max_depth": 3, "min_child_weight": 0.1, "nthread": 1},
}
FEATURES = [f"f{i}" for i in range(6)]


def rows(queries, seed, first=0):
    """Few values, all of them on each worker: engines find their bins from the rows of single workers."""
    rng = np.random.default_rng(seed)
    grades = rng.choice(4, p=[0.5, 0.25, 0.15, 0.1], size=20 * queries)
    clicks = np.where(rng.random(grades.size) < 0.3, np.round(rng.random(grades.size), 1), np.nan)
    X = np.clip(np.round(grades[:, None] + 2 * rng.normal(size=(grades.size, 6))), 0, 4)
    labels = {"qid": first + np.arange(grades.size) // 20, "grade": grades.astype(float), "clicks": clicks}
    return pd.DataFrame(X, columns=FEATURES).assign(**labels)


TRAIN, VALID = rows(40, 1), rows(20, 2, first=40)


@pytest.fixture(scope="module")
def spark():
    sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "2",
    }
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    yield session
    session.stop()
    sys.path.pop(0)


def on_one_machine(engine, objective, rounds):
    labels = {"label": TRAIN["grade"], "qid": TRAIN["qid"], "sources": {"clicks": TRAIN["clicks"]}}
    if engine == "lightgbm":
        data = lb_lightgbm.Dataset(TRAIN[FEATURES], **labels)
        booster = lb_lightgbm.train(PARAMS[engine], data, rounds, objective=objective)
        return booster.predict(VALID[FEATURES])
    data = lb_xgboost.DMatrix(TRAIN[FEATURES], **labels)
    booster = lb_xgboost.train(PARAMS[engine], data, rounds, objective=objective, verbose_eval=False)
    return booster.predict(xgb.DMatrix(VALID[FEATURES]))


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
def test_the_example_gives_the_model_of_one_machine(spark, engine):
    example = importlib.import_module("spark_train")
    cloudpickle.register_pickle_by_value(example)
    content = example.fit(
        spark.createDataFrame(TRAIN), engine, PARAMS[engine], objective=OBJECTIVE, rounds=12
    )
    if engine == "lightgbm":
        there = lgb.Booster(model_str=content.decode()).predict(VALID[FEATURES])
    else:
        there = xgb.Booster(model_file=bytearray(content)).predict(xgb.DMatrix(VALID[FEATURES]))
    here = on_one_machine(engine, OBJECTIVE, 12)
    assert np.ptp(here) > 0.5
    np.testing.assert_allclose(there, here, rtol=1e-5, atol=1e-6)


def ranker(**more):
    params = {name: value for name, value in PARAMS["xgboost"].items() if name != "nthread"}
    columns = {"label_col": "grade", "qid_col": "qid"}
    return SparkXGBRanker(n_estimators=12, num_workers=2, **columns, **params, **more)


def test_an_objective_of_one_source_in_the_estimator_of_xgboost(spark):
    """As `obj=`, with scores from 0 as `lambdaboost.xgboost.train` has them."""
    model = ranker(features_col=FEATURES, obj=LambdaRank(), base_score=0.0).fit(spark.createDataFrame(TRAIN))
    there = model.get_booster().predict(xgb.DMatrix(VALID[FEATURES]))
    np.testing.assert_allclose(there, on_one_machine("xgboost", LambdaRank(), 12), rtol=1e-5, atol=1e-6)
    with pytest.raises(TypeError, match="not JSON serializable"):
        model.save("model")


def test_validation_in_the_estimator_of_xgboost(spark):
    """Early stopping by XGBoost's own metrics; features in one vector, since lists of columns fail there."""
    both = spark.createDataFrame(pd.concat([TRAIN.assign(valid=False), VALID.assign(valid=True)]))
    vectors = VectorAssembler(inputCols=FEATURES, outputCol="features").transform(both)
    stop = {"validation_indicator_col": "valid", "early_stopping_rounds": 2, "eval_metric": "ndcg@5"}
    model = ranker(features_col="features", obj=LambdaRank(), base_score=0.0, learning_rate=1.0, **stop)
    assert model.fit(vectors).get_booster().num_boosted_rounds() < 12


def test_what_the_estimator_of_xgboost_refuses(spark):
    frame = spark.createDataFrame(TRAIN)
    for name, wrong in (("objective", LambdaRank()), ("eval_metric", LambdaRank())):
        with pytest.raises(ValueError, match=f"Only string type .*'{name}' param is allowed"):
            ranker(features_col=FEATURES, **{name: wrong}).fit(frame)
