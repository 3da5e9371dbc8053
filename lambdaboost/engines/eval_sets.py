"""`EvalSet`: a validation set of a `LambdaRanker`, read from the list arguments of `fit`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lambdaboost.datasets.named_columns import NamedColumns, Rows


@dataclass(frozen=True, eq=False)
class EvalSet:
    """A validation set.

    Attributes
    ----------
    name : str
        Its name in messages, such as ``"eval_set[0]"``.
    X, y
        Features, possibly with the named columns, and grades.
    items : dict of str to object
        Its item of every list that was given: ``"group"``, ``"qid"``, ``"sources"``, ``"position"`` and others that the
        engine takes.

    """

    name: str
    X: Any
    y: Any
    items: dict[str, Any]

    def rows(self, columns: NamedColumns, order: Sequence[Any] | None) -> Rows:
        """Its features, in the `order` of the training, with its queries, label sources and positions."""
        beside = (self.items.get(name) for name in ("group", "qid", "sources", "position"))
        return columns.split(self.name, self.X, *beside, order=order)

    def is_training(self, **training: Any) -> bool:
        """Whether it consists of the same objects as the training data, which an engine evaluates without a copy."""
        own = {"X": self.X, "y": self.y, **self.items}
        return all(own.get(name) is value for name, value in training.items())


def eval_sets(
    eval_set: Sequence[tuple[Any, Any]], lists: Mapping[str, Sequence[Any] | None]
) -> list[EvalSet]:
    """The validation sets; `lists` are the arguments of `fit` with an item for each, such as ``eval_group=``.

    Raises
    ------
    ValueError
        If a list does not have one item for each set.

    """
    for name, values in lists.items():
        if values is not None and len(values) != len(eval_set):
            raise ValueError(
                f"{name} has {len(values)} items, eval_set {len(eval_set)}: give one for each set"
            )
    given = {name: values for name, values in lists.items() if values is not None}
    return [
        EvalSet(f"eval_set[{i}]", X, y, {_item(name): values[i] for name, values in given.items()})
        for i, (X, y) in enumerate(eval_set)
    ]


def _item(name: str) -> str:
    """``"group"`` for ``eval_group=``; XGBoost puts some names the other way round: ``sample_weight_eval_set=``."""
    return name.removeprefix("eval_").removesuffix("_eval_set")
