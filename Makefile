# make demo   train against LightGBM's own objective and print the table, nothing installed by hand
# make test   the whole test suite          make lint   ruff and mypy
# make bench  speed against the engines     make docs   the documentation, in build/docs
# make clean  remove the virtual environment
PYTHON ?= python3
BIN := .venv/bin
EXTRAS ?= test,lint
PIP := $(BIN)/python -m pip --disable-pip-version-check install -q -c constraints.txt

.PHONY: demo test lint format bench docs clean

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) -e .
	touch $@

.venv/developing: .venv/installed
	$(PIP) -e '.[$(EXTRAS)]'
	touch $@

demo: .venv/installed
	$(BIN)/lambdaboost demo

test: .venv/developing
	$(BIN)/python -m pytest

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
	$(BIN)/python benchmarks/speed.py

clean:
	rm -rf .venv build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
