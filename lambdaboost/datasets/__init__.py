"""Floor 1: documents grouped by query, with every label source; loaders and generators.

Imports nothing of ours.
"""

if __name__ != "lambdaboost.datasets":
    raise ImportError("import lambdaboost.datasets, not the folder 'datasets': numba would cache its kernels twice")

from lambdaboost.datasets.queries import Queries

__all__ = ["Queries"]
