"""Every measure from its definition, in float64, in loops: slow, and meant to be seen to be right.

A function here takes the measure, the scores and the labels of one query and gives NaN where it is undefined.
"""

from math import fsum, isnan, log2, nan, sqrt

import numpy as np

from lambdaboost.evaluation import (
    AUC,
    CNDCG,
    ERR,
    MAP,
    MRR,
    NDCG,
    WTA,
    BPref,
    ClickDCG,
    KendallTau,
    PairAccuracy,
    Pearson,
    Precision,
    Recall,
    Spearman,
)


def ranked(scores, labels):
    """The labels from the highest score down, ties in input order."""
    return [float(labels[i]) for i in sorted(range(len(scores)), key=lambda i: (-scores[i], i))]


def relevant(measure, labels):
    """Whether each label reaches the threshold; a missing one does not."""
    return [not isnan(l) and l >= float(np.float32(measure.threshold)) for l in labels]


def gain(measure, l):
    if isnan(l):
        return 0.0
    if isinstance(measure, CNDCG):
        return 2.0 ** (measure.scale * l) - 1
    if measure.gain == "exponential":
        return 2.0**l - 1
    if measure.gain == "linear":
        return l
    return measure.gain[int(l)]


def dcg(gains, k):
    return sum(g / log2(1 + r) for r, g in enumerate(gains, start=1) if k is None or r <= k)


def ndcg(measure, scores, labels):
    gains = [gain(measure, l) for l in ranked(scores, labels)]
    ideal = dcg(sorted(gains, reverse=True), measure.k)
    return dcg(gains, measure.k) / ideal if ideal > 0 else nan


def average_precision(measure, scores, labels):
    hits = relevant(measure, ranked(scores, labels))
    if True not in hits:
        return nan
    k = len(hits) if measure.k is None else min(measure.k, len(hits))
    return sum(sum(hits[:r]) / r for r in range(1, k + 1) if hits[r - 1]) / min(sum(hits), k)


def reciprocal_rank(measure, scores, labels):
    hits = relevant(measure, ranked(scores, labels))
    if True not in hits:
        return nan
    r = hits.index(True) + 1
    return 1 / r if measure.k is None or r <= measure.k else 0.0


def expected_reciprocal_rank(measure, scores, labels):
    satisfaction = [
        0.0 if isnan(l) else (2.0**l - 1) / 2.0**measure.max_grade for l in ranked(scores, labels)
    ]
    if max(satisfaction) == 0:
        return nan
    total = 0.0
    for r in range(1, len(satisfaction) + 1):
        still_reading = 1.0
        for i in range(1, r):
            still_reading *= 1 - satisfaction[i - 1]
        if measure.k is None or r <= measure.k:
            total += still_reading * satisfaction[r - 1] / r
    return total


def winner(measure, scores, labels):
    hits = relevant(measure, ranked(scores, labels))
    return float(hits[0]) if True in hits else nan


def precision(measure, scores, labels):
    hits = relevant(measure, ranked(scores, labels))
    return sum(hits[: measure.k]) / measure.k if True in hits else nan


def recall(measure, scores, labels):
    hits = relevant(measure, ranked(scores, labels))
    return sum(hits[: measure.k]) / sum(hits) if True in hits else nan


def share_of_pairs(ranked_labels):
    """Right pairs over pairs: all (i, j) with the label of i above that of j, both known."""
    ranks = range(len(ranked_labels))
    pairs = [(i, j) for i in ranks for j in ranks if ranked_labels[i] > ranked_labels[j]]
    return sum(i < j for i, j in pairs) / len(pairs) if pairs else nan


def pair_accuracy(measure, scores, labels):
    return share_of_pairs(ranked(scores, labels))


def kendall_tau(measure, scores, labels):
    """By its counts: right and wrong pairs."""
    order = [l for l in ranked(scores, labels) if not isnan(l)]
    pairs = [(order[i], order[j]) for i in range(len(order)) for j in range(i + 1, len(order))]
    right, wrong = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
    return (right - wrong) / (right + wrong) if right + wrong else nan


def auc(measure, scores, labels):
    order = ranked(scores, labels)
    return share_of_pairs(
        [nan if isnan(l) else float(hit) for l, hit in zip(order, relevant(measure, order), strict=True)]
    )


def bpref(measure, scores, labels):
    order = [l for l in ranked(scores, labels) if not isnan(l)]
    hits = relevant(measure, order)
    n, others = sum(hits), len(hits) - sum(hits)
    if n == 0:
        return nan
    total = 0.0
    for r in range(len(hits)):
        if hits[r]:
            above = sum(not hit for hit in hits[:r])
            total += 1 - min(above, n) / min(others, n) if above else 1
    return total / n


def correlation(x, y):
    """Pearson's, from the deviations from the means."""
    if len(set(x)) < 2 or len(set(y)) < 2:
        return nan
    dx, dy = ([v - fsum(values) / len(values) for v in values] for values in (x, y))
    above = fsum(a * b for a, b in zip(dx, dy, strict=True))
    return above / sqrt(fsum(a * a for a in dx) * fsum(b * b for b in dy))


def average_ranks(values):
    """From 1, for the lowest; ties share the mean of their ranks."""
    return [sum(v < x for v in values) + (sum(v == x for v in values) + 1) / 2 for x in values]


def labelled(scores, labels):
    there = [i for i in range(len(labels)) if not isnan(labels[i])]
    return [scores[i] for i in there], [labels[i] for i in there]


def pearson(measure, scores, labels):
    return correlation(*labelled(scores, labels))


def spearman(measure, scores, labels):
    return correlation(*map(average_ranks, labelled(scores, labels)))


def click_dcg(measure, scores, labels):
    """Without propensities, which tests/test_click_dcg.py adds."""
    return dcg([0.0 if isnan(l) else l for l in ranked(scores, labels)], measure.k)


NAIVE = {
    NDCG: ndcg,
    CNDCG: ndcg,
    MAP: average_precision,
    MRR: reciprocal_rank,
    ERR: expected_reciprocal_rank,
    WTA: winner,
    Precision: precision,
    Recall: recall,
    PairAccuracy: pair_accuracy,
    AUC: auc,
    BPref: bpref,
    KendallTau: kendall_tau,
    Spearman: spearman,
    Pearson: pearson,
    ClickDCG: click_dcg,
}


def per_query(measure, scores, q):
    """What ``measure.per_query(scores, q)`` ought to be."""
    labels, one = q.source(measure.source), NAIVE[type(measure)]
    values = []
    for a, b in zip(q.offsets[:-1], q.offsets[1:], strict=True):
        figure = one(measure, list(map(float, scores[a:b])), list(map(float, labels[a:b])))
        values.append(measure.empty if isnan(figure) else figure)
    return np.array(values)
