"""Documents grouped by query, with every label source; loaders and generators.

The lowest layer: it imports no other package of lambdaboost.
"""

if __name__ != "lambdaboost.datasets":
    raise ImportError(
        "import lambdaboost.datasets, not the folder 'datasets': it would have second classes of every name"
    )

from lambdaboost.datasets.collection import Collection, click_rate
from lambdaboost.datasets.columns import Columns, Encoder
from lambdaboost.datasets.letor import read_letor, write_letor
from lambdaboost.datasets.queries import Queries
from lambdaboost.datasets.synthetic import web_search_log
from lambdaboost.datasets.table import open_table

__all__ = [
    "Collection",
    "Columns",
    "Encoder",
    "Queries",
    "click_rate",
    "open_table",
    "read_letor",
    "web_search_log",
    "write_letor",
]
