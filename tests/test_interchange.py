"""Runs and qrels in and out: frames, TREC files, and ir-measures' figures on what is incomplete."""

import gzip
import io
import pkgutil
import shutil
import subprocess

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, RR, Bpref, P, R, nDCG
from numpy.testing import assert_allclose, assert_array_equal

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import (
    AUC,
    ERR,
    MAP,
    MRR,
    NDCG,
    BPref,
    PairAccuracy,
    Precision,
    Recall,
    from_runs,
    read_trec_qrels,
    read_trec_run,
    to_qrels,
    to_run,
    write_trec_qrels,
    write_trec_run,
)

GAINS = {l: 2**l - 1 for l in range(5)}
MEASURES = {
    NDCG(): nDCG(gains=GAINS),
    NDCG(5): nDCG(gains=GAINS) @ 5,
    NDCG(10, gain="linear"): nDCG @ 10,
    MAP(): AP,
    MAP(threshold=2): AP(rel=2),
    MRR(): RR,
    MRR(threshold=3): RR(rel=3),
    Precision(10): P @ 10,
    Recall(10): R @ 10,
    Recall(500): R @ 500,
    BPref(): Bpref,
    BPref(threshold=2): Bpref(rel=2),
}


def incomplete(seed, ties=False, n_queries=25):
    """Qrels and a run that overlap: pools of judgments, rankings cut, queries that only one of them has."""
    rng = np.random.default_rng(seed)
    qrels, run = [], []
    for query in range(n_queries):
        docs = [f"d{i}" for i in rng.permutation(200)[: rng.integers(2, 120)]]
        judged, found = (rng.permutation(docs)[: rng.integers(1, len(docs) + 1)] for _ in range(2))
        if query != 3:
            grades = rng.choice(6, p=[0.05, 0.55, 0.2, 0.1, 0.05, 0.05], size=len(judged)) - 1
            qrels += [(str(query), doc, int(grade)) for doc, grade in zip(judged, grades, strict=True)]
        if query != 5:
            scores = rng.integers(0, 6, len(found)) / 2 if ties else rng.permutation(len(found)) / 4
            run += [(str(query), doc, float(s)) for doc, s in zip(found, scores, strict=True)]
    rng.shuffle(run)  # rows of a query need not stand together
    return (
        pd.DataFrame(qrels, columns=["query_id", "doc_id", "relevance"]),
        pd.DataFrame(run, columns=["query_id", "doc_id", "score"]).astype({"score": float}),
    )


QRELS = pd.DataFrame({"query_id": list("qqqr"), "doc_id": list("abca"), "relevance": [2, 0, 1, 1]})
RUN = pd.DataFrame({"query_id": list("qqqz"), "doc_id": list("bxca"), "score": [3.0, 2.0, 1.0, 1.0]})


def from_run(qrels, run):
    (scores,), q = (of.values() if isinstance(of, dict) else of for of in from_runs(qrels, {"run": run}))
    return scores, q


# Agreement with ir-measures


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_any_incomplete_run_agrees(seed, ties):
    qrels, run = incomplete(seed, ties, n_queries=8)
    scores, q = from_run(qrels, run)
    assert list(q.ids) == list(dict.fromkeys(qrels.query_id))
    theirs = {}
    gained = [measure for measure in MEASURES.values() if "gains" in measure.params]
    others = [measure for measure in MEASURES.values() if measure not in gained]
    for asked in (gained, others):  # asked together, ir-measures may use the gains for both
        for m in ir_measures.iter_calc(asked, qrels, run):
            theirs.setdefault(m.measure, {})[m.query_id] = m.value
    for ours, measure in MEASURES.items():
        expected = [theirs[measure][query] for query in q.ids]
        assert_allclose(ours.per_query(scores, q), expected, rtol=0, atol=1e-9, err_msg=str(measure))


@pytest.mark.skipif(not shutil.which("perl"), reason="gdeval needs perl")
@pytest.mark.parametrize("k", [1, 10, 1000])
def test_exponential_gains_and_err_to_all_decimals(k, tmp_path):
    """Of gdeval, which ir-measures rounds."""
    qrels, run = incomplete(8, ties=True)
    write_trec_qrels(tmp_path / "qrels", qrels)
    write_trec_run(tmp_path / "run", run)
    script = pkgutil.get_data("ir_measures", "bin/gdeval.pl")
    assert script.count(b"%.5f") == 2
    (tmp_path / "gdeval.pl").write_bytes(script.replace(b"%.5f", b"%.17g"))
    command = ["perl", "gdeval.pl", "qrels", "run", str(k)]
    printed = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    theirs = {query: figures for _, query, *figures in (line.split(",") for line in printed.splitlines()[1:])}
    scores, q = from_run(qrels, run)
    for ours, at in ((NDCG(k), 0), (ERR(k), 1)):
        expected = [float(theirs[query][at]) if query in theirs else 0 for query in q.ids]
        assert_allclose(ours.per_query(scores, q), expected, rtol=0, atol=1e-9)


# What happens to whom


def test_documents_without_judgment_or_score():
    """The rows, and the measures that ir-measures does not have."""
    scores, q = from_run(QRELS, RUN)
    assert q.ids.tolist() == ["q", "r"] and q.sizes.tolist() == [4, 1]  # z has no judgments
    # rows are x, c, b, a of q, and a of r
    assert_array_equal(scores, [2.0, 1.0, 3.0, -np.inf, -np.inf])
    assert_array_equal(q.relevance, [np.nan, 1, 0, 2, 1])
    assert_allclose(ERR().per_query(scores, q), [(1 / 16) / 3, 0])
    # pairs: a (not retrieved) below all, x (not judged) in none
    assert_array_equal(AUC().per_query(scores, q), [0, 0])
    assert_array_equal(PairAccuracy().per_query(scores, q), [0, 0])
    # Frames of other libraries, and ids that are numbers.
    for of in (pl.from_pandas, pa.Table.from_pandas):
        found = from_run(of(QRELS), of(RUN))
        assert_array_equal(found[0], scores)
        assert_array_equal(found[1].relevance, q.relevance)
    run = pd.DataFrame({"query_id": [301, 301], "doc_id": [7, 8], "score": [1, 2]})
    qrels = pd.DataFrame({"query_id": ["301"], "doc_id": ["7"], "relevance": [1]})
    assert MRR()(*from_run(qrels, run)) == 1 / 2


# Out, and in again


def test_out_and_in_again_gives_the_same_figures(tmp_path):
    """Through files, bit by bit, which ir-measures reads too."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 30, 20)
    n = sizes.sum()
    scores, q = rng.normal(size=n) * 10.0 ** rng.integers(-9, 10, n), Queries(rng.integers(0, 5, n), sizes)
    scores[:2] = 0.1 + 0.2, 5e-324
    write_trec_qrels(tmp_path / "qrels", to_qrels(q))
    write_trec_run(tmp_path / "run", to_run(scores, q), tag=None)
    run = read_trec_run(tmp_path / "run")
    again, p = from_run(read_trec_qrels(tmp_path / "qrels"), run)
    assert p.ids.tolist() == [str(i) for i in range(1, q.n_queries + 1)]
    assert sorted(again) == sorted(scores)
    for measure in MEASURES:
        assert_array_equal(measure.per_query(again, p), measure.per_query(scores, q))
    theirs = pd.DataFrame(ir_measures.read_trec_run(str(tmp_path / "run")))
    pd.testing.assert_frame_equal(theirs, run, check_dtype=False, check_exact=True)


def test_frames_are_those_of_ir_measures():
    q = Queries([2, np.nan, 0.5], ids=[7, 7, 9])
    run, qrels = to_run([1.0, 2.0, -np.inf], q, ["a", "b", "a"]), to_qrels(q, ["a", "b", "a"])
    assert run.to_dict("list") == {"query_id": ["7", "7"], "doc_id": ["b", "a"], "score": [2.0, 1.0]}
    assert qrels.to_dict("list") == {"query_id": ["7", "9"], "doc_id": ["a", "a"], "relevance": [2.0, 0.5]}
    assert to_qrels(Queries([2, 0], sizes=[2])).relevance.dtype == np.int64
    clicks = Queries([1, 0], sizes=[2], clicks=[np.nan, 0.25])
    assert to_qrels(clicks, source="clicks").relevance.tolist() == [0.25]


# TREC's files


def test_lines_of_a_run_file(tmp_path):
    run = pd.DataFrame({"query_id": [2, 1, 2, 2], "doc_id": list("abcd"), "score": [1, 0.5, 3, 1]})
    write_trec_run(tmp_path / "run", run)
    assert (tmp_path / "run").read_text(encoding="utf-8") == (
        "2 Q0 c 1 3.0 lambdaboost\n2 Q0 d 2 1.0 lambdaboost\n2 Q0 a 3 1.0 lambdaboost\n1 Q0 b 1 0.5 lambdaboost\n"
    )


def test_files_may_be_packed_have_tabs_and_blank_lines(tmp_path):
    with gzip.open(tmp_path / "packed", "wb") as file:
        file.write(b"301\tQ0\tA-1  1 2.5 x\r\n\n301 Q0 B-2 2 -1e-3 x")
    assert read_trec_run(tmp_path / "packed").score.tolist() == [2.5, -0.001]
    write_trec_run(tmp_path / "run.xz", RUN)
    assert (tmp_path / "run.xz").read_bytes().startswith(b"\xfd7zXZ")
    assert len(read_trec_run(tmp_path / "run.xz")) == len(RUN)


UNWRITABLE = {
    "doc_id that is not one word": lambda path: write_trec_run(path, RUN.assign(doc_id=[*"abc", "d e"])),
    "grade that is not a whole number": lambda path: write_trec_qrels(path, QRELS.assign(relevance=0.5)),
    "row 0 .* beyond int64": lambda path: write_trec_qrels(path, QRELS.assign(relevance=1e30)),
    "tag that is not one word": lambda path: write_trec_run(path, RUN, tag=""),
}


@pytest.mark.parametrize("words", UNWRITABLE)
def test_a_failure_leaves_the_old_file_alone(tmp_path, words):
    path = tmp_path / "run"
    path.write_text("old")
    with pytest.raises(ValueError, match=words):
        UNWRITABLE[words](path)
    assert path.read_text(encoding="utf-8") == "old" and list(tmp_path.iterdir()) == [path]


# Several runs


def test_a_run_that_lacks_most_of_the_judged_queries_is_said():
    """As where ids of one digit have a leading zero in one file alone."""
    qrels = pd.DataFrame({"query_id": ["8", "9", "10"], "doc_id": "a", "relevance": 1})
    run = qrels.assign(query_id=["08", "09", "10"], score=1.0)
    with pytest.warns(UserWarning, match="run 'run' has 1 of the 3 judged queries; the others count as 0"):
        scores, q = from_run(qrels, run)
    assert MRR()(scores, q) == pytest.approx(1 / 3)
    from_run(qrels, qrels.assign(score=1.0)[1:])  # warnings are errors


# Wrong use


Q1 = Queries([1, 0], sizes=[2])
WRONG = [
    (lambda: from_run(QRELS, RUN.assign(query_id="other")), ["share no query"]),
    (lambda: from_run(QRELS, RUN.iloc[:0]), ["run 'run' is empty"]),
    (lambda: from_run(QRELS, pd.concat([RUN, RUN])), ["row 4 of run 'run' (query 'q', document 'b') repeats"]),
    (lambda: from_run(QRELS, RUN.assign(score=[1, 2, -np.inf, 1])), ["row 2", "has no finite score", "leave the row"]),
    (lambda: from_run(QRELS, RUN.assign(score="high")), ["score of run 'run' is", "give numbers"]),
    (lambda: from_run(QRELS, RUN.drop(columns="score")), ["run 'run' has no column 'score'", "rename"]),
    (lambda: from_run(QRELS, {"q": {"a": 1.0}}), ["run 'run' is of type dict", "DataFrame"]),
    (lambda: from_run(QRELS, RUN.assign(query_id=[1.0, 1, 1, 2])), ["query_id of run 'run' is float64"]),
    (lambda: from_runs(QRELS, {}), ["runs is of type dict", "at least one"]),
    (lambda: to_run([1.0, 2.0], Q1, ["a"]), ["documents has shape (1,)"]),
    (lambda: to_run([1.0, 2.0], Q1, ["a", "a"]), ["row 1 of queries and documents (query '1', document 'a') repeats"]),
    (lambda: to_run([1.0, 2.0], Q1, ["a", None]), ["row 1 of queries and documents (query '1'", "has no doc_id"]),
    (lambda: to_qrels(Queries(pd.Series([1, 0], index=[*"xy"]), [2]), pd.Series([*"ab"], index=[*"yx"])),
     ["documents has the rows of relevance in another order"]),
    (lambda: to_run([1.0, 2.0], [1, 0]), ["queries is of type list"]),
    (lambda: to_run([1.0, 2.0], Queries([1, 0], ids=[0.5, 0.5])), ["query_id of queries and documents is float64"]),
    (lambda: to_qrels(Queries([np.nan], sizes=[1])), ["relevance has no labels: give a source"]),
]  # fmt: skip


@pytest.mark.parametrize(("make", "says"), WRONG, ids=range(len(WRONG)))
def test_wrong_use_is_refused_in_words(make, says):
    with pytest.raises((ValueError, TypeError)) as refusal:
        make()
    for part in says:
        assert part in str(refusal.value)


# Drawn files, read as ir-measures reads them

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=4).filter(
    lambda word: not word.startswith("#")
)
BLANKS = st.text(" \t", min_size=1, max_size=3)
KEYS = st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=8, unique=True)


def drawn_file(draw, fields):
    """Lines of such fields, between blanks of any number, with empty lines among them."""
    lines = [draw(BLANKS | st.just("")) + draw(BLANKS).join(line) for line in fields]
    return "".join(line + "\n" * draw(st.integers(1, 2)) for line in lines)


@settings(max_examples=100, deadline=None)
@given(st.data(), KEYS)
def test_drawn_files_are_read_as_by_ir_measures(tmp_path_factory, data, keys):
    folder = tmp_path_factory.mktemp("drawn")
    scores = [
        repr(data.draw(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9))) for _ in keys
    ]
    run = [
        (q, "Q0", d, str(r), s, data.draw(WORDS))
        for r, ((q, d), s) in enumerate(zip(keys, scores, strict=True))
    ]
    qrels = [(q, "0", d, str(data.draw(st.integers(-2, 10**6)))) for q, d in keys]
    for lines, ours, theirs in (
        (run, read_trec_run, ir_measures.read_trec_run),
        (qrels, read_trec_qrels, ir_measures.read_trec_qrels),
    ):
        text = drawn_file(data.draw, lines)
        (folder / "file").write_bytes(text.encode())
        expected = pd.DataFrame(theirs(io.StringIO(text)))
        found = ours(folder / "file")
        assert found.values.tolist() == expected[list(found)].values.tolist()


@pytest.mark.parametrize("blank", ["\u00a0", "\u2003", "\u3000"])
def test_only_ascii_blanks_separate_fields(tmp_path, blank):
    """As in trec_eval; by Python's blanks the rank would become the score."""
    path = tmp_path / "run"
    path.write_text(f"3{blank}01 Q0 d{blank}1 1 14.5 bm25\n", encoding="utf-8")
    run = read_trec_run(path)
    assert run.values.tolist() == [[f"3{blank}01", f"d{blank}1", 14.5]]
    write_trec_run(tmp_path / "again", run)
    pd.testing.assert_frame_equal(read_trec_run(tmp_path / "again"), run)


@pytest.mark.parametrize(
    ("read", "text", "says"),
    [
        (read_trec_run, "1 Q0 a 1 2.5 x\n1 Q0 b 2 2.5\n", "line 2 of FILE: it has other fields; expected lines"),
        (read_trec_run, "1 Q0 a 1 high x\n", "line 1 of FILE: could not convert string to float: 'high'; expected"),
        (read_trec_run, "1 Q0 a 1 1e999 x\n", "line 1 of FILE: score 1e999 is not finite"),
        (read_trec_run, "\n1 Q0 a 1 2 x\n\n1 Q0 a 2 1 x\n", "line 4 of FILE repeats document 'a' of query '1', as"),
        (read_trec_run, "1 Q0 a 1 1_000 x\n", "line 1 of FILE: '1_000' is no number"),
        (read_trec_run, "\n\n", "FILE is empty"),
        (read_trec_run, b"1 Q0 \xff 1 2 x\n", "line 1 of FILE: 'utf-8' codec can't decode"),
        (read_trec_qrels, "1 0 a 0.5\n", "FILE: invalid literal for int() with base 10: '0.5'; expected"),
        (read_trec_qrels, "1 0 a 99999999999999999999\n", "line 1 of FILE: Python int too large"),
        (read_trec_qrels, "1 0 b 1\n1 0 a 1 and more\n", "line 2 of FILE: it has other fields"),
    ],
)  # fmt: skip
def test_malformed_files_are_refused_by_line(tmp_path, read, text, says):
    path = tmp_path / "file"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError) as refusal:
        read(path)
    assert says in str(refusal.value).replace(str(path), "FILE")


def test_comments_marks_and_text_after_a_runs_tag(tmp_path):
    """Ids may begin with #; a comment is a line that does, and is none of a run or of qrels."""
    run, qrels = tmp_path / "run", tmp_path / "qrels"
    lines = "1 Q0 a 1 2.5 tag and more # text\n\n  # indented\n#made by hand\n#2 Q0 b 2 1.5 tag\n"
    run.write_text(lines, encoding="utf-8-sig")
    qrels.write_text("# pool of depth\n1 0 a 1\n#1 0 b 1\n1 0 c# 0\n", encoding="utf-8-sig")
    assert read_trec_run(run).values.tolist() == [["1", "a", 2.5], ["#2", "b", 1.5]]
    assert read_trec_qrels(qrels).values.tolist() == [["1", "a", 1], ["#1", "b", 1], ["1", "c#", 0]]


def test_subtopics_count_by_their_maximum(tmp_path):
    """As in diversity tracks; a line that repeats its subtopic too is wrong."""
    qrels = tmp_path / "qrels"
    qrels.write_text("1 1 a 0\n1 2 a 2\n1 3 a -1\n1 1 b 1\n")
    assert read_trec_qrels(qrels).values.tolist() == [["1", "a", 2], ["1", "b", 1]]
    qrels.write_text("1 1 a 0\n1 1 a 2\n")
    with pytest.raises(ValueError, match=r"line 2 of .* repeats document 'a' of query '1', as line 1"):
        read_trec_qrels(qrels)
