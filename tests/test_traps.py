"""What the engines do in silence (docs/traps.md): each trap shown in stock trainings, and what is done about it."""

import copy
import re
from functools import partial
from pathlib import Path

import lightgbm as lgb
import numpy as np
import on_lightgbm
import on_xgboost
import pytest
import xgboost as xgb
from on_xgboost import LOGISTIC, Logistic
from scipy.sparse import csr_matrix
from sklearn.model_selection import GroupKFold
from warned import warnings_of

import lambdaboost.lightgbm as ours_lgb
import lambdaboost.xgboost as ours_xgb
from lambdaboost import (
    CNDCG,
    NDCG,
    XENDCG,
    Blend,
    GradientStep,
    LambdaRank,
    RankNet,
    YetiLoss,
    attach,
    graded,
    query_folds,
)
from lambdaboost.callback import known_data
from lambdaboost.datasets import web_search_log
from lambdaboost.objectives import Objective

LOG = web_search_log(queries=40, documents=20, features=16, seed=3)
X, Q = LOG.features, LOG.queries
LGB = {"verbose": -1, "num_threads": 1, "deterministic": True, "num_leaves": 7, "min_data_in_leaf": 5}
XGB = {"nthread": 1, "max_depth": 3, "verbosity": 0}
NATIVE = XENDCG(seed=5)  # to the last digit LightGBM's own rank_xendcg


def stock(rows=slice(None), **more):
    return lgb.Dataset(X[rows], **{"label": Q.relevance[rows], "group": Q.sizes} | more)


def matrix(rows=slice(None), **more):
    return xgb.DMatrix(X[rows], **{"label": Q.relevance[rows], "group": Q.sizes} | more)


def lightgbm(params=None, data=None, rounds=2, objective=NATIVE, **more):
    return on_lightgbm.train({**LGB, **(params or {})}, data or stock(), rounds, objective=objective, **more)


def xgboost(params=None, data=None, rounds=2, objective=LambdaRank(), **more):  # noqa: B008
    return on_xgboost.train({**XGB, **(params or {})}, data or matrix(), rounds, objective=objective, **more)


def data_for(train, rows=slice(None), **more):
    return stock(rows, **more) if train is lightgbm else matrix(rows, **more)


BOTH = pytest.mark.parametrize("train", [lightgbm, xgboost], ids=["lightgbm", "xgboost"])


# The engines' parameters.


def given_away(objective):
    """The gradient of an objective in a function that LightGBM cannot tell from any other."""
    return lambda scores, data: objective.gradient(scores, known_data(data).queries)


def test_bagging_by_query():
    """LightGBM draws no bag, and below a fraction of a half the trees stay small: the model is ruined."""
    bagged = {"bagging_by_query": True, "bagging_fraction": 0.5, "bagging_freq": 1}

    def trained(objective, **more):
        return lgb.train({**LGB, **bagged, **more, "objective": objective}, stock(), 20)

    def quality(booster):
        return NDCG(3)(booster.predict(X), Q)

    def leaves(booster):
        return {tree["num_leaves"] for tree in booster.dump_model()["tree_info"]}

    native, ruined = trained("rank_xendcg"), trained(given_away(NATIVE))
    assert native.trees_to_dataframe()["count"].max() < 0.7 * len(X)
    assert ruined.trees_to_dataframe()["count"].max() == len(X)
    assert leaves(native) == {7} and max(leaves(ruined)) < 7
    assert quality(ruined) < 0.5 < 0.8 < quality(native)
    for train in (lambda: trained(NATIVE), lambda: ranked(**bagged)):
        with pytest.raises(
            ValueError, match=r"bagging_by_query: .*never draws the bags.*remove bagging_by_query"
        ):
            train()
    assert warnings_of(lambda: trained(NATIVE, bagging_freq=0)) == []


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
    np.testing.assert_array_equal(ignored, lgb.train({**LGB, "objective": NATIVE}, stock(), 3).predict(X))
    with pytest.warns(
        UserWarning, match="lambdarank_position_bias_regularization: only .* own .*leave it out"
    ):
        lightgbm({"lambdarank_position_bias_regularization": 0.5})


def test_default_metric_of_the_stock_ranker():
    """LGBMRanker adds LightGBM's own NDCG to the measure asked for, and any metric that stalls stops the training."""
    held_out = web_search_log(queries=40, documents=20, features=16, seed=2)
    valid = {"eval_X": held_out.features, "eval_y": held_out.queries.relevance}
    if "eval_X" not in lgb.LGBMRanker.fit.__code__.co_varnames:  # before LightGBM 4.7
        valid = {"eval_set": [tuple(valid.values())]}
    valid |= {"eval_group": [held_out.queries.sizes], "eval_metric": NDCG(5)}

    def curves(**parameters):
        stopping = lgb.early_stopping(6, first_metric_only=True, verbose=False)
        fitted = ranked({**valid, "callbacks": [stopping]}, 60, **parameters)
        return fitted.best_iteration_, fitted.evals_result_["valid_0"]

    best, by_native = curves()
    # LightGBM has an ndcg@5 of its own.
    assert list(by_native) == [*(f"ndcg@{k}" for k in range(1, 6)), "ndcg@5-lambdaboost"]
    assert best == 1 + np.argmax(by_native["ndcg@1"])  # also with first_metric_only
    best, alone = curves(metric="None")
    assert list(alone) == ["ndcg@5"] and best == 1 + np.argmax(alone["ndcg@5"])


def test_no_metric():
    """For its own objectives LightGBM has a default metric."""
    data, said = stock(), "metric: LightGBM evaluates nothing"
    curves = {}
    more = {"valid_sets": [data], "callbacks": [lgb.record_evaluation(curves)]}
    lgb.train({**LGB, "objective": "lambdarank"}, data, 1, **more)
    assert list(curves["training"]) == [f"ndcg@{k}" for k in range(1, 6)]
    for metric, feval, warnings in (
        (None, None, 1),
        ("ndcg", None, 0),
        ("None", None, 0),
        (None, NDCG(5), 0),
    ):
        params = {**LGB, "objective": NATIVE} | ({"metric": metric} if metric else {})
        found = warnings_of(lambda p=params, feval=feval: lgb.train(p, data, 1, feval=feval, **more))
        assert [one.startswith(said) for one in found] == [True] * warnings
    for valid_sets in (None, []):
        assert warnings_of(lambda of=valid_sets: lgb.train({**LGB, "objective": NATIVE}, data, 1, of)) == []
    folds = query_folds(Q, 2)
    (found,) = set(warnings_of(lambda: lgb.cv({**LGB, "objective": NATIVE}, stock(), 1, folds=folds)))
    assert found.startswith(said)


def test_queries_of_a_file(tmp_path):
    """Subsets, as folds are, do not have those of a data set that LightGBM read, until it is asked for them."""
    stock(params=LGB).save_binary(tmp_path / "data.bin")

    def curve(data, objective):
        params = {**LGB, "objective": objective, "metric": "ndcg", "eval_at": [3]}
        return lgb.cv(params, data, 1, folds=query_folds(Q, 2))["valid ndcg@3-mean"]

    data = lgb.Dataset(tmp_path / "data.bin", params=LGB)
    assert np.isnan(curve(data, "lambdarank")).all()
    with pytest.raises(ValueError, match=r"has no groups: .* construct\(\).get_group\(\) before lightgbm.cv"):
        curve(data, NATIVE)
    data.get_group()
    assert curve(data, NATIVE) == curve(stock(), NATIVE)


def test_weights_that_are_no_numbers():
    for wrong, kept in ((np.nan, 0), (np.inf, np.float32(1e38))):
        data = stock(weight=np.where(np.arange(len(X)) == 2, wrong, 1.0), params=LGB).construct()
        assert data.get_field("weight")[2] == kept
    with pytest.raises(
        ValueError, match=r"weight\[2\] is 1e\+38: weights must be finite, .* makes infinity 1e38"
    ):
        lightgbm(data=data)


def test_refit():
    """`Booster.refit` needs LightGBM's own objective: the text of a model can name it."""
    booster = lightgbm(rounds=5, objective=LambdaRank())
    with pytest.raises(lgb.basic.LightGBMError, match="null objective function"):
        booster.refit(X, Q.relevance, group=Q.sizes)
    text = booster.model_to_string().replace("[objective: custom]", "[objective: lambdarank]")
    named = lgb.Booster(model_str=text)
    np.testing.assert_array_equal(named.predict(X), booster.predict(X))
    refitted = named.refit(X, Q.relevance, group=Q.sizes, decay_rate=0.5)
    # The same trees with other leaves.
    np.testing.assert_array_equal(refitted.predict(X, pred_leaf=True), booster.predict(X, pred_leaf=True))
    assert np.abs(refitted.predict(X) - booster.predict(X)).max() > 0.01
    continued = lightgbm(init_model=booster)
    assert continued.num_trees() == 7


def test_feature_fraction():
    """The reset of parameters draws other features; rankers leave it out."""
    params = {**LGB, "feature_fraction": 0.5}
    native = lgb.train({**params, "objective": "rank_xendcg"}, stock(), 10).predict(X)
    drop_in = lightgbm({"feature_fraction": 0.5}, rounds=10).predict(X)
    assert np.abs(drop_in - native).max() > 1e-3 * np.ptp(native)
    names = {
        "min_data_in_leaf": "min_child_samples",
        "num_threads": "n_jobs",
        "feature_fraction": "colsample_bytree",
    }
    settings = {names.get(name, name): value for name, value in params.items()}
    ranker = ours_lgb.LambdaRanker(objective=NATIVE, n_estimators=10, **settings)
    np.testing.assert_array_equal(ranker.fit(X, Q.relevance, group=Q.sizes).predict(X), native)


def test_dart_drops_the_same_in_every_run():
    params, runs = {"boosting": "dart", "drop_rate": 0.5}, []
    for _ in range(4):
        runs.append(lightgbm(params, rounds=10).predict(X))
        lgb.train({**LGB, **params, "objective": "lambdarank"}, stock(), 3)  # leaves other bits in memory
    for run in runs[1:]:
        np.testing.assert_array_equal(run, runs[0])
    assert warnings_of(lambda: lightgbm(params)) == []


def test_random_forest():
    with pytest.raises(lgb.basic.LightGBMError, match="RF mode do"):
        lightgbm({"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5})


def test_data_without_a_usable_feature():
    """LightGBM's reset of parameters fails where native training does not; rankers leave it out."""
    rows, y = np.zeros((40, 2)), np.tile([0.0, 1.0], 20)
    with pytest.raises(lgb.basic.LightGBMError, match="num_features"):
        lightgbm(data=lgb.Dataset(rows, y, group=[20, 20]))
    for boosting in ("gbdt", "dart"):
        ranker = ours_lgb.LambdaRanker(
            boosting_type=boosting, n_estimators=2, verbose=-1, min_child_samples=5
        )
        assert np.ptp(ranker.fit(rows, y, group=[20, 20]).predict(rows)) == 0


def counts(booster):
    nodes = booster.trees_to_dataframe()
    return nodes.loc[nodes.left_child.isna(), "count"]


def test_min_data_in_leaf():
    """Met by estimates from hessians under λ, by true documents under gradient steps."""
    params = {"min_data_in_leaf": 60, "num_leaves": 31}
    assert counts(lightgbm(params, rounds=10)).min() < 60
    assert counts(lightgbm(params, rounds=10, objective=GradientStep(NATIVE))).min() >= 60
    native = lgb.train({**LGB, **params, "objective": "lambdarank"}, stock(), 10)
    assert counts(native).min() < 60


@pytest.mark.filterwarnings("ignore:Stopped training")
def test_small_hessians():
    """λ hessians that are too small for the least hessian of a leaf leave no split."""
    little = np.full(len(X), 1e-7)
    with pytest.warns(UserWarning, match="no tree can have a split: .*min_sum_hessian_in_leaf=0.001"):
        assert np.ptp(lightgbm(data=stock(weight=little)).predict(X)) == 0
    assert lightgbm({"min_sum_hessian_in_leaf": 0}, stock(weight=little)).num_trees() == 2
    with pytest.warns(
        UserWarning, match=r"no tree can have a split: .*min_child_weight=1000.* such as min_child_weight=0"
    ):
        xgboost({"min_child_weight": 1e3})


def test_gradient_steps_count_documents():
    """Their hessian is 1, so that the engines' least leaf is of 20 documents, or of 1: rankers take 40 here."""
    least, step = len(X) // 20, GradientStep(LambdaRank())
    bare = {name: value for name, value in LGB.items() if name != "min_data_in_leaf"}
    with pytest.warns(UserWarning, match=f"min_data_in_leaf: .* give min_data_in_leaf={least}"):
        lgb.train({**bare, "objective": step}, stock(), 1)
    with pytest.warns(UserWarning, match=f"min_data_in_leaf: .* give min_data_in_leaf={least}"):
        lgb.LGBMRanker(objective=step, n_estimators=1, verbose=-1).fit(X, Q.relevance, group=Q.sizes)
    with pytest.warns(UserWarning, match=f"min_child_weight: .* give min_child_weight={least}"):
        xgboost(objective=step)
    for train, name, values in (
        (lightgbm, "min_child_samples", (5, 20)),
        (xgboost, "min_child_weight", (2, 1)),
    ):
        for value in values:  # the last is the engine's default, but chosen
            assert warnings_of(lambda train=train, chosen={name: value}: train(chosen, objective=step)) == []
    ours = ours_lgb.LambdaRanker(objective=step, n_estimators=3, verbose=-1).fit(
        X, Q.relevance, group=Q.sizes
    )
    assert counts(ours.booster_).min() >= least
    other = ours_xgb.LambdaRanker(objective=step, n_estimators=3, n_jobs=1).fit(X, Q.relevance, group=Q.sizes)
    leaf = other.apply(X).astype(int)
    assert min(np.unique(column, return_counts=True)[1].min() for column in leaf.T) >= least


def test_base_score():
    """XGBoost starts at 0.5, rankers and these tests at 0."""
    flat = {"min_child_weight": 1e9}
    with pytest.warns(UserWarning, match="no tree can have a split"):
        stock, at_zero = xgb.train({**XGB, **flat}, matrix(), 1, obj=LambdaRank()), xgboost(flat)
    for booster, start in ((stock, 0.5), (at_zero, 0)):
        np.testing.assert_allclose(booster.predict(matrix()), start, atol=1e-6)


@pytest.mark.parametrize(
    ("params", "warnings"),
    [({}, 0), ({"booster": "dart", "rate_drop": 0.5}, 1), ({"booster": "gblinear"}, 1)],
)
def test_early_stopping_of_what_has_no_earlier_model(params, warnings):
    """Later rounds weigh the trees of DART again, and change the weights of a linear model."""
    params = {"learning_rate": 0.9, **params}
    more = {"evals": [(matrix(), "valid")], "verbose_eval": False, "evals_result": {}}
    found = []
    said = warnings_of(
        lambda: found.append(xgboost(params, rounds=20, early_stopping_rounds=2, objective=RankNet(), **more))
    )
    said = [one for one in said if "deprecated" not in one]  # of XGBoost 3.4
    assert [one.startswith("early stopping: with dropout") for one in said] == [True] * warnings
    (curve,), best = more["evals_result"]["valid"].values(), found[0].best_iteration
    of_best_round = NDCG(3)(found[0].predict(matrix(), iteration_range=(0, best + 1)), Q)
    assert (of_best_round == pytest.approx(curve[best], abs=1e-6)) is (warnings == 0)
    assert warnings_of(lambda: xgboost(params, rounds=2, objective=RankNet(), **more)) == []


def test_values_that_a_sparse_matrix_does_not_store():
    zeros = np.where(np.median(X, axis=0) < X, X, 0)
    booster = xgboost(data=xgb.DMatrix(zeros, Q.relevance, group=Q.sizes))
    scores, of_sparse = booster.predict(xgb.DMatrix(zeros)), booster.predict(xgb.DMatrix(csr_matrix(zeros)))
    assert np.abs(of_sparse - scores).max() > 0.01


def test_approx():
    params = {**XGB, "tree_method": "approx", "base_score": 0.0}
    native = xgb.train(params | LOGISTIC, matrix(label=Q.relevance > 0, group=None), 5)
    expected = native.predict(matrix(), output_margin=True)
    with pytest.warns(UserWarning, match="tree_method=approx: .*'objective': 'rank:ndcg'") as seen:
        drop_in = xgb.train(params, matrix(), 5, obj=Logistic())
    assert len(seen) == 1 and seen[0].filename == __file__
    assert np.abs(drop_in.predict(matrix()) - expected).max() > 0.01
    named = xgboost({"tree_method": "approx"}, rounds=5, objective=Logistic())
    np.testing.assert_allclose(named.predict(matrix()), expected, atol=1e-5)


def test_another_objective_in_params():
    """Beside obj= it may change the leaves, whose values that of counts limits."""
    params, spread = {**XGB, "disable_default_eval_metric": True}, []
    for name, warnings in (("rank:ndcg", 0), ("reg:squarederror", 0), ("count:poisson", 1)):
        found = []
        said = warnings_of(
            lambda name=name, found=found: found.append(
                xgb.train({**params, "objective": name}, matrix(), 3, obj=LambdaRank())
            )
        )
        words = f"objective={name}: beside obj= XGBoost lets"
        assert [one.startswith(words) and "'rank:ndcg'" in one for one in said] == [True] * warnings
        spread.append(np.ptp(found[0].predict(matrix(), output_margin=True)))
    assert spread[0] == pytest.approx(spread[1], abs=1e-5) and spread[2] < 0.9 * spread[0]


PAIRS = {"lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": 10}


@pytest.mark.parametrize(
    ("train", "objective", "params", "remedy"),
    [
        (lightgbm, YetiLoss(), {"lambdarank_truncation_level": 20}, "give YetiLoss(NDCG(k=20))"),
        (lightgbm, RankNet(), {"lambdarank_truncation_level": 20}, "give LambdaRank(NDCG(k=20))"),
        (lightgbm, RankNet(), {"lambdarank_norm": True}, "train with LightGBM's own 'lambdarank'"),
        (lightgbm, YetiLoss(), {"sigmoid": 2}, "give LambdaRank(sigma=2)"),
        (xgboost, YetiLoss(), PAIRS, "give YetiLoss(NDCG(k=10))"),
        (xgboost, YetiLoss(), PAIRS | {"lambdarank_pair_method": "mean"}, "every pair counts"),
        (xgboost, RankNet(), {"lambdarank_normalization": True}, "train with XGBoost's own 'rank:ndcg'"),
        (xgboost, YetiLoss(), {"ndcg_exp_gain": False}, "give YetiLoss(NDCG(gain='linear'))"),
    ],
)
def test_parameters_of_the_native_objective(train, objective, params, remedy):
    """Switches are said where they ask for other than lambdaboost does; a remedy is of the objective in training."""
    said = warnings_of(lambda: train(params, objective=objective))
    assert [one.partition(": only the engine's own objective")[0] for one in said] == list(params)
    assert all(one.endswith(remedy) for one in said)
    native = {lightgbm: "lambdarank", xgboost: "rank:ndcg"}[train]
    assert warnings_of(lambda: train(params, objective=native)) == []
    switched = {name: not value for name, value in params.items() if isinstance(value, bool)}
    assert warnings_of(lambda: train(switched, objective=objective)) == []


# Gradients and objectives.


class Broken(Objective, registered=False):
    """No number for the fourth document."""

    objective: Objective = RankNet()

    def lambdas(self, scores, q, iteration):
        lam, mu = self.objective.on(q)(scores, iteration)
        lam[3] = np.nan
        return lam, mu


NO_NUMBER = r"grad\[3\] of Broken\(\) is nan in round 0: both engines would continue silently"


@BOTH
def test_gradients_that_are_no_numbers(train):
    with pytest.raises(ValueError, match=NO_NUMBER):
        train(objective=Broken())

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


# Labels.


@BOTH
def test_labels_of_many_digits(train):
    stamp = 2.0**24 + np.arange(len(X))
    with pytest.warns(UserWarning, match="relevance: labels above 2.*lose digits as float32"):
        train(data=attach(data_for(train), relevance=stamp), objective=RankNet())
    assert warnings_of(lambda: train(data=attach(data_for(train), stamp=stamp))) == []


@BOTH
def test_labels_that_contain_each_other(train):
    """Bookings are clicks, whichever comes first; what contains them by chance, or hardly ever, is not meant."""
    rng = np.random.default_rng(0)
    clicks = (rng.random(len(X)) < 0.4) * 1.0
    bookings = clicks * (rng.random(len(X)) < 0.3)
    for first, second, words in (
        (bookings, clicks, "every document with relevance above 0 has clicks above 0"),
        (clicks, bookings, "every document with clicks above 0 has relevance above 0"),
    ):
        with pytest.warns(UserWarning, match=f"{words}.*a summed grade"):
            train(data=attach(data_for(train, label=first), clicks=second), objective=graded(0.3))
    # One booking without a click.
    other = np.where(np.arange(len(X)) == np.flatnonzero(bookings)[0], 0.0, clicks)
    data = data_for(train, label=bookings)
    assert warnings_of(lambda: train(data=attach(data, clicks=other), objective=graded(0.3))) == []


def test_labels_that_are_missing():
    grades = np.where(np.arange(len(X)) % 3, Q.relevance, np.nan)
    assert lgb.Dataset(X, grades, group=Q.sizes).construct().get_field("label")[0] == 0
    with pytest.raises(ValueError, match="Input y contains NaN"):
        lgb.LGBMRanker(objective=NATIVE, n_estimators=1, verbose=-1).fit(X, grades, group=Q.sizes)
    assert warnings_of(lambda: lightgbm(data=attach(stock(label=grades), relevance=grades))) == []
    with pytest.raises(xgb.core.XGBoostError, match=r"[Ll]abel"):
        xgboost(data=matrix(label=grades))


def test_gain_tables():
    params = {**LGB, "metric": "ndcg", "eval_at": [3], "objective": "lambdarank"}
    first = lgb.Booster(params, stock())
    first.update()
    before = first.eval_train()[0][2]
    lgb.Booster({**params, "label_gain": [0, 1, 2, 3, 50]}, stock())
    assert first.eval_train()[0][2] != before  # of a booster that nobody touched
    lgb.Booster(params, stock())
    with pytest.warns(
        UserWarning, match=r"label_gain: LightGBM keeps one table .* NDCG\(k, gain=\(0, 1, 2, 3, 4\)\)"
    ):
        lightgbm({"label_gain": [0, 1, 2, 3, 4]})
    lgb.Booster(params, stock())  # the table of the other tests


# Rows.


def by_grade(descending=True):
    sign = -1 if descending else 1
    return np.lexsort((sign * Q.relevance, Q.query_of_row))


@BOTH
def test_row_order(train):
    data, rows = partial(data_for, train), by_grade()
    assert NDCG(3, empty=1.0).mean(np.zeros(len(X)), Q.reordered(rows)) == 1
    words = r"row order: the rows of all \d+ queries .* sorted by descending relevance.*shuffled_rows"
    with pytest.warns(UserWarning, match=words) as seen:
        train(data=data(rows), objective=LambdaRank())
    assert len(seen) == 1
    for other in (by_grade(descending=False), rows[Q.shuffled_rows(0)], np.arange(len(X))):
        assert warnings_of(lambda other=other: train(data=data(other))) == []
    assert warnings_of(lambda: train(data=data(rows), objective=RankNet())) == []
    # By clicks under an objective of clicks, which grades do not show.
    clicks = np.linspace(0, 1, len(X))[np.random.default_rng(0).permutation(len(X))]
    by_clicks = np.lexsort((-clicks, Q.query_of_row))
    clicked = attach(data(by_clicks), clicks=clicks[by_clicks])
    with pytest.warns(UserWarning, match=words.replace("relevance.*shuffled_rows", "clicks")):
        train(data=clicked, objective=LambdaRank(CNDCG()))
    clicked = attach(data(by_clicks), clicks=clicks[by_clicks])
    assert warnings_of(lambda: train(data=clicked, objective=LambdaRank())) == []
    more = {"init_model" if train is lightgbm else "xgb_model": train()}
    assert warnings_of(lambda: train(data=data(rows), objective=LambdaRank(), **more)) == []


def warnings_of_evaluating(train, valid):
    """What a training says that evaluates NDCG(3) on `valid`."""
    more = {"valid_sets": [valid], "feval": NDCG(3)}
    if train is xgboost:
        more = {"evals": [(valid, "valid")], "custom_metric": NDCG(3), "verbose_eval": False}
    data = data_for(train)
    return warnings_of(lambda: train(data=data, rounds=3, objective=LambdaRank(), **more))


@BOTH
def test_validation_rows_in_the_order_of_the_measure(train):
    """Few trees leave ties, which the order of rows decides: early stopping ends after a round or two."""
    for order, said in ((by_grade(), 1), (np.arange(len(X)), 0)):
        words = "row order: NDCG(k=3) is evaluated on rows that are sorted"
        messages = warnings_of_evaluating(train, data_for(train, order))
        assert [one.startswith(words) for one in messages] == [True] * said


@BOTH
def test_validation_labels_that_define_nothing(train):
    valid = data_for(train)
    valid.set_label(np.zeros(len(X)))
    (message,) = warnings_of_evaluating(train, valid)
    assert message.startswith("labels: NDCG(k=3) is undefined on every query")


@BOTH
def test_several_scores_a_document(train):
    words = r"^num_class: the scores have shape \(\d+, 3\), but lambdaboost needs one score per document"
    with pytest.raises(ValueError, match=words):
        train({"num_class": 3}, objective=LambdaRank())


def test_folds_of_rows():
    """LightGBM's cv cuts queries under a custom objective."""

    def cv(**more):
        params = {**LGB, "objective": LambdaRank(), "metric": "None"}
        return lgb.cv(params, stock(), 1, return_cvbooster=True, feval=NDCG(3), **{"nfold": 2, **more})[
            "cvbooster"
        ]

    cut = "folds: this training set holds only some rows of a query.*query_folds"
    with pytest.warns(UserWarning, match=cut) as seen:
        folds = cv()
    assert all(known_data(booster.train_set).queries.n_queries == Q.n_queries for booster in folds.boosters)
    assert len({str(warning.message) for warning in seen}) == 1 and seen[0].filename == __file__
    with pytest.warns(UserWarning, match=cut):
        cv(stratified=False, nfold=3)
    for whole in (GroupKFold(2), query_folds(Q, 2)):
        found = []
        assert warnings_of(lambda whole=whole, found=found: found.append(cv(folds=whole))) == []
        assert [known_data(booster.train_set).queries.n_queries for booster in found[0].boosters] == [20, 20]


# The page.


PAGE = (Path(__file__).parent.parent / "docs" / "traps.md").read_text(encoding="utf-8")


def test_the_page_names_tests_that_exist():
    """A row for each promise, and here no test without a row."""
    rows = [[cell.strip() for cell in line.split("|")] for line in PAGE.splitlines() if line[:2] == "| "]
    promised = [row for row in rows if row[3].startswith(("refused", "warned"))]
    assert len(promised) >= 20 and all("::test_" in row[4] for row in promised)
    root, here = Path(__file__).parent, Path(__file__).read_text(encoding="utf-8")
    named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", PAGE)
    for file, test in named:
        text = (root / file).read_text(encoding="utf-8")
        assert f"def {test}(" in text, f"docs/traps.md names {file}::{test}"
    alone = set(re.findall(r"^def (test_\w+)\(", here, re.MULTILINE)) - {test for _, test in named}
    assert alone == {"test_the_page_names_tests_that_exist"}
