# make demo   train against LightGBM's own objective and print the table, nothing installed by hand
# make test   the whole test suite          make lint   ruff and mypy
# make bench  speed against the engines     make docs   the documentation, in build/docs
# make reproduce PAPER=svore2011 DATA=FOLDER   a paper's experiments, on synthetic data without DATA; options in ARGS
# make test-oldest  the engines' tests with the oldest versions that are supported (Python 3.11 or 3.12)
# make dist   wheel and source archive, checked as an index would   make clean  remove all that was made
PYTHON ?= python3
BIN := .venv/bin
EXTRAS ?= test,lint
PIP := $(BIN)/python -m pip --disable-pip-version-check install -q -c constraints.txt

.PHONY: demo test test-oldest lint format bench reproduce docs dist clean

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) -e '.[plots]'
	touch $@

.venv/developing: .venv/installed
	$(PIP) -e '.[$(EXTRAS)]'
	touch $@

demo: .venv/installed
	$(BIN)/lambdaboost demo

test: .venv/developing
	$(BIN)/python -m pytest

.venv-oldest/installed: pyproject.toml constraints-oldest.txt
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip --disable-pip-version-check install -q -c constraints-oldest.txt -e '.[test]'
	touch $@

# Old libraries warn of what newer ones deprecate; two versions of Numba must not share a cache.
test-oldest: .venv-oldest/installed
	NUMBA_CACHE_DIR=.venv-oldest/numba .venv-oldest/bin/python -m pytest -p no:cacheprovider \
		-W ignore::DeprecationWarning tests/test_lightgbm*.py tests/test_xgboost*.py tests/test_save.py \
		tests/test_checkpoint.py tests/test_dask.py

lint: .venv/developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: .venv/developing
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: .venv/installed
	$(PIP) -e '.[docs]'
	$(BIN)/python -m sphinx -qEW --keep-going docs build/docs

bench: .venv/developing
	$(BIN)/python -m benchmarks $(ARGS)

PAPER ?= svore2011
reproduce: .venv/developing
	$(BIN)/python -m experiments.$(PAPER) $(DATA) $(ARGS)

# Without isolation, so that what builds is what constraints.txt pins.
dist: .venv/developing
	rm -rf dist
	$(BIN)/python -m build -q --no-isolation
	$(BIN)/python -m twine check --strict dist/*

clean:
	rm -rf .venv .venv-oldest build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
