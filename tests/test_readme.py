"""The README's snippets run, one after the other, as a reader would paste them."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lambdaboost.datasets import web_search_log

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


@pytest.fixture(scope="module")
def namespace():
    """What a script has at hand: features, grades, sizes and frames of a training and a validation part."""
    log = web_search_log(40, documents=40, seed=2).shuffled(0)
    names = {}
    for suffix, chosen in (("", np.arange(30)), ("_valid", np.arange(30, 40))):
        part = log.take(chosen)
        names |= {
            "X" + suffix: part.features,
            "y" + suffix: part.queries.relevance,
            "sizes" + suffix: part.queries.sizes,
            "frame" + suffix: pd.DataFrame(part.features, columns=part.feature_names).assign(
                srch_id=part.queries.query_of_row, clicks=part.queries.labels["clicks"]
            ),
        }
    return names


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda s: s.split("\n")[0])
def test_snippet(snippet, namespace):
    exec(compile(snippet, "README.md", "exec"), namespace)


def test_code_comes_first_and_shows_both_engines_and_two_sources():
    """On the first screen, and on one page."""
    lines = README.splitlines()
    assert lines.index("```python") < 25 and len(lines) <= 130
    for call, snippet in zip(("lgb.train(", "xgb.train(", "sources=["), SNIPPETS, strict=True):
        assert call in snippet


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if not target.startswith("http"):
            assert (ROOT / target).exists(), target


def rows(heading):
    """The cells of the table below a heading of the README."""
    part = README.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_results_are_those_of_the_reports():
    report = ""
    for data, system, *values in rows("Results"):
        if linked := re.search(r"\((docs/[\w/]+\.md)\)", data):
            page = ROOT / linked[1]
            report = page.read_text(encoding="utf-8")
            if included := re.search(r"\{include\} (\S+)", report):
                report = (page.parent / included[1]).read_text(encoding="utf-8")
        for value in values:
            if value:
                assert re.search(rf"\b{re.escape(value.split()[0])}\b", report), (data, system, value)


def test_speed_is_that_of_the_benchmarks_page():
    """Each ratio, in two digits, of the page's table of trainings."""
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    page = page.split("## λ inside a training\n")[1].split("\n## ")[0]
    found = rows("Speed")
    assert len(found) == 7
    for shape, *ratios in found:
        lines = [
            re.search(rf"^\| {shape} \| {name} \| (.+)", page, re.M)[1] for name in ("LightGBM", "XGBoost")
        ]
        cells = [line.split(" | ")[column] for column in (0, 1) for line in lines]
        expected = [float(cell.split("×")[0]) for cell in cells]
        assert [float(ratio.removesuffix(" ×")) for ratio in ratios] == pytest.approx(expected, rel=0.05)
