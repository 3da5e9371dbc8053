"""λ and μ over pairs of documents, compiled.

A rule over pairs sums, over all pairs of a better document i and a worse j of a query,

    λ_i += w f,  λ_j −= w f,  μ_i += w c,  μ_j += w c,      ρ = 1/(1 + e^{σ(s_i − s_j) + center}),

with a weight w that the ranks of both decide (`pair_weight`: |ΔZ| of a measure, one in RankNet), times factors of the
documents if a rule has any (`pair_factors`), and a force f and curvature c that ρ decides (`loss`). `pair_rule` sends
each query one of three ways.

**Tiles**, for most (`query`, `tiles`). Documents of one label are a *level* (`levels`), known before any
score. A query stands level by level, in a level by rank, so that what a document should be above is one contiguous run:

    slot       0 1 2 3 | 4 5 | 6 7 8 9 10        three levels, best first
    a tile     0                 4 rows of one level
               1      ×   4 5 6 7 8 9 10         and the run of all worse documents, in vector lanes
               2
               3

With E = exp(σ(s − s_max)), one exponential a document, ρ = E_j/(E_i + E_j) costs a pair one division. Four rows share
each column that is loaded; no branch looks at a label. Sums are float32 over some hundred rows and are then carried to
float64. Below the cutoff of a measure two documents have nothing to swap for: each level is split there, and rows below
it meet only the columns above (`cutoff`). Where scores lie too far apart for a float32, E is m · 2^k and a pair
takes the difference of the exponents besides (`span`); a swap whose discounts differ with the two levels brings these
together two by two (`two_by_two`).

**Lanes**, for lists of up to 40 documents (`short_lists`): 64 queries side by side, one a vector lane.

**The tree**, for lists of thousands (`tree`): the force is a smooth function of the score difference, so far runs of
the sorted list meet through a few Chebyshev points, and time grows as the length.

Each query is computed by one thread, in one order, whatever stands beside it: results are bit-identical for any number
of threads. `chances` serves objectives whose documents push against all others; `noisy_pairs` weighs each pair at
several rankings; `two_floats` keeps the digits of small differences.
"""
