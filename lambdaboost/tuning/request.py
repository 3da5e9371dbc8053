"""`Request`: a call of `tune`, read and checked before anything is trained."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import joblib
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lambdaboost._checks import check_number, check_whole
from lambdaboost._installed import package
from lambdaboost._jit import using
from lambdaboost._value import text_of
from lambdaboost._words import counted, plain
from lambdaboost.callback import reads_positions
from lambdaboost.datasets import Collection, Columns, Encoder
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.datasets.table import QUERY, open_table
from lambdaboost.engines import ENGINES, first_installed
from lambdaboost.engines.native import NativeObjective
from lambdaboost.evaluation import Measure
from lambdaboost.objectives import LambdaRank
from lambdaboost.objectives.swaps.registry import check_swap
from lambdaboost.tuning.candidates import Candidate, standard_candidates
from lambdaboost.tuning.folds import Fold, draw_folds, hash_queries

CROSS_VALIDATED = 10_000  # queries below which all of them are cross-validated
UNLIMITED = 10_000  # settings, more than any number of minutes has
ROWS_OF_PROCESS = 400_000  # documents of all settings together that make a further process worth its start
DUPLICATES = 0.05  # the share of validation queries that may equal training queries of other names
GRADES_BELOW = 31  # of the engines' own objectives, whose gains are powers of 2
# Values of parameters whose trainings cannot stop early, or grow no trees leaf by leaf.
NOT_SEARCHED = ("dart", "rf", "random_forest", "gblinear", "exact")


@dataclass(frozen=True, eq=False)
class Request:
    """A call of `tune`; the fields are its arguments, `named` the candidates of `objectives`, None for the standard."""

    train: Collection
    valid: Collection | None
    split: str | None
    measures: tuple[Measure, ...]
    keep: float | None
    named: tuple[Candidate, ...] | None
    engines: tuple[str, ...]
    params: Mapping[str, Any]
    settings: int | None
    minutes: float | None
    folds: int
    rounds: int
    early_stopping_rounds: int
    workers: int | None
    seed: int

    def __post_init__(self) -> None:
        if self.split not in (None, "folds", "given"):
            raise ValueError(f"split is {plain(repr(self.split))}, expected 'folds' or 'given'")
        if self.split == "given" and self.valid is None:
            raise ValueError("split is 'given' without valid=: give valid=, or leave split= out")
        if self.valid is not None:
            check_apart(self.train, self.valid)
        for name, least in {"rounds": 1, "early_stopping_rounds": 1, "seed": 0, "folds": 2}.items():
            check_whole(name, getattr(self, name), least)
        check_whole("workers", 1 if self.workers is None else self.workers)
        different = np.unique(hash_queries(self.data)).size
        if self.by_folds and different < self.folds:
            raise ValueError(
                f"folds is {self.folds}, but there are {different} different queries: give fewer folds, or more queries"
            )
        for name, part in self.data_sets.items():
            for measure in self.measures:
                check_measure(measure, name, part)
        if self.keep is not None:
            self._check_keep()
        if self.incompatible and (self.named is not None or not self.candidates):
            name, reason = next(iter(self.incompatible.items()))
            raise ValueError(f"objective {name} cannot train on these data: {reason}")

    def _check_keep(self) -> None:
        remedy = "give what the first measure may lose, below 1, such as 0.005"
        check_number("keep", self.keep, above=0, below=1, remedy=remedy)
        if len(self.measures) != 2:
            raise ValueError(
                f"keep takes two different measures, one to keep and one to raise, and measure has "
                f"{len(self.measures)}: give such as ndcg@10 and cndcg@10"
            )
        check_swap("keep with a second measure, which", self.measures[1])

    @property
    def data_sets(self) -> dict[str, Collection]:
        """The parts that were given, by name."""
        return {"train": self.train} | ({} if self.valid is None else {"valid": self.valid})

    @cached_property
    def incompatible(self) -> dict[str, str]:
        """The candidates that cannot train on the data, and why."""
        parts = self.data_sets.values()
        reasons = {
            one.name: [incompatibility(one.objective, part) for part in parts] for one in self._all_candidates
        }
        return {name: next(filter(None, of)) for name, of in reasons.items() if any(of)}

    @cached_property
    def candidates(self) -> dict[str, Candidate]:
        """The candidates that can train on the data, by name."""
        return {one.name: one for one in self._all_candidates if one.name not in self.incompatible}

    @cached_property
    def _all_candidates(self) -> tuple[Candidate, ...]:
        sources = [name for name in self.train.queries.labels if name != RELEVANCE]
        return standard_candidates(self.measures, self.engines, sources) if self.named is None else self.named

    @property
    def tree_candidate(self) -> Candidate:
        """The candidate by which trees are searched: LambdaRank, or the first one."""
        eligible = [one for one in self.candidates.values() if not one.is_reference]
        return next((one for one in eligible if isinstance(one.objective, LambdaRank)), eligible[0])

    @property
    def default_candidate(self) -> Candidate:
        """The candidate of the engine's default parameters: its own objective, or `tree_candidate`."""
        return self.candidates.get(
            ENGINES[self.tree_candidate.engine].NATIVE_OBJECTIVES[0], self.tree_candidate
        )

    @property
    def other_engines(self) -> list[Candidate]:
        """The objective of `tree_candidate` on other engines, where none were named."""
        every, own = [] if self.named is not None else self.candidates.values(), self.tree_candidate
        return [one for one in every if one.objective == own.objective and one.engine != own.engine]

    @property
    def by_folds(self) -> bool:
        """Whether settings are cross-validated over all queries; else the validation part is measured."""
        n = sum(part.queries.n_queries for part in self.data_sets.values())
        return self.valid is None or self.split == "folds" or (self.split is None and n < CROSS_VALIDATED)

    @cached_property
    def data(self) -> Collection:
        """All queries, those of `train` first."""
        if self.valid is None:
            return self.train
        return Collection.concat([self.train, self.valid], keep_ids=False)

    @cached_property
    def splits(self) -> tuple[Fold, ...]:
        """The folds; one where the validation part is measured."""
        if self.valid is None or self.by_folds:
            folds = draw_folds(self.data, self.folds, self.seed)
        else:  # the documents of a query in random order, for files are often sorted by grade
            train, valid = self.train.shuffled(self.seed), self.valid.shuffled(self.seed)
            folds = (Fold(train, valid, np.arange(valid.queries.n_queries)),)
        return tuple(replace(fold, train=self.for_training(fold.train)) for fold in folds)

    def for_training(self, part: Collection) -> Collection:
        """A part without positions if no candidate reads them, which LightGBM's own objectives would."""
        reads = (reads_positions(one.objective) for one in self.candidates.values())
        return part if any(reads) else part.without_positions()

    @property
    def documents(self) -> float:
        """The mean number of documents of a training."""
        whole = self.data.queries.n_documents * (self.folds - 1) / self.folds
        return whole if self.by_folds else self.train.queries.n_documents

    @cached_property
    def weight(self) -> NDArray[np.float64]:
        """The weight of each measured query."""
        measured = self.data if self.valid is None or self.by_folds else self.valid
        return np.asarray(measured.queries.query_weight, dtype=np.float64)

    @property
    def n_workers(self) -> int:
        """The number of processes: no more than there are processors, and settings."""
        settings = UNLIMITED if self.settings is None else self.settings
        worth = int(1 + self.documents * settings // ROWS_OF_PROCESS)
        return max(1, min(self.workers or worth, settings, joblib.cpu_count()))

    def fingerprint(self) -> str:
        """A hash of what a study shares with the call that resumes it: data, arguments and versions."""
        parts = [(part, part.queries) for part in self.data_sets.values()]
        data = [(hash_queries(part), q.query_weight, q.positions) for part, q in parts]
        candidates = str([(one, text_of(one.objective)) for one in self._all_candidates])
        numbers = self.by_folds, self.folds, self.rounds, self.early_stopping_rounds, self.seed
        versions = [version("lambdaboost"), *(ENGINES[name].version() for name in self.engines)]
        measures = [*map(text_of, self.measures)]
        return str(joblib.hash((data, measures, candidates, dict(self.params), numbers, versions)))


# Reading the arguments.


def read_parts(
    train: Any, y: Any, valid: Any, columns: dict[str, Any], arrays: dict[str, Any]
) -> tuple[Any, Any]:
    """The training and the validation part, read as `LambdaRanker.fit` reads them."""
    if isinstance(train, Collection):
        if isinstance(y, Collection) and valid is None:
            y, valid = None, y
        unused = {
            "y": y,
            **columns,
            "query": None if columns["query"] == QUERY else columns["query"],
            **arrays,
        }
        if has := [name for name, value in unused.items() if value is not None]:
            raise TypeError(
                f"train is a Collection, which has its own queries, labels and weights, so {has[0]}= would be ignored: "
                "leave it out, and put it into the Queries of the Collection"
            )
    elif y is not None:
        named = Columns(columns["query"], sources=columns["sources"] or (), position=columns["position"])
        weight, rest = arrays["sample_weight"], {"group": arrays["group"], "qid": arrays["qid"]}
        train = named.read(train, y, name="train", weight=weight, **rest)
        if isinstance(valid, tuple | list) and len(valid) == 2:
            if not open_table(valid[0], "valid").is_named:
                raise TypeError(
                    "valid is an array without its queries, since group= and qid= are those of train: give tables "
                    "with a column of queries, or both parts as Collections"
                )
            encoder = Encoder(named, train.feature_names or (), train.categories)
            valid = encoder.read(*valid, name="valid")
    for name, part in {"train": train, "valid": train if valid is None else valid}.items():
        if not isinstance(part, Collection):
            raise TypeError(
                f"{name} is a {type(part).__name__}, expected a Collection, or a table and its grades: "
                "tune(frame, y, valid=(frame, y))"
            )
    return train, valid


def read_engines(engine: Any) -> tuple[str, ...]:
    """The engines to try, the first one for lambdaboost's objectives; raises if it is unknown or not installed."""
    if engine is not None and engine not in ENGINES:
        raise ValueError(
            f"engine is {plain(repr(engine))}, expected {' or '.join(ENGINES)}, or None for both"
        )
    first = first_installed() if engine is None else engine
    package(first)
    return (first, *(name for name in ENGINES if find_spec(name) and engine is None and name != first))


def read_budget(settings: Any, minutes: Any, default: int) -> tuple[int | None, float | None]:
    """The number of settings or of minutes; the default number where neither is given."""
    if settings is not None and minutes is not None:
        raise ValueError(f"settings is {settings!r}, and minutes is {minutes!r}: give one of them")
    if minutes is not None:
        return None, check_number("minutes", minutes, above=0, remedy="give a number above 0, such as 10")
    return check_whole("settings", default if settings is None else settings), None


def read_params(params: Any, engines: Iterable[str]) -> dict[str, Any]:
    """The fixed parameters as plain values; raises for one that an engine does not know, or `tune` cannot fix."""
    if not isinstance(params, Mapping | None):
        raise TypeError(f"params is a {type(params).__name__}, expected a dict of the engine's parameters")
    try:  # as Python's own numbers, texts and lists, which a study and MODEL.json can hold
        plain_values = json.dumps(dict(params or {}), allow_nan=False, default=lambda of: of.tolist())
    except (TypeError, ValueError, AttributeError):
        raise TypeError(f"params is {plain(params)}: give finite numbers, texts, or lists of them") from None
    fixed: dict[str, Any] = json.loads(plain_values)
    for name in engines:
        engine = ENGINES[name]
        for key, value in fixed.items():
            if key in engine.reserved_names() or key == "feature_pre_filter":
                raise ValueError(f"params has {plain(repr(key))}: leave it out, for tune sets it")
            if isinstance(value, str) and value in NOT_SEARCHED:
                raise ValueError(f"params has {key}={value!r}, which cannot be searched; leave it out")
            if key not in engine.parameter_names():
                raise ValueError(
                    f"params has {plain(repr(key))}, which {engine.TITLE} does not know: correct it, or set engine= to "
                    "the engine it belongs to"
                )
    return fixed


# Checks of the data.


def check_apart(train: Collection, valid: Collection) -> None:
    """Raise unless the parts have the same columns, and no query is in both.

    A few equal queries under other names occur in every log; in folds they stay together.
    """
    try:
        Collection.concat([part.take([0]) for part in (train, valid)], keep_ids=False)
    except ValueError as error:
        raise ValueError(str(error).replace("part 0", "train").replace("part 1", "valid")) from None
    (both,) = find_shared(train, valid)
    if both is not None:
        ids = valid.queries.ids
        at, n = int(both.argmax()), counted(int(np.count_nonzero(both)), "query", "queries")
        raise ValueError(
            f"valid shares {n} with train, the first is query {at if ids is None else plain(ids[at])}: the choice "
            "would be made on training data; remove them from one part, such as by valid.take(…)"
        )


def find_shared(train: Collection, *others: Collection) -> Iterator[NDArray[np.bool_] | None]:
    """For each other part, its queries that `train` has too; None where so few are equal that it may be chance."""
    hashes = hash_queries(train)
    for valid in others:
        ordered = np.any([is_ordered(valid, source) for source in valid.queries.labels], axis=0)
        both = np.isin(hash_queries(valid), hashes) & ordered
        ids, known, same = valid.queries.ids, train.queries.ids, np.zeros_like(both)
        if ids is not None and known is not None:
            same = pd.Series(ids).isin(known).to_numpy()
            if {ids.dtype.kind, known.dtype.kind}.isdisjoint("iuf"):  # numbers often begin anew in each file
                both |= same
        is_shared = (same & both).any() or np.count_nonzero(both) > DUPLICATES * np.count_nonzero(ordered)
        yield both if is_shared else None


def check_measure(measure: Measure, name: str, part: Collection) -> None:
    """Raise if a measure cannot be computed on a part, or no query has an order to learn."""
    try:
        measure.per_query(np.zeros(part.queries.n_documents), part.queries)
    except ValueError as error:
        raise ValueError(f"measure {measure!r}, in {name}: {error}") from None
    counts = part.queries.query_weight > 0
    if not any((is_ordered(part, source) & counts).any() for source in measure.sources):
        of = "" if counts.all() else " of positive weight"
        raise ValueError(
            f"{name} has no query{of} with two documents of different {' or '.join(measure.sources)}: there is "
            "nothing to learn or to choose by; give more queries, or other labels"
        )


def incompatibility(rule: Any, part: Collection) -> str | None:
    """Why an objective cannot train on the data, or None."""
    q = part.queries
    try:
        if not isinstance(rule, NativeObjective):
            with using(1):
                rule.gradient(np.zeros(q.n_documents), q)
            return None
        if np.isnan(q.relevance).any():
            return "it reads missing grades as 0"
        rule.check_labels(q.relevance)
    except ValueError as error:
        return str(error)
    whole = (q.relevance == np.floor(q.relevance)).all() and q.relevance.max(initial=0) < GRADES_BELOW
    reads_any = rule.name in ("rank:pairwise", "rank:map")
    return None if whole or reads_any else f"it takes whole grades below {GRADES_BELOW} only"


def is_ordered(part: Collection, source: str) -> NDArray[np.bool_]:
    """Whether each query has two documents of different labels."""
    labels, starts = part.queries.labels[source], part.queries.offsets[:-1]
    high, low = (limit.reduceat(labels, starts) for limit in (np.fmax, np.fmin))
    different: NDArray[np.bool_] = high > low
    return different
