"""Checkpoints in `lightgbm.train`, by callbacks."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import lightgbm as lgb

from lambdaboost.datasets._files import sha256
from lambdaboost.datasets.engines import queries_of
from lambdaboost.engines.checkpoint import digest
from lambdaboost.engines.cluster import CHECKPOINT
from lambdaboost.engines.labels import carried
from lambdaboost.engines.plan import Plan
from lambdaboost.engines.resume import Resumed, warn_of_sampling
from lambdaboost.lightgbm._callbacks import Callback
from lambdaboost.lightgbm._engine import ALIASES
from lambdaboost.lightgbm._newton import training_scores
from lambdaboost.lightgbm._plan import machines_of
from lambdaboost.lightgbm._private import callback_env, eval_result, is_continued, parameters_of

# Parameters that may differ when a training resumes.
FREE = ("num_iterations", "num_threads", "verbosity", "input_model", "output_model", "snapshot_freq")
# Parameters that make LightGBM sample, with the values that do not.
SAMPLING = {
    "feature_fraction": "1",
    "feature_fraction_bynode": "1",
    "extra_trees": "0",
    "use_quantized_grad": "0",
    "data_sample_strategy": "bagging",
}
# Penalties that depend on the features used by the trees so far.
COST_SO_FAR = ("cegb_penalty_feature_lazy", "cegb_penalty_feature_coupled")
INIT_SCORE = (
    "checkpoint with init_score: where LightGBM resumes, the scores of the model so far replace it; train without "
    "checkpoint, or continue a model by init_model="
)

BEFORE_OTHERS, AFTER_OTHERS = -1e300, float("inf")


def refuse_unfit(params: Mapping[str, Any], sets: Sequence[Any]) -> None:
    """Raise on a cluster, for parameters that `lightgbm.train` reads itself, and for initial scores."""
    if machines_of(params) > 1:
        raise ValueError(CHECKPOINT)
    for name in ALIASES["rounds"]:
        if name in params:
            raise ValueError(f"params has {name} beside checkpoint=: give it as rounds={params[name]!r}")
    for name in ALIASES["early stopping"]:
        if name in params:
            raise ValueError(
                f"params has {name} beside checkpoint=: give it as "
                f"callbacks=[lightgbm.early_stopping({params[name]!r})]"
            )
    for data in sets:
        # LightGBM also stores the scores of a model that it continues as initial scores.
        if data.init_score is not None and not is_continued(data):
            raise ValueError(INIT_SCORE)


@contextmanager
def keeping_raw(sets: Sequence[lgb.Dataset]) -> Iterator[None]:
    """Keep raw data that LightGBM would free, since it predicts them where it resumes."""
    frees = [data.free_raw_data for data in sets]
    for data in sets:
        data.free_raw_data = False
    try:
        yield
    finally:
        for data, free in zip(sets, frees, strict=True):
            data.free_raw_data = free


class ResumeCallbacks:
    """The callbacks of a training with a checkpoint: its own, and the user's, called as if uninterrupted."""

    def __init__(self, resumed: Resumed, plan: Plan, callbacks: Sequence[Any] | None) -> None:
        self.resumed, self.plan = resumed, plan
        self.history: list[Any] = list(resumed.history or [])
        self.user = list(callbacks or [])
        self.callbacks = [
            Callback(self._begin, True, BEFORE_OTHERS),
            Callback(self._evaluated, False, BEFORE_OTHERS),
            *(self._in_rounds(callback, i - len(self.user)) for i, callback in enumerate(self.user)),
            Callback(self._save, False, AFTER_OTHERS),
        ]

    def _in_rounds(self, callback: Any, order: int) -> Callback:
        """The callback, called as in an uninterrupted training."""
        before = getattr(callback, "before_iteration", False)

        def run(env: Any) -> None:
            callback(callback_env(env, self._round(env), self.resumed.end, env.evaluation_result_list))

        return Callback(run, before, getattr(callback, "order", order))

    def _round(self, env: Any) -> int:
        """The round; LightGBM counts trees, which are fewer if some rounds had no split."""
        return self.resumed.begin + env.iteration - env.begin_iteration

    def _begin(self, env: Any) -> None:
        if env.iteration != env.begin_iteration:
            return
        booster = env.model
        params = parameters_of(booster)
        if params["boosting"] == "dart":
            raise ValueError(
                "checkpoint with boosting=dart: LightGBM drops no trees of a model that it continues; "
                "train without checkpoint, or with boosting=gbdt"
            )
        for name in COST_SO_FAR:
            if params.get(name):
                raise ValueError(
                    f"checkpoint with {name}: LightGBM forgets which features have been paid for when it resumes; "
                    "train without checkpoint, or without the penalty"
                )
        if self.resumed.state is None and any(
            data.get_init_score() is not None for data in _sets(booster).values()
        ):
            raise ValueError(INIT_SCORE)
        fixed = {name: value for name, value in params.items() if name not in FREE}
        digests = {"number of features": str(booster.num_feature()), **_digests(booster)}
        self.resumed.check(self.plan, fixed, queries_of(booster.train_set, self.plan.rule.sources), digests)
        if self.resumed.state is not None:
            self.resumed.check_scores(training_scores(booster))
            self._replay(env)
        warn_of_sampling(_sampling(params))

    def _replay(self, env: Any) -> None:
        """Replay the rounds of the checkpoint to LightGBM's own callbacks, such as early stopping and records."""
        own = [cb for cb in self.user if type(cb).__module__ == "lightgbm.callback"]
        after = sorted((cb for cb in own if not cb.before_iteration), key=lambda cb: cb.order)
        for iteration, results in enumerate(self.history):
            past = callback_env(env, iteration, self.resumed.end, [eval_result(result) for result in results])
            for callback in after:
                callback(past)

    def _evaluated(self, env: Any) -> None:
        figures = [
            (result[0], result[1], float(result[2]), bool(result[3])) for result in env.evaluation_result_list
        ]
        if env.iteration == env.begin_iteration and self.resumed.state is not None:
            before, now = ([" ".join(figure[:2]) for figure in of] for of in (self.history[-1], figures))
            self.resumed.check_evaluated(before, now)
        self.history.append(figures)

    def _save(self, env: Any) -> None:
        done = self._round(env) + 1
        if self.resumed.is_due(done):
            self.resumed.save(done, env.model, self.history, training_scores(env.model))


def _sets(booster: Any) -> dict[str, Any]:
    """The training data, as ``"features"``, and the validation data."""
    valid = zip(booster.name_valid_sets, booster.valid_sets, strict=True)
    return {"features": booster.train_set} | {f"validation data {name!r}": data for name, data in valid}


def _digests(booster: Any) -> dict[str, str]:
    """The digest of each data set: bins, labels, queries and weights, as LightGBM saves them, and sources."""
    digests = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, data) in enumerate(_sets(booster).items()):
            binary = Path(folder) / str(number)
            try:
                data.save_binary(binary)
            except lgb.basic.LightGBMError as error:
                raise OSError(
                    f"checkpoint: the features could not be written to {binary} to be compared: {error}; "
                    "set TMPDIR to a folder with space for about a byte per value"
                ) from None
            digests[name] = digest(sha256(binary), carried(data))
            binary.unlink()
    return digests


def _sampling(params: Mapping[str, str]) -> list[str]:
    """The parameters that make LightGBM sample rows, features or splits."""
    names = [name for name, none in SAMPLING.items() if params.get(name, none) != none]
    if params.get("bagging_freq", "0") != "0":
        names += [name for name in ALIASES["bagging"] if params.get(name, "1") != "1"]
    if params.get("objective") == "rank_xendcg":
        names.append("objective='rank_xendcg'")
    return names
