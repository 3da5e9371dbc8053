"""Films: half of each user's ratings are the history, from which features come; the others are ranked.

Every feature reads histories alone, those of all users, so no ranked rating is in one.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD

LEAST = 5  # ratings in each half
RANKED = 30  # of a user's ratings, at most
RANK, COMMON = 10, 10  # of the factors; ratings in common that halve the shrinkage of a similarity

Table = NDArray[np.float64]


def films(folder: Path) -> pd.DataFrame:
    """Each user's later ratings; grades are stars less one."""
    names = ["user", "item", "stars", "time"]
    ratings = pd.read_csv(folder / "u.data", sep="\t", names=names)
    about = pd.read_csv(folder / "u.item", sep="|", header=None, encoding="latin-1", index_col=0)
    genres = about.iloc[:, 4:].set_axis([f"genre {at}" for at in range(about.shape[1] - 4)], axis=1)
    about = pd.concat([genres, pd.to_datetime(about[2], format="%d-%b-%Y").dt.year.rename("year")], axis=1)

    # The first half of a user's ratings is the history.
    ratings = ratings.sort_values(["user", "time", "item"], kind="stable")
    place = ratings.groupby("user").cumcount()
    size = ratings.groupby("user")["item"].transform("size")
    enough = size >= 2 * LEAST
    history, ranked = ratings[enough & (place < size // 2)], ratings[enough & (place >= size // 2)]
    ranked = ranked.sample(frac=1, random_state=0).groupby("user").head(RANKED)
    users, items = pd.Index(ratings["user"][enough].unique()), about.index
    stars = np.full((users.size, items.size), np.nan)
    stars[users.get_indexer(history["user"]), items.get_indexer(history["item"])] = history["stars"]
    at = users.get_indexer(ranked["user"]), items.get_indexer(ranked["item"])
    features = pd.DataFrame(_of_pairs(stars, about.to_numpy(dtype=np.float64), *at))
    features = features.join(about.reset_index(drop=True).iloc[at[1]].reset_index(drop=True))
    return features.assign(query=at[0], grade=ranked["stars"].to_numpy() - 1)


def _of_pairs(
    stars: Table, about: Table, user: NDArray[np.int64], item: NDArray[np.int64]
) -> dict[str, Table]:
    """Features of users, of items and of both together, from the history `stars` (users, items)."""
    known = ~np.isnan(stars)
    mean = np.nanmean(stars, axis=1)
    centred = np.where(known, stars - mean[:, None], 0.0)
    raters = known.sum(axis=0)
    likeness = _similarities(centred, known)
    by_item = _ratio(centred @ likeness, known @ np.abs(likeness))
    tastes = _similarities(centred.T, known.T)
    by_user = _ratio(tastes @ centred, np.abs(tastes) @ known)
    factors = TruncatedSVD(RANK, random_state=0)
    of_users = factors.fit_transform(centred)
    scale = np.nan_to_num((about - np.nanmean(about, axis=0)) / (np.nanstd(about, axis=0) + 1e-9))
    affinity = _ratio(centred @ scale, known @ np.abs(scale)) @ scale.T
    return {
        "user's ratings": known.sum(axis=1)[user],
        "user's mean": mean[user],
        "user's spread": np.nanstd(stars, axis=1)[user],
        "item's ratings": raters[item],
        "item's mean": _ratio(np.nansum(stars, axis=0), raters)[item],
        "item's centred mean": (centred.sum(axis=0) / (raters + 5))[item],
        "item's spread": np.sqrt(_ratio(np.square(centred).sum(axis=0), raters))[item],
        "by similar items": by_item[user, item],
        "by similar users": by_user[user, item],
        "by factors": (of_users @ factors.components_)[user, item],
        "by affinity": affinity[user, item],
        **{f"factor {n}": factors.components_[n, item] for n in range(5)},
    }


def _similarities(centred: Table, known: NDArray[np.bool_]) -> Table:
    """Cosines of the columns, shrunken by how few rows they share; 0 with themselves."""
    cosine = _ratio(centred.T @ centred, np.sqrt(np.outer(*[np.square(centred).sum(axis=0)] * 2)))
    shared = known.T.astype(float) @ known
    cosine *= shared / (shared + COMMON)
    np.fill_diagonal(cosine, 0.0)
    return cosine


def _ratio(above: Table, below: Table) -> Table:
    """A quotient, 0 where it is of nothing."""
    return np.divide(above, below, out=np.zeros_like(above, dtype=np.float64), where=below > 0)
