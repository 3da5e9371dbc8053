"""What the figures of the field say: of objectives, of a search over them, and of the recipes."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.field.candidates import LAMBDARANK
from benchmarks.field.data import SYNTHETIC
from benchmarks.field.recipes import RECIPES
from benchmarks.field.results import Results, Searched
from experiments.common.report import table
from lambdaboost import NDCG
from lambdaboost.evaluation.comparison.significance import significances

K = 3


def findings(results: Results, searched: Searched, real: Sequence[str]) -> str:
    """A line for each claim; the objectives named are picked by these same figures."""
    lines = _of_field(results, searched, real) if real else []
    lines += _of_searches(results, searched, real) if real else []
    if SYNTHETIC in results.data_sets:
        lines.append(_of_synthetic(results, searched))
    return "\n".join(f"- {line}" for line in lines)


def _of_field(results: Results, searched: Searched, data: Sequence[str]) -> list[str]:
    means = {row: results.mean(row, K, data) for row in searched.names}
    best, worst = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
    others = [row for row in searched.names if row != LAMBDARANK.name]
    against = results.compared(LAMBDARANK.name, others, (K,), data)
    differ = [row for row in others if against.significance[row, NDCG(K)].mark]
    of_best = results.compared(best, [row for row in searched.names if row != best], (K,), data)
    behind = [row for row in of_best.systems if of_best.significance[row, NDCG(K)].is_worse]
    wins = [max(searched.names, key=lambda row, one=name: results.mean(row, K, [one])) for name in data]
    return [
        f"Pooled NDCG@{K} lies between {100 * means[worst]:.2f} ({worst}) and {100 * means[best]:.2f} ({best}).",
        f"{len(differ)} of {len(others)} differ significantly from {LAMBDARANK.name}"
        + (f": {', '.join(differ)}." if differ else "."),
        f"{len(behind)} of {len(of_best.systems)} are significantly worse than the best"
        + (f": {', '.join(behind)}." if behind else "."),
        "The best of each set: "
        + "; ".join(f"{name}: {row}" for name, row in zip(data, wins, strict=True))
        + ".",
    ]


def _of_searches(results: Results, searched: Searched, data: Sequence[str]) -> list[str]:
    """Rows that choose the objective: against the best native one, and by regret."""
    native = [c.name for c in searched.candidates if c.is_native]
    lines = []
    for refit in (False, True):
        rival = max(native, key=lambda row, again=refit: results.mean(row, K, data, again))
        lowest = min(results.regret(row, K, data, searched.names, refit) for row in searched.names)
        for row in results.rows:
            if row in searched.names or row in searched.recipes:
                continue
            found = results.compared(rival, [row], (K,), data, refit).significance[row, NDCG(K)]
            lost = results.regret(row, K, data, searched.names, refit)
            lines.append(
                f"{row}{', refitted' if refit else ''}: {points(found.difference, found.p)} against {rival}, the best "
                f"native objective{' refitted' if refit else ''}; regret {100 * lost:.2f}, the lowest of any fixed "
                f"objective {100 * lowest:.2f}."
            )
    return lines


def _of_synthetic(results: Results, searched: Searched) -> str:
    means = {row: results.mean(row, K, [SYNTHETIC]) for row in searched.names}
    best = max(means, key=means.__getitem__)
    compared = results.compared(best, [row for row in searched.names if row != best], (K,), [SYNTHETIC])
    even = [row for row in compared.systems if not compared.significance[row, NDCG(K)].mark]
    fixed = searched.names + searched.recipes
    picked = {row: chosen[SYNTHETIC, 0] for row, chosen in results.chosen.items() if row not in fixed}
    return (
        f"Synthetic log: the best is {best}; {_even(even)}. "
        + "; ".join(f"{row} chose {name}" for row, name in picked.items())
        + "."
    )


def _even(names: Sequence[str]) -> str:
    if not names:
        return "every other one is significantly below it"
    return f"no significant difference from {', '.join(names)}"


def recipes(results: Results, searched: Searched, data: Sequence[str]) -> str:
    """Each recipe against what it is made from, all sets pooled but the synthetic log, and on that."""
    real = [name for name in data if name != SYNTHETIC]
    groups = [group for group in (real, [SYNTHETIC] if SYNTHETIC in data else []) if group]
    pairs = [
        (r.name, p.name) for r, parents in RECIPES.items() if r.name in searched.recipes for p in parents
    ]
    columns = []
    for group in groups:
        found = [results.compared(parent, [recipe], (K,), group) for recipe, parent in pairs]
        tested = significances((d.mean, d.p_value) for one in found for d in one.differences)
        columns.append([f"{s.mark} {points(s.difference, s.adjusted)}".strip() for s in tested])
    rows = [[recipe, parent, *cells] for (recipe, parent), *cells in zip(pairs, *columns, strict=True)]
    heads = ["pooled" if group is real else SYNTHETIC for group in groups]
    caption = f"NDCG@{K}, not refitted; p after Holm's correction for {len(pairs)} comparisons."
    return table(["", "against", *heads], rows, caption)


def points(difference: float, p: float) -> str:
    """A difference times 100 with its p-value: hundredths of a point, since objectives differ by few.

    >>> points(0.00123, 0.04)
    '+0.12 points, p=0.04'
    """
    return f"{100 * difference:+.2f} points, p={p:.2g}"
