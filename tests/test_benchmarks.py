"""The benchmark on tiny sizes: what it compares is the same thing, and what it writes can be read. No clocks."""

import re
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import benchmarks.__main__ as command
from benchmarks import (
    engine_measures,
    growth,
    load,
    memory,
    numpy_objective,
    peers,
    start,
    sums,
    timing,
    training,
    whole_training,
)
from benchmarks.child import measured
from benchmarks.data import SHARES, made
from benchmarks.engines import ENGINES
from benchmarks.machine import this_machine
from benchmarks.plan import FULL, QUICK, Case, Shape
from benchmarks.speed import measure_case
from benchmarks.timing import Timed, fitted
from lambdaboost import LambdaRank, Queries, RankNet, SigmoidLocal
from lambdaboost.datasets import read_letor
from lambdaboost.evaluation import AUC

pytestmark = pytest.mark.slow

TINY = replace(
    QUICK,
    trained=(Case(Shape(20, 10)), Case(Shape(10, 20), truncation=5)),
    rounds_trained=2,
    cases=(Case(Shape(10, 20)), Case(Shape(10, 20), truncation=5)),
    rounds=2,
    lengths=(10, 20),
    length_documents=200,
    list_sizes=(100, 200, 400),
    measured_documents=300,
    memory_documents=5_000,
)


def test_repetitions_alternate():
    done = []
    found = timing.alternate({"a": lambda: done.append("a"), "b": lambda: done.append("b")}, 3)
    assert "".join(done) == "ababab"
    assert len(found["a"].values) == len(found["b"].values) == 3


def test_the_least_of_alternating_runs():
    done = []
    found = timing.least(lambda: done.append("a"), lambda: done.append("b"), repetitions=2)
    assert "".join(done) == "ababab"
    assert len(found) == 2 and min(found) >= 0


def test_figures_stay_side_by_side():
    a, b = Timed((2.0, 4.0, 90.0)), Timed((1.0, 2.0, 3.0))
    assert (a / b).values == (2.0, 2.0, 30.0)
    assert (a - b).values == (1.0, 2.0, 87.0)
    assert (a / b).median == 2.0
    assert (a / b).ratio() == "2× (2–30.0)"
    assert Timed((0.0123,)).milliseconds() == "12.3 ms"
    assert (a / 2).values == (1.0, 2.0, 45.0)


def test_slope_of_a_power():
    found = fitted({n: 3e-9 * n**1.185 for n in (1000, 2000, 4000, 8000)})
    assert found.slope == pytest.approx(1.185)
    assert str(found) == "1.185 ± 0.000"


def test_data_has_the_grades_that_it_says():
    data = made(Shape(100, 50))
    assert np.bincount(data.queries.relevance.astype(int)) / 5000 == pytest.approx(SHARES, abs=1e-3)
    assert [shape.documents for shape in FULL.shapes] == [5, 10, 30, 120, 1200, 5000]
    assert [FULL.repetitions_at(shape) for shape in FULL.shapes] == [5, 5, 5, 5, 5, 3]


@pytest.mark.parametrize("truncation", [3, 30])
@pytest.mark.parametrize("engine", ENGINES)
def test_the_replay_grows_the_engines_own_trees(engine, truncation):
    here = ENGINES[engine](made(Shape(30, 30)), 1)
    recorded = here.record(truncation, 4)
    assert len(recorded) == 4
    assert here.strays(recorded, truncation) <= 1e-6
    assert here.strays(recorded, 1) > 1e-3  # of another objective they are others


def test_the_numpy_objective_is_lambdarank():
    lgb = pytest.importorskip("lightgbm")
    data = made(Shape(5, 30))
    # The first query has no gain.
    q = Queries(np.where(np.arange(150) < 30, 0, data.queries.relevance), sizes=[30] * 5)
    scores = np.random.default_rng(0).normal(size=150)
    dataset = lgb.Dataset(data.features, q.relevance, group=q.sizes, params={"verbose": -1}).construct()
    found = numpy_objective.numpy_lambdarank(scores, dataset)
    for here, ours in zip(found, LambdaRank().gradient(scores, q), strict=True):
        np.testing.assert_allclose(here, ours, atol=1e-5 * np.abs(ours).max())


@pytest.mark.parametrize("objective", [LambdaRank(), RankNet(), SigmoidLocal()], ids=repr)
def test_sampled_sums(objective):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=300)
    q = Queries(rng.integers(0, 5, 300), sizes=[300])
    sample = np.arange(0, 300, 7)
    assert max(sums.sampled_error(objective, scores, q, sample)) < 1e-5
    lam, mu = sums._summed(objective, scores, q.relevance.astype(float), sample)
    assert sums._relative(1.01 * lam, lam) == pytest.approx(0.01)
    assert lam.shape == mu.shape == sample.shape


@pytest.mark.parametrize("documents", engine_measures.DOCUMENTS)
def test_measures_are_compared_with_metrics_of_the_same_value(documents):
    compared = list(engine_measures.compared(Shape(50, documents)))
    assert {engine for _, engine, *_ in compared} == set(engine_measures.ENGINES)
    for measure, engine, metric, scores, q in compared:
        if measure != AUC():  # XGBoost's counts pairs of equal grade too
            assert metric.value() == pytest.approx(measure(scores, q), abs=2e-6), (measure, engine)
        assert metric.of_function(measure) == pytest.approx(measure(scores, q), abs=2e-6)


def test_measures_beside_the_engines():
    found = engine_measures.engine_measures(TINY, 1)
    assert found.header[3:] == ("5", "10", "30", "100")
    assert {row[1] for row in found.rows} == set(engine_measures.ENGINES)
    assert all(cell.endswith(")") and "×" in cell for row in found.rows for cell in row[3:])
    assert all(any(repr(m) in line for line in found.remarks) for m in engine_measures.OF_PAIRS)


def test_machine_is_named():
    machine = this_machine(2)
    assert machine.cpu and machine.cores >= 1
    assert {"lambdaboost", "lightgbm", "xgboost", "numpy", "numba"} <= set(machine.versions)
    assert machine.cpu in machine.markdown() and "2 threads" in machine.markdown()
    assert "busy" in replace(machine, load=100.0 * machine.cores).markdown()
    assert "busy" not in replace(machine, load=0.0).markdown()


def test_speed_compares_the_same_trees():
    for case in TINY.cases:
        found = measure_case(case, TINY, 1)
        for engine in ENGINES:
            assert found[f"{engine} replay strays"].median <= 1e-6
            assert len(found[f"{engine} λ ratio"].values) == TINY.repetitions


def test_the_command_prints_and_writes(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "QUICK", TINY)
    parts = ["training", "evaluation", "lengths", "speed", "scaling"]
    only = [word for part in parts for word in ("--only", part)]
    found = command.main(["--quick", *only, "--threads", "1", "--out", str(tmp_path / "new")])
    assert list(found) == parts
    assert [row[0] for row in found["speed"].rows] == ["10 × 20"] * 2 + ["10 × 20, truncation 5"] * 2
    assert {row[1] for row in found["speed"].rows} == set(ENGINES)
    assert [row[0] for row in found["training"].rows] == ["20 × 10"] * 2 + ["10 × 20, truncation 5"] * 2
    assert [row[0] for row in found["evaluation"].rows] == ["20 × 10"] * 2 + ["10 × 20"] * 2
    lines = {
        "LightGBM's lambdarank",
        "lambdaboost in LightGBM",
        "XGBoost's rank:ndcg",
        "lambdaboost in XGBoost",
    }
    assert {row[0] for row in found["lengths"].rows} == lines
    assert found["lengths"].header[1:] == ("10", "20")
    assert all(float(row[-1]) < 1e-5 for row in found["scaling"].rows)
    assert found["scaling"].header[2:5] == ("100", "200", "400")
    text = (tmp_path / "new/bench.md").read_text(encoding="utf-8")
    assert "| queries × documents | against | λ and μ |" in text and "![One long list](scaling.png)" in text
    assert all(section.markdown() in text for section in found.values())
    assert found["scaling"].markdown() in capsys.readouterr().out
    assert (tmp_path / "new/scaling.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == ["bench.md", "lengths.png", "scaling.png"]


def test_calls_are_timed_inside_a_training():
    """In every round once, of the objective as of the metric."""
    for make in ENGINES.values():
        engine = make(made(Shape(20, 10)), 1)
        calls = []

        def counted(scores, data, calls=calls):
            calls.append("gradient")
            return LambdaRank()(scores, data)

        def measured_(scores, data, calls=calls):
            calls.append("measure")
            return training.MEASURE(scores, data)

        objective, measure = training.Stopwatch(counted), training.Stopwatch(measured_)
        engine.train(objective, 3, metric=measure)
        assert calls == ["gradient", "measure"] * 3
        assert objective.taken() > 0 and measure.taken() > 0
        assert objective.taken() == measure.taken() == 0


def test_growth():
    found = growth.growth(replace(TINY, growth_documents=(1000,)), 1)
    assert [row[:3] for row in found.rows] == [
        (where, engine, "1,000") for where in ("in memory", "in shards") for engine in ENGINES
    ]
    pattern = r"[\d,.]+ / [\d,.]+ (MB|s), [\d.]+×"
    assert all(re.fullmatch(pattern, cell) for row in found.rows for cell in row[3:])


@pytest.mark.parametrize("objective", [None, LambdaRank()])
@pytest.mark.parametrize("engine", ENGINES)
def test_growth_trains_the_same_model_in_memory_and_in_shards(tmp_path, engine, objective):
    _, *shards = growth.written(tmp_path, 3, 500)
    prepare = getattr(whole_training, engine.lower())
    X = whole_training.loaded(shards)
    assert X.shape[1] == growth.FEATURES and len(X) == len(whole_training.column(shards, "qid"))
    in_memory, in_shards = (
        prepare(shards, objective, held, str(tmp_path / "cache"))(3)[0] for held in (False, True)
    )
    assert trees(in_memory) == trees(in_shards)


def trees(booster):
    return booster.get_dump() if hasattr(booster, "get_dump") else booster.model_to_string()


def test_peers_are_the_engines_and_catboost_where_it_is_installed():
    found = peers.peers(TINY, 1)
    names = {row[0] for row in found.rows}
    assert {peers.BASE, "LightGBM lambdarank", "XGBoost rank:ndcg", peers.NUMPY} <= names
    if find_spec("catboost") is None:
        assert peers.CATBOOST not in names and "pip install catboost" in found.remarks[0]
    else:
        assert peers.CATBOOST in names and not found.remarks


def test_start(monkeypatch):
    monkeypatch.setattr(start, "JOBS", ())  # compiling from nothing takes too long for a test
    found = start.start(TINY, 1)
    assert {row[0] for row in found.rows} == {
        "import lambdaboost, beyond numpy and numba",
        "import numpy and numba",
    }
    for job in ("graded()", "NDCG()"):
        assert set(measured(start.FIRST.format(job=job))) == {"first", "next"}


def test_memory(monkeypatch):
    monkeypatch.setattr(memory, "OBJECTIVES", ("RankNet()",))
    found = memory.memory(replace(TINY, memory_documents=100_000), 1)
    # The result alone has 8 bytes a document; all pairs would take a hundred thousand.
    assert found.rows[0][0] == "RankNet()" and 8 <= float(found.rows[0][2]) < 1000


def test_load(tmp_path):
    found = load.load(replace(TINY, load_bytes=1), 2)
    assert [row[0] for row in found.rows[:3]] == [
        "lambdaboost read_letor, 1 thread",
        "lambdaboost read_letor, 2 threads",
        load.SKLEARN,
    ]
    assert load.write(tmp_path / "a.txt", tmp_path / "a.csv", 1) == load.BLOCK
    collection = read_letor(tmp_path / "a.txt")
    table = np.loadtxt(tmp_path / "a.csv", delimiter=",")
    np.testing.assert_array_equal(collection.features, table[:, 2:].astype(np.float32))
    np.testing.assert_array_equal(collection.queries.relevance, table[:, 0])


def test_a_measuring_process_that_fails_says_why():
    with pytest.raises(RuntimeError, match="a benchmark process failed: ZeroDivisionError"):
        measured("1 / 0")


def test_mistakes(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="--threads is 10000: at most"):
        command.main(["--threads", "10000", "--out", str(tmp_path / "new")])
    with pytest.raises(FileExistsError):
        command.main(["--out", str(tmp_path / "file")])
    for option, value in (("--threads", "0"), ("--only", "rockets")):
        with pytest.raises(SystemExit):
            command.main([option, value])
        assert f"argument {option}" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
