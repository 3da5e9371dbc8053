"""The rows of docs/traps.md about LightGBM."""

from __future__ import annotations

import numpy as np

from lambdaboost._lightgbm import BOOSTING, is_binary_file, is_constructed, is_continued, is_true
from lambdaboost.calls.traps import BAGGING_BY_QUERY, REFUSED, WARNED, Case, Found, Trap, given
from lambdaboost.engines import traps
from lambdaboost.engines.traps import MODEL, OBJECTIVE, RESUMED, SAVED, has_pair

BAGGING = ("bagging_fraction", "pos_bagging_fraction", "neg_bagging_fraction")
ROUNDS = (
    *("num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees", "num_round"),
    *("num_rounds", "nrounds", "num_boost_round", "n_estimators", "max_iter"),
)
STOPPING = ("early_stopping_round", "early_stopping_rounds", "early_stopping", "n_iter_no_change")
# Parameters that make LightGBM sample, with the values that do not.
SAMPLING = {
    "feature_fraction": "1",
    "feature_fraction_bynode": "1",
    "extra_trees": "0",
    "use_quantized_grad": "0",
    "data_sample_strategy": "bagging",
}


def _missing_grades(case: Case) -> bool:
    data = case.data
    if is_constructed(data) or hasattr(data, "sources") or data.label is None:
        return False
    labels = np.asarray(data.label)
    return bool(labels.dtype.kind == "f" and np.isnan(labels).any())


def _bagging(case: Case) -> Found:
    drawn = BAGGING if case.params.get("bagging_freq", "0") != "0" else ()
    return [{"name": name, "value": case.params[name]} for name in drawn if case.params.get(name, "1") != "1"]


def _sampling(case: Case) -> Found:
    names = [name for name, none in SAMPLING.items() if case.params.get(name, none) != none]
    names += [found["name"] for found in _bagging(case)]
    if case.params.get("objective") == "rank_xendcg":
        names.append("objective='rank_xendcg'")
    if names:
        yield {"names": ", ".join(names)}


TRAPS = (
    Trap(
        "boosting=rf", REFUSED, OBJECTIVE,
        "params has {name}={value}: LightGBM's forests take no objective but its own",
        given(*BOOSTING, value=lambda value: value in ("rf", "random_forest")),
    ),
    Trap("bagging_by_query", REFUSED, OBJECTIVE, BAGGING_BY_QUERY, given("bagging_by_query", value=is_true)),
    Trap(
        "label_gain", WARNED, OBJECTIVE,
        "label_gain: LightGBM keeps one table for the whole process, so that another booster's changes this one's "
        "ndcg; use feval=NDCG(k, gain=(0, 1, 3, 7)) and LambdaRank(NDCG(gain=(0, 1, 3, 7)))",
        given("label_gain"),
    ),
    Trap(
        "NaN labels", WARNED, OBJECTIVE,
        "NaN labels: a lightgbm.Dataset turns them into grade 0; make it a lambdaboost.lightgbm.Dataset, where they "
        "stay missing", _missing_grades,
    ),
    Trap(
        "min_sum_hessian_in_leaf", WARNED, MODEL,
        traps.WITHOUT_SPLIT + ", so all documents score the same. min_data_in_leaf (20 by default) counts documents as "
        "LightGBM estimates them from hessians, and min_sum_hessian_in_leaf sums the hessians, which are small for "
        "small data and small weights: try lower values, or leaves='gradient', with which both count documents",
        has_pair,
    ),
    Trap(
        "checkpoint and rounds among the parameters", REFUSED, SAVED,
        "params has {name} beside checkpoint=: give it as rounds={value}", given(*ROUNDS, value=bool),
    ),
    Trap(
        "checkpoint and early stopping among the parameters", REFUSED, SAVED,
        "params has {name} beside checkpoint=: give it as callbacks=[lightgbm.early_stopping({value})]",
        given(*STOPPING, value=bool),
    ),
    Trap(
        "checkpoint and init_score", REFUSED, SAVED,
        "checkpoint with init_score: where LightGBM resumes, the scores of the model so far replace it; train without "
        "checkpoint, or continue a model by init_model=",
        # LightGBM also stores the scores of a model that it continues as initial scores.
        lambda case: any(data.init_score is not None and not is_continued(data) for data in case.data),
    ),
    Trap(
        "checkpoint and binary files", REFUSED, SAVED,
        "checkpoint with a binary file: it has bins in place of features, which the model so far could not score; "
        "train without checkpoint, or on the features",
        lambda case: any(is_binary_file(data.data) for data in case.data),
    ),
    Trap(
        "checkpoint and boosting=dart", REFUSED, RESUMED,
        "checkpoint with boosting=dart: LightGBM drops no trees of a model that it continues; train without "
        "checkpoint, or with boosting=gbdt",
        lambda case: bool(case.params["boosting"] == "dart"),
    ),
    Trap(
        "checkpoint and penalties of features", REFUSED, RESUMED,
        "checkpoint with {name}: LightGBM forgets which features have been paid for when it resumes; train without "
        "checkpoint, or without the penalty",
        given("cegb_penalty_feature_lazy", "cegb_penalty_feature_coupled", value=bool),
    ),
    Trap("checkpoint and sampling", WARNED, RESUMED, traps.SAMPLING, _sampling),
)  # fmt: skip
