"""One training that tests interrupt; run as a script it kills itself: ``python resumable.py ENGINE FILE ROUND``."""

import os
import signal
import sys

import lightgbm as lgb
import xgboost as xgb
from lightgbm_data import PARAMS, Q_VALID, X_VALID, Q, X, dataset

from lambdaboost import NDCG, Blend, Checkpoint, ClickTier, LambdaRank, Linear
from lambdaboost import lightgbm as lb_lightgbm
from lambdaboost import xgboost as lb_xgboost

OBJECTIVE = Blend(LambdaRank(), ClickTier(), Linear(0.1, 0.01))
XGB_PARAMS = {"max_depth": 3, "nthread": 1, "min_child_weight": 0}


class Interrupt(Exception):
    pass


def interrupt():
    raise Interrupt


def matrix(X, q, **more):
    return lb_xgboost.DMatrix(
        X, q.relevance, qid=q.query_of_row, sources={"clicks": q.labels["clicks"]}, **more
    )


def train_lightgbm(checkpoint, at=None, act=interrupt, **more):
    """The model and what was evaluated; `act` before round `at`."""

    def stop(env):
        if env.iteration == at:
            act()

    stop.before_iteration = True
    data, history = more.pop("data", None) or dataset(), {}
    X_watched, q = more.pop("watched", (X_VALID, Q_VALID))
    watched = data.create_valid(X_watched, q.relevance, group=q.sizes, sources={"clicks": q.labels["clicks"]})
    callbacks = [stop, lgb.early_stopping(12, verbose=False), lgb.record_evaluation(history)]
    callbacks.append(lgb.reset_parameter(learning_rate=lambda iteration: 0.2 * 0.97**iteration))
    given = {"params": PARAMS, "rounds": 30, "objective": OBJECTIVE, "feval": NDCG(5)} | more
    model = lb_lightgbm.train(
        given.pop("params"),
        data,
        valid_sets=[watched],
        callbacks=callbacks,
        checkpoint=checkpoint,
        **given,
    )
    return model, history


def train_xgboost(checkpoint, at=None, act=interrupt, **more):
    class Stop(xgb.callback.TrainingCallback):
        def before_iteration(self, model, epoch, evals_log):
            if epoch == at:
                act()
            return False

    history = {}
    data = more.pop("data", None) or matrix(X, Q)
    watched = matrix(*more.pop("watched", (X_VALID, Q_VALID)))
    given = {"params": XGB_PARAMS, "rounds": 30, "objective": OBJECTIVE, "custom_metric": NDCG(5)} | more
    model = lb_xgboost.train(
        given.pop("params"),
        data,
        evals=[(watched, "valid")],
        early_stopping_rounds=12,
        evals_result=history,
        callbacks=[Stop(), xgb.callback.LearningRateScheduler(lambda epoch: 0.3 * 0.97**epoch)],
        verbose_eval=False,
        checkpoint=checkpoint,
        **given,
    )
    return model, history


TRAIN = {"lightgbm": train_lightgbm, "xgboost": train_xgboost}


def text(model):
    """The trees, exactly."""
    if isinstance(model, xgb.Booster):
        return bytes(model.save_raw(raw_format="json"))
    all_of_it = model.model_to_string(num_iteration=-1)
    return all_of_it[all_of_it.index("Tree=0") : all_of_it.index("end of trees")]


if __name__ == "__main__":
    engine, file, at = sys.argv[1:]
    TRAIN[engine](Checkpoint(file, every=5), int(at), lambda: os.kill(os.getpid(), signal.SIGKILL))
