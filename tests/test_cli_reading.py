"""Scripts read files as the command line does."""

import gzip

import numpy as np
import pytest
from scipy import sparse

from lambdaboost.cli.columns import Columns
from lambdaboost.cli.reading import reading_of
from lambdaboost.datasets import Collection, Queries, web_search_log, write_letor

LOG = web_search_log(12, documents=9, seed=4)


def as_read(path, **options):
    """The same file by the command line and by the script, and the script."""
    columns = Columns.parse(**options)
    file = columns.opened(path)
    wanted = columns.collection(file)
    fixed = columns.fixed_by(file, wanted)
    text = reading_of({"train": path, "valid": path}, fixed)
    made = {}
    exec(text, made)
    return wanted, [made["train"], made["valid"]], text


def assert_same(found, wanted):
    for part in found:
        assert type(part.features) is type(wanted.features)
        dense = [x if isinstance(x, np.ndarray) else x.toarray() for x in (part.features, wanted.features)]
        np.testing.assert_array_equal(*dense)
        assert part.queries.labels.keys() == wanted.queries.labels.keys()
        for name, labels in wanted.queries.labels.items():
            np.testing.assert_array_equal(part.queries.labels[name], labels)
        np.testing.assert_array_equal(part.queries.offsets, wanted.queries.offsets)
        assert (part.queries.positions is None) == (wanted.queries.positions is None)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"dropped": ["2,5-6"]},
        {"sources": ["ctr=3:rate", "stay=1"], "dropped": ["2"]},
    ],
)
def test_letor_is_read_by_public_functions(options, tmp_path):
    path = tmp_path / "train.txt"
    write_letor(path, Collection(np.abs(LOG.features), Queries(LOG.queries.relevance, LOG.queries.sizes)))
    wanted, found, text = as_read(path, **options)
    assert_same(found, wanted)
    assert "lambdaboost.cli" not in text


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"dropped": ["b"]},
        {"sources": ["ctr=c:rate", "c2=d"], "position": "rank"},
    ],
)
def test_csv_is_read_by_public_functions(options, tmp_path):
    path = tmp_path / "train.csv.gz"
    rows = ["q,label,a,b,c,d,rank", "x,1,0.5,,3,0,1", "y,0,1,2,4,1,1", "x,2,7,0,0,0,2", "y,1,3,3,1,0,2"]
    path.write_bytes(gzip.compress("\n".join(rows).encode()))
    wanted, found, text = as_read(path, query="q", **options)
    assert_same(found, wanted)
    assert "lambdaboost.cli" not in text


def test_positions_of_letor_and_sparse_features_are_read_as_on_the_command_line(tmp_path):
    q = Queries([1, 0, 2, 0], sizes=[2, 2])
    path = tmp_path / "train.txt"
    write_letor(path, Collection(np.array([[1.0, 1], [2, 2], [1, 1], [2, 2]]), q))
    wanted, found, _ = as_read(path, position="2")
    assert_same(found, wanted)
    X = sparse.csr_matrix(([1.0] * 4, (range(4), [0, 5, 9, 299])), shape=(4, 300))
    write_letor(path, Collection(X, q))
    wanted, found, _ = as_read(path)
    assert sparse.issparse(wanted.features)
    assert_same(found, wanted)
