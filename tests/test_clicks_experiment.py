"""`experiments.clicks` at tiny sizes, and what it says of what it found."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import experiments.clicks.__main__ as command
from experiments.clicks.few_grades import named
from experiments.clicks.folds import five_folds
from experiments.clicks.rankers import (
    CEILING,
    DEBIASED,
    ENGINES,
    ESTIMATED,
    HARVESTED,
    NAIVE,
    PRODUCTION,
    UNBIASED,
)
from experiments.clicks.report import findings
from experiments.clicks.results import Results

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("clicks")


@pytest.fixture(scope="module")
def made(out):
    return command.main(["--quick", "--queries", "60", "--workers", "1", "--out", str(out)])


def test_everything_is_written(made, out):
    assert {path.name for path in out.iterdir()} == {"curves.png", "report.md", "runs"}
    text = (out / "report.md").read_text(encoding="utf-8")
    assert f"| {UNBIASED} |" in text
    assert "5 % of the grades, **pooled**" in text


def test_finished_runs_are_not_repeated(made, out, monkeypatch):
    monkeypatch.setattr(command, "Study", lambda *_: pytest.fail("a run was repeated"))
    again = command.main(["--quick", "--queries", "60", "--workers", "1", "--out", str(out)])
    for key, outcome in made.outcomes.items():
        assert again.outcomes[key].keys() == outcome.keys()


def test_no_query_is_in_two_test_parts():
    data = command._read("synthetic", command._parser().parse_args(["--queries", "25"]))
    documents = sum(part.queries.n_documents for part in data.parts.values())
    folds = list(five_folds(data, 0))
    assert sum(test.queries.n_documents for _, test in folds) == documents
    for training, test in folds:
        assert not set(map(bytes, training.features)) & set(map(bytes, test.features))


def invented(**means):
    """Results of 200 test queries with such a mean for each ranker, .5 for the others."""
    noise = np.random.default_rng(0).normal(0, 0.01, 200)
    names = [NAIVE, *ESTIMATED, *ENGINES, CEILING, PRODUCTION]
    outcome = {
        f"NDCG {name}": np.full(200, means.get(name, 0.5)) + noise * (i + 1) for i, name in enumerate(names)
    }
    return Results({("made up", users, 0): outcome for users in command.USERS})


def said(results, claim):
    """The verdict on a claim."""
    (line,) = (line for line in findings(results).splitlines() if line.startswith(f"- {claim}"))
    return line.split("**")[1]


def test_verdicts_follow_the_figures():
    better = invented(**{DEBIASED + HARVESTED: 0.6})
    assert said(better, "It beats clicks as labels, cascade") == "yes"
    assert said(better, "It is not significantly worse than LightGBM's position, trust") == "yes"
    worse = invented(**dict.fromkeys(ESTIMATED, 0.4))
    assert said(worse, "It beats clicks as labels, cascade") == "no"
    assert said(worse, "It is not significantly worse than LightGBM's position, trust") == "no"
    assert said(worse, "It costs nothing without a bias") == "no"


def test_a_share_is_named():
    assert named("graded", 0.05) == "graded, 5 % of the grades"
