"""An objective or measure is registered by its definition: it reads back, is public, and a user's may have any name."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import lambdaboost
from lambdaboost import evaluation, objectives
from lambdaboost.evaluation import MEASURES, Measure
from lambdaboost.objectives import OBJECTIVES
from lambdaboost.objectives.parsing import RECIPES, SCHEDULES


@pytest.mark.parametrize(
    "registry",
    [OBJECTIVES, RECIPES, SCHEDULES, MEASURES],
    ids=["objectives", "recipes", "schedules", "measures"],
)
def test_what_is_registered_is_public(registry):
    package = evaluation if registry is MEASURES else objectives
    for name, entry in registry.items():
        if not entry.__module__.startswith("lambdaboost."):  # other tests define classes as users do
            continue
        assert name == entry.__name__
        assert name in package.__all__ and getattr(package, name) is entry, f"import it in {package.__name__}"
        assert getattr(lambdaboost, name, None) is entry, "import it in lambdaboost"


def test_importing_every_name_replaces_no_variable_by_a_module():
    """Such as `clicks`, as README calls an array."""
    names = set(lambdaboost.__all__)
    assert {"NDCG", "Queries", "YetiLoss", "attach", "merge", "tune"} <= names
    assert names.isdisjoint({"clicks", "datasets", "evaluation", "objectives"})


def test_a_users_class_may_have_any_name():
    """Defined twice, as in a notebook; lambdaboost's names stay lambdaboost's."""
    before = dict(MEASURES)
    try:
        for value in (0.0, 1.0):

            class Mine(Measure):
                empty: float = value

                def values(self, scores, q):
                    return np.zeros(q.n_queries)

            assert evaluation.parse("Mine()") == Mine() == Mine(empty=value) and Mine().empty == value
            with pytest.raises(FrozenInstanceError):
                Mine().empty = 3.0

        type("NDCG", (Measure,), {"values": None})
        assert evaluation.parse("NDCG()") == lambdaboost.NDCG()
    finally:
        MEASURES.clear()
        MEASURES.update(before)
