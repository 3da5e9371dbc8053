"""Results in the paper."""

from __future__ import annotations

COLUMNS = ("MRR10", "NDCG10", "MAP")

# Figure 9, times 1000: OHSUMED, TD2003 and TD2004 of LETOR, then TREC 2000 and 2001, each by MRR10, NDCG10 and MAP.
SETS = ("OHSUMED", "TD2003", "TD2004", "TREC2000", "TREC2001")
FIGURE_9: dict[str, tuple[int, ...]] = {
    "AUC": (799, 635, 582, 510, 349, 256, 639, 501, 420, 607, 448, 267, 632, 441, 264),
    "MAP": (808, 642, 586, 618, 411, 314, 614, 496, 412, 696, 469, 277, 636, 450, 272),
    "NDCG": (790, 636, 581, 587, 372, 302, 631, 457, 374, 517, 323, 175, 608, 356, 171),
    "NDCG-NC": (818, 640, 582, 595, 404, 306, 611, 486, 404, 685, 455, 265, 624, 443, 264),
    "MRR": (795, 623, 570, 628, 405, 330, 629, 441, 383, 670, 410, 244, 643, 426, 230),
    "COMBO": (813, 635, 578, 667, 434, 345, 647, 458, 384, 695, 465, 277, 647, 449, 272),
    "DORM": (807, 637, 583, 587, 362, 290, 474, 340, 297, 662, 413, 243, 621, 435, 250),
    "McRank": (701, 565, 527, 650, 403, 232, 588, 529, 453),
}

# Figure 10, seconds on OHSUMED.
FIGURE_10 = {"McRank": 1102.0, "NDCG": 4.8, "MRR": 30.6}


def means() -> dict[str, tuple[float, ...]]:
    """Figure 9 averaged over the three sets of LETOR, on which all trainers ran."""
    return {name: tuple(sum(row[c:9:3]) / 3000 for c in range(3)) for name, row in FIGURE_9.items()}
