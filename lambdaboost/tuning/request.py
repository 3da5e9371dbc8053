"""`Request`: a call of `tune`, in plain values, which checks itself; everything else of `tune` works from it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from importlib.metadata import version
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_number, check_whole
from lambdaboost._installed import ENGINES, engine_named, engine_version, first_installed, installed, package
from lambdaboost._value import Value, text_of
from lambdaboost._words import plain
from lambdaboost.datasets import Collection
from lambdaboost.datasets.digest import digest_of
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation import Measure, parse
from lambdaboost.tuning.candidates import Candidate
from lambdaboost.tuning.checks import check_data, check_measure, check_part, unfit, unread
from lambdaboost.tuning.folds import Fold, drawn_folds, fold_of_query, joined, query_contents
from lambdaboost.tuning.second_goal import check_goals, check_keep
from lambdaboost.tuning.space import Space
from lambdaboost.tuning.standard import standard
from lambdaboost.tuning.worth import GROUPS

Choose = Literal["best", "simplest", "balanced"]
Split = Literal["folds", "given"]
AFFORDABLE = 10_000  # queries below which all of them are cross-validated
ROWS = 200_000  # documents of all trials together that make a further process worth its start
TRIALS = (
    8  # trials that make a further process worth it: those that run together do not learn from each other
)
# Values of parameters that a search cannot train with.
UNFIT = {
    **dict.fromkeys(("dart", "rf", "random_forest"), "its trainings cannot stop early"),
    "gblinear": "it grows no trees",
    "exact": "it cannot grow trees leaf by leaf",
}


class Request(Value):
    """A call of `tune`; the fields are its arguments, `named` the candidates of `objectives`, None for the standard."""

    train: Collection
    valid: Collection | None
    split: Split | None
    measures: tuple[Measure, ...]
    named: tuple[Candidate, ...] | None
    engines: tuple[str, ...]
    params: Mapping[str, Any]
    settings: int | None
    minutes: float | None
    folds: int
    rounds: int
    patience: int
    choose: Choose | None
    refit: bool
    nested: int
    workers: int | None
    seed: int
    keep: float | None = None

    def __post_init__(self) -> None:
        check_data(self.train, self.valid, self._check_split())
        check_whole("rounds", self.rounds)
        check_whole("patience", self.patience)
        check_whole("seed", self.seed, 0)
        check_whole("workers", 1 if self.workers is None else self.workers)
        self._check_folds("folds", self.folds if self.by_folds else None)
        self._check_folds("nested", check_whole("nested", self.nested, 0) or None)
        for name, part in self.given.items():
            for measure in self.measures:
                check_measure(measure, name, part)
        self._check_choice()
        self._check_budget()
        if self.keep is not None:
            check_keep(self.keep, self.measures)
            for part in self.given.values():
                check_goals(self.measures, part)
        if self.left_out and (self.named is not None or not self.candidates):
            name, reason = next(iter(self.left_out.items()))
            raise ValueError(f"objective {name} cannot train on these data: {reason}")
        for at in range(self.nested):
            try:
                self.outer(at)
            except ValueError as error:
                raise ValueError(
                    f"nested, without outer fold {at}: {error}; give more queries or fewer folds"
                ) from None

    def _check_folds(self, name: str, folds: Any) -> None:
        """Raise unless there are 2 folds or more, and a query for each; None is not asked for."""
        if folds is None:
            return
        check_whole(name, folds, 2)
        different = np.unique(query_contents(self.data if self.by_folds else self.train)).size
        if different < folds:
            there = "is 1 query" if different == 1 else f"are {different} different queries"
            raise ValueError(
                f"{name} is {folds}, but there {there}: each fold needs one; give fewer folds, or more queries"
            )

    def _check_split(self) -> bool:
        """Whether queries may be in both parts; raise for another split than there are, or one without a part."""
        if self.split not in (None, *get_args(Split)):
            raise ValueError(f"split is {plain(repr(self.split))}, expected 'folds' or 'given'")
        if self.split == "given" and self.valid is None:
            raise ValueError("split is 'given' without valid=: give valid=, or leave split= out")
        check_part("train", self.train)
        if self.valid is not None:
            check_part("valid", self.valid)
        return self.by_folds

    def _check_choice(self) -> None:
        if self.choose not in (None, *get_args(Choose)):
            raise ValueError(
                f"choose is {plain(repr(self.choose))}, expected 'best', 'simplest' or 'balanced'"
            )
        if self.choose == "balanced" and self.keep is not None:
            raise ValueError("choose is 'balanced' with keep=, which chooses by proof: leave one of them out")
        if self.choose == "balanced" and len(self.measures) < 2:
            raise ValueError(
                "choose is 'balanced' with one measure: give several, or choose 'best' or 'simplest'"
            )
        if not self.refit and self.by_folds:
            raise ValueError(
                "refit=False in folds: cross-validation has a model of each fold and none of all; leave it out, or "
                "give valid= and split='given'"
            )

    def _check_budget(self) -> None:
        if self.settings is None and self.minutes is None:
            raise ValueError("settings and minutes are both None: give a budget, such as settings=20")
        if self.settings is not None:
            check_whole("settings", self.settings)
        if self.minutes is not None:
            check_number("minutes", self.minutes, above=0, remedy="give a number above 0, such as 10")

    @property
    def first(self) -> Request:
        """The search for the first measure alone."""
        return replace(self, measures=self.measures[:1], keep=None)

    @property
    def given(self) -> dict[str, Collection]:
        """The parts that were given, by name."""
        return {"train": self.train} | ({} if self.valid is None else {"valid": self.valid})

    @cached_property
    def left_out(self) -> dict[str, str]:
        """The candidates that cannot train on the data, and why."""
        parts = self.given.values()
        reasons = {
            c.name: [unfit(c.objective, p) or unread(c.engine, p) for p in parts] for c in self._wanted
        }
        return {name: next(filter(None, of)) for name, of in reasons.items() if any(of)}

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """The candidates that can train on the data."""
        return tuple(candidate for candidate in self._wanted if candidate.name not in self.left_out)

    @cached_property
    def _wanted(self) -> tuple[Candidate, ...]:
        if self.named is not None:
            return self.named
        sources = [name for name in self.train.queries.labels if name != RELEVANCE]
        return standard(self.measures, self.engines, sources)

    @property
    def by_folds(self) -> bool:
        """Whether settings are cross-validated over all queries; else the validation part is measured."""
        n = sum(part.queries.n_queries for part in self.given.values())
        return self.valid is None or self.split == "folds" or (self.split is None and n < AFFORDABLE)

    @cached_property
    def data(self) -> Collection:
        """All queries, those of `train` first."""
        return joined(self.train, self.valid)

    @cached_property
    def parts(self) -> tuple[Fold, ...]:
        """The folds; one where the validation part is measured."""
        if self.valid is None or self.by_folds:
            return drawn_folds(self.data, self.folds, self.seed)
        # The documents of a query in random order, for files are often sorted by grade.
        train, valid = self.train.shuffled(self.seed), self.valid.shuffled(self.seed)
        return (Fold(train, valid, np.arange(valid.queries.n_queries)),)

    @property
    def groups(self) -> NDArray[np.int64]:
        """Five groups of measured queries, of whole folds; fewer if there are fewer folds."""
        if not self.by_folds:
            return np.random.default_rng(self.seed).permutation(self.weight.size) % GROUPS
        group = np.empty(self.weight.size, dtype=np.int64)
        for at, fold in enumerate(self.parts):
            group[fold.queries] = at % GROUPS
        return group

    @property
    def each(self) -> int:
        """How many trainings a setting takes."""
        return self.folds if self.by_folds else 1

    @property
    def documents(self) -> float:
        """The mean number of documents of a training."""
        if self.by_folds:
            return self.data.queries.n_documents * (self.folds - 1) / self.folds
        return self.train.queries.n_documents

    @cached_property
    def weight(self) -> NDArray[np.float64]:
        """The weight of each measured query."""
        measured = self.data if self.valid is None or self.by_folds else self.valid
        return np.asarray(measured.queries.query_weight, dtype=np.float64)

    @cached_property
    def space(self) -> Space:
        """The values that the search sets."""
        return Space(int(self.documents), tuple(self.params))

    @property
    def trains_by_position(self) -> bool:
        """Whether a candidate reads positions; else they are kept from trainings, where LightGBM's own would."""
        return any(getattr(candidate.objective, "reads_positions", False) for candidate in self.candidates)

    @property
    def n_workers(self) -> int:
        """Number of processes: no more than there are processors, and trials in the budget."""
        import joblib

        trials = 10_000 if self.settings is None else self.settings
        worth = min(trials // TRIALS, int(1 + self.documents * trials // ROWS))
        return max(1, min(self.workers or worth, trials, joblib.cpu_count()))

    def about(self) -> dict[str, Any]:
        """What a study shares with the call that resumes it."""
        engines = {candidate.engine: engine_version(candidate.engine) for candidate in self.candidates}
        return {
            "data": digest_of([self.train, self.valid]),
            "measures": list(map(text_of, self.measures)),
            "candidates": [
                f"{c.name} on {c.engine}, {text_of(c.objective)}, {c.knobs!r}" for c in self.candidates
            ],
            "params": {name: repr(value) for name, value in self.params.items()},
            "settings": [self.each, self.rounds, self.patience, self.seed],
            "versions": {"lambdaboost": version("lambdaboost"), **engines},
        }

    @cached_property
    def digest(self) -> str:
        """SHA-256 of `about`, in hex."""
        return hashlib.sha256(json.dumps(self.about()).encode()).hexdigest()

    def outer(self, at: int) -> tuple[Request, Collection, NDArray[np.bool_]]:
        """An outer fold: the search without it, the part that is held out, and which of all queries these are.

        The search's parts are split in the proportion of the given ones.
        """
        data, fold = self.data, self._outer_folds
        train, valid = data.take(fold != at), None
        if self.valid is not None and not self.by_folds:
            n_train, n_valid = (part.queries.n_queries for part in self.given.values())
            share = min(max(2, round((n_train + n_valid) / n_valid)), np.unique(query_contents(train)).size)
            inner = fold_of_query(train, share, self.seed + 2)
            train, valid = train.take(inner != 0), train.take(inner == 0)
        split: Split = "folds" if self.by_folds else "given"
        request = replace(self, train=train, valid=valid, split=split, nested=0)
        return request, data.take(fold == at).shuffled(self.seed), fold == at

    @cached_property
    def _outer_folds(self) -> NDArray[np.int64]:
        return fold_of_query(self.data, self.nested, self.seed + 1)  # other folds than those of the search


def checked_measures(measure: Any) -> tuple[Measure, ...]:
    """One measure or several, parsed."""
    several = isinstance(measure, Iterable) and not isinstance(measure, Measure | str)
    given = measure if several else (measure,)
    measures = tuple(dict.fromkeys(parse(one) if isinstance(one, str) else one for one in given))
    if not measures or not all(isinstance(one, Measure) for one in measures):
        raise TypeError(
            f"measure is {plain(repr(measure))}: give a measure such as NDCG(10) or 'ndcg@10', or several"
        )
    return measures


def checked_engines(engine: Any) -> tuple[str, ...]:
    """The engines to try, the first one for lambdaboost's objectives; raises if it is unknown or not installed."""
    if engine is not None and engine not in ENGINES:
        raise ValueError(
            f"engine is {plain(repr(engine))}, expected one of {', '.join(ENGINES)}, or None for all"
        )
    first = first_installed() if engine is None else engine
    package(first)
    return (first, *(name for name in installed() if engine is None and name != first))


def checked_params(params: Any, engines: Iterable[str]) -> dict[str, Any]:
    """The fixed parameters as plain values; raises for one that an engine does not know, or `tune` cannot fix."""
    if params is None:
        return {}
    if not isinstance(params, Mapping):
        raise TypeError(f"params is a {type(params).__name__}, expected a dict of the engine's parameters")
    fixed = {key: _plain(key, value) for key, value in params.items()}
    for engine in map(engine_named, engines):
        for key, value in fixed.items():
            if key in engine.RESERVED:
                raise ValueError(
                    f"params has {plain(repr(key))}: leave it out; tune sets objective, rounds, measure and seed"
                )
            if isinstance(value, str) and value in UNFIT:
                raise ValueError(f"params has {key}={value!r}: {UNFIT[value]}; leave it out")
            if key not in engine.PARAMETERS:
                raise ValueError(
                    f"params has {plain(repr(key))}, which {engine.TITLE} does not know: correct it, or set engine= to "
                    "the engine it belongs to"
                )
    if fixed.get("feature_pre_filter", False) is not False:
        raise ValueError(
            "params has feature_pre_filter: leave it out; LightGBM would drop the features that the smallest leaf of "
            "the first trial cannot split, for all trials"
        )
    return fixed


def _plain(key: str, value: Any) -> Any:
    """A parameter as Python's own numbers, texts and lists, which a script can hold."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(key, item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(key, item) for name, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"params has {plain(key)}={value}: give a finite number")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"params has {plain(key)}={plain(repr(value))}: give a number, a text, or a list of them")
