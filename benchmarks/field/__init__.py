"""The whole field under equal tuning: `python -m benchmarks.field --help`.

Protocol, settled before any test figure was seen
-------------------------------------------------
Candidates: LightGBM's, XGBoost's and CatBoost's own ranking objectives, and lambdaboost's on LightGBM (`candidates`).
CatBoost is left out where it is not installed. Recipes (`recipes`) are prototypes, tried with ``--recipes``.

Queries without a relevant document are left out everywhere. Sets of five parts S1 … S5 have LETOR's folds; others are
cut into five random parts of the queries and have the same folds: three parts train, one validates, one tests. The
synthetic log has one fold of 1,000 training, 500 validation and 10,000 test queries.

Equal tuning: T settings of the trees are drawn once for each data set from a seed, and given to every candidate under
the names of its engine (`settings`); the first is the engine's defaults, or for gradient steps on LightGBM those of
`lambdaboost.lightgbm.train`. A training stops after 20 rounds without a higher NDCG@3 of the validation part, or after
200. Of the T trainings of a fold the one with the highest NDCG@3 of the validation part is chosen, the earlier of two
equals. Only chosen trainings are tested: once as they are, and once refitted on training and validation part, with the
rounds in proportion to the documents. Draws are nested: the first T' of T are those of a run with T'.

Rows that choose the objective too: T trainings dealt out to all candidates in turn (each one's defaults, then each
one's first draw, …), of which the best is chosen, or by the one-standard-error rule the first candidate in the order of
the table whose best is within a standard error, over validation queries, of the paired difference to the best.

With ``--tune``, `lambdaboost.tune` has T trainings of each fold too, with the same rounds and patience; queries of the
validation part that equal a training one under another name are left out of its validation, since it refuses them.

Figures: NDCG@1, @3 and @10 per test query, folds joined, data sets pooled, every query counting once; the synthetic
log apart. Tests: paired t-tests against LightGBM's lambdarank, Holm's correction within a table. A recipe is compared
with what it is made from, at NDCG@3, and is worth a public name only if its difference is significant after Holm's
correction for all recipes. Regret: the highest NDCG@3 of any candidate on a set less that of the row, mean over sets.
The highest is picked by the same test figures, so every regret is a little too high.
"""
