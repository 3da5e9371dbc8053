"""Combiners: weights of several objectives that depend on their λ, their costs, the round or the data.

A combiner stands where `Scorecard` takes weights and `Blend` a weight. `parts` holds what it can read, `combiner` is
the base class, and `combine` calls it. Each of the other files holds one combiner.
"""
