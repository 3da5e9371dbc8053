"""The data sets of `benchmarks.gain.two_labels`: two labels a row, features that hold neither.

Listed before the first run:

=========== =================================================== =====================================================
name        first label; second label                           from
=========== =================================================== =====================================================
log         judged grades; click-through rates                  `web_search_log`, position-based clicks, 600 queries
mslr        judged grades; clicks of the URL, log and per query a sample of MSLR-WEB30K, ``mslr_web30k_sample``
mq2008      judged grades; PageRank                             LETOR 4.0, ``mq2008``
titles      points of a search; IMDb score                      ``examples/data/netflix.csv.xz``
posts       points; comments, queries are days                  Hacker News posts, ``posts/hacker_news.csv``
talks       views; comments, queries are events                 TED talks, ``talks/ted_main.csv``
=========== =================================================== =====================================================

Nested labels, of which every first is a second, are a set of their own, added later and not among the defaults:
``bookings`` are drawn among the clicks that are drawn on the synthetic log.

Counts become five grades by their quantiles (0.5, 0.75, 0.9, 0.97) or, as second label, the share of rows at or below.
Every feature that is the second label, or is computed from the same counts, is removed. Histories of authors and sites
read strictly earlier posts. Queries have at least five rows (titles: two) and differ in the first label.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lambdaboost import Queries
from lambdaboost.datasets import Collection, click_rate, read_letor, web_search_log

TITLES = Path(__file__).parents[2] / "examples" / "data" / "netflix.csv.xz"
QUANTILES = (0.5, 0.75, 0.9, 0.97)  # of counts, between grades 0 to 4
EARLIER = 3  # posts that a mean of earlier ones is drawn towards the mean of all by


@dataclass(frozen=True, eq=False)
class Labelled:
    """Features, two labels and the sizes of the queries; a first label of NaN is unknown.

    The first label is a grade from 0, the second is in [0, 1]; `gain` is that of NDCG for the first.
    """

    features: NDArray[Any]
    first: NDArray[np.float64]
    second: NDArray[np.float64]
    sizes: NDArray[np.int64]
    gain: str = "exponential"

    @property
    def queries(self) -> Queries:
        """The queries, with label source ``second``."""
        return Queries(np.nan_to_num(self.first), sizes=self.sizes, second=self.second)

    def part(self, queries: NDArray[np.bool_]) -> Labelled:
        """Those of the queries that a mask keeps."""
        rows = np.repeat(queries, self.sizes)
        return Labelled(
            self.features[rows], self.first[rows], self.second[rows], self.sizes[queries], self.gain
        )


def log(folder: Path) -> Labelled:
    """A synthetic search log."""
    X, q = web_search_log(600, 25, seed=5, click_model="position")
    return Labelled(X, q.relevance, q.labels["clicks"], q.sizes)


def bookings(folder: Path) -> Labelled:
    """Clicks drawn by the click-through rates of the log, and bookings among them by the grades: both 0 or 1."""
    whole, rng = log(folder), np.random.default_rng(0)
    clicked = rng.random(whole.first.size) < np.minimum(1, 0.05 + 2 * whole.second)
    booked = clicked & (rng.random(clicked.size) < whole.first / 5)
    query = np.repeat(np.arange(whole.sizes.size), whole.sizes)
    return _checked(whole.features, booked, clicked, query, least=5)


def mslr(folder: Path) -> Labelled:
    """Clicks are log1p(count) over the largest of the query; all three features of usage are removed."""
    names = ("train", "vali", "test", "test_extra")
    X, q = Collection.concat([read_letor(folder / f"mslr_web30k_sample/{name}.txt.xz") for name in names])
    return Labelled(X[:, :133], q.relevance, click_rate(X[:, 134], q), q.sizes)


def mq2008(folder: Path) -> Labelled:
    """PageRank is feature 41, scaled per query; the number of inlinks, 42, stays a feature."""
    X, q = Collection.concat([read_letor(folder / f"mq2008/S{part}.txt.xz") for part in range(1, 6)])
    return _checked(np.delete(X, 40, axis=1), q.relevance, X[:, 40], q.query_of_row, least=5)


def titles(folder: Path) -> Labelled:
    """Films and series for a search; those without an IMDb score are left out, as are TMDB's score and the votes."""
    frame = pd.read_csv(TITLES, dtype={"type": "category", "age_certification": "category"})
    frame = frame[frame["imdb_score"].notna()].sort_values("normalized_query", kind="stable")
    second = frame["imdb_score"].rank(pct=True)
    for name in ("type", "age_certification"):
        frame[name] = frame[name].cat.codes
    query = pd.factorize(frame["normalized_query"])[0]
    labels = ["normalized_query", "id", "score", "imdb_score", "imdb_votes", "tmdb_score"]
    return _checked(frame.drop(columns=labels), frame["score"], second, query, least=2, gain="linear")


def posts(folder: Path) -> Labelled:
    """Hacker News posts of a day: words of the title, hour, and what earlier posts of author and site got."""
    frame = pd.read_csv(folder / "posts" / "hacker_news.csv", usecols=range(7))
    frame["time"] = pd.to_datetime(frame["created_at"], format="%m/%d/%Y %H:%M")
    frame = frame.sort_values(["time", "id"], kind="stable", ignore_index=True)
    frame["site"] = frame["url"].fillna("none").str.extract(r"//(?:www\.)?([^/:]+)")[0].fillna("none")
    counts = {"points": np.log1p(frame["num_points"]), "comments": np.log1p(frame["num_comments"])}
    features: dict[str, Any] = {
        "hour": frame["time"].dt.hour,
        "weekday": frame["time"].dt.weekday,
        "no link": frame["url"].isna(),
        **_of_titles(frame["title"], 60),
    }
    for key in ("author", "site"):
        features[f"earlier by {key}"] = frame.groupby(key).cumcount()
        for name, values in counts.items():
            # Sum and number of the rows before this one; posts of one minute are in the order of their ids.
            of_key = values.groupby(frame[key])
            before = (of_key.cumsum() - values + EARLIER * values.mean()) / (of_key.cumcount() + EARLIER)
            features[f"earlier {name} by {key}"] = before
    second = frame["num_comments"].rank(pct=True)
    query = frame["time"].dt.date.rank(method="dense").astype(int)
    return _checked(pd.DataFrame(features), _grades(frame["num_points"]), second, query, least=5)


def talks(folder: Path) -> Labelled:
    """TED talks of an event: words of title and tags, length, speaker's occupation unknown, days since it began."""
    frame = pd.read_csv(folder / "talks" / "ted_main.csv").sort_values(["event", "title"], kind="stable")
    features = {
        "duration": frame["duration"],
        "published": frame["published_date"],
        "waited": frame["published_date"] - frame["film_date"],
        **_of_titles(frame["title"], 20),
        **_of_titles(frame["tags"].str.replace(r"[\[\]',]", " ", regex=True), 60),
        **{f"{name} (description)": of for name, of in _of_titles(frame["description"], 60).items()},
    }
    second = frame["comments"].rank(pct=True)
    query = pd.factorize(frame["event"])[0]
    return _checked(pd.DataFrame(features), _grades(frame["views"]), second, query, least=5)


def _of_titles(texts: pd.Series, words: int) -> dict[str, Any]:
    """Length and signs of texts, and whether they have each of the most frequent words."""
    lower = texts.str.lower()
    split = lower.map(lambda text: set(re.findall(r"[a-z0-9]+", text)))
    most = split.explode().value_counts().index[:words]
    return {
        f"length of {texts.name}": texts.str.len(),
        f"words of {texts.name}": split.map(len),
        f"digits of {texts.name}": lower.str.count(r"\d"),
        f"question in {texts.name}": lower.str.contains("?", regex=False),
        **{f"{texts.name}: {word}": split.map(lambda words, word=word: word in words) for word in most},
    }


def _grades(counts: pd.Series) -> NDArray[np.float64]:
    return np.searchsorted(counts.quantile(QUANTILES), counts, side="left").astype(float)


def _checked(
    features: Any, first: Any, second: Any, query: Any, least: int, gain: str = "exponential"
) -> Labelled:
    """Rows sorted by query, without the queries that are too small or whose first labels are all equal."""
    X, query = np.asarray(features, dtype=np.float32), np.asarray(query)
    table = pd.DataFrame({"query": query, "first": np.asarray(first)})
    of_query = table.groupby("query")["first"]
    kept = (of_query.transform("size") >= least) & (of_query.transform("nunique") > 1)
    rows = np.flatnonzero(kept)[np.argsort(query[kept], kind="stable")]
    sizes = np.unique(query[rows], return_counts=True)[1]
    return Labelled(X[rows], np.asarray(first, float)[rows], np.asarray(second, float)[rows], sizes, gain)


SETS: dict[str, Callable[[Path], Labelled]] = {
    read.__name__: read for read in (log, mslr, mq2008, titles, posts, talks, bookings)
}
