"""The data sets of `benchmarks.gain.one_label`, listed before the first run.

============ ======================================================= ==================================================
name         queries, grades                                         from
============ ======================================================= ==================================================
clueweb09    TREC Web track topics; judged 0 to 4                    ``clueweb09/S1…S5``, webis, CC BY-SA 4.0
mq2008       Million Query topics; judged 0 to 2                     LETOR 4.0, ``mq2008/S1…S5``
mslr         web searches; judged 0 to 4                             a sample of MSLR-WEB30K, ``mslr_web30k_sample``
netflix      searches for films; ⌈log2(1 + points)⌉, at most 4        ``algolia_netflix/dataset.csv.xz``, MIT
lightgbm     web searches; judged 0 to 4                             LightGBM's ``examples/lambdarank``
posts        Hacker News posts of a day; quantiles of points         ``posts/hacker_news.csv``
talks        TED talks of an event; quantiles of views               ``talks/ted_main.csv``
ratings      films that a user rated; stars, 0 to 4                  MovieLens 100k, ``ratings/u.data``
============ ======================================================= ==================================================

The last three stand in public repositories on GitHub: ``hacker_news.csv`` in ``mdfrahim1/Hacker-News-Posts``,
``ted_main.csv`` in ``architmehta19/ted-talk``, ``u.data`` in ``DmitriyLeybel/SVD_Movie_Ratings``; each goes to the
folder that the table names. None is part of this repository.

Queries without two different grades are left out. Features of posts, talks and ratings read what was there earlier.
"""

from __future__ import annotations

import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_svmlight_file

from benchmarks.gain.two_label_sets import Labelled
from benchmarks.gain.two_label_sets import posts as labelled_posts
from benchmarks.gain.two_label_sets import talks as labelled_talks
from lambdaboost import Queries
from lambdaboost.datasets import Collection, read_letor

MOST_RATINGS = 40  # of a user, the latest ones
EARLIER = 3.0  # ratings that a mean of earlier ones is drawn towards the mean of all by


def at_most(data: Collection, queries: int) -> Collection:
    """So many queries at random, always the same ones, of those with two different grades."""
    grades, starts = data.queries.relevance, data.queries.offsets[:-1]
    differ = np.maximum.reduceat(grades, starts) > np.minimum.reduceat(grades, starts)
    order = np.argsort(np.random.default_rng(0).permutation(differ.size))
    return data.take(np.sort(order[differ[order]][:queries]))


def clueweb09(folder: Path) -> Collection:
    """All five parts."""
    return Collection.concat([read_letor(folder / "clueweb09" / f"S{part}.txt.xz") for part in range(1, 6)])


def mq2008(folder: Path) -> Collection:
    """All five parts."""
    return Collection.concat([read_letor(folder / "mq2008" / f"S{part}.txt.xz") for part in range(1, 6)])


def mslr(folder: Path) -> Collection:
    """All parts; features of clicks stay."""
    names = ("train", "vali", "test", "test_extra")
    return Collection.concat([read_letor(folder / "mslr_web30k_sample" / f"{name}.txt.xz") for name in names])


def netflix(folder: Path) -> Collection:
    """Two columns of words as numbers."""
    frame = pd.read_csv(folder / "algolia_netflix" / "dataset.csv.xz")
    frame = frame.sort_values("normalized_query", kind="stable")
    for name in ("type", "age_certification"):
        frame[name] = frame[name].astype("category").cat.codes
    query = pd.factorize(frame["normalized_query"])[0]
    grades = np.minimum(np.ceil(np.log2(1 + frame["score"].to_numpy(float))), 4)
    features = frame.drop(columns=["normalized_query", "id", "score"])
    return Collection(features.to_numpy(np.float32), Queries(grades, sizes=np.bincount(query)))


def lightgbm(folder: Path) -> Collection:
    """Training and test part; sparse features as a dense array."""
    parts = []
    for name in ("train", "test"):
        sizes = np.loadtxt(folder / "lightgbm_rank" / f"rank.{name}.query.xz", dtype=np.int64)
        with lzma.open(folder / "lightgbm_rank" / f"rank.{name}.xz") as file:
            features, grades = load_svmlight_file(file, n_features=301, dtype=np.float32, zero_based=True)
        parts.append(Collection(features.toarray(), Queries(grades, sizes=sizes)))
    return Collection.concat(parts)


def posts(folder: Path) -> Collection:
    """Days of Hacker News."""
    return _by_first_label(labelled_posts(folder))


def talks(folder: Path) -> Collection:
    """Events of TED."""
    return _by_first_label(labelled_talks(folder))


def _by_first_label(data: Labelled) -> Collection:
    return Collection(data.features, Queries(data.first, sizes=data.sizes))


def ratings(folder: Path) -> Collection:
    """The latest ratings of each user, by what was known of the film before."""
    names = ["user", "film", "stars", "time"]
    frame = pd.read_csv(folder / "ratings" / "u.data", sep=r"\s+", names=names)
    frame = frame.sort_values(["time", "user", "film"], kind="stable", ignore_index=True)
    of_film, mean = frame.groupby("film"), frame["stars"].mean()
    n = of_film.cumcount()
    features: dict[str, Any] = {"film": frame["film"], "earlier ratings": n}
    for name, values in {
        "mean": frame["stars"],
        "fives": frame["stars"] == 5,
        "ones": frame["stars"] <= 2,
    }.items():
        values = values.astype(float)
        before = values.groupby(frame["film"]).cumsum() - values
        features[f"earlier {name}"] = (before + EARLIER * values.mean()) / (n + EARLIER)
    features["since the first"] = frame["time"] - of_film["time"].transform("first")
    features["since the last"] = of_film["time"].diff().fillna(-1)
    features["earlier of the user"] = frame.groupby("user").cumcount()
    before = frame.groupby("user")["stars"].cumsum() - frame["stars"]
    features["earlier mean of the user"] = (before + mean) / (features["earlier of the user"] + 1)
    latest = frame.groupby("user").cumcount(ascending=False) < MOST_RATINGS
    rows = np.flatnonzero(latest)[np.argsort(frame["user"][latest], kind="stable")]
    sizes = np.unique(frame["user"].to_numpy()[rows], return_counts=True)[1]
    table = pd.DataFrame(features).to_numpy(np.float32)
    return Collection(table[rows], Queries(frame["stars"].to_numpy(float)[rows] - 1, sizes=sizes))


SETS: dict[str, Callable[[Path], Collection]] = {
    read.__name__: read for read in (clueweb09, mq2008, mslr, netflix, lightgbm, posts, talks, ratings)
}
