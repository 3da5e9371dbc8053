"""The sets, each in a folder of its name that holds the public files under their names.

========= ==================================================== =================================================
folder    files                                                from
========= ==================================================== =================================================
abstracts cran.all.1400, cran.qry, cranqrel                    Cranfield collection, ir.dcs.gla.ac.uk
cars      results, races, qualifying and drivers, each .csv    Ergast's database (ergast.com), CC BY-NC-SA
films     u.data, u.item                                       MovieLens 100K, grouplens.org, for research
horses    race-result-horse.csv, race-result-race.csv          Hong Kong Jockey Club, kaggle.com/lantanacamara
jokes     jester_ratings.csv, jester_items.csv                 Jester, eigentaste.berkeley.edu, 906 users
========= ==================================================== =================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.unseen.races import cars, horses
from benchmarks.unseen.ratings import films, jokes
from benchmarks.unseen.texts import abstracts
from experiments.common.data import has_any
from lambdaboost import Queries
from lambdaboost.datasets import Collection, web_search_log

READERS: dict[str, Callable[[Path], Collection]] = {
    read.__name__: read for read in (abstracts, cars, films, horses, jokes)
}
LOG = "log of 1,000"
MOST = 500  # queries that are seen
TEST = 2000
NEW = 100  # of the first seed of logs, others than those that the portfolio was chosen by


@dataclass(frozen=True, eq=False)
class Split:
    """What is seen, what is tested, and which queries of the set the latter are."""

    seen: Collection
    test: Collection
    queries: NDArray[np.int64]


@lru_cache(1)
def split_of(folder: Path, name: str, seed: int) -> Split:
    """A random split of a set, the documents of each query in random order."""
    if name == LOG:
        return _log(seed)
    whole = _read(folder, name).shuffled(seed)
    n = whole.queries.n_queries
    order = np.random.default_rng(seed).permutation(n)
    seen, tested = np.split(order, [min(MOST, 2 * n // 3)])
    return Split(whole.take(seen), whole.take(tested), tested)


def _log(seed: int) -> Split:
    log = web_search_log(1000 + TEST, 20, seed=1000 + NEW + seed)
    bare = Collection(log.features, Queries(log.queries.relevance, log.queries.sizes))
    cuts = (0, 750, 1000, 1000 + TEST)
    train, valid, test = (
        _graded(bare.take(np.arange(low, high)).shuffled(NEW + seed)) for low, high in pairwise(cuts)
    )
    n = test.queries.n_queries
    return Split(Collection.concat([train, valid]), test, seed * n + np.arange(n))


def _graded(part: Collection) -> Collection:
    """The queries with a relevant document."""
    return part.take(np.flatnonzero(has_any(part.queries.relevance, part.queries)))


@cache
def _read(folder: Path, name: str) -> Collection:
    if not (folder / name).is_dir():
        raise ValueError(
            f"{folder} has no folder {name}: put the files there that benchmarks/unseen/sets.py names"
        )
    return READERS[name](folder / name)
