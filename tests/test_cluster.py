"""What needs the rows of all workers, where an engine trains over a network."""

import numpy as np
import pytest

from lambdaboost import GradientStep, RankNet
from lambdaboost import lightgbm as lb_lightgbm
from lambdaboost import xgboost as lb_xgboost


@pytest.mark.parametrize(
    ("training", "message"),
    [
        (
            {"leaves": "gradient"},
            "gradient steps on a cluster without min_.*: each worker would derive it",
        ),
        ({"objective": GradientStep(RankNet(), "all")}, r"normalize='all'.* no worker has all"),
    ],
    ids=["gradient", "all"],
)
@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
def test_what_one_worker_cannot_do_is_refused_on_a_cluster(engine, training, message, monkeypatch, tmp_path):
    """Also where Ray, Kubernetes or a script of the user's sets up the engine's network."""
    monkeypatch.chdir(tmp_path)
    X, y, qid = np.zeros((4, 1)), [0, 1, 0, 1], [1, 1, 2, 2]
    if engine == "lightgbm":
        data, train = lb_lightgbm.Dataset(X, y, qid=qid), lb_lightgbm.train
    else:
        data, train = lb_xgboost.DMatrix(X, y, qid=qid), lb_xgboost.train
        monkeypatch.setattr("lambdaboost._xgboost.workers", lambda: 2)
    for network in ({"num_machines": 2}, {"machines": "a:1,b:2"}) if engine == "lightgbm" else ({},):
        with pytest.raises(ValueError, match=message):
            train(network, data, 1, **training)
    assert not list(tmp_path.iterdir())
