"""`Plan`: how large and how often everything is measured."""

from __future__ import annotations

from dataclasses import dataclass

LONG = 500_000_000  # pairs of a shape


@dataclass(frozen=True)
class Shape:
    """So many queries of so many documents."""

    queries: int
    documents: int

    @property
    def pairs(self) -> int:
        """About how many pairs of documents an objective looks at, twice over."""
        return self.queries * self.documents**2

    def __str__(self) -> str:
        return f"{self.queries:,} × {self.documents:,}"


@dataclass(frozen=True)
class Case:
    """A shape with the truncation of pairs, None for all pairs."""

    shape: Shape
    truncation: int | None = None

    def __str__(self) -> str:
        return str(self.shape) if self.truncation is None else f"{self.shape}, truncation {self.truncation}"


@dataclass(frozen=True)
class Plan:
    """The sizes of a run.

    Attributes
    ----------
    cases : tuple of Case
        For the comparison with the engines' own objectives.
    rounds, repetitions : int
        Boosting rounds of a training, and how often each is timed.
    list_sizes : tuple of int
        Documents of the single list.
    sampled : int
        Documents of it whose λ and μ are held to float64 sums.
    list_repetitions, start_repetitions : int
        How often each list, and each new process, is timed.
    memory_documents : int
        Documents of the list whose memory is measured.
    peer_pairs, numpy_pairs : int
        About how many pairs of documents a peer, and the slow NumPy objective, are given in one training.

    """

    cases: tuple[Case, ...]
    rounds: int
    repetitions: int
    list_sizes: tuple[int, ...]
    sampled: int
    list_repetitions: int
    start_repetitions: int
    memory_documents: int
    peer_pairs: int
    numpy_pairs: int

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Each shape once."""
        return tuple(dict.fromkeys(case.shape for case in self.cases))

    def repetitions_at(self, shape: Shape) -> int:
        """How often trainings of a shape are timed: no more than three times where one takes a minute or more."""
        return self.repetitions if shape.pairs < LONG else min(self.repetitions, 3)

    def rounds_within(self, pairs: int, shape: Shape) -> int:
        """The rounds of a training that is given about so many pairs."""
        return max(1, min(self.rounds, pairs // shape.pairs))


FULL = Plan(
    cases=(
        Case(Shape(1000, 120)),
        Case(Shape(100, 1200)),
        Case(Shape(30, 5000)),
        Case(Shape(1000, 120), truncation=30),
    ),
    rounds=20,
    repetitions=5,
    list_sizes=tuple(4000 * 2**doubling for doubling in range(8)),
    sampled=64,
    list_repetitions=7,
    start_repetitions=5,
    memory_documents=512_000,
    peer_pairs=3_000_000_000,
    numpy_pairs=300_000_000,
)
QUICK = Plan(
    cases=(Case(Shape(40, 40)), Case(Shape(4, 400)), Case(Shape(40, 40), truncation=10)),
    rounds=3,
    repetitions=2,
    list_sizes=(500, 1000, 2000, 4000),
    sampled=16,
    list_repetitions=2,
    start_repetitions=1,
    memory_documents=20_000,
    peer_pairs=1_000_000,
    numpy_pairs=100_000,
)
