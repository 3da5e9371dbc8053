"""`experiments.burges2006` at tiny sizes: the timed loops compute the gradient, nets are trained, all is written."""

from dataclasses import replace

import drawn
import naive
import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

import torch

import experiments.burges2006.__main__ as command
from experiments.burges2006 import loops
from experiments.burges2006.loss import Loss, query_batches
from experiments.burges2006.nets import SYSTEMS, prepared, torch_net, train
from experiments.burges2006.speed import NEAR_LINEAR, QUICK, measure_speed
from experiments.common.cubic import cubic_polynomial
from lambdaboost import NDCG, ClickTier, LambdaRank, Queries, RankNet, SigmoidLocal
from lambdaboost.datasets import write_letor

pytestmark = pytest.mark.slow

TINY = replace(
    QUICK,
    shapes=((2, 6), (1, 12)),
    features=5,
    pair_lists=(10, 20),
    factored_lists=(20, 40),
    near_linear_lists=(30, 60),
)


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    monkeypatch.setattr(command, "QUICK", TINY)
    monkeypatch.setattr(command, "use", lambda threads: None)
    monkeypatch.setattr(torch, "set_num_threads", lambda threads: None)


@pytest.mark.parametrize("objective", [RankNet(), LambdaRank(), SigmoidLocal(), ClickTier()], ids=repr)
def test_the_gradient_of_the_loss_is_minus_lambda(objective):
    s, q = drawn.make(0, [12, 30, 1])
    expected, _ = objective.gradient(s, q)
    scores = torch.tensor(s[:, None], requires_grad=True)
    loss = 2 * Loss(objective, NDCG(3))(scores, q)
    loss.backward()
    assert loss.shape == () and loss.item() == pytest.approx(2 - 2 * NDCG(3)(s, q))
    np.testing.assert_array_equal(scores.grad[:, 0], 2 * expected)


def test_the_factored_gradient_is_that_of_all_pairs():
    """2006, eqs. 6 and 7: λ handed to one backward pass a document gives what the cost of all pairs gives."""
    X, q = cubic_polynomial(queries=2, documents=9, features=4, seed=3)
    x, pairs = torch.from_numpy(X), naive.graded_pairs(q.relevance[:9])
    pairs += [(i + 9, j + 9) for i, j in naive.graded_pairs(q.relevance[9:])]
    i, j = torch.tensor(pairs).T
    net = torch_net(4, 10, seed=0)
    Loss(RankNet())(net(x), q).backward()
    factored = [p.grad.clone() for p in net.parameters()]
    net.zero_grad()
    torch.nn.functional.softplus(net(x[j]) - net(x[i])).sum().backward()
    for one, p in zip(factored, net.parameters(), strict=True):
        np.testing.assert_allclose(one, p.grad, rtol=1e-4, atol=1e-5)


def test_batches_hold_every_query_once():
    _, q = drawn.make(5, [3, 1, 4])
    batches = query_batches(q)
    assert [rows.tolist() for rows, _ in batches] == [[0, 1, 2], [3], [4, 5, 6, 7]]
    for rows, one in batches:
        np.testing.assert_array_equal(one.labels["clicks"], q.labels["clicks"][rows])


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

    scores = np.empty(9, np.float32)
    loops.all_forward(x, net, scores)
    np.testing.assert_allclose(scores, s.detach()[:, 0], rtol=1e-5, atol=1e-6)
    listed = loops.nothing(net)
    loops.all_backward(x, RankNet().gradient(scores, q)[0], net, listed)
    np.testing.assert_allclose(listed.last, layers[-1].weight.grad[0], rtol=1e-4, atol=1e-5)
    if hidden:
        np.testing.assert_allclose(listed.hidden, layers[0].weight.grad, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(listed.bias, layers[0].bias.grad, rtol=1e-4, atol=1e-5)

    # An epoch over one query is a step against that gradient, both ways.
    for epoch in (loops.pairwise_epoch, loops.factored_epoch):
        moved = loops.Net(*(part.copy() for part in net))
        epoch(q.offsets, x, q.relevance, np.float32(0.5), moved, loops.nothing(net))
        for after, before, slope in zip(moved, net, listed, strict=True):
            np.testing.assert_allclose(after, before - 0.5 * slope, rtol=1e-4, atol=1e-5)


def test_everything_is_written(tmp_path):
    command.main(["--quick", "--out", str(tmp_path)])
    assert {p.name for p in tmp_path.iterdir()} == {"report.md", "figure_1.png", "figure_2.png"}
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    for said in ("5.1×", "8.0×", "RankNet, one layer", "LambdaRank, two layers", "## Selected runs", "torch"):
        assert said in report


def test_the_papers_slopes_stand_beside_the_papers_algorithms_alone():
    """λ in near-linear time is another algorithm than the paper's V2, which sums over pairs."""
    table = measure_speed(TINY, lambda text: None).slopes()
    rows = {line.split("|")[1].strip(): line for line in table.splitlines() if line.startswith("|")}
    for layers in ("one layer", "two layers"):
        assert rows[f"pair by pair (V1), {layers}"].endswith("| 1.943 |")
        assert rows[f"factored (V2), {layers}"].endswith("| 1.185 |")
        assert rows[f"{NEAR_LINEAR}, {layers}"].endswith("| – |")


def test_one_part_alone(tmp_path):
    command.main(["--quick", "--only", "speed", "--out", str(tmp_path)])
    assert {p.name for p in tmp_path.iterdir()} == {"report.md", "figure_1.png"}


def test_a_folder_of_letor_text(tmp_path):
    data = cubic_polynomial(queries=12, documents=8, features=4)
    folder, out = tmp_path / "letor", tmp_path / "out"
    folder.mkdir()
    for name, queries in (("train", range(6)), ("vali", range(6, 8)), ("test", range(8, 12))):
        write_letor(folder / f"{name}.txt", data.take(queries))
    command.main([str(folder), "--quick", "--only", "accuracy", "--out", str(out)])
    assert "4 test queries" in (out / "report.md").read_text(encoding="utf-8")
    assert {p.name for p in out.iterdir()} == {"report.md", "figure_2.png"}


def test_a_net_that_diverges_is_not_chosen():
    data = command.cubic(20, seed=0)
    parts = prepared(data, data.folds[0])
    diverged = train(SYSTEMS[0], 1e38, parts, epochs=3, seed=0)
    learnt = train(SYSTEMS[0], 1e-3, parts, epochs=3, seed=0)
    assert len(diverged.valid) < 3
    assert learnt.figure > diverged.figure
    assert learnt.valid[learnt.best_epoch - 1] == learnt.figure
    again = train(SYSTEMS[0], 1e-3, parts, epochs=3, seed=0)
    assert again.valid == learnt.valid
    q = data.parts["test"].queries
    assert NDCG(10)(learnt.test_scores, q) > NDCG(10)(np.zeros(q.n_documents), q)


def test_parts_are_those_of_the_paper():
    data = command.cubic(25, seed=0)
    assert {name: part.queries.n_queries for name, part in data.parts.items()} == {
        "train": 10,
        "vali": 5,
        "test": 10,
    }
    assert isinstance(data.parts["train"].queries, Queries)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "DATA is 'nowhere': give a folder of LETOR text, or the word synthetic"),
        ([".", "--queries", "50"], "--queries 50 is for synthetic data: . has its own queries"),
        (["--epochs", "0"], "argument --epochs: is 0"),
        (["--only", "all"], "argument --only: invalid choice"),
    ],
)
def test_wrong_input(arguments, said, capsys, tmp_path):
    with pytest.raises((SystemExit, ValueError)) as error:
        command.main([*arguments, "--out", str(tmp_path / "out")])
    assert said in f"{error.value}{capsys.readouterr().err}"
    assert not (tmp_path / "out").exists()


def test_the_polynomials_are_as_in_the_paper_and_no_straight_line():
    X, q = cubic_polynomial(queries=400)
    assert X.shape == (20_000, 50) and (q.sizes == 50).all() and -1 <= X.min() < -0.99 and 0.99 < X.max() <= 1
    assert X.tobytes() == cubic_polynomial(queries=400).features.tobytes()
    fitted = np.linalg.lstsq(X, q.relevance - q.relevance.mean(), rcond=None)[0]
    assert 0.4 < np.corrcoef(X @ fitted, q.relevance)[0, 1] < 0.7
    for wrong in ({"queries": 0}, {"documents": 1}, {"features": 0}, {"seed": -1}):
        with pytest.raises(ValueError, match="give a whole number ≥"):
            cubic_polynomial(**wrong)
