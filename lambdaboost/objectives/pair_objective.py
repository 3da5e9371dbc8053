"""`PairObjective`: the base class of objectives that sum over the pairs of a rule."""

from __future__ import annotations

from typing import final

from lambdaboost.datasets import Queries
from lambdaboost.objectives.kernels.noise import weigh_by_noise
from lambdaboost.objectives.kernels.pair_rule import PairRule
from lambdaboost.objectives.kernels.prepared import LambdaFunction, PreparedPairs
from lambdaboost.objectives.objective import Needs, Objective


class PairObjective(Objective, registered=False):
    """An objective whose λ and μ are sums over pairs: all that it defines is their `rule`."""

    @property
    def rule(self) -> PairRule:
        """Which pairs count, what weights them and which force pushes them."""
        raise NotImplementedError

    @property
    def needs(self) -> Needs:
        """What its rule reads."""
        rule = self.rule
        return Needs(
            (rule.source, *rule.within),
            # Without a measure ranks do not count, and noisy scores do not tie.
            ties_by_row=rule.metric is not None and rule.beta == 0,
            sign_changes=rule.local,
            allows_negative=rule.metric is None or rule.metric.allows_negative,
        )

    @final
    def prepare(self, q: Queries) -> LambdaFunction:
        """The sum over the pairs of its rule, so that whoever reads the rule knows λ."""
        rule = self.rule
        if rule.beta > 0:
            return weigh_by_noise(rule, q)
        return PreparedPairs(rule, q)

    def why_no_pair(self, q: Queries) -> dict[str, str]:
        """Why no pair has a weight above 0; empty text where one has."""
        return {repr(self): self.rule.why_no_pair(q)}
