"""The innermost loops of a compiled kernel: their share of a call's time, and the cycles that their ports allow.

`perf` samples where the processor stands (its software clock, so no hardware counter is needed), `objdump` disassembles
the kernel, and `llvm-mca` (LLVM 16 or later, or the program that the variable LLVM_MCA names) counts what a turn of a
loop takes. LLVM has no tables for Zen 5, only for Zen 4, whose vector units are half as wide and which dispatches six
instructions a cycle, not eight. So every 512-bit register is replaced by a 256-bit one (the same instructions, each as
often a cycle as Zen 5 has them with 512 bits), and eight are dispatched.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MCA = os.environ.get("LLVM_MCA", "llvm-mca")
TURNS = 100  # that llvm-mca simulates
LARGEST_KERNEL = 400_000  # bytes


@dataclass(frozen=True)
class Loop:
    """An innermost loop: its share of the samples, and its instructions."""

    share: float
    code: tuple[str, ...]

    def count(self, instruction: str) -> int:
        """How often a turn has this instruction."""
        return sum(line.split()[0] == instruction for line in self.code)

    def cycles(self) -> float:
        """Of a turn, where no instruction waits for another: as long as the busiest ports need.

        llvm-mca looks at every kind of instruction alone; multiplication and division share two ports.
        """
        code = [_half_as_wide(re.sub(r"^(j\w+?)q? .*", r"\1 again", line)) for line in self.code]
        mca = [MCA, "-mcpu=znver4", "-dispatch=8", f"-iterations={TURNS}"]
        found = _output(mca, "\n".join(["again:", *code, ""]))
        ports = re.findall(r"^\[[\d.]+\] +- (\w+)", found, re.M)
        pressure = (
            found.partition("Resource pressure per iteration:")[2].splitlines()[2].replace("-", "0").split()
        )
        busy = dict(zip(ports, map(float, pressure), strict=False))
        kinds = re.search(r"Block RThroughput:\s+([\d.]+)", found)
        assert kinds
        return max(float(kinds[1]), (busy["Zn4FP0"] + busy["Zn4FP1"]) / 2)


def hot_loops(call: Callable[[], Any], kernel: Any, seconds: float = 1.0) -> tuple[Loop, ...]:
    """The loops of all compiled versions of a kernel in which `call` spends its time, the hottest first."""
    samples = _samples(call, seconds)
    everywhere, found = samples.total(), []
    for compiled in kernel.overloads.values():
        start = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
        inside = [address for address in samples if start <= address < start + LARGEST_KERNEL]
        if inside:
            for code in _innermost(start, max(inside) + 2000):
                share = sum(samples[address] for address, _ in code) / everywhere
                found.append(Loop(share, tuple(line for _, line in code)))
    return tuple(sorted(found, key=lambda loop: -loop.share))


def _half_as_wide(line: str) -> str:
    """An instruction on registers of 512 bits as one on 256."""
    if "zmm" not in line:
        return line
    halves = {"1to16": "1to8", "1to8": "1to4", "zmm": "ymm", "ymm": "xmm"}
    return re.sub("1to16|1to8|zmm|ymm", lambda wide: halves[wide[0]], line)


def _samples(call: Callable[[], Any], seconds: float) -> Counter[int]:
    """How often the processor stood at each address."""
    with tempfile.TemporaryDirectory() as folder:
        record = ["perf", "record", "-q", "-F", "4000", "-e", "cpu-clock", "-p", str(os.getpid())]
        perf = subprocess.Popen([*record, "-o", f"{folder}/data"], stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        start = time.process_time()
        while time.process_time() - start < seconds:
            call()
        perf.send_signal(signal.SIGINT)
        perf.wait()
        addresses = _output(["perf", "script", "-i", f"{folder}/data", "-F", "ip"])
    return Counter(int(address, 16) for address in addresses.split())


def _innermost(start: int, end: int) -> list[list[tuple[int, str]]]:
    """The loops of the code at these addresses that hold no other: from the target of a jump back to the jump."""
    with tempfile.NamedTemporaryFile() as code:
        Path(code.name).write_bytes(ctypes.string_at(start, end - start))
        raw = ["objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "-M", "suffix", "--no-show-raw-insn"]
        listing = _output([*raw, f"--adjust-vma={start}", code.name])
    lines = [
        (int(a, 16), text.split("#")[0].strip()) for a, text in re.findall(r"^ *(\w+):\t(.*)$", listing, re.M)
    ]
    place = {address: i for i, (address, _) in enumerate(lines)}
    jumps = [(i, re.match(r"(j\w+) +0x(\w+)", text)) for i, (_, text) in enumerate(lines)]
    to = [(place.get(int(jump[2], 16), i + 1), i) for i, jump in jumps if jump]
    loops = sorted({(first, last) for first, last in to if first <= last}, key=lambda loop: loop[1] - loop[0])
    innermost: list[tuple[int, int]] = []
    for first, last in loops:
        if not any(first <= b and a <= last for a, b in innermost):
            innermost.append((first, last))
    return [lines[first : last + 1] for first, last in innermost]


def _output(command: list[str], text: str | None = None) -> str:
    return subprocess.run(command, input=text, check=True, text=True, capture_output=True).stdout
