"""FLAML's `AutoML(task="rank")` on one fold, run by an interpreter that has FLAML: ``python flaml_child.py FILE``.

FILE is an .npz with X, y, sizes, test, seconds and seed; FILE.out.npz gets the scores of `test` and what was chosen.
"""

import sys
import time

import numpy as np
from flaml import AutoML


def main(path: str) -> None:
    """Search for the seconds given, train the best again on all data, and score the test documents."""
    with np.load(path) as given:
        data = dict(given)
    automl, begin = AutoML(), time.process_time()
    automl.fit(
        X_train=data["X"],
        y_train=data["y"].astype(int),
        groups=np.repeat(np.arange(data["sizes"].size), data["sizes"]),
        task="rank",
        metric="ndcg@10",
        eval_method="cv",
        n_splits=5,
        time_budget=float(data["seconds"]),
        n_jobs=1,
        seed=int(data["seed"]),
        retrain_full=True,
        verbose=0,
    )
    scores = automl.predict(data["test"])
    chosen = f"{automl.best_estimator} {automl.best_config}"
    np.savez(f"{path}.out.npz", scores=scores, chosen=chosen, seconds=time.process_time() - begin)


if __name__ == "__main__":
    main(sys.argv[1])
