"""The sets, each in a folder of its name that holds the public files under their names.

========= ==================================================== =================================================
folder    files                                                from
========= ==================================================== =================================================
abstracts cran.all.1400, cran.qry, cranqrel                    Cranfield collection, ir.dcs.gla.ac.uk
cars      results, races, qualifying and drivers, each .csv    Ergast's database (ergast.com), CC BY-NC-SA
films     u.data, u.item                                       MovieLens 100K, grouplens.org, for research
horses    race-result-horse.csv, race-result-race.csv          Hong Kong Jockey Club, kaggle.com/lantanacamara
========= ==================================================== =================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.unseen.races import cars, horses
from benchmarks.unseen.ratings import films
from benchmarks.unseen.texts import abstracts
from lambdaboost.datasets import Collection, Columns, Queries

READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    read.__name__: read for read in (abstracts, cars, films, horses)
}
LEAST = 5  # documents of a query
MOST = 250  # queries that are seen


@dataclass(frozen=True, eq=False)
class Split:
    """What is seen, what is tested, and which queries of the set the latter are."""

    seen: Collection
    test: Collection
    queries: NDArray[np.int64]


@lru_cache(1)
def split_of(folder: Path, name: str, seed: int) -> Split:
    """A random split of a set, the documents of each query in random order."""
    whole = _read(folder, name).shuffled(seed)
    n = whole.queries.n_queries
    order = np.random.default_rng(seed).permutation(n)
    seen, tested = np.split(order, [min(MOST, 2 * n // 3)])
    return Split(whole.take(seen), whole.take(tested), tested)


@cache
def _read(folder: Path, name: str) -> Collection:
    if not (folder / name).is_dir():
        raise ValueError(
            f"{folder} has no folder {name}: put the files there that benchmarks/unseen/sets.py names"
        )
    table = READERS[name](folder / name)
    of_query = table.groupby("query")["grade"]
    kept = (of_query.transform("size") >= LEAST) & (of_query.transform("nunique") > 1)
    table = table[kept].sort_values("query", kind="stable").astype(np.float32)
    data = Columns("query", "grade").read(table.astype({"query": int}))
    # Without names of features, so that models read arrays.
    return replace(data, queries=Queries(data.queries.relevance, data.queries.sizes), feature_names=None)
