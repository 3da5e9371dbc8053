"""`explain`: why a model ranks one document above another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lambdaboost._checks import check_whole
from lambdaboost._words import counted, plain
from lambdaboost.datasets.table import Table, open_table
from lambdaboost.evaluation.charts import as_html, escape_label, value_text
from lambdaboost.saving import as_saved, known_encoder

SHOWN = 12  # bars of a plot
MAX_NAME = 40  # characters of a name there


@dataclass(frozen=True, eq=False)
class Explanation:
    """What each feature contributes to the difference of two documents' scores, the largest first.

    Attributes
    ----------
    frame : pandas.DataFrame
        A row for each feature: ``feature``, its values ``above`` and ``below`` as the model takes them, and its
        ``contribution``: the SHAP value in the first document's score less that in the second's. The contributions sum
        to the difference of the scores.
    above, below : int
        The rows of both documents.

    """

    frame: Any
    above: int
    below: int

    @property
    def difference(self) -> float:
        """The score of the first document less that of the second, before any transformation of the engine's own."""
        return float(self.frame["contribution"].sum())

    def plot(self, axes: Any = None) -> Any:
        """Draw a bar for each of the twelve largest contributions on matplotlib axes; return these."""
        if axes is None:
            import matplotlib.pyplot as plt

            axes = plt.subplots()[1]
        shown = self.frame.iloc[:SHOWN][::-1]
        colors = np.where(shown["contribution"] > 0, "#0072b2", "#d55e00")
        names = [escape_label(plain(name, MAX_NAME)) for name in shown["feature"]]
        axes.barh(range(len(names)), shown["contribution"], color=colors, tick_label=names)
        axes.axvline(0, color="#999999", linewidth=1)
        label = f"score of row {self.above} less that of row {self.below}: {self.difference:+.3g}"
        axes.set_xlabel(label, loc="right")  # below long names, which leave the axes narrow
        return axes

    def __repr__(self) -> str:
        return f"{self._table.to_string(index=False)}\n\n{self._caption}"

    def _repr_html_(self) -> str:
        return as_html(self.plot, self._table, self._caption)

    @property
    def _table(self) -> Any:
        """The frame with values as texts."""
        return self.frame.assign(**{name: self.frame[name].map(value_text) for name in ("above", "below")})

    @property
    def _caption(self) -> str:
        return f"The score of row {self.above} less that of row {self.below} is {self.difference:.4g}."


def explain(model: Any, rows: Any, *, above: int, below: int) -> Explanation:
    r"""Explain why a model ranks one document above another, by the difference of their SHAP values.

    With :math:`\phi_f(x)` the SHAP value of feature f in the score of document x, as the engine computes it (Lundberg
    et al. 2018), the contribution of f is :math:`\phi_f(x_\text{above}) - \phi_f(x_\text{below})`. The base cancels:
    :math:`\sum_f = s_\text{above} - s_\text{below}`.

    Parameters
    ----------
    model : LambdaRanker, SavedModel, lightgbm.Booster or xgboost.Booster
        A ranker, and what `load` returns, take their features from a frame by name; a booster takes the columns that it
        was trained on.
    rows : DataFrame, array or sparse matrix of shape (n_rows, n_features)
        Documents, such as those of one query: scores of different queries are not comparable.
    above, below : int
        The rows of the two documents, counted from 0, usually that with the higher score first.

    Raises
    ------
    TypeError, ValueError
        If `model` is no model of LightGBM or XGBoost, `rows` no table, or a row is not in it.

    Examples
    --------
    >>> import lightgbm as lgb
    >>> from lambdaboost import LambdaRank
    >>> X = np.arange(24.0).reshape(12, 2) % 7
    >>> params = {"objective": LambdaRank(), "min_data_in_leaf": 1, "verbose": -1}
    >>> booster = lgb.train(params, lgb.Dataset(X, [0, 1, 2, 0, 1, 2] * 2, group=[6, 6]), 5)
    >>> why = explain(booster, X, above=2, below=0)
    >>> scores = booster.predict(X)
    >>> bool(abs(why.difference - (scores[2] - scores[0])) < 1e-6)
    True

    """
    import pandas as pd

    saved = as_saved(model)
    if len(getattr(rows, "shape", ())) != 2 and not isinstance(rows, Table):
        raise TypeError(
            f"rows is of type {type(rows).__name__}: give a DataFrame or an array of shape (n_rows, n_features)"
        )
    table = open_table(rows, "rows", saved.encoder.text)
    for name, row in {"above": above, "below": below}.items():
        check_whole(name, row, 0)
        if row >= len(table):
            raise ValueError(f"{name} is {row}, but rows has {len(table)} rows, counted from 0")
    # Two rows are enough, but categories of a frame are those of all its rows.
    features = rows
    if known_encoder(model) is not None:
        features, encoder = saved.features(table)
        features = encoder.frame(features)
    two = [above, below]
    taken = features.iloc[two] if hasattr(features, "iloc") else features[two]
    # XGBoost counts the columns of a frame only where the booster has names, and fails on others without a word.
    if taken.shape[1] != (width := len(saved.engine.feature_names(saved.booster))):
        raise ValueError(
            f"rows has {counted(taken.shape[1], 'column')}, and the model {width} features: give these alone"
        )
    contributions = saved.engine.contributions(saved.booster, taken, missing=saved.missing)
    if hasattr(taken, "toarray"):  # sparse, which the engine had to see as it is
        taken = taken.toarray()

    # LightGBM's own names have underscores for blanks, or are Column_0 where it was given an array.
    names = getattr(taken, "columns", saved.engine.feature_names(saved.booster))
    shown = pd.DataFrame(taken).astype(object)
    frame = pd.DataFrame({"feature": names, "above": shown.iloc[0].tolist(), "below": shown.iloc[1].tolist()})
    frame["contribution"] = (contributions[0] - contributions[1])[: len(names)]
    largest = np.argsort(-np.abs(frame["contribution"].to_numpy()), kind="stable")
    return Explanation(frame.iloc[largest].reset_index(drop=True), above, below)
