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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.gain.two_label_sets import Labelled
from benchmarks.gain.two_label_sets import posts as labelled_posts
from benchmarks.gain.two_label_sets import talks as labelled_talks
from lambdaboost import Queries
from lambdaboost.datasets import read_letor

MOST_RATINGS = 40  # of a user, the latest ones
EARLIER = 3.0  # ratings that a mean of earlier ones is drawn towards the mean of all by


@dataclass(frozen=True, eq=False)
class Judged:
    """Features, a grade a row and the sizes of the queries."""

    features: NDArray[Any]
    grades: NDArray[np.float64]
    sizes: NDArray[np.int64]

    @property
    def queries(self) -> Queries:
        """The queries."""
        return Queries(self.grades, sizes=self.sizes)

    def part(self, queries: NDArray[np.bool_]) -> Judged:
        """Those of the queries that a mask keeps."""
        rows = np.repeat(queries, self.sizes)
        return Judged(self.features[rows], self.grades[rows], self.sizes[queries])

    def shuffled(self, rng: np.random.Generator) -> Judged:
        """The documents of each query in a random order."""
        query = np.repeat(np.arange(self.sizes.size), self.sizes)
        order = np.lexsort((rng.random(query.size), query))
        return Judged(self.features[order], self.grades[order], self.sizes)

    def at_most(self, queries: int) -> Judged:
        """So many queries at random, always the same ones, of those with two different grades."""
        starts = np.cumsum(self.sizes) - self.sizes
        differ = np.maximum.reduceat(self.grades, starts) > np.minimum.reduceat(self.grades, starts)
        rank = np.random.default_rng(0).permutation(self.sizes.size)
        among = np.flatnonzero(differ)
        kept = np.zeros(self.sizes.size, dtype=bool)
        kept[among[np.argsort(rank[among])[:queries]]] = True
        return self.part(kept)


def _letor(*files: Path) -> Judged:
    parts = [read_letor(file) for file in files]
    return Judged(
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.queries.relevance for part in parts]).astype(float),
        np.concatenate([part.queries.sizes for part in parts]),
    )


def clueweb09(folder: Path) -> Judged:
    """All five parts."""
    return _letor(*(folder / "clueweb09" / f"S{part}.txt.xz" for part in range(1, 6)))


def mq2008(folder: Path) -> Judged:
    """All five parts."""
    return _letor(*(folder / "mq2008" / f"S{part}.txt.xz" for part in range(1, 6)))


def mslr(folder: Path) -> Judged:
    """All parts; features of clicks stay."""
    names = ("train", "vali", "test", "test_extra")
    return _letor(*(folder / "mslr_web30k_sample" / f"{name}.txt.xz" for name in names))


def netflix(folder: Path) -> Judged:
    """Two columns of words as numbers."""
    frame = pd.read_csv(folder / "algolia_netflix" / "dataset.csv.xz")
    frame = frame.sort_values("normalized_query", kind="stable")
    for name in ("type", "age_certification"):
        frame[name] = frame[name].astype("category").cat.codes
    query = pd.factorize(frame["normalized_query"])[0]
    grades = np.minimum(np.ceil(np.log2(1 + frame["score"].to_numpy(float))), 4)
    features = frame.drop(columns=["normalized_query", "id", "score"])
    return Judged(features.to_numpy(np.float32), grades, np.bincount(query))


def lightgbm(folder: Path) -> Judged:
    """Training and test part; sparse features as a dense array."""
    parts = []
    for name in ("train", "test"):
        sizes = np.loadtxt(folder / "lightgbm_rank" / f"rank.{name}.query.xz", dtype=np.int64)
        with lzma.open(folder / "lightgbm_rank" / f"rank.{name}.xz", "rt") as file:
            rows = [line.split() for line in file]
        features = np.zeros((len(rows), 301), np.float32)
        for row, (_, *tokens) in enumerate(rows):
            for token in tokens:
                column, value = token.split(":")
                features[row, int(column)] = float(value)
        parts.append(Judged(features, np.array([float(tokens[0]) for tokens in rows]), sizes))
    return Judged(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("features", "grades", "sizes"))
    )


def _first_label(data: Labelled) -> Judged:
    return Judged(data.features, data.first, data.sizes)


def posts(folder: Path) -> Judged:
    """Days of Hacker News."""
    return _first_label(labelled_posts(folder))


def talks(folder: Path) -> Judged:
    """Events of TED."""
    return _first_label(labelled_talks(folder))


def ratings(folder: Path) -> Judged:
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
    return Judged(table[rows], frame["stars"].to_numpy(float)[rows] - 1, sizes)


SETS: dict[str, Callable[[Path], Judged]] = {
    read.__name__: read for read in (clueweb09, mq2008, mslr, netflix, lightgbm, posts, talks, ratings)
}
