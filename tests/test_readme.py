"""The README's snippets run, one after the other, as a reader would paste them, and print what it shows."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, flags=re.DOTALL)


def test_snippets(capsys):
    """In one namespace, from nothing. Figures of other machines and versions differ in the last digits."""
    namespace: dict[str, object] = {}
    for calls, (snippet, shown) in zip((("lgb.train(", "xgb.train("), ("merge(",)), SNIPPETS, strict=True):
        assert all(call in snippet for call in calls)
        exec(compile(snippet, "README.md", "exec"), namespace)
        printed, expected = capsys.readouterr().out.split(), shown.split()
        assert len(printed) == len(expected)
        for got, word in zip(printed, expected, strict=True):
            assert got == word or float(got) == pytest.approx(float(word), abs=0.02)


def test_the_first_screen_has_the_commands_and_code():
    lines = README.splitlines()
    assert lines.index("```python") < 30 and len(lines) <= 120
    screen = "\n".join(lines[:30])
    targets = re.findall(r"^(\w[\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    for command in ("make demo", "make test"):
        assert f"\n{command} " in screen and command.split()[1] in targets


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if not target.startswith("http"):
            assert (ROOT / target).exists(), target


def rows(heading, page=README):
    """The cells of the table below a heading of a page."""
    part = page.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


LOSSES = ROOT / "docs" / "results" / "index.md"
LOST = rows("Where lambdaboost loses, or makes no difference", LOSSES.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("found", "folder"), [(rows("Results"), ROOT), (LOST, LOSSES.parent)])
def test_results_are_those_of_the_reports(found, folder):
    report = ""
    for data, system, *values in found:
        if linked := re.search(r"\(([\w/]+\.md)(?:#([\w-]+))?\)", data):
            report = report_of(folder / linked[1], linked[2])
        for value in values:
            if value:
                assert re.search(rf"\b{re.escape(value.split()[0])}\b", report), (data, system, value)


def report_of(page, anchor):
    """The text of a report, or of the one on a page of several whose title has the anchor."""
    text = page.read_text(encoding="utf-8")
    if anchor is None:
        return text
    for included in re.findall(r"\{include\} (\S+)", text):
        report = (page.parent / included).read_text(encoding="utf-8")
        title = re.sub(r"[^\w ]", "", report.splitlines()[0].lower()).strip().replace(" ", "-")
        if title == anchor:
            return report
    raise AssertionError(f"{page} includes no report #{anchor}")


def test_speed_is_that_of_the_benchmarks_page():
    """Each ratio, in two digits, of the page's table of trainings."""
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    page = page.split("## λ inside a training\n")[1].split("\n## ")[0]
    found = rows("Speed")
    assert len(found) == 4
    for shape, *ratios in found:
        lines = [
            re.search(rf"^\| {shape} \| {name} \| (.+)", page, re.M)[1] for name in ("LightGBM", "XGBoost")
        ]
        cells = [line.split(" | ")[column] for column in (0, 1) for line in lines]
        expected = [float(cell.split("×")[0]) for cell in cells]
        assert [float(ratio.removesuffix(" ×")) for ratio in ratios] == pytest.approx(expected, rel=0.05)
