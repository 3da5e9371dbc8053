"""Compiles the kernels that many tests call, on all processors: `make test` runs it first.

Test files that run at the same time would each compile the same kernels.
"""

import multiprocessing
import random
import warnings
from concurrent.futures import ProcessPoolExecutor

import drawn
import joblib
from naive_measures import instance
from rules import RULES, is_rare

from lambdaboost import CNDCG, NDCG
from lambdaboost.evaluation import MEASURES

TASKS = [rule.objective for rule in RULES if not is_rare(rule.objective)]
TASKS += [instance(cls, **{"k": 3} if "k" in cls.__dataclass_fields__ else {}) for cls in MEASURES.values()]
SHAPES = (
    lambda: drawn.make(5, [60, 1, 30, 2]),
    lambda: drawn.make(5, [60, 1, 30, 2], spread=1e6, missing=True),
    lambda: drawn.edges(sizes=(33, 129)),
)
BY_TREE = (lambda: drawn.make(5, [6000]),)


def compile_for(task: int) -> None:
    """Call an objective or a measure on lists of each kind, so that its kernels are compiled and kept."""
    warnings.simplefilter("ignore")
    rule = TASKS[task]
    # No rule with positions goes by the tree; that of other swaps is for slow tests.
    is_dcg = isinstance(getattr(rule, "metric", NDCG()), NDCG | CNDCG)
    for make in SHAPES + BY_TREE if is_dcg and not rule.reads_positions else SHAPES:
        scores, q = make()
        if hasattr(rule, "gradient"):
            rule.gradient(scores, q, iteration=3)
        else:
            rule(scores, q)


def main() -> None:
    """Compile on as many processes as there are processors."""
    tasks = list(range(len(TASKS)))
    random.Random(0).shuffle(tasks)  # neighbours share kernels, which two processes would both compile
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(joblib.cpu_count(), mp_context=spawn) as pool:  # raises where a process dies
        for _ in pool.map(compile_for, tasks):
            pass


if __name__ == "__main__":
    main()
