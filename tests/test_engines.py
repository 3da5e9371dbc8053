"""What the protocol asks, called on data sets, trainings and boosters of each engine; mypy checks the names.

Seen in LightGBM 4.6 and 4.7, and in XGBoost 2.1 to 3.4. Where a test fails with a later version, mend
`lambdaboost/engines/lightgbm.py` or `lambdaboost/engines/xgboost.py`, and raise the bound in pyproject.toml.
"""

import importlib

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

from lambdaboost import NDCG, LambdaRank, Queries, RankNet
from lambdaboost.callback import calling_booster
from lambdaboost.datasets import Collection
from lambdaboost.engines import ENGINES, engine_of, engine_of_data, xgboost
from lambdaboost.engines.base import Split
from lambdaboost.training import attach_queries

X, Y, SIZES = np.random.default_rng(0).normal(size=(60, 3)), np.tile([0, 1, 2], 20), [30, 30]
Q = Queries(Y, SIZES, weight=[2.0, 1.0])
PARAMS = {
    "lightgbm": {"min_data_in_leaf": 2, "num_threads": 1},
    "xgboost": {"min_child_weight": 0, "nthread": 1},
}
each = pytest.mark.parametrize("engine", list(ENGINES.values()), ids=list(ENGINES))


@each
def test_every_member_on_a_training_and_its_booster(engine):
    package = importlib.import_module(engine.NAME)

    # Parameters.
    assert engine.is_metric("ndcg") and not engine.is_metric("cndcg")
    known = engine.parameter_names() | {"num_boost_round"}
    assert {engine.MIN_LEAF_SIZE, *engine.DEFAULTS, *engine.ONLY_NATIVE, *engine.RESERVED} <= known

    # Data sets: their rows in three fields, and the features by their names.
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    data = engine.dataset(frame.copy(), Q, names=["a", "b", "c"])
    valid = attach_queries(engine.dataset(frame.copy(), Q, names=["a", "b", "c"], reference=data), Q)
    assert engine_of_data(data) is engine and engine_of_data(X) is None
    given = engine.fields_of(data)
    assert given.offsets.tolist() == [0, 30, 60] and given.labels.tolist() == Y.tolist()
    assert set(given.weight.tolist()) == {1.0, 2.0}
    value = NDCG(3)(X[:, 0], data)  # of LightGBM before it has read the data
    assert value[1] == pytest.approx(NDCG(3)(X[:, 0], Q))

    # A training, which the objective looks at from within.
    seen = []

    class Looking(RankNet, registered=False):
        def __call__(self, scores, data):
            booster = calling_booster("update")
            seen.append(
                {
                    "engine": engine_of(booster),
                    "params_of": dict(engine.params_of(booster)),
                    "round": getattr(booster, engine.ROUNDS_METHOD)(),
                    "threads": int(engine.given(engine.params_of(booster), engine.THREADS)),
                    "metrics_in_training": list(engine.metrics_in_training(booster)),
                }
            )
            return super().__call__(scores, data)

    rounds = []
    measure = NDCG(3)
    params = {"max_depth": 2, **PARAMS[engine.NAME]}
    booster = engine.train(Looking(), params, 3, data, valid, measure, on_round=rounds.append)
    name, value, *_ = engine.metric_result("err@3", 0.5)
    assert name.endswith("err@3") and value == 0.5
    fields = engine.fields_of(data)
    assert fields.offsets.tolist() == [0, 30, 60] and fields.labels.tolist() == Y.tolist()
    assert set(fields.weight.tolist()) == {1.0, 2.0}
    assert [one["round"] for one in seen] == [0, 1, 2] and len(rounds) == 3
    assert all(one["engine"] is engine and one["threads"] == 1 for one in seen)
    assert all(one["metrics_in_training"] == [measure] and one["params_of"]["max_depth"] == 2 for one in seen)
    assert engine_of(booster) is engine and engine_of(data) is None
    curve = []
    stopped = engine.train(LambdaRank(), params, 40, data, valid, measure, 2, curve.append)
    assert engine.n_rounds(stopped) == int(np.argmax(curve)) + 1 == len(curve) - 2 < 38
    without = []
    assert engine.n_rounds(engine.train(LambdaRank(), params, 2, data, on_round=without.append)) == 2
    assert without == [None, None]
    native = engine.train(engine.NATIVE_OBJECTIVES[0], params, 2, data)
    assert engine.n_rounds(native) == 2
    own, given = {
        "lightgbm": ({"metric": "ndcg", "eval_at": [3], "verbosity": -1}, {"valid_sets": [valid]}),
        "xgboost": ({"eval_metric": "ndcg@3"}, {"evals": [(valid, "valid")], "verbose_eval": False}),
    }[engine.NAME]
    params = {"objective": engine.NATIVE_OBJECTIVES[0], **own}
    assert list(engine.own_metrics(package.train(params, data, 1, **given))) == ["ndcg@3"]
    params = PARAMS[engine.NAME]

    # The model.
    scores = engine.scores(booster, frame)
    assert rounds[-1] == pytest.approx(measure(scores, Q), abs=1e-5)
    assert not np.array_equal(engine.scores(booster, frame, 1), scores)
    np.testing.assert_allclose(engine.contributions(booster, frame).sum(axis=1), scores, atol=1e-6)
    again = engine.read(engine.write(booster, engine.SUFFIXES[0]))
    np.testing.assert_array_equal(engine.scores(again, frame), scores)
    assert engine.feature_names(booster) == ("a", "b", "c") and engine.categories(booster) == {}
    unnamed = engine.train(LambdaRank(), params, 1, engine.dataset(X, Q))
    assert engine.feature_names(unnamed) == tuple(map(engine.UNNAMED.format, range(3)))
    trees, _ = engine.trees(booster)

    def value_of(node, row):
        while isinstance(node, Split):
            node = node.left if row[node.feature] <= node.threshold else node.right
        return node

    sums = [sum(value_of(tree, row) for tree in trees) for row in X.astype(np.float32)]
    np.testing.assert_allclose(sums, scores, atol=1e-6)
    more = engine.merged([booster, booster], [1.0, 0.5], [{}, {}])
    np.testing.assert_allclose(engine.scores(more, frame), 1.5 * scores, atol=1e-5)

    # Its ranker: a measure whose every round is kept, and the first rounds; equal trees under the engine's names.
    trees = engine.tree_params(4, 5, 0.1, 1.0)
    settings = {"n_estimators": 40, "n_jobs": 1, "random_state": 0, **trees, **engine.QUIET}
    ranker = importlib.import_module(f"lambdaboost.{engine.NAME}").LambdaRanker(**settings)
    train, valid = (Collection(X, Queries(Y, SIZES, weight=weight)) for weight in (None, [1.0, 3.0]))
    ranker.fit(train, None, eval_set=[(valid, None)], **engine.measure_fit(ranker, measure, 2))
    (curve,) = next(iter(ranker.evals_result_.values())).values()
    assert len(curve) - 3 == int(np.argmax(curve)) and curve[0] != rounds[0]
    scores = ranker.predict(X, **engine.first_rounds(2))
    assert curve[1] == pytest.approx(measure(scores, valid.queries), abs=1e-5)
    engine.set_booster(ranker, unnamed, {})
    assert engine.n_rounds(unnamed) == 1 and not np.array_equal(ranker.predict(X), scores)


@pytest.mark.parametrize("train", [xgb.train, xgb.cv])
def test_xgboosts_training_functions_hold_what_is_read_of_them(train):
    seen, params = [], {"objective": "reg:squarederror", "eta": 0.5, "disable_default_eval_metric": True}

    def objective(scores, data):
        booster = calling_booster("update")
        seen.append((xgboost.params_of(booster).get("eta"), xgboost.metrics_in_training(booster)))
        return scores - data.get_label(), np.ones_like(scores)

    def metric(scores, data):
        return "own", 0.0

    train(params, xgb.DMatrix(X, Y), 1, obj=objective, custom_metric=metric)
    assert seen[0] == (0.5, [metric]), "mend params_of"


def test_a_linear_model_that_would_stop_early_is_refused_before_the_training():
    data, rounds = xgboost.dataset(X, Q), []
    with pytest.raises(ValueError, match=r"^early_stopping: XGBoost cannot cut a linear model"):
        xgboost.train(RankNet(), {"booster": "gblinear"}, 9, data, data, NDCG(3), 2, rounds.append)
    assert rounds == []
