"""`Tuned`: the result of `tune`."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lambdaboost._installed import SUFFIXES, TITLES, engine_named, engine_of
from lambdaboost._value import text_of
from lambdaboost.datasets import Columns
from lambdaboost.native import NativeObjective
from lambdaboost.saving import save

SCRIPT = """\
from lambdaboost.{engine} import LambdaRanker
{parse}

def fit(data):
    \"\"\"Train the model that tune chose on a lambdaboost.datasets.Collection.\"\"\"
    data = data.shuffled({seed})
    q = data.queries
    ranker = LambdaRanker(
        objective={objective},
        n_estimators={rounds},
        **{params},
    )
    ranker.fit(
        data.table({names!r}),
        q.relevance,
        sample_weight=q.weight,
        group=q.sizes,
        sources={{name: labels for name, labels in q.labels.items() if name != "relevance"}},
        position={position},
    )
    return ranker.{booster}
"""


@dataclass(frozen=True, eq=False, repr=False)
class Tuned:
    """The result of `tune`.

    `booster` is the model, a plain one of its engine, trained on all queries with `objective`, `params` and `rounds`;
    `trials` are all settings that were tried, and `comparison` the tests, both pandas frames; `verdict` says what the
    tests found, in bullets; `study` is Optuna's. `data` is what the script and a saved model need of the data.
    """

    booster: Any
    objective: Any
    params: dict[str, Any]
    rounds: int
    trials: Any
    comparison: Any
    verdict: str
    study: Any
    data: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Tuned({self.objective!r}, {self.rounds} rounds of {TITLES[self.engine]})\n{self.verdict}"

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
        return str(engine_of(self.booster))

    def save(self, path: str | Path, about: Mapping[str, Any] | None = None) -> None:
        """Write the model, and ``PATH.json``, which `lambdaboost.load` and the command line read.

        `about` holds further entries for the description.
        """
        tuning = {"verdict": self.verdict, "settings": len(self.trials)}
        further = {"rounds": self.rounds, "rounds_kept": self.rounds, "tuning": tuning}
        if self.data["features"]:
            read = Columns(features=self.data["features"], categories=self.data["categories"])
            further |= read.record()
        further |= dict(about or {})
        save(self.booster, path, objective=self.objective, params=self.params, about=further)

    def script(self, read: str = "", out: str = "") -> str:
        """Python with a function that trains the model again on a `Collection`, by `LambdaRanker`.

        With lines that `read` the data as ``data``, it calls the function and saves the model as `out`.
        """
        native, lightgbm = isinstance(self.objective, NativeObjective), self.engine == "lightgbm"
        text = SCRIPT.format(
            engine=self.engine,
            parse="" if native else "from lambdaboost.objectives import parse\n",
            objective=repr(self.objective.name) if native else f"parse({text_of(self.objective)!r})",
            rounds=self.rounds,
            params=self.params,
            seed=self.data["seed"],
            names=engine_named(self.engine).UNNAMED,
            position="q.positions" if self.data["by_position"] else None,
            booster="booster_" if lightgbm else "get_booster()",
        )
        end = f"\n\n{read}fit(data).save_model({out or f'model{SUFFIXES[self.engine][0]}'!r})\n"
        return text + end if read else text
