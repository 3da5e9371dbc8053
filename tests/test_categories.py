"""Categories from a table to a score: frames of every kind, files, both engines, and what cannot be read."""

import json
from functools import partial

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankers
import xgboost as xgb
from on_xgboost import stores_values
from warned import warnings_of

from lambdaboost import LambdaRank, explain, load, merge, save
from lambdaboost.datasets import Columns, Encoder
from lambdaboost.datasets.table import open_table
from lambdaboost.engines import ENGINES
from lambdaboost.saving import load_plain

RNG = np.random.default_rng(0)
N = 400
MARKET, SITE, PRICE = RNG.choice(["de", "fr", "us", "zz"], N), RNG.integers(0, 5, N), RNG.random(N)
GRADE = 1.0 * (MARKET == "us") + (SITE == 2) + (PRICE > 0.5)
QUERY = np.repeat(np.arange(20), 20)
PANDAS = pd.DataFrame({"qid": QUERY, "price": PRICE, "market": pd.Categorical(MARKET)})
PANDAS["site"] = pd.Categorical(SITE.astype(np.int8))
REORDERED = PANDAS.assign(
    market=pd.Categorical(MARKET, categories=["zz", "never", "us", "fr", "de"]),
    site=pd.Categorical(SITE, categories=[4, 3, 2, 1, 0]),
)[["site", "market", "qid", "price"]]
FRAMES = {
    "pandas": PANDAS,
    "reordered": REORDERED,
    "text": pd.DataFrame({"market": MARKET, "site": SITE.astype(float), "price": PRICE, "qid": QUERY}),
    "polars": pl.DataFrame({"site": SITE.astype(str), "price": PRICE, "qid": QUERY, "market": MARKET}).cast(
        {"site": pl.Categorical, "market": pl.Enum(["us", "zz", "de", "fr"])}
    ),
}
FRAMES["pyarrow"] = pa.table(
    {
        "market": pa.array(MARKET).dictionary_encode(),
        "site": pa.array(SITE).dictionary_encode(),
        "price": PRICE,
        "qid": QUERY,
    }
)
ARGUMENT = {"lightgbm": "init_model", "xgboost": "xgb_model"}
# Few rows: without these LightGBM leaves small categories alone.
SMALL = {"lightgbm": {"min_data_per_group": 1, "cat_smooth": 1}, "xgboost": {}}


def ranker(engine, **more):
    return rankers.ranker(engine, n_estimators=5, **SMALL[engine], **more)


@stores_values
def trained(engine, X, objective, **params):
    """A stock booster of a pandas frame, and its scores."""
    groups = [20] * 20
    if engine == "lightgbm":
        params = {"objective": objective, "verbose": -1, **SMALL[engine]}
        booster = lgb.train(params, lgb.Dataset(X, GRADE, group=groups), 5)
        return booster, booster.predict(X)
    data = xgb.DMatrix(X, GRADE, group=groups, enable_categorical=True)
    booster = xgb.train(params | {"objective": "rank:ndcg", "base_score": 0.0}, data, 5, obj=objective)
    return booster, booster.inplace_predict(X)


def test_the_engines_own_training_makes_the_same_model_of_a_pandas_frame(engine):
    X = PANDAS.drop(columns="qid").assign(site=PANDAS.site.cat.rename_categories(int))
    fitted = ranker(engine, objective=LambdaRank()).fit(X, GRADE, qid=QUERY)
    params = {} if engine == "lightgbm" else fitted.get_xgb_params()
    booster, scores = trained(engine, X, **params | {"objective": LambdaRank()})
    assert np.array_equal(scores, fitted.predict(X))
    values = {"market": ["de", "fr", "us", "zz"], "site": [0, 1, 2, 3, 4]}
    assert ENGINES[engine].categories(booster) == values


@stores_values
@pytest.mark.parametrize("kind", ["pandas", "reordered", "lacking", "text", "polars", "pyarrow"])
def test_a_continued_training_has_the_columns_and_codes_of_the_first_model(engine, kind, tmp_path):
    """LightGBM would take columns and codes by their place, XGBoost codes, whatever they are called."""
    of_frame = PANDAS.market != "zz" if kind == "lacking" else PANDAS.market != ""
    lacking = PANDAS[of_frame].assign(market=PANDAS.market[of_frame].cat.remove_unused_categories())
    frame, y = FRAMES.get(kind, lacking), GRADE[of_frame]
    first = ranker(engine).fit(PANDAS, GRADE)
    booster = first.booster_ if engine == "lightgbm" else first.get_booster()
    booster.save_model(str(tmp_path / "model.ubj"))
    save(first, tmp_path / "first")
    expected = ranker(engine).fit(PANDAS[of_frame], y, **{ARGUMENT[engine]: booster}).predict(PANDAS)
    assert not np.array_equal(expected, first.predict(PANDAS))
    for model in (first, booster, load(tmp_path / "first"), str(tmp_path / "model.ubj")):
        both = ranker(engine).fit(frame, y, eval_set=(REORDERED, GRADE), **{ARGUMENT[engine]: model})
        assert np.array_equal(both.predict(PANDAS), expected)
        save(both, tmp_path / "both")
        saved = load(tmp_path / "both")
        assert list(map(str, saved.about["categories"]["site"])) == ["0", "1", "2", "3", "4"]
        for rows in (PANDAS, REORDERED):
            assert np.array_equal(saved.predict(rows), expected)
    xx = PANDAS.assign(market=np.where(np.arange(N) == 7, "xx", MARKET))
    with pytest.raises(ValueError, match="column 'market' is 'xx' in row 7 of X, none of its categories in"):
        ranker(engine).fit(xx, GRADE, **{ARGUMENT[engine]: first})


def test_xgboosts_boosters_without_values_are_said():
    """Those of XGBoost before 3.1 store none, so that the codes of another frame may be others."""
    fitted = ranker("xgboost").fit(PANDAS, GRADE)
    content = json.loads(fitted.get_booster().save_raw("json"))
    content["learner"]["gradient_booster"]["model"].pop("cats", None)
    booster = ENGINES["xgboost"].read(json.dumps(content).encode())
    with pytest.warns(
        UserWarning, match="xgb_model does not store the values of its categories, as XGBoost before"
    ):
        ranker("xgboost").fit(REORDERED, GRADE, xgb_model=booster)
    with pytest.warns(
        UserWarning, match=r"models\[1\] do not store the values of the categories of 'market', 'site'"
    ):
        merge([booster, booster], weights=[1, 1])
    assert warnings_of(lambda: ranker("xgboost").fit(REORDERED, GRADE, xgb_model=fitted)) == []
    assert warnings_of(lambda: merge([fitted, fitted], weights=[1, 1])) == []


def test_what_training_did_not_have_may_count_as_missing(engine, tmp_path):
    fitted = ranker(engine, unseen="missing").fit(PANDAS, GRADE)
    save(fitted, tmp_path / "model")
    loaded, other = load(tmp_path / "model"), np.isin(np.arange(N), [7, 9])
    frame = PANDAS.assign(market=np.where(other, "xx", MARKET), site=np.where(PRICE > 0.9, 99, PANDAS.site))
    lacking = PANDAS.assign(market=PANDAS.market.where(~other), site=PANDAS.site.where(PRICE <= 0.9))
    expected = fitted.predict(lacking)
    later = ranker(engine).fit(PANDAS, GRADE).set_params(unseen="missing")
    save(later, tmp_path / "later")
    told = partial(loaded.predict, unseen="missing")
    for predict in (fitted.predict, later.predict, loaded.predict, load(tmp_path / "later").predict, told):
        with pytest.warns(UserWarning, match="as missing: 2 rows of column 'market', such as 'xx'") as seen:
            assert np.array_equal(predict(frame), expected)
        assert len(seen) == 1
    with pytest.warns(UserWarning, match="2 rows of column 'market'"):
        ranker(engine, unseen="missing").fit(PANDAS, GRADE, eval_set=[(frame, GRADE)])


def test_what_training_did_not_have_is_refused(engine, tmp_path):
    fitted = ranker(engine).fit(PANDAS, GRADE)
    numbers = ranker(engine).fit(PANDAS.assign(market=PRICE), GRADE)
    save(fitted, tmp_path / "model")
    loaded = load(tmp_path / "model")
    frame = PANDAS.assign(market=np.where(np.arange(N) == 7, "xx", MARKET))
    unseen = r"column 'market' is 'xx' in row 7 of {}, none of its categories in training \('de', 'fr', "
    wrong = "unseen is 'drop': give 'error' or 'missing'"
    for call, words in (
        (lambda: fitted.predict(frame), unseen.format("X")),
        (lambda: loaded.predict(frame), unseen.format("X") + ".*give unseen='missing'"),
        (
            lambda: ranker(engine).fit(PANDAS, GRADE, eval_set=[(frame, GRADE)]),
            unseen.format(r"eval_set\[0\]"),
        ),
        (lambda: fitted.predict(PANDAS.assign(market=PRICE)), r"column 'market' is '0\.\d+' in row 0"),
        (lambda: numbers.predict(PANDAS), "X has categories in the column 'market', which held numbers"),
        (lambda: loaded.predict(frame, unseen="drop"), wrong),
        (lambda: ranker(engine, unseen="drop").fit(PANDAS, GRADE), wrong),
    ):
        with pytest.raises(ValueError, match=f"^{words}"):
            call()


def test_a_reader_keeps_the_values():
    frame = pd.DataFrame({"q": QUERY, "y": GRADE, "w": PRICE, "d": MARKET, "market": MARKET, "site": SITE})
    columns = {"query": "q", "label": "y", "weight": "w", "document": "d"}
    found = Columns(**columns, categorical=["market", "site"]).read(frame)
    assert found.categories == {"market": ("de", "fr", "us", "zz"), "site": ("0", "1", "2", "3", "4")}
    assert np.array_equal(found.features[:, 1], SITE) and found.documents[0] == MARKET[0]
    assert np.allclose(found.queries.weight, PRICE)
    part = found.take([3, 4]).without_features(["site"])
    assert set(part.categories) == {"market"}
    encoder = Encoder(features=["market"], categories=part.categories)
    assert encoder.frame(part.features).market.tolist() == MARKET[60:100].tolist()
    other = Columns(**columns, categorical=["market"], features=["market"]).read(frame[60:62])
    with pytest.raises(ValueError, match="differ in"):
        type(part).concat([part, other])


def test_codes_know_values_by_their_text():
    table = open_table(pd.DataFrame({"c": pd.Series([7, 7.0, "7", None, "07"], dtype=object)}))
    codes = Encoder(features=["c"], categories={"c": ["07", 7]}).transform(table)
    assert np.array_equal(codes[:, 0], [1, 1, 1, np.nan, 0], equal_nan=True)
    codes = Encoder(features=["c"], categories={"c": [0.5, 7.0]}).transform(
        open_table(pd.DataFrame({"c": ["7.0", "7", "0.5"]}))
    )
    assert np.array_equal(codes[:, 0], [1, 1, 0])
    table = open_table(pd.DataFrame({"c": pd.Series(["b", None, 3.0, "inf"], dtype=object)}))
    assert Encoder.fit(Columns(categorical=["c"]), table).categories == {"c": ("3", "b", "inf")}

    frame = pa.table(
        {"c": pa.chunked_array([pa.array(["b"]).dictionary_encode(), pa.array(["a"]).dictionary_encode()])}
    )
    assert Encoder.fit(Columns(), open_table(frame)).categories == {"c": ("a", "b")}


@stores_values
@pytest.mark.parametrize("values", [(0.5, 7.0), (False, True), ("a", 3)])
def test_values_of_every_kind_are_categories(engine, values, tmp_path):
    """XGBoost itself takes texts and whole numbers, and no column without a value."""
    X = PANDAS.assign(
        market=pd.Categorical([values[at] for at in map(int, MARKET == "us")]),
        site=pd.Categorical([np.nan] * N),
    )
    fitted = ranker(engine).fit(X, GRADE, eval_set=[(X[:200], GRADE[:200])])
    scores = fitted.predict(X)
    save(fitted, tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").predict(X), scores) and np.ptp(scores) > 1
    if engine == "xgboost":
        assert fitted.apply(X).shape == (N, 5)
    why = explain(fitted, X, above=1, below=0)
    assert why.difference == pytest.approx(scores[1] - scores[0], abs=1e-6)


@stores_values
def test_a_model_of_the_engine_alone_knows_its_values(engine, tmp_path):
    """A booster of a stock training, without a description, scores a table whose categories have another order."""
    booster, expected = trained(engine, PANDAS.drop(columns="qid"), LambdaRank())
    booster.save_model(tmp_path / "model.json")
    model = load_plain(tmp_path / "model.json", Columns())
    PANDAS.to_csv(tmp_path / "rows.csv")
    for rows in (REORDERED, FRAMES["text"], tmp_path / "rows.csv"):
        np.testing.assert_allclose(model.predict(rows), expected, rtol=1e-6)
