"""`tune(keep=)`: the trade-offs of the best setting, and the model that is proven to keep the first measure."""

import json
import shlex

import numpy as np
import pytest
from lambdaboost.tuning.second_goal import weighted

from lambdaboost import AUC, CNDCG, NDCG, GradientStep, LambdaRank, Scorecard, tune
from lambdaboost._installed import engine_named
from lambdaboost.cli.run import BAD_INPUT, OK, run
from lambdaboost.datasets import Collection, Queries, web_search_log, write_letor
from lambdaboost.native import NativeObjective
from lambdaboost.tuning import Stopped
from lambdaboost.tuning import run as of_run
from lambdaboost.tuning.keep import WEIGHTS
from lambdaboost.tuning.training import Trainings

pytest.importorskip("optuna")
LOG = web_search_log(40, documents=12, seed=3)
TRAIN, VALID = LOG.take(range(26)), LOG.take(range(26, 40))
BOTH = (NDCG(10), CNDCG(10))
QUICK = {"objectives": ["LambdaRank"], "settings": 1, "rounds": 6, "patience": 3, "workers": 1, "folds": 2}
GENEROUS = {"measure": BOTH, "keep": 0.9, **QUICK}  # all of it is proven


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return tmp_path_factory.mktemp("keep") / "study.log"


@pytest.fixture(scope="module")
def tuned(study):
    return tune(TRAIN, VALID, study=study, **GENEROUS)


def test_the_model_is_the_proven_trade_off_with_the_highest_second_measure(tuned):
    kept = tuned.kept
    assert len(kept.steps) == len(WEIGHTS) - 1 and all(step.is_proven for step in kept.steps)
    assert kept.chosen == int(np.argmax([second for _, second in kept.means])) > 0
    w = WEIGHTS[kept.chosen]
    assert tuned.objective == Scorecard((LambdaRank(), LambdaRank(CNDCG(10))), (1 - w, w))
    assert engine_named(tuned.engine).n_rounds(tuned.booster) == tuned.rounds
    assert tuned.about()["validation"] == dict(zip(map(repr, BOTH), kept.means[kept.chosen], strict=True))
    assert repr(tuned).endswith(f"NDCG(k=10) {kept.means[kept.chosen][0]:.4f})")
    assert kept.frame["chosen"].tolist() == [at == kept.chosen for at in range(len(WEIGHTS))]


def test_the_script_trains_the_trade_off_again(tuned, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    again = {"train": TRAIN, "valid": VALID}
    exec(tuned.script(), again)
    assert (again["booster"].predict(LOG.features) == tuned.booster.predict(LOG.features)).all()


def test_every_query_is_held_out_by_folds_that_the_search_has_not_seen(tuned):
    kept = tuned.kept
    assert kept.values.shape == (len(WEIGHTS), 2, 40) and not np.isnan(kept.values).any()
    assert (kept.values[0, 0] != tuned.chosen.values[0]).any()


def test_a_finished_study_is_not_trained_again(study, tuned, monkeypatch):
    monkeypatch.setattr(Trainings, "run", lambda *_: pytest.fail("trained again"))
    again = tune(TRAIN, VALID, study=study, **GENEROUS)
    assert (again.kept.values == tuned.kept.values).all() and again.kept.verdict == tuned.kept.verdict


def test_ctrl_c_between_trade_offs_leaves_the_first_goal_and_the_study_goes_on(tuned, tmp_path, monkeypatch):
    trained, whole = [], Trainings.run

    def interrupted(self, trial, *rest):
        if len(trained) == 4:
            raise KeyboardInterrupt
        trained.append(trial.number)
        return whole(self, trial, *rest)

    monkeypatch.setattr(Trainings, "run", interrupted)
    with pytest.raises(Stopped, match="stopped before the last trade-off") as stopped:
        tune(TRAIN, VALID, study=tmp_path / "study.log", **GENEROUS)
    assert stopped.value.finish().objective == LambdaRank() and trained == [0, 0, 1, 2]
    monkeypatch.setattr(Trainings, "run", lambda *given: trained.append(given[1].number) or whole(*given))
    again = tune(TRAIN, VALID, study=tmp_path / "study.log", **GENEROUS)
    assert trained[4:] == list(range(3, len(WEIGHTS)))
    assert (again.kept.values == tuned.kept.values).all()
    assert again.booster.model_to_string() == tuned.booster.model_to_string()


def test_without_a_proof_the_model_is_that_of_the_search():
    small = {**GENEROUS, "keep": 1e-6}
    found = tune(TRAIN, VALID, split="given", **small)
    alone = tune(TRAIN, VALID, split="given", measure=BOTH[0], **QUICK)
    assert found.kept.chosen == 0 and found.kept.values.shape[2] == 14  # those of the validation part
    assert found.booster.model_to_string() == alone.booster.model_to_string()
    assert found.verdict.startswith("No trade-off is proven to keep NDCG(k=10) within 1e-06")
    assert "A proof would take about" in found.about()["kept"]["verdict"]


def test_the_second_goal_goes_into_what_can_hold_it():
    second = LambdaRank(CNDCG(10))
    assert weighted(NativeObjective("lambdarank"), BOTH, 0.2) == Scorecard(
        (LambdaRank(NDCG(10)), second), (0.8, 0.2)
    )
    steps = GradientStep(LambdaRank())
    assert weighted(steps, BOTH, 0.2) == GradientStep(Scorecard((LambdaRank(), second), (0.8, 0.2)))
    assert weighted(steps, BOTH, 0.0) is steps


def test_the_page_shows_the_front_and_the_tests(tuned, tmp_path):
    text = tuned.page(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "NDCG(k=10) kept, CNDCG(k=10) raised" in text and "proven to lose less than 0.9" in text


@pytest.mark.slow
def test_the_estimate_on_held_out_queries_is_of_both_measures():
    found = tune(TRAIN, VALID, nested=2, **GENEROUS)
    assert found.held_out.measures == BOTH and found.held_out.values.shape == (2, 40)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
def test_workers_train_the_same_trade_offs(engine):
    given = {**GENEROUS, "engine": engine}
    assert np.allclose(
        tune(LOG, **given).kept.values, tune(LOG, **{**given, "workers": 2}).kept.values, rtol=0, atol=1e-12
    )


without_clicks = Collection(LOG.features, Queries(LOG.queries.relevance, LOG.queries.sizes))
many_clicks = Collection(
    LOG.features, Queries(LOG.queries.relevance, LOG.queries.sizes, clicks=5 * LOG.queries.labels["clicks"])
)


@pytest.mark.parametrize(
    ("data", "given", "said"),
    [
        (LOG, {"keep": 0}, r"keep is 0: give what the first measure may lose, such as 0\.005"),
        (LOG, {"keep": -0.1}, r"keep is -0\.1: give what the first"),
        (LOG, {"keep": float("nan")}, "keep is nan"),
        (LOG, {"keep": 1}, r"keep is 1: give what the first measure may lose, below 1"),
        (LOG, {"keep": "little"}, "keep is 'little'"),
        (
            LOG,
            {"measure": "ndcg@10"},
            "keep takes two different measures, .* and measure has 1: give such as",
        ),
        (LOG, {"measure": ["ndcg@10", NDCG(10)]}, "measure has 1: give"),
        (LOG, {"measure": ["ndcg@10", "map", "mrr"]}, "measure has 3: give"),
        (LOG, {"measure": ["ndcg@10", AUC()]}, "keep with a second measure, which is AUC.*one of"),
        (LOG, {"choose": "balanced"}, "choose is 'balanced' with keep=, which chooses by proof"),
        (LOG, {"folds": 41}, "folds is 41, but there are 40 different queries"),
        (without_clicks, {}, "no label source 'clicks'"),
        (many_clicks, {}, "clicks"),
    ],
)
def test_bad_input_is_refused_before_anything_is_trained(data, given, said, monkeypatch):
    monkeypatch.setattr(of_run, "Search", lambda *_: pytest.fail("trained"))
    with pytest.raises((ValueError, TypeError), match=said) as refused:
        tune(data, **{"keep": 0.005, "measure": BOTH, **QUICK, **given})
    assert "\n" not in str(refused.value)


def test_the_command_takes_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_letor(tmp_path / "train.txt", LOG)
    given = shlex.split(
        "tune train.txt --out model.txt --objective LambdaRank --settings 1 --rounds 6 --folds 2 "
        "--measure ndcg@10 --measure ndcg@3"
    )
    assert run([*given, "--keep", "0.9", "--json"]) == OK
    kept = json.loads(capsys.readouterr().out)["tuning"]["kept"]
    assert kept["keep"] == 0.9 and "0.9" in kept["verdict"]
    assert run([*given, "--keep", "0", "--overwrite"]) == BAD_INPUT
    assert capsys.readouterr().err == (
        "lambdaboost: --keep is 0.0: give what the first measure may lose, such as 0.005\n"
    )
