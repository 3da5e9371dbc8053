"""Data sets of the field: those at hand by name, and any file or folder that lambdaboost reads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.common.data import Data, Fold, has_any, one_fold
from experiments.common.folders import FIVE, read_folder
from lambdaboost import Queries
from lambdaboost.cli.columns import Columns
from lambdaboost.datasets import Collection, read_letor, web_search_log

FOLDER = "LAMBDABOOST_DATA"
SYNTHETIC = "synthetic"


def read(name: str, columns: Columns, seed: int) -> Data:
    """A data set by the name of one at hand, or the path of a file or a folder."""
    path = Path(name)
    if name in AT_HAND or path.is_dir():
        if columns != Columns():
            raise ValueError(
                f"{name}: --query, --label, --source and --drop are for files; give a file, or omit them"
            )
        return AT_HAND[name](seed) if name in AT_HAND else read_folder(path, seed=seed)
    file = columns.opened(path)
    return five_parts(path.name.split(".")[0], columns.collection(file), seed, f"{path.name}")


def read_all(names: Sequence[str], columns: Columns, seed: int) -> dict[str, Data]:
    """Several data sets by name, each part of every fold with a query that counts."""
    found: dict[str, Data] = {}
    for name in names:
        data = read(name, columns, seed)
        if data.name in found:
            raise ValueError(f"two data sets are called {data.name}: rename a file, or give it once")
        for part_name, part in data.parts.items():
            if not has_any(part.queries.relevance, part.queries).any():
                raise ValueError(
                    f"no query of {part_name} of {name} has a relevant document: nothing can be measured"
                )
        found[data.name] = data
    return found


def five_parts(name: str, whole: Collection, seed: int, origin: str) -> Data:
    """Five random parts of the queries with a relevant document, and LETOR's five folds of them."""
    q = whole.queries
    graded = np.flatnonzero(has_any(q.relevance, q))
    if graded.size < len(FIVE):
        raise ValueError(
            f"{name} has {graded.size} queries with a relevant document: five folds need at least {len(FIVE)}"
        )
    part = np.random.default_rng(seed).permutation(graded.size) % len(FIVE)
    parts = {label: whole.take(graded[part == i]).shuffled(seed) for i, label in enumerate(FIVE)}
    around = FIVE * 2
    folds = tuple(
        Fold(f"fold {i + 1}", around[i : i + 3], around[i + 3 : i + 4], around[i + 4 : i + 5])
        for i in range(len(FIVE))
    )
    return Data(name, parts, folds, (), f"{origin}, five random parts of its queries (seed {seed})")


def graded_only(part: Collection) -> Collection:
    """The queries with a relevant document."""
    return part.take(np.flatnonzero(has_any(part.queries.relevance, part.queries)))


def _folder(name: str) -> Path:
    if FOLDER not in os.environ:
        raise ValueError(f"{name}: set the variable {FOLDER} to the folder of the data sets")
    return Path(os.environ[FOLDER]) / name


def _letor_folds(name: str, seed: int) -> Data:
    return read_folder(_folder(name), seed=seed)


def _mslr(seed: int) -> Data:
    """All its queries; its click columns 134 to 136 are no features."""
    folder = _folder("mslr_web30k_sample")
    files = [folder / f"{part}.txt.xz" for part in ("train", "vali", "test", "test_extra")]
    whole = Collection.concat([read_letor(file) for file in files]).without_features(range(133, 136))
    return five_parts("mslr_web30k_sample", whole, seed, "its four files without columns 134 to 136")


def _netflix(seed: int) -> Data:
    columns = Columns.parse(dropped=["id,type,age_certification"], query="normalized_query", label="score")
    file = columns.opened(_folder("algolia_netflix") / "dataset.csv.xz")
    return five_parts("algolia_netflix", columns.collection(file), seed, "dataset.csv")


def _lightgbm_rank(seed: int) -> Data:
    """LightGBM's example, whose queries are sizes in a file of their own."""
    import lzma

    from sklearn.datasets import load_svmlight_file

    folder, parts = _folder("lightgbm_rank"), []
    for part in ("train", "test"):
        with lzma.open(folder / f"rank.{part}.xz") as file:
            X, y = load_svmlight_file(file, n_features=300, zero_based=False, dtype=np.float32)
        with lzma.open(folder / f"rank.{part}.query.xz") as file:
            sizes = np.loadtxt(file, dtype=np.int64)
        parts.append(Collection(X.toarray(), Queries(y, sizes)))
    return five_parts("lightgbm_rank", Collection.concat(parts), seed, "LightGBM's examples/lambdarank")


QUERIES, DOCUMENTS = 11_500, 20  # of the synthetic log


def _synthetic(seed: int) -> Data:
    """A search log: 1,000 training, 500 validation and 10,000 test queries; clicks are left out."""
    log = web_search_log(QUERIES, DOCUMENTS, seed=seed)
    bare = Collection(
        log.features, Queries(log.queries.relevance, log.queries.sizes), None, log.feature_names
    )
    origin = f"lambdaboost.datasets.web_search_log({QUERIES}, {DOCUMENTS}, seed={seed})"
    return one_fold(bare, (1000 / QUERIES, 500 / QUERIES, 10_000 / QUERIES), seed, origin)


AT_HAND = {
    "mq2008": lambda seed: _letor_folds("mq2008", seed),
    "mslr_web30k_sample": _mslr,
    "clueweb09": lambda seed: _letor_folds("clueweb09", seed),
    "algolia_netflix": _netflix,
    "lightgbm_rank": _lightgbm_rank,
    SYNTHETIC: _synthetic,
}
