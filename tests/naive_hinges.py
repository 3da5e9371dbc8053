"""Slow float64 references of the structured hinges: λ of one query, ties in input order, 1 for μ."""

import numpy as np


def parted(scores, relevance, threshold):
    """Good and bad documents by score, ties in input order."""
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    return (
        [i for i in order if relevance[i] >= threshold],
        [i for i in order if relevance[i] < threshold],
    )


def pulled(n, goods, bads, above):
    """λ of φ_po where above[i] bad documents stand above good document i."""
    lam = np.zeros(n)
    for g, count in zip(goods, above, strict=True):
        for b in bads[:count]:
            lam[g] += 2 / (len(goods) * len(bads))
            lam[b] -= 2 / (len(goods) * len(bads))
    return lam, np.ones(n)


def auc(scores, relevance, threshold=1):
    goods, bads = parted(scores, relevance, threshold)
    return pulled(len(scores), goods, bads, [sum(scores[b] + 0.5 > scores[g] for b in bads) for g in goods])


def by_table(scores, relevance, loss_at, threshold=1):
    """Figure 2 of the 2008 paper with its general recurrence; loss_at(g, r) is what good document g loses at rank r."""
    goods, bads = parted(scores, relevance, threshold)
    if not goods or not bads:
        return np.zeros(len(scores)), np.ones(len(scores))
    best = {}  # column -> (sum, minus all inversions, columns so far)
    for g, i in enumerate(goods):
        pull, row = 0.0, {}
        for b in range(len(bads) + 1):
            pull += scores[bads[b - 1]] - scores[i] if b else 0.0
            cell = loss_at(g, g + b, len(goods)) + 2 / (len(goods) * len(bads)) * pull
            before = [best[p] for p in range(b + 1)] if g else [(0.0, 0, ())]
            total, fewer, columns = max(before)
            row[b] = (total + cell, fewer - b, (*columns, b))
        best = row
    return pulled(len(scores), goods, bads, max(best.values())[2])


def mean_average_precision(scores, relevance, threshold=1):
    return by_table(scores, relevance, lambda g, r, n: (1 - (1 + g) / (1 + r)) / n, threshold)


def reciprocal_rank(scores, relevance, k=10**9, threshold=1):
    """By φ_mrr: all numbers of bad documents above the good one of lowest score."""
    lam, mu = np.zeros(len(scores)), np.ones(len(scores))
    goods, bads = parted(scores, relevance, threshold)
    if goods and bads:
        low = goods[-1]
        values = [
            (1 - 1 / (1 + r) if r < k else 1) + sum(scores[b] - scores[low] for b in bads[:r])
            for r in range(len(bads) + 1)
        ]
        first = max(range(len(values)), key=lambda r: (values[r], -r))
        lam[low] = first
        lam[bads[:first]] = -1
    return lam, mu


def pairwise(scores, relevance):
    lam, mu = np.zeros(len(scores)), np.zeros(len(scores))
    for i in range(len(scores)):
        for j in range(len(scores)):
            if relevance[i] > relevance[j]:
                mu[[i, j]] += 1
                if scores[j] + 1 > scores[i]:
                    lam[i] += 1
                    lam[j] -= 1
    return lam, mu


def summed(*parts):
    return sum(part[0] for part in parts), np.ones(parts[0][0].size)
