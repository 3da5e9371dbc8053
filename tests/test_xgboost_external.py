"""XGBoost's iterators of batches, in memory and on disk: the model of the same data in one piece, clear errors."""

import os
import signal
import threading
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xgboost as xgb
from batches import COLUMNS, MATRICES, QID, RANK, Batches, Q, X, in_batches, parts, taken

from lambdaboost import (
    CNDCG,
    NDCG,
    Blend,
    ClickTier,
    InversePropensity,
    LambdaRank,
    Linear,
    Propensities,
    graded,
)
from lambdaboost.calls.data import queries_of
from lambdaboost.xgboost import DMatrix, ExtMemQuantileDMatrix, QuantileDMatrix, cv, train
from lambdaboost.xgboost.interrupts import Interrupts

PARAMS = {"nthread": 1, "max_depth": 3, "min_child_weight": 0}
KIND = pytest.mark.parametrize("kind", MATRICES)
ON_DISK = pytest.mark.parametrize("kind", [kind for kind in MATRICES if kind != "QuantileDMatrix"])
ALL = len(X)


def whole(**columns):
    return QuantileDMatrix(**COLUMNS | columns)


def trees(data, rounds=3, **more):
    booster = train(PARAMS, data, rounds, verbose_eval=False, **more)
    return booster.get_dump(with_stats=True), booster.predict(xgb.DMatrix(X)).tobytes()


@KIND
def test_a_matrix_of_batches_carries_what_one_of_arrays_does(kind, tmp_path):
    """Queries that run over batches are whole, also one over three."""
    data, expected = in_batches(kind, tmp_path), queries_of(whole())
    q = queries_of(data)
    assert list(q.labels) == ["relevance", "clicks"]
    for name in q.labels:
        np.testing.assert_array_equal(q.labels[name], expected.labels[name])
    for part in ("offsets", "weight", "position"):
        np.testing.assert_array_equal(getattr(q, part), getattr(expected, part))
    assert data.get_weight().size == Q.n_queries
    fine = in_batches(kind, tmp_path, parts(cuts=(0, 2, 5, 7, ALL)))
    np.testing.assert_array_equal(queries_of(fine).offsets, expected.offsets)


TRAININGS = {
    "gradient": {"objective": graded(0.2), "leaves": "gradient"},
    "schedule": {"objective": Blend(LambdaRank(), ClickTier(), Linear(0.1, 0.2))},
    "positions": {"objective": InversePropensity(LambdaRank(), Propensities.power(1, 200))},
    "text": {"objective": "ListNet()"},
}


@KIND
@pytest.mark.parametrize("name", TRAININGS)
def test_models_are_those_of_the_whole(kind, name, tmp_path):
    given = TRAININGS[name]
    positions = {"position": RANK if name == "positions" else None}
    data = in_batches(kind, tmp_path, parts(COLUMNS | positions))
    assert trees(data, **given) == trees(whole(**positions), **given)


@KIND
@pytest.mark.parametrize("name", ["rank:ndcg"])
def test_native_objectives_are_those_of_the_whole(kind, name, tmp_path):
    columns = {"label": Q.relevance, "position": None} | ({} if name == "rank:ndcg" else {"weight": None})
    data = in_batches(kind, tmp_path, parts(COLUMNS | columns))
    assert trees(data, objective=name) == trees(whole(**columns), objective=name)


@KIND
def test_early_stopping_by_a_measure_of_clicks(kind, tmp_path):
    columns = COLUMNS | {"position": None}
    noise = columns | {"sources": {"clicks": np.random.default_rng(0).random(ALL)}}
    data, expected = in_batches(kind, tmp_path, parts(columns)), whole(**columns)
    ref = {} if kind == "DMatrix" else {"ref": data}
    valid = in_batches(kind, tmp_path, parts(noise), **ref)
    histories = stopped(data, valid), stopped(expected, whole(**noise, ref=expected))
    assert histories[0] == histories[1] and len(histories[0]["valid"]["pre-mrr(k=5)"]) < 20


def stopped(data, valid):
    history = {}
    train(
        PARAMS,
        data,
        20,
        objective=graded(0.2),
        evals=[(data, "train"), (valid, "valid")],
        custom_metric=[CNDCG(3), "mrr@5"],
        early_stopping_rounds=2,
        evals_result=history,
        verbose_eval=False,
    )
    return history


@KIND
def test_a_training_continues(kind, tmp_path):
    data = in_batches(kind, tmp_path, parts(COLUMNS | {"position": None}))
    expected = trees(data, 4)
    begun = train(PARAMS, data, 2, verbose_eval=False)
    assert trees(data, 2, xgb_model=begun)[1] == expected[1]


@KIND
def test_the_stock_train_takes_both(kind, tmp_path):
    """A matrix of lambdaboost, and XGBoost's with the clicks as a bound."""
    columns = COLUMNS | {"label": Q.relevance, "weight": None, "position": None}
    ours = in_batches(kind, tmp_path, parts(columns))
    bound = {"sources": None, "label_lower_bound": Q.labels["clicks"]}
    folder = None if kind == "QuantileDMatrix" else tmp_path
    stock = getattr(xgb, kind)(Batches(parts(columns | bound, Q.offsets[[0, 20, 40, 60]]), folder))
    params = PARAMS | {"objective": "rank:ndcg", "base_score": 0, "disable_default_eval_metric": True}
    models = [
        xgb.train(
            params, data, 3, obj=graded(0.2), evals=[(data, "d")], custom_metric=NDCG(3), verbose_eval=False
        )
        for data in (ours, stock)
    ]
    assert models[0].get_dump() == models[1].get_dump()
    assert trees(ours, objective=graded(0.2)) == trees(stock, objective=graded(0.2))


@KIND
def test_what_batches_may_be(kind, tmp_path):
    """Frames, sizes of queries, names of categories that differ from batch to batch, and batches without rows."""
    place = np.where(RANK > 10, None, np.where(QID < 30, "top", np.where(RANK > 5, "below", "left")))
    frame = pd.DataFrame(X).rename(columns=str)
    columns = {"label": Q.relevance, "position": place.astype(object)}
    cuts = Q.offsets[[0, 20, 20, 40, 60]]
    given = [
        taken(COLUMNS | columns | {"qid": None, "weight": None}, slice(start, end))
        | {
            "data": frame.iloc[start:end],
            "group": Q.sizes[(Q.offsets[:-1] >= start) & (Q.offsets[1:] <= end)],
        }
        for start, end in pairwise(cuts)
    ]
    data = in_batches(kind, tmp_path, given)
    q = queries_of(data)
    assert q.position_names == ("below", "left", "top")
    np.testing.assert_array_equal(q.position, queries_of(whole(**columns)).position)
    np.testing.assert_array_equal(q.offsets, Q.offsets)
    assert data.feature_names == list(frame) and data.num_row() == ALL


@pytest.mark.parametrize("table", [pl.DataFrame, pa.table])
def test_equal_categories_have_equal_codes_in_all_batches(table):
    """XGBoost takes the codes of the batch, which both libraries count by first appearance."""
    parts = ["us", "de", "fr"], ["fr", "us", "de", "de"]
    frames = [table({"c": pa.array(part).dictionary_encode(), "x": np.arange(len(part))}) for part in parts]
    given = [{"data": X, "label": np.arange(len(X)), "group": [len(X)]} for X in frames]
    data = in_batches("QuantileDMatrix", None, given, enable_categorical=True)
    np.testing.assert_array_equal(data.get_data().toarray()[:, 0], [2, 0, 1, 1, 2, 0, 0])


def changed(at, **columns):
    """The batches, of which one has other columns."""
    given = parts()
    given[at] = {name: of for name, of in (given[at] | columns).items() if of is not None}
    return given


ODD = QID.copy()
ODD[-3:] = 2
FRAME = pd.DataFrame(X[:300]).rename(columns=str).astype({"3": "category"})
CATEGORIES = [FRAME.assign(**{"3": pd.Categorical([value] * 300)}) for value in "ab"]
BAD = {
    "columns": (changed(2, data=X[310:700, :3]), "batch 2 has 3 columns where batch 0 has 16 columns"),
    "fields": (
        changed(2, weight=None),
        "batch 2 has no weight, but batch 0 has: give it in all batches or in none",
    ),
    "a source": (changed(1, sources={}), "batch 1 has no source 'clicks', but batch 0 has"),
    "names": (
        [{"data": pd.DataFrame(X[:9, :8], columns=[*"abcdefg", name]), "label": QID[:9]} for name in "hi"],
        "batch 1 has column 'i' where batch 0 has column 'h': give the same columns in all batches",
    ),
    "categories": (
        [{"data": data, "label": QID[:300]} for data in CATEGORIES],
        "batch 1 has column '3' of b where batch 0 has column '3' of a: give the same",
    ),
    "dates": (changed(1, data=X[300:310].astype("M8[D]")), r"batch 1: data is datetime64.* convert dates"),
    "a label": (changed(1, label=np.full(10, np.inf)), r"batch 1: label\[0\] is inf: labels must be"),
    "a length": (changed(1, position=RANK[:4]), "batch 1: position has 4 rows, data has 10: give one"),
    "a missing query": (changed(1, qid=[None] * 10), "batch 1: qid is missing in row 0: give the query of"),
    "positions": (changed(1, position=["top"] * 10), "position is a rank in one part and a name in another"),
    "a query in two places": (
        parts(COLUMNS | {"qid": ODD}),
        "qid has query 2 in two places, batch 0 and batch 3: sort the rows by query",
    ),
    "weights of a query": (
        parts(COLUMNS | {"weight": None}, (0, 3, ALL))[:1] + parts(COLUMNS, (3, ALL)),
        "batch 0 has no weight, but batch 1 has: give it in all batches or in none",
    ),
    "two weights of a query": (
        [
            part | {"weight": np.ones(len(part["qid"])) + at}
            for at, part in enumerate(parts(cuts=(0, 3, ALL)))
        ],
        "weight of query 0 is 1.0 in batch 0 and 2.0 in batch 1: give its one weight in both",
    ),
    "no rows": ([{"data": X[:0], "label": []}], "the iterator has no batch with rows: begin anew in reset"),
}


@KIND
@pytest.mark.parametrize("case", BAD)
def test_bad_batches_are_named_and_leave_no_cache(kind, case, tmp_path):
    given, words = BAD[case]
    error = TypeError if case == "dates" else ValueError
    with pytest.raises(error, match=words):
        in_batches(kind, tmp_path, given, enable_categorical=True)
    assert list(tmp_path.iterdir()) == []


LATER = {
    "rows": (
        lambda given: given[1] | taken(given[1], slice(0, 9)),
        "batch 1 has 9 rows, and had 10 in the first",
    ),
    "labels": (
        lambda given: given[1] | {"label": np.ones(10)},
        "batch 1 has other labels, queries or weights",
    ),
}


@pytest.mark.parametrize("case", LATER)
@pytest.mark.parametrize("kind", [kind for kind in MATRICES if kind != "DMatrix"])
def test_batches_that_change_between_passes_are_refused(kind, case, tmp_path):
    """DMatrix makes one pass."""
    change, words = LATER[case]
    given = parts()
    later = [given[0], change(given), *given[2:]]

    def called(number):
        if number == len(given) + 1:  # the first of the second pass
            batches.left = later

    batches = Batches(given, None if kind == "QuantileDMatrix" else tmp_path, called)
    with pytest.raises(ValueError, match=f"{words}.*every pass after reset"):
        MATRICES[kind](batches)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("more", "words"), [(-1, "ends after 3 batches, and after 4"), (1, "more batches than the 4")]
)
def test_passes_of_other_lengths_are_refused(more, words):
    given = parts()

    def called(number):
        if number == len(given) + 1:
            batches.left = given[:more] if more < 0 else [*given, given[-1]]

    batches = Batches(given, called=called)
    with pytest.raises(ValueError, match=f"the iterator .*{words}"):
        QuantileDMatrix(batches)


def test_iterators_that_break_the_protocol_are_named():
    class Silent(Batches):
        def next(self, input_data):
            return True

    class Twice(Batches):
        def next(self, input_data):
            return any(input_data(**part) for part in self.parts)

    class Bare(Batches):
        def __init__(self):
            pass

        def __del__(self):  # XGBoost's needs what its __init__ makes
            pass

    with pytest.raises(
        ValueError, match="next of Silent returned True after 0 calls of input_data: call it once"
    ):
        QuantileDMatrix(Silent(parts()))
    with pytest.raises(ValueError, match="next of Twice returned False after 4 calls"):
        QuantileDMatrix(Twice(parts()))
    with pytest.raises(TypeError, match=r"Bare.__init__ does not call super\(\).__init__\(cache_prefix="):
        QuantileDMatrix(Bare())


@KIND
def test_errors_of_the_iterator_itself_are_raised(kind, tmp_path):
    def called(number):
        if number == 2:
            raise OSError("the network is gone")

    with pytest.raises(OSError, match="the network is gone"):
        in_batches(kind, tmp_path, called=called)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["label", "qid", "weight", "sources", "position", "feature_names"])
def test_fields_beside_an_iterator_are_refused(name, tmp_path):
    """Stock DMatrix ignores them."""
    with pytest.raises(
        ValueError, match=rf"^{name} is given beside an iterator: .*input_data\(…, {name}=…\)"
    ):
        in_batches("DMatrix", tmp_path, **{name: {"clicks": QID} if name == "sources" else list(QID)})


def test_arrays_and_folders_that_do_not_fit(tmp_path):
    if "ExtMemQuantileDMatrix" in MATRICES:
        with pytest.raises(
            TypeError, match=r"data is ndarray, expected an xgboost.DataIter: give arrays to Quantile"
        ):
            ExtMemQuantileDMatrix(X)
    else:
        with pytest.raises(
            NotImplementedError, match=r"needs xgboost ≥ 3\.0, here is .*: upgrade, or use DMatrix"
        ):
            ExtMemQuantileDMatrix(X)
    with pytest.raises(
        ValueError, match=r"^cache_prefix .*gone/cache: folder .*gone does not exist; create it"
    ):
        DMatrix(Batches(parts(), tmp_path / "gone"))
    with pytest.raises(ValueError, match="remove the cache_prefix"):
        QuantileDMatrix(Batches(parts(), tmp_path))


@KIND
def test_folds_of_bins_and_external_memory_are_refused(kind, tmp_path):
    data = in_batches(kind, tmp_path, parts(COLUMNS | {"position": None}))
    with pytest.raises(ValueError, match=r"^data are bins or in external memory, which XGBoost cannot slice"):
        cv(PARAMS, data, 1, nfold=2)
    with pytest.raises(ValueError, match=r"^data are bins or in external memory"):
        data.slice(np.arange(Q.offsets[1]))


@ON_DISK
def test_the_cache_goes_with_the_matrix_and_is_of_this_process(kind, tmp_path):
    data = in_batches(kind, tmp_path, parts(COLUMNS | {"position": None}))
    train(PARAMS, data, 1, verbose_eval=False)
    files = list(tmp_path.iterdir())
    assert files and all(file.name.startswith(f"cache-{os.getpid()}-") for file in files)
    del data
    assert list(tmp_path.iterdir()) == []


# Ctrl-C.


@KIND
@pytest.mark.parametrize("number", [0, 2, 7])
def test_ctrl_c_while_a_batch_is_read(kind, number, tmp_path):
    def called(at):
        if at == number:
            os.kill(os.getpid(), signal.SIGINT)

    if kind == "DMatrix" and number == 7:
        number = 4  # the end of its only pass
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        in_batches(kind, tmp_path, called=called)
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(signal.SIGINT) is handler


def test_ctrl_c_between_two_batches_is_kept_until_the_next():
    interrupts, seen = Interrupts(), []
    with pytest.raises(KeyboardInterrupt), interrupts.held():
        signal.raise_signal(signal.SIGINT)
        seen.append("kept")
        with interrupts.handled():
            seen.append("never")
    assert seen == ["kept"]
    with pytest.raises(KeyboardInterrupt), interrupts.held():
        signal.raise_signal(signal.SIGINT)
        seen.append("kept")
    assert seen == ["kept", "kept"]


def test_a_matrix_is_made_in_any_thread_and_with_ctrl_c_ignored(tmp_path):
    made = []
    thread = threading.Thread(target=lambda: made.append(in_batches("QuantileDMatrix", tmp_path).num_row()))
    thread.start()
    thread.join()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        data = in_batches("QuantileDMatrix", tmp_path, called=lambda _: os.kill(os.getpid(), signal.SIGINT))
    finally:
        signal.signal(signal.SIGINT, before)
    assert made == [data.num_row()] == [ALL]
