"""Made-up web search data with two click settings, in place of the paper's two."""

from __future__ import annotations

import numpy as np

from lambdaboost.datasets import Collection, Queries, web_search_log
from lambdaboost.reproduce.clicks import Clicks
from lambdaboost.reproduce.data import Data, Fold

MODELS = ("cascade", "position")
# Of all queries; the test part is large since it is what tells small differences from chance.
TRAIN, VALID = 0.4, 0.2


def synthetic(queries: int, documents: int, seed: int = 0) -> Data:
    """One search log whose users click by the cascade model in one setting and by position in the other."""
    if queries < 5:
        raise ValueError(f"--queries is {queries}: give at least 5, which are parted into training and tests")
    logs = [web_search_log(queries, documents, seed=seed, click_model=model) for model in MODELS]
    first = logs[0].queries
    # Pages and grades are drawn before any click, so the logs differ in clicks (and in noise columns) alone.
    assert all(np.array_equal(log.queries.relevance, first.relevance) for log in logs)
    clicks = {model: log.queries.labels["clicks"] for model, log in zip(MODELS, logs, strict=True)}
    whole = Collection(
        logs[0].features, Queries(first.relevance, first.sizes, **clicks), None, logs[0].feature_names
    )
    cuts = [0, max(1, round(TRAIN * queries)), round((TRAIN + VALID) * queries), queries]
    names = ("train", "vali", "test")
    parts = {
        name: whole.take(np.arange(a, b)).shuffled(seed)
        for name, a, b in zip(names, cuts, cuts[1:], strict=False)
    }
    fold = Fold("the one fold", ("train",), ("vali",), ("test",))
    settings = tuple(Clicks(model, None) for model in MODELS)
    made = f"lambdaboost.datasets.web_search_log({queries}, {documents}, seed={seed})"
    origin = f"{made}, clicks by {' and '.join(MODELS)}"
    return Data("synthetic", parts, (fold,), settings, origin)
