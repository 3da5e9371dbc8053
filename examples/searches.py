"""From searches.csv, with categories, two labels and positions, to a ranker that onnxruntime serves."""

import json

import numpy as np
import onnxruntime
import pandas as pd

from lambdaboost import NDCG, Queries, export, graded
from lambdaboost.clicks import ClickLog, intervention_harvesting
from lambdaboost.lightgbm import LambdaRanker

rows = pd.read_csv("searches.csv", dtype={"brand": "category", "city": "category"})
keys = {"query": "query", "document": "document", "position": "rank", "clicked": "clicked"}
curve = intervention_harvesting(ClickLog.from_frame(rows, **keys))
ranker = LambdaRanker(objective=graded(0.2, "clicked", propensities=curve), verbose=-1)
ranker.set_params(query="session", position="rank", sources=["clicked"])
X, y, last = rows.drop(columns=["query", "document", "bought"]), rows["bought"], rows["day"] == 6
export(ranker.fit(X[~last], y[~last]), "ranker.onnx", format="onnx")
served = onnxruntime.InferenceSession("ranker.onnx")
about = {name: json.loads(text) for name, text in served.get_modelmeta().custom_metadata_map.items()}
codes = {n: pd.Series(range(len(v)), v).reindex(X[n].to_numpy()) for n, v in about["categories"].items()}
inputs = np.column_stack([codes.get(name, X[name]) for name in about["features"]]).astype(np.float32)
scores = served.run(["score"], {"X": inputs[last]})[0].ravel()
print(NDCG(k=10, empty=float("nan"))(scores, Queries(y[last], ids=X["session"][last])))
