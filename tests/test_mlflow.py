"""MLflow's autologging records lambdaboost's measures by their names; `make test-large`."""

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

from lambdaboost import CNDCG, ERR, NDCG, LambdaRank, attach
from lambdaboost.datasets import web_search_log

mlflow = pytest.importorskip("mlflow")

X, Q = web_search_log(queries=40, documents=20, seed=3)
CLICKS = Q.labels["clicks"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run() as started:
        yield lambda: mlflow.get_run(started.info.run_id).data.metrics
    mlflow.end_run()


def test_lightgbm(run):
    mlflow.lightgbm.autolog(log_models=False)
    data = attach(lgb.Dataset(X, Q.relevance, group=Q.sizes), clicks=CLICKS)
    history = {}
    lgb.train(
        {"objective": LambdaRank(), "metric": "None", "verbose": -1},
        data,
        3,
        valid_sets=[data],
        valid_names=["train"],
        feval=[NDCG(k=3), CNDCG(k=3), ERR(k=10)],
        callbacks=[lgb.record_evaluation(history)],
    )
    logged = run()
    for name in ("ndcg@3", "ndcg@3-clicks", "err@10"):
        assert logged[f"train-{name.replace('@', '_at_')}"] == pytest.approx(history["train"][name][-1])


def test_xgboost(run):
    mlflow.xgboost.autolog(log_models=False)
    data = attach(xgb.DMatrix(X, Q.relevance, qid=Q.query_of_row), clicks=CLICKS)
    history = {}
    xgb.train(
        {"objective": "rank:ndcg", "base_score": 0, "disable_default_eval_metric": True},
        data,
        3,
        obj=LambdaRank(),
        evals=[(data, "train")],
        custom_metric=lambda scores, matrix: [m(scores, matrix) for m in (NDCG(k=3), CNDCG(k=3), ERR(k=10))],
        evals_result=history,
        verbose_eval=False,
    )
    logged = run()
    for name in ("ndcg@3", "ndcg@3-clicks", "pre-err@10"):
        assert logged[f"train-{name.replace('@', '_at_')}"] == pytest.approx(history["train"][name][-1])
        assert np.isfinite(logged[f"train-{name.replace('@', '_at_')}"])
