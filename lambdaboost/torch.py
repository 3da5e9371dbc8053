"""Nets: any objective as a loss on the scores of a PyTorch module (extra ``torch``).

The net and the optimiser are yours; λ come from the same objectives that train trees. The 2005 and 2006 papers train in
this way: λ of each document of a query, then one backward pass. PyTorch is imported at the first call, not with this
module.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_whole
from lambdaboost._value import Value
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.objectives import Objective
from lambdaboost.objectives.base.objective import check_objective

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Loss", "query_batches"]


class Loss(Value):
    r"""An objective as a loss, whose backward pass returns :math:`\partial C/\partial s_i = -\lambda_i` (2006, eq. 3).

    ``loss(scores, queries)`` is a scalar whose gradient in the scores is ``objective.gradient(scores, queries)[0]``,
    summed over the queries of the batch, weights included. λ is the gradient of an implicit cost, which need not exist
    (2006, section 4), so the value shown is one minus a measure. Curvatures are not used, so an objective whose
    curvature changes sign needs no `GradientStep` here.

    Scores may be on any device and of any floating type: λ is computed on the CPU and copied to the device of the
    scores. Second derivatives raise an error.

    Parameters
    ----------
    objective : Objective
        The objective that computes λ.
    measure : Measure, optional
        The measure of the value; by default the objective's own measure, or NDCG() if it has none.

    """

    objective: Objective
    measure: Measure | None = None

    def __post_init__(self) -> None:
        check_objective("objective", self.objective)
        if self.measure is not None and not isinstance(self.measure, Measure):
            raise TypeError(f"measure is {self.measure!r}, expected a measure such as NDCG(k=10)")

    def __call__(self, scores: Tensor, queries: Queries, iteration: int = 0) -> Tensor:
        """One minus the measure, a scalar tensor like `scores`, with −λ as its gradient.

        Parameters
        ----------
        scores : floating tensor of shape (n_documents,) or (n_documents, 1)
            The module's scores of the documents of `queries`, in their order, finite.
        queries : Queries
            The documents' queries and labels.
        iteration : int
            The round for objectives with a schedule, such as the epoch; from 0.

        Raises
        ------
        TypeError, ValueError
            If `scores` is not a floating tensor, has another shape, or is not finite.

        """
        import torch

        if not isinstance(scores, torch.Tensor) or not scores.is_floating_point():
            raise TypeError(
                f"scores is {getattr(scores, 'dtype', type(scores).__name__)}, expected a floating torch.Tensor that a "
                "module returns"
            )
        if not isinstance(queries, Queries):
            raise TypeError(
                f"queries is {type(queries).__name__}, expected lambdaboost.Queries, as query_batches returns them"
            )
        n = queries.n_documents
        if tuple(scores.shape) not in ((n,), (n, 1)):
            raise ValueError(
                f"scores has shape {tuple(scores.shape)}, expected ({n},) or ({n}, 1): "
                "one score per document of `queries`"
            )
        return _functions()[0].apply(scores, self, queries, iteration)

    def _shown(self) -> Measure:
        if self.measure is not None:
            return self.measure
        try:
            return self.objective.measure
        except TypeError:  # it raises no single measure
            return NDCG()


def query_batches(
    queries: Queries, queries_per_batch: int = 1, seed: int | None = None
) -> list[tuple[NDArray[np.int64], Queries]]:
    """Split the queries into batches of whole queries.

    Create the list once and iterate over it in every epoch: batches cache what depends on the labels only.

    Parameters
    ----------
    queries : Queries
        All queries.
    queries_per_batch : int
        Number of queries in each batch except the last; 1 is the paper's update after each query.
    seed : int, optional
        Seed of a random order of the queries; by default they keep their order.

    Returns
    -------
    list of (rows, Queries)
        The rows of each batch, int64, to index features; and its queries with labels and weights.

    Examples
    --------
    >>> [(rows.tolist(), batch) for rows, batch in query_batches(Queries([1, 0, 2, 0, 1], sizes=[2, 2, 1]), 2)]
    [([0, 1, 2, 3], Queries(4 documents in 2 queries; relevance)), ([4], Queries(1 documents in 1 queries; relevance))]

    """
    if not isinstance(queries, Queries):
        raise TypeError(
            f"queries is {type(queries).__name__}, expected lambdaboost.Queries(relevance, sizes=…)"
        )
    step = check_whole("queries_per_batch", queries_per_batch)
    order = np.arange(queries.n_queries)
    if seed is not None:
        np.random.default_rng(check_whole("seed", seed, least=0)).shuffle(order)
    parts = [order[first : first + step] for first in range(0, order.size, step)]
    return [(queries.rows_of(part), queries.take(part)) for part in parts]


@cache
def _functions() -> tuple[Any, Any]:
    """The autograd functions; PyTorch is imported here."""
    import torch
    from torch.autograd import Function

    class WithLambda(Function):
        """The measure forward, −λ backward."""

        @staticmethod
        def forward(ctx: Any, scores: Tensor, loss: Loss, queries: Queries, iteration: int) -> Tensor:
            s = scores.detach().cpu().to(torch.float64).numpy().reshape(-1)
            if ctx.needs_input_grad[0]:
                grad, _ = loss.objective.gradient(s, queries, iteration)
                ctx.save_for_backward(scores, torch.from_numpy(grad).to(scores).reshape(scores.shape))
            return torch.tensor(1 - loss._shown()(s, queries), dtype=scores.dtype, device=scores.device)

        @staticmethod
        def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None, None]:
            return Once.apply(upstream, *ctx.saved_tensors), None, None, None

    class Once(Function):
        """The gradient itself, which cannot be differentiated again."""

        @staticmethod
        def forward(ctx: Any, upstream: Tensor, scores: Tensor, grad: Tensor) -> Tensor:
            return upstream * grad

        @staticmethod
        def backward(ctx: Any, upstream: Tensor) -> tuple[None, None, None]:
            raise RuntimeError(
                "lambdaboost.torch.Loss cannot be differentiated twice: λ has no derivative; "
                "leave out create_graph=True, or detach what the second derivative is taken of"
            )

    return WithLambda, Once
