"""What is released: the archive has what it takes to test it, the wheel the package, and the metadata agree."""

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import lambdaboost

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BUILT = shutil.ignore_patterns(
    ".git", ".venv*", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis", "shared"
)
RELEASED = """
README.md LICENSE CHANGELOG.md CITATION.cff CONTRIBUTING.md Makefile requirements-lightgbm.txt conftest.py .ci/run
tests/rules.py tests/conftest.py docs/traps.md examples/templates/fresh_tier.py lambdaboost/py.typed
"""


def test_source_archive_and_wheel(tmp_path):
    pytest.importorskip("build")
    pytest.importorskip("twine")
    checkout = shutil.copytree(ROOT, tmp_path / "checkout", symlinks=True, ignore=BUILT)
    options = ["-q", "--no-isolation", "-o", tmp_path / "dist"]
    command = [sys.executable, "-m", "build", *options, checkout]
    subprocess.run(command, check=True, capture_output=True)
    (archive,) = (tmp_path / "dist").glob("*.tar.gz")
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    packed = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in packed if ".dist-info/" not in name} == {"lambdaboost"}
    assert {"lambdaboost/py.typed", "lambdaboost/objectives/lambdarank.py"} < set(packed)
    with tarfile.open(archive) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
        (about,) = [
            tar.extractfile(one).read().decode() for one in tar if re.fullmatch("[^/]*/PKG-INFO", one.name)
        ]
    assert set(RELEASED.split()) <= names
    assert {p.relative_to(ROOT).as_posix() for p in (ROOT / "lambdaboost").rglob("*.py")} <= names
    assert not [name for name in names if re.search(r"__pycache__|\.nb[ic]$|\.npz$|^\.venv|^build/", name)]
    checked = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", str(archive)], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout  # the README renders

    assert "LambdaRank" in about
    dead = re.findall(r"\]\((?!https?://|#)[^)]*\)", about)
    assert not dead, "links that lead nowhere from an index"


def test_versions_agree():
    assert PROJECT["version"] == lambdaboost.__version__
    assert f"\nversion: {PROJECT['version']}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("engine", "other"), [("lightgbm", "xgboost"), ("xgboost", "lightgbm")])
def test_requirements_of_one_engine_are_the_dependencies_without_the_other(engine, other):
    lines = (ROOT / f"requirements-{engine}.txt").read_text(encoding="utf-8").splitlines()
    wanted = [one for one in PROJECT["dependencies"] if not one.startswith(other)]
    assert [line.replace("-cpu", "") for line in lines if not line.startswith("#")] == wanted


def test_citation_has_what_the_format_requires():
    keys = re.findall(r"^(\S+):", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)
    assert {"cff-version", "message", "title", "authors"} <= set(keys) and len(keys) == len(set(keys))
