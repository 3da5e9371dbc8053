"""The README's snippets run, one after the other, as a reader would paste them."""

import re
from pathlib import Path

import numpy as np
import pytest

from lambdaboost.datasets import web_search_log

README = (Path(__file__).parent.parent / "README.md").read_text()
SNIPPETS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


@pytest.fixture(scope="module")
def namespace():
    """What a script has at hand: features, grades, sizes and clicks of a training and a validation part."""
    log = web_search_log(40, documents=40, seed=2).shuffled(0)
    names = {}
    for suffix, chosen in (("", np.arange(30)), ("_valid", np.arange(30, 40))):
        part = log.take(chosen)
        names |= {
            "X" + suffix: part.features,
            "y" + suffix: part.queries.relevance,
            "sizes" + suffix: part.queries.sizes,
            "clicks" + suffix: part.queries.labels["clicks"],
        }
    return names


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda s: s.split("\n")[0])
def test_snippet(snippet, namespace):
    exec(compile(snippet, "README.md", "exec"), namespace)


def test_there_are_snippets():
    assert len(SNIPPETS) >= 4


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if not target.startswith("http"):
            assert (Path(__file__).parent.parent / target).exists(), target
