"""Generated data: seeds, shares, click models, and that it can be learned but not by a straight line."""

import numpy as np
import pytest

from lambdaboost import NDCG, PairAccuracy, Queries
from lambdaboost.datasets import web_search_log
from lambdaboost.datasets.synthetic import GRADE_SHARES, LAST_CLICK

MODELS = pytest.mark.parametrize("click_model", LAST_CLICK)


def test_seeds_shares_and_names():
    (X, q), (again, _), (other, _) = (web_search_log(200, 50, 19, seed=seed) for seed in (5, 5, 6))
    assert X.tobytes() == again.tobytes() and X.shape != other.shape
    assert X.dtype == np.float32 and np.isfinite(X).all() and q.sizes.min() >= 1
    shares = np.bincount(q.relevance.astype(int), minlength=5) / q.n_documents
    np.testing.assert_allclose(shares, GRADE_SHARES, atol=1e-3)
    names = web_search_log(3, 1, 19).feature_names
    assert names[16:] == ("copy_0_match_title", "noise_0", "copy_1_match_body")


@MODELS
def test_clicks_and_grades_agree_mostly_not_always(click_model):
    q = web_search_log(queries=200, click_model=click_model).queries
    clicks = q.labels["clicks"]
    assert clicks.min() == 0 and 0.3 < clicks.max() <= 1
    assert 0.05 < (clicks > 0).mean() < 0.4  # most documents are never shown
    both = Queries(np.where(clicks > 0, q.relevance, np.nan), q.sizes)
    assert 0.6 < PairAccuracy(empty=np.nan)(clicks, both) < 0.98


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
    line = NDCG(k=3)(X_test @ np.linalg.lstsq(X, q.relevance, rcond=None)[0], q_test)
    params = {"objective": "l2", "verbosity": -1, "num_threads": 1, "seed": 0}
    booster = lightgbm.train(params, lightgbm.Dataset(X, 2**q.relevance), 60)
    trees = NDCG(k=3)(booster.predict(X_test), q_test)
    chance = NDCG(k=3)(np.random.default_rng(0).random(q_test.n_documents), q_test)
    assert chance + 0.2 < line < trees - 0.05 < 0.9


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
    exact = LAST_CLICK[click_model](attraction[None], satisfaction[None])[0]
    np.testing.assert_allclose(counted, exact, atol=4 * np.sqrt(0.25 / n))


@pytest.mark.parametrize(
    "arguments, error, problem",
    [
        ({"queries": "many"}, TypeError, "queries is 'many': give a whole number"),
        ({"documents": 0}, ValueError, "documents is 0"),
        ({"features": 15}, ValueError, "features is 15: give a whole number ≥ 16"),
        ({"seed": 1.0}, TypeError, "seed is 1.0"),
        ({"click_model": "pbm"}, ValueError, "click_model is 'pbm': choose one of cascade, position"),
    ],
)
def test_arguments_that_are_wrong(arguments, error, problem):
    with pytest.raises(error, match=problem):
        web_search_log(**arguments)
