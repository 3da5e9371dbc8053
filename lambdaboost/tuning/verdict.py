r"""What the trials say: which setting to take, what each part of it gave, and how sure that is.

The highest of many noisy means overestimates, and is often not that of the best setting, so the means are shrunk first
(`shrunken`). What the choice gave over the engine's default is split: `compare_trials` tests the trees with the
objective of the default on both sides, objectives on the same trees, further labels against the objective without them
on the same trees, and engines over the same trees. All tests are paired by query; where one of several was chosen, or
several are tested, p-values are corrected for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._words import counted
from lambdaboost.engines import ENGINES
from lambdaboost.evaluation.comparison import HOLM
from lambdaboost.evaluation.significance import (
    LEVEL,
    ROUNDING,
    holm,
    interval,
    two_sided_p,
    weighted_mean,
)
from lambdaboost.tuning.candidates import without_further_sources
from lambdaboost.tuning.keep import NonInferiority
from lambdaboost.tuning.request import Request
from lambdaboost.tuning.training import SHARED, Trial, objective_of

Floats = NDArray[np.float64]
TINY = ROUNDING**2  # a variance above 0
TESTED = ["question", "system", "baseline", "measure", "mean", "difference", "low", "high", "p", HOLM]
BULLETS = {
    "choice": "Choice: {system}, tuned, vs. {baseline}",
    "trees": "Trees: {system} on the best trees vs. {baseline}",
    "objective": "Objective, on the same trees: {system} vs. {baseline}",
    "further settings": "Further settings: {system} vs. the same on the best trees",
    "label": "Further label, on the same trees: {system} vs. {baseline}",
    "engine": f"Engine, mean over the same {SHARED} trees: {{system}} vs. {{baseline}}",
}


# The choice.


def shrunken(values: Floats, weight: Floats) -> Floats:
    r"""The shrunken mean of each setting, float64 (s,): the best linear prediction of its true mean.

    .. math:: m_s = \mu + \frac{A}{A + V_s} (\bar y_s - \mu)

    with the variance :math:`V_s` of the mean of a setting's differences from the mean over all settings, known from the
    queries, and the variance A of the true means by the moments of DerSimonian and Laird (1986). `values`, (s, n), has
    every setting's value of each query, NaN in the same places; `weight`, (n,), weights the queries. Without noise
    these are the means; if all differences are as small as noise makes them, they are equal.

    >>> shrunken(np.array([[0.1, 0.5], [0.2, 0.6], [0.6, 1.0]]), np.ones(2)).round(12)
    array([0.3, 0.4, 0.8])
    >>> bool(np.ptp(shrunken(np.array([[0.1, 0.5], [0.6, 0.1], [0.5, 0.2]]), np.ones(2))) == 0)
    True
    """
    known = ~np.isnan(values).any(axis=0) & (weight > 0)
    values, weight = values[:, known], weight[known]
    means = values @ (weight / weight.sum()) if weight.size else np.zeros(len(values))
    if (n := len(values)) < 2 or weight.size < 2:
        return means
    errors = [weighted_mean(row, weight).error for row in values - values.mean(axis=0)]
    noise = np.maximum(np.square(errors) * n / (n - 1), TINY)
    w = 1 / noise
    excess = w @ (means - w @ means / w.sum()) ** 2 - (n - 1)
    a = max(0.0, float(excess / (w.sum() - w @ w / w.sum())))
    w = 1 / (a + noise)
    centre = w @ means / w.sum()
    result: Floats = centre + a * w * (means - centre)
    return result


def best_trees(request: Request, trials: Iterable[Trial]) -> Trial | None:
    """The trial with the best trees by the objective that they are searched with."""
    of = "trees", request.tree_candidate.name
    found = [one for one in trials if one.is_complete and (one.setting.phase, one.setting.candidate) == of]
    return max(found, key=lambda one: one.means[0], default=None)


def best_of(request: Request, trials: Iterable[Trial]) -> Trial:
    """The complete trial with the highest shrunken mean; of equal ones the highest mean, then the earliest."""
    candidates, done = request.candidates, [one for one in trials if one.setting.phase != "keep"]
    found = [one for one in done if one.is_complete and not candidates[one.setting.candidate].is_reference]
    if not found:
        failed = (
            f"no setting can be trained; {one.setting.candidate}: {one.error}" for one in done if one.error
        )
        raise ValueError(next(failed, "no setting is complete within the budget of minutes: give more"))
    means = shrunken(np.stack([one.values[0] for one in found]), request.weight).round(12)
    at = min(range(len(found)), key=lambda at: (-means[at], -found[at].means[0], found[at].number))
    return found[at]


# The comparison.


def compare_trials(
    request: Request, trials: Sequence[Trial], chosen: Trial, kept: NonInferiority | None = None
) -> Any:
    """The tests: a pandas frame, each row the difference of a system from a baseline on a measure.

    ``question`` says what is tested. ``low`` and ``high`` are the ends of the 95% interval, which is widened where the
    system was chosen among several; ``p after Holm`` is corrected for all that were tested or chosen from.
    """
    import pandas as pd

    default, on_trees = default_of(trials), on_best_trees(request, trials)
    searched = [
        one for one in trials if one.setting.phase not in ("default", "keep") and one.state != "failed"
    ]
    of_trees = "trees", request.tree_candidate.name
    trees = [one for one in searched if (one.setting.phase, one.setting.candidate) == of_trees]
    test = PairedTests(request, best_trees(request, trials), len(trees))
    base, first = (
        on_trees.get(name) for name in (request.default_candidate.name, request.tree_candidate.name)
    )
    before, rows = None if chosen is default else on_trees.get(chosen.setting.candidate), list[Any]()
    if default is not None and chosen is not default:
        rows.append(test.row("choice", chosen, default, len(searched)))
    if default is not None and base is not None:
        rows.append(test.row("trees", base, default, len(searched if base is chosen else trees)))
    candidates, first = request.candidates, base or first
    others = [one for name, one in on_trees.items() if one is not first and not candidates[name].is_reference]
    rows += test.holm_rows("objective", [(one, first) for one in others if first is not None])
    if before is not None and before is not chosen:
        further = [one for one in searched if one.setting.phase == "refinement" or one in trees]
        rows.append(test.row("further settings", chosen, before, len(further)))
    named = {(one.objective, one.engine): name for name, one in candidates.items()}
    parts = {
        name: named.get((without_further_sources(one.objective), one.engine), "")
        for name, one in candidates.items()
    }
    pairs = [(on_trees[name], on_trees[part]) for name, part in parts.items() if {name, part} <= {*on_trees}]
    rows += test.holm_rows("label", pairs)
    rows += [*_of_engines(request, trials, test), *_of_kept(kept)]
    return pd.DataFrame(rows, columns=TESTED)


@dataclass(frozen=True, eq=False)
class PairedTests:
    """Paired tests of trials; `best` has the best trees, the highest mean among `trees` settings."""

    request: Request
    best: Trial | None
    trees: int

    def row(self, question: str, one: Trial, other: Trial, tried: int = 1, at: int = 0) -> dict[str, Any]:
        """A trial's values of measure number `at` less another's.

        The highest of several means is too high by chance, so a difference in favour of the best of `tried` trials, or
        of one on the best trees, is corrected for their number.
        """
        request, x = self.request, one.values[at] - other.values[at]
        known = ~np.isnan(x) & (request.weight > 0)
        x, weight = x[known], request.weight[known]
        mean, p = weighted_mean(x, weight).mean, two_sided_p(x, weight)
        above = max(tried, self.trees if one is self.best else 1)
        below = self.trees if other is self.best else 1
        return {
            "question": question,
            "system": name_of(request, one),
            "baseline": name_of(request, other),
            "measure": repr(request.measures[at]),
            "mean": float(np.average(one.values[at][known], weights=weight)),
            "difference": mean,
            "low": interval(x, weight, LEVEL / above)[0],
            "high": interval(x, weight, LEVEL / below)[1],
            "p": p,
            HOLM: min(1.0, p * (above if mean > 0 else below)),
        }

    def holm_rows(self, question: str, pairs: Sequence[tuple[Trial, Trial]]) -> list[dict[str, Any]]:
        """The difference of each pair of trials on every measure, corrected for all of them by Holm's method."""
        measures = range(len(self.request.measures))
        rows = [self.row(question, *pair, at=at) for at in measures for pair in pairs]
        for row, p in zip(rows, holm([row[HOLM] for row in rows]), strict=True):
            row[HOLM] = float(p)
        return rows


def name_of(request: Request, trial: Trial) -> str:
    """What a trial is called: its candidate, and whether its parameters are the engine's own."""
    one = request.candidates[trial.setting.candidate]
    of = f" with {ENGINES[one.engine].TITLE}'s default parameters" if trial.setting.phase == "default" else ""
    return one.name + of


def default_of(trials: Iterable[Trial]) -> Trial | None:
    """The trial of the engine's default, if it is complete."""
    return next((one for one in trials if one.setting.phase == "default" and one.is_complete), None)


def on_best_trees(request: Request, trials: Sequence[Trial]) -> dict[str, Trial]:
    """The complete trial of each candidate on the best trees, by name."""
    if (best := best_trees(request, trials)) is None:
        return {}
    there = "objectives", best.setting.trees
    found = [one for one in trials if one.is_complete and (one.requested.phase, one.requested.trees) == there]
    return {best.setting.candidate: best} | {one.setting.candidate: one for one in found}


def _of_engines(request: Request, trials: Sequence[Trial], test: PairedTests) -> Iterable[dict[str, Any]]:
    """The mean of the same starts on both engines: none was chosen, and both have the same effort."""
    given = [one for one in trials if one.setting.phase == "trees" and one.requested.trees is not None]
    own = [one for one in given if one.setting.candidate == request.tree_candidate.name]
    for candidate in request.other_engines:
        others = [one for one in given if one.setting.candidate == candidate.name]
        pairs = list(zip(own[:SHARED], others[:SHARED], strict=False))
        if pairs := [pair for pair in pairs if all(one.is_complete for one in pair)]:
            means = [np.mean([one.values for one in of], axis=0) for of in zip(*pairs, strict=True)]
            one, other = (replace(trial, values=mean) for trial, mean in zip(pairs[0], means, strict=True))
            yield test.row("engine", other, one)


def _of_kept(kept: NonInferiority | None) -> Iterable[dict[str, Any]]:
    for at, step in enumerate(kept.steps if kept else (), 1):
        assert kept is not None
        of = {"question": "keep", "system": f"weight {step.weight:g}", "baseline": "the first measure alone"}
        tested = {"difference": -step.loss, "low": -step.loss_upper, "p": step.p, HOLM: step.p}
        for measure, mean, more in zip(kept.measures, kept.means[at], (tested, {}), strict=True):
            yield of | {"measure": repr(measure), "mean": mean, "difference": step.gain} | more


# The words.


def describe(
    request: Request, trials: Sequence[Trial], chosen: Trial, frame: Any, kept: NonInferiority | None
) -> str:
    """The verdict: what the rows of the comparison say, and what they cannot, in bullets."""
    rows, name, said = frame.to_dict("records"), name_of(request, chosen), list[str]()
    if not rows or rows[0]["question"] != "choice":
        alone = chosen is default_of(trials) and len(trials) > 1
        said = [f"Choice: {name}{'; no other setting has a higher shrunken mean' if alone else ''}."]
    for question, title in BULLETS.items():
        level = dict[str, list[str]]()  # by measure: objectives without a significant difference
        for row in (row for row in rows if row["question"] == question):
            if question == "objective" and row["system"] != name and row[HOLM] >= LEVEL:
                start = f"Objective, on the same trees: no significant difference from {row['baseline']}"
                level.setdefault(f"{start} in {row['measure']}", []).append(
                    f"{row['system']} {_describe_effect(row)}"
                )
            else:
                said.append(
                    f"{title.format_map(row)}: {row['measure']} {_describe_effect(row)}, {_conclude(row)}."
                )
        said += [f"{start}: {', '.join(names)}." for start, names in level.items()]
    said += [f"Kept: {kept.verdict}"] if kept is not None else []
    return "\n".join(f"- {one}" for one in (*said, *_list_omissions(request, trials)))


def _describe_effect(row: Any) -> str:
    """The difference with its interval and corrected p-value."""
    known = np.isfinite([row["low"], row["high"]]).all()
    ends = f"{row['low']:+.4f} to {row['high']:+.4f}" if known else "too few queries for an interval"
    return f"{row['difference']:+.4f} ({ends}; p = {row[HOLM]:.2g})"


def _conclude(row: Any) -> str:
    if row["question"] == "label" and row["difference"] == row["low"] == row["high"] == 0:
        return "the same on every query"
    if row[HOLM] >= LEVEL:
        return "no significant difference"
    return "better" if row["difference"] > 0 else "worse"


def _list_omissions(request: Request, trials: Sequence[Trial]) -> Iterable[str]:
    """What failed, what was left out or not reached, positions that nothing reads, and the queries."""
    if failed := dict.fromkeys(f"{one.setting.candidate}: {one.error}" for one in trials if one.error):
        yield f"Failed: {'; '.join(failed)}."
    if request.incompatible:
        yield f"Left out: {'; '.join(f'{name} ({why})' for name, why in request.incompatible.items())}."
    there = {one.setting.candidate for one in trials}
    if missing := [name for name in request.candidates if name not in there]:
        yield f"Not reached within the budget: {', '.join(missing)}."
    unread = not any(measure.reads_positions for measure in request.measures)
    given = request.train.queries.positions is not None
    if given and unread and request.for_training(request.train).queries.positions is None:
        yield "Positions: not used by any candidate; InversePropensity uses them."
    n = counted(int(np.count_nonzero(request.weight > 0)), "query", "queries")
    by_folds = f"by {request.folds}-fold cross-validation over the {n} of {' and '.join(request.data_sets)}"
    yield (
        f"Measured {by_folds if request.by_folds else f'on the {n} of valid'}, paired by query: 95% intervals, and "
        "p-values after Holm's correction; both corrected for choosing the best of several."
    )


def frame_of(request: Request, trials: list[Trial]) -> Any:
    """All trials: a pandas frame, in the order in which they began."""
    import pandas as pd

    rows = [
        {"trial": one.number, "phase": one.setting.phase, "candidate": one.setting.candidate}
        | {"engine": request.candidates[one.setting.candidate].engine}
        | {"objective": repr(objective_of(request, one.setting)), "state": one.state}
        | {repr(measure): mean for measure, mean in zip(request.measures, one.means, strict=False)}
        | {"folds": one.folds, "rounds": one.rounds, "seconds": one.seconds, "error": one.error}
        | dict(one.setting.trees or {})
        for one in trials
    ]
    return pd.DataFrame(rows)
