"""The cache of compiled kernels: one folder for each state of their sources.

Numba's own cache checks only the file of each kernel, so it would load a kernel into which an older version of another
file was inlined. It also writes a file for every kernel at import to find a folder, and fails without one. Here a
folder is named after a digest of all files with kernels, and searched for when the first kernel runs.

A platform wheel carries machine code for a level of processors (`shipped`): it is read where interpreter, Numba and
sources are the same and the processor has that level's features. The first gradient then takes .3 s; compiled, which
Numba's own cache could not spare a new installation, 2.6 s.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding
import numba
from numba import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _Cache, _CacheLocator
from numba.misc.appdirs import AppDirs

from lambdaboost._inlined import inlined_from_cache

PACKAGE = Path(__file__).parent
# All files with kernels.
SOURCES = ("_inlined.py", "_jit.py", "datasets/kernels/*.py", "evaluation/*.py", "objectives/**/*.py")
OLD_FOLDERS_KEPT = 2
SHIPPED = PACKAGE / "_compiled"  # of a platform wheel, with `TARGET` next to its folders
TARGET = "target.json"


class KernelCache(_Cache):
    """Numba's cache of one function, in the folders of this module."""

    def __init__(self, py_func: Any) -> None:
        self._py_func = py_func
        self._at: dict[Path, FunctionCache] = {}

    @property
    def cache_path(self) -> str | None:
        """The folder of new kernels."""
        folder = folder_to_write()
        return None if folder is None else str(folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function, or None if no folder has it."""
        for folder in (*folders(), *shipped()):
            if folder.is_dir() and self._known():
                found = self._files(folder).load_overload(sig, target_context)
                if found is not None:
                    return found
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a compiled function; a full disk is ignored, since the function itself is available."""
        folder = folder_to_write()
        if folder is not None and self._known():
            try:
                self._files(folder).save_overload(sig, data)
            except OSError:
                folder_to_write.cache_clear()

    def enable(self) -> None:
        """Do nothing: it is always enabled."""

    def disable(self) -> None:
        """Do nothing: it is always enabled."""

    def flush(self) -> None:
        """Delete this function's compiled versions."""
        folder = folder_to_write()
        if folder is not None and self._known():
            self._files(folder).flush()

    def _known(self) -> bool:
        """Whether the function's source is a file, not a notebook cell."""
        return Path(self._py_func.__code__.co_filename).is_file()

    def _files(self, folder: Path) -> FunctionCache:
        if folder not in self._at:
            self._at[folder] = _Files(self._py_func, folder)
        return self._at[folder]


class _Files(FunctionCache):
    """Numba's index and data files, in a given folder."""

    def __init__(self, py_func: Any, folder: Path) -> None:
        self._impl_class = lambda py_func: _Impl(py_func, folder)
        self._target = shipped_target() if folder.is_relative_to(SHIPPED) else None
        super().__init__(py_func)

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        """Numba's key, with the processors of a wheel in place of this one."""
        signature, target, sources = super()._index_key(sig, codegen)
        return signature, self._target or target, sources


class _Impl(CompileResultCacheImpl):
    def __init__(self, py_func: Any, folder: Path) -> None:
        self._locator_classes = [_Locator(py_func, folder)]
        super().__init__(py_func)

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """The compiled function of what was kept."""
        if payload[0][1] != "unoptimized":
            return super().rebuild(target_context, payload)
        return inlined_from_cache(target_context, payload)


class _Locator(_CacheLocator):
    """The location of one function's files, for Numba."""

    def __init__(self, py_func: Any, folder: Path) -> None:
        self._py_file = py_func.__code__.co_filename
        self._line = py_func.__code__.co_firstlineno
        own = Path(self._py_file)
        self._is_own = own.is_relative_to(PACKAGE)
        # Relative to the package, so that a moved installation keeps its kernels.
        inside = (
            own.parent.relative_to(PACKAGE)
            if self._is_own
            else self.get_suitable_cache_subpath(self._py_file)
        )
        self._path = folder / inside

    def from_function(self, py_func: Any, py_file: str) -> _Locator:
        return self

    def ensure_cache_path(self) -> None:
        self._path.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        return str(self._path)

    def get_source_stamp(self) -> str:
        # The name of the folder already identifies the package's own sources.
        return "" if self._is_own else hashlib.sha256(Path(self._py_file).read_bytes()).hexdigest()

    def get_disambiguator(self) -> str:
        return str(self._line)


@cache
def folders() -> tuple[Path, ...]:
    """The folders that may have kernels of this state of the sources, the preferred one first."""
    name = _folder_name()
    return () if name is None else tuple(root / name for root in _roots())


def shipped() -> tuple[Path, ...]:
    """The folder of a platform wheel with kernels for this processor, if there is one."""
    name = _folder_name()
    return () if name is None or shipped_target() is None else (SHIPPED / name,)


@cache
def shipped_target() -> tuple[str, str, str] | None:
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
    """The first writable one of `folders`, created if necessary; None if there is none."""
    for folder in folders():
        try:
            new = not folder.is_dir()
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        if new:
            _remove_old(folder)
        return folder
    return None


def _roots() -> list[Path]:
    # Two installations must not remove each other's kernels.
    installed = hashlib.sha256(str(PACKAGE).encode()).hexdigest()[:8]
    if config.CACHE_DIR:
        return [Path(config.CACHE_DIR).absolute() / f"lambdaboost-{installed}"]
    user = Path(AppDirs(appname="lambdaboost", appauthor=False).user_cache_dir)
    kept = [PACKAGE / "__pycache__"]
    # Without a home directory the path would begin with a literal ~.
    return [*kept, user / installed] if user.is_absolute() else kept


@cache
def _folder_name() -> str | None:
    """A name for interpreter, Numba and sources; None if the sources are not files, as in a zip archive."""
    sources = sorted(path for pattern in SOURCES for path in PACKAGE.glob(pattern))
    if not sources:
        return None
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__}\n".encode())
    for path in sources:
        digest.update(f"{path.relative_to(PACKAGE).as_posix()}\n".encode())
        digest.update(path.read_bytes())
    checked = "-boundscheck" if config.BOUNDSCHECK else ""
    return f"{_prefix()}{digest.hexdigest()[:16]}{checked}"


def _prefix() -> str:
    return f"kernels-{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}-numba{numba.__version__}-"


def _remove_old(new: Path) -> None:
    """Remove the folders of earlier sources except the newest, which help when you switch between branches."""
    old = [path for path in new.parent.glob(f"{_prefix()}*") if path != new]
    try:
        old.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError:  # another process is removing them
        return
    for path in old[OLD_FOLDERS_KEPT:]:
        shutil.rmtree(path, ignore_errors=True)
