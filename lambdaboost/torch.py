"""Nets: any objective as a loss on the scores of a PyTorch module (extra ``torch``).

The net is yours and the optimiser PyTorch's; the λ-gradients come from the very objective that trains trees. This is
how the 2005 and 2006 papers train: λ of each document of a query, then one backward pass a document::

    import torch
    from lambdaboost import LambdaRank
    from lambdaboost.datasets import cubic_polynomial
    from lambdaboost.torch import Loss, query_batches

    X, q = cubic_polynomial(queries=60, documents=20, features=5)
    net = torch.nn.Sequential(torch.nn.Linear(5, 10), torch.nn.Tanh(), torch.nn.Linear(10, 1))
    optimizer, loss = torch.optim.Adam(net.parameters(), lr=0.01), Loss(LambdaRank())
    batches = query_batches(q, queries_per_batch=10, seed=0)
    for epoch in range(5):
        for rows, queries in batches:
            optimizer.zero_grad()
            loss(net(torch.from_numpy(X[rows])), queries, iteration=epoch).backward()
            optimizer.step()

PyTorch is imported at the first call, not with this module.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._value import Value
from lambdaboost.datasets import Queries
from lambdaboost.datasets._checks import check_count
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.objectives import Objective
from lambdaboost.objectives.base.objective import check_objective

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Loss", "query_batches"]


@dataclass(frozen=True, repr=False)
class Loss(Value):
    r"""An objective as a loss: the backward pass hands on :math:`\partial C/\partial s_i = -\lambda_i` (2006, eq. 3).

    ``loss(scores, queries)`` is a scalar whose gradient in the scores is ``objective.gradient(scores, queries)[0]``,
    summed over the queries of the batch, weights included. λ is the gradient of a cost that nobody needs to know, and
    which need not exist (2006, section 4), so the value is that of a measure instead: one less the measure, to watch
    fall. Curvatures are not used, so an objective whose curvature changes sign needs no `GradientStep` here.

    Scores may be on any device and of any floating type: λ is computed on the CPU and handed back to where the scores
    are. A second derivative is refused, since λ has none.

    Parameters
    ----------
    objective : Objective
        Whose λ it hands on.
    measure : Measure, optional
        What the value shows: without it the objective's own measure, or NDCG() where it has none.

    """

    objective: Objective
    measure: Measure | None = None

    def __post_init__(self) -> None:
        check_objective("objective", self.objective)
        if self.measure is not None and not isinstance(self.measure, Measure):
            raise TypeError(f"measure is {self.measure!r}, expected a measure such as NDCG(k=10)")

    def __call__(self, scores: Tensor, queries: Queries, iteration: int = 0) -> Tensor:
        """One less the measure, with −λ as its gradient.

        Parameters
        ----------
        scores : floating tensor of shape (n_documents,) or (n_documents, 1)
            The module's scores of the documents of `queries`, in their order, finite.
        queries : Queries
            The documents' queries and labels.
        iteration : int
            What an objective with a schedule takes for its round, such as the epoch; from 0.

        Returns
        -------
        scalar tensor of the type and on the device of `scores`

        Raises
        ------
        TypeError, ValueError
            For scores that are no floating tensor, of another shape, or not finite.

        """
        import torch

        if not isinstance(scores, torch.Tensor):
            raise TypeError(
                f"scores is {type(scores).__name__}, expected the torch.Tensor that a module gave"
            )
        if not scores.is_floating_point():
            raise TypeError(
                f"scores is of type {scores.dtype}, expected a floating type such as torch.float32"
            )
        if not isinstance(queries, Queries):
            raise TypeError(
                f"queries is {type(queries).__name__}, expected lambdaboost.Queries, as query_batches gives them"
            )
        n = queries.n_documents
        if tuple(scores.shape) not in ((n,), (n, 1)):
            raise ValueError(
                f"scores has shape {tuple(scores.shape)}, expected ({n},) or ({n}, 1): "
                "one score a document of `queries`"
            )
        return _functions()[0].apply(scores, self, queries, iteration)

    def _shown(self) -> Measure:
        own = getattr(self.objective, "metric", None)
        return self.measure or (own if isinstance(own, Measure) else NDCG())


def query_batches(
    queries: Queries, queries_per_batch: int = 1, seed: int | None = None
) -> list[tuple[NDArray[np.int64], Queries]]:
    """Part the queries into batches, each query whole.

    Make the list once and go through it every epoch: a batch keeps what its labels alone decide.

    Parameters
    ----------
    queries : Queries
        All queries.
    queries_per_batch : int
        Queries of each batch, the last one perhaps fewer; 1 is the paper's update after each query.
    seed : int, optional
        Draws the order of the queries; without it they stay as they are.

    Returns
    -------
    list of (rows, Queries)
        The rows of a batch, int64, to index features with; and its queries, labels and weights.

    Raises
    ------
    TypeError, ValueError
        Where `queries_per_batch` is not a whole number ≥ 1, or the seed not one ≥ 0.

    Examples
    --------
    >>> [(rows.tolist(), batch) for rows, batch in query_batches(Queries([1, 0, 2, 0, 1], sizes=[2, 2, 1]), 2)]
    [([0, 1, 2, 3], Queries(4 documents in 2 queries; relevance)), ([4], Queries(1 documents in 1 queries; relevance))]

    """
    if not isinstance(queries, Queries):
        raise TypeError(
            f"queries is {type(queries).__name__}, expected lambdaboost.Queries(relevance, sizes=…)"
        )
    step = check_count("queries_per_batch", queries_per_batch)
    order = np.arange(queries.n_queries)
    if seed is not None:
        np.random.default_rng(check_count("seed", seed, least=0)).shuffle(order)
    parts = [order[first : first + step] for first in range(0, order.size, step)]
    return [(queries.rows_of(part), queries.take(part)) for part in parts]


@cache
def _functions() -> tuple[Any, Any]:
    """The autograd functions, made once PyTorch is here."""
    import torch
    from torch.autograd import Function

    class Handed(Function):
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
                "lambdaboost.torch.Loss cannot be differentiated twice: λ is a gradient without a cost, and has no "
                "derivative; leave out create_graph=True, or detach what the second derivative is taken of"
            )

    return Handed, Once
