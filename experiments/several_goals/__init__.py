"""Rankers of several goals: the front of two label sources.

Data. A synthetic search log (`web_search_log`, its two click models): 1,000 training, 1,000 validation and 4,000 test
queries, another log for each seed. Real sets: five folds of random queries, three parts train, one validates, one
tests, other folds for each seed. Three seeds. Documents are shuffled inside each query.

Training. LightGBM, one thread, 50 rounds, learning rate 0.1, 15 leaves, the engine's other defaults; nothing is tuned
and nothing stops early: every method has the same rounds and trees, `Constrained` trains a second model, its reference,
and preferences as features have four copies of the data. The first goal is `LambdaRank` of NDCG@10 of the
grades, the second `LambdaRank` of CNDCG@10 of the other labels: what is trained, kept and measured is the same.

Methods. Either goal alone; the weighted sum and every combiner at the weights 0.1, 0.3, 0.5, 0.7 and 0.9 of the second
goal; `MinNorm`, which takes no weights; `Constrained` with tolerances 0.005 and 0.01; one model with preferences as
features, trained on four copies of the data with different draws, read off at nine preferences, of which the five
above count in the comparison.

Measures. NDCG@10 of the grades and CNDCG@10 of the second source, over test queries where both are defined. The
hypervolume is counted from the worse of the two single-goal models in each measure, in squared points (100 × NDCG), on
the mean measures of a seed, and averaged over the seeds. Its intervals resample queries. p-values are paired t-tests
over queries: a query of a real set is tested once for each seed, and its values are averaged over the seeds; the
synthetic logs are put together.
"""
