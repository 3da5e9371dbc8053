"""`lambdaboost.tune`: the search, the choice and what it refuses."""

import re
import sys
import warnings
from dataclasses import replace

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from naive import naive_query_contents, naive_shrunken, naive_simplest
from scipy import stats

from lambdaboost import CNDCG, MAP, NDCG, ClickDCG, LambdaRank, Propensities, Queries, Tuned, load, tune
from lambdaboost._installed import engine_named
from lambdaboost.datasets import Collection, read_letor, web_search_log
from lambdaboost.datasets.digest import digest_of
from lambdaboost.native import read_objective
from lambdaboost.tuning import Choice, Front, Stopped
from lambdaboost.tuning import tuned as of_tuned
from lambdaboost.tuning.candidates import given, native
from lambdaboost.tuning.folds import drawn_folds, fold_of_query, joined, query_contents
from lambdaboost.tuning.progress import expected
from lambdaboost.tuning.request import Request
from lambdaboost.tuning.rounds import Curve
from lambdaboost.tuning.second_label import SecondLabel
from lambdaboost.tuning.shrunken import shrunken
from lambdaboost.tuning.space import Space
from lambdaboost.tuning.standard import standard
from lambdaboost.tuning.training import Trainings, is_worse, train_alone
from lambdaboost.tuning.trial import Trial

pytest.importorskip("optuna")
FEW = ["lambdarank", "LambdaRank", "rank:ndcg"]
LOG = web_search_log(90, documents=15, seed=3)
TRAIN, VALID, TEST = LOG.take(range(50)), LOG.take(range(50, 75)), LOG.take(range(75, 90))
CHEAP = {"objectives": FEW, "settings": 6, "rounds": 20, "patience": 5, "workers": 1}
QUICK = CHEAP | {"split": "given"}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return tmp_path_factory.mktemp("tune") / "study.log"


@pytest.fixture(scope="module")
def tuned(study):
    return tune(TRAIN, VALID, study=study, **QUICK)


def scores(tuned, data):
    return engine_named(tuned.engine).scores(tuned.booster, data.features)


def test_a_search_tries_the_defaults_first_and_keeps_its_budget(tuned):
    trials = tuned.trials
    assert list(trials.trial) == list(range(6))
    assert trials.candidate[0] == "lambdarank" and tuned.results[0].own and np.isnan(trials.learning_rate[0])
    assert set(trials.candidate) == {"lambdarank", "LambdaRank()", "rank:ndcg"}
    assert (trials.folds == 1).all()


def test_the_result_is_a_plain_model_with_its_setting(tuned):
    assert isinstance(tuned, Tuned)
    assert type(tuned.booster).__module__.split(".")[0] == tuned.engine
    assert engine_named(tuned.engine).n_rounds(tuned.booster) == tuned.rounds
    assert repr(tuned).startswith(f"Tuned({tuned.objective!r}")
    row = tuned.finalists.iloc[0]
    assert row["shrunken mean"] == max(tuned.choice.shrunken.values())
    # More data need more rounds.
    documents = TRAIN.queries.n_documents + VALID.queries.n_documents
    assert tuned.rounds == max(1, round(row["rounds"] * documents / TRAIN.queries.n_documents))


def test_the_values_are_those_of_the_measured_model(study, tuned):
    kept = tune(TRAIN, VALID, study=study, refit=False, **QUICK)
    values = NDCG(10).per_query(scores(kept, VALID.shuffled(0)), VALID.shuffled(0).queries)
    assert np.allclose(values, kept.choice.best.values[0], rtol=0, atol=1e-12)
    assert kept.rounds == kept.finalists["rounds"].iloc[0]


def test_a_finished_study_is_not_trained_again(study, tuned, monkeypatch):
    before = study.read_bytes()
    monkeypatch.setattr(Trainings, "run", lambda *_: pytest.fail("a trial was repeated"))
    again = tune(TRAIN, VALID, study=study, **QUICK)
    assert study.read_bytes() == before
    assert again.trials.equals(tuned.trials)
    assert np.array_equal(scores(again, TEST), scores(tuned, TEST))


def test_a_killed_search_resumes_bit_for_bit(study, tuned, tmp_path):
    """The journal ends in the middle of the line of trial 4."""
    lines = study.read_bytes().splitlines(keepends=True)
    of_trials = [at for at, line in enumerate(lines) if b'"number":' in line]
    killed = tmp_path / "killed.log"
    killed.write_bytes(b"".join(lines[: of_trials[4]]) + lines[of_trials[4]][:200])
    whole = tune(TRAIN, VALID, study=killed, **QUICK)
    columns = [*whole.trials.columns.drop("seconds")]
    assert whole.trials[columns].equals(tuned.trials[columns])
    assert np.array_equal(scores(whole, TEST), scores(tuned, TEST))
    assert len(killed.read_bytes().splitlines()) == len(lines)


def test_trials_of_another_study_are_left_out(study, tuned, tmp_path, monkeypatch):
    """Copied in, changed, or twice there: none counts."""
    other = tmp_path / "other.log"
    tune(TRAIN, VALID, study=other, **(QUICK | {"seed": 1, "settings": 1}))
    trials = [
        [line for line in path.read_bytes().splitlines(keepends=True) if b'"number":' in line]
        for path in (study, other)
    ]
    mixed = tmp_path / "mixed.log"
    changed = trials[0][2].replace(b'"candidate":', b'"candidate":-')
    better = re.sub(rb'"value":0[.]', b'"value":2.', trials[0][2])
    mixed.write_bytes(b"".join([study.read_bytes(), *trials[1], changed, better, trials[0][1]]))
    monkeypatch.setattr(Trainings, "run", lambda *_: pytest.fail("a trial was repeated"))
    with pytest.warns(UserWarning, match="mixed.log: 4 trials of another study, twice there, or changed"):
        found = tune(TRAIN, VALID, study=mixed, **QUICK)
    assert found.trials.equals(tuned.trials)


@pytest.mark.parametrize("refit", [True, False])
def test_the_script_trains_the_same_model(study, tuned, refit, tmp_path, monkeypatch):
    found = tuned if refit else tune(TRAIN, VALID, study=study, refit=False, **QUICK)
    monkeypatch.chdir(tmp_path)
    names = {"train": TRAIN, "valid": VALID}
    assert len([line for line in found.script().splitlines() if line and line[0] != "#"]) <= 10
    exec(found.script(), names)
    again = engine_named(found.engine).scores(names["booster"], TEST.features)
    assert np.array_equal(again, scores(found, TEST))


def test_positions_that_no_candidate_reads_are_left_out_of_training_and_script(tmp_path, monkeypatch):
    def shown(data):
        q = data.queries
        position = np.concatenate([np.arange(1, size + 1) for size in q.sizes])
        return replace(data, queries=Queries(q.relevance, q.sizes, position=position))

    given = QUICK | {"settings": 1, "objectives": ["lambdarank"]}
    found = tune(shown(TRAIN), shown(VALID), **given)
    monkeypatch.chdir(tmp_path)
    names = {"train": shown(TRAIN), "valid": shown(VALID)}
    exec(found.script(), names)
    assert np.array_equal(names["booster"].predict(TEST.features), scores(found, TEST))
    bare = tune(
        *(
            replace(part, queries=Queries(part.queries.relevance, part.queries.sizes))
            for part in (TRAIN, VALID)
        ),
        **given,
    )
    assert np.array_equal(scores(bare, TEST), scores(found, TEST))


def test_positions_that_only_a_measure_reads_are_kept_from_trainings_also_in_outer_folds():
    def shown(data):
        q = data.queries
        position = np.concatenate([np.arange(1, size + 1) for size in q.sizes])
        return replace(
            data, queries=Queries(q.relevance, q.sizes, position=position, clicks=q.labels["clicks"])
        )

    measures = [NDCG(10), ClickDCG(5, Propensities.power(1, 60))]
    given = QUICK | {"settings": 1, "objectives": ["lambdarank"]}
    found = tune(shown(TRAIN), shown(VALID), measure=measures, nested=2, **given)
    assert np.isfinite([found.held_out.mean(at) for at in (0, 1)]).all()
    assert "without_positions()" in found.script()


def test_a_saved_model_is_read_with_its_verdict(tuned, tmp_path):
    tuned.save(tmp_path / "model.txt")
    saved = load(tmp_path / "model.txt")
    assert repr(saved.objective) == repr(tuned.objective)
    assert saved.about["tuning"]["verdict"] == tuned.verdict
    assert saved.about["tuning"]["settings"] == 6
    shown = {one["candidate"]: one["shrunken mean"] for one in saved.about["tuning"]["finalists"]}
    assert shown == pytest.approx({one.name: one.shrunken for one in tuned.choice.finalists})


def test_the_page_shows_all_of_it(tuned, tmp_path):
    page = tuned.page(tmp_path / "page.html").read_text(encoding="utf-8")
    for text in (
        "How sure the choice is",
        "What was tried",
        "These lines train",
    ):
        assert text in page
    assert page.count("<svg") == 0


def test_optunas_own_pictures_take_the_study(tuned):
    matplotlib = pytest.importorskip("matplotlib")
    from matplotlib import pyplot
    from optuna.visualization import matplotlib as pictures

    with matplotlib.rc_context({"backend": "agg"}), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that they are experimental
        axes = pictures.plot_slice(tuned.study, params=["learning_rate"])
        assert len(axes.collections[0].get_offsets()) == 6
        pyplot.close("all")


def test_several_measures_give_a_front(tmp_path):
    found = tune(
        TRAIN, VALID, measure=[NDCG(10), CNDCG(10)], **(QUICK | {"objectives": ["LambdaRank", "graded"]})
    )
    front = found.front
    points = front[["NDCG(k=10)", "CNDCG(k=10)"]].to_numpy()
    everything = found.trials.loc[found.trials.state == "complete", ["NDCG(k=10)", "CNDCG(k=10)"]].to_numpy()
    for point in points:
        assert not ((everything >= point).all(axis=1) & (everything > point).any(axis=1)).any()
    first = found.trade_off.on[0]
    for trial, lossless in zip(found.trade_off.on, front["no significant loss of NDCG(k=10)"], strict=True):
        test = stats.ttest_rel(trial.values[0], first.values[0])
        assert lossless == (trial is first or not (test.statistic < 0 and test.pvalue < 0.05))
    assert found.chosen is found.trade_off.balanced
    loss = found.trade_off.loss
    assert (loss == "") == (found.chosen is found.trade_off.on[0])
    assert found.about().get("trade_off", "") == loss
    assert "Trade-off" in found.page(tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("valid", [None, VALID])
def test_cross_validation_measures_every_query_once(valid):
    data = TRAIN if valid is None else joined(TRAIN, valid)
    found = tune(TRAIN, valid, folds=3, **(CHEAP | {"objectives": ["lambdarank"], "settings": 3}))
    assert len(found.trials) == 3 and found.request.weight.size == data.queries.n_queries
    complete = [trial for trial in found.results if trial.is_complete]
    assert len(complete) >= 1
    assert all(trial.folds == 3 and not np.isnan(trial.values).any() for trial in complete)
    assert found.rounds == max(1, round(found.chosen.rounds * data.queries.n_documents / _trained_on(found)))
    assert (
        f"3 folds of {data.queries.n_queries} queries, those of train{' and valid' * (valid is not None)}."
        in found.verdict
    )


@pytest.mark.parametrize("objective", ["lambdarank", "LambdaRank", "rank:ndcg"])
def test_all_folds_of_a_setting_have_the_rounds_that_are_best_for_all_queries_together(objective):
    """By training each fold to its end: the mean over all queries after each round."""
    weight = np.repeat(np.random.default_rng(1).integers(1, 4, 50), TRAIN.queries.sizes)
    q = TRAIN.queries
    data = replace(TRAIN, queries=Queries(q.relevance, q.sizes, weight=weight))
    found = tune(data, folds=3, **(CHEAP | {"objectives": [objective], "settings": 1, "patience": 30}))
    engine, trial = engine_named(found.engine), found.chosen
    values = np.empty((20, 50))
    for fold in found.request.parts:
        model = train_alone(found.engine, found.objective, found.params, 20, fold.train)
        for rounds in range(20):
            scored = engine.scores(model, fold.valid.features, rounds + 1)
            values[rounds, fold.queries] = NDCG(10).per_query(scored, fold.valid.queries)
    means = np.average(values, axis=1, weights=data.queries.query_weight)
    assert trial.rounds == 1 + means.argmax()
    assert np.allclose(trial.values[0], values[trial.rounds - 1], rtol=0, atol=1e-12)


def test_a_fold_goes_on_until_the_mean_over_the_folds_stalls_and_not_beyond_those_before():
    rng = np.random.default_rng(0)
    curve, means, n = Curve(), [], 50
    for weight in (3.0, 0.0, 1.0, 2.0):
        own = rng.random(n)
        ended = next((t for t in range(1, n + 1) if curve.joined(own[:t], weight).stalls(8)), n)
        curve = curve.joined(own[:ended], weight)
        n = len(curve.values)
        means.append((own, weight))
        by_hand = np.average([own[:n] for own, _ in means], axis=0, weights=[weight for _, weight in means])
        assert np.allclose(curve.values, by_hand) and curve.best == 1 + by_hand.argmax()
    assert Curve().best == 1


def _trained_on(found):
    return np.mean([fold.train.queries.n_documents for fold in found.request.parts])


def test_every_candidate_is_trained_to_its_end_once_though_it_is_clearly_worse():
    found = tune(
        TRAIN, folds=2, **(CHEAP | {"objectives": ["LambdaRank", "LambdaRank(WTA())"], "settings": 2})
    )
    assert list(found.trials.state) == ["complete", "complete"]
    assert found.choice.left == found.choice.untried == ()


def test_ctrl_c_while_the_choice_is_trained_again_gives_the_measured_model(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(of_tuned, "train_alone", interrupted)
    with pytest.raises(Stopped, match="stopped after 1 setting;") as stopped:
        tune(TRAIN, VALID, **(QUICK | {"settings": 1}))
    monkeypatch.undo()
    best = stopped.value.finish()
    assert not best.request.refit and best.rounds == best.finalists["rounds"].iloc[0]


def test_one_objective_may_be_given_alone():
    assert given("LambdaRank", ["lightgbm"]) == given([LambdaRank()], ["lightgbm"])


def test_held_out_values_are_of_models_that_have_not_seen_the_query():
    found = tune(TRAIN, VALID, nested=2, **(QUICK | {"objectives": ["lambdarank"], "settings": 1}))
    assert found.held_out.values.shape == (1, 75)
    assert not np.isnan(found.held_out.values).any()
    low, high = found.held_out.interval()
    assert low < found.held_out.mean() < high
    assert found.held_out.mean() == pytest.approx(found.held_out.values.mean())


def test_workers_train_the_same_defaults():
    one = tune(TRAIN, VALID, **(QUICK | {"objectives": ["lambdarank", "rank_xendcg"], "settings": 2}))
    two = tune(
        TRAIN, VALID, **(QUICK | {"objectives": ["lambdarank", "rank_xendcg"], "settings": 2, "workers": 2})
    )
    columns = ["candidate", "NDCG(k=10)", "rounds"]
    assert two.trials[columns].equals(one.trials[columns])


def test_fixed_parameters_are_not_searched():
    params = {"num_leaves": np.int64(5), "lambdarank_truncation_level": np.int32(5)}
    found = tune(
        TRAIN,
        VALID,
        engine="lightgbm",
        params=params,
        **(QUICK | {"objectives": ["lambdarank"], "settings": 5}),
    )
    assert not {"max_leaves", "truncation"} & {*found.trials.columns}
    assert found.params["num_leaves"] == 5 and found.params["lambdarank_truncation_level"] == 5
    assert not any("truncation" in name or "leaves" in name for name in found.study.best_params)
    assert "np." not in found.script() and "np." not in repr(found.params)


def test_every_knob_of_an_engine_can_be_fixed_under_each_of_its_names():
    for engine in ("lightgbm", "xgboost"):
        for candidate in standard([NDCG(3)], [engine], ["clicks"]):
            knobs = Space(1000).knobs(candidate)
            for name, knob in knobs.items():
                for fixed in knob.params:
                    space = Space(1000, (fixed,))
                    assert name not in space.knobs(candidate)
                    values = space.values(candidate, space.start(candidate))
                    assert not set(knob.params) & set(space.params(candidate, values))


def test_a_search_may_be_asked_for_by_generators(tmp_path, monkeypatch):
    study = tmp_path / "study.log"

    def nested():
        return tune(
            TRAIN,
            VALID,
            nested=2,
            study=study,
            measure=(m for m in ["ndcg@10"]),
            **(QUICK | {"objectives": (name for name in ["lambdarank"]), "settings": 1}),
        )

    found = nested()
    assert found.held_out.values.shape == (1, 75)
    monkeypatch.setattr(Trainings, "run", lambda *_: pytest.fail("a trial was repeated"))
    assert np.array_equal(nested().held_out.values, found.held_out.values)


def test_a_source_may_have_any_name():
    def renamed(data):
        q = data.queries
        return replace(data, queries=Queries(q.relevance, q.sizes, **{"a{b}": q.labels["clicks"]}))

    found = tune(
        renamed(TRAIN),
        renamed(VALID),
        engine="lightgbm",
        **(QUICK | {"objectives": None, "settings": 1, "rounds": 2}),
    )
    assert any("a{b}" in candidate.name for candidate in found.request.candidates)


def test_no_more_processes_than_processors_and_trials(tuned):
    for settings, most in ((1, 1), (2, 2), (1000, joblib.cpu_count())):
        assert replace(tuned.request, settings=settings, workers=64).n_workers <= most


# The parts.


def trial(number, candidate, values, state="complete"):
    values = np.atleast_2d(np.asarray(values, dtype=float))
    return Trial(number, candidate, {}, {}, state, values, tuple(values.mean(axis=1)), (1,))


def test_contents_find_equal_queries_whatever_their_order_and_storage():
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 2)).astype(np.float32)
    q = Queries(rng.integers(0, 2, 60), sizes=[3] * 20)
    found, naive = query_contents(Collection(X, q)), naive_query_contents(X, q)
    assert len(set(naive)) < 20
    for a in range(20):
        for b in range(20):
            assert (found[a] == found[b]) == (naive[a] == naive[b])
    assert np.array_equal(found, query_contents(Collection(csr_matrix(X), q)))
    assert np.array_equal(found, query_contents(Collection(X.astype(np.float64), q).shuffled(1)))
    assert digest_of([Collection(X, q)]) != digest_of([Collection(X, q).shuffled(1)])


def test_contents_see_every_sign():
    X, q = np.ones((2, 9)), Queries([0, 1], sizes=[2])
    contents = {int(query_contents(Collection(X, q))[0])}
    for column in range(9):
        flipped = X.copy()
        flipped[1, column] = -1
        contents.add(int(query_contents(Collection(flipped, q))[0]))
    assert len(contents) == 10


def test_digests_see_positions_and_where_a_part_ends():
    X, grades = np.ones((4, 1)), [0, 1, 0, 1]
    digests = {
        digest_of([Collection(X, Queries(grades, sizes=[2, 2]))]),
        digest_of([Collection(X, Queries(grades, sizes=[2, 2], position=[1, 2, 1, 2]))]),
        digest_of([Collection(X, Queries(grades, sizes=[2, 2], position=[2, 1, 1, 2]))]),
        digest_of(
            [
                Collection(X[:2], Queries(grades[:2], sizes=[2])),
                Collection(X[2:], Queries(grades[2:], sizes=[2])),
            ]
        ),
    }
    assert len(digests) == 4


def test_folds_keep_equal_queries_together():
    twice = Collection.concat([_unnamed(TRAIN), _unnamed(TRAIN)])
    fold = fold_of_query(twice, 4, seed=0)
    assert np.array_equal(fold[:50], fold[50:])
    assert np.bincount(fold).min() >= 24
    folds = drawn_folds(TRAIN, 3, seed=0)
    assert np.array_equal(np.sort(np.concatenate([f.queries for f in folds])), np.arange(50))


def _unnamed(data):
    return Collection(data.features, Queries(data.queries.relevance, data.queries.sizes))


def test_the_simplest_is_within_one_standard_error_of_the_paired_difference():
    rng = np.random.default_rng(1)
    candidates = given(["RankNet", "LambdaRank", "ListNet", "XENDCG"], ["lightgbm"])
    base = rng.random(200)
    for spread in (0.01, 0.1, 0.5):
        values = base + np.array([[0.0], [0.01], [0.02], [0.03]]) + spread * rng.standard_normal((4, 200))
        trials = [trial(at, at, of_one) for at, of_one in enumerate(values)]
        choice = Choice(NDCG(10), candidates, trials, np.ones(200))
        means = naive_shrunken(values, np.ones(200), np.arange(4)).round(12)
        order = np.lexsort((-values.mean(axis=1), -means))
        assert choice.best.candidate == order[0]
        assert choice.simplest.candidate == naive_simplest(values, values[order[0]])


OBJECTIVES = given(["RankNet", "LambdaRank", "ListNet", "XENDCG", "LambdaLoss"], ["lightgbm"])


def drawn_trials(rng, n):
    """Trials of the five objectives by `n` queries: a mean, a distance and a noise each; some are tried twice."""
    base = rng.random(n)
    trials = []
    for at in range(5):
        shift, noise = rng.choice([0, 0.002, 0.05, 0.2]), rng.choice([0.0005, 0.02, 0.2])
        for _ in range(rng.integers(0 if at else 1, 3)):
            values = base - shift + noise * rng.standard_normal(n)
            trials.append(
                trial(len(trials), at, values, state=rng.choice(["complete", "complete", "pruned"]))
            )
    return trials if any(t.is_complete for t in trials) else drawn_trials(rng, n)


@pytest.mark.parametrize("seed", range(60))
def test_every_phrase_of_the_verdict_is_true(seed):
    rng = np.random.default_rng(seed)
    trials = drawn_trials(rng, int(rng.choice([12, 40, 400])))
    choice = Choice(NDCG(10), OBJECTIVES, trials, np.ones(trials[0].values.shape[1]))
    assert choice.verdict == naive_verdict(trials)
    assert ("highest of several" in choice.caveat) == (len(trials) > 1)


def naive_verdict(trials):
    """The verdict by scipy's paired t-tests and a loop for Holm's method."""
    names = [candidate.name for candidate in OBJECTIVES]
    done = [t for t in trials if t.is_complete]
    values, of = np.stack([t.values[0] for t in done]), np.array([t.candidate for t in done])
    means = shrunken(values, np.ones(values.shape[1]), of).round(12)
    means = {t.number: (mean, t.means[0]) for t, mean in zip(done, means, strict=True)}
    bests = {}
    for at in range(5):
        own = [t for t in done if t.candidate == at]
        if own:
            bests[names[at]] = max(own, key=lambda t: (*means[t.number], -t.number))
    order = sorted(
        bests, key=lambda name: (*(-mean for mean in means[bests[name].number]), bests[name].number)
    )
    bests = {name: trial.values[0] for name, trial in bests.items()}
    missing = [name for name in names if name not in bests]
    best, *others = order
    left = [name for name in missing if any(names[t.candidate] == name for t in trials)]
    untried = [name for name in missing if name not in left]
    more = f" and {len(untried) - 3} more" if len(untried) > 3 else ""
    without = (f" Left after some folds, as clearly worse: {', '.join(map(repr, left))}." if left else "") + (
        f" The budget did not reach {', '.join(map(repr, untried[:3]))}{more}." if untried else ""
    )
    if not others:
        return f"Only {best} was trained to the end: there is nothing to compare it with.{without}"
    n = bests[best].size
    tests = {name: stats.ttest_rel(bests[name], bests[best]) for name in others}
    # Fewer queries than signs would need: a test is never surer than by flipping signs.
    p = {name: max(test.pvalue, 2 * 0.5**n) for name, test in tests.items()}
    adjusted, highest = {}, 0.0
    for at, name in enumerate(sorted(p, key=p.__getitem__)):
        highest = adjusted[name] = max(highest, min(1.0, (len(p) - at) * p[name]))
    tried = {name: sum(names[t.candidate] == name for t in trials) for name in others}
    worse = [name for name in others if adjusted[name] < 0.05 and tests[name].statistic < 0]
    equal = [name for name in others if name not in worse]
    loss = {
        name: max(0.0, -tests[name].confidence_interval(0.95).low / abs(bests[best].mean())) for name in equal
    }
    will_do = [name for name in equal if loss[name] <= 0.01]
    unclear = [name for name in equal if loss[name] > 0.01]
    said = []
    if worse:
        of = [
            f"{name} ({tried[name]} trial{'s' * (tried[name] > 1)}, p = {adjusted[name]:.2g})"
            for name in worse
        ]
        said.append(f"{best} is better than {', '.join(of)}.")
    if will_do:
        said.append(f"Any of these will do, within 1% of the best: {', '.join([best, *will_do])}.")
    if unclear:
        largest = max(loss[name] for name in unclear)
        said.append(
            f"The queries are too few to tell {best} from {', '.join(unclear)}: losses of up to {largest:.1%} are "
            "possible."
        )
    compared = Choice(NDCG(10), OBJECTIVES, trials, np.ones(n)).comparison
    return f"{' '.join(said)} (NDCG(k=10) of {n} validation queries, {compared.criterion}.){without}"


def test_verdict_and_page_count_the_queries_with_a_weight_and_a_value(tmp_path):
    q, counts = LOG.queries, np.arange(90) % 3 > 0
    grades = np.where(q.query_of_row % 9 == 1, 0, q.relevance)
    data = replace(LOG, queries=Queries(grades, q.sizes, weight=np.repeat(counts, q.sizes)))
    given = CHEAP | {"objectives": ["LambdaRank", "RankNet"], "settings": 2, "folds": 2}
    found = tune(data, measure=NDCG(10, empty=float("nan")), **given)
    n = int((counts & (np.maximum.reduceat(grades, q.offsets[:-1]) > 0)).sum())
    assert 0 < n < counts.sum() == 60
    assert f"of {n} validation queries" in found.verdict and "2 folds of 60 queries" in found.verdict
    assert f"means over {n} validation queries" in found.page(tmp_path / "page.html").read_text("utf-8")


def test_a_verdict_does_not_depend_on_the_unit_of_the_measure():
    for seed in range(20):
        trials = drawn_trials(np.random.default_rng(seed), 40)
        larger = [trial(t.number, t.candidate, 30 * t.values, t.state) for t in trials]
        one, other = (Choice(NDCG(10), OBJECTIVES, given, np.ones(40)).verdict for given in (trials, larger))
        assert one == other


LABELS = [
    given([text], ["lightgbm"])[0] for text in ("lambdarank", "LambdaRank", "graded(0.1)", "graded(0.3)")
]
BOTH = (NDCG(10), CNDCG(10))


@pytest.mark.parametrize("seed", range(60))
def test_every_phrase_about_a_second_label_is_true(seed):
    """By scipy's paired t-tests and Holm's method over the measures; the trial with several labels by a loop."""
    rng = np.random.default_rng(seed)
    n, measures = int(rng.choice([15, 60, 600])), BOTH[: 1 + seed % 2]
    base, trials = 0.5 + 0.1 * rng.standard_normal((len(measures), n)), []
    for number in range(8):
        shift, noise = rng.choice([-0.03, 0, 0.03], (len(measures), 1)), rng.choice([0.001, 0.05])
        values = base + shift + noise * rng.standard_normal(base.shape)
        trials.append(Trial(number, number % 4, {}, {}, "complete", values, tuple(values.mean(axis=1)), (5,)))
    found = SecondLabel(measures, tuple(LABELS), tuple(trials), np.ones(n))
    one = max((t for t in trials if t.candidate < 2), key=lambda t: t.means[0])
    several = sorted((t for t in trials if t.candidate > 1), key=lambda t: -t.means[0])
    chosen = several[0]
    if len(measures) == 2:
        tests = [stats.ttest_rel(t.values[0], one.values[0]) for t in several]
        kept = [t for t, s in zip(several, tests, strict=True) if not (s.statistic < 0 and s.pvalue < 0.05)]
        higher = [t for t in kept if t.means[1] > one.means[1]]
        chosen = max(higher, key=lambda t: t.means[1]) if higher else several[0]
    assert found.pair == (one, chosen)
    tests = [stats.ttest_rel(chosen.values[at], one.values[at]) for at in range(len(measures))]
    p = [test.pvalue for test in tests]
    adjusted = p if len(p) == 1 else [min(1, max(2 * min(p), p[at])) for at in range(2)]
    sign = [np.sign(test.statistic) * (a < 0.05) for test, a in zip(tests, adjusted, strict=True)]
    raised = ", ".join(repr(m) for m, s in zip(measures, sign, strict=True) if s > 0)
    lowered = ", ".join(repr(m) for m, s in zip(measures, sign, strict=True) if s < 0)
    intervals = [test.confidence_interval(0.95) for test in tests]
    if raised or lowered:
        joint = " and " * bool(raised and lowered)
        said = f"A second label {f'raises {raised}' * bool(raised)}{joint}{f'lowers {lowered}' * bool(lowered)}: "
    elif all(i.high <= 0.01 * abs(mean) for i, mean in zip(intervals, one.means, strict=True)):
        said = "A second label does not help here, or by 1% at most: "
    else:
        said = "The queries are too few to tell whether a second label helps: "
    said += f"{LABELS[chosen.candidate].name} against {LABELS[one.candidate].name} "
    said += ", ".join(
        f"{m!r} {c - o:+.4f} (95% interval {i.low:+.4f} to {i.high:+.4f})"
        for m, c, o, i in zip(measures, chosen.means, one.means, intervals, strict=True)
    )
    assert found.verdict == f"{said}."


def test_of_too_few_queries_no_interval_is_shown():
    values = np.random.default_rng(0).random((2, 1, 5))
    trials = tuple(trial(at, (0, 2)[at], of) for at, of in enumerate(values))
    said = SecondLabel((NDCG(10),), tuple(LABELS), trials, np.ones(5)).verdict
    assert "(too few queries for a 95% interval)" in said and "inf" not in said


def test_without_a_candidate_of_two_labels_nothing_is_said_of_them(tuned):
    assert (
        tuned.second_label.pair is None
        and tuned.verdict == f"{tuned.choice.verdict} {tuned.worth} {tuned.selection}"
    )
    assert tuned.selection == "Settings were compared on the 25 queries of valid."
    found = tune(
        TRAIN, VALID, measure=[NDCG(10), CNDCG(10)], **(QUICK | {"objectives": ["LambdaRank", "graded"]})
    )
    assert found.second_label.verdict in found.verdict and "second label" in found.verdict


def as_frame(data, make):
    """The columns of a collection, with a categorical one and positions."""
    q = data.queries
    columns = {name: data.features[:, i] for i, name in enumerate(data.feature_names)}
    columns["market"] = np.array(["de", "fr", "us"])[(q.query_of_row + np.arange(q.n_documents)) % 3]
    columns |= {"query": q.query_of_row + 100, "ctr": q.labels["clicks"]}
    columns["rank"] = np.concatenate([np.arange(1, size + 1) for size in q.sizes])
    frame = pd.DataFrame(columns).astype({"market": "category"})
    return make(frame)


MAKE = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
def test_frames_of_every_kind_are_searched_alike(engine, tmp_path):
    """One reader with `fit`: columns by name, categories, positions and weights; and as the same collections."""
    weight = np.repeat(np.random.default_rng(0).random(50) + 0.5, TRAIN.queries.sizes)
    named = {"query": "query", "sources": {"clicks": "ctr"}, "position": "rank", "engine": engine}
    few = QUICK | {"settings": 2, "objectives": ["LambdaRank", "graded"]}
    found = {}
    for kind, make in MAKE.items():
        train, valid = as_frame(TRAIN, make), as_frame(VALID.take(range(24, -1, -1)), make)
        grades = TRAIN.queries.relevance, VALID.take(range(24, -1, -1)).queries.relevance
        found[kind] = tune(train, grades[0], valid=(valid, grades[1]), sample_weight=weight, **named, **few)
        one = found[kind]
        assert one.request.train.categories == {"market": ("de", "fr", "us")}
        assert (
            np.array_equal(one.request.weight, np.ones(25)) and one.request.train.queries.weight is not None
        )
        assert {"position", "clicks"} <= set(one.request.train.queries.columns.split(", "))
        one.save(tmp_path / kind)
        assert load(tmp_path / kind).about["categories"] == {"market": ["de", "fr", "us"]}
    pandas = as_frame(TEST, MAKE["pandas"])
    scored = [load(tmp_path / kind).predict(as_frame(TEST, make)) for kind, make in MAKE.items()]
    shuffled = pandas.assign(market=pandas.market.cat.reorder_categories(["us", "fr", "de"]))[
        pandas.columns[::-1]
    ]
    scored += [load(tmp_path / "polars").predict(shuffled), scores(found["pandas"], codes_of(TEST, pandas))]
    assert all(np.array_equal(one, scored[0]) for one in scored)
    request = found["pandas"].request
    same = tune(request.train, request.valid, engine=engine, **few)
    assert same.trials.drop(columns="seconds").equals(found["pandas"].trials.drop(columns="seconds"))
    made = {"train": request.train, "valid": request.valid}
    exec(found["polars"].script(out=str(tmp_path / "again.ubj")), made)
    assert np.array_equal(
        engine_named(engine).scores(made["booster"], codes_of(TEST, pandas).features), scored[0]
    )
    files = [engine_named(engine).write(one, ".ubj") for one in (made["booster"], found["polars"].booster)]
    assert files[0] == files[1]
    with pytest.raises(
        ValueError, match="valid: column 'market' is 'xx' in row 3, none of its categories in training"
    ):
        bad = pandas.assign(market=np.where(np.arange(len(pandas)) == 3, "xx", pandas.market))
        tune(train, grades[0], valid=(bad, TEST.queries.relevance), **named, **few)


def codes_of(data, frame):
    return replace(
        data, features=np.column_stack([data.features, frame.market.cat.codes]), feature_names=None
    )


def test_arrays_are_searched_with_their_queries_beside():
    q = TRAIN.queries
    few = QUICK | {"settings": 2, "objectives": ["LambdaRank", "graded"]}
    arrays = {"group": q.sizes, "sources": {"clicks": q.labels["clicks"]}}
    one = tune(TRAIN.features, q.relevance, valid=VALID_BARE, **arrays, **few)
    two = tune(replace(TRAIN, feature_names=None), VALID_BARE, **few)
    assert one.trials["NDCG(k=10)"].tolist() == two.trials["NDCG(k=10)"].tolist()
    refused(
        "train is a Collection without y, so group= has no use: leave it out",
        TRAIN,
        VALID,
        group=q.sizes,
        kind=TypeError,
    )
    refused("train is a DataFrame, expected a Collection, or a table and its", pd.DataFrame(), kind=TypeError)
    refused("train has no rows: give", pd.DataFrame(), [])
    refused("train is a ndarray, expected", TRAIN.features, group=q.sizes, kind=TypeError)
    refused("train has no column 'query' \\(did you", pd.DataFrame({"qeury": [1]}), [1], query="query")
    refused("valid is a DataFrame, expected", TRAIN, valid=pd.DataFrame(), kind=TypeError)


VALID_BARE = replace(VALID, feature_names=None)


def test_a_trial_is_left_only_if_it_is_clearly_worse():
    rng = np.random.default_rng(2)
    rival, ones = rng.random(100), np.ones(100)
    assert not is_worse(rival, None, ones)
    assert not is_worse(rival - 0.001 + 0.1 * rng.standard_normal(100), rival, ones)
    half = np.where(np.arange(100) < 50, rival - 0.1 + 0.01 * rng.standard_normal(100), np.nan)
    assert is_worse(half, rival, ones)
    assert not is_worse(rival + 0.1, rival, ones)
    # Queries of no weight or no value do not count, and others by their weight.
    assert not is_worse(rival - 0.1, np.full(100, np.nan), ones)
    assert not is_worse(half, rival, np.where(np.arange(100) < 50, 0.0, 1.0))
    few = np.arange(100) < 40
    mixed = np.where(few, rival - 0.05, rival + 0.05)
    assert not is_worse(mixed, rival, ones)
    assert is_worse(mixed, rival, np.where(few, 5.0, 1.0))


@pytest.mark.slow
def test_equal_settings_are_seldom_left_whatever_the_weights():
    rng = np.random.default_rng(3)
    for weight in (np.ones(60), rng.pareto(1.5, 60) + 0.1):
        left = [is_worse(rng.standard_normal(60), rng.standard_normal(60), weight) for _ in range(500)]
        assert np.mean(left) < 0.08


def test_the_time_is_said_beforehand(tuned):
    request = replace(tuned.request, split=None, settings=20, workers=1)
    assert expected(request, 0, 3.0) == "20 settings in 5 folds: at most 100 trainings, about 5 min"
    assert expected(request, 18, 1.0) == "2 settings in 5 folds: at most 10 trainings, about 10 s"
    assert expected(replace(request, minutes=2.0), 0, 9.0).endswith("about 2 min")
    unlimited = replace(request, settings=None, minutes=2.0)
    assert expected(unlimited, 0, 9.0) == "settings in 5 folds, 45 s each at most, for 2 min"


@pytest.mark.parametrize("engines", [["lightgbm"], ["xgboost"], ["lightgbm", "xgboost"]])
@pytest.mark.parametrize("measure", [NDCG(10), NDCG(3, gain="linear"), MAP(), CNDCG(5)])
def test_every_standard_candidate_reads_back_and_has_its_own_name(engines, measure):
    candidates = standard([measure], engines, ["clicks", "{sales}"])
    names = [candidate.name for candidate in candidates]
    assert len(set(names)) == len(names)
    for candidate in candidates:
        assert candidate.engine in engines
        space = Space(1000)
        start = space.values(candidate, space.start(candidate))
        assert all(knob.low <= knob.start <= knob.high for knob in space.knobs(candidate).values())
        assert set(space.params(candidate, start)) <= engine_named(candidate.engine).PARAMETERS
        assert candidate.objective_with(start) == candidate.objective
        low = {knob.name: knob.low for knob in candidate.knobs}
        rule = candidate.objective_with(low)
        assert (rule != candidate.objective) == any(knob.field for knob in candidate.knobs)
        assert read_objective(repr(rule)) == rule


def request_for(data, engines):
    """A search of the standard candidates, cross-validated."""
    return Request(data, None, None, (NDCG(),), None, engines, {}, 20, None, 2, 10, 5, None, True, 0, 1, 0)


def test_candidates_that_cannot_take_the_data_are_left_out():
    X = np.arange(8.0)[:, None]
    many = Collection(X, Queries([0, 40, 1, 0.5, 0, 1, 2, 3], sizes=[4, 4]))
    asked = request_for(many, ("lightgbm", "xgboost"))
    assert {"lambdarank", "rank_xendcg", "rank:ndcg"} == asked.left_out.keys()
    assert {"LambdaRank()", "rank:pairwise"} <= {candidate.name for candidate in asked.candidates}
    paid = Collection(X, Queries([0, 1] * 4, sizes=[4, 4], paid=[0, 7.0] * 4))
    left_out = request_for(paid, ("lightgbm",)).left_out
    assert set(left_out) == {"graded(source='paid')", "graded(source='paid') by gradient steps"}


@pytest.mark.parametrize("value", [np.inf, -1e39])
def test_features_beyond_float32_are_for_lightgbm_alone(value):
    data = Collection(np.append(np.arange(7.0), value)[:, None], Queries([0, 1] * 4, sizes=[4, 4]))
    assert set(request_for(data, ("lightgbm", "xgboost")).left_out) == {"rank:ndcg", "rank:pairwise"}
    with pytest.raises(
        ValueError, match=r"^objective .* cannot train on these data: XGBoost reads no features beyond"
    ):
        request_for(data, ("xgboost",))


def test_the_spaces_bottom_stands_for_no_regularisation():
    candidate, space = native("rank_xendcg"), Space(1000)
    assert space.params(candidate, space.start(candidate)) == {
        "learning_rate": 0.1,
        "num_leaves": 31,
        "feature_fraction": 1.0,
        "bagging_fraction": 1.0,
        "lambda_l2": 0.0,
        "min_data_in_leaf": 20,
    }


# Bad input.


def refused(text, *args, kind=ValueError, **given):
    with pytest.raises(kind, match=text) as error:
        tune(*(args or (TRAIN, VALID)), **({"workers": 1} | given))
    assert "\n" not in str(error.value)


def test_arguments_are_checked_before_anything_is_trained(monkeypatch, tmp_path):
    refused("train is a DataFrame, expected a Collection", type("DataFrame", (), {})(), kind=TypeError)
    refused("settings and minutes are both None", settings=None)
    refused("settings is 0", settings=0)
    refused("split is 'later', expected 'folds' or 'given'", split="later")
    refused("split is 'given' without valid=: give valid=", TRAIN, split="given")
    refused("minutes is 0: give a number above 0", minutes=0)
    refused("engine is 'catboost', expected one of", engine="catboost")
    refused("objectives has 'rank:ndcg', which is XGBoost's own", objectives=["rank:ndcg"], engine="lightgbm")
    refused("'LambdaRang' is unknown", objectives=["LambdaRang"])
    refused("objectives is empty", objectives=[])
    refused("objectives has LambdaRank\\(\\) twice", objectives=["LambdaRank", LambdaRank()])
    refused(
        "measure CNDCG\\(source='sales'\\), in train: no label source 'sales'", measure=CNDCG(source="sales")
    )
    refused(r"measure is \[3\]", measure=[3], kind=TypeError)
    refused(
        "params has 'num_leafs', which LightGBM does not know", params={"num_leafs": 3}, engine="lightgbm"
    )
    refused("params has 'objective': leave it out", params={"objective": "x"}, engine="lightgbm")
    refused("choose is 'worst'", choose="worst")
    refused("choose is 'balanced' with one measure", choose="balanced")
    refused("refit=False in folds: .* give valid= and split='given'", refit=False)
    refused("folds is 60, but there are 50 different queries", TRAIN, folds=60)
    refused(
        "folds is 76, but there are 75 different queries: each fold needs one; give fewer folds", folds=76
    )
    refused("folds is 5, but there is 1 query", TRAIN.take([0]))
    refused("nested is 60, but there are 50", nested=60, split="given")
    refused("nested is 0.0", nested=0.0, kind=TypeError)
    refused("nested, without outer fold 0: folds is 5, but", TRAIN.take(range(7)), nested=2)
    refused("valid has .* features, train has", TRAIN, VALID.without_features([0]))
    refused("has feature_pre_filter: leave it out", params={"feature_pre_filter": True}, engine="lightgbm")
    refused("boosting='dart': its trainings cannot", params={"boosting": "dart"}, engine="lightgbm")
    refused("tree_method='exact': it cannot grow", params={"tree_method": "exact"}, engine="xgboost")
    refused("give a number, a text, or a list", params={"num_leaves": {3}}, kind=TypeError)
    refused("objectives is 3", objectives=3, kind=TypeError)
    (tmp_path / "file").write_text("x")
    refused("file is no study, or is damaged", study=tmp_path / "file")
    refused("is a folder: give a file name in it", study=tmp_path)
    refused("does not exist; create it first", study=tmp_path / "no" / "study")
    refused("study is 3: give the name of a file", study=3, kind=TypeError)
    assert (tmp_path / "file").read_text() == "x"
    monkeypatch.setitem(sys.modules, "optuna", None)
    refused("Optuna is not installed: pip install 'optuna>=4'", kind=ModuleNotFoundError)


@pytest.mark.parametrize(
    ("engine", "params", "said"),
    [
        (
            "lightgbm",
            {"num_leaves": 1},
            r"objective lambdarank: LightGBM reports: .*\(num_leaves\) > \(1\); correct",
        ),
        ("lightgbm", {"max_depth": "deep"}, "LightGBM reports: .*max_depth"),
        ("lightgbm", {"monotone_constraints": [1, 0]}, "LightGBM reports: .*monotone_constraints"),
        (
            "lightgbm",
            {"bagging_by_query": True, "bagging_freq": 1},
            r"objective LambdaRank\(\): bagging_by_query: under",
        ),
        ("lightgbm", {"eta": float("nan")}, "^params has eta=nan: give a finite number"),
        (
            "xgboost",
            {"eta": -1},
            "^params, with objective rank:ndcg: XGBoost reports: value -1 for Parameter",
        ),
        ("xgboost", {"num_class": 3}, "XGBoost reports: Check failed: info.labels"),
        ("xgboost", {"eta": np.inf}, "^params has eta=inf"),
    ],
)
def test_parameters_that_an_engine_refuses_are_named_before_the_search(engine, params, said, monkeypatch):
    monkeypatch.setattr(Trainings, "run", lambda *_: pytest.fail("trained"))
    own = engine_named(engine).NATIVE
    refused(said, engine=engine, params=params, objectives=[own, "LambdaRank"])


def test_hostile_texts_are_shown_safely_and_shortly():
    for text in ("\x1b[31mred", "x" * 10_000_000, "{0}{a}", "  "):
        for bad in ({"engine": text}, {"choose": text}, {"params": {text: 1}}, {"objectives": [{text}]}):
            with pytest.raises((TypeError, ValueError)) as error:
                tune(TRAIN, VALID, **bad)
            assert str(error.value).isprintable() and len(str(error.value)) < 300


def test_a_missing_engine_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    refused("XGBoost is not installed: pip install", engine="xgboost", kind=ModuleNotFoundError)


def test_queries_without_two_grades_are_refused():
    flat = Collection(TRAIN.features, Queries(np.ones(TRAIN.queries.n_documents), TRAIN.queries.sizes))
    one = Collection(VALID.features, Queries(VALID.queries.relevance, VALID.queries.sizes))
    refused("train has no query with two documents of different relevance", flat, one)
    q = TRAIN.queries
    weightless = Collection(TRAIN.features, Queries(q.relevance, q.sizes, weight=np.zeros(q.n_queries)))
    refused("train has no query of positive weight with two documents of different relevance", weightless)


def test_arrays_have_their_validation_queries_in_no_argument_of_tune():
    q = TRAIN.queries
    pair = VALID.features, VALID.queries.relevance
    said = "valid is an array without its queries, since group= and qid= are those of train: give tables"
    refused(said, TRAIN.features, q.relevance, group=q.sizes, valid=pair, kind=TypeError)


def test_faults_of_a_frame_name_the_part():
    frame = as_frame(TRAIN, MAKE["pandas"])
    y, named = TRAIN.queries.relevance, {"query": "query"}
    wrong = [
        (
            (frame.drop(columns="market"), y),
            "valid has no column 'market', a feature of the training data: add",
        ),
        ((frame, y[1:]), "valid: sizes sum to .*, but there are"),
        ((frame, np.full(y.size, "good")), "valid: relevance must be numbers"),
        ((frame.assign(market="xx"), y), "valid: column 'market' is 'xx' in row 0"),
        ((frame, "grade"), "the grades of valid are 'grade': give an array of them"),
    ]
    for valid, said in wrong:
        with pytest.raises((TypeError, ValueError), match=f"^{said}"):
            tune(frame, y, valid=valid, **named)
    with pytest.raises(TypeError, match=r"^the grades of train are 'grade': give an array"):
        tune(frame, "grade", **named)


def test_grades_too_high_for_a_gain_are_refused_before_anything_is_trained():
    q = VALID.queries
    grades = np.where(q.relevance == q.relevance.max(), 1024, q.relevance)
    high = replace(VALID, queries=Queries(grades, q.sizes, clicks=q.labels["clicks"]))
    text = r"relevance\[\d+\] is 1024: its gain"
    refused(rf"measure NDCG\(k=10\), in valid: {text}", TRAIN, high)
    refused(rf"LambdaRank\(\) cannot train .*: {text}", TRAIN, high, measure="mrr", objectives=[LambdaRank()])


def test_validation_queries_that_also_train_are_refused():
    refused(
        "valid shares 10 queries with train.* the first is query 0",
        TRAIN,
        LOG.take(range(40, 70)),
        split="given",
    )
    refused(
        "valid shares 19 queries",
        _unnamed(TRAIN),
        _unnamed(TRAIN).take(range(30, 50)).shuffled(5),
        split="given",
    )


def test_equal_queries_of_both_parts_are_in_one_fold():
    found = tune(TRAIN, LOG.take(range(40, 70)), **(CHEAP | {"settings": 1, "folds": 2}))
    content = query_contents(found.request.data)
    for fold in found.request.parts:
        assert not np.isin(content[fold.queries], np.delete(content, fold.queries)).any()


def test_rows_of_one_query_in_both_parts_are_refused():
    def named(data, names):
        ids = np.repeat(names, data.queries.sizes)
        return Collection(data.features, Queries(data.queries.relevance, ids=ids))

    train, valid = named(TRAIN, [f"q{i}" for i in range(50)]), named(VALID, [f"q{i}" for i in range(49, 74)])
    refused("valid has rows of 1 queries of train, the first is .*'q49'", train, valid)


def test_few_queries_are_no_evidence():
    base = np.array([0.1, 0.5, 0.9])
    candidates = given(["RankNet", "LambdaRank"], ["lightgbm"])
    trials = [trial(0, 0, base), trial(1, 1, base + 0.1)]
    verdict = Choice(NDCG(10), candidates, trials, np.ones(3)).verdict
    assert verdict.startswith("The queries are too few to tell LambdaRank() from RankNet().")


def test_a_few_equal_queries_of_other_names_are_warned_of():
    def named(data, first):
        q = data.queries
        ids = np.repeat(np.arange(first, first + q.n_queries), q.sizes)
        return Collection(data.features, Queries(q.relevance, ids=ids))

    with pytest.warns(UserWarning, match="valid shares 1 query with train"):
        tune(named(TRAIN, 0), named(LOG.take(range(49, 75)), 1000), **(QUICK | {"settings": 1}))


def test_a_study_of_another_search_is_refused(study, tuned, monkeypatch):
    other = web_search_log(90, documents=15, seed=4)
    quick = QUICK | {"study": study}
    refused("was made with other data", other.take(range(50)), other.take(range(50, 75)), **quick)
    refused("was made with other measures", measure="map", **quick)
    refused("was made with other objectives or engines", **(quick | {"objectives": ["lambdarank"]}))
    refused("was made with other folds, rounds, patience or seed", **(quick | {"rounds": 21}))
    with monkeypatch.context() as patch:
        patch.setattr("lambdaboost.tuning.request.version", lambda _: "0.0")
        refused("was made with another version of lambdaboost or an engine", **quick)
    lines = study.read_bytes().splitlines(keepends=True)
    study.write_bytes(b"".join([*lines[:2], b"{\n", *lines[2:]]))
    refused("is no study, or is damaged", **quick)


def test_a_budget_of_no_time_says_so():
    for measure in ("ndcg@10", ["ndcg@10", "map"]):
        refused("no training is complete within the budget", minutes=1e-9, measure=measure, **QUICK)


def test_warnings_about_the_data_are_passed_on_once():
    q = TRAIN.queries
    leaking = Collection(np.column_stack([TRAIN.features, q.relevance]).astype(np.float32), q)
    valid = Collection(
        np.column_stack([VALID.features, VALID.queries.relevance]).astype(np.float32), VALID.queries
    )
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        tune(leaking, valid, **(QUICK | {"objectives": ["lambdarank"], "settings": 3}))
    assert len(heard) == len({str(w.message) for w in heard}) >= 1


def test_real_sparse_data_are_tuned(data):
    parts = [
        read_letor(data / "lightgbm_rank" / f"rank.{part}.xz", n_features=300) for part in ("train", "test")
    ]
    found = tune(*parts, **(QUICK | {"objectives": ["lambdarank", "rank:ndcg"], "settings": 3}))
    assert set(found.trials.candidate[:2]) == {"lambdarank", "rank:ndcg"}
    assert scores(found, parts[1]).shape == (768,)
    assert 0.3 < found.finalists["NDCG(k=10)"].iloc[0] < 1


def test_weights_of_queries_count_in_training_and_in_means():
    weight = np.repeat(np.where(np.arange(25) < 5, 3.0, 1.0), VALID.queries.sizes)
    q = VALID.queries
    heavy = replace(VALID, queries=Queries(q.relevance, q.sizes, weight=weight, clicks=q.labels["clicks"]))
    found = tune(TRAIN, heavy, **(QUICK | {"settings": 1, "objectives": ["rank:ndcg"]}))
    values = found.choice.best.values[0]
    assert found.finalists["NDCG(k=10)"].iloc[0] == pytest.approx(
        np.average(values, weights=heavy.queries.query_weight)
    )
    for name in ("lightgbm", "xgboost"):
        data = engine_named(name).dataset(heavy)
        kept = data.construct().get_weight() if name == "lightgbm" else np.repeat(data.get_weight(), q.sizes)
        assert np.allclose(kept, weight)


def front_with(*means):
    """The front of complete trials whose two measures have these means over 40 queries."""
    noise = np.random.default_rng(0).normal(0, 0.001, (len(means), 2, 40))
    values = np.array(means)[:, :, None] + noise - noise.mean(axis=2, keepdims=True)
    return Front((NDCG(10), CNDCG(10)), [trial(at, 0, v) for at, v in enumerate(values)], np.ones(40))


def test_the_marked_trial_has_no_significant_loss_and_its_change_is_stated():
    many = [(0.5 - 0.002 * at, 0.5 + 0.001 * at) for at in range(3, 40)]
    found = front_with((0.5, 0.5), (0.4999, 0.501), (0.495, 0.5015), *many)
    assert found.balanced.number == 1
    assert found.loss.startswith("trial 1 changes NDCG(k=10) by -0.01 points from trial 0 (95% interval -0.")


def test_a_front_of_one_trial_marks_it_and_has_no_loss():
    found = front_with((0.5, 0.5), (0.4, 0.4))
    assert [trial.number for trial in found.on] == [0]
    assert found.balanced.number == 0 and found.loss == ""
