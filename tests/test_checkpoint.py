"""Training interrupted and continued gives the model of an uninterrupted run, or says why it cannot."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import file_size
import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from lightgbm_data import PARAMS, Q_VALID, X_VALID, Q, X, dataset
from resumable import OBJECTIVE, TRAIN, XGB_PARAMS, Interrupt, matrix, text, train_lightgbm, train_xgboost

from lambdaboost import Blend, Checkpoint, ClickTier, LambdaRank, Linear, Queries, RankNet
from lambdaboost import lightgbm as lb_lightgbm
from lambdaboost import xgboost as lb_xgboost
from lambdaboost.engines.resume import read

ENGINE = pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
PARAMS_OF = {"lightgbm": PARAMS, "xgboost": XGB_PARAMS}


@pytest.fixture
def at(tmp_path):
    return Checkpoint(tmp_path / "run.checkpoint", every=5)


def interrupted(engine, checkpoint, round_=13, **more):
    with pytest.raises(Interrupt):
        TRAIN[engine](checkpoint, round_, **more)


def rounds_in(checkpoint):
    return content(checkpoint.path)["rounds"]


def content(path):
    """What stands below the first line."""
    return json.loads(Path(path).read_text(encoding="utf-8").split("\n", 1)[1])


# The same model.


@ENGINE
@pytest.mark.parametrize("leaves", ["engine", "gradient"])
def test_the_model_of_an_uninterrupted_run(at, engine, leaves):
    model, history = TRAIN[engine](None, leaves=leaves)
    watched, its_history = TRAIN[engine](at, leaves=leaves)
    assert text(watched) == text(model) and its_history == history
    os.remove(at.path)
    interrupted(engine, at, leaves=leaves)
    assert rounds_in(at) == 10
    resumed, its_history = TRAIN[engine](at, leaves=leaves)
    assert text(resumed) == text(model) and its_history == history
    assert resumed.best_iteration == model.best_iteration


@ENGINE
def test_a_killed_process_is_taken_up(at, engine):
    script = [sys.executable, str(Path(__file__).with_name("resumable.py")), engine, str(at.path), "13"]
    run = subprocess.run(script, capture_output=True, text=True)
    assert run.returncode == -signal.SIGKILL, run.stderr
    assert rounds_in(at) == 10 and os.listdir(Path(at.path).parent) == ["run.checkpoint"]
    assert text(TRAIN[engine](at)[0]) == text(TRAIN[engine](None)[0])


@ENGINE
def test_interrupted_again_and_again(at, engine):
    expected = TRAIN[engine](None)[0]
    interrupted(engine, at, 7)
    for rounds in (5, 10, 15):
        assert rounds_in(at) == rounds
        interrupted(engine, at, rounds + 6)
    assert text(TRAIN[engine](at)[0]) == text(expected)


@ENGINE
def test_a_training_that_is_over_leaves_its_last_checkpoint(at, engine):
    every = dataclasses.replace(at, every=6)
    model = TRAIN[engine](every, rounds=12)[0]
    assert rounds_in(at) == 6
    assert text(TRAIN[engine](every, rounds=12)[0]) == text(model)
    longer = TRAIN[engine](every, rounds=30)[0]
    assert text(longer) == text(TRAIN[engine](None)[0])


@pytest.mark.filterwarnings("ignore:ClickTier")
def test_rounds_without_a_split_count(at):
    class Silent:
        """No gradient at rounds 0, 2 and 3, where the clicks, of which there are none, count alone."""

        def __init__(self):
            self.seen = []

        def __call__(self, iteration):
            self.seen.append(iteration)
            return 0.0 if iteration in (0, 2, 3) else 1.0

    rounds, none = Silent(), {"clicks": np.zeros(len(X))}
    more = {"objective": Blend(ClickTier(), LambdaRank(), rounds), "rounds": 9}
    every = dataclasses.replace(at, every=4)
    expected = train_lightgbm(None, data=dataset(sources=none), **more)
    interrupted("lightgbm", every, 6, data=dataset(sources=none), **more)
    rounds.seen.clear()
    resumed = train_lightgbm(every, data=dataset(sources=none), **more)
    # Past rounds are compared with those of the checkpoint, also in the next one.
    assert rounds.seen == [*range(4), 4, 5, 6, 7, *range(8), 8]
    assert text(resumed[0]) == text(expected[0]) and resumed[1] == expected[1]


@ENGINE
def test_schedules_written_as_functions_are_their_values(at, engine):
    for weight in (lambda m: 0.01 * m, lambda m: m / 100):
        objective = Blend(RankNet(), LambdaRank(), weight)
        if os.path.exists(at.path):
            assert TRAIN[engine](at, objective=objective)[0] is not None
        else:
            interrupted(engine, at, objective=objective)
    with pytest.raises(ValueError, match=r"of another training: schedule was \w+, now \w+"):
        TRAIN[engine](at, objective=Blend(RankNet(), LambdaRank(), lambda m: 0.9))


@ENGINE
def test_a_path_will_do_and_nothing_needs_to_be_evaluated(tmp_path, engine):
    train = lb_lightgbm.train if engine == "lightgbm" else lb_xgboost.train
    models = []
    for checkpoint in (None, str(tmp_path / "c"), tmp_path / "c"):
        data = dataset() if engine == "lightgbm" else matrix(X, Q)
        models.append(train(PARAMS_OF[engine], data, 12, objective=OBJECTIVE, checkpoint=checkpoint))
    assert text(models[0]) == text(models[1]) == text(models[2])
    assert content(tmp_path / "c")["rounds"] == 10


def test_xgboost_prints_on(at, capsys):
    def train(rounds):
        lb_xgboost.train(XGB_PARAMS, matrix(X, Q), rounds, evals=[(matrix(X, Q), "t")], checkpoint=at)
        return [line.split("]")[0] for line in capsys.readouterr().out.splitlines()]

    assert train(7) == [f"[{i}" for i in range(7)]
    assert train(8) == ["[5", "[6", "[7"]


# What cannot be quite the same.


@pytest.mark.parametrize(
    ("engine", "params", "names"),
    [
        ("lightgbm", {"bagging_fraction": 0.8, "bagging_freq": 1}, "bagging_fraction"),
        ("lightgbm", {"colsample_bytree": 0.7, "extra_trees": True}, "feature_fraction, extra_trees"),
        ("lightgbm", {"data_sample_strategy": "goss"}, "data_sample_strategy"),
        ("xgboost", {"subsample": 0.8, "colsample_bylevel": 0.5}, "subsample, colsample_bylevel"),
    ],
)
def test_chance_is_warned_of(at, engine, params, names):
    with pytest.warns(
        UserWarning, match=f"checkpoint with {names}: if this training is interrupted"
    ) as warnings:
        interrupted(engine, at, params=PARAMS_OF[engine] | params)
    assert len(warnings) == 1
    with pytest.warns(UserWarning, match="good as an uninterrupted one, but not the same"):
        TRAIN[engine](at, params=PARAMS_OF[engine] | params)


@ENGINE
def test_dropout_is_refused(at, engine):
    name = {"lightgbm": "boosting", "xgboost": "booster"}[engine]
    with pytest.raises(ValueError, match=f"checkpoint with {name}='?dart'?: "):
        TRAIN[engine](at, params=PARAMS_OF[engine] | {name: "dart"})


# Another training.


def changed(values, row=3):
    values = np.array(values)
    values[row] += 1
    return values


OTHERS = {
    "objective": {"objective": RankNet()},
    "leaves": {"leaves": "gradient"},
    r"params\['(lambda_l2|lambda)'\] was .*, now 3": {"params": {"lambda": 3}},
}


@ENGINE
@pytest.mark.parametrize("named", OTHERS)
def test_another_training_is_refused(at, engine, named):
    interrupted(engine, at)
    before = Path(at.path).read_bytes()
    more = dict(OTHERS[named])
    if "params" in more:
        more["params"] = PARAMS_OF[engine] | more["params"]
    with pytest.raises(ValueError, match=f"of another training: (.*; )?{named}"):
        TRAIN[engine](at, **more)
    assert Path(at.path).read_bytes() == before


@ENGINE
def test_other_validation_data_are_refused(at, engine):
    interrupted(engine, at)
    labels = {"clicks": Q_VALID.labels["clicks"]}
    other = Queries(Q_VALID.relevance, Q_VALID.sizes, **labels)
    for X_other, q in (
        (X_VALID, Queries(changed(Q_VALID.relevance), Q_VALID.sizes, **labels)),
        (X_VALID, Queries(Q_VALID.relevance, Q_VALID.sizes, clicks=changed(labels["clicks"]))),
        (X_VALID, Queries(Q_VALID.relevance, Q_VALID.sizes[::-1], **labels)),
    ):
        with pytest.raises(
            ValueError, match=r"of another training: validation data 'valid\w*': labels was sha256"
        ):
            TRAIN[engine](at, watched=(X_other, q))
    assert text(TRAIN[engine](at, watched=(X_VALID, other))[0]) == text(TRAIN[engine](None)[0])


@pytest.mark.parametrize("name", ["cegb_penalty_feature_lazy", "cegb_penalty_feature_coupled"])
def test_penalties_of_features_in_use_are_refused(at, name):
    with pytest.raises(ValueError, match=f"checkpoint with {name}: LightGBM forgets"):
        train_lightgbm(at, params=PARAMS | {name: [0.01] * X.shape[1], "cegb_tradeoff": 1.0})
    assert not os.path.exists(at.path)


@pytest.mark.parametrize("constructed", [False, True])
def test_initial_scores_are_refused_before_the_training(at, constructed):
    trained = []
    for data in (dataset(init_score=np.ones(len(X))), dataset()):
        with_score = data.create_valid(
            X_VALID, Q_VALID.relevance, group=Q_VALID.sizes, init_score=np.ones(len(X_VALID))
        )
        if constructed:
            data.construct()
            with_score.construct()
        with pytest.raises(ValueError, match="checkpoint with init_score: where LightGBM resumes"):
            lb_lightgbm.train(
                PARAMS,
                data,
                8,
                valid_sets=[with_score],
                checkpoint=at,
                callbacks=[lambda env: trained.append(env)],
            )
    assert trained == [] and not os.path.exists(at.path)


def test_xgboost_resumes_from_base_margins(at):
    def margins(end):
        return {"data": matrix(X, Q, base_margin=np.linspace(0, end, len(X)))}

    expected = train_xgboost(None, **margins(2))[0]
    interrupted("xgboost", at, **margins(2))
    with pytest.raises(ValueError, match="its model scores this data otherwise"):
        train_xgboost(at, **margins(3))
    assert text(train_xgboost(at, **margins(2))[0]) == text(expected)


def test_quantile_matrices_resume(at):
    def data():
        return {"data": xgb.QuantileDMatrix(X, Q.relevance, group=Q.sizes), "objective": LambdaRank()}

    expected = train_xgboost(None, **data())[0]
    interrupted("xgboost", at, **data())
    assert text(train_xgboost(at, **data())[0]) == text(expected)


@ENGINE
def test_parameters_are_compared_by_value(at, engine):
    rate = "learning_rate" if engine == "lightgbm" else "gamma"
    interrupted(engine, at, params=PARAMS_OF[engine] | {rate: 1})
    for one in (1.0, np.float64(1)):
        again = TRAIN[engine](at, 13, params=PARAMS_OF[engine] | {rate: one}, rounds=12)
        assert again[0] is not None


# A damaged file.


def damaged(content, rng):
    """A copy with bits flipped, bytes cut out, doubled, exchanged or nested, or a digit edited."""
    at, length = int(rng.integers(len(content))), int(rng.integers(1, 200))
    kind = int(rng.integers(7))
    if kind == 0:
        return content[:at] + bytes([content[at] ^ (1 << int(rng.integers(8)))]) + content[at + 1 :]
    if kind == 1:
        return content[:at]
    if kind == 2:
        return content[:at] + content[at + length :]
    if kind == 3:
        return content[: at + length] + content[at:]
    if kind == 4:
        return content[:at] + bytes(rng.integers(0, 256, length, dtype=np.uint8)) + content[at + length :]
    if kind == 5:
        return content[:at] + b"[" * 100_000 + content[at:]
    digits = [i for i, byte in enumerate(content) if byte in b"0123456789"]
    at = digits[int(rng.integers(len(digits)))]
    return content[:at] + b"%d" % (9 - int(content[at : at + 1])) + content[at + 1 :]


@ENGINE
def test_a_damaged_file_is_refused_wherever_it_is_damaged(at, engine):
    interrupted(engine, at)
    written = Path(at.path).read_bytes()
    state, rng = read(Path(at.path)), np.random.default_rng(0)
    refused = 0
    for _ in range(400):
        other = damaged(written, rng)
        Path(at.path).write_bytes(other)
        if other != written:
            with pytest.raises(
                ValueError, match=r"is damaged|is not a checkpoint|is of format \d+, this version"
            ):
                read(Path(at.path))
            refused += 1
    assert refused > 390
    with pytest.raises(ValueError, match=r"is damaged|is not a checkpoint|is of format"):
        TRAIN[engine](at)
    Path(at.path).write_bytes(written)
    assert vars(read(Path(at.path))) == vars(state)


@ENGINE
def test_other_data_is_refused(at, engine):
    interrupted(engine, at)
    relevance, clicks = Q.relevance, Q.labels["clicks"]

    def data(X=X, relevance=relevance, clicks=clicks, **more):
        if engine == "lightgbm":
            more = {"group": Q.sizes, "sources": {"clicks": clicks}} | more
            return lb_lightgbm.Dataset(X, relevance, **more)
        more = {"qid": Q.query_of_row, "sources": {"clicks": clicks}} | more
        return lb_xgboost.DMatrix(X, relevance, **more)

    weight = np.linspace(1, 2, len(X) if engine == "lightgbm" else Q.n_queries)
    for named, other in {
        "labels was sha256": data(relevance=changed(relevance)),
        "labels": data(clicks=changed(clicks)),
        "labels was ": data(weight=weight),
        "its model scores this data otherwise": data(X=X[::-1]),
    }.items():
        with pytest.raises(ValueError, match=f"of another training: .*{named}"):
            TRAIN[engine](at, data=other)
    # LightGBM scores the data by the model that it goes on from even before it calls back.
    error, named = {
        "lightgbm": (lgb.basic.LightGBMError, r"number of features in data \(17\) is not the same"),
        "xgboost": (ValueError, "of another training: number of features was 16, now 17"),
    }[engine]
    with pytest.raises(error, match=named):
        TRAIN[engine](at, data=data(X=np.c_[X, X[:, 0]]))


def test_other_measures_are_refused(at):
    interrupted("lightgbm", at)
    with pytest.raises(ValueError, match=r"it evaluated \['valid_0 NDCG\(k=5\)'\], this one \['valid_0 NDCG"):
        train_lightgbm(at, feval=lambdaboost_measures())
    interrupted("xgboost", dataclasses.replace(at, path=f"{at.path}.xgboost"))
    with pytest.raises(ValueError, match=r"it evaluated \['valid ndcg\(k=5\)'\], this one \['valid ndcg"):
        train_xgboost(
            dataclasses.replace(at, path=f"{at.path}.xgboost"), custom_metric=lambdaboost_measures()
        )


def lambdaboost_measures():
    from lambdaboost import CNDCG, NDCG

    return [NDCG(3), CNDCG(3)]


@ENGINE
def test_the_engine_of_the_checkpoint_must_be_this_one(at, engine):
    other = "xgboost" if engine == "lightgbm" else "lightgbm"
    interrupted(other, at)
    with pytest.raises(ValueError, match=f"of another training: engine was {other} .*, now {engine} "):
        TRAIN[engine](at)


@ENGINE
def test_fewer_rounds_are_refused(at, engine):
    interrupted(engine, at)
    with pytest.raises(ValueError, match="holds 10 rounds and rounds is 10: ask for more rounds"):
        TRAIN[engine](at, rounds=10)


# Arguments.


def test_values():
    assert repr(Checkpoint("c", every=3)) == "Checkpoint(path='c', every=3)"
    for every in (0, 2.5, True, None):
        with pytest.raises((ValueError, TypeError), match=r"every is .*: give a whole number of rounds"):
            Checkpoint("c", every=every)
    with pytest.raises(TypeError, match="path is 3, expected the name of a file"):
        Checkpoint(3)


@ENGINE
def test_errors_before_the_first_round(tmp_path, at, engine):
    for checkpoint, error, named in (
        (3, TypeError, "checkpoint is 3, expected Checkpoint"),
        (tmp_path / "none" / "c", ValueError, "checkpoint .* folder .* does not exist"),
        (tmp_path, ValueError, "is a folder"),
    ):
        with pytest.raises(error, match=named):
            TRAIN[engine](checkpoint)
    continued = {"lightgbm": "init_model", "xgboost": "xgb_model"}[engine]
    with pytest.raises(ValueError, match=f"checkpoint and {continued} are both given"):
        TRAIN[engine](at, **{continued: "model.txt"})
    for other, named in (
        *(
            (other, "is not a checkpoint of lambdaboost: delete it")
            for other in (b"", b"\xff\xfe", b"{}", b"[1]")
        ),
        (
            b'{"lambdaboost checkpoint": 1, "rounds": 2}',
            "is of format 1, this version of lambdaboost reads format 3",
        ),
        (b'{"lambdaboost checkpoint": 3, "rounds": 2}', "is damaged, its content differs"),
    ):
        Path(at.path).write_bytes(other)
        with pytest.raises(ValueError, match=named):
            TRAIN[engine](at)
    assert os.listdir(tmp_path) == ["run.checkpoint"]


@pytest.mark.parametrize("name", ["num_iterations", "n_estimators", "early_stopping_round"])
def test_lightgbm_takes_rounds_and_stopping_as_arguments(at, name):
    with pytest.raises(
        ValueError, match=f"params has {name} beside checkpoint=: give it as (rounds|callbacks)="
    ):
        train_lightgbm(at, params=PARAMS | {name: 9})


# A disk that is full.


@ENGINE
def test_a_full_disk_leaves_the_last_checkpoint_and_the_training(at, engine):
    expected = TRAIN[engine](None, rounds=16)[0]
    interrupted(engine, at)
    size = os.path.getsize(at.path)

    def fill():
        full.enter_context(file_size.limited(size))

    said = pytest.warns(UserWarning, match=r"could not be saved after round 15: .*File too large.*goes on")
    with ExitStack() as full, said:
        model = TRAIN[engine](at, 12, fill, rounds=16)[0]
    assert text(model) == text(expected)
    assert rounds_in(at) == 10 and os.listdir(Path(at.path).parent) == ["run.checkpoint"]
    assert text(TRAIN[engine](at, rounds=16)[0]) == text(expected)


def test_stock_engines_load_what_a_checkpoint_holds(at):
    """The model of a checkpoint is the engine's own text."""
    for engine in TRAIN:
        there = dataclasses.replace(at, path=f"{at.path}.{engine}")
        interrupted(engine, there)
        model = content(there.path)["model"]
        if engine == "lightgbm":
            assert lgb.Booster(model_str=model).current_iteration() == 10
        else:
            assert xgb.Booster(model_file=bytearray(model.encode())).num_boosted_rounds() == 10


def test_linear_schedule_matters():
    """The tests above would not see a schedule that starts over if it made no difference."""
    start_over = train_lightgbm(None, objective=Blend(LambdaRank(), ClickTier(), Linear(0.1, 0.0)))[0]
    assert text(start_over) != text(train_lightgbm(None)[0])
