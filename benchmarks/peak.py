"""Peak memory of this process; imports nothing else, so that a process that is measured may use it."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path


def peak() -> int:
    """The largest resident set of this process since its start or `forget_peak`, in bytes."""
    try:
        # The kernel's own count: that of `resource` begins at the peak of the process which started this one.
        status = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) * 1024
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def forget_peak() -> None:
    """Let the peak begin anew, where the operating system can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
