"""``lambdaboost train``."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lambdaboost.cli.columns import Columns
from lambdaboost.cli.console import ERR, OUT, note, print_json, tell
from lambdaboost.cli.measuring import (
    check_position,
    check_sources,
    figures_of,
    figures_table,
    json_figures,
    parse_measures,
    remark,
)
from lambdaboost.cli.model_file import described
from lambdaboost.cli.progress import History
from lambdaboost.cli.warm_up import warm_up
from lambdaboost.datasets import Collection, Queries
from lambdaboost.datasets._files import check_no_input, check_place, sha256
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines.engine import Engine, Training, engine_named, sources_of, trainer_named
from lambdaboost.engines.leaves import Leaves, stepped
from lambdaboost.engines.native import NativeObjective, read_objective
from lambdaboost.engines.plan import check_read_positions
from lambdaboost.engines.saving import beside, save
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.evaluation.report.default_measures import default_measures
from lambdaboost.objectives import Objective


@dataclass(frozen=True)
class Request:
    """The options of the command."""

    train: Path
    valid: Path | None
    test: Path | None
    out: Path
    objective: str
    leaves: Leaves
    engine: str
    rounds: int
    early_stopping: int | None
    params: tuple[str, ...]
    measures: tuple[str, ...]
    columns: Columns
    seed: int


def run_train(request: Request, as_json: bool) -> None:
    """Train, evaluate and write a model, after all options and files are checked."""
    engine = engine_named(request.engine)
    measures = parse_measures(request.measures)
    training = _training(request, engine, measures)
    _check_wanted(training.objective, measures, request.columns)
    check_place("--out", request.out)
    check_no_input("--out", request.out, (request.train, request.valid, request.test))
    with ERR.status("reading …"):
        parts, columns = _read(request)
    measures = measures or _defaults(parts)
    _check_evaluated(parts, measures, training.measure)

    trained_on = _without_positions(parts) if _only_evaluated(training, measures) else parts
    booster, seconds, history = _trained(engine, training, trained_on, request.seed)
    figures: dict[str, dict[str, float]] = {}
    for part in ("valid", "test"):
        if part in parts:
            scores = engine.scores(booster, parts[part].features)
            figures[part] = figures_of(measures, scores, parts[part].queries, request.seed)
    kept = engine.n_rounds(booster)
    save(
        booster,
        request.out,
        objective=training.objective,
        leaves=training.leaves,
        params=training.params,
        about={
            **described(columns),
            **_about(request, training, parts, figures, history),
            "rounds_kept": kept,
        },
    )
    note(f"trained {training.objective!r} in {seconds:.1f} s; {request.out} keeps {kept} rounds")
    if as_json:
        print_json(json.loads(beside(request.out).read_text(encoding="utf-8")))
        return
    if figures:
        OUT.print(figures_table(figures))
    for part in figures:
        tell(remark(part, parts[part].queries))


def _training(request: Request, engine: Engine, measures: tuple[Measure, ...]) -> Training:
    try:
        objective = read_objective(request.objective)
        if isinstance(objective, NativeObjective):
            objective.check(engine, request.leaves)
        else:
            stepped(objective, request.leaves)
    except (TypeError, ValueError) as error:
        raise ValueError(f"--objective {request.objective!r}: {error}") from None
    if request.early_stopping is not None and request.valid is None:
        raise ValueError("--early-stopping needs --valid: it watches a measure on the validation part")
    params = {"seed": request.seed, **parse_params(request.params, engine)}
    watched = measures[0] if measures else NDCG(10)
    measure = None if request.valid is None else watched
    return Training(objective, request.leaves, request.rounds, params, measure, request.early_stopping)


def parse_params(texts: Iterable[str], engine: Engine) -> dict[str, Any]:
    """Parse the option ``--param``: numbers, true and false are converted, anything else is text."""
    params: dict[str, Any] = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not (key and equals and value):
            raise ValueError(f"--param {text!r}: expected KEY=VALUE, such as num_leaves=63")
        if key in engine.reserved:
            raise ValueError(f"--param {text!r}: {key} has its own option; see lambdaboost train --help")
        if unknown := engine.unknown(key):
            raise ValueError(f"--param {text!r}: {engine.name} has no parameter {key!r}; {unknown}")
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


def _check_wanted(objective: Any, measures: tuple[Measure, ...], columns: Columns) -> None:
    wanted = {source: f"--measure {measure!r}" for measure in measures for source in measure.sources}
    wanted |= dict.fromkeys(objective.sources, f"--objective {objective!r}")
    check_sources(wanted, ["relevance", *(source.name for source in columns.sources)])
    askers = [f"--measure {measure!r}" for measure in measures if measure.reads_positions]
    if isinstance(objective, Objective) and objective.reads_positions:
        askers.insert(0, f"--objective {objective!r}")
    check_position(askers, columns)


def _check_evaluated(
    parts: Mapping[str, Collection], measures: tuple[Measure, ...], watched: Measure | None
) -> None:
    """Raise before the training if a measure refuses the labels or the positions of a part."""
    for part in ("valid", "test"):
        if part not in parts:
            continue
        q = parts[part].queries
        for measure in dict.fromkeys((*measures, *((watched,) if watched and part == "valid" else ()))):
            try:
                for source in measure.sources:
                    q.source(source, allow_negative=measure.allows_negative)
                check_read_positions([measure], q)
            except ValueError as error:
                raise ValueError(f"--{part} with --measure {measure!r}: {error}") from None


def _only_evaluated(training: Training, measures: tuple[Measure, ...]) -> bool:
    """Whether positions are read by measures of the trained model, and by nothing in training."""
    asked = any(measure.reads_positions for measure in measures)
    if training.measure is not None and training.measure.reads_positions:
        return False
    return asked and isinstance(training.objective, Objective) and not training.objective.reads_positions


def _without_positions(parts: Mapping[str, Collection]) -> dict[str, Collection]:
    """The same parts, so that training does not report positions that it ignores."""
    return {
        name: replace(
            part, queries=Queries(part.queries.labels[RELEVANCE], part.queries.sizes, **sources_of(part))
        )
        for name, part in parts.items()
    }


def _read(request: Request) -> tuple[dict[str, Collection], Columns]:
    """Each part by name, and the columns determined by the training part."""
    file = request.columns.opened(request.train)
    parts = {"train": request.columns.collection(file)}
    columns = request.columns.fixed_by(file, parts["train"])
    for name, path in (("valid", request.valid), ("test", request.test)):
        if path is not None:
            parts[name] = columns.collection(columns.opened(path))
    return parts, columns


def _defaults(parts: Mapping[str, Collection]) -> tuple[Measure, ...]:
    """The default measures that every part has labels for."""
    first, *others = (default_measures(part.queries) for part in parts.values())
    return tuple(measure for measure in first if all(measure in other for other in others))


def _trained(
    engine: Engine, training: Training, parts: Mapping[str, Collection], seed: int
) -> tuple[Any, float, History]:
    """The booster, its training time in seconds, and the measure of each round."""
    train = parts["train"].shuffled(seed)
    measured = () if training.measure is None else (training.measure,)
    native = isinstance(training.objective, NativeObjective)
    computed = [] if native else [stepped(training.objective, training.leaves)]
    warm_up(train.queries, computed, measured)
    trainer = trainer_named(engine.name)
    data = trainer.data(train)
    valid = trainer.data(parts["valid"].shuffled(seed), reference=data) if "valid" in parts else None
    start = time.perf_counter()
    history = History(training.rounds, training.objective, training.measure)
    booster = trainer.train(training, data, valid, history.advance)
    history.end()
    return booster, time.perf_counter() - start, history


def _about(
    request: Request,
    training: Training,
    parts: Mapping[str, Collection],
    figures: Mapping[str, Mapping[str, float]],
    history: History,
) -> dict[str, Any]:
    """The entries of the model's description about its training."""
    paths = {"train": request.train, "valid": request.valid, "test": request.test}
    return {
        "rounds": training.rounds,
        "early_stopping": training.early_stopping,
        "seed": request.seed,
        "data": {
            name: {
                "file": path.name,
                "sha256": sha256(path),
                "queries": parts[name].queries.n_queries,
                "documents": parts[name].queries.n_documents,
            }
            for name, path in paths.items()
            if path is not None
        },
        "measures": {part: json_figures(of_part) for part, of_part in figures.items()},
        "history": history.as_json(),
    }
