"""``lambdaboost demo``: lambdaboost against the engine's own LambdaRank, on held-out queries."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.table import Table

from lambdaboost import __version__
from lambdaboost._installed import engine_version
from lambdaboost.cli.console import ERR, OUT, print_json, tell
from lambdaboost.cli.demo_report import write_page
from lambdaboost.cli.demo_systems import DOCUMENTS, Contender, Outcome, Parts
from lambdaboost.cli.progress import Rounds, progress_bars
from lambdaboost.cli.warm_up import warm_up
from lambdaboost.datasets._files import check_place
from lambdaboost.engines.constraint import lacks_reference, referenced
from lambdaboost.engines.engine import Engine, OnRound, Trainer, Training, engine_named, trainer_named
from lambdaboost.engines.leaves import stepped
from lambdaboost.engines.native import NativeObjective
from lambdaboost.evaluation import CNDCG, NDCG, Comparison, Measure, System, compare
from lambdaboost.evaluation.comparison.significance import LEGEND, Significance
from lambdaboost.objectives import Constrained, LambdaRank

# The same grid for each system; the validation part selects.
LEARNING_RATES = (0.025, 0.05, 0.1, 0.2)
TIMED = 2  # trainings of each system at its rate; the faster one counts
CHOSEN_BY: Measure = NDCG(3)
KEPT, RAISED = NDCG(), CNDCG(10)
MEASURES: tuple[Measure, ...] = (*(NDCG(k) for k in range(1, 11)), KEPT, CNDCG(3), RAISED)


def run_demo(
    engine_name: str, queries: int, rounds: int, seed: int, as_json: bool, page: Path | None
) -> None:
    """Train, compare, print, and write the page if requested."""
    if page is not None:
        check_place("--report", page)
    engine = engine_named(engine_name)
    # The same λ as the baseline's, so that the table's NDCG shows whether it was kept.
    own = LambdaRank(KEPT, convention=engine.name)  # type: ignore[arg-type]
    constrained = Contender("Constrained", "engine", Constrained(own, raise_=LambdaRank(RAISED)))
    contenders = (
        Contender(f"{engine.name} {engine.native}"),
        constrained,
        Contender("LambdaRank, gradient steps", "gradient"),
        Contender("LambdaRank, Newton steps", "engine"),
    )
    parts = Parts.make(queries, seed)
    rules = [stepped(c.objective, c.leaves) for c in contenders if c.leaves]
    rules = [referenced(rule, [0.0]) if lacks_reference(rule) else rule for rule in rules]
    compiling = warm_up(parts.train.queries, rules, MEASURES)
    outcomes = _outcomes(engine, contenders, parts, rounds, seed)
    baseline, *others = (System(o.contender.name, o.scores, parts.test.queries) for o in outcomes)
    comparison = compare(baseline, *others, measures=MEASURES)
    if page is not None:
        with ERR.status(f"writing {page} …"):
            write_page(page, engine, outcomes, parts, rounds, seed)
    if as_json:
        print_json(_as_json(engine, outcomes, comparison, parts, rounds, seed, compiling))
        return
    OUT.print(_table(outcomes, comparison))
    tell(_kept_and_raised(constrained, comparison))
    tell(_caption(engine, parts, comparison.criterion, rounds, seed, compiling))
    if page is not None:
        tell(f"Report with pictures, query by query: {page}")


def _outcomes(
    engine: Engine, contenders: tuple[Contender, ...], parts: Parts, rounds: int, seed: int
) -> list[Outcome]:
    trainer = trainer_named(engine.name)
    data = trainer.data(parts.train)
    outcomes: list[Outcome] = []
    trainers = []
    with progress_bars() as progress:
        for contender in contenders:
            bar = Rounds(progress, contender.name, (len(LEARNING_RATES) + TIMED) * rounds)
            train = _trainer(engine, trainer, contender, data, rounds, seed, bar.advance)
            outcome = Outcome(contender)
            for rate in LEARNING_RATES:
                scores = engine.scores(train(rate), parts.valid.features)
                outcome.validation[rate] = CHOSEN_BY(scores, parts.valid.queries)
            outcome.learning_rate = max(outcome.validation, key=outcome.validation.__getitem__)
            outcomes.append(outcome)
            trainers.append(train)
        for _ in range(TIMED):  # alternating, so that other load on the machine affects all equally
            for outcome, train in zip(outcomes, trainers, strict=True):
                start = time.perf_counter()
                booster = train(outcome.learning_rate)
                outcome.seconds = min(outcome.seconds, time.perf_counter() - start)
                outcome.booster, outcome.scores = booster, engine.scores(booster, parts.test.features)
    return outcomes


def _trainer(
    engine: Engine,
    trainer: Trainer,
    contender: Contender,
    data: Any,
    rounds: int,
    seed: int,
    on_round: OnRound,
) -> Callable[[float], Any]:
    """A function that trains a contender at a learning rate, with the engine's defaults otherwise."""

    def train(rate: float) -> Any:
        params = {"learning_rate": rate, "seed": seed}
        if contender.leaves is None:
            training = Training(NativeObjective(engine.native), "engine", rounds, params)
        else:
            training = Training(contender.objective, contender.leaves, rounds, params)
        with (
            warnings.catch_warnings()
        ):  # of a constraint that is broken on the training part: the table shows it
            warnings.filterwarnings("ignore", "keep: ")
            return trainer.train(training, data, None, on_round)

    return train


def _table(outcomes: list[Outcome], comparison: Comparison) -> Table:
    """Rows of cutoffs, columns of systems; the last row is the training time."""
    baseline = outcomes[0].contender.name
    table = Table("measure", *(o.contender.name.replace(" ", "\n", 1) for o in outcomes))
    for column in table.columns[1:]:
        column.justify = "right"
    for at, measure in enumerate(MEASURES):
        first = comparison[outcomes[1].contender.name, measure]
        cells = [_percent(first.mean_before)]
        for outcome in outcomes[1:]:
            key = outcome.contender.name, measure
            cells.append(_marked(_percent(comparison[key].mean_after), comparison.significance[key]))
        last = measure is MEASURES[-1] or not isinstance(MEASURES[at + 1], type(measure))
        table.add_row(repr(measure), *cells, end_section=last)
    assert comparison.baseline == baseline
    table.add_row("learning rate", *(f"{o.learning_rate:g}" for o in outcomes))
    table.add_row("seconds", *(f"{o.seconds:.2f}" for o in outcomes))
    return table


def _kept_and_raised(constrained: Contender, comparison: Comparison) -> str:
    """How the kept and the raised measure changed."""
    changes = [
        f"{measure!r} {100 * change.mean:+.2f} (p = {change.p_value:.2g})"
        for measure in (KEPT, NDCG(10), RAISED)
        for change in [comparison[constrained.name, measure]]
    ]
    return (
        f"Constrained aims to keep the grades' {KEPT!r} on the training part within 0.5 points of the primary "
        f"objective alone, which has the λ of {comparison.baseline}, and to raise the clicks' {RAISED!r}. On the test "
        f"queries, from {comparison.baseline}, p not corrected: {', '.join(changes)}."
    )


def _percent(figure: float) -> str:
    return f"{100 * figure:.2f}"


def _marked(text: str, found: Significance) -> str:
    cell = found.marked(text)
    return f"[bold]{cell.text}[/bold]" if cell.style == "bold" else cell.text


def _caption(engine: Engine, parts: Parts, criterion: str, rounds: int, seed: int, compiling: float) -> str:
    sizes = (
        f"{parts.train.queries.n_queries} / {parts.valid.queries.n_queries} / {parts.test.queries.n_queries}"
    )
    return (
        f"Means times 100 on the test queries of a synthetic search log (seed {seed}; train / valid / test "
        f"{sizes} queries, about {DOCUMENTS} documents each).\n"
        f"{LEGEND} than {engine.name} {engine.native} ({criterion}).\n"
        f"{rounds} rounds each, {engine.name}'s default parameters; learning rate of "
        f"{', '.join(f'{rate:g}' for rate in LEARNING_RATES)} selected by NDCG@3 on the validation part.\n"
        f"Seconds: the faster of {TIMED} trainings at that rate, without binning and without compiling or loading "
        f"kernels ({compiling:.1f} s)."
    )


def _as_json(
    engine: Engine,
    outcomes: list[Outcome],
    comparison: Comparison,
    parts: Parts,
    rounds: int,
    seed: int,
    compiling: float,
) -> dict[str, Any]:
    systems = []
    for outcome in outcomes:
        name = outcome.contender.name
        of_system = [
            comparison[name if outcome is not outcomes[0] else comparison.systems[0], m] for m in MEASURES
        ]
        is_baseline = outcome is outcomes[0]
        figures = [d.mean_before if is_baseline else d.mean_after for d in of_system]
        systems.append(
            {
                "name": name,
                "learning_rate": outcome.learning_rate,
                "seconds": outcome.seconds,
                "validation": {f"{rate:g}": value for rate, value in outcome.validation.items()},
                "measures": {repr(m): f for m, f in zip(MEASURES, figures, strict=True)},
                "significance": None
                if is_baseline
                else {repr(m): comparison.significance[name, m].as_dict() for m in MEASURES},
            }
        )
    return {
        "engine": engine.name,
        "versions": {"lambdaboost": __version__, engine.name: engine_version(engine.name)},
        "seed": seed,
        "rounds": rounds,
        "queries": {name: getattr(parts, name).queries.n_queries for name in ("train", "valid", "test")},
        "documents": {name: getattr(parts, name).queries.n_documents for name in ("train", "valid", "test")},
        "compiling_seconds": compiling,
        "systems": systems,
    }
