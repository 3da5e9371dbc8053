"""The package as a whole: layers, guards, what importing costs, what the wheel holds."""

import ast
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from copied import copied

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "lambdaboost"
LINKED = ("datasets", "evaluation", "objectives")
LAYERS = {"datasets": 1, "evaluation": 2, "objectives": 3}
BELOW_ALL = {"_compile_notice", "_engine_threads", "_jit", "_kernel_cache", "_threads", "_value", "_warn"}
in_a_checkout = pytest.mark.skipif((ROOT / "PKG-INFO").exists(), reason="a source archive has no links")


def layer_of(module: str) -> int:
    """The layer of one of lambdaboost's modules by its dotted name without the package."""
    first = module.split(".")[0]
    return 0 if first in BELOW_ALL else LAYERS.get(first, 4)


def imports_of(path: Path):
    """Our modules that a file imports, at any depth of the code."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "lambdaboost":
            yield node.lineno, node.module.partition(".")[2] or node.names[0].name
        elif isinstance(node, ast.Import):
            for name in node.names:
                if name.name.split(".")[0] == "lambdaboost":
                    yield node.lineno, name.name.partition(".")[2]


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_only_point_down(path):
    here = layer_of(".".join(path.relative_to(PACKAGE).with_suffix("").parts))
    for line, module in imports_of(path):
        assert layer_of(module) <= here, f"line {line} imports {module} from a layer above"


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


def test_importing_imports_no_engine_no_plots_and_compiles_nothing():
    code = (
        "import sys, lambdaboost, lambdaboost.objectives as o, lambdaboost.evaluation, lambdaboost.datasets\n"
        "heavy = {'lightgbm', 'xgboost', 'matplotlib', 'pandas', 'sklearn', 'scipy.stats', 'rich', 'typer'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "from lambdaboost.objectives.kernels import pairs as _pairs\n"
        "assert not _pairs._block_of_queries.signatures\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_public_names():
    import lambdaboost

    for name in lambdaboost.__all__:
        assert getattr(lambdaboost, name) is not None


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
