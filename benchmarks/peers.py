"""Training time with each library's LambdaMART."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from benchmarks.data import Data, made
from benchmarks.engines import LEAVES, lightgbm, xgboost
from benchmarks.numpy_objective import numpy_lambdarank
from benchmarks.plan import Plan, Shape
from benchmarks.section import Section
from benchmarks.timing import Timed, alternate
from lambdaboost import LambdaRank

BASE = "LightGBM with LambdaRank()"
CATBOOST = "CatBoost YetiRank"
NUMPY = "LightGBM with LambdaRank in NumPy"
METHOD = f"""\
Seconds per boosting round of whole trainings on data that the engine has already binned, all pairs, {LEAVES} leaves \
(CatBoost: symmetric trees of depth 5), and the ratio to LightGBM with LambdaRank() in the same repetition: medians \
with the lowest and highest. The objectives differ: this compares training times, not rankings. The NumPy objective \
loops over queries and builds n × n matrices."""

Training = tuple[Callable[[int], Any], int]  # a function that trains for a number of rounds, and that number


def peers(plan: Plan, threads: int) -> Section:
    """Measure every library at every shape."""
    remarks = [] if has_catboost() else [f"{CATBOOST} was left out: pip install catboost."]
    found = {}
    for shape in plan.shapes:
        found[shape], refused = _shape(shape, plan, threads)
        remarks += refused
    names = dict.fromkeys(name for seconds in found.values() for name in seconds)
    rows = tuple((name, *(_cell(name, seconds) for seconds in found.values())) for name in names)
    method = f"{METHOD} {plan.rounds} rounds, {plan.repetitions} repetitions; fewer where pairs are many."
    heads = ("training", *map(str, found))
    return Section("Whole trainings of the peers", method, heads, rows, tuple(remarks))


def _cell(name: str, seconds: dict[str, Timed]) -> str:
    if name not in seconds:
        return "refused"
    ratio = (seconds[name] / seconds[BASE]).ratio()
    milliseconds = seconds[name].milliseconds()
    return milliseconds if name == BASE else f"{ratio}, {milliseconds}"


def has_catboost() -> bool:
    """Whether CatBoost is installed."""
    return find_spec("catboost") is not None


def _shape(shape: Shape, plan: Plan, threads: int) -> tuple[dict[str, Timed], list[str]]:
    """Seconds per round of each training, and the libraries that cannot train on the shape."""
    trainings = _trainings(made(shape), shape, plan, threads)
    refused = []
    for name, (train, _) in list(trainings.items()):
        try:
            train(1)
        except Exception as error:
            if name != CATBOOST:
                raise
            refused.append(f"{name} refuses {shape}: {str(error).splitlines()[0]}")
            del trainings[name]
    jobs = {name: partial(train, rounds) for name, (train, rounds) in trainings.items()}
    seconds = alternate(jobs, plan.repetitions_at(shape))
    return {name: seconds[name] / rounds for name, (_, rounds) in trainings.items()}, refused


def _trainings(data: Data, shape: Shape, plan: Plan, threads: int) -> dict[str, Training]:
    n = shape.documents
    light, extreme = lightgbm(data, threads), xgboost(data, threads)
    rounds_here = plan.rounds_within(plan.peer_pairs, shape)
    few = plan.rounds_within(plan.numpy_pairs, shape)
    found: dict[str, Training] = {
        BASE: (lambda rounds: light.train(LambdaRank(), rounds), rounds_here),
        "LightGBM lambdarank": (lambda rounds: light.train(None, rounds, n), rounds_here),
        "XGBoost with LambdaRank()": (
            lambda rounds: extreme.train(LambdaRank(), rounds),
            rounds_here,
        ),
        "XGBoost rank:ndcg": (lambda rounds: extreme.train(None, rounds, n), rounds_here),
    }
    if has_catboost():
        found[CATBOOST] = (_catboost(data, threads), rounds_here)
    return found | {NUMPY: (lambda rounds: light.train(numpy_lambdarank, rounds), few)}


def _catboost(data: Data, threads: int) -> Callable[[int], Any]:
    cat = import_module("catboost")
    q = data.queries
    pool = cat.Pool(data.features, q.relevance, group_id=q.query_of_row, thread_count=threads)
    pool.quantize()
    params = {
        "loss_function": "YetiRank",
        "depth": 5,
        "learning_rate": 0.1,
        "thread_count": threads,
        "random_seed": 0,
        "allow_writing_files": False,
        "logging_level": "Silent",
    }
    return lambda rounds: cat.train(pool, params | {"iterations": rounds})
