"""LightGBM's data that are not in memory: Sequences, binary files, and text in two rounds."""

import lightgbm as lgb
import numpy as np
import pytest
from lightgbm_data import PARAMS, Q_VALID, X_VALID, Q, X

from lambdaboost import (
    NDCG,
    Blend,
    ClickTier,
    InversePropensity,
    LambdaRank,
    Propensities,
)
from lambdaboost.lightgbm import Dataset, cv, train

CLICKS = Q.labels["clicks"]
BY_CLICKS = Blend(LambdaRank(), ClickTier(), 0.5)
BY_POSITION = InversePropensity(LambdaRank(), Propensities.power(1, 200))
POSITION = np.concatenate([np.arange(size, 0, -1) for size in Q.sizes])
WEIGHT = np.linspace(0.5, 2, Q.n_queries)
MISSING = np.where(np.arange(len(X)) % 7, Q.relevance, np.nan)


class Batches(lgb.Sequence):
    """Rows of an array, as a file on disk would give them."""

    batch_size = 64

    def __init__(self, rows, change=lambda at, rows: rows):
        self.rows, self.change = rows, change

    def __getitem__(self, at):
        return self.change(at, self.rows[at])

    def __len__(self):
        return len(self.rows)


def one(X):
    return Batches(X)


def several(X):
    return [Batches(X[:100]), Batches(X[100:101]), Batches(X[101:])]


def narrow(X):
    return several(X.astype(np.float32))


def dataset(X=X, label=Q.relevance, **more):
    return Dataset(X, label, group=Q.sizes, **more)


def trees(booster):
    return booster.model_to_string().split("\nparameters:")[0]


CASES = {
    "plain": ({}, {}),
    "weights": ({"weight": WEIGHT}, {}),
    "sources": ({"sources": {"clicks": CLICKS}}, {"objective": BY_CLICKS}),
    "positions": ({"position": POSITION}, {"objective": BY_POSITION}),
    "missing labels": ({"label": MISSING}, {}),
    "gradient": ({}, {"leaves": "gradient"}),
    "native": ({}, {"objective": "lambdarank"}),
    "raw data kept": ({"free_raw_data": False}, {}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("read", [one, several, narrow])
def test_sequences_give_the_model_of_data_in_memory(read, case):
    more, arguments = CASES[case]
    params = {**PARAMS, "bin_construct_sample_cnt": 200}
    expected = train(params, dataset(**more), 3, **arguments)
    assert trees(train(params, dataset(read(X), **more), 3, **arguments)) == trees(expected)


def test_sequences_under_stock_training():
    params = {**PARAMS, "objective": LambdaRank()}
    stock = lgb.train(params, lgb.Dataset(one(X.astype(np.float64)), Q.relevance, group=Q.sizes), 3)
    assert (
        trees(stock) == trees(lgb.train(params, dataset(several(X)), 3)) == trees(train(PARAMS, dataset(), 3))
    )


@pytest.mark.parametrize("read", [one, several])
def test_validation_and_early_stopping(read):
    def trained(read):
        seen, data = {}, dataset(read(X))
        valid = data.create_valid(read(X_VALID), Q_VALID.relevance, group=Q_VALID.sizes)
        callbacks = [lgb.early_stopping(2, verbose=False), lgb.record_evaluation(seen)]
        booster = train(PARAMS, data, 30, valid_sets=[valid, data], feval=NDCG(3), callbacks=callbacks)
        return trees(booster), booster.best_iteration, seen

    found = trained(read)
    assert found == trained(np.asarray)
    assert found[1] < 30


def test_folds_and_subsets_of_sequences():
    more = {"sources": {"clicks": CLICKS}, "position": POSITION}
    objective = Blend(BY_POSITION, ClickTier(), 0.5)
    found, expected = (
        cv(PARAMS, dataset(X, **more), 2, objective=objective, nfold=3) for X in (several(X), X)
    )
    assert found == expected
    data = dataset(several(X), free_raw_data=False).construct()
    np.testing.assert_array_equal(
        data.subset([0, *range(1, Q.sizes[0])]).construct().get_data(), X[: Q.sizes[0]]
    )


def test_continued_models_score_sequences_in_batches():
    begun = train(PARAMS, dataset(), 2)

    def continued(X):
        data = dataset(X)
        return train(PARAMS, data, 2, init_model=begun, valid_sets=dataset(X, reference=data))

    assert trees(continued(narrow(X))) == trees(continued(X.astype(np.float32)))


@pytest.mark.parametrize("case", sorted(set(CASES) - {"raw data kept"}))
def test_binary_files_give_the_model_of_data_in_memory(tmp_path, case):
    more, arguments = CASES[case]
    path = str(tmp_path / "log.bin")
    lgb.Dataset(X, Q.relevance, group=Q.sizes, params={"verbose": -1}).save_binary(path)
    weights = {"weight": np.repeat(WEIGHT, Q.sizes)} if "weight" in more else {}
    expected = train(PARAMS, dataset(**more), 3, **arguments)
    assert trees(train(PARAMS, Dataset(path, **more | weights), 3, **arguments)) == trees(expected)


@pytest.mark.parametrize("case", sorted(set(CASES) - {"raw data kept", "weights"}))
def test_text_in_two_rounds_gives_the_model_of_data_in_memory(tmp_path, case):
    more, arguments = CASES[case]
    path = tmp_path / "log.csv"
    label = more.get("label", Q.relevance)
    np.savetxt(path, np.column_stack([label, X]), delimiter=",", fmt="%.17g")
    np.savetxt(f"{path}.query", Q.sizes, fmt="%d")
    np.savetxt(f"{path}.weight", np.full(len(X), 2))
    params = {"two_round": True, "precise_float_parser": True, "verbose": -1}
    beside = {name: values for name, values in more.items() if name != "label"}
    data = Dataset(path, params=params, **beside)
    valid = Dataset(path, reference=data, params=params, **beside)
    expected = train(PARAMS, dataset(**more, weight=np.full(len(X), 2)), 3, **arguments)
    assert trees(train(PARAMS, data, 3, valid_sets=valid, **arguments)) == trees(expected)


def cut(at, rows):
    return rows[..., 1:] if isinstance(at, slice) and at.start == 128 else rows


def short(at, rows):
    return rows[1:] if isinstance(at, slice) and at.start == 128 else rows


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (Batches(X, cut), ValueError, r"data\[128:192\] has shape \(64, 15\), expected \(64, 16\)"),
        (Batches(X, short), ValueError, r"data\[128:192\] has shape \(63, 16\), expected \(64, 16\)"),
        (
            [Batches(X[:9]), Batches(X[9:, :5])],
            ValueError,
            r"data\[1\]\[0\] has shape \(5,\), expected \(16,\)",
        ),
        (Batches(X.astype(str)), TypeError, r"data\[0\] is <U\d+: give numbers"),
        ([Batches(X[:0])], ValueError, "data has no rows"),
        (Batches(X[1:]), ValueError, r"group sums to 566, data has 565 rows"),
        ("gone.bin", ValueError, "data is 'gone.bin', where there is no file"),
    ],
)
def test_data_that_cannot_be_read(data, error, words):
    with pytest.raises(error, match=words):
        train(PARAMS, dataset(data), 1)


def test_binary_files_that_do_not_fit(tmp_path):
    path = str(tmp_path / "log.bin")
    dataset(params={"verbose": -1}).save_binary(path)
    with pytest.raises(lgb.basic.LightGBMError, match="parameter max_bin=255"):
        train({**PARAMS, "max_bin": 15}, Dataset(path), 1)
    with pytest.raises(ValueError, match=r"init_model with data from .*log\.bin': that file has bins"):
        train(PARAMS, Dataset(path), 1, init_model=train(PARAMS, dataset(), 1))
