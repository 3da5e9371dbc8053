"""Names that people know: the engines' own objectives and metrics, and measures such as "mrr@10"."""

import importlib
import json

import lightgbm
import numpy as np
import pytest
import xgboost
from typer.testing import CliRunner

from lambdaboost import (
    CNDCG,
    ERR,
    MAP,
    MRR,
    NDCG,
    LambdaRank,
    Precision,
    Queries,
    load,
    save,
)
from lambdaboost.cli.app import app
from lambdaboost.datasets import Collection, web_search_log, write_letor
from lambdaboost.engines.engine import engine_named
from lambdaboost.evaluation import System, compare

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


def data_of(engine, name, log=LOG, **more):
    q = log.queries
    given = {"group": q.sizes, "sources": {"clicks": q.labels["clicks"]}} | more
    kind = front(engine).Dataset if engine == "lightgbm" else front(engine).DMatrix
    return kind(log.features, grades(name, q), **given)


def trained(engine, name, rounds=5, measures=None, stopping=None, params=None, **more):
    """The booster, and the curves of a validation set."""
    data, valid, curves = data_of(engine, name), data_of(engine, name, OTHER), {}
    params = PARAMS[engine] | (params or {})
    if engine == "lightgbm":
        callbacks = [lightgbm.record_evaluation(curves)]
        callbacks += [lightgbm.early_stopping(stopping, verbose=False)] if stopping else []
        more |= {"valid_sets": [valid], "valid_names": ["valid"], "feval": measures, "callbacks": callbacks}
    else:
        more |= {"evals": [(valid, "valid")], "custom_metric": measures, "evals_result": curves}
        more |= {"verbose_eval": False, "early_stopping_rounds": stopping}
    booster = front(engine).train(params, data, rounds, **more)
    return booster, {label.removeprefix("pre-").lower(): curve for label, curve in curves["valid"].items()}


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
def test_a_native_objective_trains_the_stock_model(engine, name, tmp_path):
    booster, curves = trained(engine, name, objective=name, measures=[NDCG(3), CNDCG(3)])
    expected = stock(engine, name)
    np.testing.assert_array_equal(scores_of(booster), scores_of(expected))
    q = Queries(grades(name, OTHER.queries), OTHER.queries.sizes, clicks=OTHER.queries.labels["clicks"])
    for measure in (NDCG(3), CNDCG(3)):
        figure = measure(scores_of(booster, OTHER.features), q)
        assert curves[repr(measure).lower()][-1] == pytest.approx(figure, abs=1e-6)
    path = tmp_path / "model.json"
    save(booster, path, objective=name)
    again = (lightgbm if engine == "lightgbm" else xgboost).Booster(model_file=path)
    np.testing.assert_array_equal(scores_of(again), scores_of(expected))
    assert repr(load(path).objective) == name
    if engine == "xgboost":
        assert json.loads(again.save_config())["learner"]["objective"]["name"] == name
    else:
        assert f"\nobjective={name}" in again.model_to_string()


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
def test_native_objectives_stop_early_by_measures(engine, name):
    fast = {"learning_rate": 1.0}
    booster, curves = trained(engine, name, 60, objective=name, measures=["mrr@5"], stopping=3, params=fast)
    (curve,) = curves.values()
    best = booster.best_iteration - (engine == "lightgbm")
    assert len(curve) < 60 and best == np.argmax(curve)


@native
def test_native_objectives_in_cross_validation(engine, name):
    quiet = {} if engine == "lightgbm" else {"verbose_eval": False}
    table = front(engine).cv(PARAMS[engine], data_of(engine, name), 3, objective=name, nfold=2, **quiet)
    label = "valid NDCG(k=3)-mean" if engine == "lightgbm" else "test-ndcg(k=3)-mean"
    assert len(table[label]) == 3 and np.asarray(table[label])[-1] > 0.3


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
def test_parameters_of_native_objectives_are_not_warned_of(engine, name, recwarn):
    more = (
        {"lambdarank_truncation_level": 5, "lambdarank_norm": False}
        if engine == "lightgbm"
        else {"lambdarank_num_pair_per_sample": 4}
    )
    trained(engine, name, 1, objective=name, params=more)
    assert not [w for w in recwarn if "lambdarank" in str(w.message)]


@native
def test_missing_grades_are_warned_of_under_native_objectives(engine, name):
    missing = np.where(np.arange(len(X)) % 5, grades(name), np.nan)
    kind = front(engine).Dataset if engine == "lightgbm" else front(engine).DMatrix
    with pytest.warns(UserWarning, match="^NaN labels: .* own objective reads missing grades as 0; drop"):
        front(engine).train(PARAMS[engine], kind(X, missing, group=Q.sizes), 1, objective=name)


def test_grades_that_map_cannot_read():
    with pytest.raises(ValueError, match=r"^relevance\[\d+\] is \d: XGBoost's own rank:map takes"):
        front("xgboost").train(PARAMS["xgboost"], data_of("xgboost", "rank:ndcg"), 1, objective="rank:map")


def both(engine):
    other = "xgboost" if engine == "lightgbm" else "lightgbm"
    return next(name for of, name in NATIVE if of == engine), next(name for of, name in NATIVE if of == other)


@engines
@pytest.mark.parametrize("how", ["train", "cv", "fit"])
def test_wrong_native_objectives_are_answered_in_a_line(engine, how):
    own, foreign = both(engine)

    def call(params=None, **more):
        params = PARAMS[engine] | (params or {})
        if how == "fit":
            return front(engine).LambdaRanker(**more).fit(X, Q.relevance, group=Q.sizes)
        return getattr(front(engine), how)(params, data_of(engine, own), 1, **more)

    with pytest.raises(
        ValueError, match=f"^objective is '{foreign}', which is .*'s own: on .* give '{own}' or '"
    ):
        call(objective=foreign)
    with pytest.raises(ValueError, match=f"^leaves='gradient' with objective='{own}': the engine's own"):
        call(objective=own, leaves="gradient")
    with pytest.raises(
        ValueError, match=f"^objective is '{own[:-1]}', which is unknown: did you mean '{own}'"
    ):
        call(objective=own[:-1])
    if how != "fit":
        with pytest.raises(
            ValueError, match=f"^params has objective='{foreign}.': leave it out, and give objective="
        ):
            call({"objective": f"{foreign}x"})


# Metrics.


@engines
def test_a_measure_by_name_where_train_takes_measures(engine):
    _, curves = trained(engine, "", measures=["mrr@5", "map", MRR(3)])
    assert list(curves) == ["mrr(k=5)", "map()", "mrr(k=3)"]
    _, curves = trained(engine, "", measures="P@5")
    assert list(curves) == ["precision(k=5)"]
    with pytest.raises(ValueError, match=r"'NDGC' is unknown .did you mean NDCG"):
        trained(engine, "", measures="NDGC")


@engines
@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("mrr@10", ["mrr(k=10)"]),
        ("NDCG(k=3, gain='linear')", ["ndcg(k=3,gain='linear')"]),
        (["ndcg@5", "err@3"], ["ndcg@5", "err(k=3)"]),
        ("ndcg@5", ["ndcg@5"]),
    ],
)
def test_names_among_the_parameters_are_the_engines_own_where_it_has_them(engine, named, expected):
    metric = "metric" if engine == "lightgbm" else "eval_metric"
    booster, curves = trained(engine, "", params={metric: named})
    assert list(curves) == expected
    scores = scores_of(booster, OTHER.features)
    for label, value in (("mrr(k=10)", MRR(10)), ("err(k=3)", ERR(3)), ("ndcg@5", NDCG(5, empty=1.0))):
        if label in curves:
            assert curves[label][-1] == pytest.approx(value(scores, OTHER.queries), abs=1e-5)


@engines
def test_names_as_eval_metric_of_a_ranker(engine):
    more = {"eval_metric": ["mrr@5", "ndcg@3", "P@5"]}
    made = {"n_estimators": 3} | ({"verbose": -1} if engine == "lightgbm" else more)
    ranker = front(engine).LambdaRanker(**made)
    valid = {"eval_set": [(OTHER.features, OTHER.queries.relevance)], "eval_group": [OTHER.queries.sizes]}
    ranker.fit(X, Q.relevance, group=Q.sizes, **valid, **(more if engine == "lightgbm" else {}))
    curves = ranker.evals_result_ if engine == "lightgbm" else ranker.evals_result()
    (curves,) = ({label.removeprefix("pre-").lower(): c for label, c in of.items()} for of in curves.values())
    assert set(curves) == {"mrr(k=5)", "ndcg@3", "precision(k=5)"}
    scores = ranker.predict(OTHER.features)
    assert curves["mrr(k=5)"][-1] == pytest.approx(MRR(5)(scores, OTHER.queries), abs=1e-5)
    assert curves["precision(k=5)"][-1] == pytest.approx(Precision(5)(scores, OTHER.queries), abs=1e-5)
    if engine == "xgboost":
        assert ranker.score(X, Q.relevance, group=Q.sizes) == pytest.approx(MRR(5)(ranker.predict(X), Q))


@engines
@pytest.mark.parametrize(("named", "meant"), [("ndgc@5", "ndcg@5"), ("mapp", "map"), ("bpreff", "bpref")])
def test_a_misspelt_metric_is_answered_with_the_likely_name(engine, named, meant):
    """LightGBM would evaluate nothing, without a word."""
    metric = "metric" if engine == "lightgbm" else "eval_metric"
    with pytest.raises(
        ValueError, match=f"^metric is '{named}', which .* does not know: did you mean '{meant}'"
    ):
        trained(engine, "", params={metric: named})
    with pytest.raises(ValueError, match=f"^metric is '{named}'"):
        front(engine).LambdaRanker(**{metric: named}).fit(X, Q.relevance, group=Q.sizes)


def test_every_metric_of_lightgbm_is_known():
    """Each name of the list is one that LightGBM evaluates, for some objective."""
    # The last two take no labels of 0.
    names = engine_named("lightgbm").metric_names - {
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
    systems = [System(name, rng.normal(size=len(X)), Q) for name in ("one", "two")]
    assert compare(*systems, measures="ndcg@5").measures == (NDCG(5),)
    assert compare(*systems, measures=["map", "mrr@10", MAP()]).measures == (MAP(), MRR(10))
    with pytest.raises(ValueError, match=r"'ndgc' is unknown .did you mean NDCG"):
        compare(*systems, measures=["ndgc"])


# Numbers of rounds, which each engine takes elsewhere.


@pytest.mark.parametrize("name", ["n_estimators", "num_boost_round"])
def test_rounds_among_the_parameters(name):
    assert trained("lightgbm", "", 2, params={name: 4})[0].num_trees() == 4  # as in LightGBM
    with pytest.raises(
        ValueError, match=f"^params has {name}=4, which XGBoost does not read there: give rounds=4 of"
    ):
        trained("xgboost", "", 2, params={name: 4})


def test_arguments_of_train_as_parameters_of_a_ranker():
    with pytest.raises(ValueError, match=r"num_boost_round=4, .* or n_estimators=4 of a ranker"):
        front("xgboost").LambdaRanker(num_boost_round=4).fit(X, Q.relevance, group=Q.sizes)
    with pytest.raises(
        ValueError, match=r"early_stopping_rounds=4, .*: give early_stopping_rounds=4 of the call"
    ):
        trained("xgboost", "", 2, params={"early_stopping_rounds": 4})
    for engine in ("lightgbm", "xgboost"):
        with pytest.raises(
            ValueError, match=r"rounds=4, .*: give it as rounds= of the call, or n_estimators= of a"
        ):
            front(engine).LambdaRanker(objective=LambdaRank(), rounds=4).fit(X, Q.relevance, group=Q.sizes)
