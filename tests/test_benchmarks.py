"""The benchmark on tiny sizes: what it compares is the same thing, and what it writes can be read. No clocks."""

import json
from dataclasses import replace
from importlib.util import find_spec

import numba
import numpy as np
import pytest

from lambdaboost import LambdaRank, Queries, RankNet, SigmoidLocal
from lambdaboost.bench import memory, numpy_objective, peers, run, start, sums, timing
from lambdaboost.bench.child import measured
from lambdaboost.bench.data import SHARES, made
from lambdaboost.bench.engines import ENGINES
from lambdaboost.bench.machine import this_machine
from lambdaboost.bench.objective_costs import BASE, objectives
from lambdaboost.bench.plan import FULL, QUICK, Case, Shape
from lambdaboost.bench.scaling import fitted
from lambdaboost.bench.section import Setting
from lambdaboost.bench.timing import Figures
from lambdaboost.cli.run import run as command_line

TINY = replace(
    QUICK,
    cases=(Case(Shape(10, 20)), Case(Shape(10, 20), truncation=5)),
    rounds=2,
    list_sizes=(100, 200, 400),
    memory_documents=5_000,
)


@pytest.fixture(autouse=True)
def threads():
    before = numba.get_num_threads()
    yield
    numba.set_num_threads(before)


def test_repetitions_alternate():
    done, told = [], []
    found = timing.alternate({"a": lambda: done.append("a"), "b": lambda: done.append("b")}, 3, told.append)
    assert "".join(done) == "".join(told) == "ababab"
    assert len(found["a"].values) == len(found["b"].values) == 3


def test_figures_stay_side_by_side():
    a, b = Figures((2.0, 4.0, 90.0)), Figures((1.0, 2.0, 3.0))
    assert (a / b).values == (2.0, 2.0, 30.0)
    assert (a - b).values == (1.0, 2.0, 87.0)
    assert (a / b).median == 2.0
    assert (a / b).ratio() == "2× (2–30.0)"
    assert Figures((0.0123,)).milliseconds() == "12.3 ms"
    assert (a / 2).described() == {"median": 2.0, "low": 1.0, "high": 45.0, "values": [1.0, 2.0, 45.0]}


def test_slope_of_a_power():
    found = fitted({n: 3e-9 * n**1.185 for n in (1000, 2000, 4000, 8000)})
    assert found.slope == pytest.approx(1.185)
    assert str(found) == "1.185 ± 0.000"


def test_data_has_the_grades_that_it_says():
    data = made(Shape(100, 50))
    assert np.bincount(data.queries.relevance.astype(int)) / 5000 == pytest.approx(SHARES, abs=1e-3)
    assert FULL.shapes == (Shape(1000, 120), Shape(100, 1200), Shape(30, 5000))
    assert [FULL.repetitions_at(shape) for shape in FULL.shapes] == [5, 5, 3]


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
    q = Queries(
        np.where(np.arange(150) < 30, 0, data.queries.relevance), sizes=[30] * 5
    )  # one without any gain
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


def test_objectives_that_there_are():
    known = objectives()
    assert next(iter(known)) == BASE
    assert {"RankNet()", "SigmoidLocal()", "ClickTier()", "graded()", "iteration_dependent()"} <= set(known)


def test_machine_is_named():
    machine = this_machine(2)
    assert machine.cpu and machine.cores >= 1
    assert {"lambdaboost", "lightgbm", "xgboost", "numpy", "numba"} <= set(machine.versions)
    assert machine.cpu in machine.markdown() and "2 threads" in machine.markdown()
    assert "busy" in replace(machine, load=100.0 * machine.cores).markdown()
    assert "busy" not in replace(machine, load=0.0).markdown()


def bench(capsys, *args):
    """Exit code, standard output and standard error."""
    capsys.readouterr()
    code = command_line(["bench", *map(str, args)])
    return code, *capsys.readouterr()


def test_command_prints_and_writes(capsys, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(run, "QUICK", TINY)
    parts = ["speed", "objectives", "peers", "scaling"]
    only = [word for part in parts for word in ("--only", part)]
    code, out, err = bench(capsys, "--quick", *only, "--threads", 1, "--out", tmp_path / "new", "--json")
    assert code == 0, err
    written = json.loads((tmp_path / "new/bench.json").read_text())
    assert json.loads(out) == written
    assert written["machine"]["threads"] == 1
    assert list(written["sections"]) == parts

    speed = written["sections"]["speed"]["figures"]
    assert list(speed) == ["10 × 20", "10 × 20, truncation 5"]
    for case in speed.values():
        assert case["LightGBM replay strays"]["median"] <= 1e-6
        assert len(case["XGBoost λ ratio"]["values"]) == 2
    assert written["sections"]["objectives"]["figures"]["10 × 20"][BASE]["ratio"]["median"] == 1
    assert "XGBoost rank:ndcg" in written["sections"]["peers"]["figures"]["10 × 20"]
    scaling = written["sections"]["scaling"]["figures"]["LambdaRank()"]
    assert max(scaling["largest error of λ"].values()) < 1e-5
    assert list(scaling["seconds"]) == ["100", "200", "400"]

    text = (tmp_path / "new/bench.md").read_text()
    assert "| queries × documents | against | λ and μ |" in text and "![One long list](scaling.png)" in text
    assert (tmp_path / "new/scaling.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == ["bench.json", "bench.md", "scaling.png"]


def test_tables_without_matplotlib(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "QUICK", TINY)
    for module in ("run", "report"):
        monkeypatch.setattr(f"lambdaboost.bench.{module}.has_matplotlib", lambda: False)
    code, out, err = bench(capsys, "--quick", "--only", "scaling", "--out", tmp_path)
    assert code == 0 and "One long list" in out
    assert "pip install 'lambdaboost[plots]'" in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bench.json", "bench.md"]


def test_catboost_is_told_where_it_is_missing(monkeypatch):
    monkeypatch.setattr(peers, "has_catboost", lambda: False)
    found = peers.peers(TINY, Setting(1))
    assert "pip install 'lambdaboost[bench]'" in found.remarks[0]
    assert peers.CATBOOST not in found.figures["10 × 20"]


@pytest.mark.skipif(find_spec("catboost") is None, reason="CatBoost is not installed")
def test_catboost_takes_part():
    assert peers.CATBOOST in peers.peers(TINY, Setting(1)).figures["10 × 20"]


def test_start(monkeypatch):
    monkeypatch.setattr(start, "OBJECTIVES", ())  # compiling from nothing takes too long for a test
    found = start.start(TINY, Setting(1))
    assert set(found.figures) == {"import lambdaboost, beyond numpy and numba", "import numpy and numba"}
    assert set(measured(start.FIRST.format(objective="graded()"))) == {"first", "next"}


def test_memory(monkeypatch):
    monkeypatch.setattr(memory, "OBJECTIVES", ("RankNet()",))
    found = memory.memory(replace(TINY, memory_documents=100_000), Setting(1))
    # The result alone has 8 bytes a document; all pairs would take a hundred thousand.
    assert 8 <= found.figures["bytes per document"]["RankNet()"]["later"] < 1000


def test_a_measuring_process_that_fails_says_why():
    with pytest.raises(RuntimeError, match="a measuring process failed: ZeroDivisionError"):
        measured("1 / 0")


def refused(capsys, *args):
    code, out, err = bench(capsys, *args)
    assert (code, out) == (2 if " --help.\n" in err else 1, "")
    assert err.startswith("lambdaboost: ") and err.count("\n") == 1
    return err


def test_mistakes(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    assert "at most" in refused(capsys, "--threads", 10_000, "--out", tmp_path / "new")
    assert "--threads" in refused(capsys, "--threads", 0)
    assert "'rockets' is not one of" in refused(capsys, "--only", "rockets")
    assert f"{tmp_path / 'file'}: File exists" in refused(capsys, "--out", tmp_path / "file")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
