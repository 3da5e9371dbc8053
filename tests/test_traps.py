"""What the engines do in silence (docs/traps.md): each trap shown, and what is done about it."""

import copy
import importlib
import re
import subprocess
import sys
import warnings
from pathlib import Path

import joblib
import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from engine_rules import LightGBMRule, XGBoostRule
from sklearn.model_selection import GroupKFold

import lambdaboost.lightgbm as ours_lgb
import lambdaboost.xgboost as ours_xgb
from lambdaboost import (
    NDCG,
    Blend,
    GradientStep,
    LambdaRank,
    RankNet,
)
from lambdaboost.calls import traps as calls
from lambdaboost.calls.data import queries_of
from lambdaboost.datasets import web_search_log
from lambdaboost.engines.engine import engine_named
from lambdaboost.engines.traps import COMMON

LOG = web_search_log(queries=40, documents=20, features=16, seed=3)
X, Q = LOG.features, LOG.queries
LGB = {"verbose": -1, "num_threads": 1, "deterministic": True, "num_leaves": 7, "min_data_in_leaf": 5}
XGB = {"nthread": 1, "max_depth": 3, "verbosity": 0}
NATIVE = LightGBMRule()


def stock(**more):
    return lgb.Dataset(X, **{"label": Q.relevance, "group": Q.sizes} | more)


def dataset(**more):
    return ours_lgb.Dataset(X, **{"label": Q.relevance, "group": Q.sizes} | more)


def matrix(**more):
    return ours_xgb.DMatrix(X, **{"label": Q.relevance, "group": Q.sizes} | more)


def stock_matrix():
    return xgb.DMatrix(X, Q.relevance, group=Q.sizes)


def both(params=None, rounds=2, lightgbm=None, xgboost=None, **more):
    """Training on each engine, to be warned or refused."""
    return (
        lambda: ours_lgb.train({**LGB, **(params or {}), **(lightgbm or {})}, dataset(), rounds, **more),
        lambda: ours_xgb.train({**XGB, **(params or {}), **(xgboost or {})}, matrix(), rounds, **more),
    )


def caught(train):
    """The warnings of a training."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        train()
    return [str(warning.message) for warning in seen]


# The engines' parameters.


def given_away(objective):
    """The gradient of an objective in a function that LightGBM cannot tell from any other."""
    return lambda scores, data: objective.gradient(scores, queries_of(data))


def test_bagging_by_query():
    """LightGBM draws no bag, and below a fraction of a half the trees stay small: the model is ruined."""
    bagged = {"bagging_by_query": True, "bagging_fraction": 0.5, "bagging_freq": 1}

    def trained(objective, **more):
        return lgb.train({**LGB, **bagged, **more, "objective": objective}, stock(), 20)

    def quality(booster):
        return NDCG(3)(booster.predict(X), Q)

    def leaves(booster):
        return {tree["num_leaves"] for tree in booster.dump_model()["tree_info"]}

    native, ruined = trained("lambdarank"), trained(given_away(NATIVE))
    assert native.trees_to_dataframe()["count"].max() < 0.7 * len(X)
    assert ruined.trees_to_dataframe()["count"].max() == len(X)
    assert leaves(native) == {7} and max(leaves(ruined)) < 5
    assert quality(ruined) < 0.5 < 0.8 < quality(native)
    for train in (lambda: trained(NATIVE), lambda: ranked(**bagged)):
        with pytest.raises(
            ValueError, match=r"bagging_by_query: .*never draws the bags.*leave bagging_by_query out"
        ):
            train()
    assert caught(lambda: trained(NATIVE, bagging_freq=0)) == []
    assert caught(lambda: trained("lambdarank")) == []
    for train in (ours_lgb.train, ours_lgb.cv):
        with pytest.raises(ValueError, match="bagging_by_query: under any objective but its own"):
            train({**LGB, **bagged}, dataset(), 1)
    with pytest.raises(ValueError, match="bagging_by_query"):
        ours_lgb.LambdaRanker(bagging_by_query=True).fit(X, Q.relevance, group=Q.sizes)


def ranked(fit=None, rounds=1, **parameters):
    """A stock LGBMRanker, fitted."""
    ranker = lgb.LGBMRanker(objective=NATIVE, n_estimators=rounds, verbose=-1, n_jobs=1, **parameters)
    return ranker.fit(X, Q.relevance, group=Q.sizes, **(fit or {}))


def test_positions():
    """Rows of a Dataset may have positions, for which LightGBM's own objective corrects, and not every other one."""
    position = np.arange(len(X)) % 5
    plain, corrected = (
        lgb.train({**LGB, "objective": "lambdarank"}, stock(position=given), 3).predict(X)
        for given in (None, position)
    )
    assert np.abs(plain - corrected).max() > 1e-3
    with pytest.warns(UserWarning, match="position: this objective does not read") as seen:
        ignored = lgb.train({**LGB, "objective": NATIVE}, stock(position=position), 3).predict(X)
    assert len(seen) == 1
    np.testing.assert_allclose(ignored, plain)
    with pytest.warns(UserWarning, match="position: .*leave position out if"):
        ours_lgb.train(LGB, stock(position=position), 1)
    regularised = {"lambdarank_position_bias_regularization": 0.5}
    for train in (
        lambda: lgb.train({**LGB, **regularised, "objective": NATIVE}, stock(), 1),
        lambda: ours_lgb.train({**LGB, **regularised}, dataset(), 1),
    ):
        with pytest.warns(
            UserWarning, match="lambdarank_position_bias_regularization: only .* own .*leave it out"
        ):
            train()


def test_default_metric_of_the_stock_ranker():
    """LGBMRanker adds LightGBM's own NDCG to the measure asked for, and any metric that stalls stops the training."""
    held_out = web_search_log(queries=40, documents=20, features=16, seed=2)
    valid = {
        "eval_X": held_out.features, "eval_y": held_out.queries.relevance, "eval_group": [held_out.queries.sizes],
        "eval_metric": NDCG(5),
    }  # fmt: skip
    if "eval_X" not in lgb.LGBMRanker.fit.__code__.co_varnames:  # before LightGBM 4.7
        valid["eval_set"] = [(valid.pop("eval_X"), valid.pop("eval_y"))]

    def stopped(rounds=60, **parameters):
        stopping = lgb.early_stopping(6, first_metric_only=True, verbose=False)
        return ranked({**valid, "callbacks": [stopping]}, rounds, **parameters)

    with pytest.warns(
        UserWarning, match="early stopping: LGBMRanker evaluates .* own ndcg.*metric='None'"
    ) as seen:
        by_native = stopped()
    assert len(seen) == 1 and seen[0].filename == __file__
    (curves,) = by_native.evals_result_.values()
    assert list(curves) == [f"ndcg@{k}" for k in range(1, 6)] + ["NDCG(k=5)"]
    assert by_native.best_iteration_ == 1 + np.argmax(curves["ndcg@1"])  # also with first_metric_only
    with pytest.warns(UserWarning, match="early stopping: LGBMRanker"):
        ranked(valid, early_stopping_round=6)
    fitted = []
    assert caught(lambda: fitted.append(stopped(metric="None"))) == []
    (curve,) = fitted[0].evals_result_["valid_0"].values()
    assert fitted[0].best_iteration_ == 1 + np.argmax(curve)
    for quiet in (
        lambda: ranked(valid),
        lambda: stopped(metric="ndcg"),
        lambda: ranked({**valid, "eval_metric": ["ndcg", NDCG(5)]}, early_stopping_round=6),
        lambda: ranked({**valid, "eval_metric": None}, early_stopping_round=6),
    ):
        assert caught(quiet) == []


def test_early_stopping_of_predictions():
    """`pred_early_stop` skips trees of models of LightGBM's own objective, and of no other."""
    early = {"pred_early_stop": True, "pred_early_stop_freq": 1, "pred_early_stop_margin": 0.01}
    for train in (
        lambda: lgb.train({**LGB, "objective": NATIVE}, stock(), 5),
        lambda: ours_lgb.train(LGB, dataset(), 5),
    ):
        booster = train()
        np.testing.assert_array_equal(booster.predict(X, **early), booster.predict(X))
    native = lgb.train({**LGB, "objective": "lambdarank"}, stock(), 5)
    assert np.abs(native.predict(X, **early) - native.predict(X)).max() > 0.01


def test_refit():
    """`Booster.refit` needs LightGBM's own objective: the text of a model can name it."""
    booster = ours_lgb.train(LGB, dataset(), 5)
    with pytest.raises(lgb.basic.LightGBMError, match="null objective function"):
        booster.refit(X, Q.relevance, group=Q.sizes)
    text = booster.model_to_string().replace("[objective: custom]", "[objective: lambdarank]")
    named = lgb.Booster(model_str=text)
    np.testing.assert_array_equal(named.predict(X), booster.predict(X))
    refitted = named.refit(X, Q.relevance, group=Q.sizes, decay_rate=0.5)
    # The same trees with other leaves.
    np.testing.assert_array_equal(refitted.predict(X, pred_leaf=True), booster.predict(X, pred_leaf=True))
    assert np.abs(refitted.predict(X) - booster.predict(X)).max() > 0.01
    continued = ours_lgb.train(LGB, dataset(), 2, init_model=booster)
    assert continued.num_trees() == 7


def test_pickles_of_the_stock_ranker_need_lambdaboost(tmp_path):
    ranker = ranked()
    joblib.dump(ranker, tmp_path / "ranker.joblib")
    ranker.booster_.save_model(tmp_path / "model.txt")
    program = """
import sys
sys.modules["lambdaboost"] = None  # as where it is not installed
import joblib, lightgbm
print(lightgbm.Booster(model_file=sys.argv[1] + "/model.txt").num_trees())
joblib.load(sys.argv[1] + "/ranker.joblib")
"""
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert run.stdout == "1\n" and "No module named 'engine_rules" in run.stderr


def test_feature_fraction_draws_as_natively():
    params = {**LGB, "feature_fraction": 0.5}
    native = lgb.train({**params, "objective": "lambdarank"}, stock(), 10).predict(X)
    np.testing.assert_array_equal(ours_lgb.train(params, dataset(), 10, objective=NATIVE).predict(X), native)
    drop_in = lgb.train({**params, "objective": NATIVE}, stock(), 10).predict(X)
    assert np.abs(drop_in - native).max() > 1e-3 * np.ptp(native)


def test_dart_drops_the_same_in_every_run():
    params = {**LGB, "boosting": "dart", "drop_rate": 0.5}
    runs = []
    for _ in range(4):
        runs.append(ours_lgb.train(params, dataset(), 10, objective=NATIVE).predict(X))
        lgb.train({**params, "objective": "lambdarank"}, stock(), 3)  # leaves other bits in memory
    for run in runs[1:]:
        np.testing.assert_array_equal(run, runs[0])
    with pytest.warns(UserWarning, match="boosting=dart: .*from run to run"):
        lgb.train({**params, "objective": NATIVE}, stock(), 2)
    assert caught(lambda: ours_lgb.train(params, dataset(), 2)) == []


def test_random_forest():
    forest = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}
    with pytest.raises(ValueError, match="LightGBM's forests take no objective but its own"):
        ours_lgb.train({**LGB, **forest}, dataset(), 1)
    with pytest.raises(lgb.basic.LightGBMError, match="RF mode do"):
        lgb.train({**LGB, **forest, "objective": NATIVE}, stock(), 1)


def test_data_without_a_usable_feature():
    """LightGBM's reset of parameters would fail where native training does not."""
    rows = np.zeros((40, 2))
    y, sizes = np.tile([0.0, 1.0], 20), [20, 20]
    with pytest.warns(UserWarning, match="no tree has a split"):
        booster = ours_lgb.train(LGB, ours_lgb.Dataset(rows, y, group=sizes), 2)
    assert np.ptp(booster.predict(rows)) == 0
    with pytest.raises(lgb.basic.LightGBMError, match="num_features"):
        lgb.train({**LGB, "objective": LambdaRank()}, lgb.Dataset(rows, y, group=sizes), 2)


def counts(booster):
    nodes = booster.trees_to_dataframe()
    return nodes.loc[nodes.left_child.isna(), "count"]


def test_min_data_in_leaf():
    """Met by estimates from hessians under λ, by true documents under gradient steps."""
    params = {**LGB, "min_data_in_leaf": 60, "num_leaves": 31}
    assert counts(ours_lgb.train(params, dataset(), 10)).min() < 60
    assert counts(ours_lgb.train(params, dataset(), 10, leaves="gradient")).min() >= 60
    assert counts(lgb.train({**params, "objective": "lambdarank"}, stock(), 10)).min() < 60  # as natively


def test_small_hessians():
    """λ hessians that are too small for the least hessian of a leaf leave no split, which is reported."""
    little = np.full(len(X), 1e-7)
    with pytest.warns(UserWarning, match="no tree has a split.*min_sum_hessian_in_leaf.*leaves='gradient'"):
        ours_lgb.train(LGB, dataset(weight=little), 2)
    assert ours_lgb.train({**LGB, "min_sum_hessian_in_leaf": 0}, dataset(weight=little), 2).num_trees() == 2
    with pytest.warns(UserWarning, match="no tree has a split.*min_child_weight.*=0"):
        ours_xgb.train({**XGB, "min_child_weight": 1e3}, matrix(), 2)


def test_gradient_steps_count_documents():
    """Their hessian is 1, so that the engines' least leaf is of 20 documents, or of 1: here it is of 40."""
    least = len(X) // 20
    assert counts(ours_lgb.train({"verbose": -1}, dataset(), 3, leaves="gradient")).min() >= least
    booster = ours_xgb.train(XGB, matrix(), 3, leaves="gradient")
    leaf = booster.predict(matrix(), pred_leaf=True).astype(int)
    assert min(np.unique(column, return_counts=True)[1].min() for column in leaf.T) >= least


def test_base_score():
    flat = {**XGB, "min_child_weight": 1e9}
    with pytest.warns(UserWarning, match="no tree has a split"):
        assert (ours_xgb.train(flat, matrix(), 1).predict(matrix()) == 0).all()
    assert (xgb.train(flat, stock_matrix(), 1, obj=LambdaRank()).predict(matrix()) == 0.5).all()


def test_approx():
    params = {**XGB, "tree_method": "approx"}
    objective = XGBoostRule()
    native = {**params, "objective": "rank:ndcg", "base_score": 0.0}
    expected = xgb.train(native | {"lambdarank_num_pair_per_sample": 32}, stock_matrix(), 5).predict(matrix())
    np.testing.assert_allclose(
        ours_xgb.train(params, matrix(), 5, objective=objective).predict(matrix()), expected, atol=1e-5
    )
    with pytest.warns(UserWarning, match="tree_method=approx: .*'objective': 'rank:ndcg'") as seen:
        drop_in = xgb.train({**params, "base_score": 0.0}, stock_matrix(), 5, obj=objective)
    assert len(seen) == 1 and seen[0].filename == __file__
    assert np.abs(drop_in.predict(matrix()) - expected).max() > 0.01
    named = xgb.train(
        {**params, "objective": "rank:ndcg", "base_score": 0.0}, stock_matrix(), 5, obj=objective
    )
    np.testing.assert_allclose(named.predict(matrix()), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("engine", "name", "remedy"),
    [
        (0, "lambdarank_truncation_level", "NDCG(k=30)"),
        (0, "lambdarank_norm", "objective='lambdarank'"),
        (0, "sigmoid", "sigma=1.0"),
        (1, "lambdarank_num_pair_per_sample", "NDCG(k=32)"),
        (1, "ndcg_exp_gain", "gain='linear'"),
    ],
)
def test_parameters_of_the_native_objective(engine, name, remedy):
    messages = caught(both({name: True if "norm" in name else 1})[engine])
    assert [m for m in messages if m.startswith(f"{name}: only the engine's own objective") and remedy in m]
    assert len(messages) == 1


@pytest.mark.parametrize("train", both({"leaves": "gradient"}), ids=["lightgbm", "xgboost"])
def test_arguments_among_the_parameters(train):
    with pytest.raises(ValueError, match=r"params has leaves='gradient'.*give it as leaves= of the call"):
        train()


# Gradients and objectives.


class Broken(RankNet, registered=False):
    """No number for the fourth document."""

    def lambdas(self, scores, q, iteration):
        lam, mu = super().lambdas(scores, q, iteration)
        lam[3] = np.nan
        return lam, mu


NO_NUMBER = r"grad\[3\] of Broken\(\) is nan in round 0: both engines would train on silently"


@pytest.mark.parametrize("train", both(objective=Broken()), ids=["lightgbm", "xgboost"])
def test_gradients_that_are_no_numbers(train):
    with pytest.raises(ValueError, match=NO_NUMBER):
        train()
    with pytest.raises(ValueError, match=NO_NUMBER):
        lgb.train({**LGB, "objective": Broken()}, stock(), 1)
    with pytest.raises(ValueError, match=NO_NUMBER):
        xgb.train(XGB, stock_matrix(), 1, obj=Broken())

    def silent(preds, data):
        return np.full(preds.size, np.nan, dtype=np.float32), np.ones(preds.size, dtype=np.float32)

    assert np.ptp(lgb.train({**LGB, "objective": silent}, stock(), 2).predict(X)) == 0


def test_copies_of_objectives():
    seen = []
    objective = Blend(LambdaRank(), RankNet(), lambda m: seen.append(m) or 0.1)
    assert copy.deepcopy(objective) is objective
    lgb.train({**LGB, "objective": objective}, stock(), 2)
    lgb.LGBMRanker(objective=objective, n_estimators=2, verbose=-1).fit(X, Q.relevance, group=Q.sizes)
    assert seen == [0, 1, 0, 1]


def test_learning_rate_of_gradient_steps():
    bare = GradientStep(LambdaRank(), normalize="none")
    for train in both(objective=bare):
        assert len(caught(train)) == 1
        with pytest.warns(UserWarning, match="learning_rate: .*12 to 30 times smaller.*normalize='query'"):
            train()
    for train in both({"learning_rate": 2.0}, objective=bare) + both(leaves="gradient"):
        assert caught(train) == []
    newton, step, normalised = (
        np.abs(
            ours_lgb.train({**LGB, "learning_rate": 1.0}, dataset(), 1, objective=objective).predict(X)
        ).mean()
        for objective in (LambdaRank(), bare, GradientStep(LambdaRank()))
    )
    assert step < newton / 5
    assert normalised > newton / 5


def test_empty_trees_do_not_count():
    """A schedule is asked for each round, also after rounds without a split, which LightGBM drops."""
    seen = []
    objective = Blend(RankNet(), LambdaRank(), lambda m: seen.append(m) or 0.5)
    params = {**LGB, "min_gain_to_split": 1e9}
    for more, train in (({}, ours_lgb.train), ({"feature_fraction": 0.5}, ours_lgb.train)):
        seen.clear()
        with pytest.warns(UserWarning, match="no tree has a split"):
            train({**params, **more}, dataset(), 4, objective=objective)
        assert seen == [0, 1, 2, 3]


# Labels.


@pytest.mark.parametrize("make", [dataset, matrix])
def test_labels_of_many_digits(make):
    large = 2.0**24 + np.arange(len(X))
    with pytest.warns(UserWarning, match="label: labels above 2.*lose digits as float32"):
        make(label=large)
    with pytest.warns(UserWarning, match="stamp: labels above"):
        make(sources={"stamp": large.astype(np.int64)})
    half = np.arange(len(X), dtype=np.float16) % 5  # has no number as large as 2**24
    for exact in (large.astype(np.float32), 2.0 * np.floor(large / 2), np.full(len(X), np.nan), half):
        assert caught(lambda labels=exact: make(sources={"stamp": labels})) == []


def test_labels_that_are_missing():
    grades = np.where(np.arange(len(X)) % 3, Q.relevance, np.nan)
    assert lgb.Dataset(X, grades, group=Q.sizes).construct().get_field("label")[0] == 0
    assert np.isnan(queries_of(dataset(label=grades).construct()).relevance[0])
    assert np.isnan(queries_of(matrix(label=grades)).relevance[0])
    with pytest.warns(
        UserWarning, match=r"NaN labels: a lightgbm.Dataset turns them into grade 0; make it a lambda"
    ):
        ours_lgb.train(LGB, stock(label=grades), 1)
    assert caught(lambda: ours_lgb.train(LGB, dataset(label=grades), 1)) == []
    with pytest.raises(xgb.core.XGBoostError, match=r"[Ll]abel"):
        xgb.train(XGB, xgb.DMatrix(X, grades, group=Q.sizes), 1, obj=LambdaRank())


def test_gain_tables():
    params = {**LGB, "metric": "ndcg", "eval_at": [3], "objective": "lambdarank"}
    first = lgb.Booster(params, stock())
    first.update()
    before = first.eval_train()[0][2]
    lgb.Booster({**params, "label_gain": [0, 1, 2, 3, 50]}, stock())
    assert first.eval_train()[0][2] != before  # of a booster that nobody touched
    lgb.Booster(params, stock())
    with pytest.warns(UserWarning, match="label_gain: LightGBM keeps one table for the whole process"):
        ours_lgb.train({**LGB, "label_gain": [0, 1, 2, 3, 4]}, dataset(), 1)
    lgb.Booster(params, stock())
    two = [
        NDCG(3, gain=gain)(first.predict(X), Q) for gain in ("exponential", (0, 1, 2, 3, 50), "exponential")
    ]
    assert two[0] == two[2] != two[1]


# Rows.


def by_grade(descending=True):
    sign = -1 if descending else 1
    return np.lexsort((sign * Q.relevance, Q.query_of_row))


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
def test_row_order(engine):
    package = importlib.import_module(f"lambdaboost.{engine}")
    params = LGB if engine == "lightgbm" else XGB

    def data(rows):
        data_class = package.Dataset if engine == "lightgbm" else package.DMatrix
        return data_class(X[rows], Q.relevance[rows], group=Q.sizes)

    rows = by_grade()
    assert NDCG(3, empty=1.0)(np.zeros(len(X)), Q.reordered(rows)) == 1
    words = r"row order: the rows of all \d+ queries .* sorted by descending grade.*shuffled_rows"
    with pytest.warns(UserWarning, match=words) as seen:
        package.train(params, data(rows), 1)
    assert len(seen) == 1 and seen[0].filename == __file__
    with pytest.warns(UserWarning, match=words) as seen:
        package.cv(params, data(rows), 1, nfold=2)
    assert len(seen) == 1
    with pytest.warns(UserWarning, match=words):
        ranker = package.LambdaRanker(
            n_estimators=1, n_jobs=1, **({"verbose": -1} if engine == "lightgbm" else {})
        )
        ranker.fit(X[rows], Q.relevance[rows], group=Q.sizes)
    for other in (by_grade(descending=False), rows[Q.shuffled_rows(0)], np.arange(len(X))):
        assert caught(lambda other=other: package.train(params, data(other), 1)) == []
    assert caught(lambda: package.train(params, data(rows), 1, objective=RankNet())) == []
    booster = package.train(params, data(np.arange(len(X))), 1)
    more = {"init_model" if engine == "lightgbm" else "xgb_model": booster}
    assert caught(lambda: package.train(params, data(rows), 1, **more)) == []


def test_folds_of_rows():
    """Both engines' own cv go wrong with a custom objective: rows of a query in two folds, weights dropped."""

    def stock_cv(**more):
        return lgb.cv(
            {**LGB, "objective": LambdaRank(), "metric": "None"}, stock(), 1, return_cvbooster=True,
            feval=NDCG(3), **{"nfold": 2, **more},
        )["cvbooster"]  # fmt: skip

    cut = "folds: this training set holds only some rows of a query.*GroupKFold"
    with pytest.warns(UserWarning, match=cut) as seen:
        folds = stock_cv()
    assert all(queries_of(booster.train_set).n_queries == Q.n_queries for booster in folds.boosters)
    assert len({str(warning.message) for warning in seen}) == 1 and seen[0].filename == __file__
    with pytest.warns(UserWarning, match=cut):
        stock_cv(stratified=False, nfold=3)
    assert caught(lambda: stock_cv(folds=GroupKFold(2))) == []
    folds = ours_lgb.cv(LGB, dataset(), 1, nfold=2, return_cvbooster=True)["cvbooster"]
    assert [queries_of(booster.train_set).n_queries for booster in folds.boosters] == [20, 20]
    weight = np.linspace(1, 2, Q.n_queries)
    seen = []

    def look(preds, data):
        seen.append(data.get_weight().size)
        return LambdaRank()(preds, data)

    weighted = xgb.DMatrix(X, Q.relevance, group=Q.sizes, weight=weight)
    params = {**XGB, "disable_default_eval_metric": True}
    xgb.cv(params, weighted, 1, nfold=2, obj=look)
    xgb.cv(
        params, matrix(weight=weight), 1, folds=[(Q.rows_of(range(20)), Q.rows_of(range(20, 40)))], obj=look
    )
    assert seen == [0, 0, 20]


# The page.


PAGE = (Path(__file__).parent.parent / "docs" / "traps.md").read_text(encoding="utf-8")


def rows_of_the_page():
    """The cells of each row by its name, without marks of code; a name may stand in two tables."""
    rows = {}
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and cells[0] != "trap":
            rows.setdefault(cells[0].replace("`", ""), []).append(cells[1:])
    return rows


def own_rows():
    return {*COMMON, *engine_named("lightgbm").traps, *engine_named("xgboost").traps}


def test_the_page_has_every_row_with_its_level():
    page = rows_of_the_page()
    for column, traps in ((1, own_rows()), (2, {*calls.LIGHTGBM, *calls.XGBOOST, *calls.SHARED})):
        for trap in traps:
            cells = [row[column] for row in page[trap.name]]
            assert any(trap.level in cell for cell in cells), (trap.name, trap.level, cells)


def test_the_page_promises_nothing_without_a_row():
    own = {trap.name for trap in own_rows()}
    drop_in = {trap.name for trap in (*calls.LIGHTGBM, *calls.XGBOOST, *calls.SHARED)}
    # Refused by the gradient; warned of by the rows of native parameters, and of trees without a split.
    elsewhere = {"NaN and infinite gradients", "lambdarank_position_bias_regularization", "no usable feature"}
    for name, rows in rows_of_the_page().items():
        for _, ours, *others in rows:
            if ours.startswith(("refused", "warned")):
                assert name in own | elsewhere, name
            if len(others) > 1 and others[0].startswith(("refused", "warned")):
                assert name in drop_in, name


def test_every_text_ends_with_a_remedy():
    """Not a full stop, and no brace that nothing fills."""
    for trap in own_rows() | {*calls.LIGHTGBM, *calls.XGBOOST}:
        assert len(trap.text) > 40 and ("; " in trap.text or ": " in trap.text or "{remedy}" in trap.text), (
            trap.name
        )


def test_the_page_names_tests_that_exist():
    root = Path(__file__).parent
    named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", PAGE)
    assert len(named) >= 20
    for file, test in named:
        assert f"def {test}(" in (root / file).read_text(encoding="utf-8"), (
            f"docs/traps.md names {file}::{test}"
        )
    here = re.findall(r"^def (test_\w+)\(", Path(__file__).read_text(encoding="utf-8"), re.MULTILINE)
    of_the_page = {test for test in here if "the_page" in test} | {"test_every_text_ends_with_a_remedy"}
    assert set(here) - {test for _, test in named} <= of_the_page
