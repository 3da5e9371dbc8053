"""The functions of lambdaboost that a round of a LightGBM training calls for λ.

``python -m benchmarks.walk`` prints them. docs/how_lambda_is_computed.md shows the same list, which a test compares;
``python -m benchmarks.walk docs/how_lambda_is_computed.md`` writes it there.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import lightgbm as lgb
import numpy as np

import lambdaboost
from lambdaboost import NDCG, LambdaRank

PACKAGE = Path(lambdaboost.__file__).parent
OBJECTIVE = LambdaRank(NDCG(k=3))
ROUND = 3  # counted from 0: what is made once for a training is made by then
LENGTHS = (10, 120)
BEGIN, END = "% walk", "% end of walk"  # comments on the page


class Call(NamedTuple):
    """A call of a Python function."""

    file: str
    function: str


class Watched:
    """The objective, with the functions that it calls in one round."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._round = -1

    def __deepcopy__(self, memo: dict[int, Any]) -> Watched:
        return self  # LightGBM copies its parameters

    def __call__(self, scores: Any, data: Any) -> Any:
        """The gradient."""
        self._round += 1
        if self._round != ROUND:
            return OBJECTIVE(scores, data)
        sys.setprofile(self._note)
        try:
            return OBJECTIVE(scores, data)
        finally:
            sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            self.calls.append(Call(path.relative_to(PACKAGE).as_posix(), frame.f_code.co_qualname))


def walk(documents: int, queries: int = 40) -> list[Call]:
    """The calls of one gradient of `LambdaRank(NDCG(k=3))` on lists of so many documents."""
    rng = np.random.default_rng(0)
    n = documents * queries
    data = lgb.Dataset(rng.normal(size=(n, 3)), rng.integers(0, 5, n), group=np.full(queries, documents))
    watched = Watched()
    lgb.train({"objective": watched, "verbose": -1, "num_threads": 1}, data, ROUND + 1)
    return watched.calls


def listed(calls: Iterable[Call]) -> str:
    """A line a file, with its functions in the order of their first calls, and how often each was called."""
    counts = Counter(calls)
    functions: dict[str, list[str]] = {}
    for call, times in counts.items():
        functions.setdefault(call.file, []).append(f"{call.function}" + (f" × {times}" if times > 1 else ""))
    width = max(map(len, functions))
    return "\n".join(f"{file:<{width}}  {', '.join(names)}" for file, names in functions.items())


def page() -> str:
    """The list for each length, as the page shows it."""
    texts = []
    for documents in LENGTHS:
        calls = walk(documents)
        files = len({call.file for call in calls})
        texts.append(
            f"Lists of {documents} documents: {len(calls)} calls in {files} files.\n\n"
            f"```text\n{listed(calls)}\n```"
        )
    return "\n\n".join(texts)


def with_list(text: str, shown: str) -> str:
    """The text of a page with the list between its two marks."""
    before, _, rest = text.partition(f"{BEGIN}\n")
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{shown}\n\n{END}{after}"


if __name__ == "__main__":
    found = page()
    print(found)
    for path in map(Path, sys.argv[1:]):
        path.write_text(with_list(path.read_text(encoding="utf-8"), found), encoding="utf-8")
