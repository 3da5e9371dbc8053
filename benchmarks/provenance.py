"""Where the figures of a report come from: version, commit, processor, command, and a digest of the sources.

A report that carries `provenance` can be checked later without the repository's history: `outdated` computes the digest
again. Comments, docstrings and formatting do not count, since no figure depends on them.
"""

from __future__ import annotations

import ast
import hashlib
import platform
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import lambdaboost
from benchmarks.machine import processor
from lambdaboost._installed import package
from lambdaboost.engines import ENGINES

PACKAGE = Path(lambdaboost.__file__).parent
# Files that write pages and pictures: no figure depends on them.
WITHOUT_FIGURES = {"evaluation/report_page.py", "evaluation/charts.py", "evaluation/trec.py"}
STAMP = re.compile(
    r"Command: `(?P<command>[^`]+)`\.\s+Sources: (?P<sources>`[^.]*`), digest `(?P<digest>\w+)`\."
)


def digest(sources: Iterable[str]) -> str:
    """A digest of files and folders of the package, such as ``objectives``, without comments and docstrings."""
    total = hashlib.sha256()
    for source in sorted(sources):
        place = PACKAGE / source
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]:
            name = file.relative_to(PACKAGE).as_posix()
            if name not in WITHOUT_FIGURES:
                code = plain_tree(ast.parse(file.read_text(encoding="utf-8")))
                total.update(f"{name} {code!r}\n".encode())
    return total.hexdigest()[:16]


def plain_tree(node: object) -> object:
    """The syntax tree as nested tuples; without strings that stand alone, and fields that only some Pythons have."""
    if isinstance(node, list):
        kept = (item for item in node if not (isinstance(item, ast.Expr) and _is_text(item.value)))
        return tuple(plain_tree(item) for item in kept)
    if isinstance(node, ast.AST):
        fields = ((name, plain_tree(value)) for name, value in ast.iter_fields(node))
        return type(node).__name__, tuple((name, value) for name, value in fields if value not in (None, ()))
    return node


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def provenance(command: str, *sources: str) -> str:
    """A paragraph for the head of a report of `command`, whose figures depend on `sources` of the package.

    `sources` are folders and files of the package without their ending: ``"objectives"``, ``"merging"``.
    """
    engines = ", ".join(f"{name} {package(name).__version__}" for name in ENGINES)
    named = ", ".join(f"`{source}`" for source in sorted(sources))
    return (
        f"lambdaboost {lambdaboost.__version__} at {commit()}, {engines}, Python {platform.python_version()}, "
        f"{processor()}.\nCommand: `{command}`.\nSources: {named}, digest `{digest(sources)}`."
    )


def commit() -> str:
    """The commit that is checked out, and whether files differ from it."""

    def git(*words: str) -> str:
        place = ["git", "-C", str(PACKAGE.parent)]
        return subprocess.run([*place, *words], capture_output=True, text=True, check=False).stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", "lambdaboost", "benchmarks/*.py")
    return f"commit {git('rev-parse', '--short=8', 'HEAD') or 'unknown'}{' with changes' if changed else ''}"


def outdated(report: Path) -> str | None:
    """A sentence that says which command measures a report anew, if its sources have changed since; else None."""
    found = STAMP.search(report.read_text(encoding="utf-8"))
    if found is None:
        return (
            f"{report} does not say which sources its figures depend on: write it with benchmarks.provenance"
        )
    sources = re.findall(r"`([^`]+)`", found["sources"])
    if found["digest"] == digest(sources):
        return None
    return f"{report} is older than {', '.join(sources)}: measure it anew by `{found['command']}`"
