"""From searches.csv, with categories, two labels and positions, to a ranker that onnxruntime serves.

On these made-up data clicks lower both measures, so the ranker of bookings alone is served.
"""

import json

import numpy as np
import onnxruntime
import pandas as pd

from lambdaboost import NDCG, Queries, export, graded
from lambdaboost.clicks import ClickLog, intervention_harvesting
from lambdaboost.evaluation import ClickDCG
from lambdaboost.lightgbm import LambdaRanker

rows = pd.read_csv("searches.csv", dtype={"brand": "category", "city": "category"})
keys = {"query": "query", "document": "document", "position": "rank", "clicked": "clicked"}
curve = intervention_harvesting(ClickLog.from_frame(rows, **keys))
X, y, last = rows.drop(columns=["query", "document", "bought"]), rows["bought"], rows["day"] == 6
shown = X[last]
held_out = Queries(y[last], ids=shown["session"], clicked=shown["clicked"], position=shown["rank"])
measures = NDCG(k=10, empty=float("nan")), ClickDCG(k=10, propensities=curve, source="clicked")
for weight in (0.2, 0):  # of the clicks
    ranker = LambdaRanker(objective=graded(weight, "clicked", propensities=curve), verbose=-1)
    ranker.set_params(query="session", position="rank", sources=["clicked"]).fit(X[~last], y[~last])
    print(weight, *(round(measure(ranker.predict(shown), held_out), 3) for measure in measures))
export(ranker, "ranker.onnx", format="onnx")
served = onnxruntime.InferenceSession("ranker.onnx")
about = {name: json.loads(text) for name, text in served.get_modelmeta().custom_metadata_map.items()}
codes = {n: pd.Series(range(len(v)), v).reindex(shown[n].to_numpy()) for n, v in about["categories"].items()}
inputs = np.column_stack([codes.get(name, shown[name]) for name in about["features"]]).astype(np.float32)
scores = served.run(["score"], {"X": inputs})[0].ravel()
print(measures[0](scores, held_out))
