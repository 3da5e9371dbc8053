"""Estimators of position bias recover the true curve of simulated users, and refuse logs that do not tell it."""

import warnings

import numpy as np
import pytest

from lambdaboost import Queries
from lambdaboost.clicks import (
    Cascade,
    CascadeModel,
    ClickLog,
    DynamicBayesian,
    PositionBased,
    Propensities,
    intervention_harvesting,
    regression_em,
    simulate,
    simulate_swaps,
    swap_experiment,
)

RNG = np.random.default_rng(7)
K = 6
Q = Queries(RNG.integers(0, 3, 150 * 8), sizes=[8] * 150)
# The features tell relevance with an error; the rankers are better than chance, so relevance differs by position.
X = np.column_stack([Q.relevance + 0.5 * RNG.normal(size=1200), RNG.normal(size=(1200, 2))])
SCORE = 0.5 * X[:, 0] + RNG.normal(size=1200)
RANKERS = np.array([SCORE, SCORE + RNG.normal(size=1200), SCORE + RNG.normal(size=1200)])
ESTIMATORS = {"all-pairs": intervention_harvesting, "em": regression_em}
etas = pytest.mark.parametrize("eta", [0.0, 1.0, 2.0])


def log_of(eta, sessions=300, seed=1, rankers=RANKERS):
    return simulate(rankers, Q, PositionBased(eta), sessions, np.random.default_rng(seed), k=K)


def largest_error(curve, eta):
    """The largest relative error, both relative to the best position of the estimate."""
    true, best = np.array(Propensities.power(eta, K).values), np.argmax(curve.values)
    return np.abs(np.array(curve.values) / (true / true[best]) - 1).max()


@etas
@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_true_curve_is_in_the_intervals(name, eta):
    """Five of six positions at least; and the intervals are not so wide that they would hold any curve."""
    curve = ESTIMATORS[name](log_of(eta))
    assert curve.covers(Propensities.power(eta, K)).sum() >= K - 1
    assert curve.covers(Propensities.power(eta + 1, K)).sum() <= 2
    assert largest_error(curve, eta) < {0.0: 0.06, 1.0: 0.15, 2.0: 0.3}[eta]
    assert len(curve) == K
    assert max(curve.values) == 1


@etas
def test_click_rates_alone_are_not_the_curve(eta):
    """The logs are such that an estimator has something to correct."""
    counts = log_of(eta).counts()
    rate = counts.by_position(counts.clicks) / counts.by_position(counts.impressions)
    naive = Propensities(rate / rate.max())
    assert largest_error(naive, eta) > 1.5 * largest_error(regression_em(log_of(eta), intervals=0), eta)
    assert largest_error(naive, eta) > 0.15


@etas
def test_swaps_recover_the_curve(eta):
    log, arm = simulate_swaps(SCORE, Q, PositionBased(eta), 300, np.random.default_rng(3), k=K)
    curve = swap_experiment(log, arm)
    assert curve.covers(Propensities.power(eta, K)).sum() >= K - 1
    assert curve.covers(Propensities.power(eta + 1, K)).sum() <= 2


def test_shuffled_lists_recover_the_curve():
    query, document, session = (
        a.ravel() for a in np.meshgrid(range(80), range(5), range(100), indexing="ij")
    )
    rng = np.random.default_rng(0)
    position = rng.permuted(np.broadcast_to(np.arange(1, 6), (80, 100, 5)), axis=2).transpose(0, 2, 1).ravel()
    attracts = rng.random((80, 5))[query, document]
    clicked = rng.random(query.size) < attracts / position
    log = ClickLog(query, document, position, clicked, session=query * 100 + session)
    curve = swap_experiment(log)
    assert curve.covers(Propensities.power(1, 5)).sum() >= 4
    with pytest.raises(ValueError, match="the lists were not shuffled"):
        swap_experiment(log_of(1.0))
    with pytest.raises(ValueError, match="the lists were not shuffled"):
        swap_experiment(log_of(1.0, rankers=SCORE))


def test_features_tell_the_curve_from_one_ranker(eta=1.0):
    """Without them the log of one ranker says nothing of the curve."""
    log = log_of(eta, 200, rankers=SCORE)
    features = X[log.rows_of(Q.query_of_row, np.arange(Q.n_documents))]
    curve = regression_em(log, features)
    assert curve.low is None
    counts = log.counts()
    rate = counts.by_position(counts.clicks) / counts.by_position(counts.impressions)
    naive = Propensities(rate / rate.max())
    assert largest_error(curve, eta) < 0.15 < largest_error(naive, eta)
    with pytest.raises(ValueError, match="or use regression_em with features"):
        regression_em(log)


def test_intervals_hold_the_truth_as_often_as_they_say():
    """95 % intervals of the positions below the best, over 30 logs: 150 of them, correlated within a log."""
    for name in ("all-pairs", "em"):
        held = [
            ESTIMATORS[name](log_of(1.0, 40, seed), intervals=60).covers(Propensities.power(1.0, K))[1:]
            for seed in range(30)
        ]
        assert 0.86 < np.mean(held) < 0.99, name


def test_few_impressions_of_each_document_do_not_bend_the_curve():
    """A relevance for each document is estimated from six impressions here."""
    log = log_of(1.0, 6, seed=4)
    assert regression_em(log).covers(Propensities.power(1.0, K)).sum() >= K - 1


def test_estimates_are_seeded_and_intervals_optional():
    log = log_of(1.0, 30)
    for estimate in (*ESTIMATORS.values(),):
        assert estimate(log, intervals=20, seed=3) == estimate(log, intervals=20, seed=3)
        assert estimate(log, intervals=20, seed=3) != estimate(log, intervals=20, seed=4)
        assert estimate(log, intervals=0).low is None
        assert estimate(log, intervals=0).values == estimate(log, intervals=20).values
        with pytest.raises(ValueError, match="intervals is -1"):
            estimate(log, intervals=-1)


def test_all_pairs_is_the_largest_likelihood():
    """The likelihood of the docstring, over p and r, by a general optimizer."""
    from scipy.optimize import minimize

    from lambdaboost.clicks.harvesting import all_pairs

    low, high = np.array([0, 0, 1]), np.array([1, 2, 2])
    sums = np.array([[30.0, 12.0, 60.0], [20.0, 9.0, 50.0], [14.0, 13.0, 80.0]])

    def cost(x):
        p, r = np.exp(np.concatenate([[0], x[:2]])), np.exp(x[2:])
        total = 0.0
        for k, c in ((low, sums[:, 0]), (high, sums[:, 1])):
            rate = np.minimum(p[k] * r, 1 - 1e-9)
            total += (c * np.log(rate) + (sums[:, 2] - c) * np.log(1 - rate)).sum()
        return -total

    best = minimize(
        cost,
        np.full(5, -1.0),
        method="Nelder-Mead",
        options={"maxiter": 20_000, "xatol": 1e-9, "fatol": 1e-12},
    )
    np.testing.assert_allclose(all_pairs(low, high, sums, 3), np.exp([0, *best.x[:2]]), rtol=1e-5)


def counted(rows):
    """A log of (document, position, clicks, impressions)."""
    document, position, clicks, impressions = (np.array(column) for column in zip(*rows, strict=True))
    clicked = np.repeat([True, False], len(rows))
    return ClickLog(
        np.zeros(2 * len(rows)), np.tile(document, 2), np.tile(position, 2), clicked,
        np.concatenate([clicks, impressions - clicks]),
    )  # fmt: skip


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_log_of_one_ranker_does_not_tell_the_curve(name):
    with pytest.raises(ValueError, match="position and relevance cannot be separated") as raised:
        ESTIMATORS[name](log_of(1.0, 20, rankers=SCORE))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "rows", "message"),
    [
        ("all-pairs", [("x", 1, 5, 10), ("x", 2, 0, 10)], "too few clicks connect the positions"),
        ("em", [("x", 1, 5, 10), ("x", 2, 0, 10)], "too few clicks connect the positions"),
    ],
)  # fmt: skip
def test_a_curve_that_cannot_be_identified(name, rows, message):
    with pytest.raises(ValueError, match=message) as raised:
        ESTIMATORS[name](counted(rows), intervals=0)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("more", "left"),
    [
        ([("y", 3, 1, 10), ("y", 4, 1, 10)], "positions 3, 4"),  # a part with fewer clicks
        ([("z", 5, 3, 10)], "positions 3, 4, 5"),  # never shown; shown where nothing else is
        ([("x", 3, 0, 10)], "position 3"),  # no click: its propensity has no largest likelihood above 0
        ([("z", 3, 0, 10), ("z", 4, 2, 10), ("x", 3, 0, 10)], "positions 3, 4"),
        ([("z", 9999, 1, 2), ("z", 9998, 1, 2)], "positions 3, 4, 5, 6, 7, 8, 9, 10 and 9989 more"),
    ],
)
@pytest.mark.parametrize("name", ["all-pairs", "em"])
def test_the_connected_part_of_the_positions_is_used(name, more, left):
    rows = [("x", 1, 8, 10), ("x", 2, 4, 10)]
    with pytest.warns(UserWarning, match=f"^{left}: left out, since .* extended"):
        curve = ESTIMATORS[name](counted(rows + more), intervals=0)
    whole = ESTIMATORS[name](counted(rows), intervals=0)
    assert curve.values[:2] == pytest.approx(whole.values) and set(curve.values[2:]) == {None}


def test_a_rare_position_does_not_refuse_the_log():
    """One query tells position 9, too few for an interval; the other positions are as before."""
    log = log_of(1.0)
    rare = ClickLog(
        np.append(log.query, log.query[:2]), np.append(log.document, log.document[:2]),
        np.append(log.position, [9, 9]), np.append(log.clicked, [True, False]),
    )  # fmt: skip
    with pytest.warns(UserWarning, match="^positions 7, 8, 9: left out"):
        curve = intervention_harvesting(rare)
    assert curve.covers(Propensities.power(1.0, 9)).sum() >= K - 1
    longer = curve.extended()
    assert len(longer) == 9 and longer.covers(Propensities.power(1.0, 9)).sum() >= K + 2
    assert largest_error(Propensities(longer.values[:K]), 1.0) < 0.15


def test_features_leave_out_positions_without_clicks():
    log = log_of(1.0, 40)
    few = log.take((log.position != 4) & ~((log.position == K) & log.clicked))
    x = X[few.rows_of(Q.query_of_row, np.arange(Q.n_documents))]
    with pytest.warns(UserWarning, match=f"^positions 4, {K}: left out"):
        curve = regression_em(few, x)
    assert curve.values[3] is curve.values[5] is None
    known = [0, 1, 2, 4]
    np.testing.assert_allclose(
        np.take(curve.values, known).astype(float), 1 / (1 + np.array(known)), rtol=0.25
    )


def test_wrong_arguments():
    log, arm = simulate_swaps(SCORE, Q, PositionBased(1), 5, np.random.default_rng(0), k=3)
    with pytest.raises(ValueError, match=r"arm has shape \(2,\), the log has"):
        swap_experiment(log, [0, 2])
    for wrong in (1, 4, -2):
        with pytest.raises(ValueError, match=rf"arm\[3\] is {wrong}: give a position from 2 to 3"):
            swap_experiment(log, np.where(np.arange(log.n_rows) == 3, wrong, arm))
    with pytest.raises(TypeError, match="arm must be whole numbers"):
        swap_experiment(log, arm * 1.0)
    with pytest.raises(ValueError, match="position 3: no arm of the experiment"):
        swap_experiment(log, np.where(arm == 3, 0, arm))
    with pytest.raises(ValueError, match=r"features has shape \(3, 1\), expected"):
        regression_em(log, [[1], [2], [3]])
    x = np.ones((log.n_documents, 2))
    with pytest.raises(TypeError, match="features must be numbers"):
        regression_em(log, np.where(x > 0, "a", ""))
    with pytest.raises(ValueError, match=r"features\[:, 1\] is missing in every row: leave the column out"):
        regression_em(log, x * [1, np.nan])
    with pytest.raises(ValueError, match=r"features has shape \(\d+, 0\), expected"):
        regression_em(log, x[:, :0])
    for seed, error in ((-1, ValueError), ("a", TypeError), (1.5, TypeError)):
        with pytest.raises(error, match="seed"):
            swap_experiment(log, arm, seed=seed)
    with pytest.raises(ValueError, match="the log has one query: give intervals=0"):
        intervention_harvesting(counted([("x", 1, 5, 10), ("x", 2, 4, 10)]))


@pytest.mark.parametrize(
    "estimate", [*ESTIMATORS.values(), swap_experiment, CascadeModel.fit, DynamicBayesian.fit]
)
def test_what_is_no_log_is_refused(estimate):
    with pytest.raises(TypeError, match=r"log is dict, expected ClickLog\(…\) or ClickLog\.from_frame"):
        estimate({"query": [1]})


def test_a_click_without_weight_tells_nothing():
    weighted = ClickLog([1, 1], ["x", "y"], [1, 2], [0, 1], weight=[0, 0], session=[1, 1])
    with pytest.raises(ValueError, match="no session has a click"):
        DynamicBayesian.fit(weighted)
    both = ClickLog([1] * 4, ["x", "y"] * 2, [1, 2] * 2, [0, 1, 1, 0], [0, 0, 1, 1], [1, 1, 2, 2])
    with pytest.raises(ValueError, match="no click is below the first position"):
        DynamicBayesian.fit(both)
    with pytest.raises(TypeError, match="continuation is 'a': give a probability"):
        DynamicBayesian.fit(both, "a")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_click_on_everything_is_no_bias(name):
    curve = ESTIMATORS[name](
        counted(
            [("x", 1, 9, 9), ("x", 2, 4, 4), ("y", 2, 5, 5), ("y", 3, 7, 7), ("z", 1, 2, 2), ("z", 3, 2, 2)]
        ),
        intervals=0,
    )
    np.testing.assert_allclose(curve.values, [1, 1, 1], rtol=1e-5)


def test_categories_keep_their_names():
    log = log_of(1.0, 100)
    names = np.array(["", "top", "upper", "middle", "low", "lower", "foot"])
    named = ClickLog(log.query, log.document, names[log.position], log.clicked)
    curve = regression_em(named, intervals=0)
    assert curve.names == named.position_names
    by_rank = regression_em(log, intervals=0)
    np.testing.assert_allclose(curve.at(names[1:]), by_rank.values, rtol=1e-6)


# Click models ---------------------------------------------------------------------------------------------------------

GAIN = (2.0**Q.relevance - 1) / 3
ATTRACTS = 0.1 + 0.9 * GAIN
ROWS = (Q.query_of_row, np.arange(Q.n_documents))


def seen(log, labels, least, model):
    """Documents that enough users have read, whose labels are then precise."""
    read = np.bincount(log.document_of_row, model.examination(), minlength=log.n_documents)
    kept = np.nan_to_num(log.aligned(read, *ROWS)) >= least
    assert kept.sum() > 200
    return labels[kept], kept


def test_the_cascade_model_recovers_attraction():
    log = simulate(RANKERS, Q, Cascade(), 600, np.random.default_rng(2), k=K)
    model = CascadeModel.fit(log)
    labels, kept = seen(log, model.labels(*ROWS), 300, model)
    assert np.abs(labels - ATTRACTS[kept]).max() < 0.12
    assert np.abs((labels - ATTRACTS[kept]).mean()) < 0.01
    rates, _ = seen(log, log.labels(*ROWS), 300, model)
    assert np.abs((rates - ATTRACTS[kept]).mean()) > 0.05  # clicks alone are biased


def test_the_cascade_model_knows_what_was_read():
    log = ClickLog(
        [0] * 4 + [1] * 2,
        [1, 2, 3, 4, 1, 2],
        [1, 2, 3, 4, 2, 1],
        [0, 1, 0, 1, 0, 0],
        session=[0] * 4 + [1] * 2,
    )
    model = CascadeModel.fit(log, smoothing=(0, 0))
    assert model.examination().tolist() == [1, 1, 0, 0, 1, 1]
    np.testing.assert_array_equal(model.attraction, [0, 1, np.nan, np.nan, 0, 0])


def test_the_dynamic_bayesian_network_recovers_its_users():
    users = Cascade(continuation=0.8, satisfaction=0.7)
    log = simulate(RANKERS, Q, users, 600, np.random.default_rng(2), k=K)
    model = DynamicBayesian.fit(log)
    assert abs(model.continuation - 0.8) < 0.02
    labels, kept = seen(log, model.labels(*ROWS), 300, model)
    assert np.abs((labels - ATTRACTS[kept] * 0.7 * GAIN[kept]).mean()) < 0.02
    attraction, _ = seen(log, log.aligned(model.attraction, *ROWS), 300, model)
    assert np.abs((attraction - ATTRACTS[kept]).mean()) < 0.01
    # The truth: read if nobody above has satisfied or stopped the user.
    reads_on = 0.8 * (1 - ATTRACTS * 0.7 * GAIN)
    pages = [
        np.argsort(-score.reshape(150, 8), axis=1)[:, :K] + 8 * np.arange(150)[:, None] for score in RANKERS
    ]
    read = np.mean([np.cumprod(reads_on[page], axis=1).mean(axis=0)[: K - 1] for page in pages], axis=0)
    np.testing.assert_allclose(model.propensities(intervals=0).values, [1, *read], rtol=0.07)
    assert model.propensities(intervals=50).low is not None


def test_the_posterior_of_the_dynamic_bayesian_network_is_that_of_enumeration():
    """P(read | clicks), by adding up all that may have happened in a session."""
    rng = np.random.default_rng(0)
    log = ClickLog(
        [0] * 12,
        [0, 1, 2, 3] * 3,
        [1, 2, 3, 4] * 3,
        [0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0],
        session=np.arange(12) // 4,
    )
    model = DynamicBayesian(log, rng.random(4), rng.random(4), 0.7)
    found = model.examination().reshape(3, 4)
    for clicked, examined in zip(log.clicked.reshape(3, 4), found, strict=True):
        total, read = 0.0, np.zeros(4)
        for last in range(4):  # the last place that is read
            for satisfied in (False, True):
                chance = 1.0
                for i in range(4):
                    a, s = model.attraction[i], model.satisfaction[i]
                    if i > last:
                        chance *= not clicked[i]
                        continue
                    chance *= a if clicked[i] else 1 - a
                    ends = i == last
                    stays = (1 - s) if clicked[i] else 1.0
                    if ends and satisfied:
                        chance *= s if clicked[i] else 0.0
                    elif ends:
                        chance *= stays * (1.0 if last == 3 else 0.3)
                    else:
                        chance *= stays * 0.7
                total += chance
                read[: last + 1] += chance
        np.testing.assert_allclose(examined, read / total)


def test_equal_sessions_weigh_as_one_with_a_weight():
    log = simulate(SCORE, Q, Cascade(0.8, 0.7), 30, np.random.default_rng(2), k=3)
    half = log.take(log.query < 40)
    doubled = ClickLog(*(np.tile(a, 2) for a in (half.query, half.document, half.position, half.clicked)),
                       session=np.concatenate([half.session, half.session + 10**6]))  # fmt: skip
    weighted = ClickLog(
        half.query, half.document, half.position, half.clicked, np.full(half.n_rows, 2.0), half.session
    )
    one, two = DynamicBayesian.fit(doubled), DynamicBayesian.fit(weighted)
    np.testing.assert_allclose(one.attraction, two.attraction, rtol=1e-9)
    assert one.continuation == pytest.approx(two.continuation)


def test_logs_that_click_models_refuse():
    log = ClickLog([0, 0], [1, 2], [1, 2], [1, 0], session=[0, 0])
    with pytest.raises(ValueError, match="the log has no sessions"):
        CascadeModel.fit(ClickLog([0, 0], [1, 2], [1, 2], [1, 0]))
    with pytest.raises(ValueError, match="positions are categories, which users do not read in order"):
        CascadeModel.fit(ClickLog([0, 0], [1, 2], ["top", "side"], [1, 0], session=[0, 0]))
    with pytest.raises(ValueError, match="whether users read on cannot be estimated: give continuation="):
        DynamicBayesian.fit(log)
    assert DynamicBayesian.fit(log, continuation=0.9).continuation == 0.9
    with pytest.raises(ValueError, match="continuation is 0"):
        DynamicBayesian.fit(log, continuation=0)
    with pytest.raises(ValueError, match="no session has a click"):
        DynamicBayesian.fit(ClickLog([0, 0], [1, 2], [1, 2], [0, 0], session=[0, 0]))
    with pytest.raises(ValueError, match="row 1 has a weight other than the rest of its session"):
        CascadeModel.fit(ClickLog([0, 0], [1, 2], [1, 2], [1, 0], [1, 2], [0, 0]))


def test_documents_that_were_never_read_leave_the_others_alone():
    """With continuation 1 and no smoothing, nothing is known below a click that always satisfies."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        n_documents, n = rng.integers(2, 5), rng.integers(1, 6)
        k = int(rng.integers(2, n_documents + 1))
        documents = np.array([rng.permutation(n_documents)[:k] for _ in range(n)])
        clicked = rng.random((n, k)) < 0.4
        clicked[0, 0] = True
        place = np.tile(np.arange(1, k + 1), n)
        session = np.repeat(np.arange(n), k)
        log = ClickLog(np.zeros(n * k, int), documents.ravel(), place, clicked.ravel(), session=session)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # so few sessions may take more steps than there are
            model = DynamicBayesian.fit(log, continuation=1, smoothing=(0, 0))
        for found in (model.attraction, model.satisfaction, model.relevance, model.examination()):
            assert ((found >= 0) & (found <= 1)).all()


def test_a_fit_that_stops_at_its_limit_of_steps_warns(monkeypatch):
    log = simulate(RANKERS, Q, Cascade(0.8, 0.7), 20, np.random.default_rng(2), k=3)
    monkeypatch.setattr("lambdaboost.clicks.dynamic_bayesian.STEPS", 2)
    with pytest.warns(UserWarning, match=r"DynamicBayesian.fit stopped after 2 steps .*; give smoothing="):
        DynamicBayesian.fit(log)
    monkeypatch.setattr("lambdaboost.clicks._likelihood.STEPS", 2)
    with pytest.warns(
        UserWarning, match="regression_em stopped after 2 steps .*; give more sessions"
    ) as told:
        regression_em(log, intervals=20)
    assert len(told) == 1  # of the curve, not of its resamples
    monkeypatch.setattr("lambdaboost.clicks.expectation_maximization.STEPS", 1)
    x = np.random.default_rng(0).random((log.n_documents, 2))
    with pytest.warns(UserWarning, match="regression_em stopped after 1 steps"):
        regression_em(log, x)


def test_features_of_one_query_have_no_others_to_learn_from():
    log = ClickLog([0] * 6, [1, 2, 3] * 2, [1, 2, 3] * 2, [1, 0, 1, 0, 1, 0])
    with pytest.raises(
        ValueError, match=r"^the log has one query, but with features .*: give a log of at least 2"
    ):
        regression_em(log, np.eye(3))
