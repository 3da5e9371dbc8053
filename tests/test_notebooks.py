"""The notebooks run from top to bottom on small sizes, and are readable as they are kept."""

import os
import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
LARGEST = 400_000  # bytes of a file with its pictures
A_PATH = re.compile(r"(?<![\w/.:])/(?:home|root|Users|tmp|work|var|opt|usr|mnt|private)/|[A-Z]:\\\\?Users")


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture
def notebook(path):
    return nbformat.read(path, as_version=4)


def code_of(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def outputs_of(notebook):
    return [output for cell in code_of(notebook) for output in cell.outputs]


@pytest.mark.slow
def test_runs_on_small_sizes(notebook, tmp_path, monkeypatch):
    # Two engines and Numba, each with a team of threads, would stand in each other's way.
    for threads in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        monkeypatch.setenv(threads, "1")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    # The cell of its parameters is followed by smaller ones, as papermill does it.
    (at,) = (i for i, cell in enumerate(notebook.cells) if "parameters" in cell.metadata.get("tags", ()))
    notebook.cells.insert(at + 1, nbformat.v4.new_code_cell('SIZE = "small"'))
    client = nbclient.NotebookClient(
        notebook, timeout=1200, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    assert not [output for output in outputs_of(notebook) if output.output_type == "error"]
    warned = [output.text for output in outputs_of(notebook) if output.get("name") == "stderr"]
    assert not [text for text in warned if "Warning" in text]


def test_outputs_are_kept_in_order_and_hold_no_error(path, notebook):
    nbformat.validate(notebook)
    assert [cell.execution_count for cell in code_of(notebook)] == [*range(1, len(code_of(notebook)) + 1)]
    assert not [o for o in outputs_of(notebook) if o.output_type == "error" or o.get("name") == "stderr"]
    assert sum("image/png" in output.get("data", {}) for output in outputs_of(notebook)) >= 2
    assert path.stat().st_size < LARGEST


def test_was_kept_at_full_size_and_tells_nothing_of_a_machine(path, notebook):
    (cell,) = (cell for cell in code_of(notebook) if "parameters" in cell.metadata.get("tags", ()))
    assert cell.source.startswith('SIZE = "full"')
    assert not A_PATH.search(path.read_text(encoding="utf-8"))
