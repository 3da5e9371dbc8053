"""Why CatBoost's YetiRank leads on the synthetic log: `python -m benchmarks.yetirank --help`.

Protocol, settled before any figure was seen
--------------------------------------------
Data: one `web_search_log`, queries without a relevant document left out. Its first 4,000 queries test; each seed trains
on 1,000 queries of its own and validates on 500 more. A training stops after 20 rounds without a higher NDCG@3 of the
validation part, or after 200. Every arm has two learning rates, .07 and .2, of which each seed takes the one with the
higher NDCG@3 of its validation part. All else is the engine's default, but for what an arm names; gradient steps have
100 documents a leaf, on XGBoost as ``min_child_weight``.

CatBoost's arms change YetiRank one thing at a time: its noise, weights, trees, score function, bootstrap, random
strength and leaves; others are its other losses. CatBoost prohibits another leaf estimation than one Newton step for
YetiRank, and on the processor it has no second-order score function. LightGBM and XGBoost have no symmetric trees: what
stands for them is small trees and trees of limited depth; what stands for random strength is LightGBM's
``extra_trees``. Least-squares splits with Newton's leaves, as CatBoost's are, are
``leaves="newton"``, without gradient steps. Prototypes are CatBoost's objectives on these engines (`prototypes`).

Figures: NDCG of each test query, averaged over the seeds. Tests: paired t-tests over the test queries, Holm's
correction within a table; "seeds" counts those in which the arm is the higher one. Chance of the training data shows in
the seeds, not in the p-values.

A prototype becomes an objective only if it is significantly above every objective that there is, pooled over the trees,
on both engines; QuerySoftmax, which ListNet and XE-NDCG resemble, above these two. A form of trees becomes a
recommendation only if it is significantly above 31 leaves, pooled over the objectives, on its engine.

Settled later: QueryRMSE and YetiRank joined the prototypes, with the rule for them, when the figures of all other arms
had been seen on two seeds, since CatBoost's QueryRMSE had the highest and YetiRank's own weights beat ΔNDCG.
"""
