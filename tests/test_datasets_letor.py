"""LETOR text: what is read, what is refused and where, and the way back."""

import gzip
import lzma
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from lambdaboost.datasets import Collection, Queries, read_letor, write_letor
from lambdaboost.datasets import letor as letor_module

TEXT = (
    b"2 qid:10 1:0.5 3:1 # docid = A-1 inc = 1\n0 qid:10 2:-3e2\n\n# all comment\n1.5 qid:11 1:nan # my p\n"
)


@pytest.fixture
def letor(tmp_path):
    def write(text, name="train.txt"):
        path = tmp_path / name
        path.write_bytes(text)
        return path

    return write


def test_reads_grades_queries_features_and_names(letor):
    train = read_letor(letor(gzip.compress(TEXT), "compression shows from the first bytes"))
    X, q = train
    np.testing.assert_array_equal(X, np.array([[0.5, 0, 1], [0, -300, 0], [np.nan, 0, 0]]))
    assert X.dtype == np.float32
    assert q.relevance.tolist() == [2, 0, 1.5]
    assert q.ids.tolist() == [10, 11] and q.sizes.tolist() == [2, 1]
    assert train.documents.tolist() == ["A-1", "", "my p"]
    assert train.feature_names is None


@pytest.mark.parametrize("suffix, compress", [("", bytes), (".xz", lzma.compress)])
def test_lightgbms_form_has_the_sizes_in_another_file(letor, suffix, compress):
    path = letor(compress(NO_QID), f"r.train{suffix}")
    letor(compress(b"2\n1\n"), f"r.train.query{suffix}")
    q = read_letor(path).queries
    assert q.sizes.tolist() == [2, 1] and q.ids is None
    for field in ("weight", "position"):
        unread = letor(b"", f"r.train.{field}{suffix}")
        with pytest.warns(
            UserWarning, match=rf"r.train.{field}.* is not read: give its values .* as {field}="
        ):
            read_letor(path)
        unread.unlink()


def test_few_values_stay_sparse_and_large_ones_are_clipped(letor):
    path = letor(b"0 qid:1 1:1\n1 qid:1 100:2\n")
    for width in (100, 120):
        X, _ = read_letor(path, n_features=width)
        assert sparse.issparse(X) and X.format == "csr" and X.dtype == np.float32 and X.shape == (2, width)
        assert X[1, 99] == 2
    assert read_letor(path, absent=5).features[0, 1] == 5
    largest = np.finfo(np.float32).max
    X, _ = read_letor(letor(b"0 qid:1 1:1.797e308 2:-1.797e308 3:inf 4:1e999\n"))
    assert X.tolist() == [[largest, -largest, largest, largest]]
    assert read_letor(letor(b"1 qid:1\n0 qid:1\n"), n_features=3).features.shape == (2, 3)
    ends = b"1 qid:1 1:1 # a\r\n2 qid:1 1:2 # b\r\n"
    assert read_letor(letor(ends)).documents.tolist() == ["a", "b"]


GOOD = b"1 qid:1 1:1 2:2\n"
NO_QID = b"1 1:1\n0 1:2\n2 1:3\n"
QID = "a line has one qid, behind the grade, a whole number"
PAIR = "expected a feature, a whole number from 1 to 2,147,483,647, and its value"
FAULTS = {
    b"1 qid:1 1:1 qid:2": f"'qid:2': {PAIR}",
    b"1 qid:1.5 1:1": QID,
    b"1 qid7:1 1:1": QID,
    b"1 qid:1 1:1.5abc": f"'1:1.5abc': {PAIR}",
    b"1 qid:1 1:": f"'1:': {PAIR}",
    b"1 qid:1 1:1 7": f"'7': {PAIR}",
    b"1 qid:1 1:2:3": f"'1:2:3': {PAIR}",
    b"1 qid:1 0:1": f"'0:1': {PAIR}",
    b"1 qid:1 -1:1": f"'-1:1': {PAIR}",
    b"1 qid:1 2:1 1:1": "'1:1': features ascend, and each stands once",
    b"1 qid:1 1:1 1:1": "'1:1': features ascend, and each stands once",
    b"1 qid:1 1:1_0": f"'1:1_0': {PAIR}",
    b"1 qid:1_0 1:1": QID,
    b"1_0 qid:1 1:1": "the grade '1_0' is no number",
    b"1 qid:1 99999999999:1": f"'99999999999:1': {PAIR}",
    b"good qid:1 1:1": "the grade 'good' is no number",
    b"\xff\xfe qid:1 1:1": "the grade '\ufffd\ufffd' is no number",
    b"1 qid:1 1:1 \0": "there are bytes of 0: save the text as UTF-8",
}


@pytest.mark.parametrize("line", FAULTS)
def test_each_fault_of_a_line_has_its_sentence(letor, line):
    path = letor(GOOD + b"\n" + GOOD + line + b"\n" + GOOD)
    with pytest.raises(ValueError) as caught:
        read_letor(path)
    assert str(caught.value).startswith(f"{path}:4: {line.decode(errors='replace')!r}: {FAULTS[line]}")


def test_lines_are_counted_over_blank_ones_and_parts(letor):
    for before in (b"1 qid:1 1:1\n\n# c\n" * 500, b"\xef\xbb\xbf\n\n" + b"1 qid:1 1:1\n" * 1498):
        path = letor(before + b"1 qid:1 1:x\n" + b"1 qid:1 2:y\n" * 500)
        with (
            mock.patch.object(letor_module, "PART", 70),
            pytest.raises(ValueError, match=r"t:1501: '1 qid:1 1:x'"),
        ):
            read_letor(path)


# The text, the sizes of queries beside it, and the words.
REFUSED = [
    (b"", None, "t.txt has no rows; expected"),
    (b"# only a comment\n", None, "t.txt has no rows; expected"),
    (b"1 qid:1\n0 qid:1\n", None, "t.txt has no features"),
    (b"1 qid:1 1:1 # a\r2 qid:1 1:2 # b\r", None, "t.txt:1: .* a carriage return stands alone"),
    (b"1 qid:1 1:1\n\nnan qid:1 1:1\n", None, "the grade is nan in line 3 of .*t.txt: grades are float"),
    (b"-1 qid:1 1:1\n", None, "the grade is -1 in line 1 of .*t.txt: grades are float32, not below 0"),
    (b"1e39 qid:1 1:1\n", None, r"the grade is 1e\+39 in line 1 of .*t.txt"),
    (b"1 1:1\n\n1 qid:1 1:1\n", None, "t.txt:3: some lines have a qid, others none"),
    (b"\n1 qid:7 1:1\n1 qid:8 1:1\n1 qid:7 1:1\n", None, "ids is 7 again, .* in line 4 of .*t.txt: sort"),
    (lzma.compress(TEXT)[:-9], None, "t.txt is damaged"),
    (NO_QID, None, "t.txt has no qid on its lines, and there is no t.txt.query; expected"),
    (NO_QID, b"2\n2\n", "t.txt.query: sizes sum to 4"),
    (NO_QID, b"2\nx\n", "t.txt.query: .*'x'"),
]


@pytest.mark.parametrize(("text", "sizes", "words"), REFUSED)
def test_each_fault_of_a_file_has_its_sentence(letor, text, sizes, words):
    if sizes is not None:
        letor(sizes, "t.txt.query")
    with pytest.raises(ValueError, match=words):
        read_letor(letor(text, "t.txt"))


@pytest.mark.parametrize("n_features", [0, 1, 2.5])
def test_wrong_n_features(letor, n_features):
    with pytest.raises((TypeError, ValueError), match=f"^n_features is {n_features}"):
        read_letor(letor(b"0 qid:1 1:1 2:2\n"), n_features=n_features)


def test_the_largest_ids_are_read_back(tmp_path):
    ids = [-5, 2**64 - 1, 2**64 - 2, -(2**63)]
    write_letor(tmp_path / "t.txt", Collection(np.eye(4), Queries([1, 0, 2, 1], ids=ids)))
    assert read_letor(tmp_path / "t.txt").queries.ids.tolist() == ids


# Writing

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\x00"), max_size=8)


@st.composite
def collections(draw):
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    n, d = sum(sizes), draw(st.integers(1, 5))
    X = draw(hnp.arrays(np.float32, (n, d), elements=FLOATS | st.just(float("nan"))))
    grades = draw(hnp.arrays(np.float32, n, elements=st.floats(0, 2**10, width=32)))
    ids = draw(st.lists(st.integers(-(2**40), 2**40), min_size=len(sizes), max_size=len(sizes), unique=True))
    names = draw(st.none() | st.lists(NAMES, min_size=n, max_size=n))
    return Collection(X, Queries(grades, ids=np.repeat(ids, sizes)), names)


@given(collections(), st.sampled_from(["", ".gz", ".xz", ".bz2"]))
def test_what_is_written_is_read(tmp_path_factory, written, suffix):
    path = tmp_path_factory.mktemp("letor") / f"data.txt{suffix}"
    write_letor(path, written)
    with mock.patch.object(letor_module, "PART", 2):  # lines
        back = read_letor(path, n_features=written.n_features)
    assert [p.name for p in path.parent.iterdir() if p.name.startswith(".")] == []
    X = back.features.toarray() if sparse.issparse(back.features) else back.features
    np.testing.assert_array_equal(X, written.features)
    np.testing.assert_array_equal(back.queries.relevance, written.queries.relevance)
    np.testing.assert_array_equal(back.queries.ids, written.queries.ids)
    np.testing.assert_array_equal(back.queries.offsets, written.queries.offsets)
    if written.documents is not None and back.documents is not None:
        names = [name.encode().strip().decode() for name in written.documents]
        assert back.documents.tolist() == names


@pytest.mark.parametrize(
    ("grades", "names", "problem"),
    [
        ([1, np.nan], None, r"relevance\[1\] is missing"),
        *(([1, 0], ["a", name], r"documents\[1\] .*line break") for name in ("b\n", "b\r", "b\0", 7, None)),
        ([1, 0], ["a", "\ud800"], "surrogates not allowed"),  # of the second line, while it is written
    ],
)
def test_what_cannot_be_written_leaves_the_old_file(tmp_path, grades, names, problem):
    path = tmp_path / "data.txt"
    path.write_text("as it was")
    with pytest.raises(ValueError, match=problem):
        write_letor(path, Collection(np.eye(2), Queries(grades, sizes=[2]), names))
    assert path.read_text(encoding="utf-8") == "as it was" and len(list(tmp_path.iterdir())) == 1
