"""`explain`: contributions of both engines sum to the difference of two scores, with names, values and pictures."""

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import rankers
import xgboost as xgb
from on_xgboost import stores_values
from scipy.sparse import csr_matrix

from lambdaboost import NDCG, LambdaRank, Queries, explain, load, save
from lambdaboost.explanation import Explanation

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
X[rng.random(X.shape) < 0.1] = np.nan
Y, SIZES = np.nan_to_num(X[:, 0] > 0).astype(int) + (rng.random(60) < 0.3), [20] * 3
FRAME = pd.DataFrame(X, columns=["price", "two stars", "age", "kind"]).assign(
    srch_id=np.repeat([5, 6, 7], 20)
)
FRAME["year"] = 2000 + np.arange(60)
FRAME["kind"] = pd.Categorical.from_codes((rng.random(60) * 3).astype(int), ["a", "b", "c"])
SMALL = {"lightgbm": {"min_child_samples": 2}, "xgboost": {"min_child_weight": 0}}


def fitted(engine, X=FRAME, query="srch_id", **more):
    return rankers.ranker(engine, query=query, n_estimators=8, **SMALL[engine]).fit(X, Y, **more)


def lightgbm_booster(**more):
    params = {"objective": LambdaRank(), "min_data_in_leaf": 2, "verbose": -1} | more
    return lgb.train(params, lgb.Dataset(X, Y, group=SIZES), 8)


def forest():
    """Which predicts the mean of its trees."""
    return lightgbm_booster(objective="regression", boosting="rf", bagging_freq=1, bagging_fraction=0.6)


def xgboost_booster():
    params = {"objective": "rank:ndcg", "base_score": 0, "min_child_weight": 0}
    return xgb.train(params, xgb.DMatrix(X, Y, group=SIZES), 8, obj=LambdaRank())


@pytest.mark.parametrize("train", [lightgbm_booster, xgboost_booster, forest])
def test_contributions_of_a_booster_sum_to_the_difference(train):
    booster = train()
    scores = booster.predict(X if isinstance(booster, lgb.Booster) else xgb.DMatrix(X))
    why = explain(booster, X, above=3, below=11)
    assert why.difference == pytest.approx(float(scores[3]) - float(scores[11]), abs=1e-6)
    assert np.all(np.diff(np.abs(why.frame["contribution"])) <= 0)
    place = [int(str(name).lstrip("Columnf_")) for name in why.frame["feature"]]
    np.testing.assert_array_equal(why.frame["above"], X[3, place])
    np.testing.assert_array_equal(why.frame["below"], X[11, place])


@stores_values
@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["a", "b", "c"])], ids=["Categorical", "Enum"])
def test_xgboost_reads_categories_of_polars(kind):
    frame = pl.DataFrame({"x": X[:, 1], "kind": pl.Series(FRAME["kind"].to_list(), dtype=kind)})
    data = xgb.DMatrix(frame, Y, group=SIZES, enable_categorical=True)
    booster = xgb.train({"objective": "rank:ndcg", "min_child_weight": 0}, data, 8, obj=LambdaRank())
    scores = booster.predict(data)
    difference = explain(booster, frame, above=3, below=11).difference
    assert difference == pytest.approx(float(scores[3]) - float(scores[11]), abs=1e-6)


def test_a_ranker_explains_by_names_up_to_its_best_round(engine):
    ranker, turned = fitted(engine), FRAME[FRAME.columns[::-1]]
    scores = ranker.predict(turned)
    best, worst = int(scores.argmax()), int(scores.argmin())
    why = explain(ranker, turned, above=best, below=worst)
    assert why.difference == pytest.approx(float(scores[best]) - float(scores[worst]), abs=1e-6)
    for name in ("kind", "two stars"):
        found = why.frame.set_index("feature").loc[name]
        assert [str(found["above"]), str(found["below"])] == [str(FRAME[name][row]) for row in (best, worst)]
    assert f"row {best}" in repr(why) and f"row {worst}" in repr(why)
    assert "<table" in why._repr_html_() and "price" in why._repr_html_()
    # A year has no point, though a model takes floats.
    assert f" {2000 + best} " in repr(why) and f">{2000 + worst}<" in why._repr_html_()
    pytest.importorskip("matplotlib")
    axes = why.plot()
    assert len(axes.patches) == 5 and "<svg" in why._repr_html_()
    strange = Explanation(why.frame.replace({"feature": {"price": "$x_{$"}}), 0, 1)
    assert "<svg" in strange._repr_html_()


@stores_values
def test_a_loaded_model_explains_as_its_ranker(engine, tmp_path):
    ranker, path = fitted(engine), tmp_path / "model"
    save(ranker, path)
    turned = FRAME[FRAME.columns[::-1]].astype({"kind": str})
    wanted, found = explain(ranker, FRAME, above=3, below=11), explain(load(path), turned, above=3, below=11)
    pd.testing.assert_frame_equal(found.frame, wanted.frame, check_dtype=False)
    save(ranker.booster_ if engine == "lightgbm" else ranker.get_booster(), path, objective=LambdaRank())
    assert explain(load(path), FRAME, above=3, below=11).difference == wanted.difference


def test_sparse_rows_are_explained_as_they_are_scored(engine):
    sparse = csr_matrix(np.where(X > 0, X, 0))
    ranker = fitted(engine, sparse, query="qid", group=SIZES)
    scores, why = ranker.predict(sparse), explain(ranker, sparse, above=22, below=3)
    assert why.difference == pytest.approx(scores[22] - scores[3], abs=1e-6) and why.difference != 0
    assert set(why.frame["above"]) == set(sparse.toarray()[22])


def test_what_is_wrong_is_said():
    booster = lightgbm_booster()
    with pytest.raises(TypeError, match=r"model is of type list, expected a lightgbm\.Booster"):
        explain([], X, above=0, below=1)
    for rows, kind in ((X.tolist(), "list"), (X[0], "ndarray"), (xgb.DMatrix(X), "DMatrix")):
        with pytest.raises(TypeError, match=f"rows is of type {kind}: give a DataFrame or an array of shape"):
            explain(booster, rows, above=0, below=1)
    with pytest.raises(ValueError, match="above is 60, but rows has 60 rows"):
        explain(booster, X, above=60, below=1)
    of_xgboost = xgb.train({"objective": "rank:ndcg"}, xgb.DMatrix(X, Y, group=SIZES), 1)
    with pytest.raises(ValueError, match="rows has 1 column, and the model"):
        explain(of_xgboost, pd.DataFrame(X)[[0]], above=0, below=1)
    with pytest.raises((TypeError, ValueError), match="below"):
        explain(booster, X, above=0, below=-1)
    with pytest.raises(
        TypeError, match=r"scores is of type Booster: give what it predicts, model.predict\(X\)"
    ):
        NDCG()(booster, Queries(Y, sizes=SIZES))
