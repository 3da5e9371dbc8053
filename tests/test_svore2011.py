"""`experiments.svore2011` on tiny data: every stage on the real engines, resumption, Ctrl-C, selection, tables."""

import csv
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from experiments.common.data import Data
from experiments.common.synthetic import synthetic
from experiments.common.verdicts import cell as cell_of
from experiments.common.workers import Workers
from experiments.svore2011.__main__ import default_leaves, reproduce
from experiments.svore2011.protocol import n_runs, run_protocol
from experiments.svore2011.report import differences, table_1, table_2
from experiments.svore2011.settings import (
    DESCENT,
    LINEAR,
    NATIVE,
    NEWTON,
    Grid,
    Setting,
    Trial,
    graded_name,
    systems,
)
from experiments.svore2011.training import Trainer
from lambdaboost import NDCG, Queries
from lambdaboost.evaluation import compare_values

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
TINY = Grid((0.1, 0.3), (5, 15), (0.3,), (0.25,), (100.0,), (0.01,), reused=1)
SMALLEST = replace(TINY, rates=(0.2,), documents=(5,))
ROUNDS = 8


def nothing():
    pass


@pytest.fixture(scope="module")
def data():
    return synthetic(40, 15)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("svore2011")


@pytest.fixture(scope="module")
def results(data, out):
    return reproduce(data, a_setting(data), TINY, 1, out)


def a_setting(data, engine="lightgbm"):
    return Setting(engine, ROUNDS, 3, 4, 0, data.digest)


def workers(data, setting, folder, n=1):
    return Workers(folder, n, partial(Trainer, data, setting))


def test_everything_is_written(results, data, out):
    assert {path.name for path in out.iterdir()} == {
        "runs",
        "report.md",
        "runs.csv",
        "per_query.csv",
        *(f"figure_{n}.png" for n in range(2, 8)),
    }
    rows = systems(TINY, "lightgbm", ["cascade", "position_based"])
    assert len(list((out / "runs").iterdir())) == n_runs(rows, TINY, data)
    report = (out / "report.md").read_text(encoding="utf-8")
    for said in ("## Table 1", "## Table 2", "## What holds here", data.digest, "cascade", "16 test queries"):
        assert said in report
    for n in range(2, 8):
        assert (out / f"figure_{n}.png").read_bytes().startswith(b"\x89PNG")


def test_csv_files_hold_every_run_and_every_query(results, out):
    runs = list(csv.DictReader((out / "runs.csv").read_text(encoding="utf-8").splitlines()))
    # Newton 4, descent 4, native 4, engine 4, two graded, four blended, and three systems on four shares.
    assert len(runs) == 4 + 4 + 4 + 4 + 2 + 4 + 12
    chosen = [run for run in runs if run["selected"] == "True"]
    assert [run["system"] for run in chosen] == [system.name for system in results.systems]
    figures = list(csv.DictReader((out / "per_query.csv").read_text(encoding="utf-8").splitlines()))
    assert len(figures) == 10 * 16
    mean = np.mean([float(row["NDCG(k=3)"]) for row in figures if row["system"] == NEWTON])
    assert mean == pytest.approx(results.figures[NEWTON][NDCG(3)].mean(), abs=1e-6)


def test_a_stopped_reproduction_goes_on_where_it_was(results, data, tmp_path):
    setting, advanced = a_setting(data), 0

    def stop_at_the_third():
        nonlocal advanced
        advanced += 1
        if advanced == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), workers(data, setting, tmp_path) as pool:
        run_protocol(data, setting, TINY, pool, stop_at_the_third)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(before) == 3
    damaged = tmp_path / next(iter(before))
    damaged.write_bytes(damaged.read_bytes()[:100])
    with workers(data, setting, tmp_path) as pool:
        again = run_protocol(data, setting, TINY, pool, nothing)
    after = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    kept = {name for name in before if after[name] == before[name]}
    assert kept == set(before) - {damaged.name}
    assert not any(name.endswith(".part") for name in after)
    for at, runs in results.runs.items():
        for trial, outcome in runs.items():
            np.testing.assert_array_equal(again.runs[at][trial]["test_scores"], outcome["test_scores"])


def test_workers_give_the_same_bits(results, data, tmp_path):
    fold = data.folds[0]
    trials = list(results.runs[NEWTON, fold.name])[:3]
    keys = {trial.key(results.setting): trial for trial in trials}
    with workers(data, results.setting, tmp_path, 2) as pool:
        found = pool.run(keys, nothing)
    for key, trial in keys.items():
        alone = results.runs[NEWTON, fold.name][trial]
        np.testing.assert_array_equal(found[key]["test_scores"], alone["test_scores"])


def test_selection_sees_no_test_label(results, data, tmp_path):
    test, q = data.parts["test"], data.parts["test"].queries
    others = {name: labels[::-1] for name, labels in q.labels.items() if name != "relevance"}
    turned = replace(test, queries=Queries(q.relevance[::-1], q.sizes, **others))
    other = Data(data.name, {**data.parts, "test": turned}, data.folds, data.clicks, data.origin)
    setting = a_setting(other)
    assert setting.data != results.setting.data
    with workers(other, setting, tmp_path) as pool:
        found = run_protocol(other, setting, TINY, pool, nothing)
    for system in results.systems:
        (trial, outcome), (same, turned) = (r.selected(system.name, data.folds[0]) for r in (results, found))
        assert trial == same
        np.testing.assert_array_equal(outcome["valid"], turned["valid"])
        np.testing.assert_array_equal(outcome["test_scores"], turned["test_scores"])
    assert found.figures[NEWTON][NDCG(3)].mean() != results.figures[NEWTON][NDCG(3)].mean()


def test_the_best_of_validation_is_selected(results):
    for (name, fold), runs in results.runs.items():
        trial, outcome = results.selected(name, results.data.folds[0])
        assert outcome["valid"].max() == max(o["valid"].max() for o in runs.values())
        assert fold == trial.fold.name
        assert set(outcome["rounds"]) <= {3, 6, 8}


def test_blended_systems_reuse_the_best_of_their_baseline(results):
    fold = results.data.folds[0]
    for name, baseline in ((graded_name("cascade"), NEWTON), (LINEAR, DESCENT)):
        best, _ = results.selected(baseline, fold)
        assert {(t.rate, t.documents) for t in results.runs[name, fold.name]} == {(best.rate, best.documents)}


def cells(table):
    """The cells of a Markdown table, row by row, without its header."""
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_tables_are_those_of_compare(results):
    measures = [NDCG(k) for k in range(1, 11)]
    rows = cells(table_2(results))
    assert [row[0] for row in rows[:4]] == [NEWTON, DESCENT, "λL + λS exponential", LINEAR]
    for row, baseline in ((1, NEWTON), (2, DESCENT), (3, DESCENT)):
        names = (baseline, rows[row][0])
        found = compare_values({name: {m: results.figures[name][m] for m in measures} for name in names})
        assert [cell.strip("*") for cell in rows[row]] == found.cells()[1][1]
    graded = cells(table_1(results))
    assert [row[2] for row in graded] == ["NDCG", "NDCG", "CNDCG", "CNDCG"] * 2
    assert graded[0][3:] == rows[0][1:]


def test_a_sentence_agrees_with_the_marks_of_its_row(results, out):
    """Both read one corrected p-value: "yes" stands beside ten marks, "no significant difference" beside none."""
    report = (out / "report.md").read_text(encoding="utf-8")
    for clicks in ("cascade", "position_based"):
        changes = differences(results, NEWTON, graded_name(clicks))
        marks = sum("▲" in cell_of(d) or "▼" in cell_of(d) for d in changes)
        said = re.search(rf"Graded by {clicks}, it leaves NDCG unchanged: \*\*(.*?)\*\*", report)[1]
        assert (marks == 0) == (said == "no significant difference anywhere")
        assert marks == 0 or f"no, {marks} of 10 differ" in said


WORKING = """
import os, sys, time
from functools import partial
from pathlib import Path
from experiments.common.script import run
from experiments.common.workers import Workers

FOLDER = Path(sys.argv[1])


def start(folder):
    return partial(work, folder)


def work(folder, task):
    (folder / "runs" / f".{task}.part").touch()
    (folder / str(os.getpid())).touch()
    time.sleep(3600)


def main():
    with Workers(FOLDER / "runs", 2, partial(start, FOLDER)) as pool:
        pool.run({"a": "a", "b": "b"}, print)


if __name__ == "__main__":
    run(main)
"""


def test_ctrl_c_ends_the_workers_at_once(tmp_path):
    """Runs of an hour are under way: none of them is waited for."""
    (tmp_path / "working.py").write_text(WORKING, encoding="utf-8")
    busy = tmp_path / "busy"
    busy.mkdir()
    command = [sys.executable, str(tmp_path / "working.py"), str(busy)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 600
        while len(workers := [*busy.glob("[0-9]*")]) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=600)[1]
    finally:
        process.kill()
    assert process.returncode == 130 and said.splitlines()[-1] == "stopped", said
    assert len(workers) == 2 and not any(is_running(int(worker.name)) for worker in workers)
    assert not list((busy / "runs").iterdir())


def is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_xgboost_runs_every_kind_of_step(data):
    trainer = Trainer(data, a_setting(data, "xgboost"))
    fold = data.folds[0]
    for system in systems(SMALLEST, "xgboost", ["cascade"])[:5]:
        outcome = trainer(Trial(fold, system.objectives[0], system.leaves, 0.2, 5))
        assert outcome["rounds"].tolist() == [3, 6, 8]
        assert np.ptp(outcome["test_scores"]) > 0, system.name
    assert systems(SMALLEST, "xgboost", [])[2].name == NATIVE["xgboost"]


def test_keys_tell_runs_apart(data):
    setting = a_setting(data)
    fold = data.folds[0]
    trial = Trial(fold, None, "engine", 0.1, 20)
    keys = {trial.key(setting), replace(trial, rate=0.2).key(setting), replace(trial, share=0.5).key(setting)}
    keys |= {trial.key(replace(setting, data="other")), trial.key(replace(setting, rounds=9))}
    assert len(keys) == 5
    assert trial.key(setting) == replace(trial).key(setting)


def test_leaves_follow_the_size_of_the_data(data):
    assert default_leaves(data) == 10
