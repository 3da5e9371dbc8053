"""`lambdaboost.tune`: the search, the choice and what it refuses."""

import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from naive import naive_query_contents, naive_simplest

from lambdaboost import CNDCG, MAP, NDCG, LambdaRank, Queries, Tuned, load, tune
from lambdaboost.datasets import Collection, read_letor, web_search_log
from lambdaboost.datasets.digest import digest_of
from lambdaboost.engines.engine import engine_named, trainer_named
from lambdaboost.engines.native import read_objective
from lambdaboost.tuning.candidates import Candidate, given
from lambdaboost.tuning.checks import usable
from lambdaboost.tuning.choice import chosen_from
from lambdaboost.tuning.contents import query_contents
from lambdaboost.tuning.folds import drawn_folds, fold_of_query
from lambdaboost.tuning.front import front_of
from lambdaboost.tuning.runner import clearly_worse
from lambdaboost.tuning.setting import Setting
from lambdaboost.tuning.space import Space, params_of
from lambdaboost.tuning.standard import standard
from lambdaboost.tuning.task import Outcome
from lambdaboost.tuning.trial import Trial, floor_of
from lambdaboost.tuning.tune import Stopped

pytest.importorskip("optuna")
FEW = ["lambdarank", "LambdaRank", "rank:ndcg"]
LOG = web_search_log(90, documents=15, seed=3)
TRAIN, VALID, TEST = LOG.take(range(50)), LOG.take(range(50, 75)), LOG.take(range(75, 90))
QUICK = {"objectives": FEW, "trainings": 6, "rounds": 20, "patience": 5, "workers": 1}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return tmp_path_factory.mktemp("tune") / "study"


@pytest.fixture(scope="module")
def tuned(study):
    return tune(TRAIN, VALID, study=study, **QUICK)


def scores(tuned, data):
    return engine_named(tuned.engine).scores(tuned.booster, data.features)


def test_a_search_tries_the_defaults_first_and_keeps_its_budget(tuned):
    trials = tuned.trials
    assert list(trials.trial) == list(range(6))
    assert set(trials.candidate[:3]) == {"lambdarank", "LambdaRank()", "rank:ndcg"}
    assert (trials.learning_rate[:3] == 0.1).all() and (trials.learning_rate[3:] != 0.1).any()
    assert trials.trainings.sum() == 6


def test_the_result_is_a_plain_model_with_its_setting(tuned):
    assert isinstance(tuned, Tuned)
    assert type(tuned.booster).__module__.split(".")[0] == tuned.engine
    assert engine_named(tuned.engine).n_rounds(tuned.booster) == tuned.rounds
    assert repr(tuned).startswith(f"Tuned({tuned.objective!r}")
    row = tuned.finalists.iloc[0]
    assert row["NDCG(k=10)"] == tuned.trials["NDCG(k=10)"].max()
    # More data need more rounds.
    documents = TRAIN.queries.n_documents + VALID.queries.n_documents
    assert tuned.rounds == max(1, round(row["rounds"] * documents / TRAIN.queries.n_documents))


def test_the_values_are_those_of_the_measured_model(study, tuned):
    kept = tune(TRAIN, VALID, study=study, refit=False, **QUICK)
    values = NDCG(10).per_query(scores(kept, VALID.shuffled(0)), VALID.shuffled(0).queries)
    assert np.allclose(values, kept.choice.best.outcome.values[0], rtol=0, atol=1e-12)
    assert kept.rounds == kept.finalists["rounds"].iloc[0]


def test_a_finished_study_is_not_trained_again(study, tuned):
    before = {path.name: path.stat().st_mtime_ns for path in study.iterdir()}
    again = tune(TRAIN, VALID, study=study, **QUICK)
    assert {path.name: path.stat().st_mtime_ns for path in study.iterdir()} == before
    assert again.trials.equals(tuned.trials)
    assert np.array_equal(scores(again, TEST), scores(tuned, TEST))


def test_a_study_goes_on_as_if_it_had_not_ended(study, tuned, tmp_path):
    part = tune(TRAIN, VALID, study=tmp_path / "study", **QUICK)
    assert len(part.trials) == 6
    (tmp_path / "study" / "trial-4.npz").unlink()
    (tmp_path / "study" / "trial-5.npz").write_bytes(b"damaged")
    with pytest.warns(UserWarning, match="trial-5.npz is damaged: its trial is left out"):
        whole = tune(TRAIN, VALID, study=tmp_path / "study", **QUICK)
    columns = [*whole.trials.columns.drop("seconds")]
    assert whole.trials[columns].equals(tuned.trials[columns])


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

    given = QUICK | {"trainings": 1, "objectives": ["lambdarank"]}
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


def test_a_saved_model_is_read_with_its_verdict(tuned, tmp_path):
    tuned.save(tmp_path / "model.txt")
    saved = load(tmp_path / "model.txt")
    assert repr(saved.objective) == repr(tuned.objective)
    assert saved.about["tuning"]["verdict"] == tuned.verdict
    assert saved.about["tuning"]["trainings"] == 6


def test_the_page_shows_all_of_it(tuned, tmp_path):
    page = tuned.page(tmp_path / "page.html").read_text(encoding="utf-8")
    for text in (
        "How sure the choice is",
        "What was tried",
        "Importance of the choices",
        "These lines train",
    ):
        assert text in page
    assert page.count("<svg") == 3


def test_several_measures_give_a_front(tmp_path):
    found = tune(
        TRAIN, VALID, measure=[NDCG(10), CNDCG(10)], **(QUICK | {"objectives": ["LambdaRank", "graded"]})
    )
    front = found.front
    points = front[["NDCG(k=10)", "CNDCG(k=10)"]].to_numpy()
    everything = found.trials.loc[found.trials.state == "complete", ["NDCG(k=10)", "CNDCG(k=10)"]].to_numpy()
    for point in points:
        assert not ((everything >= point).all(axis=1) & (everything > point).any(axis=1)).any()
    assert front["no significant loss"].sum() == 1
    assert found.chosen is found.trade_off.balanced
    loss = found.trade_off.loss
    assert (loss == "") == (found.chosen is found.trade_off.on[0])
    assert found.about().get("trade_off", "") == loss
    assert "Trade-off" in found.page(tmp_path / "page.html").read_text(encoding="utf-8")


def test_cross_validation_measures_every_query_once_and_counts_each_fold():
    found = tune(TRAIN, folds=3, **(QUICK | {"objectives": ["lambdarank"], "trainings": 7}))
    assert found.trials.trainings.sum() <= 7
    complete = [trial for trial in found.results if trial.is_complete]
    assert len(complete) >= 1
    assert all(trial.trainings == 3 and not np.isnan(trial.outcome.values).any() for trial in complete)
    mean = np.mean(found.chosen.outcome.rounds)
    assert found.rounds == max(1, round(mean * TRAIN.queries.n_documents / _trained_on(found)))


def _trained_on(found):
    return np.mean([fold.train.queries.n_documents for fold in found.task.folds])


def test_every_candidate_is_trained_to_its_end_once_though_it_is_clearly_worse():
    found = tune(
        TRAIN, folds=2, **(QUICK | {"objectives": ["LambdaRank", "LambdaRank(WTA())"], "trainings": 4})
    )
    assert list(found.trials.state) == ["complete", "complete"]
    assert found.choice.missing == []


def test_ctrl_c_while_the_choice_is_trained_again_gives_the_measured_model(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Setting, "train", interrupted)
    with pytest.raises(Stopped, match="stopped after 1 trainings") as stopped:
        tune(TRAIN, VALID, **(QUICK | {"trainings": 1}))
    best = stopped.value.finish()
    assert not best.refit and best.rounds == best.finalists["rounds"].iloc[0]


def test_one_objective_may_be_given_alone():
    assert given("LambdaRank", ["lightgbm"]) == given([LambdaRank()], ["lightgbm"])


def test_held_out_values_are_of_models_that_have_not_seen_the_query():
    found = tune(TRAIN, VALID, nested=2, **(QUICK | {"objectives": ["lambdarank"], "trainings": 1}))
    assert found.held_out.values.shape == (1, 75)
    assert not np.isnan(found.held_out.values).any()
    low, high = found.held_out.interval()
    assert low < found.held_out.mean() < high
    assert found.held_out.mean() == pytest.approx(found.held_out.values.mean())


def test_workers_train_the_same_defaults():
    one = tune(TRAIN, VALID, **(QUICK | {"objectives": ["lambdarank", "rank_xendcg"], "trainings": 2}))
    two = tune(
        TRAIN, VALID, **(QUICK | {"objectives": ["lambdarank", "rank_xendcg"], "trainings": 2, "workers": 2})
    )
    columns = ["candidate", "NDCG(k=10)", "rounds"]
    assert two.trials[columns].equals(one.trials[columns])


def test_fixed_parameters_are_not_searched():
    found = tune(
        TRAIN, VALID, engine="lightgbm", params={"num_leaves": 5}, **(QUICK | {"objectives": ["lambdarank"]})
    )
    assert "max_leaves" not in found.trials.columns and set(found.trials.leaves) == {"engine"}
    assert found.params["num_leaves"] == 5


# The parts.


def trial(number, candidate, values, curve=(0.5,), rate=0.1, state="complete"):
    outcome = Outcome(
        state, np.atleast_2d(np.asarray(values, dtype=float)), (tuple(curve),), (len(curve),), 0.0
    )
    return Trial(number, candidate, {"learning_rate": rate}, {}, outcome)


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
        choice = chosen_from(NDCG(10), candidates, trials, np.ones(200))
        assert choice.best.candidate == values.mean(axis=1).argmax()
        assert choice.simplest.candidate == naive_simplest(values)


def test_the_verdict_names_what_is_worse_and_what_will_do():
    base = np.linspace(0, 1, 40)
    candidates = given(["RankNet", "LambdaRank", "ListNet"], ["lightgbm"])
    noise = 0.005 * np.tile([1, -1], 20)
    trials = [trial(0, 0, base), trial(1, 1, base + 0.2 + noise), trial(2, 2, base + 0.2 - noise + 1e-4)]
    verdict = chosen_from(NDCG(10), candidates, trials, np.ones(40)).verdict
    assert verdict.startswith("ListNet() is better than RankNet() at its defaults (p = ")
    assert "Any of these will do, within 0.005: ListNet(), LambdaRank()." in verdict


def test_a_training_is_compared_after_as_much_training():
    """A trial of half the rate is at round 2m where the others are at round m."""
    trials = [trial(at, 0, [1.0], curve=[0.1, 0.2, 0.3, 0.4], rate=0.2) for at in range(5)]
    floor = floor_of(trials, {"learning_rate": 0.1}, 8, least=5)
    assert np.allclose(floor, [0.1, 0.1, 0.1, 0.2, 0.2, 0.3, 0.3, 0.4])
    assert floor_of(trials, {}, 8, least=6) is None


def test_a_trial_is_left_only_if_it_is_clearly_worse():
    rng = np.random.default_rng(2)
    rival, ones = rng.random(100), np.ones(100)
    assert not clearly_worse(rival, None, ones)
    assert not clearly_worse(rival - 0.001 + 0.1 * rng.standard_normal(100), rival, ones)
    half = np.where(np.arange(100) < 50, rival - 0.1 + 0.01 * rng.standard_normal(100), np.nan)
    assert clearly_worse(half, rival, ones)
    assert not clearly_worse(rival + 0.1, rival, ones)


@pytest.mark.parametrize("engines", [["lightgbm"], ["xgboost"], ["lightgbm", "xgboost"]])
@pytest.mark.parametrize("measure", [NDCG(10), NDCG(3, gain="linear"), MAP(), CNDCG(5)])
def test_every_standard_candidate_reads_back_and_has_its_own_name(engines, measure):
    candidates = standard([measure], engines, ["clicks"])
    names = [candidate.name for candidate in candidates]
    assert len(set(names)) == len(names)
    for candidate in candidates:
        assert candidate.engine in engines
        space = Space(1000)
        start = space.defaults(candidate)
        assert all(knob.low <= knob.start <= knob.high for knob in space.named(candidate).values())
        known = engine_named(candidate.engine).parameters()
        assert set(params_of(candidate, start)) <= known
        rule = candidate.objective(start)
        assert read_objective(repr(rule)) == rule


def test_candidates_that_cannot_take_the_data_are_left_out():
    X = np.arange(8.0)[:, None]
    many = Collection(X, Queries([0, 40, 1, 0.5, 0, 1, 2, 3], sizes=[4, 4]))
    kept, left_out = usable(standard([NDCG()], ["lightgbm", "xgboost"], []), [many])
    assert {"lambdarank", "rank_xendcg", "rank:ndcg"} == left_out.keys()
    assert {"LambdaRank()", "rank:pairwise"} <= {candidate.name for candidate in kept}
    paid = Collection(X, Queries([0, 1] * 4, sizes=[4, 4], paid=[0, 7.0] * 4))
    left_out = usable(standard([NDCG()], ["lightgbm"], ["paid"]), [paid])[1]
    assert set(left_out) == {"graded(source='paid')", "graded(source='paid') by gradient steps"}


def test_the_spaces_bottom_stands_for_no_regularisation():
    candidate = Candidate("rank_xendcg", "lightgbm")
    assert params_of(candidate, Space(1000).defaults(candidate)) == {
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
    refused("trainings and minutes are both None", trainings=None)
    refused("trainings is 4, too few for one trial, which trains on 5 folds", TRAIN, trainings=4)
    refused("trainings is 0", trainings=0)
    refused("minutes is 0: give a number above 0", minutes=0)
    refused("engine is 'catboost', expected one of", engine="catboost")
    refused("objectives has 'rank:ndcg', which is XGBoost's own", objectives=["rank:ndcg"], engine="lightgbm")
    refused("'LambdaRang' is unknown", objectives=["LambdaRang"])
    refused("objectives has 'McRank'", objectives=["McRank"], kind=TypeError)
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
    refused("refit=False without valid", TRAIN, refit=False)
    refused("folds is 60, but train has 50 different queries", TRAIN, folds=60, trainings=100)
    refused("nested is 60, but train has 50", nested=60)
    refused("nested, without outer fold 0: folds is 5, but", TRAIN.take(range(7)), nested=2)
    refused("valid has .* features, train has", TRAIN, VALID.without_features([0]))
    (tmp_path / "file").write_text("x")
    refused("holds something else", study=tmp_path)
    refused("does not exist; create it first", study=tmp_path / "no" / "study")
    monkeypatch.setitem(sys.modules, "optuna", None)
    refused("Optuna is not installed: pip install 'lambdaboost\\[tune\\]'", kind=ModuleNotFoundError)


def test_a_missing_engine_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    refused("XGBoost is not installed: pip install", engine="xgboost", kind=ModuleNotFoundError)


def test_queries_without_two_grades_are_refused():
    flat = Collection(TRAIN.features, Queries(np.ones(TRAIN.queries.n_documents), TRAIN.queries.sizes))
    one = Collection(VALID.features, Queries(VALID.queries.relevance, VALID.queries.sizes))
    refused("train has no query with two documents of different relevance", flat, one)


def test_validation_queries_that_also_train_are_refused():
    refused("valid shares 10 queries with train.* the first is query 0", TRAIN, LOG.take(range(40, 70)))
    refused(
        "valid shares 19 queries",
        _unnamed(TRAIN),
        _unnamed(TRAIN).take(range(30, 50)).shuffled(5),
    )


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
    verdict = chosen_from(NDCG(10), candidates, trials, np.ones(3)).verdict
    assert verdict.startswith("The queries are too few to tell LambdaRank() from RankNet().")


def test_a_few_equal_queries_of_other_names_are_warned_of():
    def named(data, first):
        q = data.queries
        ids = np.repeat(np.arange(first, first + q.n_queries), q.sizes)
        return Collection(data.features, Queries(q.relevance, ids=ids))

    with pytest.warns(UserWarning, match="valid shares 1 query with train"):
        tune(named(TRAIN, 0), named(LOG.take(range(49, 75)), 1000), **(QUICK | {"trainings": 1}))


def test_a_study_of_another_search_is_refused(study, tuned):
    other = web_search_log(90, documents=15, seed=4)
    quick = QUICK | {"study": study}
    refused("was made with other data", other.take(range(50)), other.take(range(50, 75)), **quick)
    refused("was made with other measures", measure="map", **quick)
    refused("was made with other objectives or engines", **(quick | {"objectives": ["lambdarank"]}))
    refused("was made with other folds, rounds, patience or seed", **(quick | {"rounds": 21}))
    (study / "about.json").write_text("{")
    refused("about.json is damaged", **quick)


def test_a_budget_of_no_time_says_so():
    refused("no training is complete within the budget of minutes: give more", minutes=1e-9, **QUICK)


def test_warnings_about_the_data_are_passed_on_once():
    q = TRAIN.queries
    leaking = Collection(np.column_stack([TRAIN.features, q.relevance]).astype(np.float32), q)
    valid = Collection(
        np.column_stack([VALID.features, VALID.queries.relevance]).astype(np.float32), VALID.queries
    )
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        tune(leaking, valid, **(QUICK | {"objectives": ["lambdarank"], "trainings": 3}))
    assert len(heard) == len({str(w.message) for w in heard}) >= 1


def test_real_sparse_data_are_tuned(data):
    parts = [
        read_letor(data / "lightgbm_rank" / f"rank.{part}.xz", n_features=300) for part in ("train", "test")
    ]
    found = tune(*parts, **(QUICK | {"objectives": ["lambdarank", "rank:ndcg"], "trainings": 3}))
    assert set(found.trials.candidate[:2]) == {"lambdarank", "rank:ndcg"}
    assert scores(found, parts[1]).shape == (768,)
    assert 0.3 < found.finalists["NDCG(k=10)"].iloc[0] < 1


def test_weights_of_queries_count_in_training_and_in_means():
    weight = np.repeat(np.where(np.arange(25) < 5, 3.0, 1.0), VALID.queries.sizes)
    q = VALID.queries
    heavy = replace(VALID, queries=Queries(q.relevance, q.sizes, weight=weight, clicks=q.labels["clicks"]))
    found = tune(TRAIN, heavy, **(QUICK | {"trainings": 1, "objectives": ["rank:ndcg"]}))
    values = found.choice.best.outcome.values[0]
    assert found.finalists["NDCG(k=10)"].iloc[0] == pytest.approx(
        np.average(values, weights=heavy.queries.query_weight)
    )
    for name in ("lightgbm", "xgboost"):
        data = trainer_named(name).data(heavy)
        kept = data.construct().get_weight() if name == "lightgbm" else np.repeat(data.get_weight(), q.sizes)
        assert np.allclose(kept, weight)


def front_with(*means):
    """The front of complete trials whose two measures have these means over 40 queries."""
    noise = np.random.default_rng(0).normal(0, 0.001, (len(means), 2, 40))
    values = np.array(means)[:, :, None] + noise - noise.mean(axis=2, keepdims=True)
    trials = [
        Trial(at, 0, {}, {}, Outcome("complete", v, ((0.5,),), (1,), 0.0)) for at, v in enumerate(values)
    ]
    return front_of((NDCG(10), CNDCG(10)), trials, np.ones(40))


def test_the_marked_trial_has_no_significant_loss_and_its_change_is_stated():
    many = [(0.5 - 0.002 * at, 0.5 + 0.001 * at) for at in range(3, 40)]
    found = front_with((0.5, 0.5), (0.4999, 0.501), (0.495, 0.5015), *many)
    assert found.balanced.number == 1
    assert found.loss.startswith("trial 1 changes NDCG(k=10) by -0.01 points from trial 0 (95% interval -0.")


def test_a_front_of_one_trial_marks_it_and_has_no_loss():
    found = front_with((0.5, 0.5), (0.4, 0.4))
    assert [trial.number for trial in found.on] == [0]
    assert found.balanced.number == 0 and found.loss == ""
