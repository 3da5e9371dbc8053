"""Every measure by its definition, in float64 NumPy: slow, and meant to be seen to be right.

A definition takes the measure, labels in rank order along the last axis, and their scores; it gives one value for each
list, NaN where the measure is undefined. `of_ranking` calls it for lists that are ranked already, such as all swaps of
one ranking, `of_list` for scores and labels in any order, `per_query` for `Queries`.
"""

import sys
from dataclasses import MISSING, fields
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from lambdaboost.evaluation import (
    AUC,
    CNDCG,
    ERR,
    MAP,
    MRR,
    NDCG,
    BPref,
    ClickDCG,
    KendallTau,
    PairAccuracy,
    Pearson,
    Precision,
    Recall,
    Spearman,
)

sys.path.append(str(Path(__file__).parent.parent / "examples" / "templates"))
from reading_depth import ReadingDepth

REQUIRED = {"int": 3, "float": 0.5, "str": "clicks"}  # values of fields without a default, by their type


def instance(cls, **given):
    """A measure of a class: defaults where it has some, and a value of the right type where it has none."""
    missing = [f for f in fields(cls) if f.init and f.default is MISSING and f.default_factory is MISSING]
    return cls(**{f.name: REQUIRED[getattr(f.type, "__name__", f.type)] for f in missing} | given)


# Definitions


def relevant(measure, labels):
    """Whether each label reaches the threshold; a missing one does not."""
    return labels >= np.float32(measure.threshold)


def where(defined, values):
    """The values where they are defined, else NaN."""
    return np.where(defined, values, np.nan)


def gain(measure, labels):
    if isinstance(measure, CNDCG):
        return np.nan_to_num(2.0 ** (measure.scale * labels) - 1)
    if measure.gain == "exponential":
        return np.nan_to_num(2.0**labels - 1)
    if measure.gain == "linear":
        return np.nan_to_num(labels)
    return np.where(np.isnan(labels), 0.0, np.take(measure.gain, np.nan_to_num(labels).astype(int)))


def dcg(gains, k):
    return (gains / np.log2(1.0 + ranks(gains)))[..., :k].sum(axis=-1)


def ranks(labels):
    return np.arange(1, labels.shape[-1] + 1)


def ndcg(measure, labels, scores):
    gains = gain(measure, labels)
    return dcg(gains, measure.k) / dcg(-np.sort(-gains, axis=-1), measure.k)


def average_precision(measure, labels, scores):
    hits = relevant(measure, labels)
    precisions = hits * np.cumsum(hits, axis=-1) / ranks(labels)
    return precisions[..., : measure.k].sum(axis=-1) / np.minimum(hits.sum(axis=-1), measure.k or np.inf)


def reciprocal_rank(measure, labels, scores):
    hits = relevant(measure, labels)
    return where(hits.any(axis=-1), (hits / ranks(labels))[..., : measure.k].max(axis=-1))


def expected_reciprocal_rank(measure, labels, scores):
    satisfies = np.nan_to_num(2.0**labels - 1) / 2.0**measure.max_grade
    still_reading = np.cumprod(1 - satisfies, axis=-1)[..., :-1]
    still_reading = np.concatenate([np.ones_like(labels[..., :1]), still_reading], axis=-1)
    total = (still_reading * satisfies / ranks(labels))[..., : measure.k].sum(axis=-1)
    return where(satisfies.any(axis=-1), total)


def precision(measure, labels, scores):
    hits = relevant(measure, labels)
    return where(hits.any(axis=-1), hits[..., : measure.k].sum(axis=-1) / measure.k)


def recall(measure, labels, scores):
    hits = relevant(measure, labels)
    return hits[..., : measure.k].sum(axis=-1) / hits.sum(axis=-1)


def right_and_wrong_pairs(labels):
    """The pairs (i, j) with the label of i above that of j, both known, by the order of their ranks."""
    above = labels[..., :, None] > labels[..., None, :]
    return np.triu(above).sum(axis=(-2, -1)), np.tril(above).sum(axis=(-2, -1))


def pair_accuracy(measure, labels, scores):
    right, wrong = right_and_wrong_pairs(labels)
    return right / (right + wrong)


def kendall_tau(measure, labels, scores):
    right, wrong = right_and_wrong_pairs(labels)
    return (right - wrong) / (right + wrong)


def auc(measure, labels, scores):
    return pair_accuracy(measure, where(~np.isnan(labels), relevant(measure, labels)), scores)


def bpref(measure, labels, scores):
    hits, others = relevant(measure, labels), labels < np.float32(measure.threshold)
    n, n_others = hits.sum(axis=-1, keepdims=True), others.sum(axis=-1, keepdims=True)
    above = np.cumsum(others, axis=-1)
    terms = np.where(above > 0, 1 - np.minimum(above, n) / np.minimum(n_others, n), 1.0)
    return (hits * terms).sum(axis=-1) / n[..., 0]


def pearson(measure, labels, scores):
    """Of documents with a label, from the deviations from the means; undefined where either is the same for all."""
    there = ~np.isnan(labels)
    differ = [
        np.max(x, axis=-1, where=there, initial=-np.inf) > np.min(x, axis=-1, where=there, initial=np.inf)
        for x in (labels, scores)
    ]
    x, y = (np.where(there, values, 0).astype(np.longdouble) for values in (scores, labels))
    n = there.sum(axis=-1, keepdims=True)
    dx, dy = ((v - v.sum(axis=-1, keepdims=True) / n) * there for v in (x, y))
    covariance = (dx * dy).sum(axis=-1)
    return where(differ[0] & differ[1], covariance / np.sqrt((dx**2).sum(axis=-1) * (dy**2).sum(axis=-1)))


def spearman(measure, labels, scores):
    """Pearson's correlation of the ranks, ties averaged."""
    known = where(~np.isnan(labels), scores)
    of_labels, of_scores = (rankdata(x, axis=-1, nan_policy="omit") for x in (labels, known))
    return pearson(measure, of_labels, of_scores)


def click_dcg(measure, labels, scores):
    """Without propensities, which tests/test_click_dcg.py adds."""
    return dcg(np.nan_to_num(labels), measure.k)


def reading_depth(measure, labels, scores):
    """The template of CONTRIBUTING.md."""
    hits, p = relevant(measure, labels), measure.persistence
    return where(hits.any(axis=-1), (1 - p) * (hits * p ** (ranks(labels) - 1)).sum(axis=-1))


NAIVE = {
    NDCG: ndcg,
    CNDCG: ndcg,
    MAP: average_precision,
    MRR: reciprocal_rank,
    ERR: expected_reciprocal_rank,
    Precision: precision,
    Recall: recall,
    PairAccuracy: pair_accuracy,
    AUC: auc,
    BPref: bpref,
    KendallTau: kendall_tau,
    Spearman: spearman,
    Pearson: pearson,
    ClickDCG: click_dcg,
    ReadingDepth: reading_depth,
}


def of_ranking(measure, labels, scores=None):
    """The value of labels in rank order, best first, along the last axis; `scores` matter to few measures."""
    labels = np.asarray(labels, dtype=np.float64)
    scores = -np.arange(labels.shape[-1]) if scores is None else np.asarray(scores)
    with np.errstate(divide="ignore", invalid="ignore"):
        return NAIVE[type(measure)](measure, labels, np.broadcast_to(scores, labels.shape))


def of_list(measure, scores, labels):
    """The value of one list, ties in input order."""
    order = np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")
    return float(of_ranking(measure, np.asarray(labels)[order], np.asarray(scores)[order]))


def per_query(measure, scores, q):
    """What ``measure.per_query(scores, q)`` ought to be."""
    labels = q.source(measure.source, allow_negative=measure.allows_negative)
    lists = [slice(a, b) for a, b in zip(q.offsets[:-1], q.offsets[1:], strict=True)]
    values = np.array([of_list(measure, np.asarray(scores)[rows], labels[rows]) for rows in lists])
    return np.where(np.isnan(values), measure.empty, values)
