"""Description of the benchmark machine."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

from llvmlite.binding import get_host_cpu_name

PACKAGES = ("lightgbm", "xgboost", "numpy", "numba")


def this_machine(threads: int) -> str:
    """One line each for the machine, the software and, if there is any, other load."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    waiting = os.environ.get("OMP_WAIT_POLICY") or "unset"
    lines = [
        f"{processor()} ({get_host_cpu_name()}), {cores} cores, {threads} threads used by everything measured. "
        f"{platform.system()} {platform.release()} {platform.machine()}.",
        f"Python {platform.python_version()}, {packages}; OMP_WAIT_POLICY={waiting}.",
    ]
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if load > cores / 4:
        lines.append(f"**The machine was busy before the start (load {load:.1f}): repeat when it is quiet.**")
    return "\n".join(lines)


def processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
