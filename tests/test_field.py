"""The field on tiny data: what it writes, what it chooses, and the rules of its figures."""

from itertools import permutations

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("xgboost")

import benchmarks.field.__main__ as command
from benchmarks.field import trainers, tuned
from benchmarks.field.candidates import LAMBDARANK, candidates
from benchmarks.field.data import five_parts, graded_only, read, read_all
from benchmarks.field.recipes import ExpectedTies, FadingNoise, HessianFloor, QueryNorm
from benchmarks.field.results import Results, Searched
from benchmarks.field.settings import drawn
from benchmarks.field.study import Final, Search
from benchmarks.field.trainers import Prepared, matrix, trained
from experiments.common.data import has_any
from lambdaboost import NDCG, GumbelRanks, LambdaRank, Queries, RankNet
from lambdaboost.cli.columns import Columns
from lambdaboost.datasets import Collection, web_search_log, write_letor

pytestmark = pytest.mark.slow

FIELD = candidates(NDCG(3))
MADE = web_search_log(queries=60, documents=15, features=16, seed=5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of LETOR text with one fold."""
    made = tmp_path_factory.mktemp("tiny")
    for name, queries in (("train", range(30)), ("vali", range(30, 45)), ("test", range(45, 60))):
        part = MADE.take(list(queries))
        q = part.queries
        named = Queries(q.relevance, ids=queries.start + q.query_of_row)
        write_letor(made / f"{name}.txt", Collection(part.features, named))
    return made


@pytest.fixture(scope="module")
def ran(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainers, "ROUNDS", 4)
        searched, results = command.main([str(folder), *options(out)])
    return out, searched, results


def options(out):
    return ["--draws", "2", "--workers", "1", "--out", str(out)]


def test_every_candidate_is_in_the_report(ran):
    out, searched, results = ran
    text = (out / "report.md").read_text(encoding="utf-8")
    assert all(f"| {candidate.name} |" in text for candidate in FIELD)
    assert "--draws 2`: T = 2" in text
    assert {row for row, _ in results.figures} == set(searched.rows())


def test_finished_runs_are_not_repeated(ran, folder, monkeypatch):
    out, _, results = ran
    monkeypatch.setattr(command, "Study", lambda *_: pytest.fail("a run was repeated"))
    _, again = command.main([str(folder), *options(out)])
    for key, folds in results.figures.items():
        for fold, figures in folds.items():
            np.testing.assert_equal(again.figures[key][fold], figures)


def test_tune_is_in_the_report(ran, folder, monkeypatch):
    pytest.importorskip("lambdaboost.tuning")
    pytest.importorskip("optuna")
    out, _, before = ran
    monkeypatch.setattr(tuned, "ROUNDS", 4)
    _, results = command.main([str(folder), "--tune", *options(out)])
    text = (out / "report.md").read_text(encoding="utf-8")
    for row in tuned.CHOICES:
        assert f"| {row} |" in text
        for refit in (False, True):
            assert results.per_query(row, 3, results.data_sets, refit).size == 15 - unjudged()
    assert results.figures.keys() > before.figures.keys()


def unjudged():
    """Test queries without a relevant document."""
    q = MADE.take(range(45, 60)).queries
    return np.count_nonzero(~has_any(q.relevance, q))


def test_the_highest_validation_mean_is_chosen(ran):
    _, searched, _ = ran
    ((name, _),) = searched.folds
    for candidate in FIELD:
        means = [searched.value(Search(name, 0, candidate, draw)) for draw in range(2)]
        (choice,) = searched.chosen(candidate).values()
        assert choice.draw == int(np.argmax(means))


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost", "catboost"])
def test_a_chosen_training_is_repeated_exactly(engine, monkeypatch):
    pytest.importorskip(engine)
    monkeypatch.setattr(trainers, "ROUNDS", 12)
    monkeypatch.setattr(trainers, "PATIENCE", 2)
    candidate = next(c for c in FIELD if c.engine == engine)
    data, measure = Prepared(MADE.take(range(30)), MADE.take(range(30, 60))), NDCG(3)
    found = trained(candidate, drawn("tiny", 1, 0), data, measure)
    again = trained(candidate, drawn("tiny", 1, 0), data, measure, found.rounds)
    X = matrix(data.valid)
    np.testing.assert_array_equal(again.predict(X), found.predict(X))
    assert np.ptp(found.predict(X)) > 0


def test_fewer_draws_are_the_first_of_more():
    data = {"tiny": five_parts("tiny", MADE, 0, "made")}
    few, many = (command.searches(data, FIELD, draws) for draws in (1, 3))
    assert many[: len(few)] == few
    assert drawn("tiny", 2, 0) == drawn("tiny", 2, 0) != drawn("tiny", 2, 1)


def test_engines_get_the_same_numbers():
    setting = drawn("tiny", 3, 0)
    light, extreme, cat = setting.lightgbm(10_000, False), setting.xgboost(), setting.catboost()
    assert light["learning_rate"] == extreme["learning_rate"] == cat["learning_rate"] == setting.rate
    assert light["lambda_l2"] == extreme["lambda"] == cat["l2_leaf_reg"]
    assert light["num_leaves"] == extreme["max_leaves"]
    assert setting.lightgbm(10_000, True)["min_data_in_leaf"] > light["min_data_in_leaf"]


def test_no_query_is_in_two_parts():
    data = five_parts("made", MADE, 0, "made")
    rows = [bytes(row) for part in data.parts.values() for row in part.features]
    assert len(set(rows)) == len(rows)
    assert sum(has_any(MADE.queries.relevance, MADE.queries)) == sum(
        part.queries.n_queries for part in data.parts.values()
    )
    for fold in data.folds:
        assert {*fold.train, *fold.valid, *fold.test} == set(data.parts)


def test_tables_are_read_with_their_sources(tmp_path):
    q = MADE.queries
    frame = {"q": q.query_of_row, "grade": q.relevance, "ctr": q.labels["clicks"], "a": MADE.features[:, 0]}
    path = tmp_path / "shop.csv"
    lines = [",".join(frame), *(",".join(map(str, row)) for row in zip(*frame.values(), strict=True))]
    path.write_text("\n".join(lines), encoding="utf-8")
    data = read(str(path), Columns.parse(["clicks=ctr"], [], "q", "grade"), 0)
    assert data.name == "shop"
    assert {part.n_features for part in data.parts.values()} == {1}
    names = [candidate.name for candidate in candidates(NDCG(3), ["clicks"])]
    assert names[-1] == "graded(source='clicks')"


def test_wrong_data_are_refused(monkeypatch, tmp_path):
    monkeypatch.delenv("LAMBDABOOST_DATA", raising=False)
    with pytest.raises(ValueError, match="mq2008: set the variable LAMBDABOOST_DATA"):
        read("mq2008", Columns(), 0)
    with pytest.raises(FileNotFoundError):
        read(str(tmp_path / "nowhere.csv"), Columns(), 0)
    with pytest.raises(ValueError, match="synthetic: --query, --label, --source and --drop are for files"):
        read("synthetic", Columns.parse([], ["3"]), 0)
    few = Collection(np.eye(4), Queries([1, 0, 0, 0], sizes=[2, 2]))
    with pytest.raises(
        ValueError, match="few has 1 queries with a relevant document: five folds need at least 5"
    ):
        five_parts("few", few, 0, "")
    assert graded_only(few).queries.n_queries == 1


def test_data_sets_need_names_of_their_own_and_relevant_documents(folder, tmp_path):
    with pytest.raises(ValueError, match="two data sets are called"):
        read_all([str(folder), str(folder)], Columns(), 0)
    for name in ("train", "vali", "test"):
        grade = 0 if name == "vali" else 1
        (tmp_path / f"{name}.txt").write_text(f"{grade} qid:1 1:2\n0 qid:1 1:1\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"no query of vali of .* has a relevant document"):
        read_all([str(tmp_path)], Columns(), 0)


def test_only_what_is_in_the_field_can_be_left_out(folder, tmp_path):
    for name, said in (
        ("McRank()", "not in the field"),
        (LAMBDARANK.name, "others are compared with it"),
    ):
        with pytest.raises(ValueError, match=said):
            command.main([str(folder), "--without", name, *options(tmp_path)])
    assert not list(tmp_path.iterdir())


def invented(**values):
    """Searches of one fold and one draw: the value of every validation query by candidate."""
    field = tuple(c for c in FIELD if c.key in values)
    found = {
        Search("made", 0, c, 0): {"valid": np.array(values[c.key]), "rounds": np.array(1)} for c in field
    }
    return Searched(found, field, len(field))


def test_the_simplest_within_one_error_of_the_best():
    first, second = LAMBDARANK.key, FIELD[1].key
    near = invented(**{first: [0.5, 0.5, 0.2], second: [0.4, 0.6, 0.3]})  # differences −.1, .1, .1
    assert near.any_objective(("made", 0)).candidate.key == second
    assert np.mean([-0.1, 0.1, 0.1]) < np.std([-0.1, 0.1, 0.1], ddof=1) / np.sqrt(3)
    assert near.simplest(("made", 0)).candidate.key == first
    far = invented(**{first: [0.5, 0.5, 0.2], second: [0.6, 0.6, 0.31]})
    assert far.simplest(("made", 0)).candidate.key == second


def test_regret_is_what_the_best_of_each_set_gives_more():
    def outcome(mean):
        return {"NDCG@3": np.array([mean - 0.1, mean + 0.1])}

    means = {"one": (0.5, 0.7), "two": (0.6, 0.4)}
    results = Results(
        {
            (row, False): {(name, 0): outcome(values[i]) for name, values in means.items()}
            for i, row in enumerate(("a", "b"))
        },
        {},
        {},
    )
    assert results.regret("a", 3, ["one", "two"], ["a", "b"]) == pytest.approx((0.2 + 0) / 2)
    assert results.regret("b", 3, ["one", "two"], ["a", "b"]) == pytest.approx((0 + 0.2) / 2)
    assert results.mean("a", 3, ["one", "two"]) == pytest.approx(0.55)


def test_finals_of_a_choice_have_its_rounds():
    searched = invented(**{LAMBDARANK.key: [0.5, 0.5]})
    choice = Search("made", 0, LAMBDARANK, 0)
    assert searched.finals(choice) == (Final(choice, 1, False), Final(choice, 1, True))


GRADES = Queries([2, 0, 1, 0, 1], sizes=[3, 2])
SCORES = np.array([0.3, 0.2, 0.2, -0.1, 0.4])


def test_noise_fades():
    fading, plain = FadingNoise(LambdaRank(), rounds=4), LambdaRank()
    for now, beta in ((0, 1.0), (3, 0.25)):
        noisy = GumbelRanks(plain, beta).gradient(SCORES, GRADES, now)
        np.testing.assert_array_equal(fading.gradient(SCORES, GRADES, now), noisy)
    np.testing.assert_array_equal(fading.gradient(SCORES, GRADES, 4), plain.gradient(SCORES, GRADES))


def test_ties_are_averaged_over_their_orders():
    q, tied = Queries([2, 0, 1], sizes=[3]), np.zeros(3)
    lam, _ = ExpectedTies(LambdaRank(), draws=20_000).lambdas(tied, q, 0)
    expected = np.zeros(3)
    for order in permutations(range(3)):
        # The same documents in another order of rows, which breaks ties.
        at = list(order)
        expected[at] += LambdaRank().lambdas(tied, Queries(q.relevance[at], sizes=[3]), 0)[0] / 6
    np.testing.assert_allclose(lam, expected, rtol=0.02)
    late = ExpectedTies(LambdaRank(), rounds=10).lambdas(tied, q, 10)
    np.testing.assert_array_equal(late, LambdaRank().lambdas(tied, q, 10))


def test_the_hessian_has_a_floor():
    lam, mu = LambdaRank().lambdas(SCORES, GRADES, 0)
    floored = HessianFloor(LambdaRank(), share=0.9).lambdas(SCORES, GRADES, 0)
    np.testing.assert_array_equal(floored[0], lam)
    np.testing.assert_allclose(floored[1], [max(x, 0.9 * mu.mean()) for x in mu])
    assert (floored[1] > mu).any()


def test_queries_are_scaled_as_lightgbm_does():
    lam, mu = RankNet().lambdas(SCORES, GRADES, 0)
    found = QueryNorm(RankNet()).lambdas(SCORES, GRADES, 0)
    for rows in (slice(0, 3), slice(3, 5)):
        total = sum(abs(float(x)) for x in lam[rows])
        for scaled, plain in zip(found, (lam, mu), strict=True):
            np.testing.assert_allclose(scaled[rows], plain[rows] * np.log2(1 + total) / total, rtol=1e-6)
