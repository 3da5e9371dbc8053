"""`Parts`: training, validation and test queries with features on one scale, for linear models."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Collection, Queries, web_search_log
from lambdaboost.reproduce.folders import read_folder

Floats = NDArray[np.float64]
Part = tuple[Floats, Queries]

FEATURES = 367  # of the paper's web data
FARTHEST = 5.0  # standard deviations that a feature may lie from its mean
SHARES = (0.5, 0.25, 0.25)


@dataclass(frozen=True, eq=False)
class Parts:
    """Standardised features and queries of each part; the mean and spread are the training part's."""

    name: str
    origin: str
    train: Part
    valid: Part
    test: Part

    @property
    def n_features(self) -> int:
        """Weights of a linear model."""
        return int(self.train[0].shape[1])


def synthetic_parts(queries: int, documents: int, seed: int) -> Parts:
    """A made-up search log with as many features as the paper's web data."""
    if queries < 20:
        raise ValueError(
            f"--queries is {queries}: give at least 20, which are parted into training and tests"
        )
    log = web_search_log(queries, documents, FEATURES, seed).shuffled(seed)
    cuts = np.rint(np.cumsum((0, *SHARES)) * queries).astype(int)
    parts = [log.take(np.arange(a, b)) for a, b in pairwise(cuts)]
    origin = f"lambdaboost.datasets.web_search_log({queries}, {documents}, {FEATURES}, seed={seed})"
    return _standardised("synthetic", origin, parts)


def folder_parts(folder: Path, seed: int) -> Parts:
    """A folder of LETOR text, of five parts its first fold."""
    data = read_folder(folder, seed=seed)
    fold = data.folds[0]
    parts = [data.training(fold, seed=seed), data.joined(fold.valid), data.joined(fold.test)]
    return _standardised(
        data.name, f"{data.origin}; {fold.name}, trained on its queries with a relevant document", parts
    )


def _standardised(name: str, origin: str, parts: list[Collection]) -> Parts:
    dense = [
        np.asarray(
            part.features if isinstance(part.features, np.ndarray) else part.features.toarray(), np.float64
        )
        for part in parts
    ]
    mean, spread = dense[0].mean(axis=0), dense[0].std(axis=0)
    spread[spread == 0] = 1.0
    train, valid, test = (
        (np.clip((x - mean) / spread, -FARTHEST, FARTHEST), part.queries)
        for x, part in zip(dense, parts, strict=True)
    )
    return Parts(name, origin, train, valid, test)
