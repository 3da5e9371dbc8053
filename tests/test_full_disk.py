"""Disks that are really full or read-only: what was there stays. A small file system of the test's own, in memory.

It is mounted in a name space of its own, so that nobody else sees it and it goes with the process.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lightgbm_data import Q, X

pytestmark = pytest.mark.slow

PRELUDE = """
import errno, json, os, subprocess, sys, warnings
from pathlib import Path
import numpy as np
import lightgbm, xgboost
from lambdaboost import LambdaRank, Queries, load, save
from lambdaboost.cli import main

from on_lightgbm import dataset as Dataset
from on_lightgbm import train as train_lightgbm
from on_xgboost import dataset as DMatrix
from on_xgboost import train as train_xgboost

DISK = Path("disk")
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", DISK], check=True)
rng = np.random.default_rng(0)
X, Y, SIZES = rng.normal(size=(400, 4)), rng.integers(0, 3, 400), [20] * 20
PARAMS = {
    "lightgbm": {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 5},
    "xgboost": {"nthread": 1, "min_child_weight": 0},
}


def trained(engine, rounds, **more):
    if engine == "lightgbm":
        return train_lightgbm(PARAMS[engine], Dataset(X, Y, group=SIZES), rounds, objective=LambdaRank(), **more)
    return train_xgboost(PARAMS[engine], DMatrix(X, Y, group=SIZES), rounds, objective=LambdaRank(), **more)


def held():
    return {file.name: file.read_bytes() for file in DISK.iterdir() if file.name != "filler"}


def filled(pages_left):
    \"\"\"Leave so many pages free.\"\"\"
    (DISK / "filler").unlink(missing_ok=True)
    with open(DISK / "filler", "wb") as filler:
        filler.write(bytes((os.statvfs(DISK).f_bfree - pages_left) * 4096))
    assert os.statvfs(DISK).f_bfree == pages_left
"""


def isolated(*command):
    """The command with mounts of its own, as root or as root of a user name space."""
    return ["unshare", "--user", "--map-root-user", "--mount", *command]


@pytest.fixture
def ran(tmp_path):
    """Run code that has a small disk at DISK; it prints JSON last."""
    (tmp_path / "disk").mkdir()
    mount = ["mount", "-t", "tmpfs", "tmpfs", tmp_path / "disk"]
    if shutil.which("unshare") is None or subprocess.run(isolated(*mount), capture_output=True).returncode:
        pytest.skip("no file system can be mounted here: unshare --user --map-root-user --mount is refused")
    lines = (
        f"{grade:g} qid:{query} " + " ".join(f"{c}:{v:.3f}" for c, v in enumerate(row, start=1))
        for grade, query, row in zip(Q.relevance, Q.query_of_row, X, strict=True)
    )
    (tmp_path / "train.txt").write_text("\n".join(lines))

    def run(code):
        found_there = f"import sys\nsys.path.append({str(Path(__file__).parent)!r})"
        (tmp_path / "script.py").write_text(f"{found_there}\n{PRELUDE}\n{code}")
        done = subprocess.run(
            isolated(sys.executable, "script.py"), cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
def test_save_leaves_the_last_model_or_the_new_one(ran, engine):
    """With space for nothing, for one of the two files, for both: short models fail only as the file is closed."""
    found = ran(f"""
engine, found = {engine!r}, []
old, short, long = (trained(engine, rounds) for rounds in (2, 1, 30))
for new in (short, long):
    for pages in range(0, 60):
        (DISK / "filler").unlink(missing_ok=True)
        save(old, DISK / "m", objective=LambdaRank())
        before = held()
        filled(pages)
        try:
            save(new, DISK / "m", objective=LambdaRank())
        except OSError as error:
            assert error.errno == errno.ENOSPC, error
            assert held() == before, (pages, sorted(held()))
            load(DISK / "m")
            found.append("old")
        else:
            assert sorted(held()) == ["m", "m.json"] and held() != before
            load(DISK / "m")
            found.append("new")
            break
print(json.dumps(found))
""")
    first = found.index("new")
    assert found[:first] == ["old"] * first and first >= 2  # neither file alone is enough
    assert found[-1] == "new" and found.count("new") == 2 and len(found) > first + 4


def test_lambdaboost_train_on_a_full_and_on_a_read_only_disk(ran):
    found = ran("""
def train(rounds):
    sys.argv = ["lambdaboost", "train", "train.txt", "--out", str(DISK / "m"), "--rounds", str(rounds)]
    try:
        main()
    except SystemExit as stop:
        return stop.code
    return 0


codes = [train(2)]
before = held()
filled(2)
codes.append(train(30))
same = [held() == before]
(DISK / "filler").unlink()
subprocess.run(["mount", "-o", "remount,ro", DISK], check=True)
codes.append(train(30))
same.append(held() == before)
try:
    save(trained("xgboost", 1), DISK / "m", objective=LambdaRank())
except ValueError as error:
    same.append("is not writable" in str(error))
load(DISK / "m")
print(json.dumps([codes, same]))
""")
    codes, same = found
    assert codes[0] in (0, None) and all(codes[1:]) and same == [True, True, True]
