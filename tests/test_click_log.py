"""Click logs: aggregation, rates and keys; and the simulated users that fill them."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from lambdaboost import Queries
from lambdaboost.clicks import ClickLog, PositionBased, Propensities, simulate

FRAME = pd.DataFrame(
    {
        "q": ["b", "b", "a", "b", "b", "a"],
        "url": ["x", "y", "x", "y", "x", "x"],
        "rank": [1, 2, 1, 1, 2, 1],
        "click": [1, 0, 1, 1, 0, 0],
        "times": [2.0, 2.0, 1.0, 3.0, 3.0, 0.5],
        "visit": [10, 10, 11, 12, 12, 13],
    }
)
NAMES = {"query": "q", "document": "url", "position": "rank", "clicked": "click"}
LOG = ClickLog.from_frame(FRAME, **NAMES)


def rates(log, *given):
    """The rate of each of the log's documents."""
    return log.labels(*log.documents, *given)


def frame_of(log):
    """The counts as a frame."""
    counts = log.counts()
    query, document = (keys[counts.index] for keys in log.documents)
    names, at = counts.names, counts.position
    columns = {"query": query, "document": document, "position": np.array(names)[at - 1] if names else at}
    return pd.DataFrame(columns | {"impressions": counts.impressions, "clicks": counts.clicks})


def of(**changed):
    columns = {"query": [1, 1], "document": [1, 2], "position": [1, 2], "clicked": [0, 1]} | changed
    return ClickLog(**columns)


def test_counts_are_those_of_a_group_by():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "query": rng.integers(0, 20, 3000),
            "document": rng.integers(0, 9, 3000).astype(str),
            "position": rng.integers(1, 7, 3000),
            "clicked": rng.random(3000) < 0.3,
            "weight": rng.integers(0, 4, 3000),
        }
    )
    log, keys = ClickLog(**frame), ["query", "document", "position"]
    counts = log.counts()
    taken = frame.assign(taken=frame.clicked * frame.weight).groupby(keys, as_index=False)
    wanted = taken.agg(impressions=("weight", "sum"), clicks=("taken", "sum"))
    found = frame_of(log).sort_values(keys, ignore_index=True)
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False)
    assert log.counts() is counts
    first = frame.drop_duplicates(["query", "document"])
    assert log.n_documents == len(first)
    np.testing.assert_array_equal(log.documents[0], first["query"])
    np.testing.assert_array_equal(log.documents[1], first["document"])
    np.testing.assert_array_equal(counts.index, np.sort(counts.index))


def test_rates_by_hand():
    """Documents are (b, x), (b, y), (a, x)."""
    log = ClickLog.from_frame(FRAME, **NAMES, weight="times", session="visit")
    np.testing.assert_allclose(rates(log), [2 / 5, 3 / 5, 1 / 1.5])
    np.testing.assert_allclose(rates(log, (1, 3)), [3 / 9, 4 / 9, 2 / 5.5])
    curve = Propensities([1.0, 0.5])
    np.testing.assert_allclose(rates(log, (0, 0), curve), [2 / 3.5, 3 / 4, 1 / 1.5])
    assert rates(ClickLog([1], [1], [2], [1]), (0, 0), curve) == [1.0]  # one click in half a look
    assert np.isnan(rates(of(weight=[0, 1]))[0])


def test_labels_are_aligned_by_both_keys():
    found = LOG.labels(["a", "b", "a", "c", "b"], ["x", "y", "y", "x", "x"])
    np.testing.assert_array_equal(found, [0.5, 0.5, np.nan, np.nan, 0.5])
    assert LOG.find(["a", "b"], ["x", "x"]).tolist() == [2, 0] and LOG.find([], []).size == 0
    assert LOG.rows_of(["a", "b", "b", "b"], ["x", "y", "z", "x"]).tolist() == [3, 1, 0]


def test_positions_may_be_categories():
    log = of(position=["side", "top"])
    assert (log.position_names, log.n_positions) == (("side", "top"), 2)
    assert frame_of(log).position.tolist() == ["side", "top"]
    curve = Propensities([1.0, 0.25], names=("top", "side"))
    np.testing.assert_array_equal(rates(log, (0, 1), curve), [0.0, 0.5])


def test_a_log_is_immutable_and_can_be_sent():
    with pytest.raises(AttributeError, match="cannot assign to field"):
        LOG.weight = None
    with pytest.raises(ValueError, match="read-only"):
        LOG.clicked[0] = False
    mine = np.array([1, 1])
    log = of(query=mine)
    mine[0] = 5
    assert log.query.tolist() == [1, 1]
    for again in (pickle.loads(pickle.dumps(LOG)), copy.deepcopy(LOG), LOG.take(np.arange(LOG.n_rows))):
        pd.testing.assert_frame_equal(frame_of(again), frame_of(LOG))
    part = LOG.take(FRAME["q"] == "a")
    assert repr(part) == "ClickLog(2 impressions of 1 document in 1 query at 1 position; 1 click)"


REFUSED = [
    (lambda: of(query=[], document=[], position=[], clicked=[]), ValueError, "query is empty"),
    (lambda: of(document=[1]), ValueError, r"document has shape \(1,\), expected \(2,\)"),
    (lambda: of(query=FRAME["q"][1:3], clicked=FRAME.click[[2, 1]]), ValueError, "clicked has the rows of query in an"),
    (lambda: of(position=[1, None]), ValueError, "position is missing in row 1: a log holds what was shown"),
    (lambda: of(clicked=[0, 2]), ValueError, r"clicked\[1\] is 2: give 0 or 1"),
    (lambda: of(weight=[1, -1]), ValueError, r"weight\[1\] is -1"),
    (lambda: of(document=[2.0**53, 1]), ValueError, r"document\[0\] is 9007199254740992: float64 merges"),
    (lambda: ClickLog.from_frame(FRAME, **NAMES | {"position": "place"}), ValueError,
     "position='place': frame has no column 'place': choose among 'q', 'url'"),
    *((lambda data=data: ClickLog.from_frame(data, **NAMES), TypeError, "frame must be a pandas, polars or pyarrow ta")
      for data in ({}, np.eye(4))),
    (LOG.sessions, ValueError, "the log has no sessions"),
    (of(session=[7, 7], query=[1, 2]).session_of_row, ValueError, "session 7 has two queries, 1 and 2"),
    (of(session=[7, 7], position=[2, 2]).session_of_row, ValueError, "session 7 has two rows at position 2"),
    (lambda: rates(LOG, (-1, 1)), ValueError, "smoothing is .*: give two numbers ≥ 0"),
    (lambda: rates(LOG, 1), ValueError, r"smoothing is 1: give two numbers ≥ 0, such as \(1, 9\)"),
    (lambda: rates(LOG, (0, 0), [1, 0.5]), TypeError, "propensities is .*, expected Propensities"),
    (lambda: LOG.find(["a"], ["x", "y"]), ValueError, "query has shape"),
    (lambda: LOG.labels([1, 2], ["x", "y"]), TypeError, "query has 1, and the log 'b', text in one of them: none can"),
    (lambda: of().labels(pd.Series([1]), pd.Series(["x"], dtype="string")), TypeError,
     "document has 'x', and the log 1, text in one of them"),
    (lambda: LOG.rows_of(["a", "b"], ["x", "x"]), ValueError, "document y of query b is not in the data set"),
    (lambda: PositionBased(noise=1.5), ValueError, r"noise is 1\.5: give a probability"),
    (lambda: simulate([1, 2], Queries([1, np.nan], sizes=[2]), PositionBased(), 1, np.random.default_rng(0)),
     ValueError, r"relevance\[1\] is nan: simulated users need a grade"),
    (lambda: simulate(np.ma.array([1], mask=True), Queries([1], sizes=[1]), PositionBased(), 1, None), ValueError,
     r"scores\[0\] is nan"),
    (lambda: simulate([1], Queries([1], sizes=[1]), PositionBased(), 0, np.random.default_rng(0)), ValueError,
     "sessions is 0"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "words"), REFUSED)
def test_each_fault_is_a_sentence(call, error, words):
    with pytest.raises(error, match=f"^{words}") as raised:
        call()
    assert "\n" not in str(raised.value)


def test_sessions_are_lists_with_positions_and_clicks():
    log = ClickLog.from_frame(FRAME, **NAMES, session="visit")
    q, query, document = log.sessions()
    assert q.sizes.tolist() == [2, 1, 2, 1]
    assert q.position.tolist() == [1, 2, 1, 1, 2, 1]
    assert q.relevance.tolist() == q.labels["clicks"].tolist() == [1, 0, 1, 1, 0, 0]
    assert list(query) == ["b", "b", "a", "b", "b", "a"]
    assert list(document) == ["x", "y", "x", "y", "x", "x"]
    assert q.weight is None
    assert of(session=["b", "a"]).session_of_row().tolist() == [0, 1]


# Simulated users ----------------------------------------------------------------------------------------------------

Q = Queries([2, 0, 1, 0, 1, 1, 2, 0], sizes=[5, 3])
SCORES = np.array([0.3, 0.5, 0.4, 0.2, 0.1, 0.1, 0.3, 0.2])
GAIN = np.array([1, 0, 1 / 3, 0, 1 / 3, 1 / 3, 1, 0])
RANKING = [[1, 2, 0, 3], [6, 7, 5]]  # top 4


def clicks_of(model, sessions=40_000, seed=1):
    """The rate of clicks on each document of the top 4 of `Q`."""
    log = simulate(SCORES, Q, model, sessions, seed, k=4)
    return log, log.labels(Q.query_of_row, np.arange(Q.n_documents))


def test_the_top_k_is_shown_by_score():
    log, rate = clicks_of(PositionBased(), sessions=3)
    assert np.isnan(rate).tolist() == [False, False, False, False, True, False, False, False]
    counts = frame_of(log).set_index("document").position
    for ranking in RANKING:
        assert counts[ranking].tolist() == list(range(1, len(ranking) + 1))
    assert log.session_of_row().tolist() == [0] * 4 + [1] * 4 + [2] * 4 + [3] * 3 + [4] * 3 + [5] * 3


@pytest.mark.parametrize(
    ("model", "clicked"),
    [
        (PositionBased(0.5, noise=0.2), lambda k, gain: k**-0.5 * (0.2 + 0.8 * gain)),
        (PositionBased(2.0), lambda k, gain: k**-2.0 * (0.1 + 0.9 * gain)),
    ],
    ids=lambda value: getattr(value, "__name__", repr(value)),
)
def test_users_click_with_the_probability_of_their_model(model, clicked):
    """Within 4 standard errors; the same seed gives the same log."""
    _, rate = clicks_of(model)
    for ranking in RANKING:
        wanted = clicked(np.arange(1, len(ranking) + 1), GAIN[ranking])
        error = 4 * np.sqrt(np.maximum(wanted * (1 - wanted), 1e-4) / 40_000)
        assert (np.abs(rate[ranking] - wanted) <= error).all()
    again, other = (clicks_of(model, 50, seed)[0] for seed in (1, 2))
    np.testing.assert_array_equal(clicks_of(model, 50)[0].clicked, again.clicked)
    assert eval(repr(model)) == model
    assert (again.clicked != other.clicked).any()


def test_several_rankers_share_the_sessions():
    log = simulate([SCORES, -SCORES, -SCORES], Q, PositionBased(), 30_000, np.random.default_rng(0), k=2)
    counts = frame_of(log)
    shown = counts[counts["query"] == 1].set_index(["document", "position"]).impressions
    assert abs(shown[6, 1] - 10_000) < 400
    assert abs(shown[5, 1] - 20_000) < 400
