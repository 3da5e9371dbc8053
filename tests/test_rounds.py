"""The boosting round that an objective sees: right however often an engine or a wrapper asks for the gradient."""

import copy
import pickle

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from lightgbm_data import PARAMS, Q, X, dataset
from noted import scheduled

import lambdaboost.lightgbm as by_lightgbm
import lambdaboost.xgboost as by_xgboost
from lambdaboost import NDCG, Blend, LambdaRank, RankNet

XGB = {"nthread": 1, "max_depth": 3, "verbosity": 0, "objective": "rank:ndcg", "base_score": 0}
FLAT = {"min_gain_to_split": 1e9, "gamma": 1e9}  # no tree has a split
TIMES = (1, 0, 2, 5, 0, 0, 1)  # calls of the objective in each round
ENGINES = pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])


class Wrapped:
    """What a user puts around an objective: calls it several times in each round, and returns RankNet's gradient."""

    def __init__(self, objective, times):
        self.objective, self.times = objective, iter(times)

    def __deepcopy__(self, memo):
        return self

    def __call__(self, scores, data):
        for _ in range(next(self.times)):
            self.objective(scores, data)
        return RankNet()(scores, data)


def matrix():
    return xgb.DMatrix(X, Q.relevance, group=Q.sizes)


def updates(engine, params=None):
    """A booster of a loop of updates, and what updates it by an objective."""
    if engine == "lightgbm":
        booster = lgb.Booster({**PARAMS, **(params or {}), "objective": "none"}, dataset())
        return booster, lambda objective: booster.update(fobj=objective)
    data = matrix()
    booster = xgb.Booster({**XGB, **(params or {})}, [data])
    return booster, lambda objective: booster.update(data, 0, fobj=objective)


def stock_train(engine, objective, rounds, params=None, model=None, callbacks=None):
    if engine == "lightgbm":
        made = {**PARAMS, **(params or {}), "objective": objective}
        return lgb.train(made, dataset(), rounds, init_model=model, callbacks=callbacks)
    return xgb.train({**XGB, **(params or {})}, matrix(), rounds, obj=objective, xgb_model=model)


def expected(times, first=0):
    return [first + m for m, n in enumerate(times) for _ in range(n)]


# Stock engines.


@ENGINES
def test_wrappers_may_ask_any_number_of_times(engine):
    seen, objective = scheduled()
    booster = stock_train(engine, Wrapped(objective, TIMES), len(TIMES))
    assert seen == expected(TIMES)
    seen.clear()
    stock_train(engine, Wrapped(objective, TIMES), len(TIMES), model=booster)
    assert seen == expected(TIMES, first=len(TIMES))


@ENGINES
@pytest.mark.filterwarnings("ignore:Stopped training")
def test_rounds_without_a_split_count_once(engine):
    seen, objective = scheduled()
    stock_train(engine, Wrapped(objective, (1, 2, 5, 1)), 4, FLAT)
    assert seen == expected((1, 2, 5, 1))


@ENGINES
def test_boosters_that_take_turns_count_apart(engine):
    seen, objective = scheduled()
    one, other = (updates(engine)[1] for _ in range(2))
    for update in (one, one, other, one, other):
        update(Wrapped(objective, [2]))
    assert seen == [0, 0, 1, 1, 0, 0, 2, 2, 1, 1]


@ENGINES
def test_folds_count_apart(engine):
    seen, objective = scheduled()
    wrapped = Wrapped(objective, [2] * 6)
    if engine == "lightgbm":
        folds = [
            (Q.rows_of(range(15)), Q.rows_of(range(15, 30))),
            (Q.rows_of(range(15, 30)), Q.rows_of(range(15))),
        ]
        params = {**PARAMS, "objective": wrapped, "metric": "None"}
        lgb.cv(params, dataset(), 3, folds=folds, feval=NDCG(3))
    else:
        xgb.cv(XGB | {"disable_default_eval_metric": True}, matrix(), 3, nfold=2, obj=wrapped)
    assert seen == [0] * 4 + [1] * 4 + [2] * 4


def test_rounds_rolled_back_are_computed_again():
    seen, objective = scheduled()
    booster, update = updates("lightgbm")
    for _ in range(3):
        update(Wrapped(objective, [2]))
    booster.rollback_one_iter()
    update(objective)
    booster.rollback_one_iter().rollback_one_iter()
    update(objective)
    update(objective)
    assert seen == [0, 0, 1, 1, 2, 2, 2, 1, 2]
    booster, update = updates("lightgbm")
    update(objective)
    booster.rollback_one_iter()
    update(objective)
    assert seen[-2:] == [0, 0]


def test_a_round_without_a_split_is_told_from_one_rolled_back():
    seen, objective = scheduled()
    booster, update = updates("lightgbm")
    update(objective)
    for least in (1e9, 0.0, 1e9, 1e9):  # no split, split, none, none
        booster.reset_parameter({"min_gain_to_split": least})
        update(objective)
    booster.rollback_one_iter()  # the tree of round 2 goes
    booster.reset_parameter({"min_gain_to_split": 0.0})
    update(objective)
    assert seen == [0, 1, 2, 3, 4, 4]


@ENGINES
def test_a_round_that_failed_is_computed_again(engine):
    seen = []

    def interrupted_once(iteration):
        seen.append(iteration)
        if len(seen) == 2:
            raise KeyboardInterrupt
        return 0.1

    objective = Blend(LambdaRank(), RankNet(), interrupted_once)
    _, update = updates(engine)
    update(objective)
    with pytest.raises(KeyboardInterrupt):
        update(objective)
    update(objective)
    assert seen == [0, 1, 1]


def test_boosters_stay_free_of_marks():
    """Counting neither keeps a booster alive nor gets into its pickles and copies."""
    import gc
    import weakref

    _, objective = scheduled()
    booster, update = updates("lightgbm")
    update(objective)
    copy.deepcopy(booster), pickle.loads(pickle.dumps(booster))
    assert not any("lambdaboost" in name for name in vars(booster))
    alive = weakref.ref(booster)
    del booster, update
    gc.collect()
    assert alive() is None


# `lambdaboost`'s own.


@pytest.mark.parametrize("leaves", ["engine", "gradient"])
def test_rounds_rolled_back_in_a_callback(leaves):
    """Wherever a callback stands, before a round or after it."""
    seen, objective = scheduled()

    def roll_back_after(env):
        if env.iteration == 2:
            env.model.rollback_one_iter()

    def roll_back_before(env):
        if env.iteration == 4:
            env.model.rollback_one_iter()

    roll_back_before.before_iteration = True
    by_lightgbm.train(
        PARAMS,
        dataset(),
        6,
        objective=objective,
        leaves=leaves,
        callbacks=[roll_back_after, roll_back_before],
    )
    assert seen == [0, 1, 2, 2, 2, 3]


@ENGINES
@pytest.mark.parametrize("leaves", ["engine", "gradient"])
@pytest.mark.filterwarnings("ignore:no tree has a split")
def test_own_training_counts_rounds_without_a_split(engine, leaves):
    seen, objective = scheduled()
    more = {"objective": objective, "leaves": leaves}
    if engine == "lightgbm":
        by_lightgbm.train({**PARAMS, "min_gain_to_split": 1e9}, dataset(), 4, **more)
    else:
        data = by_xgboost.DMatrix(X, Q.relevance, group=Q.sizes)
        by_xgboost.train({"nthread": 1, "gamma": 1e9}, data, 4, verbose_eval=False, **more)
    assert seen == [0, 1, 2, 3]


@ENGINES
def test_own_trainings_count_from_the_model_that_they_continue(engine):
    seen, objective = scheduled()
    own = by_lightgbm if engine == "lightgbm" else by_xgboost
    params = PARAMS if engine == "lightgbm" else {"nthread": 1}

    def data():
        return dataset() if engine == "lightgbm" else by_xgboost.DMatrix(X, Q.relevance, group=Q.sizes)

    booster = own.train(params, data(), 3, objective=objective)
    model = {"init_model" if own is by_lightgbm else "xgb_model": booster}
    own.train(params, data(), 2, objective=objective, **model)
    own.cv(params, data(), 2, nfold=2, objective=objective)
    own.LambdaRanker(objective=objective, n_estimators=2, n_jobs=1, min_child_weight=0).fit(
        X, Q.relevance, group=Q.sizes
    )
    assert seen == [0, 1, 2, 3, 4, 0, 0, 1, 1, 0, 1]


def test_models_of_wrapped_and_bare_objectives_are_the_same():
    """What counted calls got wrong: a wrapper that asks twice trained another model."""
    objective = Blend(LambdaRank(), RankNet(), lambda m: min(1.0, 0.25 * m))

    def twice(scores, data):
        objective(scores, data)
        return objective(scores, data)

    bare, asked_twice = (stock_train("lightgbm", f, 5).predict(X) for f in (objective, twice))
    np.testing.assert_array_equal(asked_twice, bare)
