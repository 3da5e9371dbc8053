"""How stock LightGBM and XGBoost call an objective: which booster asks, in which round, with which parameters."""
