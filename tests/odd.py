"""Queries of odd shapes by the thousand, and the float64 reference of `naive.py` in arrays, so that thousands are fast.

A `Batch` holds queries of one length n: each figure is an array (queries, n). Inside the reference documents stand in
rank order, so that rank r is column r − 1, and a matrix over pairs is (queries, n, n).
"""

from dataclasses import dataclass

import numpy as np

from lambdaboost import (
    CNDCG,
    ERR,
    MAP,
    MRR,
    NDCG,
    WTA,
    Blend,
    ClickTier,
    GradientStep,
    LambdaRank,
    PairAccuracy,
    Precision,
    Queries,
    RankNet,
    SigmoidLocal,
    graded,
)

SHARES = [0.52, 0.32, 0.13, 0.02, 0.01]
SIZES = {1: 80, 2: 130, 3: 130, 4: 100, 5: 100, 7: 100, 8: 80, 10: 80, 12: 60, 16: 40, 17: 40, 24: 20, 31: 10, 32: 10,
         33: 8, 40: 5, 65: 4, 130: 2, 257: 1}  # fmt: skip  # lengths of a thousand queries
LONGEST_SWAPPED = 65  # documents of a query whose every swap is measured: n² rankings of n documents
LONGEST_COUNTED = 12  # and whose every pair is counted in each
OBJECTIVES = (
    LambdaRank(),
    LambdaRank(sigma=2.5),
    LambdaRank(NDCG(k=3)),
    LambdaRank(CNDCG()),
    LambdaRank(MAP()),
    LambdaRank(MAP(threshold=2)),
    LambdaRank(MRR(k=5)),
    LambdaRank(ERR(max_grade=5)),
    LambdaRank(WTA()),
    LambdaRank(Precision(k=5, threshold=2)),
    LambdaRank(PairAccuracy()),
    SigmoidLocal(),
    SigmoidLocal(NDCG(k=3), center=-0.7),
    ClickTier(),
    ClickTier(zeros="missing"),
    ClickTier(CNDCG(k=4), "fresh", ("relevance", "clicks")),
    graded(),
    RankNet(),
    GradientStep(LambdaRank()),
)
LONG_OBJECTIVES = {  # with the documents of the list
    LambdaRank(): 100_000,
    LambdaRank(NDCG(k=10)): 10_000,
    SigmoidLocal(): 100_000,
    ClickTier(): 100_000,
    ClickTier(zeros="missing"): 100_000,
    graded(): 100_000,
    RankNet(): 100_000,
}
SAMPLED = (
    24  # documents of a long list that are held to the reference, besides the first, last and most forced
)


@dataclass(frozen=True, eq=False)
class Batch:
    """Queries of one length: scores and labels by source, each (queries, n)."""

    scores: np.ndarray
    labels: dict[str, np.ndarray]


# Drawing.


def drawn(rng, count, n):
    """Queries whose scores and labels are odd in ways drawn for each query by itself."""
    return Batch(
        _scores(rng, count, n),
        {
            "relevance": _labels(rng, count, n, grades=True),
            "clicks": _labels(rng, count, n, grades=False),
            "fresh": _labels(rng, count, n, grades=False),
        },
    )


def _scores(rng, count, n):
    normal = rng.normal(size=(count, n))
    spread = rng.choice([0.0, 1e-30, 1e-12, 1e-3, 1.0, 8.0, 60.0, 1e3, 1e6], size=(count, 1))
    kinds = np.stack(
        [
            normal * spread,
            np.round(normal * 2) / 2 * spread,  # ties
            np.sign(normal) * 1e6,
            np.where(rng.random((count, n)) < 0.2, 1e6 * np.sign(normal), 1e-30 * normal),  # both at once
            -np.arange(n) * spread * np.ones((count, 1)),  # as sorted files give them
            1e6 + np.round(normal * 64) / 64,  # far from zero and close together
        ]
    )
    return kinds[rng.integers(len(kinds), size=count), np.arange(count)]


def _labels(rng, count, n, grades):
    if grades:
        usual = rng.choice(5, p=SHARES, size=(count, n)).astype(float)
        whole = [usual, np.round(usual + rng.random((count, n)) * 0.99, 2)]
        one = rng.integers(0, 6, (count, 1)) * np.ones(n)
    else:
        usual = np.round(rng.random((count, n)), 1)
        whole = [usual, usual * rng.integers(0, 2, (count, n))]
        one = rng.random((count, 1)) * np.ones(n)
    missing = np.where(rng.random((count, n)) < 0.2, np.nan, usual)
    none = np.full((count, n), np.nan)
    single = np.where(np.arange(n) == rng.integers(0, n, (count, 1)), usual.max(initial=1.0), 0.0)
    kinds = np.stack([*whole, usual, usual, missing, one, single, np.zeros((count, n)), none])
    labels = kinds[rng.integers(len(kinds), size=count), np.arange(count)]
    return labels.astype(np.float32).astype(float)  # as Queries keeps them


def thousands(seed, queries):
    """`queries` drawn queries, a thousand at a time: lists of batches."""
    rng = np.random.default_rng(seed)
    for _ in range(queries // sum(SIZES.values())):
        yield [drawn(rng, count, n) for n, count in SIZES.items()]


# One set of queries from batches, in a drawn order, and back.


def together(batches, seed=0):
    """Scores and Queries of all batches, short and long ones mixed, and the rows of each batch in them."""
    sizes = np.concatenate([np.full(len(b.scores), b.scores.shape[1]) for b in batches])
    order = np.random.default_rng(seed).permutation(sizes.size)
    ends = np.cumsum(sizes[order])
    first = np.empty(sizes.size, dtype=np.int64)
    first[order] = ends - sizes[order]
    rows, done = [], 0
    for b in batches:
        count, n = b.scores.shape
        rows.append(first[done : done + count, None] + np.arange(n))
        done += count

    def placed(figures):
        flat = np.empty(ends[-1])
        for at, figure in zip(rows, figures, strict=True):
            flat[at] = figure
        return flat

    labels = {name: placed([b.labels[name] for b in batches]) for name in batches[0].labels}
    q = Queries(labels.pop("relevance"), sizes=sizes[order], **labels)
    return placed([b.scores for b in batches]), q, rows


# The reference.


def sigmoid(x):
    """1/(1 + e^x)."""
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(x))


def logistic(o, sigma=1.0):
    """σρ and σ²ρ(1 − ρ) (2011, eq. 3)."""
    rho = sigmoid(sigma * o)
    return sigma * rho, sigma**2 * rho * sigmoid(-sigma * o)


def local(o, center=0.0):
    """t/(1+t)² and t(t−1)/(1+t)³ at t = e^{o+c} (2011, eqs. 14 and after 16)."""
    x = o + center
    slope = sigmoid(x) * sigmoid(-x)
    return slope, slope * np.tanh(x / 2)


def reference(objective, batch):
    """λ and μ, each (queries, n), or None where the queries are too long for it."""
    if isinstance(objective, Blend):
        first, second = reference(objective.first, batch), reference(objective.second, batch)
        w = objective.weight(0) if callable(objective.weight) else objective.weight
        return tuple((1 - w) * a + w * b for a, b in zip(first, second, strict=True))
    if isinstance(objective, GradientStep):
        lam, _ = reference(objective.objective, batch)
        has = np.any([~np.isnan(batch.labels[name]) for name in objective.sources], axis=0)
        n = np.maximum(has.sum(axis=1, keepdims=True), 1)
        mean = (lam * has).sum(axis=1, keepdims=True) / n
        spread = np.sqrt((has * (lam - mean) ** 2).sum(axis=1, keepdims=True) / n)
        return lam / np.where(spread >= np.finfo(np.float32).tiny, spread, 1), np.ones_like(lam)
    if longest(objective) < batch.scores.shape[1]:
        return None
    order = np.argsort(-batch.scores, axis=1, kind="stable")
    s = np.take_along_axis(batch.scores, order, axis=1)
    labels = {name: np.take_along_axis(l, order, axis=1) for name, l in batch.labels.items()}
    o = s[:, :, None] - s[:, None, :]
    force, curvature = _force(objective)(o)
    w = _pairs(objective, labels) * _worth(objective, labels)
    lam, mu = np.empty_like(s), np.empty_like(s)
    pulls, bends = w * force, w * curvature
    np.put_along_axis(lam, order, pulls.sum(axis=2) - pulls.sum(axis=1), axis=1)
    np.put_along_axis(mu, order, bends.sum(axis=2) + bends.sum(axis=1), axis=1)
    return lam, mu


def longest(objective):
    """The longest query that the reference takes."""
    metric = getattr(objective, "metric", NDCG())
    if isinstance(metric, NDCG | CNDCG):
        return 10**4
    return LONGEST_COUNTED if isinstance(metric, PairAccuracy) else LONGEST_SWAPPED


def _force(objective):
    if isinstance(objective, SigmoidLocal):
        return lambda o: local(o, objective.center)
    return lambda o: logistic(o, objective.sigma)


def _source(objective):
    return "relevance" if isinstance(objective, RankNet) else objective.sources[0]


def _pairs(objective, labels):
    """Whether i should stand above j: a missing label compares false and is in no pair."""
    if not isinstance(objective, ClickTier):
        l = labels[_source(objective)]
        return l[:, :, None] > l[:, None, :]
    c = labels[objective.source]
    pairs = c[:, :, None] > c[:, None, :]
    if objective.zeros == "missing":
        pairs &= (c[:, :, None] != 0) & (c[:, None, :] != 0)
    for name in objective.within:
        tier = _tier(labels[name])
        pairs &= tier[:, :, None] == tier[:, None, :]
    return pairs


def _tier(labels):
    """The labels of a tier above, in which all documents tie where none has one."""
    return np.where(np.isnan(labels).all(axis=-1, keepdims=True), 0.0, labels)


def _worth(objective, labels):
    """|Z(now) − Z(i and j swapped)| of each pair."""
    if isinstance(objective, RankNet):
        return 1.0
    metric, l = objective.metric, labels[objective.metric.source]
    return _worth_ndcg(metric, l) if isinstance(metric, NDCG | CNDCG) else _worth_by_swapping(metric, l)


def gain_of(metric, l):
    """2^l − 1, or 2^{4c} − 1; 0 for a missing label."""
    return np.nan_to_num(2.0 ** (metric.scale * l if isinstance(metric, CNDCG) else l) - 1)


def discounts_of(n, k):
    """D(r) = 1/log2(1 + r), 0 past k."""
    r = np.arange(1, n + 1)
    return np.where(r <= (k or n), 1 / np.log2(1.0 + r), 0.0)


def _worth_ndcg(metric, l):
    g, d = gain_of(metric, l), discounts_of(l.shape[1], metric.k)
    ideal = -np.sort(-g, axis=1) @ d
    worth = np.abs((g[:, :, None] - g[:, None, :]) * (d[:, None] - d[None, :]))
    return worth / np.where(ideal > 0, ideal, np.inf)[:, None, None]


def _worth_by_swapping(metric, l):
    """Every ranking with two documents swapped, measured."""
    count, n = l.shape
    worth = np.empty((count, n, n))
    i, j = np.indices((n, n)).reshape(2, -1)
    swaps = np.tile(np.arange(n), (n * n, 1))
    swaps[np.arange(n * n), i], swaps[np.arange(n * n), j] = j, i
    step = max(1, 200_000 // n**3)
    for a in range(0, count, step):
        some = l[a : a + step]
        now = _measured(metric, some)
        worth[a : a + step] = np.abs(now[:, None] - _measured(metric, some[:, swaps])).reshape(-1, n, n)
    # Two equal measures differ in their last digit: a query of swaps worth nothing would seem to have forces.
    return np.where(worth > 1e-14, worth, 0)


def _measured(metric, l):
    """The measure of labels in rank order, along the last axis; NaN where it is undefined."""
    n = l.shape[-1]
    r = np.arange(1, n + 1)
    if isinstance(metric, PairAccuracy):
        above = l[..., :, None] > l[..., None, :]
        right, pairs = np.triu(above).sum(axis=(-1, -2)), above.sum(axis=(-1, -2))
        return np.where(pairs > 0, right / np.maximum(pairs, 1), np.nan)
    if isinstance(metric, ERR):
        satisfies = np.nan_to_num(2.0**l - 1) / 2.0**metric.max_grade
        reading = np.cumprod(np.concatenate([np.ones((*l.shape[:-1], 1)), 1 - satisfies[..., :-1]], -1), -1)
        value = (reading * satisfies / r * (r <= (metric.k or n))).sum(axis=-1)
        return np.where(satisfies.max(axis=-1) > 0, value, np.nan)
    hit = l >= metric.threshold
    if isinstance(metric, MAP):
        value = (hit * np.cumsum(hit, axis=-1) / r).sum(axis=-1) / np.maximum(hit.sum(axis=-1), 1)
    elif isinstance(metric, MRR):
        value = (hit / r * (r <= (metric.k or n))).max(axis=-1)
    else:  # WTA is Precision@1
        k = metric.k if isinstance(metric, Precision) else 1
        value = (hit * (r <= k)).sum(axis=-1) / k
    return np.where(hit.any(axis=-1), value, np.nan)


# A list too long for all its pairs: some documents, each against all others.


def long_list(seed, n):
    """One query of n documents, odd as the short ones are, with whole grades: hundreds of them go pair by pair."""
    batch = drawn(np.random.default_rng(seed), 1, n)
    return Batch(batch.scores, batch.labels | {"relevance": np.floor(batch.labels["relevance"])})


def reference_of(objective, batch, documents):
    """λ and μ of some documents of one query."""
    if isinstance(objective, Blend):
        w = objective.weight(0) if callable(objective.weight) else objective.weight
        parts = [reference_of(one, batch, documents) for one in (objective.first, objective.second)]
        return tuple((1 - w) * a + w * b for a, b in zip(*parts, strict=True))
    s, labels = batch.scores[0], {name: l[0] for name, l in batch.labels.items()}
    rank = np.empty(s.size, dtype=np.int64)
    rank[np.argsort(-s, kind="stable")] = np.arange(s.size)
    lam, mu = np.empty(len(documents)), np.empty(len(documents))
    for at, i in enumerate(documents):
        side = _side(objective, labels, i)
        w = np.abs(side) * _worth_of(objective, labels, rank, i)
        force, curvature = _force(objective)(side * (s[i] - s))
        lam[at], mu[at] = (side * w * force).sum(), (w * curvature).sum()
    return lam, mu


def _side(objective, labels, i):
    """+1 where i should stand above, −1 where below, 0 where there is no pair."""
    l = labels[_source(objective)]
    side = (l[i] > l).astype(float) - (l[i] < l)
    if isinstance(objective, ClickTier):
        if objective.zeros == "missing":
            side *= (l[i] != 0) & (l != 0)
        for name in objective.within:
            tier = _tier(labels[name])
            side *= tier[i] == tier
    return side


def _worth_of(objective, labels, rank, i):
    if isinstance(objective, RankNet):
        return 1.0
    metric = objective.metric
    g, d = gain_of(metric, labels[metric.source]), discounts_of(rank.size, metric.k)
    ideal = -np.sort(-g) @ d
    return np.abs((g[i] - g) * (d[rank[i]] - d[rank])) / (ideal or np.inf)


# Holding results to it.


@dataclass
class Checked:
    """What was compared so far, and what was wrong."""

    queries: int = 0
    documents: int = 0
    worst: float = 0.0  # distance from the reference, as a share of the query's largest figure
    wrong: int = 0
    not_finite: int = 0

    def add(self, got, expected, tolerance=1e-5):
        """Compare λ and μ, each (queries, n), with the reference.

        Within `tolerance` of the query's largest |λ|, and of its largest |λ| or |μ|: small figures are sums of larger
        ones, and a μ that is far smaller than λ is the difference of forces next to 1 or, in `SigmoidLocal`, to 0.
        """
        lam, mu = (np.abs(e).max(axis=-1, keepdims=True) for e in expected)
        right = np.ones(got[0].shape[0], dtype=bool)
        finite = right.copy()
        for g, e, scale in zip(got, expected, (lam, np.maximum(lam, mu)), strict=True):
            finite &= np.isfinite(g).all(axis=-1)
            # A swap that was measured twice and subtracted is right to float64's last digits of the measure only.
            apart = np.maximum(np.abs(np.nan_to_num(g) - e) - 1e-15 * (e != 0), 0) / np.maximum(scale, 1e-30)
            self.worst = max(self.worst, float(apart.max()))
            right &= (apart <= tolerance).all(axis=-1)
        self.queries += right.size
        self.documents += got[0].size
        self.wrong += int((~right).sum())
        self.not_finite += int((~finite).sum())


def check_thousand(objective, batches, into):
    """Hold the gradient of some batches, all in one `Queries`, to the reference."""
    scores, q, rows = together(batches)
    grad, hess = objective.gradient(scores, q)
    for batch, at in zip(batches, rows, strict=True):
        expected = reference(objective, batch)
        if expected is None:
            into.not_finite += int((~np.isfinite(grad[at] + hess[at])).any(axis=-1).sum())
        else:
            into.add((-grad[at], hess[at]), expected)


def check_long(objective, batch, into):
    """Hold some documents of a long list to the reference, by the largest figures of the whole list."""
    scores, q, _ = together([batch])
    grad, hess = objective.gradient(scores, q)
    n = scores.size
    some = np.unique([0, n - 1, *np.random.default_rng(1).integers(0, n, SAMPLED), np.abs(grad).argmax()])
    expected = reference_of(objective, batch, some)
    largest = np.abs(grad).max(), np.abs(hess).max()
    into.add(
        (np.append(-grad[some], largest[0])[None], np.append(hess[some], largest[1])[None]),
        tuple(np.append(e, l)[None] for e, l in zip(expected, largest, strict=True)),
    )
    into.not_finite += int(not (np.isfinite(grad).all() and np.isfinite(hess).all()))
