"""Generated data: seeds, shares, click models, and that it can be learned but not by a straight line."""

import itertools

import numpy as np
import pytest

from lambdaboost.datasets import cubic_polynomial, web_search_log
from lambdaboost.datasets.click_models import CLICK_MODELS, sampled_last_clicks
from lambdaboost.datasets.synthetic import GRADE_SHARES, grades_by_share

GENERATORS = pytest.mark.parametrize("generate", [cubic_polynomial, web_search_log])
MODELS = pytest.mark.parametrize("click_model", CLICK_MODELS)


@GENERATORS
def test_the_seed_decides_every_bit(generate):
    one, again, other = (generate(queries=30, documents=20, seed=seed) for seed in (5, 5, 6))
    assert one.features.tobytes() == again.features.tobytes()
    for name, labels in one.queries.labels.items():
        assert labels.tobytes() == again.queries.labels[name].tobytes()
    np.testing.assert_array_equal(one.queries.offsets, again.queries.offsets)
    assert one.features.shape != other.features.shape or (one.features != other.features).any()


@GENERATORS
def test_shares_of_grades(generate):
    X, q = generate(queries=200, documents=50)
    assert X.dtype == np.float32 and np.isfinite(X).all()
    shares = np.bincount(q.relevance.astype(int), minlength=5) / q.n_documents
    np.testing.assert_allclose(shares, GRADE_SHARES, atol=1e-3)


def test_grades_follow_utility():
    utility = np.random.default_rng(0).standard_normal(1000)
    assert (np.diff(grades_by_share(utility)[np.argsort(utility)]) >= 0).all()


def test_cubic_polynomial_is_as_in_the_paper():
    X, q = cubic_polynomial(queries=100)
    assert X.shape == (5000, 50) and (q.sizes == 50).all()
    assert -1 <= X.min() < -0.99 and 0.99 < X.max() <= 1


def test_cubic_polynomial_is_no_straight_line():
    X, q = cubic_polynomial(queries=400)
    fitted = np.linalg.lstsq(X, q.relevance - q.relevance.mean(), rcond=None)[0]
    assert 0.4 < np.corrcoef(X @ fitted, q.relevance)[0, 1] < 0.7


def test_list_lengths_vary_about_their_mean():
    sizes = web_search_log(queries=1000, documents=60).queries.sizes
    assert abs(sizes.mean() - 60) < 3 and 20 < sizes.std() < 28 and sizes.min() >= 1


def agreement(q):
    """Share of the pairs of both different grades and different clicks, both clicked, that agree."""
    agree = total = equal_grade = 0
    for first, last in itertools.pairwise(q.offsets):
        clicked = q.labels["clicks"][first:last] > 0
        grade, click = (q.labels[name][first:last][clicked] for name in ("relevance", "clicks"))
        grade, click = (np.sign(a[:, None] - a[None]) for a in (grade, click))
        agree += (grade * click > 0).sum()
        total += (grade * click != 0).sum()
        equal_grade += ((grade == 0) & (click > 0)).sum()
    return agree / total, equal_grade / q.n_queries


@MODELS
def test_clicks_and_grades_agree_mostly_not_always(click_model):
    q = web_search_log(queries=200, click_model=click_model).queries
    clicks = q.labels["clicks"]
    assert clicks.min() == 0 and 0.3 < clicks.max() <= 1
    assert 0.05 < (clicks > 0).mean() < 0.4  # most documents are never shown
    agree, equal_grade = agreement(q)
    assert 0.6 < agree < 0.98
    assert equal_grade > 10  # pairs for a lower tier to order


def test_click_models_differ_in_clicks_only():
    one, other = (web_search_log(queries=20, click_model=model) for model in CLICK_MODELS)
    np.testing.assert_array_equal(one.queries.relevance, other.queries.relevance)
    assert (one.queries.labels["clicks"] != other.queries.labels["clicks"]).any()


def within_query(values, q):
    """Values less their mean over the query."""
    return values - (np.add.reduceat(values, q.offsets[:-1]) / q.sizes)[q.query_of_row]


def test_clicks_know_the_order_inside_a_grade():
    # The expected grade given the features stands for utility; inside a grade, clicks go with it.
    X, q = web_search_log(queries=400)
    fitted = X[:, :16].astype(float) @ np.linalg.lstsq(X[:, :16].astype(float), q.relevance, rcond=None)[0]
    fitted = within_query(fitted, q)
    often = q.labels["clicks"] > 0.1
    shown = q.labels["clicks"] > 0
    for grade in (0, 1, 2):
        of_grade = q.relevance == grade
        assert fitted[of_grade & often].mean() > fitted[of_grade & shown & ~often].mean()


def test_trees_learn_it_and_a_line_does_not_quite():
    import lightgbm

    (X, q), (X_test, q_test) = web_search_log(queries=150), web_search_log(queries=60, seed=1)
    line = ndcg(X_test @ np.linalg.lstsq(X, q.relevance, rcond=None)[0], q_test, 3)
    params = {"objective": "l2", "verbosity": -1, "num_threads": 1, "seed": 0}
    booster = lightgbm.train(params, lightgbm.Dataset(X, 2**q.relevance), 60)
    trees = ndcg(booster.predict(X_test), q_test, 3)
    chance = ndcg(np.random.default_rng(0).random(q_test.n_documents), q_test, 3)
    assert chance + 0.2 < line < trees - 0.05 < 0.9


def ndcg(scores, q, k):
    values = []
    for first, last in itertools.pairwise(q.offsets):
        gain = 2 ** q.relevance[first:last].astype(float) - 1
        discount = 1 / np.log2(np.arange(2, 2 + min(k, last - first)))
        ideal = np.sort(gain)[::-1][:k] @ discount
        values.append(gain[np.argsort(-scores[first:last])][:k] @ discount / ideal if ideal else 0)
    return np.mean(values)


def test_distractors_fill_up():
    c = web_search_log(queries=10, features=19)
    assert c.feature_names[16:] == ("copy_0_match_title", "noise_0", "copy_1_match_body")
    assert len(set(web_search_log(queries=3, features=200).feature_names)) == 200


def test_one_document_a_query():
    X, q = web_search_log(queries=3, documents=1, features=16)
    assert X.shape == (q.n_documents, 16)


# Click models against users one by one


def simulated_session(model, attraction, satisfaction, rng):
    """Position of the last click of one user, or None."""
    last = None
    for r, (a, s) in enumerate(zip(attraction, satisfaction, strict=True)):
        if model == "position":
            if rng.random() < 1 / (r + 1) and rng.random() < a:
                last = r
            continue
        if rng.random() < a:
            last = r
            if rng.random() < s:
                break
        if rng.random() > 0.95:
            break
    return last


@MODELS
def test_closed_form_is_what_users_do(click_model):
    rng = np.random.default_rng(1)
    attraction, satisfaction = rng.random(5), rng.random(5)
    n = 20_000
    users = [simulated_session(click_model, attraction, satisfaction, rng) for _ in range(n)]
    counted = [users.count(r) / n for r in range(5)]
    exact = CLICK_MODELS[click_model].last_click(attraction[None], satisfaction[None])[0]
    np.testing.assert_allclose(counted, exact, atol=4 * np.sqrt(0.25 / n))


@MODELS
def test_last_click_probabilities(click_model):
    rng = np.random.default_rng(2)
    attraction, satisfaction = rng.random((50, 10)), rng.random((50, 10))
    attraction[:, 7:] = 0
    last = CLICK_MODELS[click_model].last_click(attraction, satisfaction)
    assert (last >= 0).all() and (last.sum(axis=1) <= 1 + 1e-12).all() and (last[:, 7:] == 0).all()
    certain = CLICK_MODELS[click_model].last_click(np.ones((1, 3)), np.ones((1, 3)))
    assert certain.sum() == pytest.approx(1)
    counts = sampled_last_clicks(last, 100, rng)
    assert counts.shape == last.shape and (counts.sum(axis=1) <= 100).all() and (counts[:, 7:] == 0).all()


@pytest.mark.parametrize(
    "generate, arguments, error, problem",
    [
        (cubic_polynomial, {"queries": 0}, ValueError, "queries is 0: give a whole number ≥ 1"),
        (cubic_polynomial, {"documents": 1}, ValueError, "documents is 1"),
        (cubic_polynomial, {"features": 0}, ValueError, "features is 0"),
        (cubic_polynomial, {"features": 2.5}, TypeError, "features is .*: give a whole number"),
        (cubic_polynomial, {"seed": -1}, ValueError, "seed is -1"),
        (cubic_polynomial, {"seed": None}, TypeError, "seed"),
        (web_search_log, {"queries": "many"}, TypeError, "queries"),
        (web_search_log, {"documents": 0}, ValueError, "documents is 0"),
        (web_search_log, {"features": 15}, ValueError, "features is 15: give a whole number ≥ 16"),
        (web_search_log, {"seed": 1.0}, TypeError, "seed"),
        (
            web_search_log,
            {"click_model": "pbm"},
            ValueError,
            "click_model is 'pbm': choose one of cascade, position",
        ),
    ],
)
def test_arguments_that_are_wrong(generate, arguments, error, problem):
    with pytest.raises(error, match=problem):
        generate(**arguments)
