"""`tune`: the trees first, then the objectives on the same trees, then a few settings around the best."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import joblib
import numpy as np

from lambdaboost._files import check_place
from lambdaboost._installed import package
from lambdaboost._words import counted, plain
from lambdaboost.datasets import Encoder
from lambdaboost.datasets.table import QUERY
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.evaluation.naming import parse_all
from lambdaboost.leaks import warn_of_leaks
from lambdaboost.tuning.candidates import parse_candidates
from lambdaboost.tuning.keep import WEIGHTS, NonInferiority
from lambdaboost.tuning.request import (
    UNLIMITED,
    Request,
    read_budget,
    read_engines,
    read_params,
    read_parts,
)
from lambdaboost.tuning.training import (
    SHARED,
    CrossValidation,
    Setting,
    Trial,
    refit,
    trials_of,
    uninterrupted,
)
from lambdaboost.tuning.trees import STARTS, near_trees
from lambdaboost.tuning.tuned import Tuned
from lambdaboost.tuning.verdict import best_of, best_trees, compare_trials, describe, frame_of

SETTINGS = 17  # where no budget is given
PHASE_ENDS = {"trees": 0.5, "objectives": 0.85}  # shares of the minutes after which a phase ends


class Stopped(KeyboardInterrupt):
    """Ctrl-C, after at least one setting; `finish()` returns the `Tuned` of those that are complete."""

    def __init__(self, message: str, finish: Callable[[], Tuned]) -> None:
        super().__init__(message)
        self.finish = finish


def tune(
    train: Any,
    y: Any = None,
    *,
    valid: Any = None,
    query: str = QUERY,
    sources: Any = None,
    position: Any = None,
    group: Any = None,
    qid: Any = None,
    sample_weight: Any = None,
    measure: Measure | str | Iterable[Measure | str] = NDCG(10),
    keep: float | None = None,
    objectives: Iterable[Any] | None = None,
    engine: Literal["lightgbm", "xgboost"] | None = None,
    params: Mapping[str, Any] | None = None,
    settings: int | None = None,
    minutes: float | None = None,
    split: Literal["folds", "given"] | None = None,
    folds: int = 5,
    rounds: int = 500,
    early_stopping_rounds: int = 30,
    study: str | Path | None = None,
    workers: int | None = None,
    seed: int = 0,
) -> Tuned:
    """Search tree parameters and the objective for your data, and report what each contributes.

    First comes the engine's default: its own objective with its own parameters. Then the trees are searched with
    `LambdaRank`, by Optuna: known good starts, then its TPE sampler and its pruner. All other objectives are trained on
    the best trees, in the same folds; the rest of the budget goes to further trees for the best objective. The
    highest mean after shrinkage for noise is trained again on all queries. A setting that fails is named in the
    verdict, and the others go on.

    The result trains again by ``LambdaRanker(objective=tuned.objective, n_estimators=tuned.rounds, **tuned.params)``.

    Parameters
    ----------
    train, y
        A table, array or sparse matrix with its grades, as of `LambdaRanker.fit`; or a Collection, which has its own,
        with `y` as the validation Collection if you like.
    valid : Collection or (X, y), optional
        Validation part; a table with the columns of `train`. No query may be in both.
    query, sources, position, group, qid, sample_weight
        Columns, as of `LambdaRanker`, and arrays, as of its `fit`. A Collection has its own; arrays with label sources
        need one.
    measure : Measure, str or iterable of them
        What to optimise. The first of several decides; objectives and labels are compared on all of them.
    keep : float, optional
        With two measures: what the first may lose, in its units, such as 0.005, while the second is raised. The choice
        is then trained with rising weights of LambdaRank of the second, in the same folds, on top of the budget, up to
        the first that is not proven to lose less. The model is the proven one with the highest second measure.
    objectives : iterable of Objective or str, optional
        The candidates, such as ``["lambdarank", "LambdaRank", "graded(0.2)"]``; by default the engines' own and
        lambdaboost's, and with further label sources `graded` of each. An objective of several labels is compared with
        its first part, which is trained too, but never chosen unless it is named.
    engine : "lightgbm" or "xgboost", optional
        The engine. By default LightGBM, and XGBoost on some of the same trees, where both are installed.
    params : dict, optional
        Parameters of the engine that are fixed, and therefore not searched.
    settings, minutes : int, float, optional
        The budget, one of them: how many settings are tried, by default 17, or for how long.
    split : "folds" or "given", optional
        Whether settings are cross-validated over the queries of `train` and `valid` together, or trained on `train` and
        measured on `valid`, such as a later time. By default ``"folds"`` without `valid` or below 10,000 queries.
    folds : int
        Number of folds, ≥ 2; queries stay whole, and equal queries are in one fold.
    rounds, early_stopping_rounds : int
        The maximum number of rounds, and the number of rounds without a better mean over the folds so far after which a
        training stops (twice that in the first fold). All folds of a setting get the same number of rounds,
        and the final training more, in proportion to its documents.
    study : path, optional
        A file for Optuna's journal storage. The same call resumes it, also with a larger budget.
    workers : int, optional
        Number of processes of one thread each; by default one per processor, fewer for short searches. Only
        ``workers=1`` is reproducible.
    seed : int
        Seed of the search, the engines, the folds, and the order of the documents of a query.

    Raises
    ------
    TypeError, ValueError
        Before anything is trained, for invalid arguments; after it, if no setting could be trained.
    KeyboardInterrupt
        At Ctrl-C. After the first setting it is a `Stopped`, whose ``finish()`` returns the best so far.

    Examples
    --------
    >>> from lambdaboost.datasets import web_search_log
    >>> log = web_search_log(60, documents=20, seed=2)
    >>> few = {"objectives": ["lambdarank", "LambdaRank"], "settings": 3, "rounds": 20, "workers": 1}
    >>> tuned = tune(log.take(range(40)), valid=log.take(range(40, 60)), **few)
    >>> len(tuned.trials), tuned.booster.num_trees() == tuned.rounds
    (3, True)

    """
    package("optuna")
    engines = read_engines(engine)
    named = None if objectives is None else parse_candidates(objectives, engines)
    columns = {"query": query, "sources": sources, "position": position}
    parts = read_parts(train, y, valid, columns, {"group": group, "qid": qid, "sample_weight": sample_weight})
    budget, fixed = read_budget(settings, minutes, SETTINGS), read_params(params, engines)
    request = Request(
        *parts, split, parse_all(measure), keep, named, engines, fixed, *budget, folds, rounds, early_stopping_rounds,
        workers, seed,
    )  # fmt: skip
    warn_of_leaks(request.train.features, request.train.queries, request.train.feature_names)
    with without_messages(), opened_study(request, study) as (found, file):
        validation, begin = CrossValidation(request), time.time()
        try:
            for phase, requested in phases(request, found):
                left = remaining(requested, trials_of(found))
                until = begin + 60 * (request.minutes or np.inf) * PHASE_ENDS.get(phase, 1.0)
                if len(left) > 1 and (n := request.n_workers) > 1:
                    shares = (joblib.delayed(run_share)(request, file, left[at::n], until) for at in range(n))
                    joblib.Parallel(n_jobs=n)(shares)
                else:
                    validation.run(found, left, until, phase)
        except KeyboardInterrupt:
            trials = trials_of(found)
            if not any(one.is_complete for one in trials):
                raise
            how = f"the same call resumes {study}" if study else "with study= the same call would resume"
            said = f"stopped after {counted(len(trials), 'setting')}; {how}"
            raise Stopped(said, lambda: choose(request, found)) from None
        return choose(request, found)


def choose(request: Request, study: Any) -> Tuned:
    """Choose among the trials of a study, train the choice again, and say what was found."""
    trials = trials_of(study)
    chosen = best_of(request, trials)
    steps = weight_trials(chosen, trials)
    kept = prove_weights(request, steps)
    model = steps[0 if kept is None else kept.chosen]
    comparison = compare_trials(request, trials, chosen, kept)
    verdict = describe(request, trials, chosen, comparison, kept)
    names, categories = request.train.feature_names, dict(request.train.categories)
    columns = Encoder(features=names, categories=categories) if names else None
    return Tuned(*refit(request, model), frame_of(request, trials), comparison, verdict, study, columns)


# What each phase tries.


def phases(request: Request, study: Any) -> Iterator[tuple[str, list[Setting]]]:
    """The settings of each phase, by what the study has found before it."""
    searched = request.tree_candidate.name
    budget = 3 * UNLIMITED if request.settings is None else request.settings
    yield "default", [Setting(request.default_candidate.name, "default")]
    n = n_tree_settings(request)
    own = [Setting(searched, "trees", start) for start in STARTS[:n]]
    shared = [
        Setting(other.name, "trees", start) for other in request.other_engines for start in STARTS[:SHARED]
    ]
    shared = shared[: budget - 1 - n]
    yield "trees", [*own, *shared, *[Setting(searched, "trees", None)] * (n - len(own))]
    if (best := best_trees(request, trials_of(study))) is None:
        return
    done = {searched, *(other.name for other in request.other_engines)}
    others = [
        Setting(name, "objectives", best.setting.trees) for name in request.candidates if name not in done
    ]
    budget -= 1 + n + len(shared)
    yield "objectives", others[:budget]
    before = [one for one in trials_of(study) if one.setting.phase in ("default", "trees", "objectives")]
    name = best_of(request, before).setting.candidate
    second = best_trees(request, [one for one in before if one.number != best.number])
    tried = [] if second is None or name == searched else [second.setting.trees or {}]
    near = [Setting(name, "refinement", trees) for trees in (*tried, *near_trees(best.setting.trees or {}))]
    budget = max(0, budget - len(others))
    yield "refinement", [*near, *[Setting(name, "refinement", None)] * (budget - len(near))][:budget]
    if request.keep is not None:
        chosen = best_of(request, trials_of(study))
        for weight in WEIGHTS[1:]:
            yield "keep", [Setting(chosen.setting.candidate, "keep", chosen.setting.trees, weight)]
            kept = prove_weights(request, weight_trials(chosen, trials_of(study)))
            if kept is None or not kept.steps[-1].is_proven:
                return


def n_tree_settings(request: Request) -> int:
    """The number of tree settings: two thirds of the budget that the default and the objectives leave."""
    if request.settings is None:
        return UNLIMITED
    rest = request.settings - len(request.candidates) - (SHARED - 1) * len(request.other_engines)
    return min(max(1, rest - rest // 3), request.settings - 1)


def remaining(requested: Iterable[Setting], trials: Iterable[Trial]) -> list[Setting]:
    """The settings that no earlier call has tried."""
    done, left = [one.requested for one in trials], list[Setting]()
    for setting in requested:
        if setting in done:
            done.remove(setting)
        else:
            left.append(setting)
    return left


def weight_trials(chosen: Trial, trials: Iterable[Trial]) -> list[Trial]:
    """The chosen trial, then its trials with a weight of the second measure, in rising order."""
    of = "keep", chosen.setting.candidate, chosen.setting.trees
    done = ((one, one.requested) for one in trials if one.is_complete)
    return [chosen, *(one for one, plan in done if (plan.phase, plan.candidate, plan.trees) == of)]


def prove_weights(request: Request, steps: Sequence[Trial]) -> NonInferiority | None:
    """What is proven of the choice with rising weights of the second measure; None without any."""
    if request.keep is None or len(steps) == 1:
        return None
    values, weights = np.array([one.values for one in steps]), tuple(one.setting.weight for one in steps)
    return NonInferiority(request.measures, request.keep, weights, values, request.weight)


# The study.


@contextmanager
def opened_study(request: Request, path: Any) -> Iterator[tuple[Any, str]]:
    """Optuna's study, and the file that holds it: the user's, or one for several processes."""
    if not isinstance(path, str | PathLike | None):
        raise TypeError(f"study is {plain(repr(path))}: give the name of a file, such as 'study.log'")
    if path is None and request.n_workers == 1:
        yield load_study(), ""
        return
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "study.log" if path is None else path)
        check_place("study", Path(file))
        with uninterrupted():
            study = load_study(file)
            call = request.fingerprint()
            if study.user_attrs.get("call", call) != call:
                made = "was made with other data, arguments or versions"
                raise ValueError(
                    f"study {file} {made}: give another file, or the arguments of its first call"
                )
            study.set_user_attr("call", call)
        yield study, file


def load_study(file: str | None = None) -> Any:
    """A study, in Optuna's journal file or in memory; its pruner leaves what is below the median after two folds."""
    optuna = package("optuna")
    given: dict[str, Any] = {"direction": "maximize", "study_name": "tune", "load_if_exists": True}
    given["pruner"] = optuna.pruners.MedianPruner(n_startup_trials=len(STARTS), n_warmup_steps=1)
    try:
        if file is not None:
            if Path(file).exists() and Path(file).read_bytes()[:1] not in (b"", b"{"):
                raise ValueError
            backend = optuna.storages.journal.JournalFileBackend(file)
            given["storage"] = optuna.storages.JournalStorage(backend)
        return optuna.create_study(**given)
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError):
        raise ValueError(f"study {file} is no study, or is damaged: give a new file name") from None


def run_share(request: Request, file: str, settings: Sequence[Setting], until: float) -> None:
    """Try settings in one of several processes, which share the study's file."""
    with without_messages():
        CrossValidation(request).run(load_study(file), settings, until)


@contextmanager
def without_messages() -> Iterator[None]:
    """Without Optuna's messages: that an option is experimental, or which sampler drew a value."""
    logging, exceptions = package("optuna").logging, package("optuna").exceptions
    before = logging.get_verbosity()
    logging.set_verbosity(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", exceptions.ExperimentalWarning)
            yield
    finally:
        logging.set_verbosity(before)
