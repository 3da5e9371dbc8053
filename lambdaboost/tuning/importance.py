"""How much each choice of a search mattered."""

from __future__ import annotations

from typing import Any

from lambdaboost.tuning.optional import optuna

LEAST = 4  # complete trials, for a forest to fit


def importance_of(study: Any, seed: int) -> dict[str, float]:
    """The share of the variance of the first measure that each choice explains, the largest first; {} for few trials.

    By the functional analysis of variance of a random forest (Hutter, Hoos and Leyton-Brown 2014), over the choices
    that all complete trials made.
    """
    package = optuna()
    complete = study.get_trials(deepcopy=False, states=(package.trial.TrialState.COMPLETE,))
    if len(complete) < LEAST or len({trial.values[0] for trial in complete}) < 2:
        return {}
    evaluator = package.importance.FanovaImportanceEvaluator(seed=seed)
    target = None if len(study.directions) == 1 else _first
    found = package.importance.get_param_importances(study, evaluator=evaluator, target=target)
    return {str(name): float(share) for name, share in found.items()}


def _first(trial: Any) -> float:
    return float(trial.values[0])
