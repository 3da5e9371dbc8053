"""`tune` and `cross_validate`: trainings, the table on drawn searches of known truth, and what is refused."""

import re
from dataclasses import replace
from importlib import import_module
from itertools import chain, repeat
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRanker
from scipy import stats
from scipy.sparse import csr_matrix
from sklearn.base import clone
from xgboost.callback import EarlyStopping

from lambdaboost import (
    CNDCG,
    NDCG,
    LambdaRank,
    Queries,
    Spearman,
    YetiLoss,
    cross_validate,
    load,
    merge,
    tune,
)
from lambdaboost.datasets import Collection, Columns, web_search_log
from lambdaboost.engines import ENGINES
from lambdaboost.evaluation.comparison import HOLM
from lambdaboost.evaluation.significance import holm
from lambdaboost.tuning import Tuned
from lambdaboost.tuning.cross_validate import (
    CrossValidated,
    assign_folds,
    common_rounds,
    hash_queries,
    train_fold,
)
from lambdaboost.tuning.portfolio import PORTFOLIO, params_of
from lambdaboost.tuning.tune import highest_mean
from lambdaboost.tuning.tuned import Setting, compare_results

search = import_module("lambdaboost.tuning.tune")  # the package has the function under this name
LOG = web_search_log(75, documents=15, seed=3)
TRAIN, VALID = LOG.take(range(50)), LOG.take(range(50, 75))
TINY = {"settings": 2, "rounds": 8, "folds": 2, "workers": 1}
LABELS = TRAIN.queries.relevance
BOTH = NDCG(10), CNDCG(10)
RANKERS = {engine: import_module(f"lambdaboost.{engine}").LambdaRanker for engine in ENGINES}
LOSS = YetiLoss()
UNDEFINED = Spearman("relevance", empty=float("nan"))


def frame_of(data, seed=0):
    """A table whose queries are apart, with a category and clicks; and its grades."""
    q = data.queries
    table = pd.DataFrame(data.features).add_prefix("x")
    table["market"] = pd.Categorical(np.resize(["us", "de", "fr"], q.n_documents))
    table["session"], table["ctr"] = q.query_of_row + 100, q.labels["clicks"]
    order = np.random.default_rng(seed).permutation(q.n_documents)
    return table.iloc[order].reset_index(drop=True), q.relevance[order]


# Trainings.


@pytest.fixture(scope="module")
def tuned():
    X, y = frame_of(TRAIN)
    return tune(X, y, query="session", sources={"clicks": "ctr"}, measure=BOTH, **TINY)


def test_the_stages_and_the_stock_baselines_are_rows(tuned):
    """A summed grade, the models of one label alone and their blend."""
    rows = tuned.comparison[tuned.comparison.measure == repr(BOTH[0])]
    assert set(rows.question) == {"default", "objective", "trees", "engine", "label", "choice"}
    labels = rows[rows.question == "label"].candidate
    for part in ("of relevance + clicks", "CNDCG", "Scorecard", "Blend", " · "):
        assert labels.str.contains(part, regex=False).any(), part
    assert len(set(rows[rows.question == "label"].baseline)) == 1
    assert isinstance(tuned, Tuned) and tuned.choice.question == "choice"
    assert tuned.rounds == 2 * tuned.choice.rounds  # the folds have half of the queries
    assert "▲ better" in repr(tuned) and repr(tuned).startswith(f"Tuned: {tuned.choice.candidate}")
    assert repr(tuned).splitlines()[1] == repr(tuned.model) and "<table" in tuned._repr_html_()


def test_the_table_fits_a_terminal_and_calls_baselines_by_their_number(tuned):
    lines = repr(tuned).splitlines()
    numbers = {name: at for at, name in enumerate(dict.fromkeys(tuned.comparison.candidate), 1)}
    for _, row in tuned.comparison.iterrows():
        against = f", against {numbers[row.baseline]}" if row.baseline else ""
        at = lines.index(f"{numbers[row.candidate]} {row.question}: {row.candidate}{against}")
        (line,) = (one for one in lines[at + 1 : at + 3] if one.split()[0] == row.measure)
        assert f" {100 * row['mean']:.2f}" in line and len(line) <= 80


@pytest.mark.parametrize("engine", ["lightgbm", pytest.param("xgboost", marks=pytest.mark.slow)])
def test_the_choice_is_trained_again_bit_for_bit(engine, tmp_path):
    """Columns of queries and sources, categories, rows in any order."""
    X, y = frame_of(TRAIN)
    columns = {"query": "session", "sources": {"clicks": "ctr"}}
    found = tune(X, y, engine=engine, **columns, **TINY)
    ranker = RANKERS[engine](objective=found.objective, n_estimators=found.rounds, **columns, **found.params)
    scores = found.model.predict(X)
    assert np.array_equal(ranker.fit(X, y).predict(X), scores)
    with pytest.raises(ValueError, match=r"has the suffix of .*'s format, and the model is .*'s: give "):
        found.save(tmp_path / {"lightgbm": "model.ubj", "xgboost": "model.txt"}[engine])
    found.save(tmp_path / "model", about={"more": 1})
    saved = load(tmp_path / "model")
    assert np.array_equal(saved.predict(X.drop(columns=["session", "ctr"])), scores)
    assert saved.about["columns"]["query"] == "session" and saved.about["more"] == 1
    assert saved.about["columns"]["sources"] == {"clicks": "ctr"}
    assert saved.about["categories"] == {"market": ["de", "fr", "us"]}
    assert len(saved.about["tuning"]["comparison"]) == len(found.comparison)


def test_a_ranker_takes_a_collection_as_the_table_of_it(engine):
    """With categories and sources; features are found by name, and those of validation sets are compared."""
    X, y = frame_of(TRAIN)
    columns = Columns("session", sources={"clicks": "ctr"})
    data = columns.read(X, y)
    ranker = RANKERS[engine](
        objective=YetiLoss(CNDCG()), query="session", sources={"clicks": "ctr"}, n_estimators=3, n_jobs=1
    )
    wanted = clone(ranker).fit(X, y).predict(X)
    found = ranker.fit(data, None, eval_set=[(data, None)])
    assert np.array_equal(found.predict(X), wanted) and np.array_equal(found.predict(data), wanted[data.rows])
    turned = columns.read(X[X.columns[::-1]], y)
    assert np.array_equal(found.predict(turned), wanted[data.rows])
    # Out-of-fold scores can be put beside the rows of the table; those of a Collection are its documents.
    by_table, of_data = (cross_validate(ranker, *given, folds=2) for given in ((X, y), (data,)))
    assert np.array_equal(by_table.rows, data.rows) and np.array_equal(of_data.rows, np.arange(len(y)))
    assert np.array_equal(by_table.scores, of_data.scores)
    assert np.array_equal(by_table.queries.relevance, y[by_table.rows])
    with pytest.raises(ValueError, match=r"eval_set\[0\] and X differ in features or categories"):
        ranker.fit(data, None, eval_set=[(turned, None)])
    with pytest.raises(TypeError, match=r"X is a Collection, .* so (sample_)?weight= would be ignored"):
        ranker.fit(data, None, sample_weight=np.ones(len(y)))
    more = {"lightgbm": "init_model", "xgboost": "xgb_model"}[engine]
    with pytest.raises(TypeError, match="X is a Collection, which cannot continue a model"):
        ranker.fit(data, None, **{more: ranker})


@pytest.mark.slow
def test_workers_change_nothing():
    """The same trees are compared, whichever worker is first, and the result can be used."""
    one, two = (tune(TRAIN, engine="lightgbm", **(TINY | {"workers": n, "settings": 3})) for n in (1, 2))
    assert one.comparison.equals(two.comparison.assign(seconds=one.comparison.seconds))
    X = pd.DataFrame(TRAIN.features, columns=TRAIN.feature_names)
    assert np.array_equal(one.model.predict(X), two.model.predict(X))


def test_cross_validation_is_that_of_a_plain_loop():
    """Weights of rows are those of the training, and not their mean in each query."""
    ranker = RANKERS["lightgbm"](
        objective=LambdaRank(), n_estimators=12, num_leaves=4, random_state=1, n_jobs=1, verbose=-1
    )
    weight = np.random.default_rng(0).random(len(LABELS)) + 0.1
    data = Collection(csr_matrix(TRAIN.features), Queries(LABELS, TRAIN.queries.sizes, weight=weight))
    found = cross_validate(ranker, data, None, "ndcg@10", 3, early_stopping_rounds=None, seed=5)
    fold, shuffled, q = assign_folds(data, 3, 5), data.shuffled(5), data.queries
    values, scores = np.empty(50), np.empty(q.n_documents)
    for number in range(3):
        train, part = shuffled.take(fold != number), shuffled.take(fold == number)
        ranker.fit(train.features, train.queries.relevance, train.queries.weight, group=train.queries.sizes)
        scores[q.rows_of(fold == number)] = s = ranker.predict(part.features)
        values[fold == number] = NDCG(10).per_query(s, part.queries)
    assert np.array_equal(found.values[NDCG(10)], values) and found.rounds == 12
    # Out-of-fold scores are in the order of the caller's rows.
    assert np.array_equal(found.scores[q.shuffled_rows(5)], scores)
    assert found.queries.n_documents == q.n_documents and "; 12 rounds, the limit; " in repr(found)


def test_a_label_that_is_added_is_trained_on_and_not_measured_by():
    ranker = RANKERS["lightgbm"](n_estimators=4, n_jobs=1, verbose=-1)
    held_out = np.arange(50) < 20
    fold = train_fold(ranker, TRAIN, held_out, NDCG(10), None, "clicks")
    train, part = TRAIN.take(~held_out), TRAIN.take(held_out)
    summed = train.queries.relevance + train.queries.labels["clicks"]
    scores = ranker.fit(train.features, summed, group=train.queries.sizes).predict(part.features)
    assert np.array_equal(fold.ranker.predict(part), scores)
    assert fold.curve[-1] == pytest.approx(NDCG(10)(scores, part.queries))


def test_curves_of_trees_that_cannot_be_split_go_on():
    rising, constant = np.linspace(0, 1, 9), np.array([0.5])
    assert common_rounds([rising, constant], [1.0, 1.0], 5, 9) == 9
    assert common_rounds([rising, np.array([np.nan, 0.1])], [1.0, 0.0], 5, 9) == 9
    assert common_rounds([np.array([np.nan, np.nan])], [1.0], 5, 2) == 1


# What fails, ends or is not reached.


def test_labels_below_0_are_searched_by_their_order():
    """Such as returns; the engine's own objectives refuse them, and so does `YetiLoss`, whose gains they have not."""
    data = replace(TRAIN, queries=Queries(LABELS - 2.5, TRAIN.queries.sizes))
    found = tune(data, measure="spearman", engine="lightgbm", **TINY)
    assert "LambdaRank(metric=Spearman()), LightGBM, trees 1" in found.scores
    failed = found.comparison[found.comparison.error != ""]
    assert failed.candidate.str.contains("lambdarank|rank_xendcg").all() and len(failed) == 3
    assert all(f"{row.candidate}: {row.error}" in repr(found) for _, row in failed.iterrows())
    assert tune(data, measure="pearson", engine="lightgbm", **TINY).choice.candidate.startswith("RankNet()")


def test_a_measure_that_a_constant_model_leaves_undefined_does_not_end_the_search():
    features = np.zeros_like(TRAIN.features)
    bare = Queries(TRAIN.queries.relevance, TRAIN.queries.sizes)
    with pytest.raises(
        ValueError, match=r"no setting can be trained; .*: a measure is undefined on every query"
    ):
        tune(Collection(features, bare), measure=UNDEFINED, engine="lightgbm", **TINY)
    found = tune(TRAIN, measure=UNDEFINED, engine="lightgbm", **TINY)
    assert np.isfinite(found.choice["mean"])


def test_rounds_at_the_limit_are_said_and_each_setting_when_it_is_complete(capsys):
    """Their number is known once the best of the trees is, here the engine's own."""
    found = tune(TRAIN, engine="lightgbm", **(TINY | {"rounds": 1, "seed": 2}))
    assert any(note.startswith("Rounds reached the limit") for note in found.notes)
    assert "Rounds reached the limit" in repr(found)
    begin, *lines = capsys.readouterr().err.splitlines()
    assert begin == "tune: up to 10 settings in 2 folds, 1 process"
    for at, (line, name) in enumerate(zip(lines, found.scores, strict=True), 1):
        of = 10 if at <= 3 else len(lines)
        assert re.fullmatch(rf"tune: {at} of {of}: {re.escape(name)}: NDCG\(k=10\) 0\.\d{{4}}", line)


def test_minutes_end_the_search(monkeypatch):
    """The time is up after the first three settings; without any it is an error."""
    ended = mock.Mock(wraps=search.train_fold, side_effect=chain([mock.DEFAULT] * 6, repeat(None)))
    monkeypatch.setattr(search, "train_fold", ended)
    found = tune(TRAIN, engine="lightgbm", minutes=100, **(TINY | {"settings": 12}))
    assert len(found.scores) == 3 and any(note.startswith("Not complete: ") for note in found.notes)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="no setting is complete within these minutes: give more"):
        tune(TRAIN, minutes=1e-12, **TINY)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_ctrl_c_returns_what_is_complete(monkeypatch, capsys, workers):
    """Without a word of joblib's about trainings that are not used."""
    interrupted = mock.Mock(
        wraps=search.measure_folds, side_effect=[mock.DEFAULT] * 2 + [KeyboardInterrupt] * 2
    )
    monkeypatch.setattr(search, "measure_folds", interrupted)
    found = tune(TRAIN, engine="lightgbm", **(TINY | {"workers": workers, "settings": 3}))
    assert found.is_stopped and len(found.scores) == 2 and found.model.n_estimators == found.rounds
    assert "Not complete: " in repr(found) and "tune: stopped" in capsys.readouterr().err
    with pytest.raises(KeyboardInterrupt):
        tune(TRAIN, **TINY)


def test_validation_queries_are_measured_with_their_weights():
    """They would count 1 beside sample_weight=, or where the column is missing."""
    q, v = TRAIN.queries, VALID.queries
    X, y = frame_of(Collection(TRAIN.features, q))
    Xv, yv = frame_of(Collection(VALID.features, v))
    weight = np.random.default_rng(0).random(25) + 0.1
    by_row = weight[Xv.session - 100]
    Xv["session"] += 1000
    given = {"query": "session", "sources": ["ctr"], "weight": "w", "engine": "lightgbm", **TINY}
    found = tune(X.assign(w=1.0), y, valid=(Xv.assign(w=by_row), yv), **given)
    scores = next(iter(found.scores.values()))
    assert found.queries.n_queries == 25
    values = NDCG(10).per_query(scores, found.queries)
    expected = np.average(values, weights=found.queries.query_weight)
    assert np.allclose(np.sort(found.queries.query_weight), np.sort(weight))
    assert found.comparison["mean"][0] == pytest.approx(expected)
    with pytest.raises(ValueError, match="valid has no weights, and X has: give it the column weight="):
        tune(X.assign(w=1.0), y, valid=(Xv, yv), **given)


@pytest.mark.parametrize("tolerance", [0.05, 1e-9])
def test_a_tolerance_merges_the_models_of_each_label(tolerance):
    """The second measure is raised only as far as that is proven."""
    told = stats.rankdata(TRAIN.features[:, 0]) / len(LABELS)
    clicks = 0.6 * told + 0.4 * np.random.default_rng(0).random(len(LABELS))
    data = replace(TRAIN, queries=Queries(LABELS, TRAIN.queries.sizes, clicks=clicks))
    given = {"measure": BOTH, "tolerance": tolerance, "engine": "lightgbm", **TINY}
    found = tune(data, **given)
    assert found.trade_off.choose(tolerance=tolerance).sentence in found.notes
    assert np.array_equal(found.queries.relevance, data.shuffled(0).queries.relevance)
    assert found.weights is not None if tolerance == 0.05 else found.weights is None
    if found.weights is None:
        assert found.members == (found.model,) and " · " not in found.choice.candidate
        return
    first, second = found.members
    # The second model is stopped by its own measure.
    alone = clone(second).set_params(n_estimators=TINY["rounds"], n_jobs=1)
    assert second.n_estimators == 2 * cross_validate(alone, data, None, BOTH[::-1], folds=2).rounds
    # The members have all that made the merged model.
    assert repr(found).splitlines()[1:3] == [*map(repr, found.members)]
    assert (first.objective, first.n_estimators) == (found.objective, found.rounds)
    assert second.objective == YetiLoss(CNDCG()) and " · " in found.choice.candidate
    X = pd.DataFrame(TRAIN.features, columns=TRAIN.feature_names)
    columns = {first.query: TRAIN.queries.query_of_row, "clicks": clicks}
    again = [clone(one).fit(X.assign(**columns), LABELS) for one in found.members]
    assert np.array_equal(merge(again, weights=found.weights).predict(X), found.model.predict(X))


def test_no_query_stops_the_model_whose_scores_are_the_proof(engine):
    """Each fold has the number of rounds that the other folds chose; all have that of the highest mean."""
    ranker = RANKERS[engine](n_estimators=12, n_jobs=1, random_state=1)
    q = TRAIN.queries
    given = {"measures": "ndcg@10", "folds": 3}
    bare = Collection(TRAIN.features, Queries(LABELS, q.sizes))
    found = cross_validate(ranker, bare, early_stopping_rounds=12, **given)
    fold = assign_folds(bare, 3, 0)
    by_rounds = []
    for n in range(1, 13):
        one = cross_validate(ranker.set_params(n_estimators=n), bare, early_stopping_rounds=None, **given)
        assert np.array_equal(one.nested_scores, one.scores)
        by_rounds.append(one)
    values = np.array([one.values[NDCG(10)] for one in by_rounds])
    assert found.rounds == 1 + values.mean(axis=1).argmax()
    assert found.means[NDCG(10)] == pytest.approx(values.mean(axis=1).max(), abs=1e-9)
    for number in range(3):
        rounds = values[:, fold != number].mean(axis=1).argmax()
        rows = q.rows_of(fold == number)
        assert np.array_equal(found.nested_scores[rows], by_rounds[rounds].scores[rows])


# The table, on drawn searches of known truth.


def drawn(means, n=200, spread=0.05, seed=0):
    """Settings whose values are the means plus noise of the query, which all share, and noise of their own."""
    rng = np.random.default_rng(seed)
    q = Queries(np.tile([0.0, 1.0], n), sizes=[2] * n)
    of_query, results = rng.beta(4, 2, n), {}
    for setting, mean in means.items():
        values = {NDCG(10): of_query + mean + rng.normal(0, spread, n)}
        results[setting] = CrossValidated(q, *rng.normal(size=(2, 2 * n)), values, 10, 500, 1.0)
    return results


DEFAULT = Setting("default", "lambdarank", "lightgbm", 0)
RECOMMENDED = Setting("objective", LOSS, "lightgbm", 0, DEFAULT)
TREES = [Setting("trees", LOSS, "lightgbm", at, RECOMMENDED) for at in range(1, 7)]
OTHERS = [
    Setting("objective", name, "lightgbm", 1, TREES[0], best_of=7) for name in ("lambdarank", "rank_xendcg")
]
SUMMED = Setting("label", LOSS, "lightgbm", 1, TREES[0], best_of=7, added="clicks", eligible=False)


def table_of(results):
    chosen = highest_mean(results, NDCG(10))
    return compare_results(results, {}, chosen, results[chosen], (NDCG(10),))


def test_what_is_never_chosen():
    """One of equal means that comes later, a setting with undefined queries."""
    assert highest_mean(drawn({DEFAULT: 0.0, RECOMMENDED: 0.0}, spread=0.0), NDCG(10)) == DEFAULT
    undefined = drawn({DEFAULT: 0.0, TREES[0]: 0.5})
    undefined[TREES[0]].values[NDCG(10)][:3] = np.nan
    assert highest_mean(undefined, NDCG(10)) == DEFAULT


@pytest.mark.parametrize("seed", range(5))
def test_every_row_is_scipys_test_with_one_correction(seed):
    """Holm over the whole table, which counts a row as often as its setting was chosen among others; no mark else."""
    rng = np.random.default_rng(seed)
    settings = [DEFAULT, RECOMMENDED, *TREES, *OTHERS]
    means = dict(zip(settings, rng.normal(0, 0.02, len(settings)), strict=True)) | {SUMMED: 0.1}
    frame = table_of(results := drawn(means, seed=seed))
    assert frame["mean"].iloc[-1] == max(
        frame["mean"][frame.question != "label"]
    )  # the choice; a sum is none
    values = {setting.name: one.values[NDCG(10)] for setting, one in results.items()}
    counts = {"trees": 1, "objective": 7, "label": 7, "choice": len(settings)}
    tested, family = frame[frame.baseline != ""], 0
    for _, row in tested.iterrows():
        x = values[row.candidate] - values[row.baseline]
        test = stats.ttest_1samp(x, 0)
        assert row.p == pytest.approx(test.pvalue, rel=1e-6) and row.difference == pytest.approx(x.mean())
        k = 1 if row.candidate == RECOMMENDED.name and row.question == "objective" else counts[row.question]
        assert (row.low, row.high) == pytest.approx(test.confidence_interval(1 - 0.05 / k), rel=1e-6)
        family += k
    padded = holm([*tested.p, *np.ones(family - len(tested))])[: len(tested)]
    assert tested[HOLM].to_numpy() == pytest.approx(padded)
    assert (tested.mark == "").tolist() == (tested[HOLM] >= 0.05).tolist()


def test_what_a_row_compares_differs_in_one_thing(tuned):
    """The same trees, and the engine's own parameters where it says so."""
    differing = {"objective": "objective", "label": "objective", "engine": "engine", "trees": "trees"}
    parts = re.compile(
        "(?P<objective>.*), (?P<engine>LightGBM|XGBoost), (?P<trees>trees .|default parameters)"
    )
    for _, row in tuned.comparison[tuned.comparison.question.isin(differing)].iterrows():
        one, two = (parts.fullmatch(name).groupdict() for name in (row.candidate, row.baseline))
        assert [name for name in one if one[name] != two[name]] == [differing[row.question]]


def test_the_portfolio_is_the_same_trees_on_both_engines():
    assert PORTFOLIO[0] is None and len(set(PORTFOLIO)) == len(PORTFOLIO) == 12
    for trees in PORTFOLIO[1:]:
        lgb, xgb = params_of("lightgbm", trees), params_of("xgboost", trees)
        assert lgb["num_leaves"] == xgb["max_leaves"] and xgb["grow_policy"] == "lossguide"
        for name in ("learning_rate", "colsample_bytree", "subsample", "reg_lambda"):
            assert lgb[name] == xgb[name]
        for engine, params in (("lightgbm", lgb), ("xgboost", xgb)):
            assert set(params) <= set(ENGINES[engine].parameter_names()) | set(RANKERS[engine]().get_params())


# Folds, and what is refused.


@pytest.mark.parametrize("seed", range(3))
def test_hashes_find_equal_queries_whatever_their_order(seed):
    rng = np.random.default_rng(seed)
    X = rng.choice([0.0, -0.0, 1.0, -1.0], (200, 2))
    q = Queries(rng.integers(0, 2, 200), sizes=[2] * 100)
    rows = [(*map(float, x), float(y)) for x, y in zip(X, q.relevance, strict=True)]
    naive = [tuple(sorted(rows[2 * at : 2 * at + 2])) for at in range(100)]
    found = hash_queries(Collection(X, q))
    assert np.array_equal(np.equal.outer(found, found), [[one == other for other in naive] for one in naive])


class Unknown(NDCG, registered=False):
    """A measure of the user that is NaN everywhere."""

    def values(self, scores, q):
        return np.full(q.n_queries, np.nan)


def refused(text, X=TRAIN, *args, kind=ValueError, **given):
    with pytest.raises(kind, match=text) as error:
        tune(X, *args, **({"workers": 1} | given))
    assert "\n" not in str(error.value)


def test_arguments_are_checked_before_anything_is_trained(monkeypatch):
    monkeypatch.setattr(search, "train_fold", lambda *_: pytest.fail("trained"))
    refused("minutes is 0: give a number above 0", minutes=0)
    refused("settings is 99: give a whole number from 1 to 12", settings=99)
    refused("engine is 'catboost', expected lightgbm or", engine="catboost")
    sales = ["ndcg@3", CNDCG(source="sales")]  # said before the tolerance
    refused(r"measure CNDCG\(source='sales'\), in X: no label source", measure=sales, tolerance=0.1)
    nan = Unknown(k=3)
    refused(r"Unknown\(k=3\) is undefined on every query of X: give another measure", measure=nan)
    refused("is undefined on every query of valid", valid=VALID, measure=[NDCG(3), nan])
    refused("60 folds of 50 different queries: give fewer folds", folds=60)
    refused("X is a Collection, .* so y= would be ignored", TRAIN, TRAIN.queries.relevance, kind=TypeError)
    refused("X is a Collection, .* so sources= would be ignored", sources=["clicks"], kind=TypeError)
    refused("tolerance takes two measures, .* and measure has 1", tolerance=0.1)
    two = {"measure": ["ndcg@3", "ndcg@5"], "tolerance": 0.1}  # earlier refused after all trainings
    refused(r"tolerance merges a model of the label of NDCG\(k=5\), which is none of the further", **two)
    refused("tolerance is 0: give such as 0.005", tolerance=0, measure=BOTH)
    refused("tolerance is proven on queries", tolerance=0.1, measure=BOTH, valid=VALID)
    refused("valid is no pair", valid=3, kind=TypeError)
    refused("valid and X differ in n_features", valid=VALID.without_features([0]))
    refused("valid shares 50 queries with X, the first is query 0: the choice would be", valid=TRAIN)
    refused("y is None: give the grades of X", frame_of(TRAIN)[0], query="session")
    refused(r"X is an array, without a column of queries: give .*Collection\(X, ", TRAIN.features, LABELS)
    flat = replace(TRAIN, queries=Queries(np.ones(TRAIN.queries.n_documents), TRAIN.queries.sizes))
    refused("X has no query with two documents of different relevance", flat)


UNSEEN, DART = (
    ".* would end the training of a fold unseen",
    "dropout .* rescales .*: give early_stopping_rounds=None",
)


@pytest.mark.parametrize(
    ("ranker", "patience", "error", "said"),
    [
        (RANKERS["lightgbm"](num_iterations=5), 30, ValueError, "num_iterations=5" + UNSEEN),
        (RANKERS["xgboost"](callbacks=[EarlyStopping(rounds=2)]), 30, ValueError, "callbacks=" + UNSEEN),
        (RANKERS["lightgbm"](boosting_type="dart"), 30, ValueError, DART),
        (RANKERS["xgboost"](booster="dart"), 30, ValueError, DART),
        (RANKERS["xgboost"](rate_drop=0.5), 30, ValueError, DART),
        (RANKERS["lightgbm"](), 0, ValueError, "early_stopping_rounds is 0: give a whole number"),
        (RANKERS["lightgbm"], 30, TypeError, "ranker is <class .*>: give a LambdaRanker of lambda"),
        (LGBMRanker(), 30, TypeError, r"ranker is LGBMRanker\(\): give a LambdaRanker"),
    ],
)
def test_rankers_that_cannot_be_measured(ranker, patience, error, said):
    """Those that would stop unseen, whose first rounds are the model of no training, and what is no ranker."""
    with pytest.raises(error, match=said):
        cross_validate(ranker, TRAIN, early_stopping_rounds=patience)


def test_one_shared_query_of_many_is_chance():
    found = tune(TRAIN, valid=Collection.concat([VALID, TRAIN.take([0])]), engine="lightgbm", **TINY)
    assert found.queries.n_queries == 26


def test_warnings_of_folds_are_notes():
    """Earlier they were ignored, so that a trap in a setting that is not chosen was not seen."""
    q = TRAIN.queries.with_positions(np.tile(np.arange(1, 16), 100)[: len(LABELS)])
    data = replace(TRAIN, queries=q)
    with pytest.warns(UserWarning, match="ignores them"):
        found = tune(data, engine="xgboost", **TINY)
    (note,) = (note for note in found.notes if "ignores them" in note and "this objective" in note)
    assert note.startswith("Warning of YetiLoss(), XGBoost, default parameters; ") and ": position: " in note
    with pytest.warns(UserWarning, match="this objective does not read the positions") as caught:
        cross_validate(found.model.set_params(n_estimators=2), data, folds=2)
    assert len(caught) == 1


def test_a_leak_is_said_before_the_search():
    X = TRAIN.features.copy()
    X[:, 0] = TRAIN.queries.relevance
    with (
        pytest.warns(UserWarning, match="relevance"),
        pytest.raises(ValueError, match="within these minutes"),
    ):
        tune(Collection(X, TRAIN.queries), minutes=1e-12, **TINY)
