"""Make a platform wheel of a pure one: the same package with machine code of the kernels that most users call.

    python tools/platform_wheel.py dist/lambdaboost-0.3.0-py3-none-any.whl

The code is for a level of processors (x86-64-v3: AVX2, from 2013 on), for this version of Python and for the installed
Numba. lambdaboost compiles where any of these differ. Run it once with each Python that is to have a wheel.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import llvmlite.binding

# LLVM's name of a level, the features that a processor needs for it, and the platform's tag.
LEVELS = {
    "x86_64-unknown-linux-gnu": (
        "x86-64-v3",
        ("avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2", "xsave"),
        "manylinux_2_17_x86_64",
    ),
    "aarch64-unknown-linux-gnu": ("generic", ("neon",), "manylinux_2_17_aarch64"),
}


def main(pure: Path) -> Path:
    """Write the platform wheel beside the pure one and return its path."""
    triple = llvmlite.binding.get_process_triple()
    cpu, needs, platform = LEVELS[triple]
    with tempfile.TemporaryDirectory() as folder:
        run("-m", "wheel", "unpack", "-d", folder, str(pure))
        (unpacked,) = Path(folder).iterdir()
        carried = unpacked / "lambdaboost" / "_compiled"
        cache = Path(folder) / "cache"
        target = {"NUMBA_CPU_NAME": cpu, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(cache)}
        compiling = str(Path(__file__).resolve().with_name("common_kernels.py"))
        run(compiling, cwd=unpacked, env=os.environ | target | {"PYTHONPATH": str(unpacked)})
        (filled,) = cache.iterdir()
        shutil.copytree(filled, carried)
        about = {"triple": triple, "cpu": cpu, "features": "", "needs": needs}
        (carried / "target.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
        for written in unpacked.rglob("__pycache__"):
            shutil.rmtree(written)
        python = f"cp{sys.version_info.major}{sys.version_info.minor}"
        (meta,) = unpacked.glob("*.dist-info/WHEEL")
        lines = meta.read_text(encoding="utf-8").replace("Root-Is-Purelib: true", "Root-Is-Purelib: false")
        meta.write_text(lines.replace("py3-none-any", f"{python}-{python}-{platform}"), encoding="utf-8")
        run("-m", "wheel", "pack", "-d", str(pure.parent), str(unpacked))
    return pure.with_name(pure.name.replace("py3-none-any", f"{python}-{python}-{platform}"))


def run(*arguments: str, **options: object) -> None:
    """Run this interpreter."""
    subprocess.run([sys.executable, *arguments], check=True, **options)  # type: ignore[call-overload]


if __name__ == "__main__":
    made = main(Path(sys.argv[1]).resolve())
    print(f"{made}: {made.stat().st_size / 1e6:.1f} MB")
