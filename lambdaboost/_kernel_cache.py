"""The cache of compiled kernels: one folder for each state of their sources.

Numba's own cache checks only the file of each kernel, so it would load a kernel into which an older version of another
file was inlined. It also writes a file for every kernel at import to find a folder, and fails without one. Here a
folder is named after a digest of all files with kernels, and searched for when the first kernel runs.

A platform wheel carries machine code for a level of processors (`shipped_target`): it is read where interpreter, Numba
and sources are the same and the processor has that level's features. With it the first gradient takes .3 s; without it
kernels are compiled, 2.6 s, which a cache cannot spare a new installation.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding
import numba
from numba import config
from numba.core.caching import IndexDataCacheFile, NullCache
from numba.core.compiler import CompileResult
from numba.misc.appdirs import AppDirs

from lambdaboost._inlined import UNOPTIMIZED, rebuild_inlined

PACKAGE = Path(__file__).parent
# All files with kernels.
SOURCES = ("_inlined.py", "_jit.py", "datasets/kernels/*.py", "evaluation/*.py", "objectives/**/*.py")
SHIPPED = PACKAGE / "_compiled"  # of a platform wheel, with `TARGET` next to its folders
TARGET = "target.json"
Target = tuple[str, str, str]  # LLVM's triple, processor and features


class KernelCache(NullCache):
    """The compiled versions of one function, in Numba's index and data files."""

    def __init__(self, py_func: Any) -> None:
        self._name = py_func.__qualname__.replace("<", "").replace(">", "")
        self._line = py_func.__code__.co_firstlineno
        self._source = Path(py_func.__code__.co_filename)
        self._closed_over = py_func.__closure__ is not None  # values that the file does not show

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """The compiled function, or None if no folder has it."""
        if not self._can_be_kept():
            return None
        target_context.refresh()
        for folder, target in _folders_to_read(target_context.codegen().magic_tuple()):
            try:
                found = self._files(folder).load((sig, target))
            except OSError:  # it may not be read
                continue
            if found is not None:
                rebuild = rebuild_inlined if found[0][1] == UNOPTIMIZED else CompileResult._rebuild
                return rebuild(target_context, *found)
        return None

    def save_overload(self, sig: Any, data: CompileResult) -> None:
        """Save a compiled function; a full disk is ignored, since the function itself is available."""
        folder = folder_to_write()
        if folder is None or not self._can_be_kept() or data.library.has_dynamic_globals:
            return
        try:
            self._files(folder, create=True).save((sig, data.codegen.magic_tuple()), data._reduce())
        except OSError:
            folder_to_write.cache_clear()

    def _can_be_kept(self) -> bool:
        """Whether the function stands in a file, not in a notebook's cell or in another function."""
        return self._source.is_file() and not self._closed_over

    def _files(self, folder: Path, create: bool = False) -> IndexDataCacheFile:
        if self._source.is_relative_to(PACKAGE):
            # Relative to the package, so that a moved installation keeps its kernels; `folder` names their sources.
            folder, stamp = folder / self._source.parent.relative_to(PACKAGE), ""
        else:
            folder = folder / hashlib.sha256(str(self._source.parent).encode()).hexdigest()[:16]
            stamp = hashlib.sha256(self._source.read_bytes()).hexdigest()
        if create:
            folder.mkdir(parents=True, exist_ok=True)
        return IndexDataCacheFile(str(folder), f"{self._source.stem}.{self._name}-{self._line}", stamp)


def _folders_to_read(target: Target) -> Iterator[tuple[Path, Target]]:
    """The folders that may have kernels of this state of the sources, and for which processor."""
    name = _folder_name()
    if name is not None:
        yield from ((root / name, target) for root in _roots())
        if (shipped := shipped_target()) is not None:
            yield SHIPPED / name, shipped


@cache
def shipped_target() -> Target | None:
    """LLVM's names of the processors of a platform wheel, if this one is among them."""
    try:
        target = json.loads((SHIPPED / TARGET).read_text(encoding="utf-8"))
    except OSError:
        return None
    here = llvmlite.binding.get_host_cpu_features()
    fits = target["triple"] == llvmlite.binding.get_process_triple() and all(map(here.get, target["needs"]))
    return (target["triple"], target["cpu"], target["features"]) if fits else None


@cache
def folder_to_write() -> Path | None:
    """The first folder that can be written, made if necessary, without those of earlier sources; None without any."""
    name = _folder_name()
    for root in _roots() if name is not None else ():
        folder = root / str(name)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        for other in root.glob(f"{_prefix()}*"):
            if other != folder:
                shutil.rmtree(other, ignore_errors=True)
        return folder
    return None


def _roots() -> list[Path]:
    # Two installations must not remove each other's kernels.
    installed = hashlib.sha256(str(PACKAGE).encode()).hexdigest()[:8]
    if config.CACHE_DIR:
        return [Path(config.CACHE_DIR).absolute() / f"lambdaboost-{installed}"]
    user = Path(AppDirs(appname="lambdaboost", appauthor=False).user_cache_dir)
    # Without a home directory the user's path would begin with a literal ~.
    return [PACKAGE / "__pycache__", *([user / installed] if user.is_absolute() else [])]


@cache
def _folder_name() -> str | None:
    """A name for interpreter, Numba and sources; None if the sources are not files, as in a zip archive."""
    sources = sorted(path for pattern in SOURCES for path in PACKAGE.glob(pattern))
    if not sources:
        return None
    digest = hashlib.sha256(f"{llvmlite.__version__}\n".encode())
    for path in sources:
        digest.update(f"{path.relative_to(PACKAGE).as_posix()}\n".encode())
        digest.update(path.read_bytes())
    return f"{_prefix()}{digest.hexdigest()[:16]}"


def _prefix() -> str:
    python = f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"
    return f"kernels-{'checked-' if config.BOUNDSCHECK else ''}{python}-numba{numba.__version__}-"
