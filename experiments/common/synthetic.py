"""A synthetic search log with two click settings, like the 2011 paper's two."""

from __future__ import annotations

from experiments.common.clicks import Clicks
from experiments.common.data import Data, one_fold
from lambdaboost import Queries
from lambdaboost.datasets import Collection, web_search_log

# The click model of each label source; "position" is no name of a source.
MODELS = {"cascade": "cascade", "position_based": "position"}
# Shares of all queries; a large test part detects small differences.
SHARES = (0.4, 0.2, 0.4)


def synthetic(queries: int, documents: int, seed: int = 0) -> Data:
    """A search log with clicks by the cascade model in one setting and the position-based model in the other."""
    # Pages and grades are drawn before clicks, so the logs differ only in clicks (and noise columns).
    logs = [web_search_log(queries, documents, seed=seed, click_model=model) for model in MODELS.values()]
    clicks = {name: log.queries.labels["clicks"] for name, log in zip(MODELS, logs, strict=True)}
    first = logs[0].queries
    whole = Collection(
        logs[0].features, Queries(first.relevance, first.sizes, **clicks), None, logs[0].feature_names
    )
    made = f"lambdaboost.datasets.web_search_log({queries}, {documents}, seed={seed})"
    settings = tuple(Clicks(name, None) for name in MODELS)
    return one_fold(whole, SHARES, seed, f"{made}, clicks by {' and '.join(MODELS)}", settings)
