"""`experiments.yue2007` at tiny sizes, and what it says of what it found."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import experiments.yue2007.__main__ as command
from experiments.common.folders import read_folder
from experiments.yue2007.accuracy import LAMBDARANK, RANKNET, SPSA_4
from experiments.yue2007.convergence import FDSA
from experiments.yue2007.parts import first_fold
from experiments.yue2007.report import Effort, findings

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("yue2007")


@pytest.fixture(scope="module")
def made(out):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "FEATURES", 16)
        patch.setattr(command, "QUICK", Effort(queries=5, iterations=2, runs=3, share=0.03, swept=20))
        return command.main(["--quick", "--queries", "20", "--documents", "8", "--out", str(out)])


def test_everything_is_written(made, out):
    assert sorted(path.name for path in out.iterdir()) == ["figure_1.png", "figure_2.png", "report.md"]
    text = (out / "report.md").read_text(encoding="utf-8")
    assert "| FDSA |" in text
    assert "| LambdaRank | 0." in text
    assert "0.721 / 0.713 / 0.707" in text
    assert "virtually identical to the closed form: **yes**" in text
    assert made.data.digest in text


def said(made, claim):
    """The verdict on a claim."""
    (line,) = (line for line in findings(made) if line.startswith(f"- {claim}: "))
    return line.split("**")[1]


def with_tests(made, **test):
    """The same with other test figures: those given by method, 0.5 for every query of the rest."""
    rows = [replace(r, test=test.get(r.method.name.replace(":", ""), np.full(100, 0.5))) for r in made.rows]
    return replace(made, rows=tuple(rows))


def test_verdicts_on_accuracy(made):
    noise = np.random.default_rng(0).normal(size=100) / 100
    middle = np.full(100, 0.5)
    low, high = middle - 0.1 + noise, middle + 0.1 - noise
    clear = with_tests(made, LambdaRank=high, SPSA4=low)
    assert said(clear, f"{LAMBDARANK} beats {SPSA_4}") == "yes"
    turned = with_tests(made, LambdaRank=low, SPSA4=high)
    assert said(turned, f"{LAMBDARANK} beats {SPSA_4}") == "no, the opposite"
    equal = with_tests(made, LambdaRank=middle, SPSA4=middle + noise)
    assert said(equal, f"{LAMBDARANK} beats {SPSA_4}") == "no significant difference"
    assert said(equal, f"{RANKNET} beats {SPSA_4}") == "no significant difference"


def test_a_constant_gain_is_a_gain(made):
    """Every query improves by the same amount: no variance is no reason to see nothing."""
    middle = np.full(100, 0.5)
    constant = with_tests(made, LambdaRank=middle + 0.125, SPSA4=middle)
    assert said(constant, f"{LAMBDARANK} beats {SPSA_4}") == "yes"


def test_verdicts_on_convergence(made):
    costs = {m: c.copy() for m, c in made.convergence.costs.items()}
    spread = np.array([-0.01, 0.0, 0.01])
    for method, cost in costs.items():
        cost[:] = (1.0 if method == FDSA else 0.5) + spread
    fast = replace(made, convergence=replace(made.convergence, costs=costs, likeness=0.1))
    assert said(fast, "SPSA:2 converges faster than FDSA") == "yes"
    assert said(fast, "All variants of SPSA converge about equally fast") == "yes"
    assert said(fast, "The FDSA gradient is virtually identical to the closed form") == "no"
    costs[FDSA][:] = 0.5 + spread
    even = replace(fast, convergence=replace(fast.convergence, costs=costs))
    assert said(even, "SPSA:2 converges faster than FDSA") == "no significant difference"


def test_nothing_is_no_folder(tmp_path):
    with pytest.raises(ValueError, match="give a folder of LETOR text, or the word synthetic"):
        command.main([str(tmp_path / "none"), "--out", str(tmp_path / "out")])
    assert not (tmp_path / "out").exists()


def test_a_folder(data, tmp_path):
    for path in (data / "mslr_web30k_sample").iterdir():
        if path.is_file() and not path.name.endswith(".npz"):
            (tmp_path / path.name).symlink_to(path)
    made = first_fold(read_folder(tmp_path))
    X, q = made.train
    assert X.shape[0] == q.n_documents
    assert np.abs(X).max() <= 5
    assert made.valid[1].n_queries > 0
