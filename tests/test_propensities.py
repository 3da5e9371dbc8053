"""`Propensities`: the value that estimators return and objectives and measures read."""

import pickle

import numpy as np
import pytest

from lambdaboost import Queries
from lambdaboost.clicks import Propensities
from lambdaboost.datasets.positions import Positions

CURVE = Propensities((1.0, 0.5, 0.25), (1.0, 0.4, 0.2), (1.0, 0.6, 0.3))


def test_equal_curves_are_equal_and_read_back():
    given = Propensities(np.array([1, 0.5], dtype=np.float32), names=["top", "side"])
    assert given == Propensities((1.0, 0.5), names=("top", "side"))
    assert hash(given) == hash(Propensities([1, 0.5], names=("top", "side")))
    for curve in (given, CURVE):
        assert eval(repr(curve)) == curve
        assert pickle.loads(pickle.dumps(curve)) == curve


def test_power_is_one_over_rank():
    np.testing.assert_array_equal(Propensities.power(0.5, 4).values, 1 / np.sqrt([1, 2, 3, 4]))
    assert Propensities.power(0, 3).values == (1.0, 1.0, 1.0)
    for eta in (-1, float("nan"), float("inf"), "1"):
        with pytest.raises(ValueError, match=r"^eta is"):
            Propensities.power(eta, 3)
    for k in (0, 2.5):
        with pytest.raises(ValueError, match=r"^k is"):
            Propensities.power(1, k)


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([], ValueError, "^values is empty"),
        ([1, 0, 0.5], ValueError, r"^values\[1\] is 0: the propensity of position 2 must be above 0 and at most 1$"),
        ([1.5], ValueError, r"^values\[0\] is 1.5"),
        ([1, -0.5], ValueError, r"^values\[1\] is -0.5"),
        ([1, float("nan")], ValueError, r"^values\[1\] is nan"),
        (np.ma.array([1, 0.5], mask=[False, True]), ValueError, r"^values\[1\] is nan"),
        ("0.5", TypeError, "^values must be numbers"),
        (["a"], TypeError, "^values must be numbers"),
        ([[1.0]], ValueError, r"^values has shape \(1, 1\)"),
    ],
)  # fmt: skip
def test_wrong_values_are_one_line(values, error, message):
    with pytest.raises(error, match=message) as raised:
        Propensities(values)
    assert "\n" not in str(raised.value)


def test_wrong_intervals_and_names():
    with pytest.raises(ValueError, match="give both ends"):
        Propensities([1, 0.5], low=[1, 0.4])
    with pytest.raises(ValueError, match="1 and 2 ends, values has 2"):
        Propensities([1, 0.5], [1], [1, 0.6])
    with pytest.raises(ValueError, match=r"low\[1\] is 0.6 and high\[1\] 0.4"):
        Propensities([1, 0.5], [1, 0.6], [1, 0.4])
    with pytest.raises(ValueError, match="names has 1 different names, but there are 2 values"):
        Propensities([1, 0.5], names=["a", "a"])
    # A set has no order.
    for names in ([1, 2], 5, "ab", {"a", "b"}):
        with pytest.raises(TypeError, match="names must be a sequence of strings"):
            Propensities([1, 0.5], names=names)


def test_a_position_without_propensity_is_an_error():
    np.testing.assert_array_equal(CURVE.at([[3, 1], [2, 2]]), [[0.25, 1.0], [0.5, 0.5]])
    assert CURVE.at(np.array([2.0, 1.0])).tolist() == [0.5, 1.0]
    assert CURVE.at([]).size == 0
    with pytest.raises(ValueError, match="position 7 is past the curve, whose last position is 3"):
        CURVE.at([1, 4, 7])
    for wrong in (0, -1, 1.5, float("nan")):
        with pytest.raises(ValueError, match="has no propensity: positions are whole numbers from 1"):
            CURVE.at([1, wrong])
    with pytest.raises(TypeError, match="this curve has no names"):
        CURVE.at(["top"])
    with pytest.raises(TypeError, match="whole numbers"):
        CURVE.at([True])


def test_named_positions():
    curve = Propensities([0.3, 1.0], names=("side", "top"))
    assert curve.at(["top", "side"]).tolist() == [1.0, 0.3]
    assert curve.at([2]).tolist() == [1.0]
    with pytest.raises(
        ValueError, match="position 'foot' is not on the curve, whose names are side, top: give"
    ):
        curve.at(["top", "foot"])


def queries(codes, names=None):
    return Queries(
        [0] * len(codes), sizes=[len(codes)], position=Positions(np.array(codes, dtype=np.int32), names)
    )


def test_of_queries_is_nan_where_a_document_was_not_shown():
    np.testing.assert_array_equal(CURVE.of(queries([0, 2, 1])), [np.nan, 0.5, 1.0])
    with pytest.raises(ValueError, match="no positions here: give the rank"):
        CURVE.of(Queries([0], sizes=[1]))
    with pytest.raises(ValueError, match="past the curve"):
        CURVE.of(queries([1, 4]))


def test_of_queries_matches_categories_by_name():
    """The codes of a part of the data may differ from those of the curve: names decide."""
    curve = Propensities([0.3, 0.8, 1.0], names=("foot", "side", "top"))
    np.testing.assert_array_equal(curve.of(queries([1, 2, 0], ("side", "top"))), [0.8, 1.0, np.nan])
    np.testing.assert_array_equal(curve.of(queries([2], ("new", "top"))), [1.0])  # no document is in "new"
    with pytest.raises(ValueError, match="position 'new' is not on the curve"):
        curve.of(queries([1], ("new", "top")))
    with pytest.raises(ValueError, match="the curve has no names"):
        CURVE.of(queries([1, 2], ("side", "top")))
    with pytest.raises(ValueError, match="those of the data are ranks"):
        curve.of(queries([1, 2]))


def test_scaled_is_relative_to_the_largest():
    curve = Propensities([0.2, 0.4], [0.1, 0.4], [0.3, 0.4]).scaled()
    assert curve == Propensities((0.5, 1.0), (0.25, 1.0), (0.3 / 0.4, 1.0))
    assert CURVE.scaled() == CURVE


def test_covers_compares_ratios():
    assert CURVE.covers(Propensities([0.5, 0.25, 0.05])).tolist() == [True, True, False]
    with pytest.raises(ValueError, match="no intervals"):
        Propensities([1.0]).covers(CURVE)
    with pytest.raises(ValueError, match="the other curve has 2 positions, this one 3"):
        CURVE.covers(Propensities([1, 0.5]))


def test_saved_and_loaded(tmp_path):
    for curve in (CURVE, Propensities([1 / 3, 1.0], names=["é", "top"])):
        assert Propensities.load(curve.save(tmp_path / "curve.json")) == curve
    (tmp_path / "wrong.json").write_text('{"values": [2.0]}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"wrong.json is not a saved curve .* values\[0\] is 2"):
        Propensities.load(tmp_path / "wrong.json")
    (tmp_path / "wrong.json").write_text("[1.0]", encoding="utf-8")
    with pytest.raises(ValueError, match="it needs values"):
        Propensities.load(tmp_path / "wrong.json")


def test_plot_shows_values_and_intervals():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    ax = CURVE.plot(figure.subplots(), label="harvested")
    (drawn,) = ax.containers
    np.testing.assert_array_equal(drawn[0].get_ydata(), CURVE.values)
    (bars,) = drawn[2]
    np.testing.assert_allclose(bars.get_segments()[1][:, 1], [0.4, 0.6])
    assert ax.get_legend_handles_labels()[1] == ["harvested"]
    named = Propensities([0.5, 1.0], names=("a$", "b")).plot(figure.add_subplot())
    assert [tick.get_text() for tick in named.get_xticklabels()] == [r"a\$", "b"]


def test_curves_are_pictures_of_a_report(tmp_path):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    from lambdaboost import Queries
    from lambdaboost.diagnostics import pictures
    from lambdaboost.evaluation import System, report

    drawn = pictures(propensities={"harvested": CURVE, "_true $p$": Propensities.power(1, 3)})
    (caption,) = drawn
    assert caption == "Propensities by position, relative to the best position, with 95 % intervals."
    ax = drawn[caption](Figure().subplots())
    assert ax.get_legend_handles_labels()[1] == ["harvested", r" _true \$p\$"]
    assert len({bars[0].get_color() for bars in ax.containers}) == 2
    q = Queries([1, 0, 2, 0], sizes=[2, 2])
    page = report(tmp_path / "page.html", System("one", [1.0, 2, 3, 4], q), diagnostics=drawn)
    assert "harvested" in page.read_text(encoding="utf-8")
    (plain,) = pictures(propensities={"p": Propensities([1.0])})
    assert "intervals" not in plain
