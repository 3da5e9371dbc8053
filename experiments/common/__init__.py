"""What the experiments share: data sets and folds, workers, verdicts, figures and the text of reports."""
