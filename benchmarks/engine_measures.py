"""The time of measures against the engines' own metrics, and of pair measures on one long list."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import SHARES
from benchmarks.plan import Plan, Shape
from benchmarks.section import Section
from benchmarks.timing import Job, Timed, alternate
from lambdaboost import MAP, NDCG, KendallTau, PairAccuracy, Pearson, Precision, Queries, Spearman
from lambdaboost._jit import using
from lambdaboost.evaluation import AUC, BPref, Measure

DOCUMENTS = (5, 10, 30, 100)  # of each list
# The measure with the metric of LightGBM and of XGBoost; LightGBM's auc takes all documents as one list.
ROWS: tuple[tuple[Measure, str | None, str | None], ...] = (
    (NDCG(3, empty=1), "ndcg@3", "ndcg@3"),
    (NDCG(10, empty=1), "ndcg@10", "ndcg@10"),
    (MAP(3, empty=1), "map@3", "map@3"),
    (MAP(10, empty=1), "map@10", "map@10"),
    (Precision(3), None, "pre@3"),
    (AUC(), None, "auc"),
)
BASE = NDCG()
OF_PAIRS: tuple[Measure, ...] = (
    PairAccuracy(),
    KendallTau("relevance"),
    AUC(),
    BPref(),
    Spearman(),
    Pearson(),
)
METHOD = """\
Columns: documents of each list, with {documents:,} documents altogether; random scores; grades 0 to 4 for NDCG, 0 and \
1 for the others. Processor time on one thread. The engine's metric is its evaluation of a booster whose scores are \
given (init_score, base_margin), less that of a booster without a metric. XGBoost's auc counts pairs of equal grade \
too, so its value is another. per_query: the array of values; metric function: the same evaluation with the measure \
as feval. Engine's time over lambdaboost's, medians of {repetitions} alternating repetitions with the lowest and \
highest. Above 1× lambdaboost is faster."""


@dataclass(frozen=True, eq=False)
class Metric:
    """An engine's own metric on given scores.

    Attributes
    ----------
    value : callable
        Evaluates, and returns the value.
    of_function : callable
        The value of a metric function that the engine calls on the same scores.
    without : callable
        The same call without a metric.

    """

    value: Callable[[], float]
    of_function: Callable[[Measure], float]
    without: Job


def lightgbm(metric: str, scores: NDArray[np.float64], q: Queries) -> Metric:
    """LightGBM's metric; evaluation on training data predicts nothing."""
    import lightgbm as lgb

    name, _, k = metric.partition("@")
    params = {
        "objective": "lambdarank",
        "metric": name,
        "eval_at": [int(k)],
        "num_threads": 1,
        "verbose": -1,
    }
    features = np.zeros((q.n_documents, 1))
    data = lgb.Dataset(features, q.relevance, group=q.sizes, init_score=scores, params={"verbose": -1})
    booster, bare = lgb.Booster(params, data), lgb.Booster(params | {"metric": "None"}, data)
    return Metric(
        lambda: booster.eval_train()[0][2],
        lambda measure: bare.eval_train(measure)[0][2],
        bare.eval_train,
    )


def xgboost(metric: str, scores: NDArray[np.float64], q: Queries) -> Metric:
    """XGBoost's metric; the prediction of a booster without trees is kept by the booster."""
    import xgboost as xgb

    params = {
        "objective": "reg:squarederror",
        "base_score": 0,
        "nthread": 1,
        "disable_default_eval_metric": True,
    }
    features = np.zeros((q.n_documents, 1))
    data = xgb.DMatrix(features, q.relevance, group=q.sizes, base_margin=scores, nthread=1)
    bare = xgb.Booster(params, [data])
    booster = xgb.Booster(params | {"eval_metric": metric}, [data])

    def value(found: str) -> float:
        return float(found.rpartition(":")[2])

    return Metric(
        lambda: value(booster.eval(data)),
        lambda measure: value(bare.eval_set([(data, "given")], feval=measure)),
        lambda: bare.eval(data),
    )


ENGINES = {"LightGBM": lightgbm, "XGBoost": xgboost}


def engine_measures(plan: Plan, threads: int) -> Section:
    """Measure every row at every length of list; always on one thread, as the times are too short to be shared."""
    shapes = [Shape(max(1, plan.measured_documents // n), n) for n in DOCUMENTS]
    with using(1):
        by_length = [dict(_at(shape, plan)) for shape in shapes]
        remarks = _on_one_list(plan)
    rows = tuple((*key, *(found[key].ratio() for found in by_length)) for key in by_length[0])
    return Section(
        "Measures against the engines' own metrics",
        METHOD.format(documents=plan.measured_documents, repetitions=plan.list_repetitions),
        ("measure", "against", "form", *map(str, DOCUMENTS)),
        rows,
        remarks,
    )


def made(shape: Shape) -> tuple[NDArray[np.float64], Queries, Queries]:
    """Scores, and queries with grades from 0 to 4 and with grades 0 and 1: XGBoost has some metrics for these only."""
    rng = np.random.default_rng(0)
    n = shape.queries * shape.documents
    sizes = np.full(shape.queries, shape.documents)
    grades = rng.choice(len(SHARES), p=SHARES, size=n)
    scores = rng.permutation(n) / 8.0  # exact as float32, in which XGBoost holds them
    return scores, Queries(grades, sizes), Queries(np.minimum(grades, 1), sizes)


def compared(
    shape: Shape,
) -> Iterator[tuple[Measure, str, Metric, NDArray[np.float64], Queries]]:
    """Each measure beside the metric of each engine that has it."""
    scores, graded, binary = made(shape)
    for measure, *metrics in ROWS:
        q = graded if isinstance(measure, NDCG) else binary
        for (engine, metric_of), metric in zip(ENGINES.items(), metrics, strict=True):
            if metric:
                yield measure, engine, metric_of(metric, scores, q), scores, q


def _at(shape: Shape, plan: Plan) -> Iterator[tuple[tuple[str, str, str], Timed]]:
    for measure, engine, metric, scores, q in compared(shape):
        jobs: dict[str, Job] = {
            "per_query": lambda measure=measure, scores=scores, q=q: measure.per_query(scores, q),
            "metric function": lambda measure=measure, of=metric.of_function: of(measure),
            "native": metric.value,
            "without": metric.without,
        }
        for job in jobs.values():
            job()
        seconds = alternate(jobs, plan.list_repetitions, time.process_time)
        native, function = (seconds[form] - seconds["without"] for form in ("native", "metric function"))
        yield (repr(measure), engine, "per_query"), native / seconds["per_query"]
        yield (repr(measure), engine, "metric function"), native / function


def _on_one_list(plan: Plan) -> tuple[str, ...]:
    """What pair measures and correlations cost where pairs are many."""
    n = plan.measured_documents
    scores, graded, _ = made(Shape(1, n))
    jobs: dict[str, Job] = {repr(m): lambda m=m: m.per_query(scores, graded) for m in (BASE, *OF_PAIRS)}
    for job in jobs.values():
        job()
    seconds = alternate(jobs, plan.list_repetitions, time.process_time)
    base = seconds[repr(BASE)]
    return (
        f"One list of {n:,} documents: {BASE!r} takes {base.milliseconds()}.",
        *(
            f"One list of {n:,} documents: {m!r} takes {(seconds[repr(m)] / base).ratio()} of that."
            for m in OF_PAIRS
        ),
    )
