"""What LightGBM, XGBoost and Dask share: plans, leaves, rounds, folds, checkpoints, progress, warnings, saving."""
