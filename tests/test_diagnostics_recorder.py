"""The recorder on trainings of both engines against the functions it is made of, and the plots."""

import numpy as np
import pytest

from lambdaboost import (
    NDCG,
    Blend,
    ClickTier,
    GradientStep,
    LambdaRank,
    Linear,
    Queries,
    RankNet,
    iteration_dependent,
)
from lambdaboost.datasets import web_search_log
from lambdaboost.diagnostics import (
    Recorder,
    lambda_agreement,
    lambda_share_by_grade,
    plots,
)
from lambdaboost.diagnostics.top_ranks import rank_changes, top_grades

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")

X, Q = web_search_log(queries=40, documents=20, seed=2)
OBJECTIVE = Blend(LambdaRank(), RankNet(), Linear(0.1, 0.1))
PAIR = (LambdaRank(), ClickTier())
AGREEMENT = "agreement of ClickTier() with LambdaRank()"
ROUNDS = 6


def recorder(**more):
    settings = {"objective": OBJECTIVE, "compare": [PAIR], "every": 1, "sample": 15, "seed": 1}
    return Recorder(X, Q, **(settings | more))


def lightgbm(*callbacks, rounds=ROUNDS, objective=OBJECTIVE, **more):
    params = {"objective": objective, "num_leaves": 6, "verbose": -1, "num_threads": 1} | more.pop(
        "params", {}
    )
    data = lgb.Dataset(X, Q.relevance, group=Q.sizes, params={"verbose": -1})
    return lgb.train(params, data, rounds, callbacks=list(callbacks), **more)


def xgboost(*callbacks, rounds=ROUNDS, objective=OBJECTIVE, params=None, **more):
    data = xgb.DMatrix(X, Q.relevance, group=Q.sizes)
    params = {"max_depth": 3, "nthread": 1, "disable_default_eval_metric": 1} | (params or {})
    return xgb.train(params, data, rounds, obj=objective, callbacks=list(callbacks), **more)


def lightgbm_scores(model, r):
    return lambda rounds: (
        model.predict(r.features, num_iteration=rounds) if rounds else np.zeros(r.queries.n_documents)
    )


def xgboost_scores(model, r):
    data = xgb.DMatrix(r.features)
    return lambda rounds: (
        model.predict(data, output_margin=True, iteration_range=(0, rounds))
        if rounds
        else np.zeros(r.queries.n_documents)
    )


ENGINES = pytest.mark.parametrize(
    ("train", "callback", "scores_of"),
    [(lightgbm, lambda r: r, lightgbm_scores), (xgboost, Recorder.xgboost, xgboost_scores)],
    ids=["lightgbm", "xgboost"],
)


def check_row(row, before, after, q, m):
    """One row against the functions, at the scores that the finished model gives."""
    assert row[AGREEMENT] == pytest.approx(lambda_agreement(*PAIR, before, q, m), abs=0.02)
    shares = lambda_share_by_grade(OBJECTIVE, before, q, iteration=m)
    np.testing.assert_allclose([row[f"share_{v}"] for v in range(5)], shares, atol=0.01)
    np.testing.assert_allclose([row[f"top_{v}"] for v in range(5)], top_grades(after, q), atol=0.03)
    changes = rank_changes(before, after, q)
    assert (row["changed_top"], row["changed_full"]) == pytest.approx(changes, abs=0.03)
    assert row["NDCG(k=3)"] == pytest.approx(NDCG(3)(after, q), abs=0.02)


@ENGINES
def test_every_round_is_recorded_as_it_was(train, callback, scores_of):
    r = recorder()
    scores = scores_of(train(callback(r)), r)
    frame = r.frame()
    assert frame.index.tolist() == list(range(ROUNDS)) and frame.index.name == "round"
    for m in range(ROUNDS):
        check_row(frame.loc[m], scores(m), scores(m + 1), r.queries, m)


@ENGINES
def test_rounds_between_are_not_lost(train, callback, scores_of):
    r = recorder(every=3)
    full = recorder()
    train(callback(r), callback(full))
    assert r.frame().index.tolist() == [0, 3]
    # Trees taken in at once may round otherwise.
    np.testing.assert_allclose(r.frame(), full.frame().loc[[0, 3]], atol=0.03)
    assert repr(r) == "Recorder(2 of 6 rounds, 15 of 40 queries)"


@ENGINES
def test_recording_changes_nothing_in_the_model(train, callback, scores_of):
    r = recorder()
    models = [train(), train(callback(r))]
    one, two = (scores_of(model, r)(ROUNDS) for model in models)
    assert one.tobytes() == two.tobytes()


@ENGINES
def test_a_second_training_starts_afresh(train, callback, scores_of):
    r = recorder()
    train(callback(r))
    first = r.frame()
    train(callback(r))
    np.testing.assert_array_equal(r.frame(), first)
    assert r.rounds_seen == r.rounds_recorded == ROUNDS


def test_a_continued_lightgbm_training():
    start = lightgbm(rounds=2)
    r = recorder()
    model = lightgbm(r, rounds=3, init_model=start, keep_training_booster=True)
    scores = lightgbm_scores(model, r)
    assert r.frame().index.tolist() == [2, 3, 4]
    check_row(r.frame().loc[2], scores(2), scores(3), r.queries, 2)


def test_a_continued_xgboost_training():
    start = xgboost(rounds=2)
    r = recorder()
    model = xgboost(r.xgboost(), rounds=3, xgb_model=start)
    scores = xgboost_scores(model, r)
    assert r.frame().index.tolist() == [2, 3, 4]
    check_row(r.frame().loc[2], scores(2), scores(3), r.queries, 2)


def test_a_tree_without_a_split():
    r = recorder()
    lightgbm(r, rounds=3, params={"min_gain_to_split": 1e9})
    assert r.frame()["changed_full"].tolist() == [0, 0, 0]


def test_the_last_round_before_early_stopping_is_recorded():
    r = recorder()
    data = lgb.Dataset(X, Q.relevance, group=Q.sizes, params={"verbose": -1})
    lgb.train(
        {
            "objective": LambdaRank(),
            "num_leaves": 4,
            "verbose": -1,
            "metric": "None",
            "min_gain_to_split": 1e9,
        },
        data,
        10,
        valid_sets=[lgb.Dataset(X, Q.relevance, group=Q.sizes, reference=data, params={"verbose": -1})],
        feval=NDCG(3),
        callbacks=[lgb.early_stopping(2, verbose=False), r],
    )
    assert r.rounds_recorded == 3


def test_lgbmranker_takes_it():
    r = recorder()
    lgb.LGBMRanker(objective=OBJECTIVE, n_estimators=3, verbose=-1, n_jobs=1).fit(
        X, Q.relevance, group=Q.sizes, callbacks=[r]
    )
    assert r.rounds_recorded == 3


def test_data_frames_and_sparse_features():
    import pandas as pd
    from scipy.sparse import csr_matrix

    rows = Q.rows_of(np.sort(np.random.default_rng(1).permutation(Q.n_queries)[:15]))
    settings = {"objective": LambdaRank(), "sample": 15, "seed": 1}
    for data in (pd.DataFrame(X), csr_matrix(X)):
        r = Recorder(data, Q, **settings)
        assert r.features.shape == (r.queries.n_documents, X.shape[1])
    np.testing.assert_array_equal(r.features.toarray(), X[rows])
    np.testing.assert_array_equal(r.queries.relevance, Q.relevance[rows])


def test_no_shares_and_no_pairs_where_none_are_asked_for():
    r = recorder(objective=LambdaRank(convention="lightgbm"), grades=(), compare=(), sample=None)
    lightgbm(r, rounds=1)
    assert r.queries.n_queries == 40
    assert not [name for name in r.frame() if name.startswith(("share", "agreement"))]


def test_nothing_recorded_yet():
    r = recorder()
    assert r.frame().empty and repr(r) == "Recorder(0 of 0 rounds, 15 of 40 queries)"


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"objective": "lambdarank"}, TypeError, "objective is 'lambdarank'"),
        ({"objective": LambdaRank(convention="xgboost")}, TypeError, "the paper's convention"),
        ({"compare": LambdaRank()}, TypeError, r"compare\[0\] is LambdaRank"),
        ({"compare": [LambdaRank()]}, TypeError, r"compare\[0\] is LambdaRank"),
        ({"compare": [(LambdaRank(), "x")]}, TypeError, r"compare\[0\] is \(LambdaRank\(\), 'x'\)"),
        ({"compare": [(LambdaRank(), ClickTier(source="fresh"))]}, ValueError, "no label source 'fresh'"),
        ({"k": 0}, ValueError, "k is 0"),
        ({"grades": (7,)}, ValueError, "grades is"),
        ({"every": 0}, ValueError, "every is 0"),
        ({"sample": 0}, ValueError, "sample is 0"),
    ],
    ids=str,
)
def test_errors(settings, error, message):
    with pytest.raises(error, match=message):
        recorder(**settings)


def test_errors_of_the_data():
    with pytest.raises(TypeError, match="q is ndarray"):
        Recorder(X, Q.relevance, LambdaRank())
    with pytest.raises(ValueError, match=r"X has shape \(3, 2\), q has"):
        Recorder(np.zeros((3, 2)), Q, LambdaRank())
    with pytest.raises(ValueError, match="X has shape None"):
        Recorder([[0.0]], Queries([3], [1]), LambdaRank())


@pytest.mark.filterwarnings("ignore:boosting=dart")  # drop-in DART, which docs/traps.md tells of
def test_boosters_whose_scores_do_not_add_up():
    with pytest.raises(ValueError, match="DART"):
        lightgbm(recorder(), params={"boosting": "dart"})
    with pytest.raises(ValueError, match="DART"):
        xgboost(recorder().xgboost(), params={"booster": "dart"})


def test_cross_validation_has_no_one_booster():
    from sklearn.model_selection import GroupKFold

    data = lgb.Dataset(X, Q.relevance, group=Q.sizes, params={"verbose": -1})
    params = {"objective": LambdaRank(), "verbose": -1, "metric": "None"}
    with pytest.raises(TypeError, match="cross-validation"):
        lgb.cv(params, data, 2, folds=GroupKFold(2), feval=NDCG(3), callbacks=[recorder()])
    with pytest.raises(TypeError, match="cross-validation"):
        xgb.cv(
            {},
            xgb.DMatrix(X, Q.relevance, group=Q.sizes),
            2,
            obj=LambdaRank(),
            callbacks=[recorder().xgboost()],
        )


# Plots


@pytest.fixture
def ax():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt.figure().subplots()
    plt.close("all")


@pytest.fixture(scope="module")
def recorded():
    r = recorder()
    lightgbm(r)
    return r


@pytest.mark.parametrize(
    ("plot", "lines", "labels"),
    [
        (plots.plot_agreement, 1, [AGREEMENT]),
        (plots.plot_lambda_shares, 5, [f"partners of grade {v}" for v in range(5)]),
        (plots.plot_top_grades, 5, [f"grade {v}" for v in range(5)]),
        (plots.plot_rank_changes, 2, ["top ranks", "all ranks"]),
    ],
)
def test_plots_of_what_was_recorded(plot, lines, labels, recorded, ax):
    for given in (recorded, recorded.frame()):
        ax.clear()
        assert plot(given, ax=ax) is ax
        assert len(ax.lines) == lines
        assert [text.get_text() for text in ax.get_legend().get_texts()] == labels
        assert ax.get_xlabel() == "Boosting round" and "(%)" in ax.get_ylabel()
        assert ax.lines[0].get_xdata().tolist() == list(range(ROUNDS))
        bottom, top = ax.get_ylim()
        assert bottom == 0 and top > max(line.get_ydata().max() for line in ax.lines)
    name = {"agreement of": AGREEMENT}.get(labels[0][:12])
    if name:
        np.testing.assert_allclose(ax.lines[0].get_ydata(), 100 * recorded.frame()[name])


def test_plots_of_objectives_and_schedules(ax):
    import matplotlib.pyplot as plt

    style = dict(plt.rcParams)
    drawn = plots.plot_cost_derivatives({"λ^L": LambdaRank(), "λ^S": iteration_dependent(0.99)})
    assert drawn is not ax and len(drawn.lines) == 2
    assert plots.plot_cost_derivatives({"L": RankNet()}, ax).lines[0].get_ydata()[120] == 0.5
    assert plots.plot_schedules({"linear": Linear(0.1, 0.1)}, 4).lines[
        0
    ].get_ydata().tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert dict(plt.rcParams) == style


def test_plots_of_nothing(recorded):
    with pytest.raises(TypeError, match="recorded is list"):
        plots.plot_agreement([])
    with pytest.raises(ValueError, match="train with a Recorder as a callback, made with compare="):
        plots.plot_agreement(recorded.frame()[["changed_top"]])
    with pytest.raises(ValueError, match="train with a Recorder as a callback"):
        plots.plot_top_grades(Recorder(X, Q, GradientStep(LambdaRank())))
