"""The net's loss: any objective of lambdaboost through PyTorch's backward pass, as in the 2005 and 2006 papers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lambdaboost import NDCG, Queries
from lambdaboost.evaluation import Measure
from lambdaboost.objectives import Objective


@dataclass(frozen=True)
class Loss:
    r"""An objective as a loss, whose backward pass returns :math:`\partial C/\partial s_i = -\lambda_i` (2006, eq. 3).

    ``loss(scores, queries)`` is a scalar whose gradient in the scores, (n_documents,) or (n_documents, 1), is
    ``objective.gradient(scores, queries)[0]``. λ is the gradient of an implicit cost, which need not exist (2006,
    section 4), so the value shown is one minus a measure. Curvatures are not used.
    """

    objective: Objective
    measure: Measure = NDCG()  # noqa: RUF009

    def __call__(self, scores: torch.Tensor, queries: Queries) -> torch.Tensor:
        """One minus the measure, a scalar tensor like `scores`, with −λ as its gradient."""
        value: torch.Tensor = _WithLambda.apply(scores, self, queries)
        return value


class _WithLambda(torch.autograd.Function):
    """The measure forward, −λ backward."""

    @staticmethod
    def forward(ctx: Any, scores: torch.Tensor, loss: Loss, queries: Queries) -> torch.Tensor:
        s = scores.detach().double().numpy().ravel()
        if ctx.needs_input_grad[0]:
            grad, _ = loss.objective.gradient(s, queries)
            ctx.save_for_backward(torch.from_numpy(grad).to(scores).reshape(scores.shape))
        return scores.new_tensor(1 - loss.measure(s, queries))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, upstream: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        return upstream * ctx.saved_tensors[0], None, None


def query_batches(queries: Queries) -> list[tuple[NDArray[np.int64], Queries]]:
    """Each query alone, with its rows: the paper updates after each. They cache what depends on the labels only."""
    return [(queries.rows_of([at]), queries.take([at])) for at in range(queries.n_queries)]
