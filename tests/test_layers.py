"""The package as a whole: layers, guards, what importing costs."""

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

from lambdaboost._kernel_cache import SOURCES

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "lambdaboost"
LINKED = ("datasets", "evaluation", "objectives")
# From the bottom up. A module imports from its own layer and those below.
LAYERS = (
    {path.stem for path in PACKAGE.glob("_[a-z]*.py")},
    {"datasets"},
    {"clicks"},
    {"engines"},
    {"attaching"},
    {"traps"},
    {"callback", "scoring"},
    {"evaluation"},
    {"objectives.kernels", "objectives.swaps"},
    {"objectives"},
    {"leaks", "training"},
    {"saving"},
    {"explanation", "merging", "serving", "ranker"},
    {"lightgbm", "xgboost"},
    {"tuning", "dask"},
    {""},  # the package itself, which hands on public names
    {"cli"},
    {"__main__"},
)
OUTSIDE = ("benchmarks", "docs", "examples", "experiments", "tests")
IMPORT = re.compile(
    r"\bfrom ((?:lambdaboost|benchmarks|experiments)\b[\w.]*) import (\([^)]*\)|[^\n\\\"';`]*)"
)
MADE_UP = {f"lambdaboost.objectives.{name}" for name in ("inner", "outer", "weighted")}
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


def imports_of(module: str) -> dict[str, int]:
    """The modules of the package that one imports, with the line: in functions and for types alone too."""
    found: dict[str, int] = {}
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}, line {node.lineno}: a relative import"
            names = [f"{node.module}.{name.name}" for name in node.names]
            names = [name if name.partition(".")[2] in MODULES else str(node.module) for name in names]
        elif isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        else:
            continue
        within = (name.partition(".")[2] for name in names if name.split(".")[0] == "lambdaboost")
        found |= {name: node.lineno for name in within if name != module}
    return found


@EACH
def test_imports_only_point_down(module):
    for name, line in imports_of(module).items():
        assert layer_of(name) <= layer_of(module), f"line {line} imports {name} from a layer above"


def test_every_file_with_kernels_names_the_cache():
    decorated = re.compile(r"^@(kernel|inlined)", re.MULTILINE)
    grouped = {path for pattern in SOURCES for path in PACKAGE.glob(pattern)}
    files = {path for path in MODULES.values() if decorated.search(path.read_text(encoding="utf-8"))}
    assert files and files <= grouped


def test_no_imports_go_in_circles():
    """Not even through functions or ``if TYPE_CHECKING``: each module can be read after those that it imports."""
    imports = {module: imports_of(module) for module in MODULES}
    assert len(imports["objectives.lambdarank"]) >= 5
    tuple(TopologicalSorter(imports).static_order())  # a CycleError names the modules


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
def test_links_at_the_top_are_the_packages_and_cannot_be_imported(name):
    assert (ROOT / name).is_symlink() and (ROOT / name).resolve() == PACKAGE / name
    run = subprocess.run([sys.executable, "-c", f"import {name}"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode != 0
    assert f"ImportError: import lambdaboost.{name}, not the folder '{name}'" in run.stderr


def test_importing_imports_no_engine_no_plots_and_compiles_nothing():
    code = (
        "import sys, lambdaboost, lambdaboost.objectives as o, lambdaboost.evaluation, lambdaboost.datasets\n"
        "heavy = {'lightgbm', 'xgboost', 'matplotlib', 'pandas', 'polars', 'sklearn', 'scipy.sparse', 'scipy.stats'}\n"
        "heavy |= {'rich', 'typer', 'joblib'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "from lambdaboost.objectives.kernels import tiles\n"
        "assert not tiles.sum_by_tiles.signatures\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_no_message_or_page_installs_lambdaboost_from_an_index():
    """It is on none: whoever registers the name would be installed."""
    asking = re.compile(r"install ['\"]?lambdaboost\b|lambdaboost\\?\[")
    pages = ROOT / "README.md", *PACKAGE.rglob("*.py"), *(ROOT / "docs").rglob("*.md")
    texts = {path: path.read_text("utf-8") for path in pages}
    assert [name for name, text in texts.items() if asking.search(text)] == []
