"""The scripts of ``examples/`` that begin with a CSV run as shown."""

import os
import subprocess
import sys
from pathlib import Path

import lightgbm as lgb
import pytest
import xgboost as xgb

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parent.parent / "examples"
DATA = EXAMPLES / "data" / "netflix.csv.xz"


def test_from_a_csv_to_a_saved_model(engine, tmp_path):
    script = EXAMPLES / f"kaggle_{engine}.py"
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 40
    paths = os.pathsep.join([str(EXAMPLES.parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", str(script), str(DATA)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    value = float(done.stdout.splitlines()[0].rpartition(" ")[2])
    assert 0.85 < value < 1  # 0.63 in random order
    if engine == "lightgbm":
        saved = lgb.Booster(model_file=tmp_path / "ranker.txt").feature_name()
    else:
        saved = xgb.Booster(model_file=tmp_path / "ranker.json").feature_names
    assert not {"normalized_query", "score", "imdb_score"} & set(saved) and "runtime" in saved
