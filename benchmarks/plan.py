"""`Plan`: the sizes and repetitions of a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """A number of queries and of documents per query."""

    queries: int
    documents: int

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
    trained : tuple of Case
        Cases that are measured inside trainings.
    rounds_trained, repetitions : int
        Boosting rounds of these trainings, and the number of timings of each.
    lengths, length_documents : tuple of int, int
        Lengths of the lists on which λ is drawn, and the number of documents of each data set.
    list_sizes : tuple of int
        Numbers of documents of the single list.
    list_repetitions, start_repetitions : int
        The number of timings of each list and of each new process.
    measured_documents : int
        Documents on which measures are timed.

    """

    trained: tuple[Case, ...]
    rounds_trained: int
    repetitions: int
    lengths: tuple[int, ...]
    length_documents: int
    list_sizes: tuple[int, ...]
    list_repetitions: int
    start_repetitions: int
    measured_documents: int


FULL = Plan(
    trained=(
        Case(Shape(40_000, 5)),
        Case(Shape(40_000, 10)),
        Case(Shape(4000, 30)),
        Case(Shape(1000, 120)),
        Case(Shape(100, 1200)),
        Case(Shape(10, 5000)),
        Case(Shape(1000, 120), truncation=30),
        Case(Shape(100, 1200), truncation=30),
        Case(Shape(10, 5000), truncation=30),
    ),
    rounds_trained=10,
    repetitions=5,
    lengths=(10, 30, 100, 300, 1000, 3000),
    length_documents=30_000,
    list_sizes=tuple(4000 * 2**doubling for doubling in range(8)),
    list_repetitions=7,
    start_repetitions=2,
    measured_documents=100_000,
)
QUICK = Plan(
    trained=(Case(Shape(200, 5)), Case(Shape(40, 40), truncation=10)),
    rounds_trained=3,
    repetitions=2,
    lengths=(10, 100),
    length_documents=1000,
    list_sizes=(500, 1000, 2000, 4000),
    list_repetitions=2,
    start_repetitions=1,
    measured_documents=3_000,
)
