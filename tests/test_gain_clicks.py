"""The benchmark of clicks with position bias: a small run."""

import pytest

from benchmarks.gain import clicks

pytest.importorskip("lightgbm")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:position:UserWarning")
def test_small_run(tmp_path, monkeypatch):
    """Every system has a row; with many sessions there are no lists of sessions."""
    for name, size in {"QUERIES": 40, "TESTED": 20, "ROUNDS": 2, "ETAS": (1.0,)}.items():
        monkeypatch.setattr(clicks, name, size)
    rows = {}
    for sessions in (12, 30):
        out = tmp_path / f"{sessions}.md"
        clicks.main(seeds=2, sessions=sessions, out=out)
        page = out.read_text(encoding="utf-8")
        assert f"{sessions} sessions of each query" in page
        rows[sessions] = [line.split("|")[1].strip() for line in page.splitlines() if line.startswith("| ")][
            1:
        ]
    assert rows[12][0] == "lambdarank, sessions" and rows[30][0] == "lambdarank, raw rates"
    assert set(rows[30]) < set(rows[12]) and len(rows[12]) == len(rows[30]) + 6 == 11
