"""What LightGBM, XGBoost and Dask share: plans, leaves, rounds, folds, warnings, saving."""
