"""The boosting round that an objective sees: right however often an engine or a wrapper asks for the gradient."""

import lightgbm as lgb
import pytest
import xgboost as xgb
from on_lightgbm import PARAMS
from rankers import Q, X, stock

from lambdaboost import Blend, LambdaRank, RankNet, SigmoidLocal

XGB = {"nthread": 1, "max_depth": 3, "verbosity": 0, "objective": "rank:ndcg", "base_score": 0}
TIMES = (1, 0, 2, 5, 0, 0, 1)  # calls of the objective in each round


class Rounds:
    """A schedule that notes the rounds it is asked for, also where it is copied."""

    def __init__(self):
        self.seen = []

    def __call__(self, iteration):
        self.seen.append(iteration)
        return 0.1


def scheduled():
    """The rounds seen so far, and the objective."""
    rounds = Rounds()
    return rounds.seen, Blend(LambdaRank(), RankNet(), rounds)


class Wrapped:
    """What a user puts around an objective: calls it several times in each round, and returns RankNet's gradient."""

    def __init__(self, objective, times):
        self.objective, self.times = objective, iter(times)

    def __deepcopy__(self, memo):
        return self

    def __call__(self, scores, data):
        for _ in range(next(self.times)):
            self.objective(scores, data)
        return RankNet()(scores, data)


def dataset(engine):
    return stock(engine).dataset(X, Q.relevance, group=Q.sizes)


def updates(engine):
    """A booster of a loop of updates, and what updates it by an objective."""
    if engine == "lightgbm":
        booster = lgb.Booster({**PARAMS, "objective": "none"}, dataset(engine))
        return booster, lambda objective: booster.update(fobj=objective)
    data = dataset(engine)
    booster = xgb.Booster(XGB, [data])
    return booster, lambda objective: booster.update(data, 0, fobj=objective)


def stock_train(engine, objective, rounds, params=None, model=None):
    base, start = {"lightgbm": (PARAMS, "init_model"), "xgboost": (XGB, "xgb_model")}[engine]
    made, more = {**base, **(params or {})}, {start: model}
    return stock(engine).train(made, dataset(engine), rounds, objective=objective, **more)


def expected(times, first=0):
    return [first + m for m, n in enumerate(times) for _ in range(n)]


def test_wrappers_may_ask_any_number_of_times(engine, tmp_path):
    """Also where a training goes on from a booster or from its file."""
    seen, objective = scheduled()
    booster = stock_train(engine, Wrapped(objective, TIMES), len(TIMES))
    assert seen == expected(TIMES)
    booster.save_model(str(tmp_path / "half.json"))
    for model in (booster, str(tmp_path / "half.json")):
        seen.clear()
        stock_train(engine, Wrapped(objective, TIMES), len(TIMES), model=model)
        assert seen == expected(TIMES, first=len(TIMES))


@pytest.mark.filterwarnings("ignore:Stopped training")
def test_rounds_without_a_split():
    """XGBoost counts them; LightGBM drops the tree, and so the next round has the same number."""
    seen, objective = scheduled()
    stock_train("xgboost", Wrapped(objective, (1, 2, 5, 1)), 4, {"gamma": 1e9})
    assert seen == expected((1, 2, 5, 1))
    seen.clear()
    stock_train("lightgbm", Wrapped(objective, (1, 2, 5, 1)), 4, {"min_gain_to_split": 1e9})
    assert seen == [0] + [1] * 8  # the first tree stays


def test_boost_has_no_round():
    """XGBoost's `Booster.boost` takes gradients that the caller computes, so `gradient` is given the round."""
    (seen, objective), data = scheduled(), dataset("xgboost")
    booster = xgb.Booster(XGB, [data])
    for i in range(3):
        scores = booster.predict(data, output_margin=True)
        objective(scores, data)
        grad, hess = objective.gradient(scores, Q, i)
        booster.boost(data, iteration=i, grad=grad, hess=hess)
    assert seen == [0, 0, 0, 1, 0, 2]


def test_rounds_rolled_back_are_computed_again():
    seen, objective = scheduled()
    booster, update = updates("lightgbm")
    for _ in range(3):
        update(Wrapped(objective, [2]))
    booster.rollback_one_iter()
    update(objective)
    booster.rollback_one_iter().rollback_one_iter()
    update(objective)
    update(objective)
    assert seen == [0, 0, 1, 1, 2, 2, 2, 1, 2]
    booster, update = updates("lightgbm")
    update(objective)
    booster.rollback_one_iter()
    update(objective)
    assert seen[-2:] == [0, 0]


def test_a_second_objective_of_a_booster_is_checked_too(engine):
    """Its curvature would go into Newton steps."""
    _, update = updates(engine)
    update(LambdaRank())
    with pytest.raises(ValueError, match=r"changes sign.*GradientStep\(SigmoidLocal\(\)\)"):
        update(SigmoidLocal())
    update(LambdaRank())
