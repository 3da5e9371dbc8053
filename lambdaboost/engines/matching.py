"""Features and categories of models of one engine that become one model: what an engine's `merged` reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lambdaboost._words import listed, quote
from lambdaboost.datasets.collection import Categories


def aligned(
    names: Sequence[Sequence[str]],
    kinds: Sequence[list[bool | None]],
    categories: Sequence[Categories],
    at: int,
) -> tuple[NDArray[np.int64], dict[int, NDArray[np.int64]]]:
    """The place in the first model of each feature of model `at`, and the new codes of its features with categories.

    `kinds` say of the features of each model whether they are categorical, and None of those that were constant, of
    which the first model's become those of the next model that knows.
    """
    if set(names[at]) != set(names[0]) or len(names[at]) != len(names[0]):
        differ = [name for name in (*names[0], *names[at]) if name not in names[0] or name not in names[at]]
        raise ValueError(
            f"models[0] has {len(names[0])} features and models[{at}] {len(names[at])}, of which {listed(differ)} are "
            "in one model only: train all on the same columns"
        )
    of_name = {name: place for place, name in enumerate(names[0])}
    places = np.array([of_name[name] for name in names[at]], dtype=np.int64)
    recoded: dict[int, NDArray[np.int64]] = {}
    for column, (place, name, kind) in enumerate(zip(places, names[at], kinds[at], strict=True)):
        known = kinds[0][place]
        if known is None:
            kinds[0][place] = kind
        elif kind is not None and kind != known:
            before, own = ("categorical" if one else "numeric" for one in (known, kind))
            raise ValueError(
                f"feature {quote(name)} is {before} before models[{at}] and {own} in it: give it one type in all "
                "trainings"
            )
        codes = None
        if kind:
            codes = codes_of(categories, name, at)
        if codes is not None:
            recoded[column] = codes
    return places, recoded


def codes_of(categories: Sequence[Categories], name: str, at: int) -> NDArray[np.int64] | None:
    """The code in the first model of each category of a feature of model `at`; None where all codes are the same."""
    first, own = (None if name not in of else list(of[name]) for of in (categories[0], categories[at]))
    if first == own:
        return None
    if first is None or own is None or set(first) != set(own):
        what = [
            "no values" if values is None else f"{len(values)} values, such as {quote(str(values[-1]))}"
            for values in (first, own)
        ]
        raise ValueError(
            f"the categories of {quote(name)} differ: {what[0]} in models[0], {what[1]} in models[{at}]; give the "
            "column the same pandas.CategoricalDtype in all trainings"
        )
    return np.array([first.index(value) for value in own], dtype=np.int64)


def refuse_mixed_forests(forests: Sequence[bool]) -> None:
    """Raise where only some models are random forests."""
    if len(set(forests)) > 1:
        forest, boosted = forests.index(True), forests.index(False)
        raise ValueError(
            f"models[{forest}] is a random forest and models[{boosted}] boosted trees: merge models of one kind, or "
            "add up their scores"
        )
