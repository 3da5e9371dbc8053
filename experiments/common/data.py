"""`Data`: the parts and folds of a data set, synthetic or read from a folder of LETOR text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from experiments.common.clicks import Clicks
from experiments.common.report import table
from lambdaboost import Queries
from lambdaboost.datasets import Collection, read_letor, web_search_log

FIVE = ("S1", "S2", "S3", "S4", "S5")
ROLES = ("train", "vali", "test")
ENDINGS = {"", ".txt", ".gz", ".xz", ".bz2", ".txt.gz", ".txt.xz", ".txt.bz2"}
# The click model of each label source; "position" is no name of a source.
CLICK_MODELS = {"cascade": "cascade", "position_based": "position"}


@dataclass(frozen=True)
class Fold:
    """Names of the training, validation and test parts."""

    name: str
    train: tuple[str, ...]
    valid: tuple[str, ...]
    test: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Data:
    """Parts by name, their rows shuffled inside each query, the folds, and the click settings."""

    name: str
    parts: dict[str, Collection]
    folds: tuple[Fold, ...]
    clicks: tuple[Clicks, ...]
    origin: str

    def joined(self, names: Sequence[str]) -> Collection:
        """Concatenate parts."""
        return Collection.concat([self.parts[name] for name in names])

    def training(self, fold: Fold, share: float = 1.0, seed: int = 0) -> Collection:
        """The training data of a fold: queries with a relevant document, or a share of them."""
        whole = self.joined(fold.train)
        kept = np.flatnonzero(has_any(whole.queries.relevance, whole.queries))
        if not kept.size:
            raise ValueError(
                f"no training query of {fold.name} has a relevant document: there is nothing to learn"
            )
        return whole.take(kept[nested_queries(kept.size, share, seed)])

    def training_valid_test(self, fold: Fold) -> tuple[Collection, Collection, Collection]:
        """The three parts of a fold."""
        return self.training(fold), self.joined(fold.valid), self.joined(fold.test)

    def markdown(self) -> str:
        """The section of a report that describes the data."""
        lines = [f"- {self.origin}."]
        lines += [f"- Click labels {clicks.name}: {clicks.described}." for clicks in self.clicks]
        highest = max(int(np.nanmax(part.queries.relevance)) for part in self.parts.values())
        names = [clicks.name for clicks in self.clicks]
        header = ["Part", "Queries", "without relevant", "Documents", "Features"]
        header += [f"grade {grade}" for grade in range(highest + 1)]
        header += [f"{name} > 0" for name in names]
        rows = []
        for name, part in self.parts.items():
            q = part.queries
            counts = [q.n_queries, int((~has_any(q.relevance, q)).sum()), q.n_documents, part.n_features]
            counts += [int((q.relevance == grade).sum()) for grade in range(highest + 1)]
            counts += [int((q.labels[source] > 0).sum()) for source in names]
            rows.append([name, *(f"{count:,}" for count in counts)])
        folds = "; ".join(
            f"{fold.name}: training on {' + '.join(fold.train)}, validation on {' + '.join(fold.valid)}, "
            f"test on {' + '.join(fold.test)}"
            for fold in self.folds
        )
        return "\n".join(lines) + "\n\n" + table(header, rows, f"Folds. {folds}.")


def one_fold(
    whole: Collection, shares: Sequence[float], seed: int, origin: str, clicks: tuple[Clicks, ...] = ()
) -> Data:
    """Split synthetic data into one fold of training, validation and test parts."""
    cuts = np.rint(whole.queries.n_queries * np.cumsum((0, *shares))).astype(int)
    parts = {
        name: whole.take(np.arange(first, last)).shuffled(seed)
        for name, first, last in zip(ROLES, cuts, cuts[1:], strict=False)
    }
    return Data("synthetic", parts, (Fold("the one fold", *((name,) for name in ROLES)),), clicks, origin)


def synthetic(queries: int, documents: int, seed: int = 0) -> Data:
    """A search log with clicks by the cascade model in one setting and the position-based model in the other."""
    # Pages and grades are drawn before clicks, so the logs differ only in clicks (and noise columns).
    logs = [
        web_search_log(queries, documents, seed=seed, click_model=model) for model in CLICK_MODELS.values()
    ]
    clicks = {name: log.queries.labels["clicks"] for name, log in zip(CLICK_MODELS, logs, strict=True)}
    first = logs[0].queries
    labelled = Queries(first.relevance, first.sizes, **clicks)
    whole = Collection(logs[0].features, labelled, None, logs[0].feature_names)
    origin = f"lambdaboost.datasets.web_search_log({queries}, {documents}, seed={seed}), clicks by "
    settings = tuple(Clicks(name, None) for name in CLICK_MODELS)
    # A large test part detects small differences.
    return one_fold(whole, (0.4, 0.2, 0.4), seed, origin + " and ".join(CLICK_MODELS), settings)


def read_folder(
    folder: Path, clicks: Sequence[Clicks] = (), dropped: Sequence[int] = (), seed: int = 0
) -> Data:
    """Read a folder of LETOR text.

    S1 … S5 form LETOR's five folds: fold 1 trains on S1 to S3, validates on S4 and tests on S5; the others are
    rotations. Otherwise files named train…, vali… and test… form one fold.
    """
    files = _files(folder)
    folds = _folds(folder, files)
    used = sorted({name for fold in folds for name in (*fold.train, *fold.valid, *fold.test)})
    read = {name: read_letor(files[name]) for name in used}
    width = max(part.n_features for part in read.values())
    if len({setting.name for setting in clicks}) < len(clicks):
        raise ValueError(f"--clicks {', '.join(map(str, clicks))}: give each name once")
    is_dense = any(isinstance(part.features, np.ndarray) for part in read.values())
    parts = {}
    for name, part in read.items():
        if part.n_features < width:
            part = read_letor(files[name], n_features=width)
        if is_dense and not isinstance(part.features, np.ndarray):
            part = replace(part, features=part.features.toarray())
        # By name, since indices shift when columns are removed.
        part = replace(part, feature_names=tuple(str(column) for column in range(1, width + 1)))
        for setting in clicks:
            part = setting.taken_from(part, str(files[name]))
        try:
            parts[name] = part.without_features(map(str, dropped)).shuffled(seed)
        except ValueError as error:
            raise ValueError(f"--drop of {files[name]}: {error}") from None
    origin = f"{len(used)} files: {', '.join(files[name].name for name in used)}"
    return Data(folder.resolve().name, parts, folds, tuple(clicks), origin)


def _files(folder: Path) -> dict[str, Path]:
    """LETOR files by name without suffixes."""
    if not folder.is_dir():
        raise ValueError(f"DATA is {str(folder)!r}: give a folder of LETOR text, or the word synthetic")
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        name = path.name.split(".")[0]
        known = name in FIVE or name.startswith(ROLES)
        if known and path.name[len(name) :] in ENDINGS and path.is_file():
            if name in found:
                raise ValueError(f"{folder} has {found[name].name} and {path.name}: keep one of them")
            found[name] = path
    return found


def _folds(folder: Path, files: dict[str, Path]) -> tuple[Fold, ...]:
    if all(name in files for name in FIVE):
        around = FIVE * 2
        return tuple(
            Fold(f"fold {i + 1}", around[i : i + 3], around[i + 3 : i + 4], around[i + 4 : i + 5])
            for i in range(5)
        )
    roles = [tuple(name for name in files if name.startswith(role)) for role in ROLES]
    if not all(roles):
        raise ValueError(
            f"{folder} has {', '.join(path.name for path in files.values()) or 'no LETOR text of a known name'}: "
            "expected S1.txt … S5.txt, or train.txt, vali.txt and test.txt, plain or as .gz, .xz or .bz2"
        )
    return (Fold("the one fold", *roles),)


def nested_queries(n_queries: int, share: float, seed: int = 0) -> NDArray[np.int64]:
    """Indices of a share of the queries, ascending; a larger share contains every smaller one.

    >>> [nested_queries(8, share).size for share in (0.25, 1.0)]
    [2, 8]
    """
    drawn = np.random.default_rng(seed).permutation(n_queries)
    return np.sort(drawn[: max(1, round(share * n_queries))])


def has_any(labels: NDArray[np.float32], q: Queries) -> NDArray[np.bool_]:
    """Whether each query has a document labelled above 0, bool (n_queries,)."""
    return np.maximum.reduceat(np.nan_to_num(labels), q.offsets[:-1]) > 0


def dense(features: object) -> NDArray[np.float64]:
    """Features as a float64 array, sparse or not."""
    whole = features if isinstance(features, np.ndarray) else features.toarray()  # type: ignore[attr-defined]
    return np.asarray(whole, dtype=np.float64)


def standardised(parts: Sequence[Collection]) -> list[tuple[NDArray[np.float64], Queries]]:
    """Features of mean 0 and deviation 1 on the first part, and the queries, of each part."""
    scaler = StandardScaler().fit(dense(parts[0].features))
    return [(scaler.transform(dense(X)), q) for X, q in parts]
