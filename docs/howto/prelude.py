import numpy as np

from lambdaboost.datasets import web_search_log

log = web_search_log(60, documents=20, seed=2).shuffled(0)
train, valid = log.take(np.arange(45)), log.take(np.arange(45, 60))
X, y = train.features, train.queries.relevance
sizes, qid, clicks = train.queries.sizes, train.queries.query_of_row, train.queries.labels["clicks"]
X_valid, y_valid = valid.features, valid.queries.relevance
sizes_valid, qid_valid = valid.queries.sizes, valid.queries.query_of_row
clicks_valid = valid.queries.labels["clicks"]
