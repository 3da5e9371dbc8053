"""Cranfield: abstracts for questions, by how their words agree; those that were judged, and the nearest others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

NEAREST = 40  # documents of a question by BM25, beside those that were judged
K1, B, MU = 1.2, 0.75, 200.0
SOURCE = -1  # the code of the document that the question arose from

Table = NDArray[np.float64]


def abstracts(folder: Path) -> pd.DataFrame:
    """Codes 1 to 4, from a complete answer to minimum interest, are grades 4 to 1; source documents are left out."""
    papers = _entries(folder / "cran.all.1400")
    questions = [fields.get("W", "") for fields in _entries(folder / "cran.qry")]
    judged = pd.read_csv(folder / "cranqrel", sep=r"\s+", names=["question", "paper", "code"])
    codes = np.zeros((len(questions), len(papers)))
    codes[judged["question"] - 1, judged["paper"] - 1] = judged["code"]
    features, near = _features(papers, questions)
    order = np.argsort(-near, axis=1, kind="stable")[:, :NEAREST]
    listed = codes != 0
    np.put_along_axis(listed, order, True, axis=1)
    question, paper = np.nonzero(listed & (codes != SOURCE))
    table = pd.DataFrame({name: values[question, paper] for name, values in features.items()})
    code = codes[question, paper]
    return table.assign(query=question, grade=np.where(code > 0, 5 - code, 0))


def _entries(file: Path) -> list[dict[str, str]]:
    """The fields T, A, B and W of each entry."""
    entries = re.split(r"^\.I \d+\s*$", file.read_text(encoding="latin-1"), flags=re.MULTILINE)[1:]
    found = []
    for entry in entries:
        cut = re.split(r"^\.([TABW])\s*$", entry, flags=re.MULTILINE)
        found.append(dict(zip(cut[1::2], cut[2::2], strict=True)))
    return found


def _features(papers: Sequence[dict[str, str]], questions: Sequence[str]) -> tuple[dict[str, Table], Table]:
    """Features (questions, papers), and BM25 of the whole texts."""
    titles, bodies = ([fields.get(name, "") for fields in papers] for name in "TW")
    features: dict[str, Table] = {}
    shape = len(questions), len(papers)
    for name, texts, n_words in (
        ("title", titles, 1),
        ("body", bodies, 1),
        ("pairs of words", bodies, 2),
        ("words and stems", [re.sub(r"(\w{5})\w+", r"\1", text) for text in bodies], 1),
    ):
        stemmed = [re.sub(r"(\w{5})\w+", r"\1", text) for text in questions] if "stems" in name else questions
        found = _agreement(texts, stemmed, n_words)
        features |= {f"{what} of {name}": value for what, value in found.items()}
    weights = TfidfVectorizer(stop_words="english", sublinear_tf=True).fit(bodies)
    topics = TruncatedSVD(60, random_state=0).fit(weights.transform(bodies))
    of_papers, of_questions = (
        _unit(topics.transform(weights.transform(texts))) for texts in (bodies, questions)
    )
    features["topics"] = of_questions @ of_papers.T
    features["authors"] = np.broadcast_to([fields.get("A", "").count(",") for fields in papers], shape)
    years = [re.search(r"19\d\d", fields.get("B", "")) for fields in papers]
    features["year"] = np.broadcast_to([float(year[0]) if year else np.nan for year in years], shape)
    return features, features["BM25 of words and stems"] + features["BM25 of title"]


def _agreement(texts: Sequence[str], questions: Sequence[str], n_words: int) -> dict[str, Table]:
    """How the words of questions and texts agree, each (questions, texts)."""
    counter = CountVectorizer(stop_words="english", ngram_range=(n_words, n_words)).fit(questions)
    counts, asked = (counter.transform(given).toarray().astype(float) for given in (texts, questions))
    asked = np.minimum(asked, 1)
    length = np.array([1.0 + len(text.split()) for text in texts])
    frequency = (counts > 0).sum(axis=0)
    rarity = np.log1p((len(texts) - frequency + 0.5) / (frequency + 0.5))
    saturated = counts * (K1 + 1) / (counts + K1 * (1 - B + B * length / length.mean())[:, None])
    common = (counts.sum(axis=0) + 0.5) / length.sum()
    likely = (
        np.log1p(counts / (MU * common)) @ asked.T - asked.sum(axis=1) * np.log((length + MU) / MU)[:, None]
    )
    words = np.maximum(asked.sum(axis=1), 1)[:, None]
    matched = asked @ (counts > 0).T
    weighted = (counts > 0) * rarity
    return {
        "BM25": asked @ (saturated * rarity).T,
        "likelihood": likely.T,
        "cosine": _unit(asked * rarity) @ _unit(np.log1p(counts) * rarity).T,
        "matches": matched,
        "share of matches": matched / words,
        "rarity of matches": asked @ weighted.T,
        "length": np.broadcast_to(length, matched.shape),
        "asked": np.broadcast_to(words, matched.shape),
    }


def _unit(rows: Table) -> Table:
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, size, out=np.zeros_like(rows), where=size > 0)
