# make demo   compare with LightGBM's own objective and print the table, without prior installation
# make test   the test suite                make lint   ruff and mypy
# make test-slow  what is slow and rarely broken: notebooks, wheels, experiments, benchmarks, killed workers
# make bench  speed compared with engines   make docs   the documentation, in build/docs
# make reproduce PAPER=svore2011 DATA=FOLDER   a paper's experiments, on synthetic data without DATA; options in ARGS
# make test-oldest  the engines' tests with their oldest supported versions (Python 3.11 or 3.12)
# make test-alone   the tests of each engine where the other is not installed
# make test-large   the tests with Ray, Spark (which needs Java) and CatBoost, in an environment of their own
# make test-bounds  the kernels with bounds checks, at list lengths and cutoffs next to multiples of a vector
# make test-python PYTHON=python3.13  the core tests with another interpreter
# make dist   wheel and source archive, checked by twine   make clean  remove build outputs and environments
PYTHON ?= python3
BIN := .venv/bin
EXTRAS ?= test,lint
# Python compiles what is imported: pip would compile all, which takes a third of the installation.
PIP := $(BIN)/python -m pip --disable-pip-version-check install -q --no-compile -c constraints.txt

CORE_TESTS := $(addprefix tests/test_,queries.py measures.py objectives.py values.py attach.py parameters.py engines.py save.py \
	rounds.py threads.py lightgbm_ranker.py xgboost_ranker.py)
OLDEST_TESTS := $(addprefix tests/test_,attach.py rounds.py lightgbm_ranker.py xgboost_ranker.py save.py kernel_cache.py)

.PHONY: demo test test-slow test-alone test-large test-bounds test-oldest test-python lint format bench reproduce docs dist clean

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) -e '.[plots]'
	touch $@

.venv/developing: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) -e '.[plots,$(EXTRAS)]'
	touch .venv/installed $@

demo: .venv/installed
	$(BIN)/lambdaboost demo --overwrite

# Those that this process may use; pytest-xdist would count all that the machine has.
PROCESSORS = $(shell $(BIN)/python -c 'import joblib; print(joblib.cpu_count())')

# Threads that wait sleep: where other processes run too, engines of two threads would spin for up to ten times as long.
docs test test-slow test-bounds test-oldest test-alone test-python test-large: export OMP_WAIT_POLICY = passive

# One process for each processor, so one thread each: more would wait for each other.
test: export OMP_NUM_THREADS = 1
test: .venv/developing
	$(BIN)/python tests/compile_kernels.py
	$(BIN)/python -m pytest -n $(PROCESSORS) --dist loadfile -m "not slow"

test-slow: export OMP_NUM_THREADS = 1
test-slow: .venv/developing
	$(BIN)/python -m pytest -n $(PROCESSORS) --dist loadfile -m slow

.venv-oldest/installed: pyproject.toml constraints-oldest.txt
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip --disable-pip-version-check install -q --no-compile -c constraints-oldest.txt -e '.[test]'
	touch $@

# Old libraries emit deprecation warnings with newer ones.
test-oldest: .venv-oldest/installed
	.venv-oldest/bin/python -m pytest -p no:cacheprovider -W ignore::DeprecationWarning $(OLDEST_TESTS)

# Recursive, so that only targets that need the version run the interpreter.
PYTHON_VERSION = $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')

test-python:
	$(MAKE) .venv-$(PYTHON_VERSION)/installed
	.venv-$(PYTHON_VERSION)/bin/python -m pytest -p no:cacheprovider -m "not slow" $(CORE_TESTS)

.venv-3.%/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-3.$*
	.venv-3.$*/bin/python -m pip --disable-pip-version-check install -q --no-compile -c constraints.txt -e '.[test]'
	touch $@

test-alone: .venv-only-lightgbm/installed .venv-only-xgboost/installed
	for engine in lightgbm xgboost; do \
		.venv-only-$$engine/bin/python -m pytest -p no:cacheprovider tests/test_one_engine.py \
			tests/test_$${engine}_ranker.py || exit; \
	done

# As docs/install.md says, with what the tests need.
.venv-only-%/installed: pyproject.toml constraints.txt requirements-%.txt
	$(PYTHON) -m venv .venv-only-$*
	.venv-only-$*/bin/python -m pip --disable-pip-version-check install -q --no-compile -c constraints.txt --no-deps -e .
	.venv-only-$*/bin/python -m pip --disable-pip-version-check install -q --no-compile -c constraints.txt \
		-r requirements-$*.txt pytest hypothesis
	touch $@

test-large: .venv-large/installed
	.venv-large/bin/python -m pytest -p no:cacheprovider $(addprefix tests/test_,catboost.py ray.py spark.py)

.venv-large/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-large
	.venv-large/bin/python -m pip --disable-pip-version-check install -q --no-compile -c constraints.txt -e '.[ray]' catboost pyspark pytest hypothesis
	touch $@

test-bounds: .venv/developing
	NUMBA_BOUNDSCHECK=1 NUMBA_OPT=1 NUMBA_CACHE_DIR=build/bounds $(BIN)/python -m pytest -p no:cacheprovider \
		tests/test_bounds.py tests/test_ranking.py

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
	$(BIN)/python -m benchmarks.readme  # its tables, from benchmarks/results

PAPER ?= svore2011
reproduce: .venv/developing
	$(BIN)/python -m experiments.$(PAPER) $(DATA) $(ARGS)

# Without isolation, so that the build tools are those pinned in constraints.txt.
dist: .venv/developing
	rm -rf dist
	$(BIN)/python -m build -q --no-isolation
	$(BIN)/python -m twine check --strict dist/*

clean:
	find lambdaboost tests -name __pycache__ -prune -exec rm -rf {} +
	rm -rf .venv .venv-* build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
