"""What stock LightGBM and XGBoost reveal to an objective or measure that they call; neither engine is imported.

What lambdaboost uses undocumented stands in two files an engine: here what can be read without importing it, and in
``lambdaboost/lightgbm/_private.py`` and ``lambdaboost/xgboost/_private.py`` the rest.
"""
