"""What a training holds of each document beside the engine."""

import gc
import tracemalloc
import weakref

import numpy as np
import on_lightgbm
import on_xgboost
import pytest

from lambdaboost import MAP, NDCG, GradientStep, LambdaRank, Queries

LENGTH, DOCUMENTS = 25, 400_000


def test_a_gradient_holds_16_bytes_of_each_document():
    rng = np.random.default_rng(0)
    scores, grades = rng.normal(size=DOCUMENTS), rng.integers(0, 5, DOCUMENTS)
    q = Queries(grades, sizes=np.full(DOCUMENTS // LENGTH, LENGTH))
    LambdaRank().gradient(scores[:LENGTH], q.take([0]))
    tracemalloc.start()
    try:
        result = LambdaRank().gradient(scores, q)
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert sum(one.nbytes for one in result) == 8 * DOCUMENTS
    assert held <= 16 * DOCUMENTS


@pytest.mark.parametrize("engine", [on_lightgbm, on_xgboost], ids=["lightgbm", "xgboost"])
@pytest.mark.parametrize("objective", [LambdaRank(), GradientStep(LambdaRank())], ids=repr)
def test_data_are_freed_with_their_last_name(engine, objective):
    X, y = np.random.default_rng(0).random((40, 2)), np.tile([0, 1, 2, 1], 10)
    gc.collect()
    gc.disable()  # which frees cycles, but late
    try:
        data, valid = (engine.dataset(X, y, group=[20, 20]) for _ in range(2))
        if engine is on_lightgbm:
            params = {"verbose": -1, "min_data_in_leaf": 1}
            engine.train(params, data, 2, objective=objective, valid_sets=[valid], feval=NDCG(3))
        else:
            engine.train({"min_child_weight": 0.5}, data, 2, objective=objective, evals=[(valid, "valid")])
        alive = weakref.ref(data), weakref.ref(valid)
        del data, valid
        assert [one() for one in alive] == [None, None]
    finally:
        gc.enable()


@pytest.mark.parametrize("metric", [NDCG(), NDCG(k=3), MAP()])
def test_parts_change_no_bit(metric, monkeypatch):
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 60, 50)
    scores, grades = rng.normal(size=sizes.sum()), rng.integers(0, 4, sizes.sum())
    expected = LambdaRank(metric).gradient(scores, Queries(grades, sizes=sizes))
    monkeypatch.setattr(Queries.chunks, "__defaults__", (70,))
    q = Queries(grades, sizes=sizes)
    assert [first for first, _, _ in q.chunks()][-1] > 20
    np.testing.assert_array_equal(LambdaRank(metric).gradient(scores, q), expected)


def test_a_label_that_no_gain_knows_is_named_by_its_row(monkeypatch):
    monkeypatch.setattr(Queries.chunks, "__defaults__", (2,))
    with pytest.raises(ValueError, match=r"relevance\[5\] is 3: gain lists 3 gains"):
        LambdaRank(NDCG(gain=(0, 1, 3))).gradient(np.zeros(6), Queries([0, 1, 0, 1, 0, 3], sizes=[2, 2, 2]))
