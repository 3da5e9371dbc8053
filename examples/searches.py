"""From searches.csv, with categories, two labels and positions, to a ranker that onnxruntime serves.

On these made-up data a summed grade, as every purchase is a click, is no better than purchases alone, which is served.
"""

import json

import numpy as np
import onnxruntime
import pandas as pd

from lambdaboost import NDCG, InversePropensity, LambdaRank, Queries, export
from lambdaboost.clicks import ClickLog, intervention_harvesting
from lambdaboost.evaluation import ClickDCG
from lambdaboost.lightgbm import LambdaRanker

rows = pd.read_csv("searches.csv", dtype={"brand": "category", "city": "category"})
keys = {"query": "query", "document": "document", "position": "rank", "clicked": "clicked"}
curve = intervention_harvesting(ClickLog.from_frame(rows, **keys))
X, y, last = rows.drop(columns=["query", "document", "bought", "clicked"]), rows["bought"], rows["day"] == 6
shown, summed = X[last], y + rows["clicked"]
held_out = Queries(y[last], ids=shown["session"], clicked=rows["clicked"][last], position=shown["rank"])
measures = NDCG(k=10, empty=float("nan")), ClickDCG(k=10, propensities=curve, source="clicked")
for name, label in {"summed grade": summed, "purchases": y}.items():
    ranker = LambdaRanker(objective=InversePropensity(LambdaRank(), curve), verbose=-1)
    ranker.set_params(query="session", position="rank").fit(X[~last], label[~last])
    print(name, *(round(measure(ranker.predict(shown), held_out), 3) for measure in measures))
export(ranker, "ranker.onnx", format="onnx")
served = onnxruntime.InferenceSession("ranker.onnx")
about = {name: json.loads(text) for name, text in served.get_modelmeta().custom_metadata_map.items()}
codes = {n: pd.Series(range(len(v)), v).reindex(shown[n].to_numpy()) for n, v in about["categories"].items()}
inputs = np.column_stack([codes.get(name, shown[name]) for name in about["features"]]).astype(np.float32)
scores = served.run(["score"], {"X": inputs})[0].ravel()
print(measures[0](scores, held_out))
