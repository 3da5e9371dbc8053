"""LightGBM's own metrics by names with a cutoff (``"ndcg@5"``), the order of results, and early stopping."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from lambdaboost.evaluation.measure import Measure
from lambdaboost.lightgbm._callbacks import Callback
from lambdaboost.lightgbm._engine import ALIASES
from lambdaboost.lightgbm._private import EarlyStopping

RANKING = {"ndcg": "ndcg", "map": "map", "mean_average_precision": "map"}
DEFAULT_CUTOFFS = (1, 2, 3, 4, 5)


def with_cutoffs(params: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Parameters that LightGBM understands, and the names of the requested results.

    LightGBM has no metric ``"ndcg@5"``: the cutoffs are ``eval_at``, one list for all metrics. If no name has a cutoff,
    the parameters are returned unchanged, without names.

    Raises
    ------
    ValueError
        If a metric without cutoffs has one.

    """
    metric = next((params[name] for name in ALIASES["metric"] if params.get(name) is not None), ())
    listed = [metric] if isinstance(metric, str) else metric
    names = [name.strip() for text in listed for name in text.split(",")]
    if not any("@" in name for name in names):
        return params, []
    default = next(
        (params[name] for name in ALIASES["eval at"] if params.get(name) is not None), DEFAULT_CUTOFFS
    )
    expected: list[str] = []
    for name in names:
        base, at, k = name.partition("@")
        known = RANKING.get(base)
        if at and (known is None or not k.isdecimal() or int(k) < 1):
            raise ValueError(
                f"metric is {name!r}: LightGBM's own metrics with a cutoff are ndcg@k and map@k; give others as "
                "measures, such as Precision(k=10)"
            )
        if known is None:
            expected.append(name)
        else:
            expected += [f"{known}@{cutoff}" for cutoff in ([int(k)] if at else default)]
    metrics = list(dict.fromkeys(name.partition("@")[0] for name in expected))
    cutoffs = sorted({int(name.partition("@")[2]) for name in expected if "@" in name})
    rest = {
        name: value for name, value in params.items() if name not in (*ALIASES["metric"], *ALIASES["eval at"])
    }
    return {**rest, "metric": metrics, "eval_at": cutoffs}, expected


def is_requested(name: str, expected: Sequence[str]) -> bool:
    """Whether a result was requested, or is only evaluated because another metric has that cutoff."""
    return not expected or name.partition("@")[0] not in RANKING or name in expected


def in_order(requested: Sequence[str | Callable[..., Any]], expected: Sequence[str] = ()) -> Callback:
    """A callback that keeps the requested results and sorts those of each data set in the order of `requested`.

    `requested` holds names, measures and callables; the results of callables take the place of the first one.
    """
    names = [metric._lightgbm_name if isinstance(metric, Measure) else metric for metric in requested]
    other = next((i for i, name in enumerate(names) if not isinstance(name, str)), len(names))

    def place(name: str) -> int:
        for at, known in enumerate(names):
            if isinstance(known, str) and name in (known, f"{known}@{name.partition('@')[2]}"):
                return at
        return other

    def arrange(env: Any) -> None:
        results = env.evaluation_result_list
        sets = list(dict.fromkeys(result[0] for result in results))
        results[:] = sorted(
            (result for result in results if is_requested(result[1], expected)),
            key=lambda result: (sets.index(result[0]), place(result[1])),
        )

    # After the callbacks of rounds, before those of checkpoints and of the user. A ranker's order, in which names and
    # measures may alternate, comes after that of `train`.
    return Callback(arrange, False, -1e306 if expected else -1e305)


def by_first_metric(
    params: dict[str, Any], callbacks: Sequence[Any] | None
) -> tuple[dict[str, Any], list[Any]]:
    """Early stopping by the first metric, unless `params` have ``first_metric_only=False``.

    LightGBM stops as soon as any metric of any validation set stalls.
    """
    callbacks = list(callbacks or [])
    if str(params.get("first_metric_only", True)).lower() in ("false", "0", "-"):
        return params, callbacks
    if any(name in params for name in ALIASES["early stopping"]):
        params = {**params, "first_metric_only": True}
    return params, [
        _by_first(callback) if isinstance(callback, EarlyStopping) else callback for callback in callbacks
    ]


def _by_first(stopping: Any) -> Any:
    """A copy, since the caller may use the callback elsewhere."""
    copied = copy.copy(stopping)
    copied.first_metric_only = True
    return copied
