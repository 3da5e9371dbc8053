"""What the experiments share: layouts of data, clicks, wrong input, reports; and costs of λ rules."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from experiments.burges2006.cost import jacobian, loop_work
from experiments.chakrabarti2008.results import RANDOM
from experiments.chakrabarti2008.trainers import HINGES, MCRANK
from experiments.common.clicks import Clicks
from experiments.common.data import read_folder
from lambdaboost import GradientStep, LambdaRank, Queries, RankNet
from lambdaboost.datasets import Collection, web_search_log, write_letor

pytestmark = pytest.mark.slow
COUNTS = 3  # the column that holds clicks
FIVE = ("S1", "S2", "S3", "S4", "S5")
ONE_FOLD = ("train", "vali", "test", "test_extra")


def write_parts(folder, names):
    """Six queries a part; column 3 holds counts, column 1 runs from 0 to 1."""
    for at, name in enumerate(names):
        x, q = web_search_log(6, 8, 16, seed=at)
        x = np.abs(np.asarray(x, dtype=np.float64))
        x[:, 0] = np.linspace(0, 1, q.n_documents)
        x[:, COUNTS - 1] = np.round(q.labels["clicks"] * 50)
        ids = np.repeat(np.arange(q.n_queries) + 100 * at, q.sizes)
        write_letor(folder / f"{name}.txt", Collection(x, Queries(q.relevance, ids=ids)))
    return folder


@pytest.fixture
def five(tmp_path):
    return write_parts(tmp_path, FIVE)


def test_five_parts_make_letors_folds(five):
    folds = [(fold.train, fold.valid, fold.test) for fold in read_folder(five).folds]
    assert folds == [
        (("S1", "S2", "S3"), ("S4",), ("S5",)),
        (("S2", "S3", "S4"), ("S5",), ("S1",)),
        (("S3", "S4", "S5"), ("S1",), ("S2",)),
        (("S4", "S5", "S1"), ("S2",), ("S3",)),
        (("S5", "S1", "S2"), ("S3",), ("S4",)),
    ]


def test_all_files_of_a_role_are_joined(tmp_path):
    data = read_folder(write_parts(tmp_path, ONE_FOLD))
    (fold,) = data.folds
    assert (fold.train, fold.valid, fold.test) == (("train",), ("vali",), ("test", "test_extra"))
    assert data.joined(fold.test).queries.n_queries == 12


def test_click_columns_become_labels_and_leave(five):
    data = read_folder(five, [Clicks("log", COUNTS, "rate"), Clicks("share", 1, "unit")], [2])
    for part in data.parts.values():
        assert part.feature_names == tuple(map(str, range(4, 17)))
        assert list(part.queries.labels) == ["relevance", "log", "share"]
    labels = data.parts["S1"].queries.labels
    assert labels["log"].max() == 1
    assert labels["share"].max() == 1
    with pytest.raises(ValueError, match=r"labels run to .*, CNDCG needs \[0, 1\]"):
        read_folder(five, [Clicks("log", COUNTS, "unit")])


def test_training_leaves_out_queries_without_relevant_documents(tmp_path):
    write_parts(tmp_path, ONE_FOLD)
    (tmp_path / "train_more.txt").write_text("0 qid:9001 1:1 16:1\n0 qid:9001 1:2 16:1\n")
    data = read_folder(tmp_path)
    fold = data.folds[0]
    assert data.joined(fold.train).queries.n_queries == 7
    assert data.training(fold).queries.n_queries == 6
    assert data.training(fold, share=0.5).queries.n_queries == 3


# Reports

# What a quick run is made smaller by, arguments of the command, and words of the report.
REPORTS = {
    "burges2006": (
        {"shapes": ((2, 6), (1, 12)), "features": 5, "pair_lists": (10, 20), "factored_lists": (20, 40)},
        {},
        ("5.1×", "8.0×", "RankNet, one layer", "LambdaRank, two layers", "## Selected runs", "torch"),
    ),
    "chakrabarti2008": ({}, {"queries": 24}, ("## Figure 9", "## What holds here", *HINGES, MCRANK, RANDOM)),
    "yue2007": (
        {"queries": 5, "iterations": 2, "runs": 3, "share": 0.03, "swept": 20},
        {"queries": 20, "documents": 8},
        ("| FDSA |", "| LambdaRank | 0.", "virtually identical to the closed form: **yes**"),
    ),
}
FIGURES = {"burges2006": ["_1", "_2"], "chakrabarti2008": ["_8", "s_4_to_6"], "yue2007": ["_1", "_2", "_3"]}


@pytest.mark.parametrize("paper", REPORTS)
def test_everything_is_written(tmp_path, monkeypatch, paper):
    smaller, arguments, words = REPORTS[paper]
    if paper == "burges2006":
        monkeypatch.setattr(pytest.importorskip("torch"), "set_num_threads", lambda threads: None)
    command = import_module(f"experiments.{paper}.__main__")
    if smaller:
        monkeypatch.setattr(command, "QUICK", replace(command.QUICK, **smaller))
    if paper == "yue2007":
        monkeypatch.setattr(command, "FEATURES", 16)
    command.main(out=tmp_path, quick=True, **arguments)
    figures = [f"figure{figure}.png" for figure in FIGURES[paper]]
    assert sorted(path.name for path in tmp_path.iterdir()) == [*figures, "report.md"]
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert [said for said in words if said not in report] == []


# What cost a λ rule has (2006, section 4)

SCORES = np.array([0.3, -1.0, 2.0, 0.9, -0.2, 1.4])
LABELS = Queries([1, 0, 2, 0, 3, 1], sizes=[6])


def test_what_has_no_cost():
    """Gradient steps divide by the spread of all λ; LambdaRank has none across orders."""
    for objective, has_cost in ((GradientStep(LambdaRank()), False), (LambdaRank(), True)):
        slopes = jacobian(objective, SCORES, LABELS)
        assert (abs(slopes - slopes.T).max() < 1e-3 * abs(slopes).max()) == has_cost
    q, s = Queries([0, 2, 1], sizes=[3]), np.array([0.5, 0.0, -0.5])
    assert abs(loop_work(RankNet(sigma=2.0), s, q)).max() < 1e-6
    assert abs(loop_work(LambdaRank(), s, q)).max() > 0.01
    # Squares too small to change the order: there it has a cost.
    assert abs(loop_work(LambdaRank(), s, q, side=0.4)).max() < 1e-6
