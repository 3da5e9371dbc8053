r"""`trade_off`: how much of one measure a second one costs, when the scores of two models are added with weights.

The score at weight w is

.. math:: s_w = \frac{1 - w}{\sigma_1} s_1 + \frac{w}{\sigma_2} s_2

with σ the standard deviation of each model's scores over all rows. Two trainings give the whole curve, and `merge`
makes one model of the point that `TradeOff.choose` proves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaboost._checks import check_number, error_context
from lambdaboost._words import counted
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.charts import as_html, draw_curves, ends_of, on_front, text_frame
from lambdaboost.evaluation.comparison import compare_values
from lambdaboost.evaluation.measure import Measure, check_measure
from lambdaboost.evaluation.naming import parse_all
from lambdaboost.evaluation.significance import (
    LEVEL,
    WeightedMean,
    one_sided_p,
    paired_differences,
    values_needed,
    weighted_mean,
)

WEIGHTS = np.linspace(0.0, 1.0, 21).round(12)
ONLY_UNSEEN = "Only queries that neither model was trained on or stopped by prove anything."


@dataclass(frozen=True)
class Choice:
    """A point of a `TradeOff`, with the proof for it.

    Attributes
    ----------
    weights : tuple of float
        What `merge` takes: those of the first and the second model, each divided by the spread of its scores.
    weight : float
        The weight of the second model before this division; 0 for the first model alone.
    loss, loss_interval : float, tuple of float
        What the first measure loses against the first model alone, below 0 where it gains, and the 95% interval.
    gain, gain_interval : float, tuple of float
        What the second measure gains, and the 95% interval. Intervals are infinite for fewer than six queries.
    sentence : str
        What is proven, and by how many queries; or why it is the first model, and how many queries it would take.

    """

    weights: tuple[float, float]
    weight: float
    loss: float
    loss_interval: tuple[float, float]
    gain: float
    gain_interval: tuple[float, float]
    sentence: str


@dataclass(frozen=True, eq=False, repr=False)
class TradeOff:
    """Two measures at 21 weights of the second of two models.

    Attributes
    ----------
    frame : pandas.DataFrame
        A row for each ``weight`` of the second model, from 0 to 1. Of the first and the second measure: its mean,
        ``first`` and ``second``, and its difference from weight 0 with the 95% interval and p-value of the paired
        t-test, ``first difference``, ``first low``, ``first high``, ``first p`` and ``first p after Holm``, corrected
        for all 40 differences. ``front`` says whether no other weight is as good in both measures and better in one.
    measures : tuple of Measure
        The first and the second measure.
    spreads : tuple of float
        The standard deviations by which the scores are divided.
    queries : int
        The number of queries of positive weight on which the first measure is defined.
    means_over : str
        The queries that means are over, such as "Weighted means over 58 of 60 queries, times 100."
    losses : tuple of WeightedMean
        The mean difference of the first measure at each weight, its standard error and degrees of freedom.

    """

    frame: Any
    measures: tuple[Measure, Measure]
    spreads: tuple[float, float]
    queries: int
    means_over: str
    losses: tuple[WeightedMean, ...]

    def choose(self, *, tolerance: float) -> Choice:
        r"""Choose the largest weight that is proven to lose less than `tolerance` of the first measure.

        Weights are tested in rising order by paired one-sided t-tests of the hypothesis that at least `tolerance` is
        lost, each at level 0.05, up to the first that is not rejected. This fixed sequence needs no correction: a
        weight that loses more passes in at most one of 20 choices. The second measure is tested once, at the last
        weight that passed, at level 0.025 in favour of a gain. If it does not gain, or no weight passed, the choice is
        the first model alone, with weight 0.

        **The proof holds only for queries that neither model was trained on or stopped by**: take held-out queries, or
        the out-of-fold scores of a cross-validation whose rounds were not chosen by the same folds. Some hundred
        queries are needed: of real sets, 70 queries proved almost nothing and 365 did; `Choice.sentence` says how many
        it would take.

        Parameters
        ----------
        tolerance : float
            Above 0, in units of the measure: 0.005 is half a point of NDCG.

        Returns
        -------
        Choice

        """
        tolerance = check_number("tolerance", tolerance, above=0)

        # The sequence: by how much more than −`tolerance` the first measure changes at each weight, tested until that
        # may be 0 or less.
        kept = [loss._replace(mean=loss.mean + tolerance) for loss in self.losses]
        proven = 0
        while proven + 1 < len(kept) and one_sided_p(kept[proven + 1], self.queries) < LEVEL:
            proven += 1

        # The second measure at the last weight that passed.
        rows = self.frame.to_dict("records")
        last, chosen = rows[proven], rows[0]
        if last["second difference"] > 0 and last["second p"] < LEVEL:
            chosen = last

        weight = float(chosen["weight"])
        return Choice(
            weights=((1 - weight) / self.spreads[0], weight / self.spreads[1]),
            weight=weight,
            loss=0.0 - chosen["first difference"],  # 0 and not −0
            loss_interval=(0.0 - chosen["first high"], 0.0 - chosen["first low"]),
            gain=chosen["second difference"],
            gain_interval=(chosen["second low"], chosen["second high"]),
            sentence=f"{self._describe(tolerance, chosen['weight'], last)} {ONLY_UNSEEN}",
        )

    def _describe(self, tolerance: float, weight: float, last: dict[str, float]) -> str:
        """What is proven of the chosen weight, in words; `last` is the row of the last weight that passed."""
        first, second = (measure.name for measure in self.measures)
        on = f"on {counted(self.queries, 'query', 'queries')} {first} is"
        lose = f"proven to lose less than {tolerance:g}"
        gain = f"{last['second difference']:+z.4f}"
        if weight > 0:
            alone = ", the second model alone" if weight == 1 else ""
            return (
                f"Weight {weight:.2f}{alone}: {on} {lose} (it changes by {last['first difference']:+z.4f}) "
                f"and {second} to gain ({gain}, {last['second low']:+z.4f} to {last['second high']:+z.4f})."
            )
        if last["weight"] > 0:
            return (
                f"The first model alone: {on} {lose} up to weight {last['weight']:.2f}, where {second} has no "
                f"significant gain ({gain}, p = {last['second p']:.2g})."
            )

        # Nothing is: of the lowest weight, how many queries it would take.
        change = self.losses[1]
        needed = values_needed(change._replace(mean=change.mean + tolerance), self.queries)
        outlook = f"about {needed:,.0f} queries would prove a loss as small as this"
        if self.queries == 1:
            outlook = "one query proves nothing"
        elif math.isinf(needed):
            outlook = "no number of queries would prove it if this is the true loss"
        return (
            f"The first model alone: {on} not {lose} at weight {WEIGHTS[1]:.2f}, where it changes by "
            f"{change.mean:+z.4f}; {outlook}."
        )

    def plot(self, axes: Any = None) -> Any:
        """Draw both measures, times 100, at every weight, with the Pareto front, on matplotlib axes; return these."""
        if axes is None:
            import matplotlib.pyplot as plt

            axes = plt.subplots()[1]
        points = 100 * self.frame[["first", "second"]].to_numpy()
        front = points[self.frame["front"]]
        draw_curves(
            axes,
            {"weights from 0 to 1": tuple(points.T), "Pareto front": tuple(front[front[:, 0].argsort()].T)},
            *(f"Mean {measure.name} × 100" for measure in self.measures),
        )
        dots, line = axes.lines[-2:]
        dots.set_linestyle("none")
        line.set(marker="", zorder=1)
        for weight, (x, y) in zip(self.frame["weight"][::5], points[::5], strict=True):
            axes.annotate(f"{weight:g}", (x, y), textcoords="offset points", xytext=(6, 3))
        return axes

    def __repr__(self) -> str:
        return f"{self._table.to_string(index=False)}\n\n{self._caption}"

    def _repr_html_(self) -> str:
        return as_html(self.plot, self._table, self._caption)

    @property
    def _caption(self) -> str:
        return f"{self.means_over} Differences are from weight 0, with their 95% intervals; * is on the Pareto front."

    @property
    def _table(self) -> Any:
        """The frame as texts, times 100."""
        rows = []
        for row in self.frame.to_dict("records"):
            cells = [f"{row['weight']:.2f}{'*' if row['front'] else ''}"]
            for name in ("first", "second"):
                ends = ends_of(row[f"{name} low"], row[f"{name} high"])
                cells += [f"{100 * row[name]:z.2f}", f"{100 * row[f'{name} difference']:+z.2f} ({ends})"]
            rows.append(cells)
        names = [title for measure in self.measures for title in (measure.name, "difference")]
        return text_frame(["weight", *names], rows)


def trade_off(first: ArrayLike, second: ArrayLike, q: Queries, measures: Iterable[Measure | str]) -> TradeOff:
    """Compute two measures of the weighted sum of two models' scores, at 21 weights.

    Each array of scores is divided by its standard deviation over all rows before the scores are added, so that a
    weight of 0.5 is an equal say. `Choice.weights` has this division in it: `merge` with these weights gives the same
    ranking.

    Parameters
    ----------
    first, second : array of shape (n_documents,)
        The scores of two models for the same rows, such as one trained on grades and one on clicks. Give queries
        that neither model was trained on or stopped by: only for those does a proof hold.
    q : Queries
        The queries, with every label source that the measures read. Query weights count as in `compare`.
    measures : two measures, or their names
        The measure to keep and the measure to raise. Give ``empty=float("nan")`` to leave out queries on which a
        measure is undefined.

    Returns
    -------
    TradeOff

    Raises
    ------
    TypeError, ValueError
        If scores do not match the queries or are not finite, a model has the same score everywhere, every query has
        weight 0, there are not two measures, or a measure lacks its label source, is undefined on every query or has
        no query with two different labels.

    Examples
    --------
    Scores drawn at random, in place of two models':

    >>> import numpy as np
    >>> from lambdaboost import CNDCG, NDCG, Queries, trade_off
    >>> rng = np.random.default_rng(0)
    >>> taste, appeal = rng.normal(size=(2, 4000))
    >>> grades, clicks = np.digitize(taste, [0, 1]), (appeal > 1).astype(int)
    >>> q = Queries(grades, sizes=[10] * 400, clicks=clicks)
    >>> by_grades = taste + rng.normal(size=4000)
    >>> by_clicks = appeal + rng.normal(size=4000)
    >>> curve = trade_off(by_grades, by_clicks, q, (NDCG(k=5), CNDCG(k=5)))
    >>> curve.frame[["weight", "first", "second", "front"]].iloc[[0, 10, 20]].round(2)
        weight  first  second  front
    0      0.0   0.81    0.30   True
    10     0.5   0.68    0.54   True
    20     1.0   0.44    0.64  False
    >>> choice = curve.choose(tolerance=0.02)
    >>> choice.weight
    0.15

    ``merge([model_of_grades, model_of_clicks], weights=choice.weights)`` is then one model.

    """
    import pandas as pd

    if not isinstance(q, Queries):
        raise TypeError(f"q is of type {type(q).__name__}: give the labels as Queries(relevance, sizes=…)")
    chosen = parse_all(measures)
    if len(chosen) != 2:
        raise ValueError(f"measures is {chosen!r}: give two, the one to keep and the one to raise")
    for measure in chosen:
        check_measure(measure, q, "q")
    arrays, spreads = [], []
    for name, scores in (("first", first), ("second", second)):
        with error_context(name):
            values = q.scores(scores)
            if values.min() == values.max():  # of which the deviation may be a rounding error
                raise ValueError("all scores are equal: give those of a model that ranks")
            with np.errstate(over="ignore"):
                spread = float(values.std())
            if spread == 0 or not math.isfinite(spread):
                raise ValueError(
                    "the standard deviation of the scores is beyond float64: multiply them by a constant"
                )
            arrays.append(values)
            spreads.append(spread)

    # The weights are systems of one comparison, whose correction is for both measures together.
    by_weight = {}
    for w in WEIGHTS:
        added = (1 - w) / spreads[0] * arrays[0] + w / spreads[1] * arrays[1]
        by_weight[f"{w:g}"] = {measure: measure.per_query(added, q) for measure in chosen}
    tests = compare_values(by_weight, q.query_weight)
    frame = pd.DataFrame({"weight": WEIGHTS})
    for at, name in enumerate(("first", "second")):
        of_measure = tests.frame.iloc[at::2, 2:].reset_index(drop=True)
        of_measure.loc[0, ["difference", "low", "high"]] = 0.0
        frame[[name, *(f"{name} {column}" for column in of_measure.columns[1:])]] = of_measure
    frame["front"] = on_front(frame[["first", "second"]].to_numpy())

    # What the choice tests: the loss of the first measure.
    of_first = [of[chosen[0]] for of in by_weight.values()]
    pairs = [paired_differences(of, of_first[0], q.query_weight) for of in of_first]
    losses = tuple(weighted_mean(x, weight) for x, weight in pairs)
    return TradeOff(frame, chosen, (spreads[0], spreads[1]), pairs[0][0].size, tests.means_over, losses)
