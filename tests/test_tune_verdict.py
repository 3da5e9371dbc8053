"""The verdict of `tune` on drawn searches: every phrase is true, also where earlier ones were false."""

import numpy as np
import pytest
from scipy import stats

from lambdaboost import CNDCG, NDCG, ClickTier, LambdaRank, Queries, Scorecard, graded
from lambdaboost.datasets import Collection
from lambdaboost.tuning.candidates import add_second_goal, parse_candidates
from lambdaboost.tuning.request import Request
from lambdaboost.tuning.training import Setting, Trial
from lambdaboost.tuning.trees import STARTS
from lambdaboost.tuning.verdict import BULLETS, HOLM, best_of, compare_trials, describe, interval, shrunken

pytest.importorskip("optuna")
N = 300
GRADED = repr(graded(0.1))
NAMES = ["lambdarank", "rank_xendcg", "ListNet()", GRADED]
LEVEL = "no significant difference"


def request(objectives=("LambdaRank", *NAMES), n=N, positions=None):
    rng = np.random.default_rng(0)
    q = Queries(np.tile([0.0, 1.0], n), sizes=[2] * n, clicks=rng.random(2 * n), position=positions)
    engines = ("lightgbm", "xgboost")
    named = None if objectives is None else parse_candidates(objectives, engines)
    budget = {"settings": 20, "minutes": None, "folds": 5, "rounds": 10, "early_stopping_rounds": 5}
    rest = {"valid": None, "split": None, "keep": None, "params": {}, "workers": 1, "seed": 0}
    data = Collection(rng.random((2 * n, 2)), q)
    return Request(data, measures=(NDCG(10),), named=named, engines=engines, **budget, **rest)


class Drawn:
    """Trials with values around means, each with noise of its own and noise of the query that all share."""

    def __init__(self, asked, seed=0, spread=0.05):
        self.asked, self.rng, self.spread, self.trials = asked, np.random.default_rng(seed), spread, []
        self.query = self.rng.beta(4, 2, asked.weight.size)

    def add(self, candidate, phase, mean, trees=None, **more):
        values = self.query + mean + self.rng.normal(0, self.spread, (1, self.query.size))
        setting = Setting(candidate, phase, trees or {})
        given = {
            "number": len(self.trials),
            "values": values,
            "means": tuple(values.mean(axis=1)),
            "folds": 5,
        }
        self.trials.append(Trial(setting, setting, **(given | more)))
        return self

    def best_trees(self):
        return max((one for one in self.trials if one.setting.phase == "trees"), key=lambda one: one.means[0])

    def result(self):
        chosen = best_of(self.asked, self.trials)
        frame = compare_trials(self.asked, self.trials, chosen)
        return frame, describe(self.asked, self.trials, chosen, frame, None), chosen


def search(asked, seed, default, trees, objectives, spread=0.05):
    """A search: means of the default, of LambdaRank on each start, and of the objectives on its best."""
    drawn = Drawn(asked, seed, spread).add(asked.default_candidate.name, "default", default)
    for start, mean in zip(STARTS, trees, strict=False):
        drawn.add("LambdaRank()", "trees", mean, start)
    best = drawn.best_trees().setting.trees
    for name, mean in objectives.items():
        drawn.add(name, "objectives", mean, best)
    return drawn


def bullet(verdict, start):
    return next(line for line in verdict.splitlines() if line.startswith(f"- {start}"))


def test_an_objective_on_small_trees_is_not_compared_with_another_on_large_ones():
    """Earlier: `rank_xendcg` on 6 leaves was called better than `lambdarank` on 31; on equal trees it is level."""
    frame, verdict, _ = search(request(), 0, -0.03, [0.03] * 4, dict.fromkeys(NAMES, 0.03)).result()
    row = frame[(frame.question == "objective") & (frame.system == "rank_xendcg")].iloc[0]
    assert row.baseline == "lambdarank" and row[HOLM] > 0.05 and abs(row.difference) < 0.02
    said = bullet(verdict, f"Objective, on the same trees: {LEVEL} from lambdarank in NDCG(k=10): ")
    assert "rank_xendcg +" in said and "worse" not in verdict
    assert not [line for line in verdict.splitlines() if "rank_xendcg" in line and "better" in line]
    trees = "Trees: lambdarank on the best trees vs. lambdarank with LightGBM's default parameters: NDCG(k=10) +0.0"
    assert bullet(verdict, trees).endswith(", better.")


def test_a_label_is_compared_with_its_own_first_part_on_the_same_trees():
    """Earlier: a second label "lowers" NDCG by 2 points, by other trees, where on equal trees it raises it."""
    drawn = search(request(), 1, 0.0, [0.02] * 4, {"lambdarank": 0.03, GRADED: 0.03}, spread=0.02)
    drawn.add(GRADED, "refinement", -0.05, STARTS[-1])  # graded on bad trees
    frame, verdict, _ = drawn.result()
    row = frame[frame.question == "label"].iloc[0]
    assert (row.system, row.baseline) == (GRADED, "LambdaRank()") and row.low > 0 and row[HOLM] < 0.05
    said = f"Further label, on the same trees: {GRADED} vs. LambdaRank(): NDCG(k=10) +0.0"
    assert bullet(verdict, said).endswith(", better.")


def test_nothing_is_said_of_an_objective_that_was_not_trained_in_every_fold():
    """Earlier: an objective was "clearly worse" after one setting on two folds."""
    drawn = search(request(), 2, 0.0, [0.02] * 4, {"lambdarank": 0.02})
    drawn.add("ListNet()", "refinement", -0.5, STARTS[0], state="pruned", folds=2)
    frame, verdict, _ = drawn.result()
    assert not frame.system.str.contains("ListNet").any() and "ListNet" not in verdict


def test_a_label_without_effect_is_said_to_have_none():
    """Earlier: "too few to tell whether a second label helps" where its gradient is 0."""
    drawn = search(request(), 3, 0.0, [0.02] * 4, {"lambdarank": 0.02})
    best = drawn.best_trees()
    drawn.add(GRADED, "objectives", 0.0, best.setting.trees, values=best.values, means=best.means)
    assert bullet(drawn.result()[1], "Further label").endswith(", the same on every query.")


@pytest.mark.parametrize("seed", range(10))
def test_every_phrase_is_that_of_scipys_test(seed):
    rng = np.random.default_rng(seed)
    spread, size = rng.choice([0.02, 0.1]), rng.choice([0.0, 0.005, 0.03])
    means = rng.normal(0, size, 9)
    drawn = search(request(), seed, means[0], means[1:5], dict(zip(NAMES, means[5:], strict=True)), spread)
    frame, verdict, chosen = drawn.result()
    by_name = {one.setting.candidate: one for one in drawn.trials if one.setting.phase == "objectives"}
    by_name["LambdaRank()"] = best = drawn.best_trees()
    default, base = drawn.trials[0], by_name["lambdarank"]
    searched = len(drawn.trials) - 1
    naive = {("trees", "lambdarank"): (base, default, searched if base is chosen else 4, 1)}
    naive |= {("objective", name): (by_name[name], base, 1, 1) for name in NAMES[1:]}
    naive["objective", "LambdaRank()"] = best, base, 4, 1  # the highest of four trees
    naive["label", GRADED] = by_name[GRADED], best, 1, 4
    if chosen is not default:
        naive["choice", chosen.setting.candidate] = chosen, default, searched, 1
    found = {(row.question, row.system): row for _, row in frame.iterrows()}
    if chosen.setting.phase == "trees" and chosen is not best:
        found.pop(("further settings", "LambdaRank()"))
    assert found.keys() == naive.keys()
    p = {}
    for key, (one, other, above, below) in naive.items():
        test, row = stats.ttest_rel(one.values[0], other.values[0]), found[key]
        p[key] = min(1.0, (above if test.statistic > 0 else below) * test.pvalue)
        low = test.confidence_interval(1 - 0.05 / above).low
        high = test.confidence_interval(1 - 0.05 / below).high
        assert [row.low, row.high, row.p] == pytest.approx([low, high, test.pvalue])
    several = sorted((p[key], key) for key in naive if key[0] == "objective")
    adjusted = 0.0
    for at, (value, key) in enumerate(several):
        p[key] = adjusted = max(adjusted, min(1.0, (len(several) - at) * value))
    for key, row in found.items():
        assert row[HOLM] == pytest.approx(p[key])
        word = LEVEL if p[key] >= 0.05 else "better" if row.difference > 0 else "worse"
        effect = f"{row.difference:+.4f} ({row.low:+.4f} to {row.high:+.4f}; p = {row[HOLM]:.2g})"
        if key[0] == "objective" and word == LEVEL and key[1] != chosen.setting.candidate:
            start = f"Objective, on the same trees: {LEVEL} from lambdarank in NDCG(k=10): "
            assert f"{key[1]} {effect}" in bullet(verdict, start)
        else:
            title = BULLETS[key[0]].format(system=key[1], baseline=row.baseline)
            assert f"- {title}: NDCG(k=10) {effect}, {word}." in verdict.splitlines()


def test_of_equal_settings_few_searches_claim_anything():
    """Though the best of the trees and of all settings is looked at: no more than one in twenty for each question."""
    asked, wrong, n = request(n=60), {"choice": 0, "trees": 0, "objective": 0, "label": 0}, 400
    for seed in range(n):
        frame, *_ = search(asked, seed, 0.0, [0.0] * 4, dict.fromkeys(NAMES, 0.0)).result()
        for question in wrong:
            wrong[question] += bool((frame[frame.question == question][HOLM] < 0.05).any())
    for question, times in wrong.items():
        assert stats.binomtest(times, n, 0.05, alternative="greater").pvalue > 0.01, (question, times)


def test_engines_are_compared_over_the_same_trees():
    asked, on_xgboost = request(None), "LambdaRank() on XGBoost"
    assert [one.name for one in asked.other_engines] == [on_xgboost] and asked.candidates[
        on_xgboost
    ].engine == "xgboost"
    drawn = search(asked, 0, 0.0, [0.0] * 4, {})
    for start in STARTS[:2]:
        drawn.add(on_xgboost, "trees", 0.05, start)
    drawn.add(on_xgboost, "objectives", -0.9, STARTS[0])
    frame, verdict, _ = drawn.result()
    row = frame[frame.question == "engine"].iloc[0]
    own, other = (np.mean([drawn.trials[at].values[0] for at in of], axis=0) for of in ((1, 2), (5, 6)))
    assert row.difference == pytest.approx((other - own).mean())
    said = f"Engine, mean over the same 2 trees: {on_xgboost} vs. LambdaRank(): NDCG(k=10) +0.0"
    assert bullet(verdict, said).endswith(", better.")


def test_what_is_missing_is_said():
    asked = request(positions=np.tile([1, 2], N))
    drawn = search(asked, 0, 0.0, [0.0] * 4, {"lambdarank": 0.0})
    failed = {"state": "failed", "error": "RuntimeError: no", "values": np.empty((0, 0))}
    verdict = drawn.add("rank_xendcg", "objectives", 0.0, STARTS[0], **failed).result()[1]
    assert "- Failed: rank_xendcg: RuntimeError: no.\n" in verdict
    assert f"- Not reached within the budget: ListNet(), {GRADED}.\n" in verdict
    assert "- Positions: not used by any candidate" in verdict
    assert f"- Measured by 5-fold cross-validation over the {N} queries of train, " in verdict
    alone = Drawn(asked).add("lambdarank", "default", 0.0).result()[1]
    assert alone.startswith("- Choice: lambdarank with LightGBM's default parameters.\n")


def test_a_reference_is_never_chosen():
    asked = request(["graded(0.1)"])
    assert asked.tree_candidate.name == GRADED and asked.candidates["LambdaRank()"].is_reference
    drawn = Drawn(asked).add(GRADED, "default", 0.0).add(GRADED, "trees", 0.0, STARTS[0])
    frame, _, chosen = drawn.add("LambdaRank()", "objectives", 0.3, STARTS[0]).result()
    assert chosen.setting.candidate == GRADED and set(frame.question) >= {"label"}
    assert "objective" not in set(frame.question)


def naive_shrunken(values, weight, candidate):
    """Best linear predictions of a nested random model by its covariance matrix, moments by loops over candidates."""
    known = [i for i in range(weight.size) if weight[i] > 0 and not np.isnan(values[:, i]).any()]
    x, w = values[:, known], weight[known]
    s, h = len(x), w / w.sum()
    y = np.array([sum(h * row) for row in x])
    noise = []
    for row in x:
        d = row - sum(x) / s
        terms = h**2 * (d - sum(h * d)) ** 2 / (1 - 2 * h + sum(h**2))
        noise.append(max(sum(terms) * s / (s - 1), 1e-24))
    noise = np.array(noise)
    groups = [np.flatnonzero(candidate == c) for c in sorted(set(candidate.tolist()))]
    a = naive_excess([(y[g], noise[g]) for g in groups])
    centres = [np.average(y[g], weights=1 / (a + noise[g])) for g in groups]
    variances = [1 / sum(1 / (a + noise[g])) for g in groups]
    b = naive_excess([(np.array(centres), np.array(variances))])
    same = np.equal.outer(candidate, candidate)
    effects = b * same + a * np.eye(s)
    inverse = np.linalg.inv(effects + np.diag(noise))
    mu = inverse.sum(axis=0) @ y / inverse.sum()
    return mu + effects @ inverse @ (y - mu)


def naive_excess(groups):
    """The variance of means within groups beyond their noise, by DerSimonian and Laird's moments."""
    found = free = scale = 0.0
    for means, noise in groups:
        w = 1 / noise
        found += sum(w * (means - np.average(means, weights=w)) ** 2)
        free += means.size - 1
        scale += sum(w) - sum(w**2) / sum(w)
    return max(0.0, (found - free) / scale) if free else 0.0


@pytest.mark.parametrize("seed", range(5))
def test_shrunken_means_are_the_best_linear_predictions(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(rng.normal(0, 0.1, 9)[:, None], 1, (9, 40)) + rng.normal(0, 1, 40)
    values[:, :3] = np.nan
    weight = rng.random(40) * (rng.random(40) < 0.9)
    naive = naive_shrunken(values, weight, np.zeros(9, dtype=int))
    np.testing.assert_allclose(shrunken(values, weight), naive, atol=1e-9)


def test_of_too_few_queries_there_is_no_interval():
    assert interval(np.array([0.1, 0.2]), np.ones(2)) == (-np.inf, np.inf)
    drawn = search(request(n=5), 0, 0.0, [0.1], {"lambdarank": 0.1})
    assert "too few queries for an interval" in drawn.result()[1]


def test_the_second_goal_goes_into_what_can_hold_it():
    both = NDCG(10), CNDCG(10)
    native = parse_candidates(["lambdarank"], ["lightgbm"])[0].objective
    assert add_second_goal(native, both, 0.2) == Scorecard(
        (LambdaRank(NDCG(10)), LambdaRank(CNDCG(10))), (0.8, 0.2)
    )
    assert add_second_goal(ClickTier(), both, 0.0) == ClickTier()
