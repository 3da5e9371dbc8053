"""Description of the benchmark machine."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("lambdaboost", "lightgbm", "xgboost", "catboost", "numpy", "numba")


@dataclass(frozen=True)
class Machine:
    """Hardware, software and load of a machine."""

    cpu: str
    cores: int
    threads: int
    system: str
    python: str
    versions: dict[str, str]
    omp_wait_policy: str
    load: float | None  # load average of the last minute before the start

    def markdown(self) -> str:
        """One line each for the machine, the software and, if there was any, other load."""
        packages = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        lines = [
            f"{self.cpu}, {self.cores} cores, {self.threads} threads used by everything measured. {self.system}.",
            f"Python {self.python}, {packages}; OMP_WAIT_POLICY={self.omp_wait_policy or 'unset'}.",
        ]
        if self.busy:
            lines.append(
                f"**The machine was busy before the start (load {self.load:.1f}): repeat when it is quiet.**"
            )
        return "\n".join(lines)

    @property
    def busy(self) -> bool:
        """Whether other processes used a quarter of the machine or more."""
        return self.load is not None and self.load > self.cores / 4


def this_machine(threads: int) -> Machine:
    """The current machine."""
    return Machine(
        cpu=_cpu(),
        cores=_cores(),
        threads=threads,
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        python=platform.python_version(),
        versions={name: number for name in PACKAGES if (number := _version(name))},
        omp_wait_policy=os.environ.get("OMP_WAIT_POLICY", ""),
        load=os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    )


def _cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _cpu() -> str:
    """The processor's name and the target of compiled kernels."""
    from llvmlite.binding import get_host_cpu_name

    return f"{_model() or platform.machine()} ({get_host_cpu_name()})"


def _model() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    if platform.system() == "Darwin":
        asked = ["sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    return platform.processor()
