"""Where compiled kernels are kept, and that they are never stale, never fatal. Small kernels, in copies."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
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
    for name in ("objectives", "evaluation"):
        (place / name).mkdir(parents=True)
        (place / name / "__init__.py").touch()
    (place / "__init__.py").touch()
    for name in ("_jit", "_kernel_cache"):
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
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.kernel"))


def test_kernels_are_kept_next_to_the_package(installed):
    """By their first call: neither importing nor loading what is kept writes anything."""
    ran(installed, "import lambdaboost.objectives.outer")
    assert not (installed / "__pycache__").exists()
    assert ran(installed)[0] == "2.0 miss"
    (folder,) = (installed / "__pycache__").glob("kernels-*")
    assert any(name.startswith("objectives.outer.") for name in kept_in(folder))
    before = sorted((path, path.stat().st_mtime_ns) for path in installed.rglob("*"))
    assert ran(installed)[0] == "2.0 hit"
    assert sorted((path, path.stat().st_mtime_ns) for path in installed.rglob("*")) == before


def test_numba_cache_dir_goes_first(installed, tmp_path):
    assert ran(installed, NUMBA_CACHE_DIR=str(tmp_path / "cache"))[0] == "2.0 miss"
    assert kept_in(tmp_path / "cache") and not (installed / "__pycache__").exists()
    assert ran(installed, NUMBA_CACHE_DIR=str(tmp_path / "cache"))[0] == "2.0 hit"


def test_nothing_can_be_written(installed, tmp_path):
    """As nobody, in a container, without a home: it works. A file stands where each folder would be."""
    (installed / "__pycache__").touch()
    (tmp_path / "sealed").touch()
    assert ran(installed, HOME=str(tmp_path / "sealed" / "missing")) == ("2.0 miss", "")


INTERRUPTED = """
import signal
from lambdaboost import _kernel_cache

_kernel_cache.Path.replace = lambda *paths: signal.raise_signal(signal.SIGINT)
try:
    _kernel_cache._write("x", b"1")
except KeyboardInterrupt:
    print("stopped")
"""


def test_ctrl_c_while_a_kernel_is_written_leaves_no_file(installed):
    assert ran(installed, INTERRUPTED)[0] == "stopped"
    (folder,) = (installed / "__pycache__").glob("kernels-*")
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_cache_that_can_only_be_read_is_read(installed):
    """An image that compiled its kernels when it was built."""
    if (unprivileged := os.geteuid() == 0) and not shutil.which("setpriv"):
        pytest.skip("root may write anywhere, and setpriv is not there to become someone else")
    assert ran(installed)[0] == "2.0 miss"
    for path in [installed, *installed.rglob("*")]:
        path.chmod(0o555)
    before = ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if unprivileged else ()
    assert ran(installed, COMMAND, before, HOME=str(installed)) == ("2.0 hit", "")


def test_a_kernel_outside_the_package_is_not_kept(installed, tmp_path):
    """It may call what stands in files that nobody watches."""
    code = "import sys; sys.path.insert(0, '.'); from mine import own\n"
    code += "print(own(1), own.stats.cache_hits and 'hit' or 'miss')"
    for value in (1, 1, 20):
        (tmp_path / "mine.py").write_text(
            f"from lambdaboost._jit import kernel\n@kernel\ndef own(x):\n    return x + {value}\n",
            encoding="utf-8",
        )
        assert ran(installed, code)[0] == f"{1 + value} miss"


UPGRADE = """
from pathlib import Path
import lambdaboost
path = Path(lambdaboost.__file__).parent / "objectives" / "inner.py"
path.write_text(path.read_text().replace("return 1.0", "return 5.0"))
"""


def test_an_upgrade_while_a_process_runs_is_not_mixed_up(installed):
    """It goes on with the code that it imported, and nobody else ever gets that code."""
    between_calls = "import lambdaboost.objectives.outer as module; module.outer(1)" + UPGRADE
    assert ran(installed, between_calls + "print(module.outer(1.0))")[0] == "2.0"
    assert ran(installed)[0] == "6.0 miss"  # an edit of what is inlined is noticed
    assert ran(installed)[0] == "6.0 hit"
    assert len(list((installed / "__pycache__").glob("kernels-*"))) == 1  # that of the old sources is removed
    for _ in range(2):
        (installed / "objectives" / "inner.py").write_text(INNER.format(value=1.0), encoding="utf-8")
        assert ran(installed)[0].startswith("2.0")  # the old version again
        shutil.rmtree(installed / "__pycache__")
        between_imports = "import lambdaboost._kernel_cache" + UPGRADE
        assert ran(installed, between_imports + COMMAND)[0] == "6.0 miss"


BY_TYPE = """
from lambdaboost._jit import by_type, kernel

weight = by_type(lambda swap: swap.weight)


@kernel
def weighted(swap, x):
    return x * weight(swap)
"""
SWAP = """
from typing import NamedTuple


class Swap(NamedTuple):
    @staticmethod
    def weight(swap):
        return {}
"""


def test_a_swap_defined_outside_the_package_edited_and_moved_away(installed, tmp_path):
    (installed / "objectives" / "weighted.py").write_text(BY_TYPE, encoding="utf-8")
    code = "import sys; sys.path.insert(0, '.'); from {} import Swap\n"
    code += "from lambdaboost.objectives.weighted import weighted; print(weighted(Swap(), 1.0))"
    for value in (2.0, 7.0):
        (tmp_path / "mine.py").write_text(SWAP.format(value), encoding="utf-8")
        assert ran(installed, code.format("mine"))[0] == str(value)
    (tmp_path / "mine.py").unlink()
    inside = installed / "objectives" / "own.py"
    inside.write_text(SWAP.format(3.0), encoding="utf-8")
    for _ in range(2):
        assert ran(installed, code.format("lambdaboost.objectives.own"))[0] == "3.0"


def test_damaged_files_are_compiled_again_and_mended(installed):
    assert ran(installed)[0] == "2.0 miss"
    for path in (installed / "__pycache__").rglob("*.kernel"):
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2] + bytes(100) + data[len(data) // 2 + 100 :])
    assert ran(installed) == ("2.0 miss", "")
    assert ran(installed) == ("2.0 hit", "")


def test_code_of_another_signature_is_not_run(installed):
    """Of whichever version a file holds the code, it runs only for its own types: that of an int64 would cut 1.5."""
    both = "from lambdaboost.objectives.outer import outer; print(outer(1.5), outer(2))"
    assert ran(installed, both)[0] == "2.5 3.0"
    one, other = (installed / "__pycache__").rglob("*.outer-*.kernel")
    one_bytes, other_bytes = one.read_bytes(), other.read_bytes()
    one.write_bytes(other_bytes)
    other.write_bytes(one_bytes)
    assert ran(installed, both)[0] == "2.5 3.0"


TWO_WAYS = """
from lambdaboost._jit import _compiled, kernel


def above(x):
    return (x + 1.0) - x


fast, strict = kernel(above), _compiled(above, fastmath=False)
"""


def test_a_function_compiled_in_two_ways(installed):
    """Operations may be reordered in the one, and not in the other, which is not loaded in its place."""
    (installed / "objectives" / "two.py").write_text(TWO_WAYS, encoding="utf-8")
    both = "import lambdaboost.objectives.two as two\n"
    both += "print(two.fast(1e300), two.strict(1e300), two.strict.stats.cache_hits and 'hit' or 'miss')"
    assert ran(installed, both)[0] == "1.0 0.0 miss"
    assert ran(installed, both)[0] == "1.0 0.0 hit"


def test_cold_processes_at_once(installed):
    """They compile and write the same and other versions of the same functions."""
    command = "from lambdaboost.objectives.outer import outer; print(outer({}))"
    numbers = ["1.0", "2", "True", "1.0"]
    for _ in range(3):
        shutil.rmtree(installed / "__pycache__", ignore_errors=True)
        with ThreadPoolExecutor(len(numbers)) as pool:
            found = list(pool.map(lambda number: ran(installed, command.format(number))[0], numbers))
        assert found == ["2.0", "3.0", "2.0", "2.0"]
        assert [ran(installed, command.format(number))[0] for number in numbers] == found
        assert not list((installed / "__pycache__").rglob("tmp*"))


def test_without_numbas_private_parts_nothing_is_kept(installed):
    """`test_kernels_are_kept…` fails where they change."""
    for code in (
        "from numba.core.compiler import CompileResult; del CompileResult._reduce, CompileResult._rebuild",
        "from numba.core.codegen import CPUCodegen; del CPUCodegen.magic_tuple",
        "from numba.core.codegen import CodeLibrary; del CodeLibrary.has_dynamic_globals",
    ):
        assert ran(installed, code + COMMAND)[0] == "2.0 miss"
    assert kept_in(installed / "__pycache__") == []
