"""Figures that the README and the pages show come from reports, and the reports from the code as it is."""

import ast
from pathlib import Path

import pytest

from benchmarks import provenance, readme
from lambdaboost import __version__

ROOT = Path(__file__).parent.parent
# What the README shows, and what pages say of two labels. Reports that take hours (`unseen`, the portfolio) or decide
# nothing (`clicks`) name their commit instead.
SHOWN = [readme.SPEED, readme.GAIN, readme.TWO_LABELS]


@pytest.mark.parametrize("report", SHOWN, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_report_is_of_the_code_as_it_is(report):
    reason = provenance.outdated(report)
    assert reason is None, reason
    assert f"lambdaboost {__version__} at commit " in report.read_text(encoding="utf-8")


def test_the_readme_shows_the_figures_of_the_reports():
    shown = readme.README.read_text(encoding="utf-8")
    assert shown == readme.filled(shown), "run python -m benchmarks.readme"


def test_the_picture_shows_the_points_of_the_report():
    shown = readme.points(readme.TWO_LABELS.read_text(encoding="utf-8"))
    assert readme.mark_of(readme.PICTURE) == readme.mark(shown), "run python -m benchmarks.readme"


def test_other_points_are_another_picture(tmp_path):
    report = readme.TWO_LABELS.read_text(encoding="utf-8")
    shown = readme.points(report)
    readme.draw(report.replace(shown["pair"][-1], "1.00, 2.00"), tmp_path / "one.png")
    assert readme.mark_of(tmp_path / "one.png") != readme.mark(shown)


PLAIN = """
def total(values):
    return sum(values) + 1
"""
SAME = '''
"""A module."""


def total(values):  # of all
    """The total."""
    "Said once more."
    return (
        sum(values)
        + 1
    )
'''


def test_comments_and_docstrings_do_not_count():
    def tree(code):
        return provenance.plain_tree(ast.parse(code))

    assert tree(PLAIN) == tree(SAME)
    assert tree(PLAIN) != tree(PLAIN.replace("1", "2")) != tree(PLAIN.replace("+", "-"))
    assert tree("f(None)") != tree("f()") and tree("x = 'a'") != tree("x = 'b'")


def test_a_changed_source_is_named_with_the_command(tmp_path, monkeypatch):
    package = tmp_path / "package"
    (package / "parts").mkdir(parents=True)
    (package / "parts" / "one.py").write_text(PLAIN)
    (package / "two.py").write_text(PLAIN)
    monkeypatch.setattr(provenance, "PACKAGE", package)
    report = tmp_path / "report.md"
    report.write_text("# Title\n\n" + provenance.provenance("python -m benchmarks", "two", "parts"))
    assert provenance.outdated(report) is None
    (package / "parts" / "one.py").write_text(SAME)
    assert provenance.outdated(report) is None
    (package / "two.py").write_text(PLAIN.replace("1", "2"))
    reason = provenance.outdated(report)
    assert "report.md is older than parts, two: measure it anew by `python -m benchmarks`" in reason
    report.write_text("# Title")
    assert "does not say which sources" in provenance.outdated(report)
