"""Where compiled kernels are kept. Kernels as small as can be, in copies."""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PACKAGE = Path(__file__).parent.parent / "lambdaboost"

# Two kernels in two files, of which one is inlined into the other: the case that Numba's own cache misses.
INNER = """
from lambdaboost._jit import inlined


@inlined
def constant():
    return {value}
"""
OUTER = """
from lambdaboost._jit import kernel
from lambdaboost.objectives.inner import constant


@kernel
def outer(x):
    return x + constant()
"""
COMMAND = """
from lambdaboost.objectives.outer import outer
print(outer(1.0), outer.stats.cache_hits and "hit" or "miss")
"""


@pytest.fixture
def installed(tmp_path):
    """A copy of lambdaboost with nothing in it but what compiles and keeps kernels."""
    place = tmp_path / "site" / "lambdaboost"
    for name in ("objectives", "evaluation", "datasets", "datasets/kernels"):
        (place / name).mkdir(parents=True)
        (place / name / "__init__.py").touch()
    (place / "__init__.py").touch()
    for name in ("_jit", "_inlined", "_kernel_cache", "_team", "_threads"):
        shutil.copy(PACKAGE / f"{name}.py", place)
    (place / "objectives" / "inner.py").write_text(INNER.format(value=1.0), encoding="utf-8")
    (place / "objectives" / "outer.py").write_text(OUTER, encoding="utf-8")
    return place


def ran(installed, code=COMMAND, before=(), **environment):
    """stdout and stderr of a new process that imports this installation."""
    home = installed.parent.parent / "home"
    home.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "XDG_"))}
    kept |= {"PYTHONPATH": str(installed.parent), "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(
        [*before, sys.executable, "-W", "error", "-c", code],
        env=kept | environment,
        cwd=installed.parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip(), run.stderr


def kept_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.nb[ic]"))


def test_kernels_are_kept_next_to_the_package(installed):
    assert ran(installed)[0] == "2.0 miss"
    assert ran(installed)[0] == "2.0 hit"
    (folder,) = (installed / "__pycache__").glob("kernels-*")
    assert any(name.startswith("objectives/outer.") for name in kept_in(folder))


def test_an_edit_of_an_inlined_kernel_is_noticed(installed):
    assert ran(installed)[0] == "2.0 miss"
    (installed / "objectives" / "inner.py").write_text(INNER.format(value=5.0), encoding="utf-8")
    assert ran(installed)[0] == "6.0 miss"
    assert len(list((installed / "__pycache__").glob("kernels-*"))) == 1  # that of the old sources is removed


def test_importing_and_loading_write_nothing(installed):
    code = "import lambdaboost.objectives.outer"
    ran(installed, code)
    assert not (installed / "__pycache__").exists()
    ran(installed)
    before = sorted((path, path.stat().st_mtime_ns) for path in installed.rglob("*"))
    assert ran(installed)[0] == "2.0 hit"
    assert sorted((path, path.stat().st_mtime_ns) for path in installed.rglob("*")) == before


def test_numba_cache_dir_goes_first(installed, tmp_path):
    assert ran(installed, NUMBA_CACHE_DIR=str(tmp_path / "cache"))[0] == "2.0 miss"
    assert kept_in(tmp_path / "cache") and not (installed / "__pycache__").exists()
    assert ran(installed, NUMBA_CACHE_DIR=str(tmp_path / "cache"))[0] == "2.0 hit"


def read_only(folder):
    for path in [folder, *folder.rglob("*")]:
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))


def unprivileged():
    """A prefix under which permissions count, where the tests run as root."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return ()
    if not shutil.which("setpriv"):
        pytest.skip("root may write anywhere, and setpriv is not there to become someone else")
    return ("setpriv", "--bounding-set=-all", "--inh-caps=-all")


@pytest.fixture
def nowhere(installed):
    """An installation that cannot be written."""
    read_only(installed)
    yield installed
    for path in [installed, *installed.rglob("*")]:
        path.chmod(path.stat().st_mode | stat.S_IWUSR)


def carry(installed, **about):
    """Move the kernels next to the package to where a platform wheel has them."""
    import llvmlite.binding

    target = {"triple": llvmlite.binding.get_process_triple(), "cpu": "generic", "features": "", "needs": []}
    (kept,) = (installed / "__pycache__").glob("kernels-*")
    shutil.copytree(kept, installed / "_compiled" / kept.name)
    shutil.rmtree(installed / "__pycache__")
    (installed / "_compiled" / "target.json").write_text(json.dumps(target | about), encoding="utf-8")


@pytest.mark.parametrize(
    ("about", "served"),
    [({}, True), ({"needs": ["no such feature"]}, False), ({"triple": "a-different-system"}, False)],
    ids=["fits", "processor lacks a feature", "other system"],
)
def test_a_platform_wheel_carries_kernels_for_other_processors(installed, about, served):
    generic = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    assert ran(installed, **generic)[0] == "2.0 miss"
    carry(installed, **about)
    assert ran(installed)[0] == ("2.0 hit" if served else "2.0 miss")
    assert ran(installed)[0] == "2.0 hit"


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_nothing_can_be_written(nowhere, tmp_path):
    """As nobody, in a container, without a home: it works."""
    (tmp_path / "sealed").mkdir(mode=0o555)
    for home in (tmp_path / "sealed", tmp_path / "sealed" / "missing"):
        out, err = ran(nowhere, COMMAND, unprivileged(), HOME=str(home))
        assert (out, err) == ("2.0 miss", "")
    assert not (nowhere / "__pycache__").exists()


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_cache_that_can_only_be_read_is_read(installed):
    """An image that compiled its kernels when it was built."""
    assert ran(installed)[0] == "2.0 miss"
    read_only(installed)
    out, err = ran(installed, COMMAND, unprivileged(), HOME=str(installed))
    assert (out, err) == ("2.0 hit", "")


def test_a_kernel_of_a_notebook_or_of_the_prompt_works(installed):
    code = "from lambdaboost._jit import kernel\n@kernel\ndef double(x):\n    return 2 * x\nprint(double(4))"
    assert ran(installed, code)[0] == "8"


def test_a_kernel_outside_the_package_is_kept_and_its_edits_noticed(installed, tmp_path):
    source = "from lambdaboost._jit import kernel\n\n\n@kernel\ndef own(x):\n    return x + {}\n"
    code = "import sys; sys.path.insert(0, '.'); from mine import own\n"
    code += "print(own(1), own.stats.cache_hits and 'hit' or 'miss')"
    (tmp_path / "mine.py").write_text(source.format(1), encoding="utf-8")
    assert [ran(installed, code)[0] for _ in range(2)] == ["2 miss", "2 hit"]
    (tmp_path / "mine.py").write_text(source.format(20), encoding="utf-8")
    assert [ran(installed, code)[0] for _ in range(2)] == ["21 miss", "21 hit"]
