"""One registration an objective or measure: what a decorator enters is what reads back, is public and is tested."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import lambdaboost
from lambdaboost import evaluation, objectives
from lambdaboost._registry import Registry
from lambdaboost.evaluation import MEASURES, Measure
from lambdaboost.objectives import OBJECTIVES, Objective
from lambdaboost.objectives.base.registry import COMBINERS, GRADE_MODELS, RECIPES, SCHEDULES

FOLDERS = [(objectives, Objective, OBJECTIVES), (evaluation, Measure, MEASURES)]


def defined_in(package, base):
    """The classes in a package's own files that are of a kind; those that others derive from are no rows themselves."""
    for info in iter_modules(package.__path__):
        module = import_module(f"{package.__name__}.{info.name}")
        for value in vars(module).values():
            if not isinstance(value, type) or value.__module__ != module.__name__:
                continue
            if issubclass(value, base) and value is not base and not value.__subclasses__():
                yield value


@pytest.mark.parametrize(("package", "base", "registry"), FOLDERS, ids=["objectives", "measures"])
def test_what_stands_in_a_file_is_registered(package, base, registry):
    defined = {cls.__name__: cls for cls in defined_in(package, base)}
    assert len(defined) >= 12
    assert defined.items() <= dict(registry).items(), "put @OBJECTIVES.add or @MEASURES.add above the class"


@pytest.mark.parametrize(
    "registry",
    [OBJECTIVES, GRADE_MODELS, RECIPES, SCHEDULES, COMBINERS, MEASURES],
    ids=["objectives", "grade models", "recipes", "schedules", "combiners", "measures"],
)
def test_what_is_registered_is_public(registry):
    package = evaluation if registry is MEASURES else objectives
    for name, entry in registry.items():
        assert name == entry.__name__
        assert name in package.__all__ and getattr(package, name) is entry, f"import it in {package.__name__}"
        assert name in lambdaboost.__all__ and getattr(lambdaboost, name) is entry, "import it in lambdaboost"


def test_what_is_registered_is_in_the_documentation():
    for registry, page in (
        (OBJECTIVES, "objectives"),
        (GRADE_MODELS, "objectives"),
        (RECIPES, "objectives"),
        (SCHEDULES, "objectives"),
        (COMBINERS, "objectives"),
        (MEASURES, "evaluation"),
    ):
        text = (Path(__file__).parent.parent / "docs" / "api" / f"{page}.rst").read_text(encoding="utf-8")
        for name in registry:
            assert f":: {name}\n" in text


def test_public_objectives_stand_one_a_file():
    """The other files hold models of grades, recipes and schedules; helpers are in packages."""
    names = {info.name for info in iter_modules(objectives.__path__) if not info.ispkg}
    homes = {entry.__module__.rpartition(".")[2] for entry in (*OBJECTIVES.values(), *GRADE_MODELS.values())}
    assert names - homes == {"recipes", "schedules"}
    assert len(homes) == len(OBJECTIVES) + 1  # McRank's two variants share a file


def test_a_name_is_taken_once():
    names = Registry()

    def one():
        pass

    assert names.add(one) is one and names.add(one) is one and dict(names) == {"one": one}
    other = type("one", (), {"__module__": "elsewhere"})
    with pytest.raises(
        ValueError, match=r"one of elsewhere is registered by test_registry: choose another name"
    ):
        names.add(other)
