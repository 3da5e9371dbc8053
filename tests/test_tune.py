"""`lambdaboost.tune`: the search, the model, and what it refuses."""

import itertools
import os
import re
import signal
import sys
import time
import warnings
from dataclasses import replace
from importlib import import_module

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix

from lambdaboost import (
    CNDCG,
    NDCG,
    ClickDCG,
    ClickTier,
    InversePropensity,
    LambdaRank,
    Propensities,
    Queries,
    Scorecard,
    graded,
    load,
    tune,
)
from lambdaboost.datasets import Collection, web_search_log
from lambdaboost.engines import ENGINES
from lambdaboost.training import boost, make_dataset
from lambdaboost.tuning import Stopped, Tuned
from lambdaboost.tuning.candidates import parse_candidates, standard_candidates
from lambdaboost.tuning.folds import draw_folds, fold_of_query, hash_queries
from lambdaboost.tuning.keep import WEIGHTS
from lambdaboost.tuning.training import CrossValidation, StoppingCurve
from lambdaboost.tuning.trees import NAMES, STARTS, tree_params, tree_space

pytest.importorskip("optuna")
LOG = web_search_log(90, documents=15, seed=3)
TRAIN, VALID, TEST = LOG.take(range(50)), LOG.take(range(50, 75)), LOG.take(range(75, 90))
BOTH = Collection.concat([TRAIN, VALID])
FEW = ["lambdarank", "LambdaRank", "graded"]
QUICK = {"objectives": FEW, "settings": 6, "rounds": 20, "early_stopping_rounds": 5, "workers": 1, "folds": 2}
TINY = QUICK | {"objectives": ["LambdaRank"], "settings": 2, "rounds": 6}
MEAN = repr(NDCG(10))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return tmp_path_factory.mktemp("tune") / "study.log"


@pytest.fixture(scope="module")
def tuned(study):
    return tune(TRAIN, VALID, study=study, **QUICK)


def scores(model, data):
    booster = getattr(model, "booster", model)
    return ENGINES[type(booster).__module__.split(".")[0]].scores(booster, data.features)


def test_trees_come_first_and_then_objectives_on_the_best_trees(tuned):
    trials = tuned.trials
    assert list(trials.phase)[:2] == ["default", "trees"]
    assert trials.candidate[0] == "lambdarank" and np.isnan(trials.learning_rate[0])
    searched, others = trials[trials.phase == "trees"], trials[trials.phase == "objectives"]
    assert set(searched.candidate) == {"LambdaRank()"} and len(others) == 2
    best, names = searched.loc[searched[MEAN].idxmax()], list(STARTS[0])[:6]
    for _, row in others.iterrows():
        assert row[names].tolist() == best[names].tolist() and row.folds == 2
    assert {"trees", "objective", "label"} <= set(tuned.comparison.question)


def test_the_result_is_frozen_a_plain_model_with_its_setting(tuned, tmp_path):
    assert isinstance(tuned, Tuned) and repr(tuned).startswith(f"Tuned({tuned.objective!r}")
    assert ENGINES[tuned.engine].n_rounds(tuned.booster) == tuned.rounds
    assert type(tuned.study).__module__.startswith("optuna") and len(tuned.study.trials) == 6
    with pytest.raises(AttributeError):
        tuned.rounds = 3
    shown = tuned._repr_html_()
    assert shown.count("<table") == 2 and shown.count("<li>") == len(tuned.verdict.splitlines())
    tuned.save(tmp_path / "model.txt", {"more": 1})
    saved = load(tmp_path / "model.txt")
    assert saved.objective == tuned.objective and saved.about["tuning"]["verdict"] == tuned.verdict
    assert saved.about["more"] == 1 and saved.about["rounds"] == tuned.rounds


def test_a_finished_study_is_not_trained_again_and_resumes_with_a_larger_budget(study, tuned, monkeypatch):
    whole, seen = CrossValidation.cross_validate, []
    monkeypatch.setattr(CrossValidation, "cross_validate", lambda *_: pytest.fail("a trial was repeated"))
    again = tune(TRAIN, VALID, study=study, **QUICK)
    assert again.trials.equals(tuned.trials) and again.verdict == tuned.verdict
    monkeypatch.setattr(CrossValidation, "cross_validate", lambda *g: seen.append(g[1].phase) or whole(*g))
    assert len(tune(TRAIN, VALID, study=study, **(QUICK | {"settings": 7})).trials) == 6 + len(seen) > 6
    with pytest.raises(
        ValueError, match="was made with other data, arguments or versions: give another file"
    ):
        tune(TRAIN, study=study, **QUICK)
    with pytest.raises(ValueError, match="was made with other data, arguments"):
        tune(TRAIN, VALID, study=study, **(QUICK | {"seed": 4}))


@pytest.mark.parametrize("objective", ["lambdarank", "LambdaRank", "rank:ndcg"])
def test_a_ranker_of_the_same_setting_is_the_same_model(objective):
    """On trees that draw rows and features."""
    engine = "xgboost" if ":" in objective else "lightgbm"
    drawn = {"subsample": 0.7, "colsample_bytree": 0.6} | ({} if ":" in objective else {"bagging_freq": 1})
    found = tune(TRAIN, VALID, engine=engine, params=drawn, **(TINY | {"objectives": [objective]}))
    data = BOTH.shuffled(0)
    name = getattr(found.objective, "name", found.objective)
    ranker = import_module(f"lambdaboost.{engine}").LambdaRanker(
        objective=name, n_estimators=found.rounds, **found.params
    )
    ranker.fit(data.features, data.queries.relevance, group=data.queries.sizes)
    np.testing.assert_allclose(ranker.predict(TEST.features), scores(found, TEST), rtol=1e-6)


def shown(data, **sources):
    q = data.queries
    position = np.concatenate([np.arange(1, size + 1) for size in q.sizes])
    return replace(data, queries=Queries(q.relevance, q.sizes, position=position, **sources))


def test_positions_that_no_candidate_reads_are_said_and_kept_from_trainings():
    given = TINY | {"objectives": ["lambdarank"]}
    found = tune(shown(TRAIN), **given)
    alone = tune(replace(TRAIN, queries=Queries(TRAIN.queries.relevance, TRAIN.queries.sizes)), **given)
    assert "Positions: not used by any candidate" in found.verdict and "Positions" not in alone.verdict
    assert np.array_equal(scores(alone, TEST), scores(found, TEST))
    clicked = shown(TRAIN, clicks=TRAIN.queries.labels["clicks"])
    read = tune(clicked, measure=[NDCG(10), ClickDCG(5, Propensities.power(1, 60))], **given)
    assert "Positions" not in read.verdict
    by_clicks = InversePropensity(ClickTier(), Propensities.power(1, 60))
    read = tune(clicked, **(TINY | {"objectives": [by_clicks]}))
    assert "Positions" not in read.verdict


def test_cross_validation_measures_every_query_once_with_one_number_of_rounds():
    found = tune(TRAIN, **(TINY | {"folds": 3, "settings": 1}))
    values = np.array(found.study.trials[0].user_attrs["result"]["values"])[0]
    naive = np.empty(50)
    for fold in draw_folds(TRAIN, 3, 0):
        params = found.params | {"min_data_in_leaf": 20}
        booster = boost(
            "lightgbm",
            LambdaRank(),
            params,
            int(found.trials.rounds[0]),
            make_dataset("lightgbm", fold.train),
        )
        naive[fold.queries] = NDCG(10).per_query(scores(booster, fold.valid), fold.valid.queries)
    assert values == pytest.approx(naive, abs=1e-12) and found.trials[MEAN][0] == pytest.approx(naive.mean())
    assert found.rounds == max(1, round(found.trials.rounds[0] * 3 / 2))


def test_a_fold_goes_on_until_the_mean_over_the_folds_stalls():
    before = np.array([0.5, 0.7, 0.6])
    curve = StoppingCurve(before, 10.0, 20.0, 2)
    assert [curve(value) for value in (0.2, 0.2, 0.4)] == [False, False, False]
    assert curve.values == pytest.approx([0.3, 1.1 / 3, 1.4 / 3]) and curve.best == 3
    nothing = StoppingCurve(before, 10.0, 0.0, 2)
    assert nothing(0.9) and nothing.best == 2


class Odd(LambdaRank, registered=False):
    """Fails in the middle of a training."""

    def lambdas(self, scores, q, iteration=0):
        if iteration == 3:
            raise RuntimeError("no gradient today")
        return super().lambdas(scores, q, iteration)


def test_a_failed_setting_is_a_failed_trial_and_the_others_go_on():
    found = tune(TRAIN, **(QUICK | {"objectives": ["LambdaRank", Odd(NDCG(5))], "settings": 4}))
    (error,) = found.trials[found.trials.state == "failed"].error
    assert "no gradient today" in error and found.objective == LambdaRank()
    assert re.search(r"- Failed: Odd.*: RuntimeError: no gradient today\.", found.verdict)
    with pytest.raises(ValueError, match=r"no setting can be trained; Odd.*no gradient today"):
        tune(TRAIN, **(TINY | {"objectives": [Odd()]}))


@pytest.mark.parametrize(("engine", "params"), [("lightgbm", {"num_leaves": 1}), ("xgboost", {"eta": -1})])
def test_parameters_that_an_engine_refuses_are_named(engine, params):
    text = rf"no setting can be trained; LambdaRank.*reports: .*{next(iter(params))}|-1"
    with pytest.raises(ValueError, match=text):
        tune(TRAIN, engine=engine, params=params, **TINY)


def test_ctrl_c_leaves_the_best_so_far(monkeypatch):
    whole = CrossValidation.cross_validate

    def interrupted(self, setting, *given):
        if setting.phase == "objectives":
            raise KeyboardInterrupt
        return whole(self, setting, *given)

    monkeypatch.setattr(CrossValidation, "cross_validate", interrupted)
    with pytest.raises(Stopped, match=r"stopped after . settings; with study=") as stopped:
        tune(TRAIN, **QUICK)
    found = stopped.value.finish()
    assert found.rounds >= 1 and "Not reached within the budget: " in found.verdict


def test_ctrl_c_while_the_study_is_written_comes_after_it(monkeypatch, tmp_path):
    """Optuna removes the lock of its journal twice if it is interrupted there, the second time in vain."""
    file, whole = tmp_path / "study.log", os.unlink

    def interrupted(path, **given):
        whole(path, **given)
        if str(path).startswith(f"{file}.lock") and file.read_bytes().count(b'"result":') == 2:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(os, "unlink", interrupted)
    with pytest.raises(Stopped, match="stopped after 2 settings; the same call resumes") as stopped:
        tune(TRAIN, study=file, **QUICK)
    monkeypatch.undo()
    assert len(stopped.value.finish().trials) == 2
    assert len(tune(TRAIN, study=file, **QUICK).trials) == 6
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_minutes_end_the_search_and_are_used():
    begin = time.time()
    found = tune(TRAIN, **(TINY | {"settings": None, "minutes": 0.1}))
    assert time.time() - begin < 20 and len(found.trials) >= 3
    with pytest.raises(ValueError, match="no setting is complete within the budget of minutes: give more"):
        tune(TRAIN, **(QUICK | {"settings": None, "minutes": 1e-12}))


@pytest.mark.slow
def test_workers_try_the_same_settings():
    def drawn(found):
        rows = found.trials[found.trials.phase != "refinement"]
        return sorted(zip(rows.phase, rows.candidate, rows[MEAN].round(10), strict=True))

    one, two = (tune(TRAIN, **(QUICK | {"workers": n, "settings": 5})) for n in (1, 2))
    assert drawn(one) == drawn(two)


def test_keep_proves_on_the_same_folds_and_chooses_the_highest_second_measure():
    both = NDCG(10), CNDCG(10)
    found = tune(TRAIN, measure=both, keep=0.9, **TINY)  # all of it is proven
    kept, rows = found.trials[found.trials.phase == "keep"], found.comparison
    steps = rows[(rows.question == "keep") & (rows.measure == repr(both[0]))]
    assert (steps.p < 0.05).all() and len(steps) == len(kept) == len(WEIGHTS) - 1 and (kept.folds == 2).all()
    if isinstance(found.objective, Scorecard):
        best = kept.loc[kept[repr(both[1])].idxmax()]
        assert found.objective.weights[1] == WEIGHTS[1 + list(kept.index).index(best.name)]
    assert "- Kept: CNDCG(k=10) rises" in found.verdict or "raises CNDCG(k=10)" in found.verdict
    strict = tune(TRAIN, measure=both, keep=1e-9, **TINY)
    assert (strict.trials.phase == "keep").sum() == 1 and strict.objective == LambdaRank()
    assert "No trade-off is proven to keep NDCG(k=10) within 1e-09" in strict.verdict
    assert "keep" not in set(tune(TRAIN, measure=both, **TINY).comparison.question)


# The data.


def as_frame(data, make):
    q = data.queries
    columns = {f"x{at}": data.features[:, at] for at in range(data.n_features)}
    columns["market"] = np.resize(["us", "de", "fr"], q.n_documents)
    columns |= {"query": q.query_of_row + 100, "ctr": q.labels["clicks"]}
    return make(pd.DataFrame(columns).astype({"market": "category"}))


MAKE = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
def test_frames_of_every_kind_are_searched_alike(engine, tmp_path):
    """One reader with `fit`: columns by name, categories and weights."""
    weight = np.repeat(np.random.default_rng(0).random(50) + 0.5, TRAIN.queries.sizes)
    named = {"query": "query", "sources": {"clicks": "ctr"}, "engine": engine, "sample_weight": weight}
    scored = []
    for kind, make in MAKE.items():
        valid = as_frame(VALID, make), VALID.queries.relevance
        found = tune(as_frame(TRAIN, make), TRAIN.queries.relevance, valid=valid, **named, **TINY)
        found.save(tmp_path / kind)
        scored.append(load(tmp_path / kind).predict(as_frame(TEST, make)))
        assert np.array_equal(scored[0], scored[-1])
    assert load(tmp_path / "polars").about["categories"] == {"market": ["de", "fr", "us"]}


def test_arrays_and_sparse_matrices_are_searched_alike():
    q, bare = TRAIN.queries, replace(TRAIN, feature_names=None)
    grades = Queries(q.relevance, q.sizes)
    one = tune(TRAIN.features, q.relevance, group=q.sizes, **TINY)
    two = tune(replace(bare, queries=grades), **TINY)
    assert one.trials[MEAN].tolist() == two.trials[MEAN].tolist()
    one, two = tune(replace(bare, features=csr_matrix(TRAIN.features)), **TINY), tune(bare, **TINY)
    assert one.trials[MEAN].tolist() == two.trials[MEAN].tolist()


def test_folds_keep_equal_queries_together():
    bare = Collection(TRAIN.features, Queries(TRAIN.queries.relevance, TRAIN.queries.sizes))
    fold = fold_of_query(Collection.concat([bare, bare]), 4, seed=0)
    assert np.array_equal(fold[:50], fold[50:]) and np.bincount(fold).min() >= 24


def naive_query_contents(X, q):
    """The documents of each query as a sorted list of features and grade."""
    rows = [(*map(float, x), float(y)) for x, y in zip(X, q.relevance, strict=True)]
    return [tuple(sorted(rows[a:b])) for a, b in itertools.pairwise(q.offsets)]


@pytest.mark.parametrize("seed", range(3))
def test_hashes_find_equal_queries_whatever_their_order(seed):
    rng = np.random.default_rng(seed)
    X = rng.choice([0.0, -0.0, 1.0, -1.0], (200, 2))
    q = Queries(rng.integers(0, 2, 200), sizes=[2] * 100)
    found, naive = hash_queries(Collection(X, q)), naive_query_contents(X, q)
    assert np.array_equal(np.equal.outer(found, found), [[one == other for other in naive] for one in naive])


def test_candidates_and_trees():
    for engines in (["lightgbm", "xgboost"], ["lightgbm"], ["xgboost"]):
        found = standard_candidates([NDCG(3), CNDCG(3)], engines, ["clicks"])
        names = [one.name for one in found]
        assert len(set(names)) == len(names) and {one.engine for one in found} == set(engines)
    named = parse_candidates(["graded(0.2)", graded(0.2)], ["lightgbm"])
    assert [one.is_reference for one in named] == [False, True] and named[1].objective == LambdaRank()
    for engine, names in NAMES.items():
        for name, aliases in names.items():
            assert all(name not in tree_space(engine, 1000, {alias: 1}) for alias in aliases)
        params = tree_params(engine, {name: STARTS[1][name] for name in names}, by_steps=False)
        assert set(params) <= ENGINES[engine].parameter_names()


def test_warnings_about_the_data_are_passed_on_once():
    q = TRAIN.queries
    few = np.where(np.arange(q.n_documents) % 20, np.nan, q.labels["clicks"])
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        tune(
            replace(TRAIN, queries=Queries(q.relevance, q.sizes, clicks=few)),
            **(TINY | {"objectives": ["graded"]}),
        )
    assert len([one for one in heard if "nine in ten labels are missing" in str(one.message)]) == 1


def refused(text, *args, kind=ValueError, **given):
    with pytest.raises(kind, match=text) as error:
        tune(*(args or (TRAIN, VALID)), **({"workers": 1} | given))
    assert "\n" not in str(error.value)


def test_what_a_collection_has_itself_is_refused_not_ignored():
    has = "train is a Collection, which has its own queries, labels and weights, so {}= would be ignored"
    refused(has.format("sample_weight"), TRAIN, sample_weight=np.ones(50), kind=TypeError)
    refused(has.format("y"), TRAIN, TRAIN.queries.relevance, valid=VALID, kind=TypeError)
    refused(has.format("y"), TRAIN, VALID, valid=VALID, kind=TypeError)
    refused(has.format("group"), TRAIN, VALID, group=TRAIN.queries.sizes, kind=TypeError)
    refused(has.format("query"), TRAIN, query="srch_id", kind=TypeError)


def test_validation_queries_that_also_train_are_refused():
    refused("valid shares 50 queries with train, the first is query 0: the choice would be", TRAIN, TRAIN)
    frame, y = as_frame(TRAIN, MAKE["pandas"]), TRAIN.queries.relevance
    refused("valid shares 50 queries with train", frame, y, query="query", sources=["ctr"], valid=(frame, y))
    refused("valid shares 25 queries with train", LOG, VALID, split="given")
    named = [
        replace(
            part, queries=Queries(part.queries.relevance, ids=[f"q{at}" for at in part.queries.query_of_row])
        )
        for part in (TRAIN, VALID)
    ]
    refused("valid shares 25 queries with train, the first is query q0", *named)
    one = Collection.concat([VALID, TRAIN.take([0])])
    tune(TRAIN, one, **TINY)  # one of 26 is a duplicate, as every log has


def test_arguments_are_checked_before_anything_is_trained(monkeypatch, tmp_path):
    monkeypatch.setattr(CrossValidation, "cross_validate", lambda *_: pytest.fail("trained"))
    refused("settings is 20, and minutes is 3: give one of them", settings=20, minutes=3)
    refused("minutes is 0: give a number above 0", minutes=0)
    refused("split is 'later', expected 'folds' or 'given'", split="later")
    refused("split is 'given' without valid=: give valid=", TRAIN, split="given")
    refused("engine is 'catboost', expected lightgbm or", engine="catboost")
    refused("objective rank:ndcg is XGBoost's own, but the", objectives=["rank:ndcg"], engine="lightgbm")
    refused("'LambdaRang' is unknown", objectives=["LambdaRang"])
    refused("objectives is empty", objectives=[])
    refused("objectives is 3", objectives=3, kind=TypeError)
    refused("rank:map cannot train on these data: .* takes grades 0 and 1 only", objectives=["rank:map"])
    refused("measure CNDCG\\(source='sales'\\), in train: no label source", measure=CNDCG(source="sales"))
    refused(r"measures is \[3\]", measure=[3])
    refused("params has 'num_leafs', which LightGBM does", params={"num_leafs": 3}, engine="lightgbm")
    refused("params has 'objective': leave it out", params={"objective": "x"}, engine="lightgbm")
    refused("boosting='dart', which cannot", params={"boosting": "dart"}, engine="lightgbm")
    refused("params is {'eta': nan}: give finite numbers", params={"eta": np.nan}, kind=TypeError)
    refused("folds is 60, but there are 50 different queries", TRAIN, folds=60)
    refused("valid and train differ in n_features", TRAIN, VALID.without_features([0]))
    refused("train is a ndarray, expected", TRAIN.features, group=TRAIN.queries.sizes, kind=TypeError)
    refused("valid is a DataFrame, expected", TRAIN, valid=pd.DataFrame(), kind=TypeError)
    both = {"measure": ["ndcg@10", "cndcg@10"]}
    refused("keep is 0: give what the first", keep=0, **both)
    refused("keep is 1: give what the first measure may lose, below 1", keep=1, **both)
    refused("keep takes two different measures, .* and measure has 1", keep=0.1)
    refused("keep with a second measure, which is AUC", keep=0.1, measure=["ndcg", "auc"], kind=TypeError)
    (tmp_path / "file").write_text("x")
    refused("file is no study, or is damaged", study=tmp_path / "file")
    refused("is a folder: give a file name in it", study=tmp_path)
    refused("study is 3: give the name of a file", study=3, kind=TypeError)
    assert (tmp_path / "file").read_text() == "x"
    flat = replace(TRAIN, queries=Queries(np.ones(TRAIN.queries.n_documents), TRAIN.queries.sizes))
    refused("train has no query with two documents of different relevance", flat)
    monkeypatch.setitem(sys.modules, "optuna", None)
    refused("Optuna is not installed: pip install 'optuna>=4'", kind=ModuleNotFoundError)
