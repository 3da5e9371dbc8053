"""Growth of processor time and memory of whole trainings with the number of documents."""

from __future__ import annotations

from benchmarks.child import measured
from benchmarks.plan import Plan
from benchmarks.section import Section
from benchmarks.timing import fitted

ENGINES = ("LightGBM", "XGBoost")
OBJECTIVES = {"LambdaRank()": "NDCG(3)", "native": "ndcg@3"}
FEATURES, ROUNDS = 10, 10
METHOD = f"""\
Processor seconds and peak memory of a training in its own process: building the data set, {ROUNDS} rounds on \
{FEATURES} features, all pairs, NDCG@3 of the training data in every round, by lambdaboost or by the engine. One \
thread, since OpenMP's waiting threads count as processor time. Imports and compilation are not included in the time, \
but in the memory. Slopes are fitted to the logarithms of time over documents; 1 is linear."""

CODE = """
import json, time
import numpy as np

rng = np.random.default_rng(0)


def made(documents):
    features = rng.standard_normal((documents, {features}), dtype=np.float32)
    utility = features.sum(axis=1) + 4 * rng.standard_normal(documents, dtype=np.float32)
    grades = np.searchsorted(np.quantile(utility, (0.52, 0.84, 0.97, 0.99)), utility).astype(np.float32)
    return features, grades, np.full(documents // {length}, {length})


def lightgbm(features, grades, sizes, own):
    import lightgbm as lgb

    data = lgb.Dataset(features, grades, group=sizes, params={{"verbose": -1, "num_threads": 1}})
    params = {{"num_leaves": 31, "verbose": -1, "num_threads": 1}}
    if own:
        params |= {{"objective": "lambdarank", "lambdarank_truncation_level": {length}}}
        params |= {{"metric": "ndcg", "eval_at": [3]}}
        return lgb.train(params, data, {rounds}, valid_sets=[data])
    params |= {{"objective": lambdaboost.LambdaRank(), "metric": "None"}}
    return lgb.train(params, data, {rounds}, valid_sets=[data], feval=lambdaboost.NDCG(3))


def xgboost(features, grades, sizes, own):
    import xgboost as xgb

    data = xgb.QuantileDMatrix(features, grades, group=sizes, nthread=1)
    params = {{
        "objective": "rank:ndcg", "grow_policy": "lossguide", "max_leaves": 31, "max_depth": 0, "base_score": 0,
        "nthread": 1, "lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": {length},
    }}
    more = {{"evals": [(data, "train")], "verbose_eval": False}}
    if own:
        return xgb.train(params | {{"eval_metric": "ndcg@3"}}, data, {rounds}, **more)
    params["disable_default_eval_metric"] = True
    return xgb.train(
        params, data, {rounds}, obj=lambdaboost.LambdaRank(), custom_metric=lambdaboost.NDCG(3), **more
    )


own = {objective!r} == "native"
if not own:
    import lambdaboost
train = globals()[{engine!r}.lower()]
train(*made(2000 // {length} * {length}), own)  # loads kernels
given = made({documents})
start = time.process_time()
train(*given, own)
seconds = time.process_time() - start
try:
    with open("/proc/self/status") as status:
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) * 1024
except OSError:
    import resource, sys
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(json.dumps({{"seconds": seconds, "peak": peak / 1e6}}))
"""


def growth(plan: Plan, threads: int) -> Section:
    """Measure every number of documents, in lists of every length."""
    rows = []
    for length in plan.growth_lists:
        for engine in ENGINES:
            for objective, measure in OBJECTIVES.items():
                found = {n: _training(engine, objective, n, length) for n in plan.growth_documents}
                slope = fitted({n: one["seconds"] for n, one in found.items()})
                cells = (f"{one['seconds']:.3g} s, {one['peak']:,.0f} MB" for one in found.values())
                rows.append((str(length), engine, f"{objective}, {measure}", str(slope), *cells))
    heads = ("list of", "engine", "objective, measure", "slope", *(f"{n:,}" for n in plan.growth_documents))
    return Section("Growth with the data", METHOD, heads, tuple(rows))


def _training(engine: str, objective: str, documents: int, length: int) -> dict[str, float]:
    code = CODE.format(
        engine=engine,
        objective=objective,
        documents=documents,
        length=length,
        features=FEATURES,
        rounds=ROUNDS,
    )
    return measured(code)
