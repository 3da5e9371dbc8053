"""Every rule without the compiler (NUMBA_DISABLE_JIT=1), as coverage and debuggers run it."""

import os
import subprocess
import sys

import drawn
import numpy as np
import pytest
import rules

SCRIPT = """
import sys
sys.path.insert(0, "tests")
import numpy as np, warnings, drawn, rules
warnings.simplefilter("ignore")
scores, q = drawn.make(3, [9, 1, 6, 2])
np.savez(sys.argv[1], *[f for rule in rules.RULES for f in rule.objective.gradient(scores, q, iteration=3)])
"""


@pytest.fixture(scope="module")
def interpreted(tmp_path_factory):
    path = tmp_path_factory.mktemp("interpreted") / "figures.npz"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-c", SCRIPT, str(path)], env=environment, check=True)
    with np.load(path) as figures:
        return [figures[name] for name in figures.files]


@pytest.mark.parametrize(("at", "rule"), list(enumerate(rules.RULES)), ids=rules.IDS)
def test_same_figures_interpreted(at, rule, interpreted):
    scores, q = drawn.make(3, [9, 1, 6, 2])
    for ours, theirs in zip(
        rule.objective.gradient(scores, q, iteration=3),
        interpreted[2 * at : 2 * at + 2],
        strict=True,
    ):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5 * max(np.abs(theirs).max(), 1e-30))
