"""``lambdaboost train``."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._files import sha256
from lambdaboost._installed import engine_named
from lambdaboost.cli.columns import naming_file, naming_option
from lambdaboost.cli.console import ERR, bar_of_rounds, note, print_table, tell
from lambdaboost.cli.files import check_suffix
from lambdaboost.cli.measuring import (
    check_columns,
    check_evaluated,
    figures_of,
    figures_table,
    json_figures,
    parse_measures,
    remark,
)
from lambdaboost.datasets import Collection, Columns
from lambdaboost.evaluation import NDCG, Measure, parse
from lambdaboost.evaluation.naming import default_measures
from lambdaboost.leaks import warn_of_leaks
from lambdaboost.native import NativeObjective, read_objective
from lambdaboost.objectives import Objective
from lambdaboost.objectives.objective import check_objective
from lambdaboost.saving import save, sidecar_path
from lambdaboost.traps import hint

Parts = dict[str, Collection]  # train, valid and test


def run(
    train: Path,
    valid: Path | None,
    test: Path | None,
    out: Path,
    objective: str,
    engine: str,
    rounds: int,
    early_stopping: int | None,
    param: tuple[str, ...],
    measure: tuple[str, ...],
    columns: Columns,
    seed: int,
    as_json: bool,
) -> None:
    """Train, evaluate and write a model, after all options and files are checked."""
    if early_stopping is not None and valid is None:
        raise ValueError("--early-stopping needs --valid: it watches a measure on the validation part")
    check_suffix("--out", out, engine)
    chosen, measures = engine_named(engine), parse_measures(measure)
    watched = None if valid is None else next(iter(measures), NDCG(10))
    params = {"seed": seed, **parse_params(param, chosen)}
    rule = _checked(objective, engine)
    check_columns(measures, columns, rule)

    given = {"train": train, "valid": valid, "test": test}
    paths = {name: path for name, path in given.items() if path is not None}
    with ERR.status("reading …"):
        parts, columns = read_parts(paths, columns)
    measures = measures or _defaults(parts)
    for part in ("valid", "test"):
        if part in parts:
            also = [watched] if watched and part == "valid" else []
            check_evaluated(
                f"--{part}", parts[part].queries, paths[part], parts[part].rows, (*measures, *also)
            )

    shuffled = parts["train"].queries.shuffled_rows(seed)
    with naming_file(train, parts["train"].rows, shuffled):
        read = _read_in_training(parts, rule, watched, measures)
        booster, seconds, history = _trained(
            chosen, rule, params, rounds, watched, early_stopping, read, seed
        )
    figures = {
        part: figures_of(measures, scores_of(chosen, booster, data), data.queries, seed)
        for part, data in parts.items()
        if part != "train"
    }
    kept = chosen.n_rounds(booster)
    about = {
        **columns.record(),
        "rounds": rounds,
        "early_stopping": early_stopping,
        "seed": seed,
        "data": {name: data_facts(paths[name], part) for name, part in parts.items()},
        "measures": {part: json_figures(of_part) for part, of_part in figures.items()},
        "history": history,
        "rounds_kept": kept,
    }
    save(booster, out, objective=rule, params=params, about=about)
    note(f"trained {rule!r} in {seconds:.1f} s; {out} keeps {kept} rounds")
    if as_json:
        print(sidecar_path(out).read_text(encoding="utf-8"), end="")
        return
    if figures:
        print_table(*figures_table(figures))
    for part in figures:
        tell(remark(part, parts[part].queries, map(parse, figures[part])))


def _checked(text: str, engine: str) -> Any:
    """The objective of the option."""
    with naming_option(f"--objective {text!r}"):
        objective = read_objective(text)
        if isinstance(objective, NativeObjective):
            objective.check(engine)
        else:
            check_objective("objective", objective)
            objective.refuse_on_engines()
    return objective


def parse_params(texts: Iterable[str], engine: Any) -> dict[str, Any]:
    """Parse the option ``--param``: numbers, true and false are converted, anything else is text."""
    params: dict[str, Any] = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not (key and equals and value):
            raise ValueError(f"--param {text!r}: expected KEY=VALUE, such as num_leaves=63")
        if key in engine.RESERVED:
            raise ValueError(f"--param {text!r}: {key} has its own option; see lambdaboost train --help")
        if key not in engine.PARAMETERS:
            raise ValueError(
                f"--param {text!r}: {engine.NAME} has no parameter {key!r}; {hint(key, engine.PARAMETERS)}"
            )
        if key in params:
            raise ValueError(f"--param {text!r}: {key} is given twice; give it once")
        params[key] = _value(value)
    return params


def _value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if math.isfinite(number):
            return number
    return text


def read_parts(paths: Mapping[str, Path], columns: Columns) -> tuple[Parts, Columns]:
    """Each part by name, and the columns with the features of the first one."""
    parts: Parts = {}
    for name, path in paths.items():
        table = columns.open(path)
        parts[name] = columns.read(table)
        if len(parts) == 1:
            columns = columns.recorded(parts[name], table)
    return parts, columns


def scores_of(engine: Any, booster: Any, data: Collection) -> NDArray[np.floating]:
    """The scores of all documents."""
    scores: NDArray[np.floating] = engine.scores(booster, data.features)
    return scores


def data_facts(path: Path, data: Any) -> dict[str, Any]:
    """What the description of a model says of a file."""
    q = data.queries
    return {"file": path.name, "sha256": sha256(path), "queries": q.n_queries, "documents": q.n_documents}


def _defaults(parts: Parts) -> tuple[Measure, ...]:
    """The default measures that every part has labels for, or those of the training data if there are none."""
    first, *others = (default_measures(part.queries) for part in parts.values())
    return tuple(measure for measure in first if all(measure in other for other in others)) or first


def _read_in_training(
    parts: Parts, rule: Any, watched: Measure | None, measures: tuple[Measure, ...]
) -> Parts:
    """The parts, without positions that only measures of the trained model read: a training would report them."""
    readers = [rule, *([] if watched is None else [watched])]
    trains = not isinstance(rule, Objective) or any(r.reads_positions for r in readers)
    if trains or not any(measure.reads_positions for measure in measures):
        return parts
    return {name: part.without_positions() for name, part in parts.items()}


def _trained(
    engine: Any,
    rule: Any,
    params: Mapping[str, Any],
    rounds: int,
    watched: Measure | None,
    early_stopping: int | None,
    parts: Parts,
    seed: int,
) -> tuple[Any, float, dict[str, Any]]:
    """The booster, its training time in seconds, and the measure of each round like an engine's evaluation results."""
    train = parts["train"].shuffled(seed)
    warn_of_leaks(train.features, train.queries, train.feature_names)
    data = engine.dataset(train)
    valid = engine.dataset(parts["valid"].shuffled(seed), data) if "valid" in parts else None
    curve: list[float | None] = []
    start = time.perf_counter()
    with bar_of_rounds(rounds) as advance:

        def on_round(figure: float | None) -> None:
            curve.append(figure)
            advance("" if figure is None else f"{watched!r} {figure:.4f}")

        booster = engine.boost(rule, params, rounds, data, valid, watched, early_stopping, on_round)
    seconds = time.perf_counter() - start
    if valid is None:
        return booster, seconds, {}
    values = [None if figure is None or math.isnan(figure) else round(figure, 6) for figure in curve]
    return booster, seconds, {"valid": {repr(watched): values}}
