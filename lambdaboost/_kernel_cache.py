"""Where compiled kernels are kept: one folder for each state of the sources.

Numba's own cache looks at the file of each kernel alone, so it would serve a kernel into which an older version of
another file was inlined. It also writes a file for every kernel at import to find a folder, and fails without one. Here
a folder is named after a digest of every file with kernels in it, and looked for when the first kernel runs.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _Cache, _CacheLocator
from numba.misc.appdirs import AppDirs

from lambdaboost._inlined import inlined_from_cache

PACKAGE = Path(__file__).parent
WITH_KERNELS = ("_jit.py", "evaluation/**/*.py", "objectives/**/*.py")
OLD_FOLDERS_KEPT = 2


class KernelCache(_Cache):
    """Numba's cache of one function, in the folders of this module."""

    def __init__(self, py_func: Any) -> None:
        self._py_func = py_func
        self._at: dict[Path, FunctionCache] = {}

    @property
    def cache_path(self) -> str | None:
        """Where new kernels go."""
        folder = folder_to_write()
        return None if folder is None else str(folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function, or None where no folder has it."""
        for folder in folders():
            if folder.is_dir() and self._known():
                found = self._files(folder).load_overload(sig, target_context)
                if found is not None:
                    return found
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function; a full disk is no reason to stop, since the function is there."""
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
        """Forget this function's compiled versions."""
        folder = folder_to_write()
        if folder is not None and self._known():
            self._files(folder).flush()

    def _known(self) -> bool:
        """Whether the function's source is a file, unlike that of a notebook's cell."""
        return Path(self._py_func.__code__.co_filename).is_file()

    def _files(self, folder: Path) -> FunctionCache:
        if folder not in self._at:
            self._at[folder] = _Files(self._py_func, folder)
        return self._at[folder]


class _Files(FunctionCache):
    """Numba's index and data files, in a given folder."""

    def __init__(self, py_func: Any, folder: Path) -> None:
        self._impl_class = lambda py_func: _Impl(py_func, folder)
        super().__init__(py_func)


class _Impl(CompileResultCacheImpl):
    def __init__(self, py_func: Any, folder: Path) -> None:
        self._locator_classes = [_Locator(py_func, folder)]
        super().__init__(py_func)

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """The compiled function of what was kept."""
        if payload[0][1] != "unoptimized":
            return super().rebuild(target_context, payload)
        return inlined_from_cache(target_context, *payload)


class _Locator(_CacheLocator):
    """Numba's view of one function's place."""

    def __init__(self, py_func: Any, folder: Path) -> None:
        self._py_file = py_func.__code__.co_filename
        self._line = py_func.__code__.co_firstlineno
        own = Path(self._py_file)
        self._ours = own.is_relative_to(PACKAGE)
        # Relative to the package, so that a moved installation keeps its kernels.
        inside = (
            own.parent.relative_to(PACKAGE) if self._ours else self.get_suitable_cache_subpath(self._py_file)
        )
        self._path = folder / inside

    def from_function(self, py_func: Any, py_file: str) -> _Locator:
        return self

    def ensure_cache_path(self) -> None:
        self._path.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        return str(self._path)

    def get_source_stamp(self) -> str:
        # The folder stands for the package's own sources.
        return "" if self._ours else hashlib.sha256(Path(self._py_file).read_bytes()).hexdigest()

    def get_disambiguator(self) -> str:
        return str(self._line)


@cache
def folders() -> tuple[Path, ...]:
    """The folders in which this state of the sources may have kernels, the preferred one first."""
    name = _folder_name()
    return () if name is None else tuple(root / name for root in _roots())


@cache
def folder_to_write() -> Path | None:
    """The first of `folders` that can be written, made if need be; None where none can."""
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
    installed = hashlib.sha256(str(PACKAGE).encode()).hexdigest()[
        :8
    ]  # two installations do not clear each other's
    if config.CACHE_DIR:
        return [Path(config.CACHE_DIR).absolute() / f"lambdaboost-{installed}"]
    user = Path(AppDirs(appname="lambdaboost", appauthor=False).user_cache_dir)
    kept = [PACKAGE / "__pycache__"]
    # Without a home directory the path would begin with a literal ~.
    return [*kept, user / installed] if user.is_absolute() else kept


def _folder_name() -> str | None:
    """Interpreter, Numba and sources; None where the sources are not files, as in a zip archive."""
    sources = sorted(path for pattern in WITH_KERNELS for path in PACKAGE.glob(pattern))
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
    """Remove the folders of earlier sources except the newest, for who goes to and fro between two branches."""
    old = [path for path in new.parent.glob(f"{_prefix()}*") if path != new]
    try:
        old.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError:  # another process removes them
        return
    for path in old[OLD_FOLDERS_KEPT:]:
        shutil.rmtree(path, ignore_errors=True)
