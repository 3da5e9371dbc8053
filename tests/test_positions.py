"""Positions at which rows were shown: in `Queries`, in the data sets of both engines, in frames, folds and files."""

import pickle
from functools import partial

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import rankers
import xgboost as xgb

from lambdaboost import LambdaRank, Queries, Scorecard
from lambdaboost.datasets import Collection, web_search_log
from lambdaboost.objectives.objective import Needs, Objective

X, Q0 = web_search_log(queries=30, documents=12, features=16, seed=3)
N = Q0.n_documents
RANKS = np.concatenate([np.random.default_rng(size).permutation(size) + 1 for size in Q0.sizes]).astype(float)
RANKS[::7] = np.nan
CODES = np.nan_to_num(RANKS).astype(np.int32)
QID = Q0.query_of_row
PARAMS = {
    "lightgbm": {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 1, "deterministic": True},
    "xgboost": {"nthread": 1, "min_child_weight": 0},
}


class ByPosition(Objective, registered=False):
    """Pulls a row up by the inverse of its position: different positions train different models."""

    @property
    def needs(self):
        return Needs(positions=True)

    def lambdas(self, scores, q, iteration):
        lam = np.divide(1.0, q.position, where=q.position > 0, out=np.zeros(scores.size)) - scores
        return lam, np.ones(lam.size)


def dataset(engine, position=RANKS, X=X, **more):
    return rankers.stock(engine).dataset(X, Q0.relevance, group=Q0.sizes, position=position, **more)


BY_POSITION = ByPosition()


def train(engine, data, objective=BY_POSITION, **more):
    return rankers.stock(engine).train(PARAMS[engine], data, 4, objective=objective, **more)


def scores(engine, booster):
    return booster.predict(X) if engine == "lightgbm" else booster.predict(xgb.DMatrix(X))


def expected(engine):
    return scores(engine, train(engine, dataset(engine)))


TEXT = ["top", "side", None]
RANKS_GIVEN = [[2, 1, None], np.ma.masked_equal([2, 1, 0], 0), pd.Series([2, 1, np.nan], index=[5, 6, 7])]
TEXTS_GIVEN = [
    TEXT,
    pd.Series(TEXT, dtype="category"),
    pd.Categorical(TEXT),
    *(pl.Series(TEXT, dtype=kind) for kind in (None, pl.Categorical, pl.Enum(["top", "side"]))),
]


@pytest.mark.parametrize(
    ("given", "names"),
    [*((ranks, None) for ranks in RANKS_GIVEN), *((texts, ("side", "top")) for texts in TEXTS_GIVEN)],
)
def test_ranks_and_categories_of_any_type(given, names):
    """Categories are codes in sorted order."""
    q = Queries([1, 0, 0], sizes=[3], position=given)
    assert q.position.dtype == np.int32 and not q.position.flags.writeable
    assert q.position.tolist() == [2, 1, 0]
    assert q.position_names == names


@pytest.mark.parametrize(
    ("error", "message", "position"),
    [
        (ValueError, r"position\[1\] is 0: give the rank at which a row was shown, .* from 1,", [1, 0, 2]),
        (ValueError, r"position\[2\] is 1\.5: give the rank", [1, 2, 1.5]),
        (ValueError, r"position\[2\] is inf: give the rank", [1, 2, np.inf]),
        (ValueError, r"position\[0\] is 3000000000: give a rank of at most 1000000, or text", [3e9, 2, 1]),
        (ValueError, "position has 2 rows, relevance has 3", [1, 2]),
        (ValueError, r"position has shape \(3, 1\), expected one dimension", [[1], [2], [3]]),
        (ValueError, r"position\[1\] is 2: other rows have text; give ranks in all", ["top", 2, None]),
        (TypeError, "position is true or false: give the rank", [True, False, True]),
        (TypeError, "position must be numbers", pd.to_datetime(["2020-01-01"] * 3)),
    ],
)
def test_wrong_positions(error, message, position):
    with pytest.raises(error, match=message) as raised:
        Queries([1, 0, 0], sizes=[3], position=position)
    assert "\n" not in str(raised.value)
    with pytest.raises(error, match=message):
        Queries([1, 0, 0], sizes=[3]).with_positions(position)


def test_positions_are_kept_by_everything_that_keeps_labels():
    q = Queries(Q0.relevance, Q0.sizes, position=RANKS)
    assert "relevance, position" in repr(q)
    for copy in (pickle.loads(pickle.dumps(q)), q.take(np.arange(q.n_queries))):
        assert np.array_equal(copy.position, CODES)
    assert np.array_equal(q.take([4]).position, CODES[q.rows_of([4])])
    rows = q.shuffled_rows(1)
    assert np.array_equal(q.reordered(rows).position, CODES[rows])
    collection = Collection(X, q)
    assert "position" in repr(collection)
    assert np.array_equal(collection.shuffled(1).queries.position, CODES[rows])
    assert np.array_equal(q.with_source("clicks", np.zeros(N)).position, CODES)
    halves = [collection.take(np.arange(10)), collection.take(np.arange(10, 30))]
    assert np.array_equal(Collection.concat(halves).queries.position, CODES)
    assert Queries([1], sizes=[1]).position is None


def placed(position):
    return Queries([0] * 2, sizes=[2], position=position)


@pytest.mark.parametrize(
    ("parts", "codes", "names"),
    [
        # Of either kind where no row was shown.
        ((["top", "side"], [None, None]), [2, 1, 0, 0], ("side", "top")),
        (([None, None], ["top", "side"]), [0, 0, 2, 1], ("side", "top")),
        ((["b", "d"], ["a", None]), [2, 3, 1, 0], ("a", "b", "d")),
        (([2, 1], [None, 3]), [2, 1, 0, 3], None),
    ],
)
def test_parts_are_joined_by_the_names_of_their_positions(parts, codes, names):
    joined = Queries.concat([placed(position) for position in parts])
    assert joined.position.tolist() == codes and joined.position_names == names
    for other, words in (
        ([1, 2] if names else ["a", "b"], "position is a rank in one part and a name in another"),
        (None, r"part 2 has 'relevance', part 0 has 'position', 'relevance': give both the same"),
    ):
        with pytest.raises(ValueError, match=words):
            Queries.concat([placed(position) for position in (*parts, other)])


def test_positions_that_are_not_there(engine):
    with pytest.raises(ValueError, match=r"reads positions, .*give it by attach\(data, position=…\)"):
        train(engine, dataset(engine, position=None))
    with pytest.raises(
        ValueError, match="no positions here: give the rank of each row, from 1, as position="
    ):
        ByPosition().gradient(np.zeros(N), Q0)
    with pytest.raises(ValueError, match="reads positions, which the data set does not have"):
        train(engine, dataset(engine, position=None), Scorecard((LambdaRank(), ByPosition()), (1.0, 1.0)))


def test_lightgbms_own_field_is_not_read():
    """LightGBM numbers its positions anew, in the order in which they first occur: ranks are lost."""
    shown = np.where(CODES == 0, 99, CODES)
    data = lgb.Dataset(X, Q0.relevance, group=Q0.sizes, position=shown, free_raw_data=False)
    assert data.construct().get_field("position").max() < shown.max()
    with pytest.raises(ValueError, match=r"reads positions, .*give it by attach\(data, position=…\)"):
        train("lightgbm", data)


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_rankers_take_positions_from_a_column(engine, frame):
    names = [f"f{i}" for i in range(X.shape[1])]
    table = pd.DataFrame(X, columns=names).assign(qid=QID, rank=RANKS)
    table = table if frame == "pandas" else pl.from_pandas(table)
    least = {"lightgbm": {"min_child_samples": 1}, "xgboost": {"min_child_weight": 0}}[engine]
    make, y = partial(rankers.ranker, engine, n_estimators=4, **least), Q0.relevance
    by_column = make(objective=ByPosition(), position="rank").fit(table, y, eval_set=[(table, y)])
    without = table.drop(columns="rank") if frame == "pandas" else table.drop("rank")
    np.testing.assert_allclose(by_column.predict(without), expected(engine), rtol=1e-6)
    np.testing.assert_array_equal(by_column.predict(table), by_column.predict(without))
    assert by_column.get_params()["position"] == "rank"
    native = {"lightgbm": "rank_xendcg", "xgboost": "rank:ndcg"}[engine]
    with pytest.warns(UserWarning, match=f"position: '{native}' does not read positions"):
        make(objective=native, position="rank").fit(table, y)
    cuda = {"objective": "lambdarank", "position": "rank", "device_type": "cuda"}
    for given, rows, words in (
        ({"position": "rank"}, without, "position: X has no column 'rank': choose among"),
        ({"position": "qid"}, table, "query: column 'qid' is given twice"),
        ({"position": 3}, table, "position is 3: give the name of a column"),
        *[(cuda, table, "LightGBM's own 'lambdarank' does not read positions on")] * (engine == "lightgbm"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            make(**given).fit(rows, y)
