"""Recipes on trial: objectives made from others, which have no public name."""

from __future__ import annotations

import numpy as np

from benchmarks.field.candidates import Candidate, of_lightgbm
from lambdaboost import (
    XENDCG,
    Blend,
    GradientStep,
    GumbelRanks,
    LambdaLoss,
    LambdaRank,
    Linear,
    Queries,
    RankNet,
)
from lambdaboost.objectives import Objective
from lambdaboost.objectives.base.objective import Floats
from lambdaboost.objectives.base.wrapper import Wrapper


class FadingNoise(Wrapper, registered=False):
    """Noise in ranks whose β falls linearly from `beta` to 0 over the first `rounds`."""

    objective: Objective
    beta: float = 1.0
    rounds: int = 50

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Floats, Floats]:
        """λ and μ of every document at a round."""
        beta = self.beta * max(0.0, 1 - iteration / self.rounds)
        noisy = self.objective if beta == 0 else GumbelRanks(self.objective, beta)
        return noisy.lambdas(scores, q, iteration)


class ExpectedTies(Wrapper, registered=False):
    """|ΔZ| averaged over random orders of tied documents in the first `rounds`: noise that only breaks ties."""

    objective: Objective
    rounds: int = 10
    draws: int = 8

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Floats, Floats]:
        """λ and μ of every document at a round."""
        if iteration >= self.rounds:
            return self.objective.lambdas(scores, q, iteration)
        return GumbelRanks(self.objective, beta=1e-6, draws=self.draws).lambdas(scores, q, iteration)


class HessianFloor(Wrapper, registered=False):
    """μ of each document at least a share of the mean μ, so that leaves of small μ take no giant step."""

    objective: Objective
    share: float = 0.1

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Floats, Floats]:
        """λ and μ of every document at a round."""
        lam, mu = self.objective.lambdas(scores, q, iteration)
        return lam, np.maximum(mu, self.share * mu.mean())


class QueryNorm(Wrapper, registered=False):
    """LightGBM's factor log2(1 + S)/S of each query for any objective, S the sum of |λ| of its documents.

    LightGBM sums λ over pairs, which documents do not show.
    """

    objective: Objective

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Floats, Floats]:
        """λ and μ of every document at a round."""
        lam, mu = self.objective.lambdas(scores, q, iteration)
        total = np.add.reduceat(np.abs(lam, dtype=np.float64), q.offsets[:-1])
        factor = np.log2(1 + total) / np.where(total > 0, total, 1)
        spread = np.repeat(factor, q.sizes)
        return lam * spread, mu * spread


NOISY = GradientStep(GumbelRanks(LambdaRank()))
ALL_PAIRS = 100_000  # a truncation longer than any list

# Each recipe with what it is made from, with which it is compared.
RECIPES: dict[Candidate, tuple[Candidate, ...]] = {
    of_lightgbm(recipe): tuple(map(of_lightgbm, parents))
    for recipe, parents in (
        (Blend(XENDCG(), LambdaRank(), 0.5), (XENDCG(), LambdaRank())),
        (Blend(XENDCG(), LambdaRank(), Linear(0.0, 0.02)), (XENDCG(), LambdaRank())),
        (GradientStep(FadingNoise(LambdaRank())), (NOISY,)),
        (ExpectedTies(LambdaRank()), (LambdaRank(),)),
        (HessianFloor(LambdaRank()), (LambdaRank(),)),
        (LambdaRank(convention="lightgbm", truncation=ALL_PAIRS), (LambdaRank(),)),
        (QueryNorm(RankNet()), (RankNet(),)),
        (QueryNorm(LambdaLoss()), (LambdaLoss(),)),
    )
}
