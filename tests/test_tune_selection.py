"""Which setting `tune` takes, and what that is worth: shrunken means, the cross-fitted estimate, the portfolio."""

from dataclasses import replace

import numpy as np
import pytest
from naive import naive_shrunken

from lambdaboost import CNDCG, MAP, NDCG, Queries, tune
from lambdaboost._installed import engine_named
from lambdaboost.datasets import Collection, web_search_log
from lambdaboost.evaluation import parse
from lambdaboost.tuning import Choice
from lambdaboost.tuning.candidates import given
from lambdaboost.tuning.portfolio import PORTFOLIO, Setting, planned
from lambdaboost.tuning.shrunken import shrunken
from lambdaboost.tuning.space import Space
from lambdaboost.tuning.standard import standard
from lambdaboost.tuning.training import full_params
from lambdaboost.tuning.trial import Trial
from lambdaboost.tuning.worth import Worth

pytest.importorskip("optuna")
LOG = web_search_log(90, documents=15, seed=3)
TRAIN, VALID = LOG.take(range(50)), LOG.take(range(50, 75))
QUICK = {"rounds": 10, "patience": 5, "workers": 1, "split": "given"}


def trials_of(values, candidate=None):
    """Complete trials of one measure with these values by query, each of a candidate of its own by default."""
    candidate = range(len(values)) if candidate is None else candidate
    return [
        Trial(at, int(of), {}, {}, "complete", row[None], (float(np.nanmean(row)),), 1, 1, own=at == 0)
        for at, (of, row) in enumerate(zip(candidate, values, strict=True))
    ]


@pytest.mark.parametrize("seed", range(8))
def test_shrunken_means_are_the_best_linear_predictions(seed):
    rng = np.random.default_rng(seed)
    candidate = rng.integers(0, 5, 14) if seed else np.arange(14)
    values = rng.random(40) + rng.normal(0, 0.1, (14, 1))[candidate] + rng.normal(0, 0.05, (14, 1))
    values += rng.choice([0.01, 0.5]) * rng.standard_normal((14, 40))
    weight = np.ones(40) if seed % 2 else rng.random(40) + 0.2
    values[:, :3], weight[5] = np.nan, 0.0
    np.testing.assert_allclose(
        shrunken(values, weight, candidate), naive_shrunken(values, weight, candidate), rtol=0, atol=1e-12
    )


def test_without_noise_the_means_stay_and_with_noise_alone_they_are_equal():
    rng = np.random.default_rng(0)
    candidate = np.repeat(np.arange(4), 3)
    calm = rng.random(30) + rng.random((12, 1))
    np.testing.assert_allclose(shrunken(calm, np.ones(30), candidate), calm.mean(axis=1), atol=1e-12)
    noise = rng.standard_normal((12, 30))
    noise += 0.1 * noise.mean(axis=1, keepdims=True) - noise.mean(axis=1, keepdims=True)
    means = shrunken(noise, np.ones(30), candidate)
    assert np.ptp(means) == 0 and means[0] == pytest.approx(noise.mean(), abs=0.01)
    assert shrunken(calm[:1], np.ones(30), candidate[:1]) == pytest.approx(calm[0].mean())


def test_of_settings_that_noise_makes_equal_the_highest_is_taken():
    rng = np.random.default_rng(1)
    values = rng.random(200) + 0.2 * rng.standard_normal((3, 200))
    values[2] += 0.001 - (values[2] - values[:2].mean(axis=0)).mean()
    values[1] += (values[0] - values[1]).mean()
    candidates = given(["RankNet", "LambdaRank", "ListNet"], ["lightgbm"])
    choice = Choice(NDCG(10), candidates, trials_of(values), np.ones(200))
    assert np.ptp(list(choice.shrunken.values())) < 1e-12
    assert choice.best.number == 2
    better = values + np.array([[0], [0], [0.2]])
    assert replace(choice, trials=tuple(trials_of(better))).best.number == 2


def test_settings_that_were_left_have_no_part_in_the_choice():
    values = np.random.default_rng(2).random((4, 50))
    half = np.where(np.arange(50) < 25, values[0], np.nan)
    trials = trials_of(values)
    left = replace(trials[3], number=9, state="pruned", values=half[None] + 5)
    candidates = given(["RankNet", "LambdaRank", "ListNet", "XENDCG"], ["lightgbm"])
    one, other = (Choice(NDCG(10), candidates, tuple(t), np.ones(50)) for t in (trials, [*trials, left]))
    assert one.shrunken == other.shrunken


# The worth of a choice.


def by_shrunken(trials, weight):
    """The choice of `tune`."""
    means = shrunken(np.stack([t.values[0] for t in trials]), weight, np.array([t.candidate for t in trials]))
    return trials[int(means.argmax())]


def highest(trials, weight):
    """The highest mean, which chance decides among equal settings."""
    return max(trials, key=lambda trial: float(trial.values[0] @ weight))


def drawn_worth(rng, shift, choose, n=100):
    """The worth of a choice among settings whose true means are shifted; what it is in truth; the naive estimate."""
    values = rng.random(n) + shift[:, None] + 0.3 * rng.standard_normal((shift.size, n))
    trials, weight, group = trials_of(values), np.ones(n), rng.permutation(n) % 5
    worth = Worth.of(NDCG(10), "the default", trials[0], trials, weight, group, choose)
    truth = [
        shift[
            choose([replace(t, values=t.values[:, group != at]) for t in trials], weight[group != at]).number
        ]
        for at in range(5)
    ]
    return worth, np.mean(truth) - shift[0], values.mean(axis=1).max() - values[0].mean()


@pytest.mark.parametrize("choose", [by_shrunken, highest])
def test_choosing_among_equal_settings_is_worth_nothing_on_queries_outside_the_selection(choose):
    rng = np.random.default_rng(4)
    found = [drawn_worth(rng, np.zeros(12), choose) for _ in range(150)]
    means = np.array([worth.difference.mean for worth, _, _ in found])
    assert abs(means.mean()) < 3 * means.std() / np.sqrt(means.size)
    naive = np.array([naive for _, _, naive in found])
    assert naive.mean() > 20 * naive.std() / np.sqrt(naive.size)


@pytest.mark.slow
@pytest.mark.parametrize("choose", [by_shrunken, highest])
@pytest.mark.parametrize("spread", [0.0, 0.03, 0.2])
def test_the_interval_of_the_worth_covers_it(choose, spread):
    rng = np.random.default_rng(5)
    covered = []
    for _ in range(400):
        worth, truth, _ = drawn_worth(rng, spread * rng.standard_normal(20), choose)
        low, high = worth.interval()
        covered.append(low <= truth <= high)
    assert 0.93 < np.mean(covered) <= 1.0


def test_the_verdict_says_what_the_choice_is_worth(tmp_path):
    found = tune(TRAIN, VALID, objectives=["LambdaRank", "lambdarank"], settings=3, **QUICK)
    default = found.results[0]
    assert default.own and found.request.candidates[default.candidate].name == "lambdarank"
    assert found.worth.difference.baseline == "LightGBM's default"
    assert str(found.worth) in found.verdict and found.about()["worth"] == str(found.worth)
    assert "outside the selection" in str(found.worth) or "No setting that was tried" in str(found.worth)
    assert "chosen by the others" in found.page(tmp_path / "page.html").read_text(encoding="utf-8")
    only = tune(TRAIN, VALID, objectives=["RankNet"], settings=2, **QUICK)
    assert only.worth.difference.baseline == "RankNet() with LightGBM's own parameters"
    one = tune(TRAIN, VALID, objectives=["RankNet"], settings=1, **QUICK)
    assert one.worth is None and one.verdict == f"{one.choice.verdict} {one.selection}"
    assert tune(TRAIN, VALID.take(range(9)), objectives=["RankNet"], settings=2, **QUICK).worth is None


def test_where_the_default_is_chosen_the_worth_is_that_of_choosing():
    rng = np.random.default_rng(1)
    values = rng.random(50) + 0.3 * rng.standard_normal((6, 50))
    drawn = trials_of(values), np.ones(50), np.arange(50) % 5, highest
    one, other = (Worth.of(NDCG(10), "LightGBM's default", drawn[0][0], *drawn, is_default=d) for d in (1, 0))
    assert str(one).startswith("The chosen setting is LightGBM's default itself; choosing is worth ")
    assert str(other).startswith("The choice is worth ") and one.interval() == other.interval()


def test_nothing_is_said_of_the_worth_on_few_queries_that_count():
    q = TRAIN.queries
    weight = (np.arange(q.n_queries) < 9).astype(float)
    few = Collection(TRAIN.features, Queries(q.relevance, q.sizes, weight=weight))
    found = tune(few, objectives=["LambdaRank"], settings=2, folds=2, **(QUICK | {"split": "folds"}))
    assert found.worth is None and "inf" not in found.verdict


# The portfolio.


def first(measures=("ndcg@10",), engines=("lightgbm", "xgboost"), sources=(), documents=20_000):
    """What is tried first, by name, and as it is."""
    candidates = standard([parse(measure) for measure in measures], engines, sources)
    found = planned(candidates, engines[0], Space(documents), False)
    return [candidates[one.candidate].name for one in found], found, candidates


@pytest.mark.parametrize("engines", [("lightgbm",), ("xgboost",), ("lightgbm", "xgboost")])
@pytest.mark.parametrize("documents", [60, 1_000, 1_000_000])
def test_every_setting_of_the_portfolio_fits_the_space(engines, documents):
    names, found, candidates = first(engines=engines, documents=documents)
    keys = {candidate.key for candidate in candidates}
    assert {setting.candidate for setting in PORTFOLIO if setting.candidate in keys} <= set(names)
    assert found[0].own and names[0] == engine_named(engines[0]).NATIVE
    for one in found:
        knobs = Space(documents).knobs(candidates[one.candidate])
        assert one.asked.keys() == knobs.keys()
        assert all(knobs[name].low <= value <= knobs[name].high for name, value in one.asked.items())
        assert one.own == (one.knobs == {})


def test_every_candidate_of_the_portfolio_is_a_standard_one():
    keys = [candidate.key for candidate in standard([NDCG(10)], ["lightgbm", "xgboost"], ["clicks"])]
    assert len(set(keys)) == len(keys)
    assert len(PORTFOLIO) == 16 and {setting.candidate for setting in PORTFOLIO} <= set(keys)
    for measures in ([NDCG(10, gain="linear")], [MAP(), CNDCG(5)]):
        assert set(keys) <= {c.key for c in standard(measures, ["lightgbm", "xgboost"], ["clicks"])}


def test_what_only_these_data_have_follows_the_default():
    names, _, _ = first(sources=["clicks", "sales"], measures=["map"])
    assert names[:4] == [
        "lambdarank",
        "LambdaRank(metric=MAP())",
        "graded(source='clicks')",
        "graded(source='sales')",
    ]


def test_settings_of_an_engine_that_is_not_asked_for_are_left_out():
    names, _, _ = first(engines=["xgboost"])
    assert {"rank:ndcg", "LambdaRank()"} <= set(names) and not {"lambdarank", "rank_xendcg"} & set(names)


def test_named_objectives_come_with_the_settings_of_the_portfolio_or_with_its_trees():
    candidates = given(["LambdaRank(MAP())", "LambdaRank"], ["lightgbm"])
    found = planned(candidates, "lightgbm", Space(20_000), True)
    own = [setting for setting in PORTFOLIO if setting.candidate == "LambdaRank()"]
    # Each once, then those of the portfolio; the default is LambdaRank with LightGBM's own parameters.
    assert [one.candidate for one in found][: 1 + len(own)] == [1, 0] + [1] * (len(own) - 1)
    trees = [one.asked["max_leaves"] for one in found if one.candidate == 0]
    assert trees[:2] == [PORTFOLIO[0].values.get("max_leaves", 31), PORTFOLIO[1].values.get("max_leaves", 31)]
    assert len(found) <= 1 + len(own) + len(PORTFOLIO)


def test_a_depth_is_handed_to_the_engine_and_own_parameters_are_none(monkeypatch):
    deep = (
        Setting("lambdarank", {"max_leaves": 8}, depth=3),
        Setting("rank:ndcg", {"max_leaves": 9}, depth=4),
    )
    monkeypatch.setattr("lambdaboost.tuning.portfolio.PORTFOLIO", deep)
    parts = ((part, part.queries) for part in (TRAIN, VALID))
    train, valid = (replace(part, queries=Queries(q.relevance, q.sizes)) for part, q in parts)
    found = tune(train, valid, settings=3, params={"learning_rate": 0.2}, **QUICK)
    r = found.request
    default, *others = (full_params(r, r.candidates[t.candidate], t.knobs) for t in found.results)
    assert default == {
        "seed": 0,
        "num_threads": 1,
        "feature_pre_filter": False,
        "verbosity": -1,
        "learning_rate": 0.2,
    }
    depths = [(p.get("num_leaves") or p.get("max_leaves"), p["max_depth"]) for p in others]
    assert depths == [(8, 3), (9, 4)]
