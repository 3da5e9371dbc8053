"""`lambdaboost.torch`: λ through PyTorch's own backward pass; nets on the artificial data of the 2006 paper."""

import copy
import pickle
import subprocess
import sys

import drawn
import naive
import numpy as np
import pytest

from lambdaboost import (
    CNDCG,
    MAP,
    NDCG,
    ClickTier,
    GradientStep,
    LambdaRank,
    ListNet,
    PairAccuracy,
    Queries,
    RankNet,
    SigmoidLocal,
    iteration_dependent,
)
from lambdaboost import torch as ours
from lambdaboost.datasets import cubic_polynomial

torch = pytest.importorskip("torch")
Loss, query_batches = ours.Loss, ours.query_batches


def a_net(features, hidden=None):
    torch.manual_seed(0)
    if hidden is None:
        return torch.nn.Linear(features, 1)
    return torch.nn.Sequential(torch.nn.Linear(features, hidden), torch.nn.Tanh(), torch.nn.Linear(hidden, 1))


@pytest.mark.parametrize(
    "objective",
    [
        RankNet(),
        LambdaRank(),
        LambdaRank(MAP()),
        SigmoidLocal(),
        ClickTier(),
        ListNet(),
        iteration_dependent(),
    ],
    ids=repr,
)
def test_the_gradient_is_minus_lambda(objective):
    s, q = drawn.make(0, [12, 30, 1])
    scores = torch.tensor(s, requires_grad=True)
    loss = Loss(objective)(scores, q, iteration=7)
    assert loss.shape == ()
    assert loss.dtype == torch.float64
    loss.backward()
    np.testing.assert_array_equal(scores.grad, objective.gradient(s, q, 7)[0])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_scores_of_every_floating_type_and_both_shapes(dtype):
    s, q = drawn.make(1, [12, 30])
    column = torch.tensor(s, dtype=dtype).reshape(-1, 1).requires_grad_()
    loss = 2 * Loss(LambdaRank())(column, q)
    loss.backward()
    assert column.grad.shape == (42, 1)
    assert column.grad.dtype == loss.dtype == dtype
    expected, _ = LambdaRank().gradient(column.detach().double().numpy()[:, 0], q)
    np.testing.assert_allclose(column.grad.double().numpy()[:, 0], 2 * expected, rtol=0.02, atol=1e-6)


def test_the_value_is_what_the_measure_lacks():
    s, q = drawn.make(2, [12, 30])
    scores = torch.tensor(s)
    assert Loss(ListNet())(scores, q).item() == pytest.approx(1 - NDCG()(s, q))
    assert Loss(RankNet())(scores, q).item() == pytest.approx(1 - PairAccuracy()(s, q))
    assert Loss(GradientStep(LambdaRank(MAP())))(scores, q).item() == pytest.approx(1 - MAP()(s, q))
    assert Loss(LambdaRank(MAP()))(scores, q).item() == pytest.approx(1 - MAP()(s, q))
    assert Loss(RankNet(), NDCG(3))(scores, q).item() == pytest.approx(1 - NDCG(3)(s, q))
    assert Loss(ClickTier())(scores, q).item() == pytest.approx(1 - CNDCG()(s, q))
    assert not Loss(RankNet())(scores, q).requires_grad


def test_the_factored_gradient_is_that_of_all_pairs():
    """2006, eqs. 6 and 7: λ handed to one backward pass a document gives what the cost of all pairs gives."""
    X, q = cubic_polynomial(queries=2, documents=9, features=4, seed=3)
    x, pairs = torch.from_numpy(X), naive.graded_pairs(q.relevance[:9])
    pairs += [(i + 9, j + 9) for i, j in naive.graded_pairs(q.relevance[9:])]
    i, j = torch.tensor(pairs).T
    net = a_net(4, 10)
    Loss(RankNet())(net(x), q).backward()
    factored = [p.grad.clone() for p in net.parameters()]
    net.zero_grad()
    torch.nn.functional.softplus(net(x[j]) - net(x[i])).sum().backward()
    for one, p in zip(factored, net.parameters(), strict=True):
        np.testing.assert_allclose(one, p.grad, rtol=1e-4, atol=1e-5)


def test_weights_of_queries_weigh():
    q = Queries([1, 0, 1, 0], sizes=[2, 2], weight=[3.0, 0.0])
    scores = torch.zeros(4, requires_grad=True)
    Loss(RankNet())(scores, q).backward()
    np.testing.assert_allclose(scores.grad, [-1.5, 1.5, 0, 0])


def test_a_second_derivative_is_refused():
    s, q = drawn.make(3, [12])
    scores = torch.tensor(s, requires_grad=True)
    (grad,) = torch.autograd.grad(Loss(LambdaRank())(scores, q), scores, create_graph=True)
    with pytest.raises(
        RuntimeError, match=r"cannot be differentiated twice: λ .* leave out create_graph=True"
    ):
        grad.sum().backward()


def test_every_device():
    s, q = drawn.make(4, [12])
    devices = ["cpu"]
    devices += ["cuda"] if torch.cuda.is_available() else []
    devices += ["mps"] if torch.backends.mps.is_available() else []
    for device in devices:
        scores = torch.tensor(s, dtype=torch.float32, device=device, requires_grad=True)
        loss = Loss(LambdaRank())(scores, q)
        loss.backward()
        assert loss.device.type == scores.grad.device.type == device
        expected, _ = LambdaRank().gradient(s.astype(np.float32), q)
        np.testing.assert_array_equal(scores.grad.cpu(), expected)


def test_a_loss_is_a_value():
    loss = Loss(LambdaRank(NDCG(k=3)), MAP())
    assert repr(loss) == "Loss(objective=LambdaRank(metric=NDCG(k=3)), measure=MAP())"
    assert loss == pickle.loads(pickle.dumps(loss)) == copy.deepcopy(loss)


def test_batches_hold_every_query_once():
    _, q = drawn.make(5, [3, 1, 4, 2, 5])
    batches = query_batches(q, 2, seed=1)
    assert [batch.n_queries for _, batch in batches] == [2, 2, 1]
    assert sorted(np.concatenate([rows for rows, _ in batches])) == list(range(15))
    for rows, batch in batches:
        np.testing.assert_array_equal(batch.labels["clicks"], q.labels["clicks"][rows])
        np.testing.assert_array_equal(
            batch.query_of_row[1:] != batch.query_of_row[:-1], np.diff(q.query_of_row[rows]) != 0
        )
    assert [rows.tolist() for rows, _ in query_batches(q, 2, seed=1)] == [
        rows.tolist() for rows, _ in batches
    ]
    assert [rows[0] for rows, _ in query_batches(q)] == q.offsets[:-1].tolist()
    assert len(query_batches(q, 99)) == 1


@pytest.mark.parametrize("hidden", [None, 10], ids=["one layer", "two layers"])
@pytest.mark.parametrize(("objective", "rate"), [(RankNet(), 0.003), (LambdaRank(), 0.3)], ids=repr)
def test_nets_learn_the_cubic_polynomial(objective, rate, hidden):
    X, q = cubic_polynomial(queries=150, documents=30, features=10, seed=1)
    train, test = q.take(range(100)), q.take(range(100, 150))
    net, loss = a_net(10, hidden), Loss(objective)
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    batches = query_batches(train, seed=0)
    for _ in range(5):
        for rows, queries in batches:
            optimizer.zero_grad()
            loss(net(torch.from_numpy(X[rows])), queries).backward()
            optimizer.step()
    with torch.no_grad():
        scores = net(torch.from_numpy(X[3000:])).numpy()[:, 0]
    random = np.random.default_rng(0).random(scores.size)
    # A linear model reaches about 0.66 at @10, a random order 0.4.
    assert NDCG(10)(scores, test) > NDCG(10)(random, test) + 0.15


def test_importing_it_imports_no_torch():
    code = "import sys, lambdaboost.torch\nassert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_wrong_input():
    _, q = drawn.make(6, [3])
    with pytest.raises(TypeError, match="objective is 'LambdaRank', expected an objective"):
        Loss("LambdaRank")
    with pytest.raises(TypeError, match="measure is 'NDCG', expected a measure"):
        Loss(LambdaRank(), "NDCG")
    loss = Loss(LambdaRank())
    with pytest.raises(TypeError, match=r"scores is float64, expected a floating torch\.Tensor"):
        loss(np.zeros(3), q)
    with pytest.raises(TypeError, match=r"scores is torch\.int64, expected a floating torch.Tensor"):
        loss(torch.zeros(3, dtype=torch.int64), q)
    with pytest.raises(TypeError, match="queries is list, expected"):
        loss(torch.zeros(3), [3])
    with pytest.raises(ValueError, match=r"scores has shape \(4,\), expected \(3,\) or \(3, 1\)"):
        loss(torch.zeros(4), q)
    with pytest.raises(ValueError, match=r"scores\[1\] is nan: every score must be finite"):
        loss(torch.tensor([0.0, float("nan"), 0.0]), q)
    with pytest.raises(ValueError, match="iteration is -1"):
        loss(torch.zeros(3, requires_grad=True), q, iteration=-1)
    with pytest.raises(ValueError, match="no label source 'other'"):
        Loss(ClickTier(source="other", metric=CNDCG(source="other")))(torch.zeros(3, requires_grad=True), q)
    with pytest.raises(TypeError, match="queries is list, expected"):
        query_batches([3])
    with pytest.raises(ValueError, match="queries_per_batch is 0: give a whole number ≥ 1"):
        query_batches(q, 0)
    with pytest.raises(TypeError, match="seed is 'a': give a whole number"):
        query_batches(q, seed="a")
