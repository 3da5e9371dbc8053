"""The settings of trees that `tune` tries, and its rule of choice: `python -m benchmarks.portfolio --help`.

Sets: those of `benchmarks.gain.one_label_sets` but for `ratings`, which `benchmarks.unseen` tests, and two synthetic
logs; of each up to 300 random queries with two different grades, and up to 40 random documents of each query.

Matrix: the engine's own objective on the engine's own trees, and `YetiLoss()` on every setting, by `cross_validate`
with `--folds` and up to `--rounds`. The settings are those of `BY_HAND` and random draws of the same parameters.
XGBoost's trainings are fewer: on the sets of `--xgboost`. The program starts no setting after `--minutes`, and a
setting counts if it is complete on all sets. Finished settings are kept in `--out` and are not repeated unless the code
has changed.

Choice, as in FLAML (Wang et al. 2022, arXiv:2202.09927): one setting after the other, each the one that most lowers the
mean over sets of the regret of the best chosen one. The engine's own trees come first, always. The means of a set are
first drawn towards what a setting gives on all sets, by the share of their spread that the queries' own noise explains:
the best of forty noisy means would otherwise be chosen.

The rule of `tune`: the queries of each set are cut at random into halves, 400 times. One half chooses among the
engine's default objective, `YetiLoss()` on the engine's trees and the settings of a portfolio, by the highest mean or
by the simplest within one standard error; the other half measures the choice. This is done with the settings made by
hand, which no set has chosen, and with the mined ones.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from scipy import stats

from benchmarks.gain.one_label_sets import SETS, at_most
from benchmarks.provenance import digest, provenance
from experiments.common.report import table
from experiments.common.script import note, run, whole
from lambdaboost import NDCG, Queries, YetiLoss, cross_validate
from lambdaboost.datasets import Collection, web_search_log
from lambdaboost.engines import ENGINES
from lambdaboost.evaluation.significance import weighted_mean
from lambdaboost.tuning.portfolio import Trees, params_of

SOURCES = ("objectives", "evaluation", "tuning/cross_validate")  # of the package, on which the figures depend
QUERIES, DOCUMENTS, LOGS = 300, 40, ("log 1", "log 2")
EVERY = (*(name for name in SETS if name != "ratings"), *LOGS)
FEW = ("clueweb09", "mslr", "netflix", "talks")  # on which XGBoost is measured too
Name = StrEnum("Name", EVERY)  # type: ignore[misc]
MEASURE = NDCG(10)
SPLITS = 400
BY_HAND = (
    None,
    Trees(0.1, 4, 0.8, 0.8, 1.0, 20, 0.1),
    Trees(0.05, 96, 0.7, 0.8, 1.0, 100, 3.0),
    Trees(0.063, 8, 0.75, 0.96, 0.28, 8, 0.1),
    Trees(0.1, 6, 1.0, 1.0, 0.0, 20, 0.1),
    Trees(0.05, 63, 0.5, 0.8, 5.0, 50, 1.0),
    Trees(0.05, 16, 0.8, 0.8, 0.0, 50, 1.0),
    Trees(0.07, 31, 0.8, 0.8, 1.0, 50, 0.1),
    Trees(0.07, 16, 0.6, 0.97, 0.25, 16, 0.1),
    Trees(0.04, 8, 0.5, 0.7, 5.0, 20, 0.1),
    Trees(0.1, 16, 0.5, 1.0, 5.0, 100, 3.0),
    Trees(0.05, 31, 0.5, 0.8, 1.0, 20, 0.1),
)

# A column is a set on an engine, such as "mslr, lightgbm"; a row is a training: first the engine's own objective, then
# `YetiLoss()` on each setting.
Values = dict[tuple[str, int], NDArray[np.float64]]
# By column: the values (settings, queries), or of the default (queries,).
Tables = dict[str, NDArray[np.float64]]


def data_of(name: str, folder: Path) -> Collection:
    """A set, cut to size, the documents of each query in random order."""
    whole_set = SETS[name](folder) if name in SETS else web_search_log(QUERIES, 20, seed=1 + LOGS.index(name))
    # Random documents of each query, then random queries with two grades among these.
    X, q = whole_set.shuffled(0)
    sizes = np.minimum(q.sizes, DOCUMENTS)
    rows = np.arange(q.n_documents) - q.offsets[q.query_of_row] < DOCUMENTS
    return at_most(Collection(X[rows], Queries(q.relevance[rows], sizes=sizes)), QUERIES)


def drawn(n: int) -> list[Trees | None]:
    """The settings made by hand, then random ones."""
    rng = np.random.default_rng(0)
    found = list[Trees | None](BY_HAND)
    for _ in range(n):
        rate, leaves = np.exp(rng.uniform(np.log([0.04, 4]), np.log([0.15, 64])))
        l2, least, hessian = np.exp(rng.uniform(np.log([0.1, 5, 0.03]), np.log([10, 100, 5])))
        columns, rows = rng.uniform([0.4, 0.6], 1.0)
        if rng.random() < 0.3:
            l2 = 0.0
        two = [float(f"{value:.2g}") for value in (rate, columns, rows, l2, hessian)]
        found.append(Trees(two[0], int(leaves), two[1], two[2], two[3], int(least), two[4]))
    return found


def ranker_of(engine: str, objective: Any, trees: Trees | None, rounds: int) -> Any:
    """The ranker of a training."""
    quiet = {"verbose": -1} if engine == "lightgbm" else {}
    given = {"n_estimators": rounds, "n_jobs": 1, "random_state": 0, **quiet, **params_of(engine, trees)}
    ranker: Any = import_module(f"lambdaboost.{engine}").LambdaRanker(objective=objective, **given)
    return ranker


def measure(
    data: dict[str, Collection], columns: Sequence[tuple[str, str]], settings: Sequence[Trees | None],
    folds: int, rounds: int, minutes: float, kept: Path,
) -> Values:  # fmt: skip
    """The value of each query, by column and row of the matrix, of the rows that are complete."""
    values: Values = {}
    if kept.exists():
        with np.load(kept) as file:
            for key in file.files:
                column, row = key.rsplit("|", 1)
                values[column, int(row)] = file[key]
    end = time.time() + 60 * minutes
    for row, trees in enumerate([None, *settings]):
        missing = [(name, engine) for name, engine in columns if (f"{name}, {engine}", row) not in values]
        if missing and time.time() > end:
            break
        for name, engine in missing:
            objective = YetiLoss() if row else ENGINES[engine].NATIVE_OBJECTIVES[0]
            ranker = ranker_of(engine, objective, trees, rounds)
            given = {"measures": MEASURE, "folds": folds, "early_stopping_rounds": 40}
            values[f"{name}, {engine}", row] = cross_validate(ranker, data[name], **given).values[MEASURE]
        np.savez_compressed(kept, **{f"{column}|{row}": of for (column, row), of in values.items()})
        note(f"{row} of {len(settings)} settings")
    return values


def shrunken(tables: Tables) -> NDArray[np.float64]:
    """The mean of each setting on each set, (settings, sets), drawn towards the setting's mean over all sets."""
    means = np.array([of.mean(axis=1) for of in tables.values()]).T
    centred = means - means.mean(axis=0)
    of_setting = centred.mean(axis=1, keepdims=True)
    result = np.empty_like(means)
    for at, values in enumerate(tables.values()):
        noise = np.mean((values - values.mean(axis=0)).var(axis=1, ddof=1) / values.shape[1])
        own = centred[:, at] - of_setting[:, 0]
        kept = max(0.0, 1 - noise / own.var())
        result[:, at] = of_setting[:, 0] + kept * own
    return result


def greedy(means: NDArray[np.float64], n: int) -> list[tuple[int, float]]:
    """The settings in the order of the choice, the first one first, each with the mean regret that is left."""
    best, chosen = means.max(axis=0), [0]
    order = [(0, float((best - means[0]).mean()))]
    while len(chosen) < min(n, len(means)):
        reached = means[chosen].max(axis=0)
        left = [float((best - np.maximum(reached, row)).mean()) for row in means]
        # Where nothing is left to gain, the highest mean over all sets.
        keys = [(round(regret, 7), -row.mean()) for regret, row in zip(left, means, strict=True)]
        at = min((at for at in range(len(means)) if at not in chosen), key=keys.__getitem__)
        chosen.append(at)
        order.append((at, left[at]))
    return order


def gains(default: NDArray[np.float64], settings: NDArray[np.float64]) -> tuple[float, float]:
    """What each rule gains over the engine's default on one half of the queries, chosen on the other, ×100.

    The first is the highest mean, the second the simplest within one standard error.
    """
    rng, values = np.random.default_rng(0), np.array([default, *settings])
    found = np.empty((SPLITS, 2))
    for split in range(SPLITS):
        half = rng.permutation(values.shape[1]) < values.shape[1] // 2
        best = simple = int(values[:, half].mean(axis=1).argmax())
        for at in (1, 0):  # the engine's default is the last to be asked, and has the last word
            mean, error, _ = weighted_mean(values[best, half] - values[at, half], np.ones(int(half.sum())))
            if mean <= error:
                simple = at
        rest = values[:, ~half].mean(axis=1)
        found[split] = rest[[best, simple]] - rest[0]
    highest, within = 100 * found.mean(axis=0)
    return float(highest), float(within)


def mined_elsewhere(tables: Tables, left_out: str, n: int) -> list[int]:
    """The first settings of a portfolio mined without a set, on any engine."""
    of_set = left_out.rsplit(", ", 1)[0]
    others = {name: of for name, of in tables.items() if name.rsplit(", ", 1)[0] != of_set}
    return [at for at, _ in greedy(shrunken(others), n)]


def rules(defaults: Tables, tables: Tables) -> str:
    """The two rules, on settings that the set has not chosen."""
    by_hand, elsewhere = [], []
    for name, values in tables.items():
        by_hand.append(gains(defaults[name], values[: len(BY_HAND)]))
        elsewhere.append(gains(defaults[name], values[mined_elsewhere(tables, name, len(BY_HAND))]))
    found = np.hstack([by_hand, elsewhere])
    rows = [
        [name, str(defaults[name].size), *(f"{gain:+.2f}" for gain in of)]
        for name, of in zip(tables, found, strict=True)
    ]
    rows.append(["mean", "", *(f"{gain:+.2f}" for gain in found.mean(axis=0))])
    said = []
    for kind, columns in (("made by hand", found[:, :2]), ("mined on the other sets", found[:, 2:])):
        differ = columns[:, 0] - columns[:, 1]
        t, p = stats.ttest_1samp(differ, 0)
        said.append(
            f"settings {kind}: {differ.mean():+.2f}, t = {t:.1f} over the {len(differ)} rows, p = {p:.2g}"
        )
    header = [
        "",
        "queries",
        *("by hand, highest mean", "by hand, simplest"),
        *("mined, highest mean", "mined, simplest"),
    ]
    caption = (
        "NDCG@10 times 100 above the engine's default, on the half of the queries that did not choose. Highest mean "
        f"less simplest within one standard error: {'; '.join(said)}."
    )
    return f"## The rule\n\n{table(header, rows, caption)}"


def sizes(defaults: Tables, tables: Tables) -> str:
    """What portfolios of different sizes gain on sets that did not choose them."""
    header, rows = ["settings", *tables, "mean"], []
    for n in (1, 2, 3, 4, 6, 8, 12, 16):
        found = [
            gains(defaults[name], values[mined_elsewhere(tables, name, n)])[0]
            for name, values in tables.items()
        ]
        rows.append([str(n), *(f"{gain:+.2f}" for gain in (*found, np.mean(found)))])
    caption = "As above, highest mean, with the first settings of a portfolio mined on the other sets."
    return f"## How many settings\n\n{table(header, rows, caption)}"


def portfolio(tables: Tables, settings: list[Trees | None]) -> str:
    """The mined settings, and the means of all."""
    means = shrunken(tables)
    order = greedy(means, len(BY_HAND))
    lines = [[str(settings[at]), f"{100 * means[at].mean():+.2f}", f"{100 * left:.2f}"] for at, left in order]
    caption = (
        "In the order of the choice; None are the engine's own parameters. Shrunken mean over the sets, around that of "
        "all settings, and the regret that is left, NDCG@10 times 100."
    )
    chosen = table(["", "mean", "regret left"], lines, caption)
    rows = []
    for at in np.argsort(-means.mean(axis=1)):
        of_sets = [f"{100 * values[at].mean():.2f}" for values in tables.values()]
        rows.append([str(settings[at]), *of_sets])
    return f"## The portfolio\n\n{chosen}\n\n## All settings\n\n{table(['', *tables], rows, 'Mean NDCG@10 times 100.')}"


def main(
    folder: Annotated[Path, typer.Argument(help="has a folder of each set, as one_label_sets names them")],
    sets: Annotated[list[Name] | None, typer.Option(help="may be repeated (default: all)")] = None,
    xgboost: Annotated[list[Name] | None, typer.Option(help="sets of XGBoost; may be repeated")] = None,
    draws: Annotated[int, whole("random settings", least=0)] = 28,
    folds: Annotated[int, whole("folds", least=2)] = 2,
    rounds: Annotated[int, whole("at most, in a fold")] = 150,
    minutes: Annotated[float, typer.Option(help="start no setting later")] = 180,
    out: Annotated[Path, typer.Option(help="portfolio.md and values")] = Path("lambdaboost-portfolio"),
) -> None:
    """Measure the portfolio of tune, and write portfolio.md."""
    out.mkdir(parents=True, exist_ok=True)
    data = {str(name): data_of(str(name), folder) for name in sets or EVERY}
    columns = [(name, "lightgbm") for name in data]
    columns += [(str(name), "xgboost") for name in xgboost or FEW if name in data]
    settings = drawn(draws)
    kept = out / f"values-{digest(SOURCES)}.npz"
    values = measure(data, columns, settings, folds, rounds, minutes, kept)

    # The settings that are complete on all sets; their first row is the engine's default.
    names = [f"{name}, {engine}" for name, engine in columns]
    complete = [at for at in range(len(settings)) if all((name, at + 1) in values for name in names)]
    settings = [settings[at] for at in complete]
    tables = {name: np.array([values[name, at + 1] for at in complete]) for name in names}
    defaults = {name: values[name, 0] for name in names}
    options = f"--draws {draws} --folds {folds} --rounds {rounds} --minutes {minutes:g}"
    made_by = provenance(f"python -m benchmarks.portfolio FOLDER {options}", *SOURCES)
    head = f"{len(settings)} settings.\n{made_by}"
    text = (__doc__ or "").split("\n\n", 1)[1].strip()
    parts = [rules(defaults, tables), sizes(defaults, tables), portfolio(tables, settings)]
    page = "\n\n".join(["# The settings of trees that tune tries, and how it chooses", head, text, *parts])
    (out / "portfolio.md").write_text(page + "\n", encoding="utf-8")
    note(f"written: {out / 'portfolio.md'}")


if __name__ == "__main__":
    run(main)
