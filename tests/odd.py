"""Queries of odd shapes by the thousand, and λ and μ on them held to the references of `rules` and `naive`."""

from dataclasses import dataclass

import naive
import numpy as np
from rules import RULES

from lambdaboost import (
    CNDCG,
    NDCG,
    ClickTier,
    LambdaRank,
    PairAccuracy,
    Queries,
    RankNet,
    SigmoidLocal,
    graded,
)

SHARES = [0.52, 0.32, 0.13, 0.02, 0.01]
SIZES = {1: 80, 2: 130, 3: 130, 4: 100, 5: 100, 7: 100, 8: 80, 10: 80, 12: 60, 16: 40, 17: 40, 24: 20, 31: 10, 32: 10,
         33: 8, 40: 5, 65: 4, 130: 2, 257: 1}  # fmt: skip  # lengths of a thousand queries
LONGEST = {
    PairAccuracy: 7,
    NDCG: 130,
    CNDCG: 130,
}  # documents of a query that its reference takes, by the measure
LONGEST_SWAPPED = 17  # and where every swap is measured
SOURCES = {"relevance", "clicks", "fresh"}
LONG_OBJECTIVES = {  # with the documents of the list
    LambdaRank(): 100_000,
    LambdaRank(NDCG(k=10)): 10_000,
    SigmoidLocal(): 100_000,
    ClickTier(): 100_000,
    ClickTier(zeros="missing"): 100_000,
    graded(): 100_000,
    RankNet(): 100_000,
}
# Documents of a long list that are held to the reference, besides the first, the last and those of the largest force.
SAMPLED = 12


def longest(rule):
    """The longest query that the reference of a rule takes."""
    return LONGEST.get(type(getattr(rule.objective, "metric", NDCG())), LONGEST_SWAPPED)


# Drawing.


def drawn(rng, count, n):
    """Scores and labels by source of `count` queries of one length, (count, n), each odd in ways of its own."""
    labels = {
        name: _labels(rng, count, n, grades=name == "relevance") for name in ("relevance", "clicks", "fresh")
    }
    return _scores(rng, count, n), labels


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


def thousand(rng):
    """A thousand drawn queries, short and long ones mixed: their scores, and labels by source."""
    queries = []
    for n, count in SIZES.items():
        scores, labels = drawn(rng, count, n)
        queries += [(scores[i], {name: of[i] for name, of in labels.items()}) for i in range(count)]
    return [queries[i] for i in rng.permutation(len(queries))]


def long_list(seed, n):
    """One query of n documents, odd as the short ones are, with whole grades: hundreds of them go pair by pair."""
    scores, labels = drawn(np.random.default_rng(seed), 1, n)
    labels = {name: of[0] for name, of in labels.items()}
    return scores[0], labels | {"relevance": np.floor(labels["relevance"])}


def together(queries):
    """All in one: scores and `Queries`."""
    scores, labels = zip(*queries, strict=True)
    joined = {name: np.concatenate([of[name] for of in labels]) for name in labels[0]}
    return np.concatenate(scores), Queries(joined.pop("relevance"), sizes=[s.size for s in scores], **joined)


# Holding results to the references.


@dataclass
class Checked:
    """What was compared so far, and what was wrong."""

    queries: int = 0
    documents: int = 0
    worst: float = 0.0  # distance from the reference, as a share of the query's largest figure
    wrong: int = 0
    not_finite: int = 0

    def add(self, got, expected, largest=(0.0, 0.0), tolerance=1e-5, cancels=False):
        """Compare λ and μ of a query with the reference.

        Within `tolerance` of the query's `largest` |λ|, or of its largest |λ| or |μ|: small figures are sums of larger
        ones, and a μ that is far smaller than λ is the difference of forces next to 1 or, in `SigmoidLocal`, to 0. A 0
        is exact, unless it is a sum of forces that `cancels`, as in listwise objectives.
        """
        lam, mu = (max(np.abs(e).max(), most) for e, most in zip(expected, largest, strict=True))
        right = finite = True
        for g, e, scale in zip(got, expected, (lam, max(lam, mu)), strict=True):
            finite &= bool(np.isfinite(g).all())
            # A swap that was measured twice and subtracted is right to float64's last digits of the measure only.
            rounding = 1e-15 * (cancels | (e != 0))
            apart = np.maximum(np.abs(np.nan_to_num(g) - e) - rounding, 0).max() / max(scale, 1e-30)
            self.worst = max(self.worst, float(apart))
            right &= bool(apart <= tolerance)
        self.queries += 1
        self.documents += len(got[0])
        self.wrong += not right
        self.not_finite += not finite


def check_queries(rule, queries, into):
    """Hold the gradient of some queries, all in one `Queries`, to the reference."""
    scores, q = together(queries)
    grad, hess = rule.objective.gradient(scores, q)
    for (s, labels), a, b in zip(queries, q.offsets, q.offsets[1:], strict=False):
        if s.size <= longest(rule):
            expected = rule.reference(s, labels, 0)
            into.add((-grad[a:b], hess[a:b]), expected, cancels=rule.objective.rule is None)
        else:
            into.not_finite += not np.isfinite(grad[a:b] + hess[a:b]).all()


def check_long(objective, query, into):
    """Hold some documents of a long list to the reference, by the largest figures of the whole list."""
    scores, q = together([query])
    grad, hess = objective.gradient(scores, q)
    n = scores.size
    some = np.unique([0, n - 1, *np.random.default_rng(1).integers(0, n, SAMPLED), np.abs(grad).argmax()])
    expected = naive.of_documents(objective, *query, some)
    into.add((-grad[some], hess[some]), expected, (np.abs(grad).max(), np.abs(hess).max()))
    into.not_finite += not (np.isfinite(grad).all() and np.isfinite(hess).all())


CHECKED = [
    rule for rule in RULES if set(rule.objective.sources) <= SOURCES and not rule.objective.needs.positions
]
