"""The package as a whole: layers, guards, what importing costs, what the wheel holds."""

import ast
import os
import re
import subprocess
import sys
import zipfile
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from copied import copied
from hypothesis import given
from hypothesis import strategies as st

from lambdaboost._kernel_cache import SOURCES

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "lambdaboost"
LINKED = ("datasets", "evaluation", "objectives")
# From the bottom up. A module imports from its own layer and those below.
LAYERS = (
    {
        "_checks",
        "_files",
        "_inlined",
        "_installed",
        "_jit",
        "_kernel_cache",
        "_lightgbm",
        "_team",
        "_threads",
        "_value",
        "_warn",
        "_words",
        "_xgboost",
    },
    {"datasets"},
    {"clicks"},
    {"engine_data"},
    {"traps"},
    {"callback"},
    {"evaluation"},
    {
        "objectives.kernels",
        "objectives.swaps",
    },
    {"objectives"},
    {"leaks", "native"},
    {"saving"},
    {"serving", "ranker"},
    {"lightgbm", "xgboost"},
    {"tuning", "dask"},
    {""},  # the package itself, which hands on public names
    {"cli"},
    {"__main__"},
)
OUTSIDE = ("benchmarks", "docs", "examples", "experiments", "tests", "tools")
IMPORT = re.compile(
    r"\bfrom ((?:lambdaboost|benchmarks|experiments)\b[\w.]*) import (\([^)]*\)|[^\n\\\"';]*)"
)
MADE_UP = {
    "lambdaboost.objectives.inner",
    "lambdaboost.objectives.outer",
    "lambdaboost.datasets.kernels.parser",
}
in_a_checkout = pytest.mark.skipif((ROOT / "PKG-INFO").exists(), reason="a source archive has no links")


def name_of(path: Path) -> str:
    """The dotted name of a module without the package; "" for the package itself."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip(".")


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}
EACH = pytest.mark.parametrize("module", MODULES)


def layer_of(module: str) -> int:
    """The layer of a module: that of the innermost of its packages that has one."""
    parts = module.split(".")
    names = [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
    return next((at for name in names for at, layer in enumerate(LAYERS) if name in layer), len(LAYERS))


def imports_of(module: str, modules: dict[str, Path] = MODULES) -> dict[str, int]:
    """The modules of the package that one imports, with the line: in functions and for types alone too."""
    found: dict[str, int] = {}
    for node in ast.walk(ast.parse(modules[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}, line {node.lineno}: a relative import"
            names = [f"{node.module}.{name.name}" for name in node.names]
            names = [name if name.partition(".")[2] in modules else str(node.module) for name in names]
        elif isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        else:
            continue
        within = (name.partition(".")[2] for name in names if name.split(".")[0] == "lambdaboost")
        found |= {name: node.lineno for name in within if name != module}
    return found


def cycle(imports: dict[str, dict[str, int]]) -> list[str]:
    """Modules that import each other in a circle, or none."""
    try:
        tuple(TopologicalSorter(imports).static_order())
    except CycleError as error:
        return list(error.args[1])
    return []


@EACH
def test_imports_only_point_down(module):
    for name, line in imports_of(module).items():
        assert layer_of(name) <= layer_of(module), f"line {line} imports {name} from a layer above"


def test_layers_are_those_of_the_package():
    assert [
        layer_of(name) for name in ("_jit", "datasets.queries", "evaluation", "objectives.kernels.pair_rule")
    ] == [0, 1, 6, 7]
    assert (
        layer_of("datasets.queries")
        < layer_of("clicks.propensities")
        < layer_of("callback")
        < layer_of("evaluation")
    )
    assert layer_of("objectives.swaps.err") < layer_of("objectives.lambdarank") < layer_of("ranker")
    assert layer_of("xgboost") < layer_of("dask") < layer_of("cli.app")
    named = {name for layer in LAYERS for name in layer} - {"ray"}
    assert named <= set(MODULES), "a layer names what is gone"
    assert [name for name in MODULES if layer_of(name) == len(LAYERS)] == [], "give a new package a layer"


def test_every_file_with_kernels_names_the_cache():
    decorated = re.compile(r"^@(kernel|no_refcount|inlined|exact|method|by_type)", re.MULTILINE)
    grouped = {path for pattern in SOURCES for path in PACKAGE.glob(pattern)}
    files = {path for path in MODULES.values() if decorated.search(path.read_text(encoding="utf-8"))}
    assert files and files <= grouped


@EACH
def test_packages_import_public_names_of_each_other_only(module):
    """The modules at the top whose names begin with a _ are shared by all."""
    own = module.split(".")[0]
    others = [name for name in imports_of(module) if name and name.split(".")[0] != own]
    assert [name for name in others if "._" in name] == []


def test_no_module_is_shadowed_by_a_function_of_its_name():
    for name in MODULES:
        package, _, last = name.rpartition(".")
        if package and not last.startswith("__"):
            import_module(f"lambdaboost.{name}")
            assert isinstance(getattr(import_module(f"lambdaboost.{package}"), last), ModuleType), name


def test_no_imports_go_in_circles():
    """Not even through functions or ``if TYPE_CHECKING``: each module can be read after those that it imports."""
    imports = {module: imports_of(module) for module in MODULES}
    assert len(imports["objectives.lambdarank"]) >= 5
    assert cycle(imports) == []


def test_a_circle_is_found(tmp_path):
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from lambdaboost.evaluation import NDCG\n"
    )
    two.write_text("def f():\n    from lambdaboost import datasets\n")
    modules = {"datasets": one, "evaluation": two}
    assert cycle({module: imports_of(module, modules) for module in modules}) == [
        "datasets",
        "evaluation",
        "datasets",
    ]


@pytest.mark.parametrize("folder", OUTSIDE)
def test_what_is_outside_the_package_finds_what_it_imports(folder):
    """In functions, pages, notebooks and code in strings too: much of it runs in slow tests only, or in none."""
    files = [path for path in (ROOT / folder).rglob("*.*") if path.suffix in (".ipynb", ".md", ".py")]
    if folder in ("benchmarks", "experiments"):  # what they read of a module as they are imported
        for path in files:
            if path.suffix == ".py":
                imported(".".join(path.relative_to(ROOT).with_suffix("").parts))
    missing = []
    for path in files:
        for module, names in IMPORT.findall(path.read_text(encoding="utf-8")):
            if module not in MADE_UP:
                names = re.findall(r"(\w+)(?: as \w+)?", re.sub("#.*", "", names))
                missing += [f"{path}: {module}.{name}" for name in names if not is_there(module, name)]
    assert missing == []


def imported(name):
    """A module, or None where it needs what is not installed."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if str(error.name).split(".")[0] in ("lambdaboost", *OUTSIDE):
            raise
        return None


def is_there(module, name):
    """Whether a module has something of this name, or is not to be imported here."""
    try:
        found = imported(module)
        return found is None or hasattr(found, name) or imported(f"{module}.{name}") is not None
    except ModuleNotFoundError:
        return False


@in_a_checkout
@pytest.mark.parametrize("name", LINKED)
def test_links_at_the_top_are_the_packages(name):
    link = ROOT / name
    assert link.is_symlink()
    assert link.resolve() == PACKAGE / name
    assert os.readlink(link) == f"lambdaboost/{name}"


@in_a_checkout
@pytest.mark.parametrize("name", LINKED)
def test_a_link_cannot_be_imported(name):
    run = subprocess.run([sys.executable, "-c", f"import {name}"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode != 0
    assert f"ImportError: import lambdaboost.{name}, not the folder '{name}'" in run.stderr


@in_a_checkout
@pytest.mark.parametrize("name", LINKED)
def test_a_link_can_be_tested(name):
    """`pytest evaluation/` tests the package that the folder links to."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-qp", "no:cacheprovider", f"{name}/"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
    assert f"lambdaboost/{name}/" in run.stdout.replace(os.sep, "/")


# Decorators of functions that Numba compiles, and of classes whose static methods it compiles.
COMPILERS = {
    "by_type",
    "exact",
    "strict_fp_no_refcount",
    "inlined",
    "inlined_strict_fp",
    "kernel",
    "njit",
    "overload",
    "traits",
    "no_refcount",
}


def untyped_functions(tree: ast.AST) -> list[ast.FunctionDef]:
    """The functions without any type that neither have such a decorator nor stand in what has one."""
    found = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = (part for decorator in node.decorator_list for part in ast.walk(decorator))
            if COMPILERS & {name.id for name in names if isinstance(name, ast.Name)}:
                continue
        if isinstance(node, ast.FunctionDef) and node.returns is None:
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            found += [] if any(argument.annotation for argument in arguments) else [node]
        found += untyped_functions(node)
    return found


@pytest.mark.parametrize("folder", ["lambdaboost", "experiments"])
def test_only_compiled_functions_have_no_types(folder):
    """mypy refuses a function with some types only; one without any is compiled, or stands beside kernels."""
    files = sorted((ROOT / folder).rglob("*.py"))
    if not files:
        pytest.skip(f"{folder} is not in this archive")
    found = []
    for path in files:
        if path.parent.name != "kernels":
            untyped = untyped_functions(ast.parse(path.read_text(encoding="utf-8")))
            found += [f"{path}:{node.lineno} {node.name}" for node in untyped]
    assert found == []


def test_a_function_without_types_is_found():
    tree = ast.parse(
        "def f(x):\n    pass\n\n@kernel\ndef g(x):\n    pass\n\ndef h(x: int) -> int:\n    pass\n"
    )
    assert [node.name for node in untyped_functions(tree)] == ["f"]


def test_importing_imports_no_engine_no_plots_and_compiles_nothing():
    code = (
        "import sys, lambdaboost, lambdaboost.objectives as o, lambdaboost.evaluation, lambdaboost.datasets\n"
        "heavy = {'lightgbm', 'xgboost', 'matplotlib', 'pandas', 'sklearn', 'scipy.stats', 'rich', 'typer'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "from lambdaboost.objectives.kernels import query\n"
        "assert not query.sum_by_tiles.signatures\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_four_files_lead_to_the_line_that_computes_lambda():
    walk = {
        "lambdarank": "PairRule",
        "pair_rule": "gradient_by_tiles",
        "query": "rows_by_columns",
        "tiles": "_tile",
    }
    files = [next((PACKAGE / "objectives").rglob(f"{name}.py")) for name in walk]
    for file, called, following in zip(files, walk.values(), files[1:], strict=False):
        assert re.search(rf"^ .*\b{called}[(,)]", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert re.search(rf"(class|def) {called}\b", following.read_text(encoding="utf-8"))
    assert "def _tile(" in files[-1].read_text(encoding="utf-8")


def test_examples_do_not_depend_on_the_modules_that_are_loaded(tmp_path, monkeypatch):
    def drawn():
        seen = []

        @given(st.lists(st.integers() | st.floats() | st.text()))
        def draw(values):
            seen.append(repr(values))

        draw()
        return seen

    before = drawn()
    (tmp_path / "loaded.py").write_text("NUMBERS = 7654321, 0.7654321, 'seven'\n")
    monkeypatch.syspath_prepend(tmp_path)
    import_module("loaded")
    assert drawn() == before


def test_public_names():
    import lambdaboost

    for name in lambdaboost.__all__:
        assert getattr(lambdaboost, name) is not None


@pytest.mark.slow
def test_wheel_holds_the_package_only(tmp_path):
    pytest.importorskip("setuptools", minversion="77")
    subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "-q", "--no-deps", "--no-build-isolation",
         "-w", str(tmp_path), str(copied(tmp_path))],
        check=True, capture_output=True, cwd=tmp_path,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"lambdaboost"}
    assert "lambdaboost/py.typed" in names
    assert "lambdaboost/objectives/lambdarank.py" in names


@pytest.mark.slow
def test_same_bits_just_compiled_and_from_the_cache(tmp_path):
    code = (
        "import numpy as np; from lambdaboost import LambdaRank, Queries\n"
        "rng = np.random.default_rng(0)\n"
        "q = Queries(rng.integers(0, 5, 3000), sizes=[150] * 20)\n"
        "grad, hess = LambdaRank().gradient(rng.normal(size=3000), q)\n"
        "print(grad.tobytes().hex(), hess.tobytes().hex())\n"
    )
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    cold, warm = (
        subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True).stdout
        for _ in range(2)
    )
    assert cold == warm


def test_no_message_installs_lambdaboost_from_an_index():
    """It is on none: whoever registers the name would be installed."""
    asking = re.compile(r"install ['\"]?lambdaboost\b|lambdaboost\\?\[")
    texts = {path.name: path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    assert [name for name, text in texts.items() if asking.search(text)] == []
