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
