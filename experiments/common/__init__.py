"""Code shared by the experiments: data sets, folds, workers, verdicts and reports."""
