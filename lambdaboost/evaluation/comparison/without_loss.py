"""`best_without_loss`: the system that raises one measure most and loses nothing significant on another."""

from __future__ import annotations

from lambdaboost.evaluation.comparison.compare import Comparison
from lambdaboost.evaluation.measure import Measure


def best_without_loss(comparison: Comparison, primary: Measure, raised: Measure) -> str:
    """The system with the highest mean of `raised` among those that are not significantly worse in `primary`.

    The baseline is among them. Significance is that of the comparison, after its correction; no significant loss does
    not show that nothing is lost.

    Parameters
    ----------
    comparison : Comparison
        Of the systems with the one whose primary measure is to be kept.
    primary, raised : Measure
        Two of its measures.

    Returns
    -------
    str
        The name of the system.

    Raises
    ------
    KeyError
        If a measure was not compared.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> from lambdaboost.evaluation import MRR, NDCG, System, compare
    >>> q = Queries([1, 0, 1, 0], sizes=[2, 2])
    >>> found = compare(System("a", [1, 0, 0, 1], q), System("b", [1, 0, 1, 0], q), measures=(NDCG(1), MRR()))
    >>> best_without_loss(found, NDCG(1), MRR())
    'b'

    """
    first = comparison.systems[0]
    means = {comparison.baseline: comparison[first, raised].mean_before}
    for system in comparison.systems:
        if not comparison.significance[system, primary].is_worse:
            means[system] = comparison[system, raised].mean_after
    return max(means, key=means.__getitem__)
