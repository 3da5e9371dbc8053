"""`Checkpoint`, the file in which a training keeps its state, and the step that saves and resumes it."""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from lambdaboost._checks import check_whole
from lambdaboost._files import check_place, replacing
from lambdaboost._installed import engine_version
from lambdaboost._value import Value, text_of
from lambdaboost.calls.data import is_lightgbm, queries_of
from lambdaboost.calls.traps import Case
from lambdaboost.datasets import Queries
from lambdaboost.engines.job import Figure, Job, Step
from lambdaboost.engines.traps import RESUMED, SAVED, look_at
from lambdaboost.objectives.mcrank import GradeModel

FORMAT = 3
# The first line of a checkpoint; the digest is that of everything after it.
HEADER = re.compile(rb'\{"lambdaboost checkpoint": (\d{1,9})\b(?:, "sha256": "([0-9a-f]{64})"\}\n)?')


@dataclass(frozen=True)
class Checkpoint:
    """Where `train` saves its state, and every how many rounds.

    The same call of `train` resumes from the checkpoint and gives the model of an uninterrupted run: one file holds the
    trees so far, the round of schedules and the evaluation history. A checkpoint of other parameters, another
    objective, schedule, labels, or engine version is refused; so are features that the model so far scores differently,
    and a damaged file. The file is replaced atomically. It stays after the training; you may delete it.

    Two things differ from an uninterrupted run. What the engine samples (bagging, features) is sampled anew where it
    resumes, which a warning says: the model is as good, but not the same. Your own callbacks see only the rounds that
    are trained, not those of the checkpoint; the engine's own, such as early stopping, see all.

    Parameters
    ----------
    path : str or Path
        The file, in an existing folder.
    every : int
        The number of rounds between two saves.

    Examples
    --------
    >>> Checkpoint("ranker.checkpoint", every=50)
    Checkpoint(path='ranker.checkpoint', every=50)

    """

    path: str | Path
    every: int = 10

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | Path):
            raise TypeError(f"path is {self.path!r}, expected the name of a file")
        every = check_whole("every", self.every, remedy="give a whole number of rounds ≥ 1")
        object.__setattr__(self, "every", every)


@dataclass(frozen=True, eq=False)
class State:
    """A training so far."""

    rounds: int
    model: str
    history: Sequence[Sequence[Any]]  # what was evaluated in each round
    made_with: Mapping[str, str]  # what a training that resumes it must have in common, by name
    scores: Mapping[str, float]


def read(path: Path) -> State | None:
    """The state in a file, or None where there is no file; a ValueError if a single bit has changed."""
    check_place("checkpoint", path)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    header = HEADER.match(content)
    if header is None:
        raise ValueError(
            f"checkpoint {path} is not a checkpoint of lambdaboost: delete it, or give another path"
        )
    if int(header[1]) != FORMAT:
        raise ValueError(
            f"checkpoint {path} is of format {int(header[1])}, this version of lambdaboost reads format {FORMAT}: "
            "delete it to start over, or give another path"
        )
    body = content[header.end() :]
    if header[2] != hashlib.sha256(body).hexdigest().encode():
        raise ValueError(
            f"checkpoint {path} is damaged, its content differs from what was written: delete it to start over, or "
            "restore a copy"
        )
    return State(**json.loads(body))


def write(path: Path, state: State) -> None:
    """Replace the checkpoint; where that fails, warn and keep the last one: the training is worth more."""
    body = json.dumps(vars(state)).encode()
    header = {"lambdaboost checkpoint": FORMAT, "sha256": hashlib.sha256(body).hexdigest()}
    try:
        with replacing(path) as file:
            file.write(json.dumps(header).encode() + b"\n" + body)
    except OSError as error:
        warnings.warn(
            f"the checkpoint {path} could not be saved after round {state.rounds}: {error}. Training goes on; "
            "the file still holds the last checkpoint that could be saved",
            stacklevel=2,
        )


class Saved(Step):
    """Takes a job up where its checkpoint left it, or says why it cannot, and saves it from then on."""

    def __init__(self, job: Job, given: Checkpoint | str | Path) -> None:
        checkpoint = Checkpoint(given) if isinstance(given, str | Path) else given
        engine = job.engine
        if isinstance(job.rule, GradeModel):
            raise ValueError(
                f"checkpoint with {job.rule!r}: trainings of classifiers cannot be resumed; train without checkpoint"
            )
        if job.model is not None:
            raise ValueError(
                f"checkpoint and {engine.continued} are both given: a checkpoint continues its own model"
            )
        if not isinstance(checkpoint, Checkpoint):
            raise TypeError(
                f"checkpoint is {checkpoint!r}, expected Checkpoint('ranker.checkpoint', every=50) or a path"
            )
        sets = [job.data, *(valid for _, valid in job.evaluated)]
        look_at(SAVED, Case(engine, job.rule, job.params, sets))
        super().__init__(job)
        self.path, self.every, self.last = Path(checkpoint.path), checkpoint.every, job.rounds
        self.history: list[Sequence[Any]] = []
        self.made_with = {"engine": f"{engine.name} {engine_version(engine.name)}"}
        self.state = read(self.path)
        if self.state is None:
            return
        self._compare({**self.state.made_with, **self.made_with})
        if job.rounds <= self.state.rounds:
            raise ValueError(
                f"checkpoint {self.path} holds {self.state.rounds} rounds and rounds is {job.rounds}: ask for more "
                "rounds, delete it, or give another path"
            )
        self.history = list(self.state.history)
        job.done, job.rounds = self.state.rounds, job.rounds - self.state.rounds
        job.model = self.state.model.encode()

    def begin(self) -> None:
        """Raise where the checkpoint is of another training; else replay its rounds to the engine's callbacks."""
        job = self.job
        params = job.engine.understood(job.boosters[0][0], job.params)
        look_at(RESUMED, Case(job.engine, job.rule, params))
        self.made_with |= _made_with(job, params)
        if self.state is not None:
            self._compare(self.made_with | _schedules(job.rule, self.state.rounds))
            before, now = self.state.scores, self._scores()
            if abs(now["sum"] - before["sum"]) > 1e-6 * max(now["scale"], before["scale"]):
                raise self._other(
                    "its model scores this data otherwise than the data that it was trained on, so features differ"
                )
            job.replay([[Figure(*figure) for figure in of_round] for of_round in self.history])

    def after_round(self) -> None:
        """Record what was evaluated; raise if it is something else than before."""
        figures = [
            Figure(data, name, float(value), bool(higher)) for data, name, value, higher in self.job.figures
        ]
        if self.history:
            before, now = ([" ".join(figure[:2]) for figure in of] for of in (self.history[-1], figures))
            if before != now:
                raise self._other(f"it evaluated {before}, this one {now}")
        self.history.append(figures)

    def end_round(self) -> None:
        """Save, unless that was the last round: a checkpoint of all rounds could not be resumed."""
        done = len(self.history)
        if done % self.every or done >= self.last:
            return
        ((booster, _),) = self.job.boosters
        model = self.job.engine.write(booster, ".json").decode()
        made_with = self.made_with | _schedules(self.job.rule, done)
        write(self.path, State(done, model, self.history, made_with, self._scores()))

    def _scores(self) -> dict[str, float]:
        """A fingerprint of the scores of all training documents: a weighted sum, and its scale."""
        ((booster, data),) = self.job.boosters
        s = np.asarray(self.job.engine.training_scores(booster, data), dtype=np.float64)
        weight = np.random.default_rng(0).uniform(0.5, 1.5, s.size)
        return {"sum": float(weight @ s), "scale": float(weight @ np.abs(s))}

    def _compare(self, now: Mapping[str, str]) -> None:
        before = {} if self.state is None else self.state.made_with
        differences = [
            f"{name} was {before.get(name, 'not given')}, now {now.get(name, 'not given')}"
            for name in dict.fromkeys([*before, *now])
            if before.get(name) != now.get(name)
        ]
        if differences:
            raise self._other("; ".join(differences))

    def _other(self, difference: str) -> ValueError:
        return ValueError(
            f"checkpoint {self.path} is of another training: {difference}. Give the same again, delete it to start "
            "over, or give another path"
        )


def _made_with(job: Job, params: Mapping[str, Any]) -> dict[str, str]:
    ((_, data),) = job.boosters
    q = queries_of(data, job.sources)
    made_with = {
        "number of features": str(data.num_feature() if is_lightgbm(data) else data.num_col()),
        # The text of a function has its address in memory; its values are compared as the schedule.
        "objective": re.sub(r" at 0x[0-9a-f]+", "", text_of(job.rule)),
        "leaves": job.leaves,
        "number of documents": str(q.n_documents),
        "number of queries": str(q.n_queries),
        **_digests("", q),
    }
    for name, value in sorted(params.items()):
        if name not in job.engine.free:
            made_with[f"params[{name!r}]"] = _text(value)
    for name, valid in job.evaluated:
        if valid is not data:
            made_with |= _digests(f"validation data {name!r}: ", queries_of(valid, job.sources))
    return made_with


def _digests(prefix: str, q: Queries) -> dict[str, str]:
    """Digests of queries, labels and weights, and of positions, by name."""
    labels = [part for pair in sorted(q.labels.items()) for part in pair]
    of = {f"{prefix}labels": _digest(q.offsets, *labels, q.weight)}
    if q.positions is not None:
        of[f"{prefix}positions"] = _digest(q.positions.codes, q.positions.names)
    return of


def _schedules(rule: Any, rounds: int) -> dict[str, str]:
    """The values of the rule's schedules in the rounds that are done."""
    values = [[float(schedule(m)) for m in range(rounds)] for schedule in schedules_in(rule)]
    return {"schedule": _digest(values).removeprefix("sha256 ")} if values else {}


def schedules_in(rule: Any) -> Iterator[Any]:
    """The schedules of an objective and of its parts that are functions; the text of others says all."""
    for part in fields(rule) if isinstance(rule, Value) else ():  # type: ignore[arg-type]
        value = getattr(rule, part.name)
        for inner in value if isinstance(value, tuple) else (value,):
            if isinstance(inner, Value):
                yield from schedules_in(inner)
            elif callable(inner) and part.name in ("weight", "weights"):
                yield inner


def _digest(*parts: Any) -> str:
    sha = hashlib.sha256()
    for part in parts:
        array = isinstance(part, np.ndarray)
        sha.update(np.ascontiguousarray(part).tobytes() if array else repr(part).encode())
    return f"sha256 {sha.hexdigest()[:16]}"


def _text(value: Any) -> str:
    """A parameter in one spelling: 1, 1.0 and ``np.float64(1)`` are the same."""
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        return repr(float(value))
    return str(value)
