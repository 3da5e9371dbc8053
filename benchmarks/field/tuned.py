"""`Tune`: `lambdaboost.tune` on a fold, with as many trainings as every fixed objective has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.field.trainers import PATIENCE, ROUNDS, Prepared, matrix
from experiments.common.workers import Outcome
from lambdaboost import NDCG
from lambdaboost.datasets import Collection
from lambdaboost.engines.engine import engine_named

# Rows of the tables, and what they choose.
CHOICES: dict[str, Literal["best", "simplest"]] = {
    "tune, best": "best",
    "tune, simplest within 1 SE": "simplest",
}


@dataclass(frozen=True)
class Tune:
    """A search by `tune` on the training and validation part of a fold."""

    data: str
    fold: int
    trainings: int


def found_by_tune(
    data: Prepared,
    test: Collection,
    measure: NDCG,
    trainings: int,
    seed: int,
    study: Path,
    figures: Callable[..., Outcome],
) -> Outcome:
    """The figures of every choice, without and with a refit, all from one search; what was chosen, and the seconds."""
    study.parent.mkdir(exist_ok=True)
    outcome: Outcome = {}
    for row, choose in CHOICES.items():
        for refit in (False, True):
            tuned = _tuned(data, measure, trainings, seed, choose, refit, study)
            scores = engine_named(tuned.engine).scores(tuned.booster, matrix(test))
            outcome |= {f"{row} {refit} {name}": x for name, x in figures(scores, test).items()}
            outcome[f"{row} {refit} chosen"] = np.array(tuned.choice.name(tuned.chosen))
            outcome["seconds"] = np.array(tuned.trials["seconds"].sum())
    return outcome


def _tuned(
    data: Prepared,
    measure: NDCG,
    trainings: int,
    seed: int,
    choose: Literal["best", "simplest"],
    refit: bool,
    study: Path,
) -> Any:
    """The result of a search; one with the same study resumes a search of fewer trainings."""
    from lambdaboost import tune

    train, valid = _dense(data.train), _dense(data.valid)
    return tune(
        train,
        _without_twins(valid, train),
        measure=measure,
        settings=trainings,
        split="given",
        rounds=ROUNDS,
        patience=PATIENCE,
        choose=choose,
        refit=refit,
        study=study,
        workers=1,
        seed=seed,
    )


def _dense(part: Collection | None) -> Collection:
    """The features that all other candidates see."""
    assert part is not None
    return Collection(matrix(part), part.queries)


def _without_twins(valid: Collection, train: Collection) -> Collection:
    """Without queries equal to one that trains, which `tune` refuses: a search log has a few under two names."""
    from lambdaboost.tuning.folds import query_contents

    return valid.take(np.flatnonzero(~np.isin(query_contents(valid), query_contents(train))))
