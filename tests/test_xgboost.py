"""XGBoost's front door: the matrix and its slices, training, measures, rounds of schedules, cross-validation."""

import ctypes
import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, KFold

from lambdaboost import (
    CNDCG,
    MRR,
    NDCG,
    Blend,
    ClickTier,
    GradientStep,
    LambdaRank,
    Queries,
    RankNet,
    SigmoidLocal,
    graded,
)
from lambdaboost.calls.data import queries_of
from lambdaboost.datasets import web_search_log
from lambdaboost.xgboost import DMatrix, cv, train

xgb = pytest.importorskip("xgboost")

LOG = web_search_log(queries=40, documents=15, seed=1)
X, Q = LOG.features, LOG.queries
QID, CLICKS = Q.query_of_row, Q.labels["clicks"]
WEIGHT = np.linspace(0.5, 2.0, Q.n_queries).astype(np.float32)
PARAMS = {"nthread": 1, "max_depth": 3, "eta": 0.3}
CLICKED = pytest.mark.parametrize("kind", ["ours", "stock"])


def matrix(kind="ours", **more):
    if kind == "stock":
        return xgb.DMatrix(X, Q.relevance, qid=QID, label_lower_bound=CLICKS, **more)
    return DMatrix(X, Q.relevance, qid=QID, sources={"clicks": CLICKS}, **more)


def plain(label=Q.relevance, **more):
    return xgb.DMatrix(X, label, qid=QID, **more)


def quiet(data, rounds=3, params=PARAMS, **more):
    return train(params, data, rounds, verbose_eval=False, **more)


# The matrix.


def test_matrix_carries_sources_by_name_and_in_the_bounds():
    fresh = np.where(np.arange(len(X)) % 3, 0.5, np.nan)
    sources = {"clicks": list(CLICKS), "fresh": pd.Series(fresh), "dwell": CLICKS / 2}
    data = DMatrix(X, Q.relevance, qid=QID, sources=sources, feature_names=list(LOG.feature_names))
    assert list(data.sources) == ["clicks", "fresh", "dwell"]
    np.testing.assert_array_equal(data.get_float_info("label_lower_bound"), CLICKS)
    np.testing.assert_array_equal(data.get_float_info("label_upper_bound"), fresh.astype(np.float32))
    q = queries_of(data, ("relevance", "dwell"))
    assert list(q.labels) == ["relevance", "clicks", "fresh", "dwell"]
    np.testing.assert_array_equal(q.labels["dwell"], CLICKS / 2)
    assert data.feature_names == list(LOG.feature_names)
    frame = DMatrix(X, Q.relevance, qid=QID, sources=pd.DataFrame({"clicks": CLICKS}))
    np.testing.assert_array_equal(frame.sources["clicks"], CLICKS)


def test_a_named_source_does_not_stand_for_another():
    with pytest.raises(ValueError, match="no label source 'fresh' here, only relevance, clicks"):
        quiet(matrix(), objective=ClickTier(source="fresh"))


def test_missing_grades_train_as_missing():
    grades = np.where(np.arange(len(X)) % 4, Q.relevance, np.nan)
    data = DMatrix(X, grades, qid=QID)
    np.testing.assert_array_equal(data.get_label(), np.nan_to_num(grades))
    np.testing.assert_array_equal(queries_of(data).relevance, grades.astype(np.float32))
    named = DMatrix(X, grades, qid=QID, sources={"clicks": CLICKS})
    np.testing.assert_array_equal(named.get_float_info("label_lower_bound"), CLICKS)
    present = ~np.isnan(grades)
    kept = DMatrix(X[present], grades[present], qid=QID[present])
    one, two = quiet(data, objective=RankNet()), quiet(named, objective=RankNet())
    np.testing.assert_array_equal(one.predict(data), two.predict(data))
    # For pairs without ranks a missing grade is as good as an absent document.
    figure = NDCG(3)(quiet(kept, objective=RankNet()).predict(kept), queries_of(kept))
    assert NDCG(3)(one.predict(kept), queries_of(kept)) == pytest.approx(figure, abs=0.05)


def test_slice_keeps_sources_and_query_weights():
    data = matrix(weight=WEIGHT)
    chosen = [7, 3, 30]
    rows = Q.rows_of(chosen)
    once = data.slice(rows)
    for part in (once, data.slice(list(rows), allow_groups=True), once.slice(np.arange(rows.size))):
        assert isinstance(part, DMatrix)
        q = queries_of(part, ("clicks",))
        expected = Q.take(chosen)
        np.testing.assert_array_equal(q.sizes, expected.sizes)
        np.testing.assert_array_equal(q.relevance, expected.relevance)
        np.testing.assert_array_equal(q.labels["clicks"], expected.labels["clicks"])
        np.testing.assert_array_equal(part.get_weight(), WEIGHT[chosen])
    without = DMatrix(X, Q.relevance, sources={"clicks": CLICKS})
    np.testing.assert_array_equal(without.slice([5, 1]).sources["clicks"], CLICKS[[5, 1]])


@pytest.mark.parametrize(
    ("rows", "error", "text"),
    [
        (
            np.arange(3),
            ValueError,
            r"rindex holds 3 of the \d+ rows of query 0 \(rows 0:\d+\), or not adjacent",
        ),
        (np.r_[0, Q.rows_of([1]), Q.rows_of([0])[1:]], ValueError, "rows of query 0"),
        (np.r_[Q.rows_of([0])[:-1], 0], ValueError, "rindex holds a row twice"),
        ([len(X)], ValueError, "data has rows 0 to"),
        ([-1], ValueError, "rindex runs from -1"),
        ([True], TypeError, "rindex is bool"),
    ],
)
def test_slices_that_are_refused(rows, error, text):
    with pytest.raises(error, match=text):
        matrix().slice(rows)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"sources": [CLICKS]}, TypeError, "sources is a list: give a dict"),
        ({"sources": {"clicks": CLICKS[:-1]}}, ValueError, r"sources\['clicks'\] has \d+ rows, data has"),
        ({"sources": {"clicks": X}}, ValueError, r"sources\['clicks'\] has shape"),
        ({"sources": {"clicks": ["a"]}}, TypeError, r"sources\['clicks'\] must be numbers"),
        ({"sources": {"weight": CLICKS}}, ValueError, "label source cannot be called 'weight'"),
        ({"sources": {3: CLICKS}}, TypeError, "label source needs a name of type str, got 3"),
        ({"sources": {"relevance": CLICKS}}, ValueError, "what label= gives"),
        (
            {"sources": {"c": CLICKS}, "label_lower_bound": CLICKS},
            ValueError,
            "label_lower_bound and sources",
        ),
    ],
)
def test_matrices_that_are_refused(arguments, error, text):
    with pytest.raises(error, match=text):
        DMatrix(X, Q.relevance, qid=QID, **arguments)


# Training.


def test_train_is_xgb_train_from_zero():
    params = PARAMS | {"base_score": 0, "objective": "rank:ndcg"}
    expected = xgb.train(params, plain(), 5, obj=LambdaRank())
    booster = quiet(plain(), 5)
    np.testing.assert_array_equal(booster.predict(plain()), expected.predict(plain()))
    config = json.loads(booster.save_config())["learner"]
    assert config["objective"]["name"] == "rank:ndcg"
    raised = quiet(plain(), 5, PARAMS | {"base_score": 0.25})
    np.testing.assert_allclose(raised.predict(plain()) - booster.predict(plain()), 0.25, atol=1e-5)


@CLICKED
def test_objectives_of_two_sources(kind):
    text = quiet(matrix(kind), objective="graded")
    assert text.get_dump() == quiet(matrix(kind), objective=graded()).get_dump()
    assert text.get_dump() == quiet(matrix(), objective=graded()).get_dump()
    assert text.get_dump() != quiet(matrix(kind)).get_dump()


def test_gradient_leaves_are_mean_normalised_lambdas():
    booster = quiet(plain(), 1, PARAMS | {"lambda": 0}, leaves="gradient")
    leaf = booster.predict(plain(), pred_leaf=True).astype(int)
    grad, _ = GradientStep(LambdaRank()).gradient(np.zeros(len(X)), Q)
    means = np.bincount(leaf, grad) / np.maximum(np.bincount(leaf), 1)
    np.testing.assert_allclose(booster.predict(plain()), -0.3 * means[leaf], rtol=1e-5, atol=1e-6)
    again = quiet(plain(), 1, PARAMS | {"lambda": 0}, objective=GradientStep(LambdaRank()))
    assert again.get_dump() == booster.get_dump()


def test_missing_clicks_in_the_bounds():
    clicks = np.where(np.arange(len(X)) % 3, CLICKS, np.nan)
    stock = xgb.DMatrix(X, Q.relevance, qid=QID, label_lower_bound=clicks)
    ours = DMatrix(X, Q.relevance, qid=QID, sources={"clicks": clicks})
    assert quiet(stock, objective="graded").get_dump() == quiet(ours, objective="graded").get_dump()


def test_a_quantile_matrix():
    data = xgb.QuantileDMatrix(X, Q.relevance, qid=QID, label_lower_bound=CLICKS)
    expected = quiet(matrix(), objective="graded").predict(matrix())
    np.testing.assert_allclose(quiet(data, objective="graded").predict(matrix()), expected, atol=1e-6)


VALID = web_search_log(queries=30, documents=15, seed=2)


def valid():
    q = VALID.queries
    return DMatrix(VALID.features, q.relevance, qid=q.query_of_row, sources={"clicks": q.labels["clicks"]})


def test_several_measures_and_the_default():
    def spread(preds, data):
        return "spread", float(np.ptp(preds))

    history = {}
    measures = [MRR(5), CNDCG(3), spread, NDCG(3)]
    booster = quiet(matrix(), 4, evals=[(valid(), "valid")], custom_metric=measures, evals_result=history)
    assert list(history["valid"]) == ["pre-mrr(k=5)", "pre-cndcg(k=3)", "spread", "ndcg(k=3)"]
    scores = booster.predict(valid())
    for measure, name in ((MRR(5), "pre-mrr(k=5)"), (CNDCG(3), "pre-cndcg(k=3)")):
        assert history["valid"][name][-1] == pytest.approx(measure(scores, VALID.queries), abs=1e-6)
    quiet(plain(), 2, evals=[(plain(), "train")], evals_result=(by_default := {}))
    assert list(by_default["train"]) == ["ndcg(k=3)"]
    native = PARAMS | {"eval_metric": "ndcg@5"}
    quiet(plain(), 2, native, evals=[(plain(), "train")], evals_result=(by_name := {}))
    assert list(by_name["train"]) == ["ndcg@5"]


def test_a_validation_set_needs_only_what_the_measures_read():
    history = {}
    quiet(matrix(), 2, objective="graded", evals=[(plain(), "t")], evals_result=history)
    assert len(history["t"]["ndcg(k=3)"]) == 2


def test_measures_of_a_stock_matrix_read_the_objectives_sources():
    """Its second bound is what the objective's second source says, whichever the measure asks for."""
    fresh = np.round(1 - CLICKS, 1)
    data = xgb.DMatrix(X, Q.relevance, qid=QID, label_lower_bound=CLICKS, label_upper_bound=fresh)
    objective = Blend(ClickTier(), ClickTier(source="fresh"), 0.5)
    measure, history = CNDCG(source="fresh"), {}
    booster = quiet(
        data, 1, objective=objective, evals=[(data, "t")], custom_metric=measure, evals_result=history
    )
    figure = measure(booster.predict(data), Queries(Q.relevance, Q.sizes, fresh=fresh))
    assert next(iter(history["t"].values())) == [pytest.approx(figure, abs=1e-6)]


@pytest.mark.parametrize("measure", [None, MRR(3)], ids=str)
def test_early_stopping_at_the_highest(measure):
    history = {}
    booster = quiet(
        plain(), 60, PARAMS | {"eta": 1.0, "max_depth": 6}, evals=[(valid(), "valid")], custom_metric=measure,
        early_stopping_rounds=4, evals_result=history,
    )  # fmt: skip
    (curve,) = history["valid"].values()
    assert len(curve) < 60
    assert booster.best_iteration == np.argmax(curve)


def scripted(name, values):
    """A metric that takes these values round by round."""
    rounds = iter(values)
    return lambda preds, data: (name, next(rounds))


@pytest.mark.parametrize("given", ["argument", "callback", "named"])
@pytest.mark.parametrize("start", ["train", "cv"])
def test_the_first_metric_stops(start, given):
    """XGBoost alone uses the last one; a metric that a callback names still counts."""
    sides = 4 if start == "cv" else 1  # training and validation data of two folds
    rises, falls = np.repeat([*range(10), *[0] * 50], sides), np.repeat(np.arange(60, 0, -1), sides)
    metrics = [scripted("ndcg_rises", rises), scripted("ndcg_falls", falls)]
    name = "ndcg_falls" if given == "named" else None
    stopping = xgb.callback.EarlyStopping(rounds=6, metric_name=name)
    more = {"early_stopping_rounds": 6} if given == "argument" else {"callbacks": [stopping]}
    best = 0 if given == "named" else 9
    if start == "cv":
        assert len(cv(PARAMS, matrix(), 60, nfold=2, custom_metric=metrics, **more)) == best + 1
    else:
        history = {}
        booster = quiet(
            matrix(), 60, evals=[(matrix(), "t")], custom_metric=metrics, evals_result=history, **more
        )
        assert booster.best_iteration == best
        assert len(history["t"]["ndcg_falls"]) == best + 7
    assert stopping.metric_name == name and type(stopping) is xgb.callback.EarlyStopping


def test_high_grades_pass_where_the_native_metric_refuses():
    grades = np.where(Q.relevance == 4, 40.0, Q.relevance)
    data, history = plain(grades), {}
    with pytest.raises(xgb.core.XGBoostError, match="Relevance"):
        xgb.train({"objective": "rank:ndcg"}, data, 1, evals=[(data, "train")], verbose_eval=False)
    booster = quiet(data, 2, evals=[(data, "train")], evals_result=history)
    figure = NDCG(3)(booster.predict(data), Queries(grades, Q.sizes))
    assert history["train"]["ndcg(k=3)"][-1] == pytest.approx(figure, abs=1e-6)


def test_a_model_without_a_split_is_reported():
    q = Queries([0, 1], [2])
    data = DMatrix([[0.0], [1.0]], q.relevance, group=q.sizes)
    with pytest.warns(UserWarning, match="no tree has a split.*min_child_weight=0"):
        quiet(data, 2)
    assert quiet(data, 2, PARAMS | {"min_child_weight": 0}).predict(data).argmax() == 1


NO_GROUPS = xgb.DMatrix(X, Q.relevance)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"params": [("eta", 1)]}, TypeError, "params is a list, expected a dict"),
        (
            {"params": {"objective": "rank:map"}},
            ValueError,
            "params has objective='rank:map': leave it out",
        ),
        ({"data": X}, TypeError, "data is ndarray, expected a lambdaboost.xgboost.DMatrix"),
        ({"data": NO_GROUPS}, ValueError, "the training data, for .*: the xgboost.DMatrix has no groups"),
        (
            {"data": xgb.DMatrix(X, qid=QID)},
            ValueError,
            "the training data, for .*: the xgboost.DMatrix has no labels",
        ),
        (
            {"data": xgb.DMatrix(X, -Q.relevance, qid=QID)},
            ValueError,
            r"the training data, for LambdaRank\(\): relevance\[\d+\] is -\d",
        ),
        (
            {"data": plain(), "objective": "graded"},
            ValueError,
            "the training data, for .*: no label source 'clicks'",
        ),
        (
            {"evals": [(plain(), "valid")], "custom_metric": CNDCG()},
            ValueError,
            "'valid', for .*: no label source 'clicks'",
        ),
        ({"evals": [(NO_GROUPS, "valid")]}, ValueError, "'valid', for .*: the xgboost.DMatrix has no groups"),
        ({"evals": [(plain(), "a-b")]}, ValueError, "evals has the name 'a-b'"),
        ({"rounds": 0}, ValueError, "rounds is 0"),
        ({"rounds": "9"}, TypeError, "rounds is '9': give a whole number"),
        ({"rounds": True}, TypeError, "rounds is True: give a whole number"),
        ({"objective": "LamdaRank"}, ValueError, "'LamdaRank' is unknown"),
        ({"objective": LambdaRank}, TypeError, "expected an objective"),
        ({"objective": SigmoidLocal()}, ValueError, "curvature .* changes sign"),
        ({"leaves": "newton"}, ValueError, "leaves is 'newton', expected one of engine, gradient"),
        ({"custom_metric": [3]}, TypeError, "custom_metric has 3"),
        ({"custom_metric": NDCG}, TypeError, "custom_metric has <class"),
        (
            {"early_stopping_rounds": 3},
            ValueError,
            "early_stopping_rounds is 3, but nothing is evaluated",
        ),
    ],
)
def test_trainings_that_are_refused(arguments, error, text):
    given = {"params": PARAMS, "data": matrix()} | arguments
    with pytest.raises(error, match=text):
        train(given.pop("params"), given.pop("data"), **given)


# Rounds, as a schedule sees them.


@dataclasses.dataclass
class Seen:
    """A schedule that logs the rounds it is asked for."""

    rounds: list = dataclasses.field(default_factory=list)

    def __call__(self, iteration):
        self.rounds.append(iteration)
        return 0.5

    __hash__ = object.__hash__


def logged():
    seen = Seen()
    return Blend(LambdaRank(), RankNet(), seen), seen.rounds


def test_rounds_of_stock_training_and_its_continuation():
    objective, rounds = logged()
    booster = xgb.train(PARAMS, plain(), 3, obj=objective)
    booster = xgb.train(PARAMS, plain(), 2, obj=objective, xgb_model=booster)
    booster.update(plain(), 0, fobj=objective)
    assert rounds == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("leaves", ["engine", "gradient"])
@pytest.mark.parametrize(
    "more",
    [{}, {"booster": "dart", "rate_drop": 0.5}, {"num_parallel_tree": 3}, {"tree_method": "exact"}],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:.*booster=dart:UserWarning")  # deprecated from XGBoost 3.4
def test_rounds_of_ours_and_its_continuation(leaves, more, tmp_path):
    objective, rounds = logged()
    data = plain()
    booster = quiet(data, 3, PARAMS | more, objective=objective, leaves=leaves)
    booster.save_model(tmp_path / "model.json")
    quiet(data, 2, PARAMS | more, objective=objective, leaves=leaves, xgb_model=str(tmp_path / "model.json"))
    assert rounds == [0, 1, 2, 3, 4]


def test_a_continued_model_keeps_its_intercept_and_equals_one_training():
    straight = quiet(plain(), 5)
    continued = quiet(plain(), 2, xgb_model=quiet(plain(), 3))
    np.testing.assert_allclose(continued.predict(plain()), straight.predict(plain()), atol=1e-6)
    stock = xgb.train(PARAMS | {"base_score": 0.5, "objective": "rank:ndcg"}, plain(), 2, obj=LambdaRank())
    more = quiet(plain(), 1, xgb_model=stock)
    np.testing.assert_array_equal(more.predict(plain(), iteration_range=(0, 2)), stock.predict(plain()))


def test_rounds_of_an_update_loop():
    objective, rounds = logged()
    data = plain()
    booster = xgb.Booster(PARAMS, [data])
    for _ in range(3):
        booster.update(data, 0, fobj=objective)
    assert rounds == [0, 1, 2]


def test_rounds_of_cross_validation():
    objective, rounds = logged()
    xgb.cv(PARAMS, matrix(), 3, nfold=2, obj=objective)
    assert rounds == [0, 0, 1, 1, 2, 2]
    objective, rounds = logged()
    cv(PARAMS, matrix(), 3, nfold=2, objective=objective)
    assert rounds == [0, 0, 1, 1, 2, 2]


# Cross-validation.


def by_hand(folds, measure, objective, weight):
    figures = []
    for train_rows, test_rows in folds:
        parts = []
        for rows in (train_rows, test_rows):
            queries = np.unique(QID[rows])
            q = Q.take(queries)
            weights = None if weight is None else weight[queries]
            data = DMatrix(
                X[rows], q.relevance, qid=QID[rows], sources={"clicks": CLICKS[rows]}, weight=weights
            )
            parts.append(data)
        booster = quiet(parts[0], 3, objective=objective)
        figures.append(measure(booster.predict(parts[1]), queries_of(parts[1])))
    return figures


@CLICKED
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["even", "weighted"])
def test_cv_is_training_fold_by_fold(kind, weight):
    folds = list(GroupKFold(3).split(X, Q.relevance, QID))
    figures = by_hand(folds, CNDCG(3), graded(), weight)
    for given in (folds, GroupKFold(3)):
        table = cv(
            PARAMS, matrix(kind, weight=weight), 3, objective="graded", folds=given, custom_metric=CNDCG(3)
        )
        assert isinstance(table, pd.DataFrame) and len(table) == 3
        assert table["test-pre-cndcg(k=3)-mean"].iloc[-1] == pytest.approx(np.mean(figures), abs=1e-6)
        assert table["test-pre-cndcg(k=3)-std"].iloc[-1] == pytest.approx(np.std(figures), abs=1e-6)


def test_stock_cv_keeps_sources_and_weights_of_our_matrix():
    params = PARAMS | {"disable_default_eval_metric": True, "base_score": 0, "objective": "rank:ndcg"}
    folds = list(GroupKFold(3).split(X, Q.relevance, QID))
    data = matrix(weight=WEIGHT)
    table = xgb.cv(params, data, 3, folds=folds, obj=graded(), custom_metric=CNDCG(3))
    figures = by_hand(folds, CNDCG(3), graded(), WEIGHT)
    assert table["test-pre-cndcg(k=3)-mean"].iloc[-1] == pytest.approx(np.mean(figures), abs=1e-6)
    xgb.cv(params, data, 2, nfold=3, obj=graded(), custom_metric=CNDCG(3))


def test_cv_draws_its_folds_by_seed_and_stops_at_the_best():
    tables = [cv(PARAMS, matrix(), 2, nfold=4, seed=seed) for seed in (1, 1, 2)]
    pd.testing.assert_frame_equal(tables[0], tables[1])
    assert not tables[0].equals(tables[2])
    assert tables[0].columns[0] == "train-ndcg(k=3)-mean"
    stopped = cv(PARAMS | {"eta": 1.0}, matrix(), 60, nfold=3, early_stopping_rounds=3)
    column = stopped["test-ndcg(k=3)-mean"]
    assert len(stopped) < 57 and column.idxmax() == len(stopped) - 1


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"nfold": 1}, ValueError, "nfold is 1: give a whole number ≥ 2"),
        ({"nfold": 41}, ValueError, "nfold is 41, but there are 40 queries"),
        ({"nfold": 2.5}, TypeError, "nfold is 2.5: give a whole number"),
        (
            {"folds": list(KFold(3).split(X))},
            ValueError,
            r"folds\[0\] \(train\) holds \d+ of the \d+ rows of query",
        ),
        ({"custom_metric": CNDCG(), "data": plain()}, ValueError, "data, for .*: no label source 'clicks'"),
        ({"folds": 5}, TypeError, "folds is 5, expected a list"),
        (
            {"folds": [(Q.rows_of(np.arange(20)), np.arange(3))]},
            ValueError,
            r"folds\[0\] \(test\) holds 3 of the",
        ),
        ({"data": NO_GROUPS}, ValueError, "the training data, for .*: the xgboost.DMatrix has no groups"),
    ],
)
def test_cross_validations_that_are_refused(arguments, error, text):
    with pytest.raises(error, match=text):
        cv(PARAMS, **({"data": matrix()} | arguments))


# On a GPU.


def cuda_devices():
    """The number of CUDA devices that XGBoost can use."""
    count = ctypes.c_int()
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)) or not xgb.build_info()["USE_CUDA"]:
        return 0
    return count.value


@pytest.mark.parametrize(
    "objective",
    [LambdaRank(), RankNet(), GradientStep(SigmoidLocal()), graded(0.2)],
    ids=repr,
)
def test_any_objective_trains_on_a_cuda_device(objective):
    """Histograms are summed in another order there: a different and equally good model."""
    if not cuda_devices():
        pytest.skip("there is no CUDA device")
    params = PARAMS | {"min_child_weight": 0}
    scores = {
        device: quiet(matrix(), 10, params | {"device": device}, objective=objective).predict(matrix())
        for device in ("cpu", "cuda")
    }
    on_device = NDCG(10)(scores["cuda"], Q)
    assert on_device == pytest.approx(NDCG(10)(scores["cpu"], Q), abs=0.03)
    assert on_device > NDCG(10)(np.zeros(len(X)), Q) + 0.05
