"""`Tuned`: the result of `tune`."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lambdaboost.datasets import Encoder
from lambdaboost.engines import ENGINES, engine_of
from lambdaboost.saving import save


@dataclass(frozen=True, eq=False, repr=False)
class Tuned:
    """The result of `tune`.

    `booster` is the model, a plain one of its engine, trained on all queries with `objective`, `params` and `rounds`;
    `trials` are all settings that were tried, and `comparison` the tests, both pandas frames; `verdict` says what the
    tests found, in bullets; `study` is Optuna's, and `columns` says which columns a saved model reads.
    """

    booster: Any
    objective: Any
    params: dict[str, Any]
    rounds: int
    trials: Any
    comparison: Any
    verdict: str
    study: Any
    columns: Encoder | None = None

    def __repr__(self) -> str:
        return (
            f"Tuned({self.objective!r}, {self.rounds} rounds of {ENGINES[self.engine].TITLE})\n{self.verdict}"
        )

    def _repr_html_(self) -> str:
        """The verdict as a list, and the tables, for notebooks."""
        title, *bullets = (html.escape(line) for line in repr(self).splitlines())
        items = "".join(f"<li>{line[2:]}</li>" for line in bullets)
        frames = {"Comparison": self.comparison, "Trials": self.trials}
        tables = (
            f"<details><summary>{name}</summary>{frame.to_html(index=False, float_format='{:.4g}'.format)}</details>"
            for name, frame in frames.items()
        )
        return f"<b>{title}</b><ul>{items}</ul>{''.join(tables)}"

    @property
    def engine(self) -> str:
        """The name of the engine."""
        engine: Any = engine_of(self.booster)
        return str(engine.NAME)

    def save(self, path: str | Path, about: Mapping[str, Any] | None = None) -> None:
        """Write the model, and ``PATH.json``, which `lambdaboost.load` and the command line read.

        `about` holds further entries for the description.
        """
        tuning = {"verdict": self.verdict, "settings": len(self.trials)}
        further = {"rounds": self.rounds, "rounds_kept": self.rounds, "tuning": tuning}
        further |= {} if self.columns is None else self.columns.to_dict()
        further |= dict(about or {})
        save(self.booster, path, objective=self.objective, params=self.params, about=further)
