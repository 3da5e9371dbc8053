"""Slow, obviously right float64 references of every λ rule, one loop over all pairs, from the papers' equations."""

import math

import naive_measures
import numpy as np

from lambdaboost import CNDCG, NDCG, Blend
from lambdaboost.objectives.kernels import prepared

NO_CUTOFF = 10**9


def ranks(scores):
    """Rank of each document from 1: score descending, ties in input order."""
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    r = [0] * len(scores)
    for position, i in enumerate(order):
        r[i] = position + 1
    return r


def discount(r, k=None):
    """D(r) = 1/log2(1 + r), 0 past k."""
    return 1 / math.log2(1 + r) if r <= (k or NO_CUTOFF) else 0.0


def exponential(l):
    return naive_measures.gain(NDCG(), l)


def click_gain(c):
    return naive_measures.gain(CNDCG(), c)


def ideal_dcg(gains, k=None):
    return naive_measures.dcg(np.sort(gains)[::-1], k)


def swaps_of(measure, rankings, labels):
    """|Z(now) − Z(i and j swapped)| of i and j, or of i and several, the mean over (draws, n) ranks; 0 without Z."""
    if measure is None:
        return lambda i, j: 1.0
    labels = np.asarray(labels, dtype=float)
    if isinstance(measure, NDCG | CNDCG):
        # Of the sums now and then only the terms of i and j differ.
        gains = naive_measures.gain(measure, labels)
        ideal = ideal_dcg(gains, measure.k) or np.inf
        mean = np.mean([[discount(r, measure.k) for r in one] for one in rankings], axis=0)
        return lambda i, j: np.abs((gains[i] - gains[j]) * (mean[i] - mean[j])) / ideal
    by_rank = -np.array(rankings, dtype=float)
    now = [naive_measures.of_list(measure, one, labels) for one in by_rank]

    def weight(i, j):
        swapped = labels.copy()
        swapped[[i, j]] = labels[[j, i]]
        then = [naive_measures.of_list(measure, one, swapped) for one in by_rank]
        return np.nan_to_num(np.abs(np.subtract(now, then))).mean()

    return np.vectorize(weight, otypes=[float])


def sigmoid(x):
    """1/(1 + e^x) without overflow."""
    return 1 / (1 + math.exp(x)) if x < 700 else 0.0


def logistic(o, sigma=1.0):
    """Force σρ and curvature σ²ρ(1 − ρ) (2011, eq. 3, and its derivative)."""
    rho = sigmoid(sigma * o)
    return sigma * rho, sigma**2 * rho * sigmoid(-sigma * o)  # 1 − ρ, which would lose its digits


def local(o, center=0.0):
    """Force e^{o+c}/(1+e^{o+c})² and curvature e^{o+c}(e^{o+c}−1)/(1+e^{o+c})³ (2011, eqs. 14 and after 16)."""
    x = o + center
    if abs(x) > 200:
        return math.exp(-min(abs(x), 700.0)), math.copysign(math.exp(-min(abs(x), 700.0)), x)
    t = math.exp(x)
    return t / (1 + t) ** 2, t * (t - 1) / (1 + t) ** 3


def pair_rule(scores, pairs, weight, force, up=None):
    """λ and μ: over pairs (i above j wanted), document i gets +λ, j −λ, both +μ; each pair times up[i]."""
    n = len(scores)
    lam, mu = [0.0] * n, [0.0] * n
    for i, j in pairs:
        f, c = force(scores[i] - scores[j])
        w = weight(i, j) * (1 if up is None else up[i])
        lam[i] += w * f
        lam[j] -= w * f
        mu[i] += w * c
        mu[j] += w * c
    return np.array(lam), np.array(mu)


def graded_pairs(labels):
    """Pairs l_i > l_j; a missing label (NaN) compares false and is in none."""
    n = len(labels)
    return [(i, j) for i in range(n) for j in range(n) if labels[i] > labels[j]]


def by_swap(measure, scores, labels, force=logistic, up=None, pairs=None, rankings=None):
    """LambdaRank of a measure, RankNet of None, SigmoidLocal with force=local; `rankings` in place of the scores."""
    s, y = [float(x) for x in scores], [float(l) for l in labels]
    weight = swaps_of(measure, [ranks(s)] if rankings is None else rankings, y)
    return pair_rule(s, graded_pairs(y) if pairs is None else pairs, weight, force, up)


def of_documents(objective, scores, labels, rows, iteration=0):
    """λ and μ of some documents of one query, each against all others: for lists too long for all their pairs.

    The objective is a rule of pairs, as its `rule` says, or a `Blend` of two.
    """
    if isinstance(objective, Blend):
        parts = [of_documents(part, scores, labels, rows, iteration) for part in objective.parts]
        return tuple((1 - objective.weight) * a + objective.weight * b for a, b in zip(*parts, strict=True))
    rule, l = objective.rule, labels[objective.rule.source]
    if rule.beta == 0:
        rankings = [ranks(scores)]
    else:
        rankings = noisy_ranks(scores, l, rule.beta, rule.draws, rule.seed, iteration)
    lam, mu = np.zeros(len(rows)), np.zeros(len(rows))
    swaps = swaps_of(rule.metric, rankings, l)
    for at, i in enumerate(rows):
        side = np.nan_to_num(np.sign(l[i] - l))  # 1 where it should be above
        if rule.skip_zero:
            side *= (l[i] != 0) & (l != 0)
        for name in rule.within:
            side *= (labels[name][i] == labels[name]) | np.isnan(labels[name]).all()
        w, others = np.zeros(scores.size), np.flatnonzero(side)
        w[others] = swaps(i, others)
        with np.errstate(over="ignore"):
            x = rule.sigma * side * (scores[i] - scores) + rule.center
            rho, rest = 1 / (1 + np.exp(x)), 1 / (1 + np.exp(-x))
        lam[at] = rule.sigma * (side * w * rho * (rest if rule.local else 1)).sum()
        mu[at] = rule.sigma**2 * (w * rho * rest * (rest - rho if rule.local else 1)).sum()
    return lam, mu


def check_documents(objective, scores, q, rows=None, tolerance=1e-5, iteration=0, gradient=None):
    """λ and μ of some documents of one query and of the most forced one, or of all, as shares of the largest figure.

    Those of a gradient that is given, or of the objective's own. Returns the gradient.
    """
    grad, hess = objective.gradient(scores, q, iteration) if gradient is None else gradient
    every = range(scores.size)
    rows = every if rows is None else np.unique([*rows, np.abs(grad).argmax()])
    labels = {name: of.astype(float) for name, of in q.labels.items()}
    lam, mu = of_documents(objective, scores, labels, rows, iteration)
    largest = max(np.abs(grad).max(), np.finfo(np.float32).tiny)
    np.testing.assert_allclose(-grad[rows], lam, rtol=0, atol=tolerance * largest)
    np.testing.assert_allclose(hess[rows], mu, rtol=0, atol=tolerance * max(largest, np.abs(hess).max()))
    return grad, hess


def gradient_by(which, objective, scores, q):
    """The gradient of an objective of pairs where one kernel sums all queries, whatever would be chosen for them."""
    pairs = objective.prepare(q)
    pairs.levels, pairs.kernels = pairs.levels.as_int32(), np.full(q.n_queries, which, np.int8)
    pairs.groups = prepared.group_by_kernel(pairs.kernels)
    lam, mu = pairs(prepared.Round(scores, np.ptp(scores), 0))
    return -lam, mu


def click_tier(scores, labels, within, k=None, up=None, zeros="label"):
    """Pairs that tie in every list of `within`, c_i > c_j; all tie in a list of NaN.

    Both labels are non-zero if zeros are missing (2011, §4.2).
    """
    within = [[0.0] * len(scores) if all(math.isnan(l) for l in tier) else tier for tier in within]
    pairs = [
        (i, j)
        for i, j in graded_pairs(labels)
        if (zeros == "label" or labels[j] != 0) and all(tier[i] == tier[j] for tier in within)
    ]
    return by_swap(CNDCG(k), scores, labels, up=up, pairs=pairs)


def linear_weight(start, rate, m):
    return min(max(start + rate * m, 0.0), 1.0)


def exponential_weight(start, rate, m):
    """The recursion of the 2011 paper, §6.2: w_0 = start, w_m = w_{m−1} + exp(−rate/m), clipped to [0, 1]."""
    w = start
    for step in range(1, m + 1):
        w += math.exp(-rate / step)
    return min(w, 1.0)


def blend(first, second, w):
    return (1 - w) * first[0] + w * second[0], (1 - w) * first[1] + w * second[1]


def gradient_step(lam, *sources):
    """One query's λ over their population standard deviation where any of the sources has a label, and ones."""
    labelled = ~np.isnan(sources).all(axis=0)
    spread = lam[labelled].std() if labelled.any() else 0.0
    return lam / (spread if spread >= np.finfo(np.float32).tiny else 1.0), np.ones(
        lam.size
    )  # less is 0 in float32


def lambda_loss(scores, labels, scheme, k=None, mu=10.0, sigma=1.0, gain=exponential):
    """NDCG-Loss1, 2 and 2++ (Wang et al. 2018), at a cutoff as Jagerman et al. (2022)."""
    r, gains = ranks(scores), [gain(l) for l in labels]
    ideal = ideal_dcg(gains, k)

    def near(i, j):
        d, lower = abs(r[i] - r[j]), max(r[i], r[j])
        past = 1 / (1 - discount(lower)) if lower > (k or NO_CUTOFF) else 1.0
        return (discount(d) - discount(d + 1)) * past

    def weight(i, j):
        if ideal == 0:
            return 0.0
        if scheme == "1":
            return gains[i] * discount(r[i]) / ideal
        swapped = abs(discount(r[i], k) - discount(r[j], k)) if scheme == "2++" else 0.0
        return abs(gains[i] - gains[j]) / ideal * (swapped + (mu if scheme == "2++" else 1.0) * near(i, j))

    known = [i for i, l in enumerate(labels) if not math.isnan(l)]
    pairs = [(i, j) for i in known for j in known if i != j] if scheme == "1" else graded_pairs(labels)
    return pair_rule(scores, pairs, weight, lambda o: logistic(o, sigma))


def softmax(figures):
    """The shares of figures, and what each lacks of one, from the sum of all others."""
    e = [math.exp(x - max(figures)) for x in figures]
    return [x / sum(e) for x in e], [math.fsum(e[:i] + e[i + 1 :]) / sum(e) for i in range(len(e))]


def listnet(scores, relevance):
    lam, mu = np.zeros(len(scores)), np.zeros(len(scores))
    known = [i for i, l in enumerate(relevance) if not math.isnan(l)]
    if len({relevance[i] for i in known}) < 2:
        return lam, mu
    p, rest = softmax([scores[i] for i in known])
    y, _ = softmax([relevance[i] for i in known])
    lam[known] = [a - b for a, b in zip(y, p, strict=True)]
    mu[known] = [a * b for a, b in zip(p, rest, strict=True)]
    return lam, mu


def listmle(scores, relevance):
    """Each document against all that are worse."""
    lam, mu = np.zeros(len(scores)), np.zeros(len(scores))
    for k in range(len(scores)):
        rivals = [k, *(j for j in range(len(scores)) if relevance[j] < relevance[k])]
        p, rest = softmax([scores[j] for j in rivals])
        lam[k] += rest[0]
        mu[k] += p[0] * rest[0]
        for j, share, without in zip(rivals[1:], p[1:], rest[1:], strict=True):
            lam[j] -= share
            mu[j] += share * without
    return lam, mu


def approx_ndcg(scores, labels, alpha=10.0, gain=exponential):
    """ApproxNDCG (Qin et al. 2010): λ, and the bound on its curvature."""
    gains, n = [gain(l) for l in labels], len(scores)
    ideal = ideal_dcg(gains)
    rho = [[sigmoid(alpha * (scores[i] - scores[j])) for j in range(n)] for i in range(n)]
    rank = [1 + sum(rho[i][j] for j in range(n) if j != i) for i in range(n)]
    c = [
        g / ideal * math.log(2) / ((1 + r) * math.log(1 + r) ** 2) if ideal else 0.0
        for g, r in zip(gains, rank, strict=True)
    ]
    lam, mu = np.zeros(n), np.zeros(n)
    known = [i for i in range(n) if not math.isnan(labels[i])]
    for i in known:
        for j in known:
            if i != j:
                lam[i] += alpha * (c[i] - c[j]) * rho[i][j] * rho[j][i]
                mu[i] += alpha**2 * (c[i] + c[j]) * rho[i][j] * rho[j][i]
    return lam, mu


def lightgbm_floats(seed, rounds, n):
    """The last n of (rounds + 1)·n draws of LightGBM's generator (utils/random.h), one after the other."""
    x, drawn = seed, []
    for _ in range((rounds + 1) * n):
        x = (214013 * x + 2531011) % 2**32
        drawn.append((x // 2**16 % 2**15) / 2**15)
    return drawn[-n:]


def xendcg(scores, gains, gammas):
    """XE-NDCG (Bruch 2021): three terms of the inverse Hessian's series times the gradient, and the diagonal."""
    lam, mu = np.zeros(len(scores)), np.zeros(len(scores))
    known = [i for i, gain in enumerate(gains) if not math.isnan(gain)]
    if len(known) < 2:
        return lam, mu
    s = np.array([scores[i] for i in known])
    e = np.exp(s - s.max())
    rho, rest = e / e.sum(), np.array([np.delete(e, i).sum() for i in range(s.size)]) / e.sum()
    phi = np.array([gains[i] + 1 - gammas[i] for i in known])
    g, d = rho - phi / phi.sum(), rho * rest
    # Column j of O D⁻¹ is ρ_i/(1 − ρ_j), the share of i among all but j: so it is a number where ρ_j is 1 too.
    step = np.zeros((s.size, s.size))
    for j in range(s.size):
        others = np.arange(s.size) != j
        share = np.exp(s[others] - s[others].max())
        step[others, j] = share / share.sum()
    lam[known], mu[known] = -(g + step @ g + step @ step @ g), d
    return lam, mu


BITS_32, BITS_64, GOLDEN_32, GOLDEN_64 = 2**32 - 1, 2**64 - 1, 0x9E3779B1, 0x9E3779B97F4A7C15


def _mix_64(x):
    """The last step of splitmix64."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & BITS_64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & BITS_64
    return x ^ (x >> 31)


def gumbel_noise(scores, labels, seed, m, draw):
    """The noise that lambdaboost gives the documents of a query in a draw of round m, from its counter."""
    n, values = len(scores), sorted({l for l in labels if l == l}, reverse=True)
    level = [values.index(l) if l == l else -1 for l in labels]
    of_levels = sum(_mix_64((p * GOLDEN_64 + level[p] + 2) & BITS_64) for p in range(n))
    gaps = 0
    for p in range(1, n):
        steps = int(min(max((scores[p] - scores[p - 1]) * 2.0**20, -(2.0**30)), 2.0**30) + 0.5)
        x = (steps + p * GOLDEN_32) & BITS_32
        x = (x ^ (x >> 16)) * 0x21F0AAAD & BITS_32
        gaps += x ^ (x >> 15)
    of_round = int(np.random.SeedSequence((seed, m)).generate_state(1, np.uint64)[0])
    of_query = _mix_64(_mix_64((of_levels + n) & BITS_64) ^ ((gaps & BITS_32) * GOLDEN_64 & BITS_64))
    key = _mix_64((of_query + of_round + draw * GOLDEN_64) & BITS_64)
    noise = []
    for p in range(n):
        x = (p * GOLDEN_32 + key) & BITS_32
        x = (x ^ (x >> 16)) * 0x21F0AAAD & BITS_32
        x = (x ^ (x >> 15)) + (key >> 32) & BITS_32
        x = (x ^ (x >> 15)) * 0xD35A2D97 & BITS_32
        u = ((x ^ (x >> 15)) // 512 + 0.5) / 2**23
        noise.append(-math.log(-math.log(u)))
    return noise


def noisy_ranks(scores, labels, beta, draws, seed, m):
    """The ranks in each draw of round m."""
    scores, labels = [float(s) for s in scores], [float(l) for l in labels]
    best, found = max(scores), []  # the noise is added in float32, to what a score is below the best
    for draw in range(draws):
        noise = gumbel_noise(scores, labels, seed, m, draw)
        pairs = zip(scores, noise, strict=True)
        found.append(
            ranks([float(np.float32(s - best) + np.float32(beta) * np.float32(g)) for s, g in pairs])
        )
    return found


def yetiloss(scores, labels, m, measure, beta=1.0, draws=2, seed=0, up=None):
    """λ and μ with weights by noisy rankings."""
    return by_swap(measure, scores, labels, up=up, rankings=noisy_ranks(scores, labels, beta, draws, seed, m))
