"""`Propensities`: the value that estimators return and objectives and measures read."""

import pickle

import numpy as np
import pytest

from lambdaboost import InversePropensity, LambdaRank, Queries, objectives
from lambdaboost.clicks import Propensities
from lambdaboost.datasets.arrays import Positions, positions_of
from lambdaboost.evaluation import parse


def at(curve, position):
    """The value at each position, by rank or by name."""
    return curve.at_positions(positions_of("position", position))


def queries(codes, names=None):
    positions = Positions(np.array(codes, dtype=np.int32), names)
    return Queries([0] * len(codes), sizes=[len(codes)], position=positions)


CURVE = Propensities((1.0, 0.5, 0.25), (1.0, 0.4, 0.2), (1.0, 0.6, 0.3))
NAMED = Propensities([0.3, 0.8, 1.0], names=("foot", "side", "top"))


def test_equal_curves_are_equal_and_read_back():
    given = Propensities(np.array([1, 0.5], dtype=np.float32), names=["top", "side"])
    assert given == Propensities((1.0, 0.5), names=("top", "side"))
    assert hash(given) == hash(Propensities([1, 0.5], names=("top", "side")))
    for curve in (given, CURVE):
        assert eval(curve.text) == curve
        assert pickle.loads(pickle.dumps(curve)) == curve


def test_long_curves_are_abridged():
    curve = Propensities.power(0.97, 40)
    assert repr(curve) == "Propensities(40 positions: 1, 0.51, …, 0.028)"
    assert repr(CURVE) == "Propensities(3 positions: 1, 0.5, 0.25)"
    named = Propensities([0.5, 1], names=["a", "b"])
    assert repr(named) == "Propensities(values=(0.5, 1.0), names=('a', 'b'))"
    objective = InversePropensity(LambdaRank(), curve, clip=20)
    assert len(repr(objective)) < 120
    assert objectives.parse(objective.text) == objective
    with pytest.raises(ValueError, match="cannot read"):
        objectives.parse(repr(objective))


def test_positions_by_rank_and_by_name():
    """Masked values are unknown too; those of a data set match by name, whatever their codes, where it has names."""
    curve = Propensities([1, None, 0.25])
    assert curve == Propensities(np.ma.array([1, 0.5, 0.25], mask=[False, True, False]))
    assert at(curve, [3, 1]).tolist() == [0.25, 1]
    assert at(CURVE, np.array([2.0, 1.0])).tolist() == [0.5, 1.0]
    assert at(CURVE, []).size == 0 and np.isnan(at(CURVE, [float("nan")]))
    assert at(Propensities([0.3, 1.0], names=("side", "top")), ["top", "side"]).tolist() == [1.0, 0.3]
    np.testing.assert_array_equal(CURVE.of(queries([0, 2, 1])), [np.nan, 0.5, 1.0])
    np.testing.assert_array_equal(NAMED.of(queries([1, 2, 0], ("side", "top"))), [0.8, 1.0, np.nan])
    np.testing.assert_array_equal(NAMED.of(queries([2], ("new", "top"))), [1.0])  # no document is in "new"


GAPS, INTERVALS = Propensities([1, None, 0.25]), ([1, 0.6], [1, 0.4])
REFUSED = [
    *((lambda eta=eta: Propensities.power(eta, 3), "eta is") for eta in (-1, float("nan"), float("inf"), "1")),
    *((lambda k=k: Propensities.power(1, k), "k is") for k in (0, 2.5)),
    (lambda: Propensities([]), "values has no propensity"),
    (lambda: Propensities([1, 0, 0.5]), r"values\[1\] is 0: the propensity of position 2 must be above 0"),
    (lambda: Propensities([1, float("nan")]), r"values\[1\] is nan"),
    (lambda: Propensities("0.5"), "values must be numbers"),
    (lambda: Propensities([[1.0]]), "values must be numbers"),
    (lambda: Propensities([1, 0.5], low=[1, 0.4]), "give both ends"),
    (lambda: Propensities([1, 0.5], low=[1], high=[1, 1]), "low and high have 1 and 2 ends, values has 2"),
    (lambda: CURVE.extended(2), "n is 2, but the curve has 3 positions"),
    (lambda: NAMED.extended(), "the curve is of named positions, which have no order"),
    (lambda: GAPS.extended(), "the curve has 2 known positions, too few for a power curve"),
    (lambda: Propensities([1, 0.5], *INTERVALS), r"low\[1\] is 0.6 and high\[1\] 0.4"),
    (lambda: Propensities([1, None], [1, 0.1], [1, 0.5]), r"low\[1\], high\[1\] and values\[1\]: give None"),
    (lambda: Propensities([1, 0.5], names=["a", "a"]), "names has 1 different names, but there are 2 values"),
    *((lambda names=names: Propensities([1, 0.5], names=names), "names must be a sequence of strings")
      for names in ([1, 2], 5, "ab", {"a", "b"})),  # a set has no order
    (lambda: at(GAPS, [1, 2]), r"position 2 has no propensity on the curve: fill it by extended\(\)"),
    (lambda: at(Propensities([1, None], names=["top", "foot"]), ["top", "foot"]), "position 'foot' has no propensity"),
    (lambda: at(CURVE, [1, 4, 7]), "position 4 is past the curve, whose last position is 3"),
    (lambda: at(CURVE, ["top"]), r"positions of the data are names \('top'\), those of the curve ranks: give both"),
    (lambda: at(NAMED, ["top", "new"]), "position 'new' is not on the curve, whose names are 'foot', 'side', 'top'"),
    (lambda: NAMED.of(queries([1, 2])), "positions of the data are ranks, those of the curve names .'foot', 'side'"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_each_fault_is_a_sentence(call, words):
    with pytest.raises((TypeError, ValueError), match=f"^{words}") as raised:
        call()
    assert "\n" not in str(raised.value)


def test_positions_of_a_power_curve_count_by_their_intervals():
    """A wide interval hardly counts; without intervals all positions count the same."""
    value = np.arange(1, 21) ** -0.8
    value[15:] *= 2
    width = np.where(np.arange(20) < 15, 0.01, 5.0) * (np.arange(20) > 0)
    wide = Propensities(value, value * np.exp(-width), value * np.exp(width)).extended(40)
    assert wide.values[-1] == pytest.approx(40**-0.8, rel=0.01)
    assert wide.low is None and wide.values[:20] == pytest.approx(value)
    assert Propensities(value).extended(40).values[-1] > 1.3 * 40**-0.8


def test_saved_and_loaded(tmp_path):
    for curve in (CURVE, Propensities([1 / 3, 1.0], names=["é", "top"])):
        assert Propensities.load(curve.save(tmp_path / "curve.json")) == curve
    (tmp_path / "wrong.json").write_text('{"values": [2.0]}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"wrong.json is not a saved curve .* values\[0\] is 2"):
        Propensities.load(tmp_path / "wrong.json")


def test_texts_of_objectives_and_measures_name_a_saved_curve(tmp_path):
    curve, path = Propensities([1, 0.5, 0.3]), tmp_path / "curve.json"
    curve.save(path)
    named = f"Propensities.load({str(path)!r})"
    assert objectives.parse(f"InversePropensity(LambdaRank(), {named})").propensities == curve
    assert parse(f"ClickDCG(k=3, propensities={named})").propensities == curve
    power = objectives.parse("InversePropensity(LambdaRank(), Propensities.power(eta=0.5, k=9))")
    assert power.propensities == Propensities.power(0.5, 9) and objectives.parse(power.text) == power
    with pytest.raises(ValueError, match=r"'Propensities\.save' is unknown"):
        parse("ClickDCG(propensities=Propensities.save('x'))")
