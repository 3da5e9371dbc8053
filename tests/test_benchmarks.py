"""The benchmark on tiny sizes: what it compares is the same thing, and what it writes can be read. No clocks."""

from dataclasses import replace

import pytest

pytest.importorskip("matplotlib")

import benchmarks.__main__ as command
from benchmarks.data import made
from benchmarks.engines import ENGINES
from benchmarks.plan import QUICK, Case, Shape

pytestmark = pytest.mark.slow

TINY = replace(
    QUICK,
    trained=(Case(Shape(20, 10)), Case(Shape(10, 20), truncation=5)),
    rounds_trained=2,
    lengths=(10, 20),
    length_documents=200,
    list_sizes=(100, 200, 400),
    measured_documents=300,
)


@pytest.mark.parametrize("truncation", [3, 30])
@pytest.mark.parametrize("engine", ENGINES)
def test_the_replay_grows_the_engines_own_trees(engine, truncation):
    here = ENGINES[engine](made(Shape(30, 30)), 1)
    recorded = here.record(truncation, 4)
    assert len(recorded) == 4
    assert here.strays(recorded, truncation) <= 1e-6
    assert here.strays(recorded, 1) > 1e-3  # of another objective they are others


def test_the_command_prints_and_writes(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "QUICK", TINY)
    parts = ["training", "lengths", "scaling", "measures"]
    found = command.main([command.Name(part) for part in parts], threads=1, quick=True, out=tmp_path)
    assert list(found) == parts
    assert [row[0] for row in found["training"].rows] == ["20 × 10"] * 4 + ["10 × 20, truncation 5"] * 6
    assert {row[1] for row in found["training"].rows} == set(ENGINES)
    compared = ("LambdaRank()", "YetiLoss()")
    lines = {f"{objective} in {engine}" for objective in compared for engine in ENGINES}
    assert {row[0] for row in found["lengths"].rows} == lines | {
        "LightGBM's lambdarank",
        "XGBoost's rank:ndcg",
    }
    assert all(float(row[-1]) < 1e-12 for row in found["measures"].rows)  # libraries agree
    text = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    assert all(section.markdown() in text for section in found.values())
    assert found["scaling"].markdown() in capsys.readouterr().out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["benchmarks.md", "lengths.png", "scaling.png"]
