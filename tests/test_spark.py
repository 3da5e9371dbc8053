"""Spark: the example on both engines, and what XGBoost's own estimator accepts; `make test-large` runs it."""

import os
import sys

import numpy as np
import pandas as pd
import pytest
from one_machine import OBJECTIVE, PARAMS, booster_of, log, scores

from lambdaboost import LambdaRank

# Workers run this interpreter, on this machine alone.
os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
pytest.importorskip("pyspark")
import lightgbm as lgb
import spark_train
import xgboost as xgb
from pyspark import cloudpickle
from pyspark.sql import SparkSession
from xgboost.spark import SparkXGBRanker

pytestmark = pytest.mark.filterwarnings("default")
FEATURES = [f"f{i}" for i in range(6)]
TRAIN, VALID = log(40, 1), log(20, 2)


def rows(data, first=0):
    q = data.queries
    columns = {"qid": first + q.query_of_row, "grade": q.relevance, "clicks": q.labels["clicks"]}
    return pd.DataFrame(data.features, columns=FEATURES).assign(**columns).astype(float).astype({"qid": int})


@pytest.fixture(scope="module")
def spark():
    settings = {"spark.ui.enabled": "false", "spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "2"}
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    yield session
    session.stop()


def assert_model_of_one_machine(engine, booster, objective):
    here = scores(engine, booster_of(engine, PARAMS[engine], TRAIN, 12, objective), VALID.features)
    assert np.ptp(here) > 0.5
    np.testing.assert_allclose(scores(engine, booster, VALID.features), here, rtol=1e-5, atol=1e-6)


def test_the_example_gives_the_model_of_one_machine(spark, engine):
    cloudpickle.register_pickle_by_value(spark_train)
    content = spark_train.fit(
        spark.createDataFrame(rows(TRAIN)), engine, PARAMS[engine], objective=OBJECTIVE, rounds=12
    )
    read = {
        "lightgbm": lambda: lgb.Booster(model_str=content.decode()),
        "xgboost": lambda: xgb.Booster(model_file=bytearray(content)),
    }
    assert_model_of_one_machine(engine, read[engine](), OBJECTIVE)


def ranker(**more):
    params = {name: value for name, value in PARAMS["xgboost"].items() if name not in ("nthread", "max_bin")}
    columns = {"label_col": "grade", "qid_col": "qid"}
    return SparkXGBRanker(n_estimators=12, num_workers=2, **columns, **params, **more)


def test_an_objective_of_one_source_in_the_estimator_of_xgboost(spark):
    """As `obj=`, with scores from 0, as `base_score` says."""
    model = ranker(features_col=FEATURES, obj=LambdaRank(), base_score=0.0)
    model = model.fit(spark.createDataFrame(rows(TRAIN)))
    assert_model_of_one_machine("xgboost", model.get_booster(), LambdaRank())
    with pytest.raises(TypeError, match="not JSON serializable"):
        model.save("model")
