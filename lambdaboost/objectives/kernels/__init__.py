"""λ and μ over pairs of documents, compiled.

A rule over pairs (`pair_rule`) sums, over all pairs of a better document i and a worse j of a query,

    λ_i += w f,  λ_j −= w f,  μ_i += w c,  μ_j += w c,      ρ = 1/(1 + e^{σ(s_i − s_j) + center}),

with a weight w = |ΔZ|, which a *swap* gives by the gains and the ranks of both (`swaps.swap`), times a factor
of i if the rule has any, and a force f and curvature c that ρ decides (`sigmoid`).

Documents of one label are a *level* (`evaluation.levels`), known before any score. The documents of a query are grouped
by level, so that what a document should be above is one contiguous run, and no loop looks at a label:

    slot       0 1 2 3 | 4 5 | 6 7 8 9 10        three levels, best first
    a tile     0                 4 rows of one level
               1      ×   4 5 6 7 8 9 10         and the run of all worse documents, in vector lanes
               2
               3

With E = e^{σs}, one exponential per document, ρ = E_j/(e^center E_i + E_j) (`sigmoid`) costs one division per pair;
`tiles.pair_over_gains` puts force and weight together. Wide gaps between scores are narrowed first: ρ is 0 or 1 in all
pairs across them either way. Discounts enter as differences from the lowest of their list, where float32 holds them
best, and a gain as the sum of two float32; sums are float32 over some hundred rows and are then carried to float64.

Words of this code:

    level     the documents of one label in a query, best first; its *reach* is the first level past those it pairs with
    swap      what |ΔZ| of a measure reads of two ranks: a *discount* and, for some measures, a *second* term
    slot      a document's place in the order of levels; a *run* is slots in a row, a *part* those above or below k
    factor    what multiplies the weight of a pair where the document is the better one: an inverse propensity
    selected  the queries that this call of a kernel sums

`prepared` chooses the kernel of each query before any runs:

    lanes       up to 64 documents: 64 queries side by side, one per vector lane
    sweep       many pairs, few levels, and a swap that is a sum of terms, which are lists of thousands: the force is a
                smooth function of the score difference, so each document meets the others at a few Chebyshev points,
                and time grows as the length; scores however far apart
    tiles       all other lists, one after the other
    in_float64  lists of lanes and tiles whose scores are too far apart for float32, even when gaps are narrowed, and
                all of `PairAccuracy`, whose discounts depend on the pair: one pair after the other, by the plain double
                loop that all others equal

`noise` wraps these sums where rankings with noise weight the pairs, for `YetiLoss`.

How far apart scores may lie is one table, at the head of `sigmoid`; exponentials and logarithms that fill vector lanes
are in `elementary`.

Each query is computed by one thread, in one order, whatever other queries there are: results are bit-identical
for any number of threads. The end of `sigmoid` serves objectives whose documents push against all others.
"""
