"""What a swap of two documents is worth in each measure, |ΔZ|: one measure a file, which registers itself."""

from lambdaboost.objectives.swaps import dcg, map, mrr, err, pair_accuracy  # noqa: F401, I001
