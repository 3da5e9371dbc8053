"""Every rule without the compiler (NUMBA_DISABLE_JIT=1), as coverage and debuggers run it."""

import warnings

import drawn
import numpy as np
import pytest
import rules
from trainings import ran

SCORES, Q = drawn.make(3, [9, 1, 6, 2])


def gradients():
    with warnings.catch_warnings(action="ignore"):
        both = [rule.objective.gradient(SCORES, Q, iteration=3) for rule in rules.RULES]
    return [[part.tolist() for part in of_rule] for of_rule in both]


@pytest.fixture(scope="module")
def interpreted():
    (found,) = ran(gradients, [], NUMBA_DISABLE_JIT="1")
    return found


@pytest.mark.parametrize(("at", "rule"), list(enumerate(rules.RULES)), ids=map(rules.named, rules.RULES))
def test_same_figures_interpreted(at, rule, interpreted):
    for ours, theirs in zip(rule.objective.gradient(SCORES, Q, iteration=3), interpreted[at], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5 * max(np.abs(theirs).max(), 1e-30))
