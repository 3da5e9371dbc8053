"""The cache of compiled kernels: one file for each compiled version of a function.

Numba's own cache checks the file of a kernel only, so it would load a kernel into which an older version of another
file was inlined; it fails for good where its index is damaged; and where two processes write at once, its index may
point at another version's code. Here:

- a folder is named after a digest of all files with kernels, taken when this module is imported, and nothing is kept
  once these files have another: code never has the name of sources that it was not compiled from;
- a file holds one version and is written in one step, and its signature is compared with the one asked for; its name
  has the options too, so that a function may be compiled in two ways;
- a file that cannot be read, for whatever reason, counts as missing: the function is compiled again;
- nothing is kept that the digest does not cover: functions and types that are defined outside the package.

Numba has no public way to keep a compiled function. What is private to it stands in `keep` and `KernelCache`, and
`tests/test_kernel_cache.py` fails where a later Numba changes it. Without it kernels are compiled in each process.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba import config, types

PACKAGE = Path(__file__).parent
# All files with kernels.
SOURCES = ("_jit.py", "_kernel_cache.py", "evaluation/*.py", "objectives/**/*.py")
CHECKSUM = 32  # bytes of it, at the head of a file


def keep(dispatcher: Any, options: str) -> None:
    """Keep the compiled versions of a function of the package; nothing is kept of other functions.

    `options` are those of `numba.njit`, in a text that is the same in every process.
    """
    function = dispatcher.py_func
    # What a function closes over is not in its file.
    if Path(function.__code__.co_filename).is_relative_to(PACKAGE) and function.__closure__ is None:
        dispatcher._cache = KernelCache(function, options)


class KernelCache:
    """The compiled versions of one function, as Numba's dispatchers load and save them."""

    cache_path = None  # which the statistics of a dispatcher report

    def __init__(self, function: Any, options: str) -> None:
        self._options = options
        module = function.__module__.removeprefix("lambdaboost.")
        self._name = f"{module}.{function.__name__}-{function.__code__.co_firstlineno}"

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled function, or None where no folder has it."""
        target_context.refresh()
        for folder in _folders() if _is_covered(signature) else ():
            try:
                data = (folder / self._file_name(signature, target_context.codegen())).read_bytes()
                if hashlib.sha256(data[CHECKSUM:]).digest() == data[:CHECKSUM]:
                    result, parts = pickle.loads(data[CHECKSUM:])
                    compiled = result._rebuild(target_context, *parts)
                    if compiled.signature.args == tuple(signature):
                        return compiled
            except Exception:  # missing, or damaged in one of many ways
                continue
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Save a compiled function; where that fails, as on a full disk, the next process compiles it again."""
        try:
            if _is_covered(signature) and not compiled.library.has_dynamic_globals and _digest() == _STAMP:
                data = pickle.dumps((type(compiled), compiled._reduce()))
                _write(self._file_name(signature, compiled.codegen), hashlib.sha256(data).digest() + data)
        except Exception:  # no private part of Numba's is worth an error
            return

    def flush(self) -> None:
        """Nothing is held in memory."""

    def _file_name(self, signature: Any, codegen: Any) -> str:
        # The types, the processor, and whether every index is checked.
        version = f"{signature} {codegen.magic_tuple()} {self._options} {config.BOUNDSCHECK}"
        return f"{self._name}-{hashlib.sha256(version.encode()).hexdigest()[:16]}.kernel"


def _write(name: str, data: bytes) -> None:
    """Write a file in one step to the first folder that takes it."""
    for folder in _folders():
        with suppress(OSError):
            if not folder.is_dir():
                folder.mkdir(parents=True, exist_ok=True)
                for other in folder.parent.glob(f"{_PREFIX}*"):  # those of other sources
                    if other != folder:
                        shutil.rmtree(other, ignore_errors=True)
            with tempfile.TemporaryDirectory(dir=folder) as own:
                unfinished = Path(own, name)
                unfinished.write_bytes(data)
                unfinished.replace(folder / name)
            return


def _is_covered(kinds: Any) -> bool:
    """Whether types are Numba's own, or tuples that the package defines, all the way down."""
    for kind in kinds:
        if isinstance(kind, types.BaseTuple):
            named = getattr(kind, "instance_class", None)
            if named is not None and not named.__module__.startswith("lambdaboost."):
                return False
            if not _is_covered(kind.types):
                return False
        elif isinstance(kind, types.Callable) or not type(kind).__module__.startswith("numba."):
            return False
    return True


def _digest() -> str | None:
    """A digest of libraries and sources; None where the sources are not files, as in a zip archive."""
    sources = sorted(path for pattern in SOURCES for path in PACKAGE.glob(pattern))
    digest = hashlib.sha256(f"{llvmlite.__version__} {np.__version__}\n".encode())
    for path in sources:
        digest.update(f"{path.relative_to(PACKAGE).as_posix()}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16] if sources else None


_STAMP = _digest()
_PREFIX = f"kernels-{sys.implementation.cache_tag}-numba{numba.__version__}-"


def _folders() -> list[Path]:
    """Where kernels of these sources may stand, the first choice first."""
    # Installations leave each other's folders alone.
    installed = hashlib.sha256(str(PACKAGE).encode()).hexdigest()[:8]
    if config.CACHE_DIR:
        roots = [Path(config.CACHE_DIR).absolute() / f"lambdaboost-{installed}"]
    else:
        user = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
        # Without a home directory the path would begin with a literal ~.
        roots = [PACKAGE / "__pycache__", *([user / "lambdaboost" / installed] if user.is_absolute() else [])]
    return [root / f"{_PREFIX}{_STAMP}" for root in roots] if _STAMP else []
