"""The data sets with two goals each, and their training, validation and test parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from experiments.common.clicks import SCALES, as_source
from lambdaboost import CNDCG, NDCG, LambdaRank, Queries
from lambdaboost.datasets import Collection, read_letor, web_search_log
from lambdaboost.evaluation import Measure
from lambdaboost.objectives import Objective

SECOND = "second"  # the name of the second label source
FOLDS = 5
TRAIN, VALID, TEST = 1000, 1000, 4000  # queries of a synthetic log
NAN = float("nan")
Gain = Literal["exponential", "linear"]


@dataclass(frozen=True, eq=False)
class Parts:
    """Training, validation and test queries, and the numbers of the test queries in the whole set."""

    train: Collection
    valid: Collection
    test: Collection
    tested: NDArray[np.int64]


@dataclass(frozen=True)
class Goals:
    """A data set, its two goals, and how it is split.

    Attributes
    ----------
    name : str
    what : str
        The second goal, in words.
    gain : str
        The gain of the grades.
    real : bool
        Whether a seed draws other folds of the same queries, not other queries.
    parts : callable
        The parts of a seed and a fold.

    """

    name: str
    what: str
    gain: Gain
    real: bool
    parts: Callable[[int, int], Parts]

    @property
    def folds(self) -> int:
        """Folds of a seed."""
        return FOLDS if self.real else 1

    @property
    def measures(self) -> tuple[Measure, Measure]:
        """The measures of both goals; NaN for queries without a label above 0."""
        return NDCG(10, gain=self.gain, empty=NAN), CNDCG(10, SECOND, empty=NAN)

    @property
    def objectives(self) -> tuple[Objective, Objective]:
        """The objectives of both goals."""
        return LambdaRank(NDCG(10, gain=self.gain)), LambdaRank(CNDCG(10, SECOND))


def known(folder: Path | None, scale: float = 1.0) -> dict[str, Goals]:
    """The data sets by name: synthetic logs, and those of `folder` that are there; `scale` shrinks the logs."""
    found = {}
    for model, clicks in (("position", "position-based clicks"), ("cascade", "cascade clicks")):
        name = f"synthetic, {model}"
        found[name] = Goals(name, clicks, "exponential", False, partial(_synthetic, model, scale))
    for name, (where, what, gain, read) in REAL.items():
        if folder is not None and (folder / where).is_dir():
            found[name] = Goals(name, what, gain, True, partial(_folded, partial(read, folder / where)))
    return found


def _synthetic(model: str, scale: float, seed: int, fold: int) -> Parts:
    sizes = [max(20, round(scale * n)) for n in (TRAIN, VALID, TEST)]
    log = _named(web_search_log(sum(sizes), 30, seed=seed, click_model=model), "clicks").shuffled(seed)
    train, valid, test = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:2])
    return Parts(log.take(train), log.take(valid), log.take(test), test)


def _folded(read: Callable[[], Collection], seed: int, fold: int) -> Parts:
    whole = read().shuffled(seed)
    part = np.random.default_rng(seed).permutation(whole.queries.n_queries) % FOLDS
    tested, validated = part == fold, part == (fold + 1) % FOLDS
    train = whole.take(np.flatnonzero(~tested & ~validated))
    valid, test = (whole.take(np.flatnonzero(taken)) for taken in (validated, tested))
    return Parts(train, valid, test, np.flatnonzero(tested))


def _named(collection: Collection, source: str) -> Collection:
    q = collection.queries
    renamed = Queries(q.relevance, q.sizes, **{SECOND: q.labels[source]})
    return Collection(collection.features, renamed, None, collection.feature_names)


def _mslr(column: int, scale: str, folder: Path) -> Collection:
    parts = [read_letor(folder / f"{name}.txt.xz") for name in ("train", "vali", "test", "test_extra")]
    whole = Collection.concat(parts)
    labelled = as_source(whole, SECOND, column - 1, MSLR_SCALES[scale])
    usage = [at - 1 - (at > column) for at in (134, 135, 136) if at != column]
    return labelled.without_features(usage)


def _clueweb(folder: Path) -> Collection:
    whole = Collection.concat([read_letor(folder / f"S{part}.txt.xz") for part in range(1, 6)])
    return as_source(whole, SECOND, 1, SCALES["unit"][0])


def _netflix(folder: Path) -> Collection:
    import pandas as pd

    text = {"type": "category", "age_certification": "category"}
    frame = pd.read_csv(folder / "dataset.csv.xz", dtype=text).sort_values("normalized_query", kind="stable")
    frame = frame[frame.groupby("normalized_query")["score"].transform("nunique") > 1]
    second = frame["imdb_score"].rank(pct=True).to_numpy()
    ids = frame["normalized_query"].to_numpy()
    features = frame.drop(columns=["normalized_query", "id", "score", "imdb_score"])
    for name in text:
        features[name] = features[name].cat.codes
    labels = Queries(frame["score"].to_numpy(), ids=ids, **{SECOND: second})
    return Collection(features.to_numpy(np.float64), labels, None, tuple(features.columns))


# The label scale of each of MSLR's columns: clicks are counts, qualities run to 254.
MSLR_SCALES = {"rate": SCALES["rate"][0], "unit": lambda values, q: values / 255}
REAL: Mapping[str, tuple[str, str, Gain, Callable[[Path], Collection]]] = {
    "mslr, clicks": (
        "mslr_web30k_sample",
        "clicks of the URL (feature 135): log1p(count) over the largest of the query; 134 and 136 removed",
        "exponential",
        partial(_mslr, 135, "rate"),
    ),
    "mslr, quality": (
        "mslr_web30k_sample",
        "quality of the page (feature 132), over 255; 134 to 136 removed",
        "exponential",
        partial(_mslr, 132, "unit"),
    ),
    "clueweb09": ("clueweb09", "SpamRank of the page (feature 2)", "exponential", _clueweb),
    "netflix": (
        "algolia_netflix",
        "IMDb score of the title, as the share of rows at or below it; missing for 131 of 1,958",
        "linear",
        _netflix,
    ),
}
