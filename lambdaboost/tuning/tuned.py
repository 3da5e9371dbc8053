"""`Tuned`: what `tune` found, as one table of paired comparisons.

Every row is a difference of two settings, paired by query. Where one of them was chosen as the best of k, the row
stands for k comparisons: its interval has the level 1 − 0.05 / k, and Holm's correction over the whole table counts it
k times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._words import counted, plain
from lambdaboost.datasets import Encoder, Queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines import ENGINES
from lambdaboost.evaluation import Measure
from lambdaboost.evaluation.charts import as_html, ends_of, text_frame
from lambdaboost.evaluation.comparison import HOLM
from lambdaboost.evaluation.measure import mean_of
from lambdaboost.evaluation.significance import (
    LEGEND,
    LEVEL,
    holm,
    interval,
    mark,
    paired_differences,
    two_sided_p,
)
from lambdaboost.saving import check_suffix, save
from lambdaboost.tuning.cross_validate import CrossValidated

Floats = NDArray[np.float64]
COLUMNS = (
    *("question", "candidate", "baseline", "measure", "mean", "difference", "low", "high", "p", HOLM, "mark"),
    *("rounds", "seconds", "error"),
)
HEADER = ("Question", "Candidate", "Baseline", "Measure", "Mean", "Difference", "Interval", "p", HOLM)


class Setting(NamedTuple):
    """A training to cross-validate, and the setting that its row of the table compares it with."""

    question: str  # that the row answers: "default", "trees", "objective", "label", "engine" or "choice"
    objective: Any
    engine: str
    trees: int  # the place in `PORTFOLIO`; 0 are the engine's own parameters
    baseline: Setting | None = None
    best_of: int = 1  # the number of settings of which one of both was chosen as the best
    added: str | None = None  # a label source that is added to the grades of the training
    eligible: bool = True  # may be chosen; others are only compared with

    @property
    def name(self) -> str:
        """Its name in the table."""
        objective = self.objective if isinstance(self.objective, str) else repr(self.objective)
        labels = f" of {RELEVANCE} + {self.added}" if self.added else ""
        trees = f"trees {self.trees}" if self.trees else "default parameters"
        return f"{objective}{labels}, {ENGINES[self.engine].TITLE}, {trees}"

    @property
    def is_of_second_label(self) -> bool:
        """Whether it is a model of a further label alone, whose scores are added to those of its baseline."""
        return not self.eligible and self.added is None


@dataclass(frozen=True, eq=False, repr=False)
class Tuned:
    """The result of `tune`.

    Attributes
    ----------
    comparison : pandas.DataFrame
        A row for each comparison and measure: ``question`` ("trees", "objective", "label", "engine", "choice"),
        ``candidate``, ``baseline``, ``measure``, the ``mean`` of the candidate, the ``difference`` from the baseline
        with its interval from ``low`` to ``high``, ``p`` of the paired t-test, ``p after Holm``, which is corrected for
        all rows, and the ``mark`` of significance; ``rounds``, ``seconds`` and the ``error`` of a setting that failed.
    choice : pandas.Series
        The row of the chosen setting on the first measure. The choice is the setting with the highest mean, which need
        not be significantly better than the default: see the row's ``p after Holm``.
    model : ranker
        The chosen setting as a fitted LambdaRanker, trained on all queries of `X`.
    objective, params, rounds : objective or str, dict, int
        What the model was fitted with; of a merged model, what the first of `members` was.
    members : tuple of rankers
        The model; with `tolerance` the fitted rankers of each label, which ``merge(members, weights=weights)`` merged.
    scores : dict of str to float64 array of shape (n_documents,)
        The held-out scores of every setting by its name, in the order of `queries`.
    queries : Queries
        The queries that were measured.
    notes : tuple of str
        What else has to be said: rounds that reached the limit, settings that were not reached, warnings of trainings.
    trade_off, weights
        With `tolerance`: the curve of `trade_off`, and the weights with which `model` was merged; else None.
    is_stopped : bool
        Whether Ctrl-C ended the search.

    """

    comparison: Any
    choice: Any
    model: Any
    objective: Any
    params: dict[str, Any]
    rounds: int
    members: tuple[Any, ...]
    scores: dict[str, Floats]
    queries: Queries
    notes: tuple[str, ...] = ()
    trade_off: Any = None
    weights: tuple[float, float] | None = None
    is_stopped: bool = False

    @property
    def table(self) -> Any:
        """The comparison times 100, as a pandas frame of texts."""
        rows = []
        for row in self.comparison.to_dict("records"):
            cells = [row["question"], row["candidate"], row["baseline"] or row["error"], row["measure"]]
            if row["measure"]:
                cells.append(f"{100 * row['mean']:.2f}")
            if row["baseline"]:
                cells.append(f"{row['mark']} {100 * row['difference']:+.2f}".lstrip())
                cells.append(ends_of(row["low"], row["high"]))
                cells += [f"{row['p']:.2g}", f"{row[HOLM]:.2g}"]
            rows.append(cells + [""] * (len(HEADER) - len(cells)))
        return text_frame(HEADER, rows)

    @property
    def caption(self) -> str:
        """How to read the table."""
        n = int(np.count_nonzero(self.queries.query_weight > 0))
        return (
            f"Means and differences times 100, over {counted(n, 'query', 'queries')} held out; {LEGEND} than the "
            f"baseline (paired t-test, p < {LEVEL:g} after Holm's correction over the table)."
        )

    @property
    def _title(self) -> tuple[str, ...]:
        """The choice, and its rankers with their parameters and rounds."""
        return (f"Tuned: {self.choice['candidate']}", *map(repr, self.members))

    def __repr__(self) -> str:
        # A line of its own for each candidate, whose name is longer than all columns together; baselines by number.
        head, *lines = self.table[[*HEADER[3:]]].to_string(index=False).splitlines()
        shown, numbers = [f"    {head}"], {"": 0}
        for row, line in zip(self.comparison.to_dict("records"), lines, strict=True):
            name = row["candidate"]
            heading = f"{numbers.setdefault(name, len(numbers))} {row['question']}: {name}"
            if row["baseline"]:
                heading += f", against {numbers[row['baseline']]}"
            if row["error"]:
                heading += f": {row['error']}"
            if row["measure"] in ("", self.choice["measure"]):
                shown.append(plain(heading, 1_000))
            if row["measure"]:
                shown.append(f"    {line}")
        return "\n".join([*self._title, "", *shown, "", self.caption, *self.notes])

    def _repr_html_(self) -> str:
        return as_html(*self._title, self.table, self.caption, *self.notes)

    def save(
        self, path: str | Path, *, encoder: Encoder | None = None, about: Mapping[str, Any] | None = None
    ) -> None:
        """Write the model as `lambdaboost.save` does, with the comparison.

        A path with the suffix of the other engine's format, such as ``.txt`` for a model of XGBoost, is a ValueError.
        """
        check_suffix("path", Path(path), self.model._engine)
        # JSON has no infinite ends of intervals, nor NaN.
        table = self.comparison.replace([np.inf, -np.inf], np.nan).astype(object)
        records = table.where(table.notna(), None).to_dict("records")
        about = {"tuning": {"comparison": records}, **(about or {})}
        save(self.model, path, encoder=encoder, about=about)


Results = dict[Setting, CrossValidated]  # in the order in which they were complete


def add_scores(
    results: Results, first: Setting, second: Setting, weights: Sequence[float]
) -> tuple[Setting, CrossValidated]:
    """The model whose scores are a weighted sum, each after rounds that no query chose for itself."""
    found = results[first]
    scores = weights[0] * found.nested_scores + weights[1] * results[second].nested_scores
    values = {measure: measure.per_query(scores, found.queries) for measure in found.values}
    objective = f"{weights[0]:.3g} · {first.objective!r} + {weights[1]:.3g} · {second.objective!r}"
    setting = second._replace(objective=objective, baseline=first)
    return setting, replace(found, scores=scores, nested_scores=scores, values=values, seconds=0.0)


def compare_results(
    results: Results,
    failed: Mapping[Setting, str],
    chosen: Setting,
    found: CrossValidated,
    measures: Sequence[Measure],
) -> Any:
    """All comparisons, as `Tuned.comparison` describes them; the choice has its result beside it."""
    import pandas as pd

    # Each setting, and the choice, which is compared with the engine's default.
    compared: list[tuple[Setting, CrossValidated]] = []
    for setting, of_setting in results.items():
        compared.append((setting, of_setting))
        if setting.is_of_second_label and setting.baseline in results:
            # The second label's model with an equal say, at no further training.
            spread = [float(np.std(results[one].scores)) for one in (setting.baseline, setting)]
            if min(spread) > 0:
                compared.append(add_scores(results, setting.baseline, setting, [1 / of for of in spread]))
    default = next((one for one in results if one.question == "default" and one != chosen), None)
    n = sum(one.eligible for one in results)
    compared.append((chosen._replace(question="choice", baseline=default, best_of=n), found))

    # Tests, and one correction for all comparisons that the table could have held.
    rows: list[dict[str, Any]] = []
    tests: list[dict[str, Any]] = []
    comparisons = 0
    for setting, one in compared:
        for measure in measures:
            row: dict[str, Any] = {
                "question": setting.question,
                "candidate": setting.name,
                "measure": repr(measure),
                "mean": one.means[measure],
                "rounds": one.rounds,
                "seconds": one.seconds,
            }
            rows.append(row)
            if setting.baseline in results:
                by_query = one.values[measure], results[setting.baseline].values[measure]
                x, weight = paired_differences(*by_query, one.queries.query_weight)
                low, high = interval(x, weight, LEVEL / setting.best_of)
                row |= {"baseline": setting.baseline.name, "difference": mean_of(x, weight)}
                row |= {"low": low, "high": high, "p": two_sided_p(x, weight)}
                tests.append(row)
                comparisons += setting.best_of
    unseen = np.ones(comparisons - len(tests))
    for row, p in zip(tests, holm([*(row["p"] for row in tests), *unseen]), strict=False):
        row |= {HOLM: float(p), "mark": mark(row["difference"], float(p))}
    rows += [
        {"question": one.question, "candidate": one.name, "error": error} for one, error in failed.items()
    ]
    texts = {"baseline": "", "measure": "", "mark": "", "error": ""}  # where a row has none
    return pd.DataFrame([texts | row for row in rows], columns=COLUMNS)
