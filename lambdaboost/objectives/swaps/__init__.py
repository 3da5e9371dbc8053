"""The change |ΔZ| of each measure when two documents swap: one measure per file, which registers itself."""

from lambdaboost.objectives.swaps import dcg, map, mrr, err, pair_accuracy, spearman  # noqa: F401, I001
