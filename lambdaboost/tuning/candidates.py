"""`Candidate`: an objective on an engine that `tune` tries; the standard ones, from simple to complex."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.native import NATIVE, NativeObjective, read_objective
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.objectives import GradientStep
from lambdaboost.objectives.mcrank import GradeModel
from lambdaboost.objectives.swaps.registry import SWAPS
from lambdaboost.tuning.knobs import Knob

SIGMA = Knob("sigma", 0.5, 4.0, 1.0, log=True)
CUTOFF = Knob("truncation", 3, 100, 30, log=True, whole=True)
PAIRS = Knob("pairs", 4, 100, 32, log=True, whole=True)
WEIGHT = Knob("weight", 0.01, 0.5, 0.1, log=True)
NOISE = Knob("beta", 0.1, 3.0, 1.0, log=True)
BOUND = Knob("mu", 0.1, 10.0, 10.0, log=True)
SCHEDULE = (Knob("start", 0.0, 0.5, 0.1), Knob("rate", 1e-4, 1e-2, 1e-3, log=True))
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
    worth : int
        Its place among the first trials, 0 first, where the budget is too small for all.
    label : str
        Its name in tables; by default the objective that it starts from.
    given : Any
        An objective that was given as an object, in place of its text.

    """

    text: str
    engine: str
    leaves: Leaves = "engine"
    knobs: tuple[Knob, ...] = ()
    params: tuple[tuple[str, str], ...] = ()
    worth: int = 0
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


def standard(measure: Measure, engines: Sequence[str], sources: Iterable[str]) -> tuple[Candidate, ...]:
    """The candidates that are tried where none are named, from simple to complex.

    The engines' own objectives train on their engine, all others on the first of `engines`.

    >>> [c.name for c in standard(NDCG(3), ["xgboost"], ["clicks"])][:4]
    ['rank:ndcg', 'rank:pairwise', 'RankNet()', 'LambdaRank()']
    """
    engine = engines[0]
    ndcg = replace(measure, k=None, empty=0.0) if isinstance(measure, NDCG) else NDCG()
    cut = repr(replace(ndcg, k=1)).replace("k=1", "k={truncation}")
    high = max(30, 5 * (getattr(measure, "k", None) or 0))
    near = replace(CUTOFF, low=getattr(measure, "k", None) or 3, high=high)
    near = replace(near, start=min(max(getattr(measure, "k", None) or 10, near.low), high))
    table = [
        Candidate("lambdarank", "lightgbm", knobs=(CUTOFF,), params=((_TRUNCATION, "truncation"),), worth=2),
        Candidate("rank_xendcg", "lightgbm", worth=0),
        Candidate("rank:ndcg", "xgboost", knobs=(PAIRS,), params=((_PAIRS, "pairs"),), worth=4),
        Candidate("rank:pairwise", "xgboost", knobs=(PAIRS,), params=((_PAIRS, "pairs"),), worth=11),
        Candidate("RankNet(sigma={sigma})", engine, knobs=(SIGMA,), worth=10),
        Candidate(f"LambdaRank({_of(ndcg)}sigma={{sigma}})", engine, knobs=(SIGMA,), worth=1),
        Candidate(
            f"LambdaRank({cut}, sigma={{sigma}})",
            engine,
            knobs=(near, SIGMA),
            worth=8,
            label=f"LambdaRank({_of(ndcg)[:-2]}) with a cutoff",
        ),
    ]
    if not isinstance(measure, NDCG) and isinstance(measure, tuple(SWAPS)):
        own: Any = replace(measure, empty=0.0)  # type: ignore[type-var]
        table.append(Candidate(f"LambdaRank({own!r}, sigma={{sigma}})", engine, knobs=(SIGMA,), worth=3))
    table += [
        Candidate(f"XENDCG({_of(ndcg)[:-2]})", engine, worth=6),
        Candidate(
            f"LambdaLoss({_of(ndcg)}mu={{mu}})",
            engine,
            knobs=(BOUND,),
            worth=5,
            label=f"LambdaLoss({_of(ndcg)[:-2]})",
        ),
        Candidate(f"LambdaRank({_of(ndcg)}sigma={{sigma}})", engine, "gradient", (SIGMA,), worth=7),
        Candidate(
            f"Blend(LambdaRank({_of(ndcg)[:-2]}), SigmoidLocal({ndcg!r}), Linear({{start}}, {{rate}}))",
            engine,
            "gradient",
            SCHEDULE,
            worth=9,
            label=f"iteration_dependent() {STEPS}",
        ),
        Candidate(
            f"GumbelRanks(LambdaRank({_of(ndcg)[:-2]}), beta={{beta}})",
            engine,
            "gradient",
            (NOISE,),
            worth=3,
            label=f"GumbelRanks(LambdaRank({_of(ndcg)[:-2]})) {STEPS}",
        ),
    ]
    for source in sources:
        text = f"graded({{weight}}, source={source!r}, metric={ndcg!r})"
        for leaves in ("engine", "gradient"):
            label = f"graded(source={source!r})" + (f" {STEPS}" if leaves == "gradient" else "")
            table.append(Candidate(text, engine, leaves, (WEIGHT,), worth=-1, label=label))
    kept = [c for c in table if c.engine in engines]
    if "lightgbm" in engines and engine == "lightgbm":
        kept = [c for c in kept if not c.text.startswith("XENDCG")]  # rank_xendcg grows the same trees
    return tuple(kept)


def given(objectives: Iterable[Any], engines: Sequence[str]) -> tuple[Candidate, ...]:
    """Candidates of the objectives that were named, without knobs.

    Raises
    ------
    TypeError, ValueError
        If a text cannot be parsed, an engine's own objective is of none of `engines`, or something is no objective.

    """
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
        engine = NAMES[rule.name]
        if engine not in engines:
            raise ValueError(
                f"objectives has {rule.name!r}, which is {rule.owner}'s own, but the engine is {', '.join(engines)}: "
                f"give engine={engine!r}"
            )
        own = {"lambdarank": (_TRUNCATION, CUTOFF), **dict.fromkeys(NATIVE["XGBoost"], (_PAIRS, PAIRS))}
        knobs = (own[rule.name],) if rule.name in own else ()
        return Candidate(
            rule.name, engine, knobs=tuple(k for _, k in knobs), params=tuple((n, k.name) for n, k in knobs)
        )
    if isinstance(rule, GradeModel) or not hasattr(rule, "gradient"):
        raise TypeError(f"objectives has {objective!r}: give objectives such as LambdaRank(), or their texts")
    rule.refuse_on_engines()
    return Candidate("", engines[0], given=rule)


_TRUNCATION = "lambdarank_truncation_level"
_PAIRS = "lambdarank_num_pair_per_sample"


def _of(metric: NDCG) -> str:
    """The metric as first argument, nothing for the default."""
    return "" if metric == NDCG() else f"{metric!r}, "
