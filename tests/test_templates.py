"""The templates of CONTRIBUTING.md: rows of `rules` and `naive_measures`, so that every shared check holds of them."""

import re
from pathlib import Path

import naive
import numpy as np
from naive_measures import ReadingDepth

from lambdaboost import LambdaRank, Queries
from lambdaboost.objectives.swaps import SWAPS, dcg

ROOT = Path(__file__).parent.parent
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
YOURS = {f"lambdaboost/{folder}/yours.py" for folder in ("engines", "evaluation", "objectives")}


def test_the_swap_of_contributing_is_the_change_of_the_measure(monkeypatch):
    monkeypatch.setitem(SWAPS, ReadingDepth, None)  # and not there afterwards
    (code,) = re.findall(r"^```python\n(SWAPS\[.*?)^```", CONTRIBUTING, flags=re.DOTALL | re.MULTILINE)
    exec(code, {**vars(dcg), "SWAPS": SWAPS, "ReadingDepth": ReadingDepth})
    scores, grades = np.array([0.3, 0.1, 0.1, 0.7]), np.array([1.0, 0.0, 2.0, 0.0])
    lam, mu = naive.by_swap(ReadingDepth(), scores, grades)
    found = LambdaRank(ReadingDepth()).gradient(scores, Queries(grades, sizes=[4]))
    np.testing.assert_allclose(found, [-lam, mu], atol=1e-6)


def test_contributing_names_what_is_there():
    paths = set(
        re.findall(r"`((?:docs|examples|lambdaboost|tests)/[\w/]+\.\w+|constraints.txt)`", CONTRIBUTING)
    )
    assert len(paths) > 15 and all((ROOT / path).exists() for path in paths - YOURS)
    code = "".join(file.read_text(encoding="utf-8") for file in ROOT.glob("[let]*/**/*.py"))
    names = set(re.findall(r"`(?:\w+\.)*([A-Za-z_]\w+)(?:\([^`]*\))?`", CONTRIBUTING))
    assert len(names) > 50 and not names - set(re.findall(r"\w+", code))
