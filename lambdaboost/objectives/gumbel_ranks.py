"""GumbelRanks: pair weights averaged over rankings by scores with Gumbel noise."""

from __future__ import annotations

import numpy as np

from lambdaboost._checks import check_number, check_whole
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import PairAccuracy
from lambdaboost.evaluation.rankings import ranking
from lambdaboost.objectives.composite import Wrapper
from lambdaboost.objectives.kernels.pair_rule import PairRule
from lambdaboost.objectives.kernels.prepared import PreparedPairs, Round
from lambdaboost.objectives.objective import LambdaMu, Lambdas, check_objective, rule_of


class GumbelRanks(Wrapper):
    r"""An objective whose pair weights are averaged over noisy rankings (YetiLoss; Lyzhin et al., ICML 2023).

    For a pair of the objective, with :math:`\pi_t` the ranking by :math:`s + \beta G_t`, G standard Gumbel noise drawn
    for each document and draw t = 1, …, T,

    .. math:: w = \frac{1}{T} \sum_t |Z(\pi_t) - Z(\pi_t \text{ with i and j swapped})|

    replaces :math:`|\Delta Z|`; the force, ρ of RankNet or that of `SigmoidLocal`, is still computed from the scores
    without noise. Weights then change smoothly with the scores; rankings are drawn from the Plackett-Luce model with
    utilities s/β. CatBoost's YetiRank is similar, with logistic noise and pairs of neighbours only.

    Parameters
    ----------
    objective : LambdaRank, SigmoidLocal or ClickTier
        With any of their measures except PairAccuracy. Blends go outside: ``Blend(GumbelRanks(…), …)``.
    beta : float
        β, in units of the score, ≥ 0; 0 is the objective itself.
    draws : int
        T, ≥ 1.
    seed : int
        ≥ 0. The draws of a round depend on the seed, the round and the number of documents only.

    Examples
    --------
    >>> from lambdaboost import GumbelRanks, LambdaRank, Queries
    >>> objective = GumbelRanks(LambdaRank(), beta=0.5, draws=8)
    >>> grad, hess = objective.gradient([0.2, 0.1, 0.0], Queries([0, 1, 2], sizes=[3]))
    >>> bool(grad[0] > 0 > grad[2])
    True

    """

    beta: float = 1.0
    draws: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        check_objective("objective", self.objective)
        rule = rule_of(self.objective)
        if rule is None or rule.metric is None or isinstance(rule.metric, PairAccuracy):
            raise TypeError(
                f"objective is {self.objective!r}, expected one whose pair weights depend on ranks: LambdaRank, "
                "SigmoidLocal or ClickTier, with any measure except PairAccuracy"
            )
        check_number("beta", self.beta, 0)
        check_whole("draws", self.draws, 1)
        check_whole("seed", self.seed, 0)

    @property
    def ranks_ties_by_row(self) -> bool:  # type: ignore[override]
        """Only without noise: noisy scores do not tie."""
        return self.beta == 0 and self.objective.ranks_ties_by_row

    def _prepare(self, q: Queries) -> Lambdas:
        rule = self.objective.rule
        assert isinstance(rule, PairRule)
        pairs, offsets = PreparedPairs(rule, q), q.offsets

        def lambdas(now: Round) -> LambdaMu:
            rng, sums = np.random.default_rng((self.seed, now.iteration)), np.zeros((2, now.scores.size))
            for noise in rng.gumbel(size=(self.draws, now.scores.size)):
                by_rank = ranking(now.scores + self.beta * noise, offsets).astype(np.int32)
                sums += pairs(now, by_rank)
            return sums[0] / self.draws, sums[1] / self.draws

        return lambdas
