"""What stock LightGBM and XGBoost reveal to an objective or measure that they call; neither engine is imported.

Everything undocumented that lambdaboost uses of an engine is in two files: here what can be read without importing it,
the rest in ``lambdaboost/lightgbm/_private.py`` or ``lambdaboost/xgboost/_private.py``.
"""
