"""Combiners: weights of several objectives that depend on their λ, their costs, the round or the data.

Pass one as the weights of `Scorecard`, or as the weight of `Blend`. `gradients` holds what a combiner can read,
`combiner` the base class, `fixed` those that need no λ, and `balancing` those that read λ or costs.
"""
