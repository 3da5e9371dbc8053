"""Draws report.png, which howto/evaluate.md shows: `python docs/report_picture.py`, which needs Chromium."""

import subprocess
import tempfile
from pathlib import Path

import lightgbm as lgb

from lambdaboost import CNDCG, MAP, NDCG, YetiLoss, attach, graded, report
from lambdaboost.datasets import web_search_log

PICTURE = Path(__file__).parent / "report.png"
WIDTH, HEIGHT = 820, 1196
train, test = (web_search_log(queries=n, documents=20, seed=seed) for n, seed in ((300, 0), (2000, 1)))
X, q = train.features, train.queries
systems = {"LightGBM lambdarank": "lambdarank", "YetiLoss()": YetiLoss(), "graded(0.2)": graded(0.2)}
scores = {}
for name, objective in systems.items():
    data = attach(lgb.Dataset(X, q.relevance, group=q.sizes), clicks=q.labels["clicks"])
    params = {"objective": objective, "verbose": -1, "num_threads": 1, "seed": 0}
    scores[name] = lgb.train(params, data, 100).predict(test.features)
with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "report.html"
    report(page, scores, test.queries, (NDCG(10), CNDCG(10), MAP()))
    size = f"--window-size={WIDTH},{HEIGHT}"
    command = ["chromium", "--headless", "--no-sandbox", "--hide-scrollbars", size, f"--screenshot={PICTURE}"]
    subprocess.run([*command, page.as_uri()], check=True, capture_output=True)
