"""MO-LightGBM (Mahapatra et al. 2023) on the same data: its methods by its own recipe, if you give its executable.

https://github.com/amazon-science/MO-LightGBM is a fork of LightGBM 3.2.1; build it as its README says.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from experiments.several_goals.sets import SECOND, Goals, Parts
from experiments.several_goals.training import PARAMS, Scores, outcome, predictor
from lambdaboost.datasets import Collection

BY_PREFERENCE = (
    "linear_scalarization",
    "stochastic_label_aggregation",
    "chebyshev_scalarization",
    "epo_search",
    "wc_mgda",
)
BY_BOUND = "e_constraint"
METHODS = (*BY_PREFERENCE, BY_BOUND)
TRADE_OFFS = 5
LEVELS = 26  # of the second labels
CLICK_SCALE = 4  # of CNDCG
FINISHED = "Finished training"  # its last line
GRADE_COLUMN, QUERY_COLUMN = "grade", "qid"


def named(method: str, at: int | str) -> str:
    """The name of a system."""
    return f"MO-LightGBM {method}, {at}"


@dataclass(frozen=True)
class MOLightGBM:
    """The executable, and the number of rounds."""

    executable: Path
    rounds: int

    def __call__(self, goals: Goals, parts: Parts) -> dict[str, Scores]:
        """Figures of every method at each of its trade-offs."""
        with TemporaryDirectory() as made:
            training = _Training(self.executable, Path(made), self.rounds, goals, parts)
            return training.all_methods()


@dataclass(frozen=True)
class _Training:
    executable: Path
    folder: Path
    rounds: int
    goals: Goals
    parts: Parts

    def all_methods(self) -> dict[str, Scores]:
        top = int(np.nanmax(self.parts.train.queries.relevance))
        write_table(self.folder / "train.tsv", self.parts.train, top)
        gains = label_gains(top, self.goals.gain)
        settings = {"label_gain": ",".join(f"{gain:.9g}" for gain in gains)}
        found: dict[str, Scores] = {}
        costs = {}
        for at, alone in enumerate(("1,0", "0,1")):
            single = {"mg_combination": "stochastic_label_aggregation", "mo_preferences": alone}
            kept, costs[at] = self._trained(named("single goal", at), settings | single)
            found |= kept
        for method in BY_PREFERENCE:
            for at, preference in enumerate(preferences(costs[0], costs[1], TRADE_OFFS)):
                text = ",".join(f"{p:.9g}" for p in preference)
                options = settings | {"mg_combination": method, "mo_preferences": text}
                found |= self._trained(named(method, at), options)[0]
        for at, bound in enumerate(np.linspace(costs[1][0], costs[0][0], TRADE_OFFS)):
            options = {"mg_combination": BY_BOUND, "mo_preferences": "1,1", "mo_ub_sec_obj": f"{bound:.9g}"}
            found |= self._trained(named(BY_BOUND, at), settings | options)[0]
        return found

    def _trained(self, name: str, settings: Mapping[str, str]) -> tuple[dict[str, Scores], Scores]:
        """The figures of a training, and its last costs on the training data: of the grades, of the second source."""
        model = self.folder / "model.txt"
        model.unlink(missing_ok=True)
        options = {
            "task": "train",
            "objective_type": "lambdarank",
            "train_data_file": str(self.folder / "train.tsv"),
            "output_model": str(model),
            "header": "true",
            "group_column": f"name:{QUERY_COLUMN}",
            # Its last goal is the label, those before it are `mo_labels`.
            "label_column": f"name:{SECOND}",
            "mo_labels": f"name:{GRADE_COLUMN}",
            "ignore_column": f"name:{GRADE_COLUMN}",
            "metric": "objective",
            "is_training_metric": "true",
            "lambdarank_norm": "false",  # as in its example
            "num_thread": "1",
            "num_iterations": str(self.rounds),
            "num_leaves": str(PARAMS["num_leaves"]),
            "learning_rate": str(PARAMS["learning_rate"]),
        }
        given = [f"{key}={value}" for key, value in (options | dict(settings)).items()]
        ran = subprocess.run([self.executable, *given], capture_output=True, text=True, cwd=self.folder)
        # Some of its methods crash while they end, with the model written.
        if FINISHED not in ran.stdout:
            raise OSError(f"{self.executable} ended with {ran.returncode} at {name}: {ran.stdout[-300:]}")
        booster = lgb.Booster(model_str=model.read_text().partition("\nparameters:")[0])
        costs = re.findall(r"Training-loss: \[([^\]]*),\]", ran.stdout)[-1]
        width = self.parts.train.n_features + 2

        def predict(features: NDArray[np.floating]) -> Scores:
            columns = np.zeros((features.shape[0], width))  # its models count the other columns as features
            columns[:, 2:] = features
            return predictor(booster)(columns)

        return outcome(name, predict, self.goals, self.parts), np.array([float(c) for c in costs.split(",")])


def write_table(path: Path, collection: Collection, top: int) -> None:
    """A table of whole labels and features, as MO-LightGBM reads it."""
    q = collection.queries
    features = collection.features
    dense = features if isinstance(features, np.ndarray) else features.toarray()
    names = [GRADE_COLUMN, SECOND, QUERY_COLUMN, *(f"f{at}" for at in range(collection.n_features))]
    columns = [np.nan_to_num(q.relevance), levels(q.labels[SECOND], top), q.query_of_row, dense]
    np.savetxt(path, np.column_stack(columns), "%.9g", "\t", header="\t".join(names), comments="")


def levels(second: NDArray[np.floating], top: int) -> NDArray[np.float64]:
    """Whole labels past the highest grade; the lowest for a missing label."""
    rounded: NDArray[np.float64] = top + 1 + np.rint((LEVELS - 1) * np.nan_to_num(second.astype(np.float64)))
    return rounded


def label_gains(top: int, gain: str) -> NDArray[np.float64]:
    """Gains of the grades up to `top`, then those of CNDCG for the levels of the second source."""
    grades = np.arange(top + 1.0)
    of_grades = grades if gain == "linear" else np.exp2(grades) - 1
    return np.concatenate([of_grades, np.exp2(CLICK_SCALE * np.linspace(0, 1, LEVELS)) - 1])


def preferences(first: Scores, second: Scores, n: int) -> NDArray[np.float64]:
    """MO-LightGBM's recipe (its example/biobjectives.py), from the costs of the model of either goal; (n, 2)."""
    worst = np.array([second[0], first[1]])
    worst = np.maximum(worst / np.linalg.norm(worst), 1e-6)
    angles = [np.arctan((cost[1] / worst[1]) / (cost[0] / worst[0])) for cost in (second, first)]
    angle = np.linspace(angles[0], angles[1], n)
    inverse = np.column_stack([np.cos(angle), np.sin(angle)]) * worst
    found: NDArray[np.float64] = 1 / inverse
    return found / found.sum(axis=1, keepdims=True)
