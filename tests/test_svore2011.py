"""`reproduce svore2011` on tiny data: every stage on the real engines, resumption, selection, tables."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import NDCG, Difference, compare
from lambdaboost.reproduce.data import Data
from lambdaboost.reproduce.experiment import Request, default_leaves, reproduce_svore2011
from lambdaboost.reproduce.pool import Pool
from lambdaboost.reproduce.protocol import n_runs, run_protocol
from lambdaboost.reproduce.store import Store
from lambdaboost.reproduce.synthetic import synthetic
from lambdaboost.reproduce.systems import DESCENT, LINEAR, NATIVE, NEWTON, Grid, graded_name, swept_systems
from lambdaboost.reproduce.tables import marked, table_1, table_2
from lambdaboost.reproduce.training import Trainer
from lambdaboost.reproduce.trial import Setting, Trial

TINY = Grid((0.1, 0.3), (0.1,), (5, 15), (0.3,), (0.25,), (100.0,), (0.01,), reused=1)
SMALLEST = replace(TINY, newton_rates=(0.2,), documents=(5,))
ROUNDS = 8


def request(out, engine="lightgbm", grid=TINY):
    return Request(engine, grid, ROUNDS, every=3, num_leaves=4, workers=1, seed=0, out=out)


@pytest.fixture(scope="module")
def data():
    return synthetic(40, 15)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("svore2011")


@pytest.fixture(scope="module")
def results(data, out):
    return reproduce_svore2011(data, request(out))


def a_setting(data, engine="lightgbm"):
    return Setting(engine, ROUNDS, 3, 4, 0, data.digest)


def test_everything_is_written(results, data, out):
    assert {path.name for path in out.iterdir()} == {
        "runs",
        "report.md",
        "runs.csv",
        "per_query.csv",
        *(f"figure_{n}.png" for n in range(2, 8)),
    }
    systems = swept_systems(TINY, "lightgbm", ["cascade", "position"])
    assert len(list((out / "runs").iterdir())) == n_runs(systems, TINY, data, "lightgbm")
    report = (out / "report.md").read_text()
    for said in ("## Table 1", "## Table 2", "## What holds here", data.digest, "cascade", "16 test queries"):
        assert said in report
    for n in range(2, 8):
        assert (out / f"figure_{n}.png").read_bytes().startswith(b"\x89PNG")


def test_csv_files_hold_every_run_and_every_query(results, out):
    runs = list(csv.DictReader((out / "runs.csv").read_text().splitlines()))
    # Newton 4, descent 2, native 4, engine 4, two graded, four blended, and three systems on four shares.
    assert len(runs) == 4 + 2 + 4 + 4 + 2 + 4 + 12
    chosen = [run for run in runs if run["selected"] == "True"]
    assert [run["system"] for run in chosen] == [system.name for system in results.systems]
    figures = list(csv.DictReader((out / "per_query.csv").read_text().splitlines()))
    assert len(figures) == 10 * 16
    mean = np.mean([float(row["NDCG(k=3)"]) for row in figures if row["system"] == NEWTON])
    assert mean == pytest.approx(results.figures[NEWTON].per_query(NDCG(3)).mean(), abs=1e-6)


def test_a_stopped_reproduction_goes_on_where_it_was(results, data, tmp_path):
    setting, store = a_setting(data), Store(tmp_path)
    advanced = 0

    def stop_at_the_third():
        nonlocal advanced
        advanced += 1
        if advanced == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), Pool(data, setting, store, 1) as pool:
        run_protocol(pool, TINY, stop_at_the_third)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(before) == 3
    damaged = tmp_path / next(iter(before))
    damaged.write_bytes(damaged.read_bytes()[:100])
    with Pool(data, setting, store, 1) as pool:
        again = run_protocol(pool, TINY, lambda: None)
    after = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    kept = {name for name in before if after[name] == before[name]}
    assert kept == set(before) - {damaged.name}
    assert not any(name.endswith(".part") for name in after)
    for at, runs in results.runs.items():
        for trial, outcome in runs.items():
            np.testing.assert_array_equal(again.runs[at][trial].test_scores, outcome.test_scores)


def test_workers_give_the_same_bits(results, data, tmp_path):
    fold = data.folds[0]
    trials = list(results.runs[NEWTON, fold.name])[:3]
    with Pool(data, results.setting, Store(tmp_path), 2) as pool:
        found = pool.run(trials, lambda: None)
    for trial in trials:
        np.testing.assert_array_equal(
            found[trial].test_scores, results.runs[NEWTON, fold.name][trial].test_scores
        )


def test_selection_sees_no_test_label(results, data, tmp_path):
    test, q = data.parts["test"], data.parts["test"].queries
    others = {name: labels[::-1] for name, labels in q.labels.items() if name != "relevance"}
    turned = replace(test, queries=Queries(q.relevance[::-1], q.sizes, **others))
    other = Data(data.name, {**data.parts, "test": turned}, data.folds, data.clicks, data.origin)
    setting = a_setting(other)
    assert setting.data != results.setting.data
    with Pool(other, setting, Store(tmp_path), 1) as pool:
        found = run_protocol(pool, TINY, lambda: None)
    for system in results.systems:
        ours, theirs = (r.selected(system.name, data.folds[0]) for r in (results, found))
        assert ours[0] == theirs[0]
        assert ours[1].best_rounds == theirs[1].best_rounds
        np.testing.assert_array_equal(ours[1].test_scores, theirs[1].test_scores)
    assert (
        found.figures[NEWTON].per_query(NDCG(3)).mean() != results.figures[NEWTON].per_query(NDCG(3)).mean()
    )


def test_the_best_of_validation_is_selected(results):
    for (name, fold), runs in results.runs.items():
        trial, outcome = results.selected(name, results.data.folds[0])
        assert outcome.figure == max(o.figure for o in runs.values())
        assert fold == trial.fold.name
        assert set(outcome.rounds) <= {3, 6, 8}


def test_blended_systems_reuse_the_best_of_their_baseline(results):
    fold = results.data.folds[0]
    for name, baseline in ((graded_name("cascade"), NEWTON), (LINEAR, DESCENT)):
        best, _ = results.selected(baseline, fold)
        assert {(t.rate, t.documents) for t in results.runs[name, fold.name]} == {(best.rate, best.documents)}


def test_tables_are_those_of_compare(results):
    measures = [NDCG(k) for k in range(1, 11)]
    ours = table_2(results)
    assert [row[0].text for row in ours.rows[:4]] == [NEWTON, DESCENT, "λL + λS exponential", LINEAR]
    for row, baseline in ((1, NEWTON), (2, DESCENT), (3, DESCENT)):
        name = ours.rows[row][0].text
        theirs = compare(results.figures[baseline], results.figures[name], measures=measures).table().rows[1]
        for cell, reference in zip(ours.rows[row][1:], theirs[1:], strict=True):
            assert cell.text.removesuffix(" ▼") == reference.text
            if cell.style != "plain":
                assert cell.style == reference.style
    assert [row[2].text for row in table_1(results).rows] == ["NDCG", "NDCG", "CNDCG", "CNDCG"] * 2
    assert table_1(results).rows[0][3:] == ours.rows[0][1:]


@pytest.mark.parametrize(
    ("shift", "text", "style"),
    [(0.2, "70.00", "bold"), (0.085, "58.50", "italic"), (0.0, "50.00", "plain"), (-0.2, "30.00 ▼", "plain")],
)
def test_marks(shift, text, style):
    noise = np.tile([0.2, -0.2], 10)
    before = np.full(20, 0.5)
    d = Difference("before", "after", NDCG(3), np.arange(20), before, before + shift + noise)
    assert (marked(d).text, marked(d).style) == (text, style)
    if style == "italic":
        assert marked(d, italic=False).style == "plain"


def test_xgboost_runs_every_kind_of_step(data):
    trainer = Trainer(data, a_setting(data, "xgboost"))
    fold = data.folds[0]
    for system in swept_systems(SMALLEST, "xgboost", ["cascade"])[:5]:
        documents = None if system.leaves == "newton" else 5
        outcome = trainer.run(Trial(fold, system.objectives[0], system.leaves, 0.2, documents))
        assert outcome.rounds.tolist() == [3, 6, 8]
        assert np.ptp(outcome.test_scores) > 0, system.name
    assert swept_systems(SMALLEST, "xgboost", [])[2].name == NATIVE["xgboost"]


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
