"""Rankers of several goals: the front of two label sources, and a promise about the first.

The protocol, settled before any result was seen:

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
above count in the comparison; and MO-LightGBM, if its executable is given: its methods with its own recipe of five
preferences or bounds between the costs of its two single-goal models. MO-LightGBM takes whole grades only, so the
second labels are rounded to 26 levels with the gains of CNDCG; a missing one counts as the lowest level. It takes
minutes where lists are long or queries many, so it has the first seed alone, and is compared on that.

Measures. NDCG@10 of the grades and CNDCG@10 of the second source, over test queries where both are defined. The
hypervolume is counted from the worse of the two single-goal models in each measure, in squared points (100 × NDCG), on
the mean measures of a seed, and averaged over the seeds. Its intervals resample queries. The promise holds where the
primary measure is at least that of the single-goal model less the tolerance: on validation and test queries, by fold
and seed, and pooled over the folds of a seed. p-values are paired t-tests over queries: a query of a real set is
tested once for each seed, and its values are averaged over the seeds; the synthetic logs are put together. A one-sided
test shows more than a promise that held: that the loss is below the tolerance. The ring in a picture is chosen on the
validation queries: the highest second measure without a significant loss of the first.

The promise with proof (`--parts sequence`), settled before any of its results. 20 splits of each data set: 20 logs, and
of the real sets four seeds of the five test parts; training and validation queries are joined. The weighted sum at
the weights 0, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4 and 0.5 of the second goal is trained in cross-validation
over five folds of whole queries and tested in this order against a tolerance of 0.005 (`Kept`); cross-validation ends
with the first step that is not proven, since no later one can be chosen. The same trees and rounds as above. All ten
trade-offs and `Constrained` with the same tolerance are also trained on all queries of the split and measured on its
test part. The weights are those of λ as they are, not of λ scaled to one norm, because the plain weighted sum had the
largest hypervolume of the combiners above on most data sets. The true loss of a trade-off is the mean of its loss over
the splits' test parts, and a choice is beyond the tolerance if the true loss of its trade-off is: at most 5 % of all
choices may be. How many single test parts lose more is reported too; there chance alone is larger than the tolerance.
Beside the choice stand the fixed weight 0.3 and `Constrained`.

Whether `Constrained` stays: its second measure, less that of the front of the ten trade-offs at the same first measure
(linear between the trade-offs that no other beats on both; a first measure above all of them counts as the highest),
on means over the splits' test parts. It stays if this is above 0 significantly, by the 95 % interval over 1,000
resamples of the test queries, on at least two data sets. The two logs have the same queries and differ in the clicks;
they count as two.
"""
