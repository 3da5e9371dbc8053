"""Time and peak memory of long trainings, compared with the engines' own objectives.

Usage: python -m benchmarks.long_trainings [documents] [rounds]

There is one query per hundred documents, with sizes as in web search data and 136 features. Each training runs in its
own process; those with the engine's own objective never import lambdaboost, so Numba's memory counts as lambdaboost's.
Other load on the machine affects all times except the processor time of one thread: `taskset -c 0`.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

from benchmarks.peak import forget_peak, peak

FEATURES = 136  # as in MSLR-WEB10K, which has this many queries and a fifth more documents
SHARES = (0.52, 0.32, 0.13, 0.02, 0.01)  # shares of grades 0 to 4
LEAVES = 31
ENGINES = ("LightGBM", "XGBoost")
LAMBDARANK = "LambdaRank()"
NATIVE = {"LightGBM": "lambdarank", "XGBoost": "rank:ndcg"}
HEADS = (
    "engine",
    "objective",
    "training, s",
    "of native's",
    "processor time, s",
    "of native's",
    "peak memory, MB",
    "of native's",
    "peak in training, MB",
    "of native's",
)


def main(documents: int = 1_000_000, rounds: int = 200) -> None:
    from benchmarks.machine import this_machine
    from experiments.common.report import table
    from lambdaboost import LambdaRank, Queries

    machine = this_machine(len(os.sched_getaffinity(0)))
    LambdaRank().gradient(np.zeros(3), Queries([0, 1, 2], sizes=[3]))  # compiles, once per installation
    with tempfile.TemporaryDirectory() as folder:
        sizes = write(folder, documents)
        rows = []
        for engine in ENGINES:
            native = trained(folder, engine, NATIVE[engine], rounds)
            rows.append((engine, NATIVE[engine], *cells(native, native)))
            rows.append((engine, LAMBDARANK, *cells(trained(folder, engine, LAMBDARANK, rounds), native)))
    print(
        f"{documents:,} documents in {sizes.size:,} queries of {sizes.min()} to {sizes.max()}, {rounds} rounds.\n"
    )
    print(f"{table(HEADS, rows)}\n\n{machine.markdown()}")


def cells(one: dict[str, float], native: dict[str, float]) -> tuple[str, ...]:
    found = []
    for name, format_ in (("seconds", ".1f"), ("processor", ".1f"), ("peak", ",.0f"), ("training", ",.0f")):
        found += [format(one[name], format_), "1" if one is native else f"{one[name] / native[name]:.2f}"]
    return tuple(found)


def write(folder: str, documents: int) -> np.ndarray:
    """Write features correlated with the grades; return query sizes from 1 to about a thousand documents."""
    rng = np.random.default_rng(0)
    queries = documents // 100
    share = rng.lognormal(0, 0.7, queries)
    sizes = 1 + rng.multinomial(documents - queries, share / share.sum())
    features = rng.normal(size=(documents, FEATURES)).astype(np.float32)
    utility = features[:, :20] @ rng.normal(size=20) + 4 * rng.normal(size=documents)
    grades = np.searchsorted(np.quantile(utility, np.cumsum(SHARES[:-1])), utility)
    for name, array in {"features": features, "grades": grades.astype(np.float32), "sizes": sizes}.items():
        np.save(f"{folder}/{name}.npy", array)
    return sizes


def trained(folder: str, engine: str, objective: str, rounds: int) -> dict[str, float]:
    print(f"{engine} {objective} …", file=sys.stderr)
    child = [
        sys.executable,
        "-m",
        "benchmarks.long_trainings",
        "--child",
        folder,
        engine,
        objective,
        str(rounds),
    ]
    return json.loads(
        subprocess.run(child, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1]
    )


def child(folder: str, engine: str, objective: str, rounds: str) -> None:
    """Run one training and measure this process."""
    features, grades, sizes = (np.load(f"{folder}/{name}.npy") for name in ("features", "grades", "sizes"))
    train = {"LightGBM": lightgbm, "XGBoost": xgboost}[engine](features, grades, sizes, objective)
    del features, grades
    before = peak()
    forget_peak()
    start, processor_start = time.perf_counter(), time.process_time()
    train(int(rounds))
    seconds, processor = time.perf_counter() - start, time.process_time() - processor_start
    peaks = {"peak": max(before, peak()) / 1e6, "training": peak() / 1e6}
    print(json.dumps({"seconds": seconds, "processor": processor, **peaks}))


def lightgbm(features, grades, sizes, objective):
    import lightgbm as lgb

    data = lgb.Dataset(features, grades, group=sizes, params={"verbose": -1}).construct()
    own = {"objective": NATIVE["LightGBM"], "lambdarank_truncation_level": int(sizes.max())}
    params = {"num_leaves": LEAVES, "learning_rate": 0.1, "verbose": -1, "metric": "None"}
    params |= {"objective": lambdarank()} if objective == LAMBDARANK else own
    return lambda rounds: lgb.train(params, data, rounds)


def xgboost(features, grades, sizes, objective):
    import xgboost as xgb

    data = xgb.QuantileDMatrix(features, grades, group=sizes)
    params = {
        "objective": NATIVE["XGBoost"],
        "lambdarank_pair_method": "topk",
        "lambdarank_num_pair_per_sample": int(sizes.max()),
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": LEAVES,
        "max_depth": 0,
        "learning_rate": 0.1,
        "base_score": 0,
        "disable_default_eval_metric": True,
    }
    own = lambdarank() if objective == LAMBDARANK else None
    return lambda rounds: xgb.train(params, data, rounds, obj=own)


def lambdarank():
    from lambdaboost import LambdaRank

    return LambdaRank()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        main(*map(int, sys.argv[1:]))
