"""The live view of a training, on real engines: what stands on a terminal in the end, and silence elsewhere."""

import copy
import io
import pickle
import re

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from rich.console import Console

import lambdaboost.lightgbm
import lambdaboost.xgboost
from lambdaboost import CNDCG, NDCG, Blend, GradientStep, LambdaRank, Linear, graded
from lambdaboost.datasets import web_search_log
from lambdaboost.engines.job import Figure
from lambdaboost.engines.progress import PAUSE, LiveView, objective_in_training, rounds_in_training
from lambdaboost.xgboost.callbacks import figures_of, is_maximised

LOG = web_search_log(queries=24, documents=20, seed=1)
Q = LOG.queries
CLICKS = {"clicks": Q.labels["clicks"]}
BLEND = Blend(LambdaRank(), LambdaRank(NDCG(3)), Linear(0.1, 0.01))
LIGHTGBM = {"verbose": -1, "min_data_in_leaf": 5, "num_leaves": 4}
XGBOOST = {"min_child_weight": 0, "max_depth": 2, "nthread": 1}


def dataset(sources=CLICKS):
    return lambdaboost.lightgbm.Dataset(LOG.features, Q.relevance, group=Q.sizes, sources=sources)


def matrix():
    return lambdaboost.xgboost.DMatrix(LOG.features, Q.relevance, qid=Q.query_of_row, sources=CLICKS)


@pytest.fixture
def terminal(monkeypatch):
    """A terminal whose every round is drawn."""
    monkeypatch.setattr("lambdaboost.engines.progress.PAUSE", 0.0)
    return Console(
        file=io.StringIO(), force_terminal=True, width=100, color_system=None, legacy_windows=False
    )


def screen(console):
    """The lines that stand on a terminal after all that was written, with what control codes do."""
    lines, row = [""], 0
    for part in re.findall(r"\x1b\[[0-9;]*[A-Za-z]|\r|\n|[^\x1b\r\n]+", console.file.getvalue()):
        if part == "\n":
            row += 1
            lines += [""] * (row == len(lines))
        elif part.endswith("A") and part[0] == "\x1b":
            row -= int(part[2:-1])
        elif part == "\x1b[2K":
            lines[row] = ""
        elif part != "\r":
            assert part[0] != "\x1b", part
            lines[row] += part
    return [line.rstrip() for line in lines if line.strip()]


def check_screen(console, rounds, figures, weight=None):
    """One bar, however often it was drawn, then a line for each figure."""
    bar, *below = screen(console)
    assert re.search(rf"training .*{rounds}/{rounds} [0-9.]+ (rounds/s|s/round) in 0:00:[0-9]+", bar), bar
    assert (f"weight {weight:.4f}" in bar) if weight is not None else "weight" not in bar
    assert [re.sub(r" {2,}", " ", line).split()[:2] for line in below] == [list(f) for f in figures]
    assert all(re.search(r" 0\.[0-9]{4}  best 0\.[0-9]{4} at [0-9]+$", line) for line in below), below
    assert console.file.getvalue().count("training") >= rounds


def test_lightgbms_own_train(terminal):
    data = lgb.Dataset(LOG.features, Q.relevance, group=Q.sizes)
    lgb.train(
        LIGHTGBM | {"objective": BLEND, "metric": "None"},
        data,
        5,
        valid_sets=[data, data.create_valid(LOG.features, Q.relevance, group=Q.sizes)],
        valid_names=["train", "valid"],
        feval=[NDCG(3), NDCG(10)],
        callbacks=[lambdaboost.lightgbm.progress(terminal)],
    )
    figures = [(part, f"NDCG(k={k})") for part in ("train", "valid") for k in (3, 10)]
    # The last round is the fifth, counted from 0: w = 0.1 + 0.01 · 4.
    check_screen(terminal, 5, figures, weight=0.1 + 0.01 * 4)


@pytest.mark.parametrize("leaves", ["engine", "gradient"])
def test_our_train_on_lightgbm(terminal, leaves):
    lambdaboost.lightgbm.train(
        LIGHTGBM,
        dataset(),
        4,
        objective=graded(0.25),
        leaves=leaves,
        valid_sets=[dataset()],
        feval=CNDCG(3),
        callbacks=[lambdaboost.lightgbm.progress(terminal)],
    )
    check_screen(terminal, 4, [("valid_0", "CNDCG(k=3)")], weight=0.25)


def test_a_continued_model_counts_its_own_rounds_and_the_schedule_all(terminal):
    data = dataset()
    first = lambdaboost.lightgbm.train(LIGHTGBM, data, 3, objective=BLEND, keep_training_booster=True)
    lambdaboost.lightgbm.train(
        LIGHTGBM,
        dataset(),
        2,
        objective=BLEND,
        init_model=first,
        callbacks=[lambdaboost.lightgbm.progress(terminal)],
    )
    check_screen(terminal, 2, [], weight=0.1 + 0.01 * 4)


def test_cross_validation_on_both_engines(terminal):
    callback = lambdaboost.lightgbm.progress(terminal)
    lambdaboost.lightgbm.cv(LIGHTGBM, dataset(), 3, objective=BLEND, nfold=2, callbacks=[callback])
    check_screen(terminal, 3, [("valid", "NDCG(k=3)")], weight=0.12)
    terminal.file = io.StringIO()
    callback = lambdaboost.xgboost.Progress(terminal)
    lambdaboost.xgboost.cv(XGBOOST, matrix(), 3, objective=BLEND, nfold=2, callbacks=[callback])
    check_screen(terminal, 3, [("train", "ndcg(k=3)"), ("test", "ndcg(k=3)")], weight=0.12)


def test_estimators_of_lightgbm(terminal):
    callback = lambdaboost.lightgbm.progress(terminal)
    small = {"n_estimators": 3, "verbose": -1, "min_child_samples": 5}
    stock = lgb.LGBMRanker(objective=BLEND, **small)
    stock.fit(LOG.features, Q.relevance, group=Q.sizes, callbacks=[callback])
    check_screen(terminal, 3, [], weight=0.12)
    terminal.file = io.StringIO()
    ranker = lambdaboost.lightgbm.LambdaRanker(objective=BLEND, **small)
    ranker.fit(LOG.features, Q.relevance, group=Q.sizes, callbacks=[callback])
    check_screen(terminal, 3, [], weight=0.12)


def test_early_stopping_leaves_the_last_picture(terminal, capsys):
    valid = dataset()
    booster = lambdaboost.lightgbm.train(
        LIGHTGBM | {"learning_rate": 1.0},
        dataset(),
        200,
        valid_sets=[valid],
        callbacks=[lambdaboost.lightgbm.progress(terminal), lgb.early_stopping(2, verbose=False)],
    )
    bar, figure = screen(terminal)
    best = booster.best_iteration
    assert f" {best + 2}/200 " in bar and "left" in bar and figure.endswith(f"at {best}")
    terminal.file = io.StringIO()
    booster = lambdaboost.xgboost.train(
        XGBOOST | {"learning_rate": 1.0},
        matrix(),
        200,
        evals=[(matrix(), "valid")],
        early_stopping_rounds=2,
        callbacks=[lambdaboost.xgboost.Progress(terminal)],
    )
    bar, figure = screen(terminal)
    assert f" {booster.num_boosted_rounds()}/200 " in bar and "left" in bar
    assert figure.endswith(f"at {booster.best_iteration + 1}")
    assert capsys.readouterr().out == ""  # XGBoost's own lines are off beside it


@pytest.mark.parametrize("leaves", ["engine", "gradient"])
def test_our_train_on_xgboost(terminal, leaves):
    lambdaboost.xgboost.train(
        XGBOOST,
        matrix(),
        4,
        objective=BLEND,
        leaves=leaves,
        evals=[(matrix(), "train")],
        custom_metric=[NDCG(3), CNDCG(3)],
        callbacks=[lambdaboost.xgboost.Progress(terminal)],
    )
    figures = [("train", "ndcg(k=3)"), ("train", "pre-cndcg(k=3)")]
    check_screen(terminal, 4, figures, weight=0.1 + 0.01 * 3)


def test_xgboosts_own_train_and_ranker(terminal):
    data = xgb.DMatrix(LOG.features, Q.relevance, qid=Q.query_of_row)
    parameters = XGBOOST | {"objective": "rank:ndcg", "base_score": 0, "disable_default_eval_metric": True}
    callback = lambdaboost.xgboost.Progress(terminal)
    xgb.train(
        parameters,
        data,
        4,
        obj=GradientStep(BLEND),
        evals=[(data, "train")],
        custom_metric=NDCG(3),
        callbacks=[callback],
        verbose_eval=False,
    )
    check_screen(terminal, 4, [("train", "ndcg(k=3)")], weight=0.13)
    terminal.file = io.StringIO()
    ranker = lambdaboost.xgboost.LambdaRanker(
        objective=LambdaRank(), n_estimators=3, min_child_weight=0, n_jobs=1, callbacks=[callback]
    )
    ranker.fit(LOG.features, Q.relevance, group=Q.sizes)
    check_screen(terminal, 3, [])


def test_an_engines_own_objective_has_no_weight(terminal):
    data = lgb.Dataset(LOG.features, Q.relevance, group=Q.sizes)
    callbacks = [lambdaboost.lightgbm.progress(terminal)]
    lgb.train(LIGHTGBM | {"objective": "lambdarank"}, data, 3, callbacks=callbacks)
    check_screen(terminal, 3, [])


def test_silence_where_there_is_no_terminal(capsys):
    lambdaboost.lightgbm.train(LIGHTGBM, dataset(), 1, valid_sets=[dataset()])
    lambdaboost.xgboost.train(XGBOOST, matrix(), 1, evals=[(matrix(), "train")], verbose_eval=False)
    capsys.readouterr()  # kernels may have been compiled, with a line that says so
    for console in (None, Console(file=io.StringIO(), force_terminal=False)):
        lambdaboost.lightgbm.train(
            LIGHTGBM, dataset(), 3, valid_sets=[dataset()], callbacks=[lambdaboost.lightgbm.progress(console)]
        )
        lambdaboost.xgboost.train(
            XGBOOST,
            matrix(),
            3,
            evals=[(matrix(), "train")],
            callbacks=[lambdaboost.xgboost.Progress(console)],
        )
        assert console is None or console.file.getvalue() == ""
    assert capsys.readouterr() == ("", "")


def test_fast_rounds_are_not_all_drawn():
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    view = LiveView(console)
    view.start(1000, None)
    for round_ in range(1000):
        view.round_done(round_, [Figure("valid", "NDCG(k=3)", round_ / 1000, True)])
    view.draw()
    assert console.file.getvalue().count("training") < 20 and PAUSE == 0.1
    assert "1000/1000" in screen_text(console) and "best 0.9990 at 1000" in screen_text(console)


def screen_text(console):
    return re.sub(r"\x1b\[[0-9;]*m", "", console.file.getvalue())


def test_lower_is_better_and_many_figures(terminal):
    view = LiveView(terminal)
    view.start(None, None)
    for value in (0.5, 0.25, 0.75, float("nan")):
        view.round_done(0, [Figure("[red]valid", f"rmse{i}", value, False) for i in range(12)])
    bar, *below = screen(terminal)
    assert "4/?" in bar and len(below) == 9 and below[-1].strip() == "and 4 more"
    assert below[0].split() == ["[red]valid", "rmse0", "nan", "best", "0.2500", "at", "2"]


def test_callbacks_are_copied_and_pickled():
    callback = lambdaboost.xgboost.Progress(Console(file=io.StringIO()))
    assert copy.deepcopy(callback).console is callback.console
    ranker = lambdaboost.xgboost.LambdaRanker(
        n_estimators=2, min_child_weight=0, callbacks=[lambdaboost.xgboost.Progress()]
    )
    ranker.fit(LOG.features, Q.relevance, group=Q.sizes)
    again = pickle.loads(pickle.dumps(ranker))
    assert np.array_equal(again.predict(LOG.features), ranker.predict(LOG.features))
    ours = lambdaboost.lightgbm.progress(callback.console)
    assert copy.deepcopy(ours).run is ours.run


def test_what_is_in_training_is_asked_of_it_alone():
    assert objective_in_training("obj") is None and rounds_in_training("num_boost_round") is None


def test_a_notebook_has_one_output_without_further_packages(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    compiling = (
        "import numpy as np, lambdaboost.lightgbm as l, lambdaboost.engines.progress as p\n"
        "p.PAUSE = 0.0\n"
        "data = l.Dataset(np.arange(8.0)[:, None], [0, 0, 1, 1, 0, 0, 1, 1], group=[4, 4])\n"
        "def train(rounds, callbacks):\n"
        "    params = {'min_data_in_leaf': 1, 'verbose': -1}\n"
        "    return l.train(params, data, rounds, valid_sets=[data], callbacks=callbacks)\n"
        "booster = train(1, [])"
    )
    code = "booster = train(7, [l.progress()])"
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, (compiling, code))))
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    try:
        run = client.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}})
        run.execute()
    except Exception as error:
        if type(error).__name__ in ("NoSuchKernel", "DeadKernelError"):
            pytest.skip(f"no kernel here: {error}")
        raise
    (output,) = notebook.cells[1].outputs
    assert "7/7" in output.data["text/plain"] and "NDCG(k=3)" in output.data["text/plain"]


def test_errors_are_best_where_they_are_lowest():
    """Both names begin like measures that XGBoost maximises."""
    assert [is_maximised(name) for name in ("mape", "mae", "map@5", "map", "ndcg@3-", "auc", "pre")] == [
        False,
        False,
        *[True] * 5,
    ]
    (figure,) = figures_of({"valid": {"mape": [0.5, 0.25]}})
    assert figure == ("valid", "mape", 0.25, False)
