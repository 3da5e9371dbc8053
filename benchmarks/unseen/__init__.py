"""`lambdaboost.tune` on data that none of its defaults was chosen by: `python -m benchmarks.unseen --help`.

Protocol, settled before any test figure was seen
-------------------------------------------------
Sets: five that had no part in choosing any default of lambdaboost.

- `abstracts`: 225 questions, 42 abstracts each (Cranfield; those judged, and 40 by BM25), grades 0 to 4
- `cars`: 1,080 Formula 1 races, 24 starters each; grades 4 for the winner, 3 for places 2 and 3, 2 to 6, 1 to 10
- `films`: 940 users of MovieLens 100K, 24 films each; grades are stars less one
- `horses`: 1,561 Hong Kong races, 13 horses each, without odds; grades 4 to 1 for the first four
- `jokes`: 744 users of Jester, 19 jokes each; five grades (its files are not to be had any more)

Features are of what is known before: earlier races, the half of all users' ratings that is not ranked, and the texts.
Queries of fewer than five documents, or of one grade, are left out.

Seeds 0 to 4, each with its own split of the queries, order of rows, folds, and seed of the engine. Two thirds of the
queries are seen, but at most 250; all others are tested.

Rows: `tune(seen)`, all at its defaults, on one worker. Each fixed objective with the engine's own parameters, and
`YetiLoss()` with LightGBM's, by `cross_validate` over the same folds, which gives it a number of rounds, and trained
again on all that is seen.

Figures: NDCG@10 and NDCG@3 of the test queries. A query that several seeds test has the mean of its values, and counts
once. Regret: the highest mean of any row on a set less the row's, every set counting alike. Comparison: paired t-test
over all queries of all sets, with Holm's correction.
"""
