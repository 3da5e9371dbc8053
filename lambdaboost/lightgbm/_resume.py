"""Checkpoints of a training with `lightgbm.train`, through its callbacks."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import lightgbm as lgb
from lightgbm.callback import CallbackEnv

from lambdaboost.datasets._files import sha256
from lambdaboost.datasets.engines import queries_of
from lambdaboost.engines import checkpoint as _checkpoint
from lambdaboost.engines.checkpoint import Checkpoint, State
from lambdaboost.lightgbm._metrics import STOPPING
from lambdaboost.lightgbm._newton import _last_tree_text, _parameters, _scores
from lambdaboost.objectives import Objective, parse

# Parameters that may differ between a training and one that takes it up.
FREE = ("num_iterations", "num_threads", "verbosity", "input_model", "output_model", "snapshot_freq")
# Draws by chance, by the values that draw nothing.
CHANCE = {
    "feature_fraction": "1",
    "feature_fraction_bynode": "1",
    "extra_trees": "0",
    "use_quantized_grad": "0",
    "data_sample_strategy": "bagging",
}
BAGGING = ("bagging_fraction", "pos_bagging_fraction", "neg_bagging_fraction")
# Names that `lightgbm.train` would act upon by itself.
ROUNDS = (
    *("num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees", "num_round", "num_rounds"),
    *("nrounds", "num_boost_round", "n_estimators", "max_iter"),
)

# Penalties that depend on which features the trees so far have used.
COST_SO_FAR = ("cegb_penalty_feature_lazy", "cegb_penalty_feature_coupled")
INIT_SCORE = (
    "checkpoint with init_score: where LightGBM resumes, the scores of the model so far take its place; train without "
    "checkpoint, or go on from a model by init_model="
)

BEFORE_OTHERS, AFTER_OTHERS = -1e300, float("inf")


class _At:
    """A callback with a place among the others."""

    def __init__(self, run: Callable[[Any], None], before_iteration: bool, order: float) -> None:
        self.run, self.before_iteration, self.order = run, before_iteration, order

    def __call__(self, env: Any) -> None:
        self.run(env)


class Resumed:
    """One training with a checkpoint, begun here or taken up.

    `init_model` and `rounds` are what `lightgbm.train` gets, `callbacks` those given and our own.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        params: Any,
        rounds: int,
        objective: Objective | str,
        leaves: str,
        callbacks: Sequence[Any] | None,
        sets: Sequence[Any],
    ) -> None:
        _check_params(params)
        for data in sets:
            # LightGBM sets the scores of a model that it continues as initial scores too, beside its predictor.
            if data.init_score is not None and data._predictor is None:
                raise ValueError(INIT_SCORE)
        self.checkpoint, self.leaves = checkpoint, leaves
        self.objective = parse(objective) if isinstance(objective, str) else objective
        self.end = rounds
        self.state = _checkpoint.read(checkpoint, "lightgbm", rounds)
        self.begin = 0 if self.state is None else self.state.rounds
        # The trees are fewer where some rounds had no split.
        self.rounds_done = None if self.state is None else self.state.rounds
        self.rounds = rounds - self.begin
        self.init_model = None if self.state is None else lgb.Booster(model_str=self.state.model)
        self.history: list[Any] = [] if self.state is None else list(self.state.history)
        self.made_with: dict[str, str] = {}
        self.given = list(callbacks or [])
        self.callbacks = [
            _At(self._begin, True, BEFORE_OTHERS),
            _At(self._evaluated, False, BEFORE_OTHERS),
            *(self._in_rounds(callback, i - len(self.given)) for i, callback in enumerate(self.given)),
            _At(self._save, False, AFTER_OTHERS),
        ]

    def _in_rounds(self, callback: Any, order: int) -> _At:
        """The callback as it would be called had there been no interruption."""
        before = getattr(callback, "before_iteration", False)
        return _At(lambda env: callback(self._uninterrupted(env)), before, getattr(callback, "order", order))

    def _uninterrupted(self, env: Any) -> Any:
        # LightGBM counts on from the trees, which are fewer than the rounds where some had no split.
        past = self.begin + env.iteration - env.begin_iteration
        return self._seen(env, past, env.evaluation_result_list)

    def _seen(self, env: Any, iteration: int, results: Any) -> Any:
        return CallbackEnv(
            model=env.model,
            params=env.params,
            iteration=iteration,
            begin_iteration=0,
            end_iteration=self.end,
            evaluation_result_list=results,
        )

    def _begin(self, env: Any) -> None:
        if env.iteration != env.begin_iteration:
            return
        booster = env.model
        params = _parameters(_last_tree_text(booster))
        if params["boosting"] == "dart":
            raise ValueError(
                "checkpoint with boosting=dart: LightGBM drops no trees of a model that it goes on from; "
                "train without checkpoint, or with boosting=gbdt"
            )
        for name in COST_SO_FAR:
            if params.get(name):
                raise ValueError(
                    f"checkpoint with {name}: LightGBM forgets which features were paid for where it resumes; "
                    "train without checkpoint, or without the penalty"
                )
        if self.state is None and any(data.get_init_score() is not None for data in _sets(booster).values()):
            raise ValueError(INIT_SCORE)
        fixed = {name: value for name, value in params.items() if name not in FREE}
        q = queries_of(booster.train_set, self.objective.sources)
        self.made_with = _checkpoint.made_with(
            "lightgbm", self.objective, self.leaves, fixed, q, booster.num_feature(), _digests(booster)
        )
        if self.state is not None:
            _checkpoint.check_same(self.checkpoint, self.state, self.made_with)
            _checkpoint.check_scores(self.checkpoint, self.state, _scores(booster))
            self._replay(env)
        _checkpoint.warn_of_chance(_chance(params))

    def _replay(self, env: Any) -> None:
        """Show LightGBM's own callbacks the rounds of the checkpoint: early stopping and records go on from them."""
        result = getattr(lgb, "EvalResult", lambda *figures: figures)
        own = [cb for cb in self.given if type(cb).__module__ == "lightgbm.callback"]
        after = sorted((cb for cb in own if not cb.before_iteration), key=lambda cb: cb.order)
        for past, figures in enumerate(self.history):
            seen = self._seen(env, past, [result(*figure) for figure in figures])
            for callback in after:
                callback(seen)

    def _evaluated(self, env: Any) -> None:
        figures = [
            (result[0], result[1], float(result[2]), bool(result[3])) for result in env.evaluation_result_list
        ]
        if env.iteration == env.begin_iteration and self.state is not None:
            before, now = ([" ".join(figure[:2]) for figure in of] for of in (self.history[-1], figures))
            _checkpoint.check_evaluated(self.checkpoint, before, now)
        self.history.append(figures)

    def _save(self, env: Any) -> None:
        done = self._uninterrupted(env).iteration + 1
        # A training that is over is not interrupted, and one that has no round left cannot be taken up.
        if done % self.checkpoint.every == 0 and done < self.end:
            text = env.model.model_to_string(num_iteration=-1)
            scores = _checkpoint.projected(_scores(env.model))
            state = State(done, text, self.history, self.made_with, scores)
            _checkpoint.write(self.checkpoint, state)


def _check_params(params: Any) -> None:
    if not isinstance(params, dict):
        return  # which is refused elsewhere
    for name in ROUNDS:
        if name in params:
            raise ValueError(f"params has {name} beside checkpoint=: give it as rounds={params[name]!r}")
    for name in STOPPING:
        if name in params:
            raise ValueError(
                f"params has {name} beside checkpoint=: give it as "
                f"callbacks=[lightgbm.early_stopping({params[name]!r})]"
            )


def _sets(booster: Any) -> dict[str, Any]:
    """The training data, as ``"features"``, and the validation data."""
    valid = zip(booster.name_valid_sets, booster.valid_sets, strict=True)
    return {"features": booster.train_set} | {f"validation data {name!r}": data for name, data in valid}


def _digests(booster: Any) -> dict[str, str]:
    """Of each data set the bins, labels, queries and weights, as LightGBM saves them, and the further sources."""
    digests = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, data) in enumerate(_sets(booster).items()):
            binary = Path(folder) / str(number)
            try:
                data.save_binary(binary)
            except lgb.basic.LightGBMError as error:
                raise OSError(
                    f"checkpoint: the features could not be written to {binary} to be compared: {error}; "
                    "set TMPDIR to a folder with room for about a byte per value"
                ) from None
            sources = getattr(data, "sources", None) or {}
            digests[name] = _checkpoint.digest(sha256(binary), sources)
            binary.unlink()
    return digests


def _chance(params: dict[str, str]) -> list[str]:
    """The parameters that make LightGBM draw rows, features or splits by chance."""
    names = [name for name, none in CHANCE.items() if params.get(name, none) != none]
    if params.get("bagging_freq", "0") != "0":
        names += [name for name in BAGGING if params.get(name, "1") != "1"]
    return names
