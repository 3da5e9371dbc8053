"""What the adapters refused or warned of in version 0.1 (5bf7479), they still do, in the same words or better.

`messages_0.1.txt` holds the texts of their tables and errors then, one a line. Each is a text of the package today, or
stands below with what became of it.
"""

import re
from pathlib import Path

from messages import texts

import lambdaboost

PACKAGE = Path(lambdaboost.__file__).parent
BEFORE = Path(__file__).with_name("messages_0.1.txt").read_text(encoding="utf-8").splitlines()

# The beginning of a text of 0.1, and a part of the one that says it today.
REWORDED = {
    "eval_metric has {}, expected measures": "{} has {}, expected measures such as NDCG(k=3) or 'ndcg@3', or callables",
    "a worker died and {} of": "a worker died with its partitions: train again",
    "position: this objective does not read": "with one that does, such as InversePropensity(LambdaRank(), curve)",
    "query {} is split over partitions": "keep the rows of a query in one partition, as frame.shuffle('qid') does",
    "relevance[{}] is {}, and XGBoost's": "convert them, or give LambdaRank(MAP())",
    "relevance[{}] is {}, and {}'s own": "give an objective of their order, such as RankNet() or",
    "{} reads positions: give the rank": "no positions here: give the rank of each row, from 1, as position=",
    "{} died during the call": "{} {} died during the call: it was killed, ran out of memory or lost its machine",
    "Dask cancelled the calls": "{} {} died during the call",
    "{} is given, but there is nothing to evaluate": "valid and early_stopping go together: give both, or neither",
    "weight of query {} is {} and {}": "give one weight per query, or use LightGBM, which weights rows",
    "the lightgbm.Dataset has no groups": "the {} has no groups: give {}",
    "the lightgbm.Dataset has no labels": "the {} has no labels: give label=grades",
    "the xgboost.DMatrix has no groups": "the {} has no groups: give {}",
    "the xgboost.DMatrix has no labels": "the {} has no labels: give label=grades",
    "{} is damaged, its content differs": "checkpoint {} is damaged, its content differs from what was written",
    "{} is not a checkpoint": "checkpoint {} is not a checkpoint of lambdaboost: delete it, or give another path",
    "{} is of format {}": "checkpoint {} is of format {}, this version of lambdaboost reads format {}",
    "{} is given, but {} has no reference": "reference is {}: train {} alone first, evaluate {} on the ",
    "{} orders the documents of a query": "{} orders the documents of a query as the label source {} does, {}",
    "params has {}, which {} does not know: did": "params has {}, which {} does not know: {}",
    "No query has two documents": "No query has two documents of different {}: there is no order to learn",
    "{}, so all documents score the same. {}": ", so all documents score the same. ",
    "metric is {}: LightGBM's own metrics": "metric is {}: {}'s own metrics with a cutoff are ndcg@k and map@k",
    "data is a {}, expected a lambdaboost.lightgbm": "{} is a {}, expected a lambdaboost.lightgbm.Dataset",
    "params has bagging_by_query": "bagging_by_query: under any objective but its own LightGBM never draws the bags",
    "min_data_in_leaf (20 by default) counts": "min_data_in_leaf (20 by default) counts documents as LightGBM",
    "every is {}, expected a whole number": "give a whole number of rounds ≥ 1",
    "label and sources['relevance']": "sources has 'relevance': that is what label= gives",
    "partition {}: {} has {} rows": "{} has {} rows, {} has {}",
    "X has no rows": "{} has no rows: give at least one partition with rows",
    "{} has {} partitions, X has": "{} has {} partitions, {} has {}: partition them alike, row by row",
    "{} is {}, expected a Dask": "without a cluster use lambdaboost.lightgbm, lambdaboost.xgboost",
    "valid is a {}, expected Collection(": "expected Collection(features, Queries(…)), or Dask collections as {}",
    "{} has a row twice": "{} holds a row twice: give each row once",
    "{} has {} of the {} rows of query": "keep every query whole, as GroupKFold does",
    "{}[{}] has {} rows, X has {}": "give one label per document",
    "early_stopping_rounds={} of the call": "which XGBoost does not read there: give early_stopping_rounds={}",
    "params has {}={}, which XGBoost does not": "params has {}={}, which XGBoost does not read there: give rounds={}",
    "rounds={} of the call, or n_estimators": "give rounds={} of the call, or n_estimators={} of a ranker",
    "min_child_weight (1 by default) sums": "min_child_weight (1 by default) sums hessians, which are small",
}
# Features are compared by the scores of the model so far; no copy of them is written. Objectives that estimate the bias
# of positions are in experiments/clicks.
GONE = (
    "checkpoint: the features could not be written",
    "{} estimates the bias of positions from all queries",
)


def test_every_message_of_the_first_version_is_said_today():
    today = set().union(*(texts(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")))
    assert len(BEFORE) > 130 and len(today) > 500
    used, silent = set(), []
    for text in BEFORE:
        text = text.replace("\\n", "\n")
        if text in today or text.startswith(GONE):
            continue
        begins = [begin for begin in REWORDED if text.startswith(begin)]
        used |= set(begins)
        if not any(REWORDED[begin] in now for begin in begins for now in today):
            silent.append(text)
    assert (silent, used) == ([], REWORDED.keys())


def test_texts_are_those_of_messages():
    source = '"""No."""\ndef f(x):\n    """No, this is a docstring, which is not a message."""\n'
    source += '    raise E(f"{x!r} is wrong: give something else" " in its place")\n'
    assert texts(source) == {"{} is wrong: give something else in its place"}
    assert re.fullmatch(r"[^\n]*", "".join(BEFORE))
