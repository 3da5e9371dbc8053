"""`lambdaboost.lightgbm.train` and `cv`: the round, the measures, whole queries, and errors before the first tree."""

import lightgbm as lgb
import numpy as np
import pytest
from lightgbm_data import PARAMS, Q_VALID, X_VALID, Q, X, dataset, valid
from noted import Rounds, scheduled
from sklearn.model_selection import GroupKFold, KFold

from lambdaboost import (
    CNDCG,
    NDCG,
    Blend,
    ClickTier,
    GradientStep,
    LambdaRank,
    Queries,
    SigmoidLocal,
    graded,
)
from lambdaboost.calls.data import queries_of
from lambdaboost.lightgbm import Dataset, LambdaRanker, cv, train


def trees(booster):
    text = booster.model_to_string(num_iteration=-1)
    return text[text.index("Tree=0") : text.index("end of trees")]


# The round.


def test_round_in_stock_training_and_in_ours():
    seen, objective = scheduled()
    lgb.train({**PARAMS, "objective": objective}, dataset(), 3)
    train(PARAMS, dataset(), 3, objective=objective)
    train(PARAMS, dataset(), 2, objective=objective, leaves="gradient")
    assert seen == [0, 1, 2, 0, 1, 2, 0, 1]


def test_round_in_rankers():
    seen, objective = scheduled()
    arguments = {"n_estimators": 3, "num_leaves": 4, "n_jobs": 1, "verbose": -1, "objective": objective}
    lgb.LGBMRanker(**arguments).fit(X, Q.relevance, group=Q.sizes)
    LambdaRanker(**arguments).fit(X, Q.relevance, group=Q.sizes)
    assert seen == [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize("leaves", ["engine", "gradient"])
def test_round_in_cross_validation(leaves):
    seen, objective = scheduled()
    cv(PARAMS, dataset(), 3, objective=objective, nfold=2, leaves=leaves)
    assert seen == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("leaves", ["engine", "gradient"])
def test_round_of_a_continued_model(tmp_path, leaves):
    seen, objective = scheduled()
    straight = train(PARAMS, dataset(), 5, objective=objective, leaves=leaves)
    half = train(PARAMS, dataset(), 3, objective=objective, leaves=leaves)
    half.save_model(tmp_path / "half.txt")
    seen.clear()
    for init in (half, tmp_path / "half.txt"):
        continued = train(PARAMS, dataset(), 2, objective=objective, leaves=leaves, init_model=init)
        np.testing.assert_allclose(continued.predict(X), straight.predict(X), rtol=1e-12, atol=1e-14)
    lgb.train({**PARAMS, "objective": objective}, dataset(), 2, init_model=half)
    assert seen == [3, 4] * 3


def test_round_in_a_loop_of_updates():
    seen, objective = scheduled()
    booster = lgb.Booster({**PARAMS, "objective": "none"}, dataset())
    for _ in range(3):
        booster.update(fobj=objective)
    assert seen == [0, 1, 2]


class Silent(Rounds):
    """No gradient at rounds 0 and 2, where the clicks, of which there are none, count alone."""

    def __call__(self, iteration):
        super().__call__(iteration)
        return 0.0 if iteration in (0, 2) else 1.0


@pytest.mark.filterwarnings("ignore:ClickTier")
@pytest.mark.parametrize("leaves", ["engine", "gradient"])
def test_rounds_without_a_split_count(leaves):
    rounds = Silent()
    objective = Blend(ClickTier(), LambdaRank(), rounds)
    data, history = dataset(sources={"clicks": np.zeros(len(X))}), {}
    record = lgb.record_evaluation(history)
    booster = train(
        PARAMS, data, 5, objective=objective, leaves=leaves, valid_sets=[data], callbacks=[record]
    )
    assert rounds.seen == [0, 1, 2, 3, 4]
    expected = NDCG(3)(booster.predict(X, num_iteration=-1), Q)
    assert history["training"]["NDCG(k=3)"][-1] == pytest.approx(expected, abs=1e-12)
    splits = [tree["num_leaves"] > 1 for tree in booster.dump_model(num_iteration=-1)["tree_info"]]
    assert sum(splits) == 3


# Measures and early stopping.


def test_default_measure_is_ndcg_at_3_and_nothing_native():
    history = {}
    data = dataset()
    booster = train(PARAMS, data, 4, valid_sets=valid(data), callbacks=[lgb.record_evaluation(history)])
    assert list(history) == ["valid_0"]
    assert list(history["valid_0"]) == ["NDCG(k=3)"]
    assert history["valid_0"]["NDCG(k=3)"][-1] == pytest.approx(
        NDCG(3)(booster.predict(X_VALID), Q_VALID), abs=1e-12
    )


def test_a_native_metric_goes_in_place_of_the_default():
    history = {}
    data = dataset()
    train(
        {**PARAMS, "metric": "map"},
        data,
        2,
        valid_sets=[valid(data)],
        callbacks=[lgb.record_evaluation(history)],
    )
    assert "map@1" in history["valid_0"]
    assert "NDCG(k=3)" not in history["valid_0"]


def test_measures_find_their_sources_and_stop_early_at_the_best():
    history = {}
    data = dataset()
    booster = train(
        {**PARAMS, "learning_rate": 0.5, "num_leaves": 31, "min_data_in_leaf": 2},
        data,
        60,
        objective=graded(),
        valid_sets=[data, valid(data)],
        valid_names=["train", "valid"],
        feval=CNDCG(3),
        callbacks=[lgb.early_stopping(4, verbose=False), lgb.record_evaluation(history)],
    )
    curve = history["valid"]["CNDCG(k=3)"]
    assert len(curve) < 60
    assert booster.best_iteration == booster.num_trees() == 1 + int(np.argmax(curve))
    assert max(curve) == pytest.approx(CNDCG(3)(booster.predict(X_VALID), Q_VALID), abs=1e-12)
    assert booster.best_score["valid"]["CNDCG(k=3)"] == max(curve)


def test_text_is_an_objective_and_same_as_stock():
    text = train(PARAMS, dataset(), 3, objective="Blend(LambdaRank(NDCG(k=3)), ClickTier(), 0.3)")
    stock = lgb.train({**PARAMS, "objective": Blend(LambdaRank(NDCG(k=3)), ClickTier(), 0.3)}, dataset(), 3)
    assert trees(text) == trees(stock)


def test_missing_labels_and_weights_reach_the_objective():
    y = Q.relevance.copy()
    y[::3] = np.nan
    weight = np.linspace(0.5, 2.0, len(X))
    booster = train(PARAMS, dataset(weight=weight).set_label(y), 1, leaves="gradient")
    q = Queries(y, Q.sizes, weight=weight)
    grad, hess = GradientStep(LambdaRank()).gradient(np.zeros(len(X)), q)
    leaf = booster.predict(X, pred_leaf=True).ravel()
    expected = -0.1 * np.bincount(leaf, grad) / np.bincount(leaf, hess)
    np.testing.assert_allclose(booster.predict(X), expected[leaf], rtol=1e-6)


# Cross-validation.


def test_folds_keep_queries_whole_with_their_sources_and_weights():
    data = dataset(weight=np.repeat(np.arange(1.0, 31.0), Q.sizes))
    result = cv(
        PARAMS, data, 2, objective=graded(), nfold=4, feval=[NDCG(3), CNDCG(3)], return_cvbooster=True
    )
    boosters = result.pop("cvbooster").boosters
    assert list(result) == [f"valid {m}-{f}" for m in ("NDCG(k=3)", "CNDCG(k=3)") for f in ("mean", "stdv")]
    held_out, values = [], []
    for booster in boosters:
        q = queries_of(booster.valid_sets[0])
        of = q.query_weight.astype(int) - 1
        np.testing.assert_array_equal(q.labels["clicks"], Q.take(of).labels["clicks"])
        np.testing.assert_array_equal(q.sizes, Q.sizes[of])
        assert queries_of(booster.train_set).n_queries == 30 - of.size
        held_out += of.tolist()
        values.append(CNDCG(3)(booster.predict(X[Q.rows_of(of)]), q))
    assert sorted(held_out) == list(range(30))
    assert result["valid CNDCG(k=3)-mean"][-1] == pytest.approx(np.mean(values), abs=1e-12)
    assert result["valid CNDCG(k=3)-stdv"][-1] == pytest.approx(np.std(values), abs=1e-12)


def test_folds_are_drawn_by_seed_or_given():
    one, again, other = (cv(PARAMS, dataset(), 2, nfold=3, seed=s) for s in (1, 1, 2))
    assert one == again != other
    given = cv(PARAMS, dataset(), 2, folds=GroupKFold(3))
    rows = cv(PARAMS, dataset(), 2, folds=list(GroupKFold(3).split(X, groups=Q.query_of_row)))
    assert given == rows


def test_cross_validation_by_gradient_leaves_stops_early():
    result = cv(
        {**PARAMS, "learning_rate": 1.0, "min_data_in_leaf": 2}, dataset(), 40, leaves="gradient", nfold=2,
        callbacks=[lgb.early_stopping(2, verbose=False)], return_cvbooster=True,
    )  # fmt: skip
    curve = result["valid NDCG(k=3)-mean"]
    assert len(curve) < 40 and np.argmax(curve) == len(curve) - 1
    for booster in result["cvbooster"].boosters:
        seen = []
        booster.eval_valid(lambda scores, data, seen=seen: (seen.append(scores.copy()), [])[1])
        rows = np.asarray(booster.valid_sets[0].used_indices)
        np.testing.assert_allclose(seen[0], booster.predict(X[rows], num_iteration=-1), rtol=1e-9, atol=1e-12)


# What is refused, before any tree.


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"params": {"objective": "lambdarank"}}, ValueError, "params has objective='lambdarank': leave it out"),
        ({"params": {"loss": LambdaRank()}}, ValueError, "params has loss=LambdaRank"),
        ({"params": []}, TypeError, "params is a list"),
        ({"params": {"boost": "rf"}}, ValueError, "boost='rf': LightGBM's forests"),
        ({"params": {"bagging_by_query": True}}, ValueError, "never draws the bags"),
        ({"data": X}, TypeError, "data is a ndarray"),
        ({"data": lgb.Dataset(X, Q.relevance)}, ValueError, "the lightgbm.Dataset has no groups"),
        ({"data": lgb.Dataset(X, Q.relevance, group=Q.sizes), "objective": ClickTier()}, ValueError,
         r"training data, for ClickTier\(\): no label source 'clicks'"),
        ({"objective": "LambdaRonk"}, ValueError, "LambdaRonk"),
        ({"objective": 3}, TypeError, "objective is 3"),
        ({"objective": SigmoidLocal()}, ValueError, "GradientStep"),
        ({"leaves": "trees"}, ValueError, "leaves is 'trees'"),
        ({"feval": [3]}, TypeError, "feval has 3"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("start", [train, cv])
def test_wrong_arguments(start, arguments, error, words):
    arguments = {"params": {}, "data": None, "rounds": 1} | arguments
    arguments["params"] = {**PARAMS, **arguments["params"]} if isinstance(arguments["params"], dict) else []
    if arguments["data"] is None:
        arguments["data"] = dataset()
    with pytest.raises(error, match=words):
        start(**arguments)


def test_validation_data_without_the_source_measured():
    data, started = dataset(), []
    bare = data.create_valid(X_VALID, Q_VALID.relevance, group=Q_VALID.sizes)
    with pytest.raises(ValueError, match=r"valid_0, for CNDCG\(\): no label source 'clicks'"):
        train(PARAMS, data, 2, valid_sets=[bare], feval=CNDCG(), callbacks=[lambda env: started.append(1)])
    bare_training = lgb.Dataset(X, Q.relevance, group=Q.sizes)
    with pytest.raises(ValueError, match=r"training data, for CNDCG\(\): no label source 'clicks'"):
        train(
            PARAMS,
            bare_training,
            2,
            valid_sets=bare_training,
            feval=CNDCG(),
            callbacks=[lambda env: started.append(1)],
        )
    assert not started


def test_data_from_a_file(tmp_path):
    np.savetxt(tmp_path / "log.csv", np.column_stack([Q.relevance, X]), delimiter=",")
    np.savetxt(tmp_path / "log.csv.query", Q.sizes, fmt="%d")
    data = Dataset(tmp_path / "log.csv", sources={"clicks": Q.labels["clicks"]}, params={"verbose": -1})
    booster = train(PARAMS, data, 3, objective=graded())
    np.testing.assert_allclose(booster.predict(X), train(PARAMS, dataset(), 3, objective=graded()).predict(X))
    short = Dataset(tmp_path / "log.csv", sources={"clicks": [0.5]}, params={"verbose": -1})
    with pytest.raises(ValueError, match="clicks has 1 rows, relevance has 566"):
        train(PARAMS, short, 3, objective=graded())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"nfold": 1}, "nfold is 1: give a whole number ≥ 2"),
        ({"nfold": 31}, "nfold is 31, but there are 30 queries"),
        ({"folds": list(KFold(3).split(X))}, r"folds\[0\] \(train\) holds \d+ of the \d+ rows of query"),
        (
            {"folds": [(Q.rows_of(range(2, 9)), np.arange(20))]},
            r"folds\[0\] \(test\) holds .*: keep every query whole",
        ),
        ({"folds": [([0, 0], [1])]}, r"folds\[0\] \(train\) holds a row twice"),
        ({"folds": [([len(X)], [1])]}, r"folds\[0\] \(train\) has rows 566 to 566, data has rows 0 to 565"),
    ],
)
def test_wrong_folds(arguments, words):
    with pytest.raises(ValueError, match=words):
        cv(PARAMS, dataset(), 1, **arguments)
