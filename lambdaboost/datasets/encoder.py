"""`Encoder`: what training data fix for all further data, the features in their order and the values of categories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

from lambdaboost._words import quote
from lambdaboost.datasets.collection import Categories, Collection, categorical_frame
from lambdaboost.datasets.columns import Columns, collect
from lambdaboost.datasets.table import (
    ColumnTypeError,
    Table,
    encode,
    open_table,
    plain_category,
)

UNSEEN = ("error", "missing")


@dataclass(frozen=True)
class Encoder:
    """The features of a training and the values of its categorical ones, whose places are their codes.

    A category is known by its text, so that 7, 7.0 and ``"7"`` are one, whatever the table's library or file.

    Parameters
    ----------
    columns : Columns
        Which columns hold the queries and labels.
    features : list of str
        The names of the features, in order; empty where the training had an array, whose columns have a place only.
    categories : dict of str to list
        The values of each categorical feature: texts, or numbers that the table's categorical type holds. pandas' type
        keeps its order, polars' and Arrow's without an order are sorted, so that their codes may differ.
    unseen : "error" or "missing"
        What a category is that training did not have; ``"missing"`` warns once, with counts.

    Examples
    --------
    >>> import pandas as pd
    >>> train = open_table(pd.DataFrame({"qid": [7, 7], "market": ["us", "de"], "price": [3.0, 4.0]}))
    >>> encoder = Encoder.fit(Columns(categorical=["market"]), train)
    >>> encoder.features, encoder.categories
    (('market', 'price'), {'market': ('de', 'us')})
    >>> encoder.transform(open_table(pd.DataFrame({"price": [5.0], "market": ["de"]})))
    array([[0., 5.]])

    """

    columns: Columns = field(default_factory=Columns)
    features: tuple[Any, ...] = ()
    categories: Categories = field(default_factory=dict)
    unseen: str = "error"

    def __post_init__(self) -> None:
        if self.unseen not in UNSEEN:
            raise ValueError(f"unseen is {self.unseen!r}: give 'error' or 'missing'")
        categories = {name: tuple(map(plain_category, values)) for name, values in self.categories.items()}
        object.__setattr__(self, "features", tuple(self.features))
        object.__setattr__(self, "categories", categories)

    @classmethod
    def fit(cls, columns: Columns, table: Table, unseen: str = "error") -> Self:
        """The encoder of training data.

        Raises
        ------
        TypeError, ValueError
            If columns lack, or one that should be categorical is no feature or holds numbers with fractions.

        """
        features = columns.features_of(table)
        return cls(columns, features, columns.categories_of(table, features), unseen)

    @classmethod
    def from_dict(cls, about: Mapping[str, Any]) -> Self:
        """The encoder of `to_dict`; what a later version may add is left out."""
        given = about.get("columns", {})
        known = {one.name for one in fields(Columns)} - {"features"}
        columns = Columns(**{name: value for name, value in given.items() if name in known})
        features, unseen = given.get("features") or (), given.get("unseen", "error")
        return cls(columns, features, about.get("categories", {}), unseen)

    def to_dict(self) -> dict[str, Any]:
        """The entries of the description of a model, as JSON holds them."""
        columns = asdict(self.columns) | {"features": None, "unseen": self.unseen}
        if self.features:
            columns["features"] = self.features
        entries: dict[str, Any] = {"columns": columns}
        if self.categories:
            entries["categories"] = {name: list(values) for name, values in self.categories.items()}
        return entries

    @property
    def text(self) -> tuple[str | None, ...]:
        """The columns that are text in CSV, also where they look like numbers."""
        return (*self.columns.text, *self.categories)

    def transform(self, table: Table) -> Any:
        """The features of a table, in the order of its rows; needs neither queries nor labels.

        Returns
        -------
        float32 or float64 array of shape (n_rows, n_features)
            Those of the training in its order, with the codes of its categories, NaN where missing; an array, or CSR
            matrix, as it is.

        """
        names = self.features or self.columns.features_of(table)
        if wrong := [one for one in table.categorical if one in names and one not in self.categories]:
            raise ColumnTypeError(
                f"{table.name} has categories in the column {quote(wrong[0])}, which held numbers in training: give "
                "numbers"
            )
        return encode(table, names, self.categories, self.unseen)

    def frame(self, features: Any) -> Any:
        """Features as an engine takes them: a pandas frame with names and categories; without names as they are."""
        if not self.features:
            return features
        return categorical_frame(features, self.features, self.categories)

    def read(
        self, data: Any, y: Any = None, *, name: str = "df", optional: bool = True, **arrays: Any
    ) -> Collection:
        """Further data, as `Columns.read`; where `optional`, columns that only label the documents may lack."""
        table = open_table(data, name, self.text)
        features = self.transform(table)  # which are refused before labels, as scikit-learn does
        labelled = self.columns.read_labels(table, y, optional=optional, **arrays)
        names, categories = self.features or self.columns.features_of(table), self.categories
        if not table.is_named:
            names, categories = (), {}
        return collect(features, labelled, names, categories)
