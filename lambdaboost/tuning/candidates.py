"""`Candidate`: an objective on an engine that `tune` tries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lambdaboost._installed import engine_package
from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.native import NATIVE, NativeObjective, read_objective
from lambdaboost.objectives import GradientStep
from lambdaboost.objectives.mcrank import GradeModel
from lambdaboost.tuning.knobs import Knob

CUTOFF = Knob("truncation", 3, 100, 30, log=True, whole=True)
PAIRS = Knob("pairs", 4, 100, 32, log=True, whole=True)
# What the engines' own objectives let the search set: the parameter of the engine, and its knob.
NATIVE_KNOBS = {
    "lambdarank": ("lambdarank_truncation_level", CUTOFF),
    **dict.fromkeys(NATIVE["XGBoost"], ("lambdarank_num_pair_per_sample", PAIRS)),
}
STEPS = "by gradient steps"
NAMES = {name: owner.lower() for owner, names in NATIVE.items() for name in names}


@dataclass(frozen=True)
class Candidate:
    """An objective on an engine; `knobs` stand in its text by name, in braces.

    Attributes
    ----------
    text : str
        The objective, such as ``"RankNet(sigma={sigma})"``.
    engine : str
        The engine that trains.
    leaves : "engine", "gradient" or "newton"
        The kind of leaves.
    knobs : tuple of Knob
        What the search sets of the objective.
    params : tuple of (str, str)
        Parameters of the engine that hold a knob, for the engines' own objectives.
    turn : int
        Its turn among the first trials, the lowest first, which matters where half of the budget is too small for all.
    label : str
        Its name in tables; by default the objective that it starts from.
    given : Any
        An objective that was given as an object, instead of a text.

    """

    text: str
    engine: str
    leaves: Leaves = "engine"
    knobs: tuple[Knob, ...] = ()
    params: tuple[tuple[str, str], ...] = ()
    turn: int = 0
    label: str = ""
    given: Any = None

    @property
    def name(self) -> str:
        """Its name in tables."""
        steps = f" {STEPS}" if self.leaves == "gradient" else ""
        return self.label or f"{self.objective()!r}{steps}"

    @property
    def start(self) -> dict[str, float]:
        """The first value of each knob."""
        return {knob.name: knob.start for knob in self.knobs}

    @property
    def steps(self) -> bool:
        """Whether its trees are grown by gradient steps, so that the smallest leaf counts documents."""
        return self.leaves == "gradient" or isinstance(self.objective(), GradientStep)

    def objective(self, values: Mapping[str, float] | None = None) -> Any:
        """The objective with these knobs, by default with those that it starts from."""
        if self.given is not None:
            return self.given
        return read_objective(self.text.format(**(self.start if values is None else values)))

    def engine_params(self, values: Mapping[str, float]) -> dict[str, Any]:
        """The parameters of the engine that hold its knobs."""
        return {name: values[knob] for name, knob in self.params}


def native(name: str, turn: int = 0) -> Candidate:
    """The candidate of an engine's own objective."""
    found = [NATIVE_KNOBS[name]] if name in NATIVE_KNOBS else []
    knobs, params = (
        tuple(knob for _, knob in found),
        tuple((parameter, knob.name) for parameter, knob in found),
    )
    return Candidate(name, NAMES[name], knobs=knobs, params=params, turn=turn)


def given(objectives: Iterable[Any], engines: Sequence[str]) -> tuple[Candidate, ...]:
    """Candidates of the objectives that were named, without knobs.

    Raises
    ------
    TypeError, ValueError
        If a text cannot be parsed, an engine's own objective is of none of `engines`, or something is no objective.

    """
    listed = (objectives,) if isinstance(objectives, str) or hasattr(objectives, "gradient") else objectives
    found = tuple(_one(objective, engines) for objective in listed)
    if not found:
        raise ValueError("objectives is empty: name at least one, such as 'LambdaRank', or leave it out")
    names = [candidate.name for candidate in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"objectives has {twice[0]} twice: name it once")
    return found


def _one(objective: Any, engines: Sequence[str]) -> Candidate:
    rule = read_objective(objective)
    if isinstance(rule, NativeObjective):
        engine = NAMES[rule.name]
        if engine not in engines:
            engine_package(engine)
            raise ValueError(
                f"objectives has {rule.name!r}, which is {rule.owner}'s own, but the engine is {', '.join(engines)}: "
                f"give engine={engine!r}"
            )
        return native(rule.name)
    if isinstance(rule, GradeModel) or not hasattr(rule, "gradient"):
        raise TypeError(f"objectives has {objective!r}: give objectives such as LambdaRank(), or their texts")
    rule.refuse_on_engines()
    return Candidate("", engines[0], given=rule)
