"""The documentation: every example on it runs, as a reader would, and every public name stands in the API."""

import gc
import importlib
import inspect
import re
import shlex
from pathlib import Path

import pytest

from lambdaboost.cli.run import OK, run
from lambdaboost.evaluation.measure import MEASURES
from lambdaboost.objectives.objective import OBJECTIVES

DOCS = Path(__file__).parent.parent / "docs"
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
PAGES = sorted(page for page in DOCS.rglob("*.md") if BLOCK.search(page.read_text(encoding="utf-8")))
# What installs, or takes minutes, is shown and not run.
NOT_RUN = ("pip ", "python ", "make ", "lambdaboost demo")
# What a block uses, and the library that it needs: a page is followed up to the first that is not installed.
NEEDS = {
    "import torch": "torch",
    "import optuna": "optuna",
    'format="onnx"': "onnxruntime",
    "import treelite": "treelite",
    "import dask": "dask.dataframe",
}
PACKAGES = ["clicks", "dask", "datasets", "evaluation", "lightgbm", "objectives", "tuning", "xgboost"]
SLOW = ("howto/position_bias", "scale", "command_line", "howto/tune")


def blocks(page):
    """(language, line, code) of each block that runs, after the data that the page shows at its top."""
    text = page.read_text(encoding="utf-8")
    shown = re.search(r"```\{literalinclude\} (\S*prelude\.py)\n", text)
    prelude = [("python", 0, (page.parent / shown[1]).read_text(encoding="utf-8"))] if shown else []
    return prelude + [(b[1], text[: b.start(2)].count("\n"), b[2]) for b in BLOCK.finditer(text)]


def follow(page, names):
    """Run a page from top to bottom."""
    for language, line, code in blocks(page):
        for use, library in NEEDS.items():
            if use in code:
                pytest.importorskip(library)
        if language == "python":  # blank lines before it, so that an error names the page's own line
            exec(compile("\n" * line + code, str(page), "exec"), names)
        else:
            for command in code.replace("\\\n", " ").splitlines():
                if not command.startswith(NOT_RUN):
                    assert run(shlex.split(command)[1:]) == OK, command


def name_of(page):
    return page.relative_to(DOCS).with_suffix("").as_posix()


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.slow] if name_of(page) in SLOW else []) for page in PAGES],
    ids=map(name_of, PAGES),
)
def test_a_page_runs_as_it_stands(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    known = [(registry, dict(registry)) for registry in (MEASURES, OBJECTIVES)]
    try:
        follow(page, names)
    finally:
        for registry, before in known:  # without what the page defines
            registry.clear()
            registry.update(before)
        for name in {"client", "cluster"} & names.keys():  # where an example of the Dask page failed
            names[name].close()
        names.clear()
        gc.collect()  # in this folder, where XGBoost looks for the files of the page to remove them


def documented():
    """The names, in full, that the API's pages document; Sphinx warns of those that are not there."""
    for page in DOCS.glob("api/*"):
        module = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if found := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = found[1]
            elif found := re.match(r"\.\. (?:auto\w+|py:data):: (\S+)", line):
                yield found[1] if found[1].startswith("lambdaboost.") else f"{module}.{found[1]}"


@pytest.mark.parametrize("package", ["", *PACKAGES])
def test_public_names_are_documented(package):
    module = importlib.import_module(f"lambdaboost.{package}".removesuffix("."))
    known = set(documented())
    everywhere = {name.rsplit(".", 1)[1] for name in known}
    if package:
        missing = {name for name in module.__all__ if f"lambdaboost.{package}.{name}" not in known}
    else:  # it exports names that other packages document
        exported = {name for name, value in vars(module).items() if not inspect.ismodule(value)}
        missing = {name for name in exported - everywhere if not name.startswith("_")}
    assert not missing, f"add {sorted(missing)} to docs/api"


def formulas():
    """Every formula of the pages and the docstrings."""
    for page in DOCS.rglob("*.md"):
        text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        yield from re.findall(r"\$\$(.+?)\$\$", text, flags=re.DOTALL)
        yield from re.findall(r"(?<![$\\])\$([^$\n]+)\$(?!\$)", text)
    for file in (DOCS.parent / "lambdaboost").rglob("*.py"):
        yield from re.findall(r"\.\. math:: (.*(?:\n +\S.*)*)", file.read_text(encoding="utf-8"))


def test_formulas_need_no_network():
    """They become MathML, and none of it is an error or a command that was passed through as text."""
    converter = pytest.importorskip("latex2mathml.converter")
    found = list(formulas())
    assert len(found) > 20
    for formula in found:
        assert "\\" not in converter.convert(formula), formula
