"""MLflow's autologging records lambdaboost's measures by their names; `make test-large`."""

import lightgbm as lgb
import pytest
import xgboost as xgb

from lambdaboost import CNDCG, ERR, NDCG, LambdaRank, attach
from lambdaboost.datasets import web_search_log

mlflow = pytest.importorskip("mlflow")

X, Q = web_search_log(queries=40, documents=20, seed=3)
CLICKS = Q.labels["clicks"]
MEASURES = [NDCG(k=3), CNDCG(k=3), ERR(k=10)]


def by_lightgbm(history):
    mlflow.lightgbm.autolog(log_models=False)
    data = attach(lgb.Dataset(X, Q.relevance, group=Q.sizes), clicks=CLICKS)
    params, sets = (
        {"objective": LambdaRank(), "metric": "None", "verbose": -1},
        {"valid_sets": [data], "valid_names": ["train"]},
    )
    lgb.train(params, data, 3, **sets, feval=MEASURES, callbacks=[lgb.record_evaluation(history)])


def by_xgboost(history):
    mlflow.xgboost.autolog(log_models=False)
    data = attach(xgb.DMatrix(X, Q.relevance, group=Q.sizes), clicks=CLICKS)
    xgb.train(
        {"objective": "rank:ndcg", "base_score": 0, "disable_default_eval_metric": True}, data, 3, obj=LambdaRank(),
        evals=[(data, "train")], custom_metric=lambda scores, matrix: [m(scores, matrix) for m in MEASURES],
        evals_result=history, verbose_eval=False,
    )  # fmt: skip


@pytest.mark.parametrize(("train", "last"), [(by_lightgbm, "err@10"), (by_xgboost, "pre-err@10")])
def test_measures_are_logged_by_name(train, last, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    history = {}
    with mlflow.start_run() as run:
        train(history)
    logged = mlflow.get_run(run.info.run_id).data.metrics
    assert list(history["train"]) == ["ndcg@3", "ndcg@3-clicks", last]
    for name, curve in history["train"].items():
        assert logged[f"train-{name.replace('@', '_at_')}"] == pytest.approx(curve[-1])
