"""Combiners: weights of several objectives that depend on their λ, their costs, the round or the data.

Pass one as the weights of `Scorecard`, or as the weight of `Blend`. `gradients` holds what it can read, `combiner` the
base class, and each of the other files one combiner.
"""
