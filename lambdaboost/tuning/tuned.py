"""`Tuned`: the result of `tune`."""

from __future__ import annotations

import html
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lambdaboost._installed import SUFFIXES, engine_named, engine_of
from lambdaboost._value import text_of
from lambdaboost.datasets import Columns
from lambdaboost.native import NativeObjective
from lambdaboost.saving import save
from lambdaboost.tuning.request import Request
from lambdaboost.tuning.training import Trial, objective_of, train_lightgbm, train_xgboost


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
        return f"Tuned({self.objective!r}, {self.rounds} rounds of {engine_named(self.engine).TITLE})\n{self.verdict}"

    def _repr_html_(self) -> str:
        """The verdict as a list, and the tables, for notebooks."""
        bullets = "".join(f"<li>{html.escape(line[2:])}</li>" for line in self.verdict.splitlines())
        title = html.escape(f"{self.objective!r}, {self.rounds} rounds of {engine_named(self.engine).TITLE}")
        tables = (
            frame.to_html(index=False, float_format="{:.4g}".format)
            for frame in (self.comparison, self.trials)
        )
        shown = zip(("Comparison", "Trials"), tables, strict=True)
        parts = (f"<details><summary>{name}</summary>{table}</details>" for name, table in shown)
        return f"<b>{title}</b><ul>{bullets}</ul>{''.join(parts)}"

    @property
    def engine(self) -> str:
        """The name of the engine."""
        return str(engine_of(self.booster))

    def save(self, path: str | Path, about: Mapping[str, Any] | None = None) -> None:
        """Write the model, and beside it ``PATH.json``, which `lambdaboost.load` and the command line read.

        `about` holds further entries for the description.
        """
        tuning = {"verdict": self.verdict, "settings": len(self.trials)}
        further = {"rounds": self.rounds, "rounds_kept": self.rounds, "tuning": tuning}
        if self.data["features"]:
            read = Columns(features=self.data["features"], categories=self.data["categories"])
            further |= read.record()
        save(
            self.booster,
            path,
            objective=self.objective,
            params=self.params,
            about=further | dict(about or {}),
        )

    def script(self, read: str = "", out: str = "") -> str:
        """Python with a function that trains the model again on a `Collection`, by public names alone.

        With lines that `read` the data as ``data``, it calls the function and saves the model as `out`.
        """
        native = isinstance(self.objective, NativeObjective)
        objective = repr(self.objective.name) if native else f"parse({text_of(self.objective)!r})"
        function = train_lightgbm if self.engine == "lightgbm" else train_xgboost
        given = f"data, OBJECTIVE, PARAMS, {self.rounds}, {self.data['seed']}, {self.data['by_position']}"
        text = (
            "from typing import Any\n\nimport numpy as np\n\n"
            f"from lambdaboost import attach\n{'' if native else 'from lambdaboost.objectives import parse'}\n\n"
            f"OBJECTIVE = {objective}\nPARAMS = {self.params!r}\n\n\n{inspect.getsource(function)}\n\n"
            f'def fit(data: Any) -> Any:\n    """The model that tune chose."""\n'
            f"    return {function.__name__}({given})\n"
        )
        end = f"\n\n{read}fit(data).save_model({out or f'model{SUFFIXES[self.engine][0]}'!r})\n"
        return text + end if read else text


def make(
    request: Request, trials: list[Trial], model: tuple[Any, Any, dict[str, Any], int], **found: Any
) -> Tuned:
    """The result of a search from its model and what was `found`."""
    data = {
        "seed": request.seed,
        "by_position": request.trains_by_position,
        "features": request.train.feature_names,
        "categories": dict(request.train.categories),
    }
    return Tuned(*model, frame_of(request, trials), **found, data=data)


def frame_of(request: Request, trials: list[Trial]) -> Any:
    """All trials: a pandas frame, in the order in which they began."""
    import pandas as pd

    rows = []
    for one in trials:
        engine = request.candidates[one.setting.candidate].engine
        row = {
            "trial": one.number,
            "phase": one.setting.phase,
            "candidate": one.setting.candidate,
            "engine": engine,
        }
        row |= {"objective": text_of(objective_of(request, one.setting)), "state": one.state}
        row |= {repr(m): mean for m, mean in zip(request.measures, one.means, strict=False)}
        row |= {"folds": one.folds, "rounds": one.rounds, "seconds": one.seconds, "error": one.error}
        rows.append(row | dict(one.setting.trees or {}))
    return pd.DataFrame(rows)
