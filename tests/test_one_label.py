"""`benchmarks.gain.one_label`: each query is tested once, and means over sets are those of their definition."""

import numpy as np
import pytest

from benchmarks.gain import one_label
from benchmarks.gain.one_label_sets import at_most
from lambdaboost.datasets import Collection, Queries


def judged(queries=45, documents=20):
    rng = np.random.default_rng(0)
    grades = rng.integers(0, 3, queries * documents).astype(float)
    X = np.column_stack([grades + rng.normal(size=grades.size), rng.normal(size=grades.size)])
    return Collection(X, Queries(grades, sizes=[documents] * queries))


def test_every_query_is_tested_once_and_reported(monkeypatch):
    few = {
        "LightGBM": {name: {"objective": one_label.YetiLoss()} for name in ("lambdarank", "YetiLoss()")},
        "XGBoost": {name: {"objective": "rank:ndcg"} for name in ("rank:ndcg", "YetiLoss()")},
    }
    monkeypatch.setattr(one_label, "OBJECTIVES", few)
    data = at_most(judged(), 40)
    assert data.queries.n_queries == 40
    values = one_label.one_seed(data, 0)
    assert len(values) == 2 * 2 * 2 * 3
    for of_query in values.values():
        assert np.isfinite(of_query[0]).all()
    text = one_label.report({"made": [values]}, "about")
    assert "| `lambdarank` | +0.00" in text and "| made | 40 |" in text


def test_sets_count_alike():
    found = one_label.Difference([np.array([1.0, 3.0, np.nan]), np.array([0.0, 0.0, 2.0, -2.0])])
    assert found.means.tolist() == [2.0, 0.0]
    error = np.sqrt(1.0**2 + np.var([0, 0, 2, -2], ddof=1) / 4) / 2
    whole, t, above, _ = found.cells
    assert whole == f"+1.00 ({1 - 1.96 * error:+.2f} to {1 + 1.96 * error:+.2f})"
    assert (t, above) == (f"{1 / error:.1f}", "1 of 2")
    assert found.errors == pytest.approx([1.0, np.sqrt(8 / 3) / 2])
