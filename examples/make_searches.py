"""Writes searches.csv, a week of searches: what two old rankers showed, where, and what was clicked and bought."""

import numpy as np
import pandas as pd

from lambdaboost.clicks import PositionBased, simulate
from lambdaboost.datasets import web_search_log

draw = np.random.default_rng(0)
pages = web_search_log(40, documents=12, seed=3)
q, n = pages.queries, pages.queries.n_documents
rankers = [pages.features[:, 0], pages.features[:, 1] + draw.normal(size=n)]
log = simulate(rankers, q, PositionBased(eta=1.0), sessions=60, rng=draw)
of = log.document
frame = pd.DataFrame(pages.features[of, :4], columns=["text", "links", "price", "age"])
frame = frame.assign(
    day=log.session % 7, session=log.session, query=log.query, document=of, rank=log.position
)
frame["brand"] = np.array(["oak", "elm", "ash"])[np.minimum(q.relevance[of].astype(int), 2)]
frame.loc[frame["price"].rank(pct=True) > 0.95, "brand"] = None
frame["city"] = np.array(["Bern", "Genf"])[draw.integers(2, size=n)][of]
frame["clicked"] = log.clicked.astype(int)
frame["bought"] = (log.clicked & (draw.random(len(of)) < q.relevance[of] / 5)).astype(int)
frame.to_csv("searches.csv", index=False)
