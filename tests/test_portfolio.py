"""The benchmark of tune's portfolio: what it draws, chooses and leaves out."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("optuna")
pytest.importorskip("xgboost")

import benchmarks.portfolio.__main__ as command
from benchmarks.portfolio import matrix, sets, study
from benchmarks.portfolio.greedy import greedy, shrunken
from benchmarks.portfolio.matrix import Matrix
from benchmarks.portfolio.rivals import LIGHTGBM, SIZE, of_tune
from benchmarks.portfolio.settings import CANDIDATES, knobs_of, name_of, settings
from benchmarks.portfolio.study import Run
from lambdaboost.tuning.portfolio import PORTFOLIO, Setting
from lambdaboost.tuning.space import Space

THREE = ("mq2008", "clueweb09", "log of 300")


@pytest.fixture
def rng():
    """A source of values."""
    return np.random.default_rng(4)


def test_settings_are_distinct_and_the_same_at_every_call():
    assert settings() == settings()
    assert len({name_of(setting) for setting in settings()}) == len(settings())
    assert {setting.candidate for setting in settings()} == set(CANDIDATES)


@pytest.mark.parametrize("documents", [300, 20_000])
def test_values_are_within_the_ranges_of_tune(documents):
    space = Space(documents)
    for setting in settings():
        knobs = {knob.name: knob for knob in space.knobs(CANDIDATES[setting.candidate]).values()}
        assert set(setting.values) <= set(knobs)
        for name, value in knobs_of(setting, space).items():
            assert name == "depth" or knobs[name].low <= value <= knobs[name].high


def test_greedy_takes_the_setting_that_leaves_the_least_regret(rng):
    means = rng.random((5, 8))
    chosen = greedy(means, 6)
    assert len(set(chosen)) == 6
    for n in range(6):
        left = [(means.max(axis=1) - means[:, [*chosen[:n], at]].max(axis=1)).mean() for at in range(8)]
        best = min(left[at] for at in range(8) if at not in chosen[:n])
        assert left[chosen[n]] == pytest.approx(best)


def test_without_noise_nothing_is_shrunken_and_noise_alone_leaves_nothing(rng):
    means = rng.random((4, 6))
    exact = [np.repeat(row[:, None], 10, axis=1) for row in means]
    np.testing.assert_allclose(shrunken(exact), means)
    noise = shrunken([rng.normal(size=(6, 50)) for _ in range(4)])
    assert np.ptp(noise, axis=1).max() < 0.1  # of a standard error of 0.14


def test_shrunken_means_are_nearer_to_the_truth(rng):
    truth = 0.02 * rng.normal(size=12) + 0.02 * rng.normal(size=(6, 12))
    found = [row[:, None] + rng.normal(scale=0.3, size=(12, 100)) for row in truth]
    raw = np.array([one.mean(axis=1) for one in found])

    def error(means):
        return np.square(
            (means - means.mean(axis=1, keepdims=True)) - (truth - truth.mean(axis=1)[:, None])
        ).mean()

    assert error(shrunken(found)) < 0.8 * error(raw)


@pytest.fixture
def made(rng):
    """Outcomes that are drawn, not trained."""
    return {
        Run(name, fold, setting): {
            "valid": rng.random(30),
            "NDCG@10": rng.random(40),
            "NDCG@3": rng.random(40),
        }
        for name in THREE
        for fold in range(2)
        for setting in settings()
    }


def test_a_portfolio_knows_nothing_of_the_set_that_is_left_out(made, rng):
    before = Matrix(made)
    other = {
        run: outcome | {"NDCG@10": rng.random(40)} if run.data == "clueweb09" else outcome
        for run, outcome in made.items()
    }
    assert before.portfolio("clueweb09") == Matrix(other).portfolio("clueweb09")
    assert before.portfolio("mq2008") != Matrix(other).portfolio("mq2008")
    tried = of_tune(before, "clueweb09")
    assert tried[0] == LIGHTGBM
    assert len(tried) == len({name_of(setting) for setting in tried}) == SIZE


def test_a_choice_reads_validation_queries_only(made):
    ran = Matrix(made)
    reached = ran.reached("mq2008", range(len(ran.settings)))
    best = [
        max(ran.settings, key=lambda s, f=fold: made[Run("mq2008", f, s)]["valid"].mean())
        for fold in range(2)
    ]
    wanted = [made[Run("mq2008", fold, setting)]["NDCG@10"] for fold, setting in enumerate(best)]
    np.testing.assert_array_equal(reached, np.concatenate(wanted))
    assert ran.regret("mq2008", reached) >= 0


def test_a_check_needs_a_set_to_leave_out(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(ValueError, match="no set outside that which is left out"):
        command.main(["--sets", "log of 300", "log of 1,000", "--out", str(out)])
    assert not out.exists()


@pytest.mark.slow
def test_the_command_writes_all_sections(tmp_path, monkeypatch):
    small = {"log of 300": (40, 2), "log of 1,000": (60, 2)}
    monkeypatch.setattr(sets, "LOGS", small)
    monkeypatch.setattr(sets, "TEST", 20)
    monkeypatch.setattr(study, "ROUNDS", 3)
    for module in (command, matrix):
        monkeypatch.setattr(module, "family", lambda name: (name,))
    few = (Setting("lambdarank"), Setting("LambdaRank()"), Setting("rank:ndcg", own=True), *settings()[-3:])
    monkeypatch.setattr(command, "settings", lambda: few)
    command.main(["--sets", *small, "--folds", "1", "--tune", "1", "--out", str(tmp_path)])
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    for title in (
        "The portfolio",
        "Check on sets left out",
        "All settings",
        "tune against fixed objectives",
        "Data",
    ):
        assert f"{title}\n" in text


def test_the_portfolio_of_tune_is_of_these_settings():
    assert set(map(name_of, PORTFOLIO)) <= set(map(name_of, settings()))
