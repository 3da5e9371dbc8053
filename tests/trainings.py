"""Trainings in new processes, for tests of threads, signals and forks: these depend on what a process did before."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from lambdaboost import LambdaRank

DEADLOCK = 1200  # seconds after which it is one, on a busy machine too
SETTINGS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
# Python 3.12 and later warn of every fork of a process with threads.
FORKING = "ignore::DeprecationWarning:multiprocessing.popen_fork"
CALL = """
import importlib, json, sys
function = getattr(importlib.import_module(sys.argv[1]), sys.argv[2])
print(json.dumps([function(*arguments) for arguments in json.loads(sys.argv[3])]))
"""
DEFAULT = LambdaRank()
_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(6000, 4))
Y = np.clip(np.round(X[:, 0] + _RNG.normal(size=6000)), 0, 4)
GROUP = np.full(60, 100)


def train(engine, objective=DEFAULT, rounds=5, *, measure=None, threads=2):
    """The trees of a stock training, as text."""
    if engine == "lightgbm":
        import lightgbm as lgb

        params = {"verbose": -1, "num_leaves": 7, "num_threads": threads}
        params |= {"metric": "None", "deterministic": True, "force_row_wise": True}
        data = lgb.Dataset(X, Y, group=GROUP, params=params)
        sets = [data] if measure else None
        booster = lgb.train(params | {"objective": objective}, data, rounds, valid_sets=sets, feval=measure)
        return booster.model_to_string().partition("parameters:")[0]
    import xgboost as xgb

    params = {"objective": "rank:ndcg", "nthread": threads, "max_depth": 3, "base_score": 0.0}
    params["disable_default_eval_metric"] = True
    data = xgb.DMatrix(X, Y, group=GROUP, nthread=threads)
    more = {"evals": [(data, "train")], "custom_metric": measure, "verbose_eval": False} if measure else {}
    return bytes(xgb.train(params, data, rounds, obj=objective, **more).save_raw("json")).decode()


def ran(function, *calls, refused=("ignored",), **environment):
    """What a function of a test file returns for each list of arguments, all in one new process.

    Its environment sets the numbers of threads that are given here and no others; none of the words `refused` may be on
    standard error.
    """
    kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    kept |= {"PYTHONPATH": path, "OMP_WAIT_POLICY": "passive"} | environment
    named = (function.__module__, function.__name__, json.dumps(calls))
    command = [sys.executable, "-W", "error", "-W", FORKING, "-c", CALL, *named]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLOCK, check=False, env=kept)
    assert done.returncode == 0 and not [word for word in refused if word in done.stderr], done.stderr
    return json.loads(done.stdout.splitlines()[-1])
