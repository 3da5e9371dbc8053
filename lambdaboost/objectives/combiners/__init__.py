"""Combiners: weights of several objectives that depend on their λ, their costs, the round or the data.

Pass one as the weights of `Scorecard`, or as the weight of `Blend`. `parts` holds what it can read, `combiner` is
the base class, and `combine` calls it. Each of the other files holds one combiner.
"""
