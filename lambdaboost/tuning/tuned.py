"""`Tuned`: what `tune` found, as one table of paired comparisons.

Every row is a difference of two settings, paired by query. Where one of them was chosen as the best of k, the row
stands for k comparisons: its interval has the level 1 − 0.05 / k, and Holm's correction over the whole table counts it
k times.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._words import counted
from lambdaboost.datasets import Queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines import ENGINES
from lambdaboost.evaluation import Measure
from lambdaboost.evaluation.comparison import HOLM, html_table, text_frame
from lambdaboost.evaluation.significance import (
    LEGEND,
    LEVEL,
    holm,
    interval,
    mark,
    paired,
    two_sided_p,
    weighted_mean,
)
from lambdaboost.saving import save
from lambdaboost.tuning.cross_validate import CrossValidated

Floats = NDArray[np.float64]
COLUMNS = (
    *("question", "candidate", "baseline", "measure", "mean", "difference", "low", "high", "p", HOLM, "mark"),
    *("rounds", "seconds", "error"),
)


class Setting(NamedTuple):
    """A training to cross-validate."""

    question: str  # that it answers: "default", "trees", "objective", "label" or "engine"
    objective: Any
    engine: str
    trees: int  # the place in `PORTFOLIO`; 0 are the engine's own parameters
    added: str | None = None  # a label source that is added to the grades of the training
    is_baseline: bool = False  # trained to be compared with, and never chosen

    @property
    def name(self) -> str:
        """Its name in the table."""
        objective = self.objective if isinstance(self.objective, str) else repr(self.objective)
        labels = f" of {RELEVANCE} + {self.added}" if self.added else ""
        trees = f"trees {self.trees}" if self.trees else "default parameters"
        return f"{objective}{labels}, {ENGINES[self.engine].TITLE}, {trees}"


class Result(NamedTuple):
    """A setting with the result of its cross-validation, and the warnings of its trainings."""

    setting: Setting
    found: CrossValidated
    warnings: tuple[str, ...] = ()


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
            if row["error"]:
                rows.append([row["question"], row["candidate"], row["error"], *[""] * 6])
                continue
            cells = [row["question"], row["candidate"], row["baseline"], row["measure"]]
            cells.append(f"{100 * row['mean']:.2f}")
            if not row["baseline"]:
                rows.append([*cells, *[""] * 4])
                continue
            ends = f"{100 * row['low']:+.2f} to {100 * row['high']:+.2f}"
            if not np.isfinite([row["low"], row["high"]]).all():
                ends = "too few queries for an interval"
            difference = f"{row['mark']} {100 * row['difference']:+.2f}".lstrip()
            rows.append([*cells, difference, ends, f"{row['p']:.2g}", f"{row[HOLM]:.2g}"])
        header = ["Question", "Candidate", "Baseline", "Measure", "Mean", "Difference", "Interval", "p", HOLM]
        return text_frame(header, rows)

    @property
    def caption(self) -> str:
        """How to read the table."""
        n = int(np.count_nonzero(self.queries.query_weight > 0))
        return (
            f"Means and differences times 100, over {counted(n, 'query', 'queries')} held out; {LEGEND} than the "
            f"baseline (paired t-test, p < {LEVEL:g} after Holm's correction over the table)."
        )

    def __repr__(self) -> str:
        lines = [f"Tuned: {self.choice['candidate']}, {counted(self.rounds, 'round')}"]
        return "\n".join([*lines, "", self.table.to_string(index=False), "", self.caption, *self.notes])

    def _repr_html_(self) -> str:
        title = html.escape(f"Tuned: {self.choice['candidate']}, {counted(self.rounds, 'round')}")
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in (self.caption, *self.notes))
        return f"<b>{title}</b>\n{html_table(self.table)}\n{notes}"

    def save(self, path: str | Path, about: Mapping[str, Any] | None = None) -> None:
        """Write the model as `lambdaboost.save` does, with the comparison; `about` has further entries.

        A path with the suffix of the other engine's format, such as ``.txt`` for a model of XGBoost, is a ValueError.
        """
        engine = self.model._engine
        for other in ENGINES.values():
            if Path(path).suffix.lower() in other.SUFFIXES and other.NAME != engine.NAME:
                raise ValueError(
                    f"path {path} has the suffix of {other.TITLE}'s format, and the model is {engine.TITLE}'s: give "
                    f"{' or '.join(engine.SUFFIXES)}, or no suffix"
                )
        # JSON has no infinite ends of intervals, nor NaN.
        table = self.comparison.replace([np.inf, -np.inf], np.nan).astype(object)
        records = table.where(table.notna(), None).to_dict("records")
        save(self.model, path, about={"tuning": {"comparison": records}, **(about or {})})


def blend(first: Result, second: Result, weights: Sequence[float]) -> Result:
    """Two settings whose scores are added with weights, each after rounds that no query chose for itself."""
    found = first.found
    scores = weights[0] * first.found.nested_scores + weights[1] * second.found.nested_scores
    values = {measure: measure.per_query(scores, found.queries) for measure in found.values}
    objective = " + ".join(
        f"{w:.3g} · {one.setting.objective!r}" for w, one in zip(weights, (first, second), strict=True)
    )
    setting = first.setting._replace(question="label", objective=objective, is_baseline=True)
    added = replace(found, scores=scores, nested_scores=scores, values=values, seconds=0.0)
    return Result(setting, added)


def compare_results(
    results: Sequence[Result],
    failed: Mapping[Setting, str],
    chosen: Result,
    searched: Sequence[Result],
    measures: Sequence[Measure],
) -> Any:
    """All comparisons, as `Tuned.comparison` describes them; `searched` are the settings of the search of trees."""
    import pandas as pd

    default = next((one for one in results if one.setting.question == "default"), None)
    best = max(searched, key=lambda one: one.found.means[measures[0]], default=None)
    of_trees = {one.setting.trees: one for one in searched}

    # Each setting against one that differs from it in one thing, and of how many settings one of both was the best.
    pairs: list[tuple[str, Result, Result | None, int]] = []
    for one in results:
        question = one.setting.question
        if question == "default":
            pairs.append((question, one, None, 1))
        elif one is of_trees.get(0):  # the recommended objective on the engine's own trees
            pairs.append((question, one, default, 1))
        elif question == "trees":
            pairs.append((question, one, of_trees.get(0), 1))
        elif question == "engine":
            pairs.append((question, one, of_trees.get(one.setting.trees), 1))
        else:
            pairs.append((question, one, best, len(searched)))
            if one.setting.is_baseline and one.setting.added is None and best is not None:
                # The second label's model with an equal say, at no further training.
                spread = [float(np.std(each.found.scores)) for each in (best, one)]
                if min(spread) > 0:
                    both = blend(best, one, [1 / of for of in spread])
                    pairs.append((question, both, best, len(searched)))
    eligible = sum(not one.setting.is_baseline for one in results)
    pairs.append(("choice", chosen, None if chosen is default else default, eligible))

    # Tests, and one correction for all comparisons that the table could have held.
    rows: list[dict[str, Any]] = []
    tests: list[dict[str, Any]] = []
    comparisons = 0
    for question, one, other, k in pairs:
        for measure in measures:
            row: dict[str, Any] = {
                "question": question,
                "candidate": one.setting.name,
                "baseline": "",
                "measure": repr(measure),
            }
            row |= {
                "mean": one.found.means[measure],
                "rounds": one.found.rounds,
                "seconds": one.found.seconds,
            }
            rows.append(row)
            if other is not None:
                by_query = one.found.values[measure], other.found.values[measure]
                x, weight = paired(*by_query, one.found.queries.query_weight)
                low, high = interval(x, weight, LEVEL / k)
                row |= {"baseline": other.setting.name, "difference": weighted_mean(x, weight).mean}
                row |= {"low": low, "high": high, "p": two_sided_p(x, weight)}
                tests.append(row)
                comparisons += k
    unseen = np.ones(comparisons - len(tests))
    for row, p in zip(tests, holm([*(row["p"] for row in tests), *unseen]), strict=False):
        row |= {HOLM: float(p), "mark": mark(row["difference"], float(p))}
    rows += [
        {"question": one.question, "candidate": one.name, "error": error} for one, error in failed.items()
    ]
    texts = {"baseline": "", "measure": "", "mark": "", "error": ""}  # where a row has none
    return pd.DataFrame([texts | row for row in rows], columns=COLUMNS)
