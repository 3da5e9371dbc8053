"""`Candidate`: an objective on an engine that `tune` tries, with the numbers that the search sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lambdaboost._installed import package
from lambdaboost._words import plain
from lambdaboost.native import NATIVE, NativeObjective, read_objective
from lambdaboost.objectives import GradientStep

STEPS = "by gradient steps"
ENGINE_OF = {name: owner.lower() for owner, names in NATIVE.items() for name in names}


@dataclass(frozen=True)
class Knob:
    """A number that the search sets."""

    name: str
    low: float  # both ends are included
    high: float
    start: float  # the first value
    log: bool = False  # whether it is searched by its logarithm
    whole: bool = False
    field: str = (
        ""  # of the objective that holds it, such as "metric.k"; "" where a parameter of the engine does
    )
    params: tuple[str, ...] = ()  # the names of that parameter, the main one first

    def asked(self, trial: Any, name: str) -> float:
        """The value that an Optuna trial suggests."""
        if self.whole:
            return int(trial.suggest_int(name, int(self.low), int(self.high), log=self.log))
        return float(trial.suggest_float(name, self.low, self.high, log=self.log))

    def rounded(self, value: float) -> float:
        """A value of the sampler with four digits, so that scripts stay readable."""
        return int(value) if self.whole else float(f"{value:.4g}")


CUTOFF = Knob("truncation", 3, 100, 30, log=True, whole=True)
PAIRS = Knob("pairs", 4, 100, 32, log=True, whole=True, params=("lambdarank_num_pair_per_sample",))
NATIVE_KNOBS = {
    "lambdarank": (replace(CUTOFF, params=("lambdarank_truncation_level",)),),
    **dict.fromkeys(NATIVE["XGBoost"], (PAIRS,)),
}


@dataclass(frozen=True)
class Candidate:
    """An objective on an engine.

    >>> from lambdaboost import NDCG, LambdaRank
    >>> knobs = (replace(CUTOFF, field="metric.k"),)
    >>> Candidate(LambdaRank(NDCG(3)), "lightgbm", knobs=knobs).objective_with({"truncation": 7})
    LambdaRank(metric=NDCG(k=7))
    """

    objective: Any  # with the values that its knobs start from
    engine: str
    knobs: tuple[Knob, ...] = ()
    label: str = ""  # its name in tables; by default the objective
    of_ndcg: str = ""  # its name where the measure is NDCG, if it has another here
    of_data: bool = False  # whether only these data have it, by their measures or label sources

    @property
    def name(self) -> str:
        """Its name in tables."""
        if self.label or not self.steps:
            return self.label or repr(self.objective)
        return (
            f"{self.objective.objective!r} {STEPS}"
            if self.objective.normalize == "query"
            else repr(self.objective)
        )

    @property
    def key(self) -> str:
        """Its name in the portfolio."""
        return self.of_ndcg or self.name

    @property
    def steps(self) -> bool:
        """Whether its trees are grown by gradient steps, so that the smallest leaf counts documents."""
        return isinstance(self.objective, GradientStep)

    def objective_with(self, values: Mapping[str, float]) -> Any:
        """The objective with these values of its knobs; others stay as they are."""
        found = self.objective
        for knob in self.knobs:
            if knob.field and knob.name in values:
                found = _with_field(found, knob.field, values[knob.name])
        return found


def _with_field(value: Any, field: str, new: float) -> Any:
    name, _, rest = field.partition(".")
    return replace(value, **{name: _with_field(getattr(value, name), rest, new) if rest else new})


def native(name: str) -> Candidate:
    """The candidate of an engine's own objective."""
    return Candidate(NativeObjective(name), ENGINE_OF[name], knobs=NATIVE_KNOBS.get(name, ()))


def given(objectives: Any, engines: Sequence[str]) -> tuple[Candidate, ...]:
    """Candidates of the objectives that were named, without knobs; raises for what is no objective of the engines."""
    if isinstance(objectives, str) or hasattr(objectives, "gradient"):
        objectives = (objectives,)
    if not isinstance(objectives, Iterable):
        raise TypeError(
            f"objectives is {plain(repr(objectives))}: give objectives such as LambdaRank(), or their texts"
        )
    found = tuple(_one(objective, engines) for objective in objectives)
    if not found:
        raise ValueError("objectives is empty: name at least one, such as 'LambdaRank', or leave it out")
    names = [candidate.name for candidate in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"objectives has {twice[0]} twice: name it once")
    return found


def _one(objective: Any, engines: Sequence[str]) -> Candidate:
    rule = read_objective(objective)
    if isinstance(rule, NativeObjective):
        engine = ENGINE_OF[rule.name]
        if engine not in engines:
            package(engine)
            raise ValueError(
                f"objectives has {rule.name!r}, which is {rule.owner}'s own, but the engine is {', '.join(engines)}: "
                f"give engine={engine!r}"
            )
        return native(rule.name)
    if not hasattr(rule, "gradient"):
        raise TypeError(
            f"objectives has {plain(repr(objective))}: give objectives such as LambdaRank(), or their texts"
        )
    rule.refuse_on_engines()
    return Candidate(rule, engines[0])
