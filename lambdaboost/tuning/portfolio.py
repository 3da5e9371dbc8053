"""The portfolio: complete settings that a search tries first, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from lambdaboost.engines.engine import engine_named
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


SMALL = {"max_leaves": 6}
PORTFOLIO = (  # by judgement
    Setting("rank_xendcg"),
    Setting("lambdarank", SMALL),
    Setting("GumbelRanks(LambdaRank()) by gradient steps"),
    Setting("rank:ndcg", {"learning_rate": 0.3, "max_leaves": 64}, own=True),
    Setting("LambdaLoss()"),
    Setting("LambdaRank()", {"max_leaves": 8, "learning_rate": 0.05}),
    Setting("rank_xendcg", {"max_leaves": 8}),
    Setting("LambdaRank()"),
    Setting("GumbelRanks(LambdaRank()) by gradient steps", {"max_leaves": 8}),
    Setting("lambdarank", {"max_leaves": 64, "learning_rate": 0.05, "least_documents": 50, "l2": 1.0}),
    Setting("LambdaLoss()", {"max_leaves": 6, "learning_rate": 0.05}),
    Setting("RankNet()"),
    Setting("rank:ndcg", {"max_leaves": 8}),
    Setting("LambdaRank() with a cutoff", {"max_leaves": 16, "feature_fraction": 0.7}),
    Setting("LambdaRank() by gradient steps", {"max_leaves": 16}),
    Setting("rank:pairwise", {"max_leaves": 16}),
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
        (keys.index(key) for key in (engine_named(engine).native, "LambdaRank()") if key in keys), 0
    )
    own = next(
        (one for one in PORTFOLIO if one.own and one.candidate == keys[default]), Setting(keys[default])
    )
    wanted = [replace(own, own=True)]
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
