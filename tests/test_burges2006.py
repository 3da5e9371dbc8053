"""`experiments.burges2006` at tiny sizes: the loss and the timed loops compute the gradient."""

import drawn
import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from experiments.burges2006 import loops
from experiments.burges2006.loss import Loss
from experiments.burges2006.nets import torch_net
from experiments.common.cubic import cubic_polynomial
from lambdaboost import NDCG, ClickTier, LambdaRank, RankNet, SigmoidLocal

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("objective", [RankNet(), LambdaRank(), SigmoidLocal(), ClickTier()], ids=repr)
def test_the_gradient_of_the_loss_is_minus_lambda(objective):
    s, q = drawn.make(0, [12, 30, 1])
    expected, _ = objective.gradient(s, q)
    scores = torch.tensor(s[:, None], requires_grad=True)
    loss = 2 * Loss(objective, NDCG(3))(scores, q)
    loss.backward()
    assert loss.shape == () and loss.item() == pytest.approx(2 - 2 * NDCG(3)(s, q))
    np.testing.assert_array_equal(scores.grad[:, 0], 2 * expected)


@pytest.mark.parametrize("hidden", [0, 10])
def test_loops_compute_the_gradient_of_the_net_in_pytorch(hidden):
    x, q = cubic_polynomial(queries=1, documents=9, features=4, seed=2)
    net = loops.a_net(4, hidden, seed=1)
    twin = torch_net(4, hidden, seed=0)
    layers = [twin] if hidden == 0 else [twin[0], twin[2]]
    with torch.no_grad():
        layers[-1].weight.copy_(torch.from_numpy(net.last))
        layers[-1].bias.zero_()
        if hidden:
            layers[0].weight.copy_(torch.from_numpy(net.hidden))
            layers[0].bias.copy_(torch.from_numpy(net.bias))
    i, j = map(torch.from_numpy, np.nonzero(q.relevance[:, None] > q.relevance))
    s = twin(torch.from_numpy(x))
    torch.nn.functional.softplus(s[j] - s[i]).sum().backward()

    slopes = loops.nothing(net)._replace(last=layers[-1].weight.grad[0].numpy())
    if hidden:
        slopes = slopes._replace(hidden=layers[0].weight.grad.numpy(), bias=layers[0].bias.grad.numpy())

    # An epoch over one query is a step against that gradient, both ways.
    for epoch in (loops.pairwise_epoch, loops.factored_epoch):
        moved = loops.Net(*(part.copy() for part in net))
        epoch(q.offsets, x, q.relevance, np.float32(0.5), moved, loops.nothing(net))
        for after, before, slope in zip(moved, net, slopes, strict=True):
            np.testing.assert_allclose(after, before - 0.5 * slope, rtol=1e-4, atol=1e-5)
