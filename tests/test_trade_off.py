"""`trade_off`: two measures of weighted sums of scores, and the weight that is proven to lose little."""

import dataclasses

import numpy as np
import pytest

from lambdaboost import CNDCG, NDCG, Queries, compare, trade_off

BOTH = (NDCG(k=5), CNDCG(k=5))


def drawn(seed, queries=200, second=1.0, documents=10, noise=1.0):
    """Scores of a model of grades and of one of clicks; `second` is how much the latter knows."""
    rng = np.random.default_rng(seed)
    n = queries * documents
    taste, appeal = rng.normal(size=(2, n))
    q = Queries(np.digitize(taste, [0, 1]), sizes=[documents] * queries, clicks=(appeal > 1).astype(int))
    return taste + noise * rng.normal(size=n), second * appeal + rng.normal(size=n), q


def test_frame_has_the_differences_of_compare():
    """Means, differences, intervals and p-values at each weight are those of `compare`, with weights of queries."""
    first, second, q = drawn(0, 60)
    q = Queries(q.relevance, q.sizes, weight=np.random.default_rng(1).random(60), clicks=q.labels["clicks"])
    curve = trade_off(first, second, q, BOTH)
    frame = curve.frame
    assert frame["weight"].tolist() == pytest.approx(np.linspace(0, 1, 21))
    systems = {f"{w:g}": (1 - w) * first / first.std() + w * second / second.std() for w in frame["weight"]}
    compared = compare(systems, q, BOTH)
    assert curve.means_over == compared.means_over == "Weighted means over 60 queries, times 100."
    for at, name in enumerate(systems):
        for measure, column in zip(BOTH, ("first", "second"), strict=True):
            wanted = compared[name, measure]
            row = frame.iloc[at]
            assert row[column] == pytest.approx(wanted.mean)
            if at:
                parts = ["difference", "low", "high", "p", "p after Holm"]
                assert row[[f"{column} {part}" for part in parts]].tolist() == pytest.approx(list(wanted[3:]))


def test_choice_is_proven_and_its_weights_merge():
    """The last weight before the first that loses too much, in terms that `merge` takes."""
    first, second, q = drawn(2, 2000)
    curve = trade_off(100 * first + 7, second, q, BOTH)
    choice = curve.choose(tolerance=0.01)
    row = curve.frame[curve.frame["weight"] == choice.weight].iloc[0]
    assert 0 < choice.weight < 0.5
    assert choice.loss == -row["first difference"] < 0.01
    assert choice.loss_interval == (-row["first high"], -row["first low"])
    assert choice.gain == row["second difference"] > 0
    assert choice.gain_interval == (row["second low"], row["second high"])
    assert "is proven to lose less than 0.01" in choice.sentence
    assert "Only queries that neither model was trained on or stopped by prove anything" in choice.sentence
    scores = np.dot(choice.weights, [100 * first + 7, second])
    assert [m(scores, q) for m in BOTH] == pytest.approx([row["first"], row["second"]])
    assert curve.choose(tolerance=0.05).weight > choice.weight
    # A first weight that loses too much ends the sequence, whatever later ones lose.
    first_fails = dataclasses.replace(curve, losses=(*curve.losses[:1], curve.losses[20], *curve.losses[2:]))
    assert first_fails.choose(tolerance=0.01).weight == 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        choice.weight = 0.5


@pytest.mark.slow
def test_noise_gives_nothing_away():
    """Clicks and a model of them drawn at random: the first model alone, in at least 95 of 100 runs."""
    kept = [
        trade_off(*drawn(seed, second=0.0), BOTH).choose(tolerance=0.01).weight == 0 for seed in range(100)
    ]
    assert sum(kept) >= 95


@pytest.mark.slow
def test_losses_exceed_the_tolerance_in_one_of_twenty_at_most():
    """The true loss of a choice is that on 4,000 other queries."""
    truth = trade_off(*drawn(1000, 4000), BOTH).frame
    weights = [trade_off(*drawn(seed, 300), BOTH).choose(tolerance=0.01).weight for seed in range(100)]
    losses = -truth["first difference"].to_numpy()[np.rint(20 * np.array(weights)).astype(int)]
    assert np.mean(losses > 0.01) <= 0.05
    assert np.mean(weights) > 0.03


def test_second_model_alone():
    """Where the second model is better in both measures, the choice says that the first has no part."""
    first, second, q = drawn(11, 500, noise=30.0)
    better = second + np.asarray(q.relevance)
    choice = trade_off(first, better, q, BOTH).choose(tolerance=0.01)
    assert choice.weights[0] == 0
    assert choice.sentence.startswith("Weight 1.00, the second model alone: ")


def test_few_queries_prove_nothing():
    """It says so, and how many queries it would take."""
    choice = trade_off(*drawn(3, 20), BOTH).choose(tolerance=0.001)
    assert choice.weight == choice.loss == choice.gain == 0
    assert choice.weights[1] == 0
    assert "The first model alone: on 20 queries" in choice.sentence
    assert "queries would prove" in choice.sentence
    one = trade_off(*drawn(4, 1), (NDCG(5), CNDCG(5))).choose(tolerance=0.5)
    assert one.weight == 0


def test_no_gain_of_the_second_measure():
    """What is proven to cost nothing, but gains nothing, is not chosen."""
    first, _, q = drawn(5, 500)
    choice = trade_off(first, first + 1e-9 * np.arange(first.size), q, BOTH).choose(tolerance=0.01)
    assert choice.weight == 0
    assert "has no significant gain" in choice.sentence


def test_undefined_queries_are_left_out():
    """With empty=NaN; measures may be given by name."""
    first, second, q = drawn(6, 50)
    empty = float("nan")
    strict = trade_off(first, second, q, (NDCG(5), CNDCG(5, empty=empty))).frame
    named = trade_off(first, second, q, ["ndcg@5", "cndcg@5"]).frame
    defined = ~np.isnan(CNDCG(5, empty=empty).per_query(first, q))
    assert 0 < defined.sum() < 50
    assert strict["first"].tolist() == named["first"].tolist()
    assert strict["second"].to_numpy() * defined.mean() == pytest.approx(named["second"].to_numpy())


def test_shown():
    """As text, as HTML with a picture, and on given axes."""
    plt = pytest.importorskip("matplotlib.pyplot")
    curve = trade_off(*drawn(7, 30), BOTH)
    assert "0.50" in repr(curve)
    page = curve._repr_html_()
    assert page.startswith("<svg")
    assert "on the Pareto front" in page
    axes = plt.figure().subplots()
    assert curve.plot(axes) is axes
    assert axes.get_xlabel() == "Mean ndcg@5 × 100"
    plt.close("all")


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"first": np.ones(9)}, ValueError, "first"),
        # With a deviation of 1e-17.
        ({"second": np.full(300, 0.1)}, ValueError, "second: all scores are equal"),
        ({"first": np.r_[1e200, -np.ones(299)]}, ValueError, "first: the standard deviation of the scores"),
        ({"first": np.r_[1e-200, np.zeros(299)]}, ValueError, "first: the standard deviation of the scores"),
        ({"second": np.r_[-np.inf, np.ones(299)]}, ValueError, r"second: scores\[0\] is -inf"),
        ({"q": [0, 1]}, TypeError, "q is of type list"),
        (
            {"q": Queries(np.arange(300), [10] * 30, weight=np.zeros(30))},
            ValueError,
            "q has no query of positive weight",
        ),
        ({"measures": (NDCG(3), "ndcg@3")}, ValueError, r"measures is \(NDCG\(k=3\),\): give two, the one"),
        ({"measures": (NDCG(3), CNDCG(3, source="sales"))}, ValueError, "sales"),
    ],
)
def test_wrong_arguments(change, error, message):
    """Each is refused in a sentence."""
    first, second, q = drawn(9, 30)
    given = {"first": first, "second": second, "q": q, "measures": BOTH} | change
    with pytest.raises(error, match=message):
        trade_off(**given)

    with pytest.raises(ValueError, match="tolerance is 0: give a finite number > 0"):
        trade_off(first, second, q, BOTH).choose(tolerance=0)
