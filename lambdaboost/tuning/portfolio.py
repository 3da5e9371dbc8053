"""The portfolio: complete settings that a search tries first, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from lambdaboost._installed import engine_named
from lambdaboost.tuning.candidates import Candidate
from lambdaboost.tuning.space import Space


@dataclass(frozen=True)
class Setting:
    """A candidate with values of its knobs, and of its trees.

    Attributes
    ----------
    candidate : str
        The candidate's `key`: its name where the measure is NDCG.
    values : dict
        Values by the names of knobs; other knobs have their first values.
    depth : int
        The largest depth of a tree; 0 for no limit.
    own : bool
        Whether all parameters are the engine's own; `values` then only describe them to the sampler.

    """

    candidate: str
    values: Mapping[str, float] = field(default_factory=dict, hash=False)
    depth: int = 0
    own: bool = False


def _trees(
    rate: float, leaves: int, features: float, rows: float, l2: float, **others: float
) -> dict[str, float]:
    names = ("learning_rate", "max_leaves", "feature_fraction", "row_fraction", "l2")
    return dict(zip(names, (rate, leaves, features, rows, l2), strict=True)) | others


SMALL = {"max_leaves": 6}
# By `python -m benchmarks.portfolio`, as benchmarks/results/portfolio.md has it: most of what it brings comes
# from the first four, the others follow by their means.
PORTFOLIO = (
    Setting("rank_xendcg", SMALL),
    Setting("LambdaRank()", _trees(0.063, 8, 0.75, 0.96, 0.28, least_documents=8, sigma=2.0)),
    Setting("rank_xendcg", _trees(0.17, 16, 0.82, 0.6, 0.32, least_documents=36), depth=4),
    Setting("LambdaRank()", SMALL),
    Setting("GumbelRanks(LambdaRank()) by gradient steps"),
    Setting("LambdaLoss()", SMALL),
    Setting("rank_xendcg", _trees(0.13, 6, 0.96, 0.78, 0.02, least_documents=48)),
    Setting("ListNet()", SMALL),
    Setting("ListNet()", _trees(0.071, 16, 0.59, 0.97, 0.25, least_documents=16), depth=4),
    Setting("lambdarank", SMALL),
    Setting("LambdaRank()"),
    Setting("LambdaLoss()", _trees(0.097, 16, 0.82, 0.81, 0.49, least_documents=26, mu=0.35)),
    Setting("rank_xendcg"),
    Setting("LambdaLoss()", _trees(0.26, 8, 0.7, 0.64, 2.5, least_documents=91, mu=1.6)),
    Setting(
        "LambdaRank() by gradient steps", _trees(0.19, 12, 0.62, 0.74, 0.0045, least_documents=43, sigma=0.86)
    ),
    Setting("rank:ndcg", _trees(0.12, 16, 0.89, 0.6, 0.0047, least_hessian=0.012, pairs=98)),
)


class Planned(NamedTuple):
    """A setting of a search: the place of its candidate, what the sampler is told, and the values of the knobs."""

    candidate: int
    asked: dict[str, float]
    knobs: dict[str, float]
    own: bool


def planned(candidates: Sequence[Candidate], engine: str, space: Space, by_name: bool) -> tuple[Planned, ...]:
    """What a search tries before the sampler chooses: the default, then the portfolio, each setting once.

    The default is the own objective of `engine` with the engine's own parameters; where that is no candidate, it is
    LambdaRank, or the first candidate, with these parameters. Candidates that only these data have, such as `graded` of
    a label source, follow it with the trees of the portfolio's first setting. A setting whose candidate is missing is
    left out. With candidates given `by_name`, those that the portfolio has not get its trees, and each is tried once
    before any is again.
    """
    keys = [candidate.key for candidate in candidates]
    default = next(
        (keys.index(key) for key in (engine_named(engine).NATIVE, "LambdaRank()") if key in keys), 0
    )
    wanted = [Setting(keys[default], own=True)]
    wanted += [replace(PORTFOLIO[0], candidate=c.key, own=False) for c in candidates if c.of_data]
    wanted += [setting for setting in PORTFOLIO if setting.candidate in keys]
    if by_name:
        there = {setting.candidate for setting in wanted[1:]}
        rest = [key for key in keys if key not in there]
        wanted += islice(_with_trees(rest), len(PORTFOLIO))
    found: list[Planned] = []
    for setting in wanted:
        at = keys.index(setting.candidate)
        one = _on(at, candidates[at], space, setting)
        if all((one.candidate, one.asked) != (other.candidate, other.asked) for other in found):
            found.append(one)
    if by_name:
        tried = [one.candidate for one in found]
        again = [of in tried[:at] for at, of in enumerate(tried)]
        found = [found[at] for at in np.argsort(again, kind="stable")]
    return tuple(found)


def _with_trees(keys: Sequence[str]) -> Iterator[Setting]:
    """Each tree of the portfolio with all of the candidates."""
    for setting in PORTFOLIO:
        for key in keys:
            yield replace(setting, candidate=key, own=False)


def _on(at: int, candidate: Candidate, space: Space, setting: Setting) -> Planned:
    """A setting on these data, each value within the range of its knob."""
    asked = {
        name: min(max(setting.values.get(knob.name, knob.start), knob.low), knob.high)
        for name, knob in space.knobs(candidate).items()
    }
    depth = {"depth": setting.depth} if setting.depth else {}
    return Planned(at, asked, {} if setting.own else space.values(candidate, asked) | depth, setting.own)
