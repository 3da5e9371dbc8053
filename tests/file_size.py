"""Files that may not grow past a size: a disk that fills up while something is written. Of POSIX systems only."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def limited(n_bytes: int) -> Iterator[None]:
    """Let no file of this process grow past `n_bytes`."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
