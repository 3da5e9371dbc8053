"""The parser of LETOR text: every number as `float` reads it, every line as scikit-learn does."""

import io
import json
import os
import subprocess
import sys
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from lambdaboost._jit import kernel
from lambdaboost.datasets import letor, read_letor
from lambdaboost.datasets.kernels.letor import parse_decimal

DIGITS = st.text("0123456789", min_size=1, max_size=25)
SIGNS = st.sampled_from(["", "-", "+"])
DECIMALS = st.builds(
    lambda sign, whole, point, part, exponent: f"{sign}{whole}{point}{part}{exponent}",
    SIGNS,
    DIGITS,
    st.sampled_from(["", "."]),
    DIGITS,
    st.just("") | st.builds("e{}{}".format, SIGNS, st.integers(0, 330)),
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
HALFWAY = st.builds(  # decimals exactly between two float32 or two float64, or just beside
    lambda bits, mantissa, power, beside: str(
        (((1 << bits) + 2 * (mantissa % 2**bits) + 1) << power) + beside
    ),
    st.sampled_from([24, 53]),
    st.integers(0, 2**52),
    st.integers(0, 40),
    st.integers(-1, 1),
)
EDGES = ["9007199254740993", "5e-324", "2.2250738585072014e-308", "1.7976931348623157e308", "1e23", "8.5e22", "-0",
         "0e999999", "1e-400", "1.79769313486232e+308", "9007199254740993e-3", "123456789012345678e-40"]  # fmt: skip


@kernel
def parsed(text):
    """The number at the start of `text`, where it ends, and whether it is one."""
    return parse_decimal(text, 0)


def narrow(value):
    """The bits of a number as float32."""
    with np.errstate(over="ignore"):
        return np.float32(value).tobytes()


@given(DECIMALS | FLOATS.map(repr) | FLOATS.map("{:.15e}".format) | HALFWAY | st.sampled_from(EDGES))
def test_every_number_is_float_rounded_to_float32(decimal):
    text = np.frombuffer(bytearray(decimal.encode() + b"\n"), np.uint8)
    value, end, known = parsed(text)
    assert end == len(decimal)
    if known:
        assert narrow(value) == narrow(float(decimal))


@pytest.mark.parametrize("decimal", ["0.5", "-17", "1e22", "123456789.25", "6.02214076e23", "0.1234567890123456",
                                     "1.79769313486232e+308", "2.5e-250", "+3", ".5", "5.", "16777217", "33554433.5",
                                     "0.0001234567890123456"])  # fmt: skip
def test_the_kernel_itself_parses_the_numbers_that_there_are(decimal):
    value, _, known = parsed(np.frombuffer(bytearray(decimal.encode() + b" "), np.uint8))
    assert known and narrow(value) == narrow(float(decimal))


@pytest.mark.parametrize(
    "word", ["", "-", ".", "e5", "1e", "1e+", "1_0", "0x10", "1.5abc", "inf", "nano", "1:2", "--1"]
)
def test_what_is_no_plain_number_is_left_to_float(word):
    assert not parsed(np.frombuffer(bytearray(word.encode() + b"\n"), np.uint8))[2]


# Files as scikit-learn reads them

SPACE = st.sampled_from([" ", "  ", "\t", " \x0b", "\x0c"])
NUMBERS = st.floats(width=32, allow_nan=False).map(repr) | FLOATS.map(repr) | st.sampled_from(
    ["nan", "NAN", "-nan", "inf", "-Infinity", "1e999", "+3", ".5", "-0", "007", "1.5e-320", "3.4028236e38"]
)  # fmt: skip
WRONG = st.sampled_from(["", "-", "1_0", "1.5abc", "0x1", "1:2", "e", "1__0", "\x00", "é"])
GRADES = st.sampled_from(["0", "1", "2.5", "+1", "1e0", "0.1"])
BLANK = st.sampled_from(["", "  ", "# a comment", "\t#"])


@st.composite
def lines(draw, with_qid, values, grades):
    if draw(st.integers(0, 9)) == 0:
        return draw(BLANK)
    words = [draw(grades)] + ([f"qid:{draw(st.sampled_from(['7', '007', '-70']))}"] if with_qid else [])
    indices = draw(
        st.lists(st.sampled_from(["1", "2", "3", "4", "05", "70", "70000"]), unique=True).map(sorted)
    )
    words += [f"{index}:{draw(values)}" for index in sorted(indices, key=int)]
    return "".join(word + draw(SPACE) for word in words) + draw(
        st.sampled_from(["", "# docid = a b", "#", "# x # y"])
    )


@st.composite
def texts(draw, values=NUMBERS, grades=GRADES):
    with_qid = draw(st.booleans())
    rows = draw(st.lists(lines(with_qid, values, grades), max_size=12))
    text = draw(st.sampled_from(["\n", "\r\n"])).join(rows) + draw(st.sampled_from(["", "\n"]))
    return text.encode()


def read_as_scikit_learn(text):
    return load_svmlight_file(io.BytesIO(text), dtype=np.float32, zero_based=False, query_id=True)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("parser") / "train.txt"


def in_blocks(size):
    """Parse with so small blocks."""
    return mock.patch.object(letor, "BLOCK", size)


SIZES = st.sampled_from([2, 16, 100, 1 << 21])


@given(text=texts(), size=SIZES)
@example(text=b"1 qid:1 1:1 2:-0\n1 qid:1 1:-0\n", size=2)
@example(text=b"1 qid:1 1:1", size=2)
def test_a_file_is_read_as_scikit_learn_reads_it(place, text, size):
    place.write_bytes(text)
    X, grades, ids = read_as_scikit_learn(text)
    if grades.size and not X.nnz and b":" not in text.replace(b"qid:", b""):
        with pytest.raises(ValueError, match="has no features"):
            read_letor(place)
        return
    if "qid" not in text.decode():
        place.with_name(f"{place.name}.query").write_text(f"{grades.size}\n")
    with in_blocks(size):
        if not grades.size:
            with pytest.raises(ValueError, match="has no rows"):
                read_letor(place)
            return
        try:
            found = read_letor(place)
        except ValueError as error:
            assert "reappears" in str(error)
            return
    largest = np.finfo(np.float32).max
    np.clip(X.data, -largest, largest, out=X.data)
    assert sparse.issparse(found.features) == (X.nnz < 0.1 * X.shape[0] * X.shape[1])
    X.eliminate_zeros()
    if sparse.issparse(found.features):
        for name in ("indices", "indptr"):
            np.testing.assert_array_equal(getattr(found.features, name), getattr(X, name))
        here, there = found.features.data, X.data
    else:
        here, there = found.features, X.toarray()
    assert here.dtype == np.float32 and here.shape == there.shape
    here, there = (np.where(np.isnan(x), 0, x).tobytes() + np.isnan(x).tobytes() for x in (here, there))
    assert here == there
    q = found.queries
    assert q.relevance.tobytes() == grades.astype(np.float32).tobytes()
    assert ids.size == 0 or np.repeat(q.ids, q.sizes).tobytes() == ids.tobytes()


def refused_by_scikit_learn(text):
    try:
        read_as_scikit_learn(text)
    except (ValueError, OverflowError):
        return True
    return False


@given(text=texts(NUMBERS | WRONG, st.sampled_from(["0", "1", "x", "-1", "nan", ""])), size=SIZES)
def test_the_first_wrong_line_is_named(place, text, size):
    place.write_bytes(text)
    refused = [
        line.split()[:1] in ([b"-1"], [b"nan"]) or b"_" in line or refused_by_scikit_learn(line)
        for line in text.split(b"\n")
    ]
    if any(refused):
        with in_blocks(size), pytest.raises(ValueError) as caught:
            read_letor(place)
        line = int(str(caught.value).removeprefix(f"{place}:").partition(":")[0])
        first = refused.index(True) + 1
        assert line == first or (line < first and b"qid" not in text.split(b"\n")[line - 1])


def test_the_lines_of_all_blocks_are_counted(place):
    place.write_bytes(b"1 qid:1 1:1\n\n# c\n" * 500 + b"1 qid:1 1:x\n" + b"1 qid:1 2:y\n" * 500)
    with in_blocks(100), pytest.raises(ValueError, match=r"train.txt:1501: '1 qid:1 1:x'"):
        read_letor(place)
    place.write_bytes(b"\xef\xbb\xbf\n1 qid:1 1:1\n\n" + b"1 qid:1 1:1\n" * 500 + b"-1 qid:1 1:1\n")
    with in_blocks(100), pytest.raises(ValueError, match=r"train.txt:504: '-1 qid:1 1:1'"):
        read_letor(place)


MEMORY = """
import json, sys
from pathlib import Path
import numpy as np
from lambdaboost.datasets import read_letor

def status(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024

folder = Path(sys.argv[1])
(folder / "small.txt").write_text("1 qid:1 1:1 3:1\\n")
read_letor(folder / "small.txt")
held = status("VmRSS:")
with open("/proc/self/clear_refs", "w") as reset:
    reset.write("5")
found = read_letor(folder / "large.txt")
x = found.features
arrays = x.nbytes if isinstance(x, np.ndarray) else x.data.nbytes + x.indices.nbytes + x.indptr.nbytes
arrays += found.queries.relevance.nbytes
print(json.dumps({"arrays": arrays, "peak": status("VmHWM:") - held, "sparse": not isinstance(x, np.ndarray)}))
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not os.access("/proc/self/clear_refs", os.W_OK), reason="peaks of memory as Linux reports them"
)
@pytest.mark.parametrize("share, width", [(1.0, 136), (0.9, 136), (0.4, 136), (0.02, 2000)])
def test_reading_needs_little_more_than_the_memory_of_the_arrays(tmp_path, share, width):
    rng = np.random.default_rng(0)
    block = []
    for _ in range(500):
        there = np.flatnonzero(rng.random(width) < share) + 1
        block.append(f"1 qid:1 {' '.join(f'{i}:{i % 7}' for i in there)}\n")
    text = "".join(block)
    with open(tmp_path / "large.txt", "w", encoding="ascii") as file:
        for _ in range(40_000_000 // len(text)):
            file.write(text)
    run = subprocess.run(
        [sys.executable, "-c", MEMORY, str(tmp_path)], check=True, capture_output=True, text=True
    )
    found = json.loads(run.stdout)
    assert found["sparse"] == (share < 0.1)
    assert found["peak"] <= 2.4 * found["arrays"], found
