"""`Objective.__call__`: what a stock engine passes and expects back, in every round.

Neither engine passes its booster, but both call from methods of `Booster`, so it is found among the calling frames:

    Booster.update ──> Objective.__call__, which is call_objective
                           ├─ known_data: the Queries of the data set, made once, and what is bound to them
                           ├─ round: the booster's own count of iterations
                           ├─ Bound.gradient: λ and μ of the round
                           └─ traps, before the first step of this objective on these queries

`scoring` is the same for measures.
"""

from __future__ import annotations

import sys
import weakref
from dataclasses import dataclass
from textwrap import shorten
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaboost._jit import in_use
from lambdaboost._warn import warn
from lambdaboost.attaching import ATTRIBUTE, NOTHING, WITHOUT_SLICES, Attached, as_engines_keep, attached_to
from lambdaboost.datasets import Queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines import ENGINES, engine_of, engine_of_data
from lambdaboost.engines.base import Engine, Gradient
from lambdaboost.traps import Case, check_traps, handle_dart

# The methods by which the boosters of each engine are known.
BOOSTER_METHODS = tuple(engine.BOOSTER_METHOD for engine in ENGINES.values())
UPDATE_METHOD = "update"  # of the boosters of both, which calls objectives


def call_objective(
    objective: Any, first: Any, second: Any, weight: Any = None, group: Any = None
) -> Gradient:
    """Gradient and hessian, called as the engines do.

    ``(preds, train_data)`` with a lightgbm.Dataset or an xgboost.DMatrix, as `lightgbm.train` and `xgboost.train`
    call it, or ``(y_true, y_pred, weight, group)`` as `LGBMRanker` does. The boosting round is that of the calling
    `Booster.update`, however often it asks; 0 outside of one.

    Raises
    ------
    ValueError
        As `gradient`, and where the curvature changes sign or the booster's parameters ruin the training.

    """
    scores, known = read_call(first, second, weight, group)
    booster = calling_booster(UPDATE_METHOD)
    if booster is None:
        return _bind(objective, known, scores).gradient(scores)
    state = _states.get(booster) or booster_state(booster)
    token = in_use.set(state.threads)  # as `using` does, without a generator in every round
    try:
        iteration = state.round_of(booster)
        # Bound in an earlier round of this training, to these labels, weights and positions. A script that makes the
        # objective anew in each round gives an equal one.
        bound_objective, bound = known.bound.get(state, (None, None))
        if bound_objective is objective or bound_objective == objective:
            return bound.gradient(scores, iteration)
        bound = _bind(objective, known, scores)
        derivatives: Gradient = bound.gradient(scores, iteration)

        # What ruins a training shows at the first gradient of an objective on these queries.
        params, hessian_sum = state.engine.params_of(booster), float(derivatives[1].sum(dtype=np.float64))
        data = None if known.engine is None else second
        case = Case(booster, state.engine, params, objective, data, known.queries, iteration, hessian_sum)
        if not state.objectives:
            handle_dart(case)
        # Once for each objective, though weights may change in every round.
        if objective not in state.objectives:
            check_traps(case)
            state.objectives.append(objective)
        known.bound[state] = objective, bound
        return derivatives
    finally:
        in_use.reset(token)


def read_call(first: Any, second: Any, weight: Any = None, group: Any = None) -> tuple[Any, KnownData]:
    """The scores, and what is known of their data, of an engine's call of an objective or a measure.

    ``(preds, data set)`` of `lightgbm.train` and `xgboost.train`; ``(y_true, y_pred, weight, group)`` of `LGBMRanker`.
    """
    if hasattr(second, "get_label"):
        return first, known_data(second)
    return second, known_arrays(first, weight, group)


def _bind(objective: Any, known: KnownData, scores: Any) -> Any:
    """Bind an objective to the queries of a data set, if an engine can train it on them."""
    if np.ndim(scores) == 2:
        raise ValueError(
            f"num_class: the scores have shape {np.shape(scores)}, but lambdaboost needs one score per document: leave "
            "num_class out"
        )
    check_sources(objective, known.queries, engine=known.engine)
    objective.refuse_on_engines()
    return objective.on(known.queries)


def check_sources(reader: Any, q: Queries, table: str | None = None, *, engine: Engine | None = None) -> None:
    """Raise if an objective or a measure reads label sources or positions that the queries do not have.

    The queries are those of a `table` of that name, of a data set of an `engine`, or else of the arrays of LGBMRanker.
    """
    # An engine's own metric, or a function, has neither.
    lost = [name for name in getattr(reader, "sources", ()) if name not in q.labels]
    if getattr(reader, "reads_positions", False) and q.position is None:
        lost.append("position")
    if not lost:
        return
    argument, what = "sources", f"the label source {lost[0]!r}"
    if lost[0] == "position":
        argument, what = "position", "positions"

    # How to give it, which depends on where the queries come from.
    if table is not None:
        remedy = f"name its column in {argument}=, and give a table with it"
    elif engine is None:
        remedy = "LGBMRanker passes only y: use lambdaboost.lightgbm.LambdaRanker, which takes columns of X"
    else:
        attach = f"attach(data, {', '.join(f'{name}=…' for name in lost)})"
        remedy = f"give it by {attach}, also on validation sets"
        if engine.sliced_from() is not None:
            remedy += f"; a slice of a DMatrix, as in xgboost.cv, loses it: {WITHOUT_SLICES}"
    raise ValueError(
        f"{shorten(repr(reader), 80, placeholder=' …')} reads {what}, which {table or 'the data set'} does not have: "
        f"{remedy}"
    )


# The queries of a data set, which live as long as it does.


@dataclass(frozen=True, eq=False)
class KnownData:
    """A data set of an engine: the queries made of its fields, and what trainings have bound to them."""

    owner: weakref.ref[Any]
    engine: Engine | None  # None of arrays
    fields: tuple[Any, ...]  # offsets, labels, weight, and what is attached: what the queries were made of
    queries: Queries
    # By the state of each booster that trains on it, its objective and what that is bound to. They go with the booster,
    # and with the data set.
    bound: weakref.WeakKeyDictionary[BoosterState, tuple[Any, Any]]
    # By the same, measures and their names in the results. A dict would hash all fields of the measure in every round.
    names: weakref.WeakKeyDictionary[BoosterState, list[tuple[Any, str]]]


_known: dict[int, KnownData] = {}  # by the id of the owner


def known_data(data: Any) -> KnownData:
    """What is known of a LightGBM Dataset or an XGBoost DMatrix; asked in every round, and made again on any change."""
    known = _known.get(id(data))
    if known is not None and known.owner() is data:
        engine = known.engine
    else:
        known, engine = None, engine_of_data(data)
    if engine is None:
        raise TypeError(f"expected a lightgbm.Dataset or an xgboost.DMatrix, got {type(data).__name__}")
    said = engine.fields_of(data)
    attached: Attached = getattr(data, ATTRIBUTE, NOTHING)
    if said.parent is not None:
        attached = attached_to(data, said, engine)
    fields = (said.offsets, said.labels, said.weight, attached)
    if known is not None and _unchanged(known.fields, fields):
        return known
    return _know(data, engine, fields)


def known_arrays(y_true: ArrayLike, weight: ArrayLike | None, group: ArrayLike | None) -> KnownData:
    """The same of the arrays that LGBMRanker passes to its objective and eval_metric."""
    if group is None:
        raise ValueError(
            "group is missing: give fit(group=…) of LGBMRanker or LambdaRanker; LGBMRegressor and LGBMClassifier pass "
            "no groups to an objective"
        )
    labels, offsets = np.asarray(y_true), np.concatenate([[0], np.cumsum(group)])
    known, fields = _known.get(id(labels)), (offsets, labels, weight, NOTHING)
    if known is not None and known.owner() is labels and _unchanged(known.fields, fields):
        return known
    return _know(labels, None, fields)


def _know(owner: Any, engine: Engine | None, fields: tuple[Any, ...]) -> KnownData:
    """Make the queries of a data set, or of labels, of its fields, and remember them while it lives."""
    offsets, labels, weight, attached = fields
    # What a data set of an engine may lack, or have lost.
    if engine is not None:
        name = f"{type(owner).__module__.partition('.')[0]}.{type(owner).__name__}"
        if offsets is None or offsets.size < 2:
            raise ValueError(engine.NO_GROUPS)
        if (labels is None or labels.size == 0) and RELEVANCE not in attached.sources:
            raise ValueError(f"the {name} has no labels: give label=grades")
        # A slice of a data set, as `xgboost.cv` makes them, of which the grades were attached.
        whole = engine.sliced_from() if attached is NOTHING else None
        if whole is not None:
            of_whole, a_slice = engine.fields_of(whole), "a slice of a DMatrix, as in xgboost.cv, loses"
            if RELEVANCE in attached_to(whole, of_whole, engine).sources:
                raise ValueError(
                    f"{a_slice} {RELEVANCE!r}, which was given by attach, and has the matrix's own label instead: "
                    f"{WITHOUT_SLICES}"
                )
            has_weight = of_whole.weight is not None and of_whole.weight.size > 0
            if has_weight and (weight is None or not weight.size):
                warn(f"{a_slice} the weights of queries, so that all count the same: {WITHOUT_SLICES}")
        if attached.label is not None and not np.array_equal(attached.label, as_engines_keep(labels)):
            raise ValueError(
                f"the label of the {name} has changed since attach(data, relevance=…), whose grades a training would "
                "still read: give the new ones by attach(data, relevance=grades) too"
            )

    grades = labels[:, 0] if labels is not None and labels.ndim == 2 else labels
    made = Queries(
        attached.sources.get(RELEVANCE, grades),
        np.diff(offsets.astype(np.int64)),
        weight=weight if weight is not None and np.size(weight) else None,
        position=attached.positions,
        **{name: values for name, values in attached.sources.items() if name != RELEVANCE},
    )

    # Copies, since the engine may free or overwrite its memory; that of the queries serves too.
    kept = [part.copy() if isinstance(part, np.ndarray) else part for part in fields[:3]]
    if RELEVANCE not in attached.sources and labels.dtype == np.float32 and labels.ndim == 1:
        kept[1] = made.labels[RELEVANCE]

    # Forgotten with the data set.
    key = id(owner)
    forget = weakref.ref(owner, lambda _: _known.pop(key, None))
    bound, names = weakref.WeakKeyDictionary[Any, Any](), weakref.WeakKeyDictionary[Any, Any]()
    known = _known[key] = KnownData(forget, engine, (*kept, attached), made, bound, names)
    return known


def _unchanged(before: tuple[Any, ...], now: tuple[Any, ...]) -> bool:
    """Whether all fields are equal, NaN to NaN; asked in every round, so numbers are compared as bits."""
    for old, new in zip(before, now, strict=True):
        if old is new:
            continue
        if not isinstance(old, np.ndarray) or not isinstance(new, np.ndarray) or old.dtype != new.dtype:
            return False
        if old.dtype.kind in "biuf" and old.itemsize <= 8:
            old, new = old.view(f"u{old.itemsize}"), new.view(f"u{new.itemsize}")
        if not np.array_equal(old, new):
            return False
    return True


# The booster that calls.


class BoosterState:
    """A booster during training: how it counts rounds, its threads, and its objectives."""

    def __init__(self, booster: Any) -> None:
        engine: Any = engine_of(booster)
        self.booster, self.engine = weakref.ref(booster), engine
        self.round_of = getattr(type(booster), engine.ROUNDS_METHOD)
        try:
            given = int(engine.given(engine.params_of(booster), engine.THREADS))
        except (TypeError, ValueError):  # none, or text
            given = 0
        # Those that were set outside of the training, where its parameters set none.
        self.threads = given if given > 0 else in_use.get()
        self.objectives: list[Any] = []  # of which traps were looked for; a schedule in one may have no hash


_states: weakref.WeakKeyDictionary[Any, BoosterState] = weakref.WeakKeyDictionary()


def booster_state(booster: Any) -> BoosterState:
    """The state of a booster of either engine."""
    state = _states.get(booster)
    if state is None:
        state = _states[booster] = BoosterState(booster)
    return state


def calling_booster(method: str | None = None) -> Any:
    """The innermost booster of which any method, or this one, waits for this call; None if there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_varnames[:1] == ("self",) and method in (None, code.co_name):
            owner = frame.f_locals.get("self")
            for name in BOOSTER_METHODS:
                if hasattr(type(owner), name):
                    return owner
        frame = frame.f_back
    return None
