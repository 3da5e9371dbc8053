"""Names that people know: the engines' own objectives and metrics, and measures such as "mrr@10"."""

import importlib
import json

import lightgbm
import numpy as np
import pytest
import xgboost
from typer.testing import CliRunner

from lambdaboost import (
    MAP,
    MRR,
    Precision,
    Queries,
    _lightgbm,
    load,
    save,
)
from lambdaboost.cli.app import app
from lambdaboost.datasets import Collection, web_search_log, write_letor
from lambdaboost.evaluation import compare

LOG = web_search_log(queries=40, documents=15, features=16, seed=5)
X, Q = LOG.features, LOG.queries
CLICKS = Q.labels["clicks"]
OTHER = web_search_log(queries=30, documents=15, features=16, seed=6)
NATIVE = [
    ("lightgbm", "lambdarank"),
    ("lightgbm", "rank_xendcg"),
    ("xgboost", "rank:ndcg"),
    ("xgboost", "rank:pairwise"),
    ("xgboost", "rank:map"),
]
PARAMS = {
    "lightgbm": {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 5, "seed": 1},
    "xgboost": {"nthread": 1, "verbosity": 0, "seed": 1, "max_depth": 3},
}
native = pytest.mark.parametrize(("engine", "name"), NATIVE)
engines = pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])


def grades(name, q=Q):
    return (q.relevance >= 2).astype(float) if name == "rank:map" else q.relevance


def front(engine):
    return importlib.import_module(f"lambdaboost.{engine}")


def stock(engine, name, rounds=5):
    params = PARAMS[engine] | {"objective": name}
    if engine == "lightgbm":
        data = lightgbm.Dataset(X, grades(name), group=Q.sizes)
        return lightgbm.train(params, data, rounds)
    return xgboost.train(params, xgboost.DMatrix(X, grades(name), group=Q.sizes), rounds)


def scores_of(booster, features=X):
    return booster.predict(xgboost.DMatrix(features) if isinstance(booster, xgboost.Booster) else features)


# Objectives.


@native
def test_rankers_take_native_objectives(engine, name, tmp_path):
    quiet = {"verbose": -1} if engine == "lightgbm" else {}
    ranker = front(engine).LambdaRanker(objective=name, n_estimators=3, n_jobs=1, random_state=1, **quiet)
    ranker.fit(X, grades(name), group=Q.sizes, sources={"clicks": CLICKS})
    parent = type(ranker).__mro__[2](objective=name, n_estimators=3, n_jobs=1, random_state=1, **quiet)
    expected = parent.fit(X, grades(name), group=Q.sizes).predict(X)
    np.testing.assert_array_equal(ranker.predict(X), expected)
    assert ranker.get_params()["objective"] == name and repr(ranker.objective_) == name
    save(ranker, tmp_path / "model.json")
    np.testing.assert_array_equal(load(tmp_path / "model.json").predict(X), expected)


@native
def test_native_objectives_on_the_command_line(engine, name, tmp_path):
    write_letor(tmp_path / "train.txt", Collection(X, Queries(grades(name), Q.sizes)))
    out = tmp_path / "model"
    done = CliRunner().invoke(app, [
        "train", str(tmp_path / "train.txt"), "--valid", str(tmp_path / "train.txt"), "--engine", engine,
        "--objective", name, "--rounds", "3", "--measure", "map", "--measure", "mrr@10", "--out", str(out),
    ])  # fmt: skip
    assert done.exit_code == 0, done.output
    about = json.loads((tmp_path / "model.json").read_text())
    assert about["objective"] == name and list(about["measures"]["valid"]) == ["MAP()", "MRR(k=10)"]
    assert load(out).predict(X).shape == (len(X),)


@native
def test_missing_grades_are_warned_of_under_native_objectives(engine, name):
    missing = np.where(np.arange(len(X)) % 5, grades(name), np.nan)
    ranker = front(engine).LambdaRanker(objective=name, n_estimators=1, n_jobs=1)
    with pytest.warns(UserWarning, match="^NaN labels: .* own objective reads missing grades as 0; drop"):
        ranker.fit(X, missing, group=Q.sizes)


def test_grades_that_map_cannot_read():
    with pytest.raises(ValueError, match=r"^relevance\[\d+\] is \d: XGBoost's own rank:map takes"):
        front("xgboost").LambdaRanker(objective="rank:map").fit(X, Q.relevance, group=Q.sizes)


def both(engine):
    other = "xgboost" if engine == "lightgbm" else "lightgbm"
    return next(name for of, name in NATIVE if of == engine), next(name for of, name in NATIVE if of == other)


@engines
def test_wrong_native_objectives_are_answered_in_a_line(engine):
    own, foreign = both(engine)

    def fit(objective):
        return front(engine).LambdaRanker(objective=objective).fit(X, Q.relevance, group=Q.sizes)

    with pytest.raises(
        ValueError, match=f"^objective is '{foreign}', which is .*'s own: on .* give '{own}' or '"
    ):
        fit(foreign)
    with pytest.raises(
        ValueError, match=f"^objective is '{own[:-1]}', which is unknown: did you mean '{own}'"
    ):
        fit(own[:-1])


# Metrics.


@engines
def test_names_as_eval_metric_of_a_ranker(engine):
    more = {"eval_metric": ["mrr@5", "ndcg@3", "P@5"]}
    made = {"n_estimators": 3} | ({"verbose": -1} if engine == "lightgbm" else more)
    ranker = front(engine).LambdaRanker(**made)
    valid = {"eval_set": [(OTHER.features, OTHER.queries.relevance)], "eval_group": [OTHER.queries.sizes]}
    ranker.fit(X, Q.relevance, group=Q.sizes, **valid, **(more if engine == "lightgbm" else {}))
    curves = ranker.evals_result_ if engine == "lightgbm" else ranker.evals_result()
    (curves,) = ({label.removeprefix("pre-").lower(): c for label, c in of.items()} for of in curves.values())
    assert set(curves) == {"mrr@5", "ndcg@3", "precision@5"}
    scores = ranker.predict(OTHER.features)
    assert curves["mrr@5"][-1] == pytest.approx(MRR(5)(scores, OTHER.queries), abs=1e-5)
    assert curves["precision@5"][-1] == pytest.approx(Precision(5)(scores, OTHER.queries), abs=1e-5)
    if engine == "xgboost":
        assert ranker.score(X, Q.relevance, group=Q.sizes) == pytest.approx(MRR(5)(ranker.predict(X), Q))


def test_every_metric_of_lightgbm_is_known():
    """Each name of the list is one that LightGBM evaluates, for some objective."""
    # The last two take no labels of 0.
    names = _lightgbm.METRICS - {
        "none",
        "na",
        "null",
        "custom",
        "gamma",
        "gamma_deviance",
    }
    data = lightgbm.Dataset(X, np.minimum(Q.relevance, 1), group=Q.sizes)
    unseen = set()
    for name in names:
        for more in (
            {"objective": "binary"},
            {"objective": "multiclass", "num_class": 2},
            {"objective": "lambdarank"},
        ):
            curves = {}
            try:
                lightgbm.train(
                    {"verbose": -1, "metric": name, **more}, data, 1, valid_sets=[data],
                    callbacks=[lightgbm.record_evaluation(curves)],
                )  # fmt: skip
            except lightgbm.basic.LightGBMError:
                continue
            if curves:
                break
        else:
            unseen.add(name)
    assert unseen == set()


def test_names_in_compare():
    rng = np.random.default_rng(0)
    scores = {name: rng.normal(size=len(X)) for name in ("one", "two")}
    assert compare(scores, Q, "ndcg@5").measures == ("NDCG(k=5)",)
    assert compare(scores, Q, ["map", "mrr@10", MAP()]).measures == ("MAP()", "MRR(k=10)")
    with pytest.raises(ValueError, match=r"'ndgc' is unknown .did you mean NDCG"):
        compare(scores, Q, measures=["ndgc"])
