"""The portfolio that `lambdaboost.tune` begins with, and the check of it: `python -m benchmarks.portfolio --help`.

Protocol of the matrix and of the choice, settled before any test figure was seen
----------------------------------------------------------------------------------
Sets: five real ones, each of five parts with LETOR's five folds (as in `benchmarks.field`), and synthetic logs of 300,
1,000 and 10,000 queries × 20 documents with 2,000 test queries each; the logs of 300 and of 1,000 queries are drawn
twice, from seeds of their own. Queries without a relevant document are left out everywhere.

Settings (`settings`): twelve objectives with default trees, which for LightGBM are the engine's own; XGBoost's
objectives with XGBoost's own trees; six objectives with trees of 6 leaves; 30 draws, which deal out the objectives in
turn and draw learning rate, leaves (4 to 64), smallest leaf, L2, fractions of features and rows, an objective's own
numbers, and in one of three draws a depth no larger than the leaves need, which makes trees nearly balanced.

A run is a setting on a fold: a training on three of the four parts that are not tested (three quarters of a log), which
stops by NDCG@10 of the fourth after 30 rounds without a higher one, or after 300; and a training on all four, with the
rounds in proportion to the documents, which is tested.

The portfolio (`greedy`): the test means of each set are drawn towards what the setting gives on all sets, as far as
their differences are noise by the queries' own variance (random effects; the sets were weighted by their noise
after the figures of the first folds had been seen). From the shrunken means, settings are chosen one after the
other, each the one that most lowers the mean over sets of the regret of the best chosen one, as FLAML does (Wang et al.
2022, arXiv:2202.09927) without the shrinkage.

Check: for each set, a portfolio of the other sets (all logs are left out together), of which the setting with the
highest validation mean is taken on each fold; its unshrunken test mean, less the highest that any setting has on that
set. The best fixed setting of the other sets is measured in the same way. The highest is picked by the same test
figures, so every regret is too high, by the same amount in all rows.
"""
