"""`Setting`: what to train, and the script that trains it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lambdaboost._threads import using_one
from lambdaboost.datasets import Collection
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines.engine import Training, sources_of, trainer_named
from lambdaboost.engines.leaves import Leaves


@dataclass(frozen=True)
class Setting:
    """An engine, an objective with its leaves, the engine's parameters and the number of rounds."""

    engine: str
    objective: Any
    leaves: Leaves
    params: Mapping[str, Any]
    rounds: int

    def train(self, data: Collection) -> Any:
        """Train for exactly these rounds."""
        trainer = trainer_named(self.engine)
        training = Training(self.objective, self.leaves, self.rounds, self.params)
        with using_one():
            return trainer.train(training, trainer.data(data), None, lambda _: None)

    def script(
        self, data: Collection, parts: tuple[str, ...], seed: int, read: str = "", out: str = ""
    ) -> str:
        """Python that trains it again on `data`, which it makes of `parts`; `read` defines these."""
        matrix = {"lightgbm": "Dataset", "xgboost": "DMatrix"}[self.engine]
        further = [f"{name}: q.labels[{name}]" for name in map(repr, sources_of(data))]
        arguments = [f"label=q.labels[{RELEVANCE!r}]", "group=q.sizes"]
        arguments += ["weight=q.weight"] if data.queries.weight is not None else []
        arguments += [f"sources={{{', '.join(further)}}}"] if further else []
        arguments += ["position=q.positions"] if data.queries.positions is not None else []
        joins = "" if len(parts) < 2 else "from lambdaboost.datasets import Collection\n"
        # Both parts may name their queries alike.
        nameless = ", ".join(f"{part}.without_ids()" for part in parts)
        made = parts[0] if len(parts) < 2 else f"Collection.concat([{nameless}])"
        suffix = "txt" if self.engine == "lightgbm" else "ubj"
        objective = repr(self.objective)
        given = read or "# `train` and `valid` are the collections that were given to lambdaboost.tune.\n"
        return (
            f"{joins}from lambdaboost.{self.engine} import {matrix}, train as fit\n\n"
            f"{given}"
            f"data = {made}.shuffled({seed})\n"
            f"q = data.queries\n"
            f"matrix = {matrix}(data.features, {', '.join(arguments)})\n"
            f"params = {dict(self.params)!r}\n"
            f"booster = fit(params, matrix, {self.rounds}, objective={objective!r}, leaves={self.leaves!r})\n"
            f"booster.save_model({out or f'model.{suffix}'!r})\n"
        )
