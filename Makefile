# `make test` and `make benchmark` do all set-up themselves, on a machine with Python 3.11 or newer.

VENV := .venv
BIN := $(VENV)/bin
# Without the options of pyproject.toml, which are for the main virtual environment.
PLAIN := --override-ini=addopts=--import-mode=importlib
INSTALLED := $(VENV)/.installed
SOURCES := klondike_env agents train tests docs

# The first Python on the path that is new enough.
PYTHON ?= $(shell for python in python3.11 python3 python3.12 python3.13; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

.PHONY: setup test test-bounds test-plain test-libraries test-rllib docs benchmark golden labels lint types format clean

setup: $(INSTALLED)

# Quick when nothing changed: the stamp is as new as the files that say what to install.
$(INSTALLED): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; name it, as in: make PYTHON=/path/to/python3.11"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[train,render,docs,dev]"
	@touch $@

# Virtual environments for libraries that are large, or whose requirements those of the others exclude.
.venv-%/.installed: pyproject.toml tests/libraries/%/constraints.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; name it, as in: make PYTHON=/path/to/python3.11"; exit 1; }
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --constraint tests/libraries/$*/constraints.txt --editable ".[$*]"
	@touch $@

test: lint types
	$(BIN)/python -m pytest

# With every index checked: what lies outside an array is an error, where kernels otherwise read or write on.
test-bounds: setup
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/build/bounds-cache KLONDIKE_POSITIONS=0.1 \
		$(BIN)/python -m pytest -m "not slow" --ignore=tests/engine/test_jit.py tests/engine tests/env tests/solver tests/agents

# Rules and observations in plain Python, which also refuses what compiled code wraps around; and how much of them is run.
test-plain: setup
	mkdir -p build
	NUMBA_DISABLE_JIT=1 KLONDIKE_POSITIONS=0.01 $(BIN)/python -m coverage run -m pytest -n0 -m "not slow" \
		$(addprefix tests/engine/test_,$(addsuffix .py,actions against_reference faults games rules_by_name saving)) \
		tests/env/test_observation.py
	$(BIN)/python -m coverage report

# TorchRL, Tianshou and Minari.
test-libraries: .venv-others/.installed
	.venv-others/bin/python -m pytest $(PLAIN) tests/libraries/others

# RLlib and Ray, and the environments on the older Gymnasium that they pin.
test-rllib: .venv-rllib/.installed
	.venv-rllib/bin/python -m pytest $(PLAIN) tests/libraries/rllib tests/libraries/test_gymnasium.py tests/env/test_vector_env.py

# The site is written to build/site; any warning is an error. The variables silence advertisements.
docs: setup
	NO_MKDOCS_2_WARNING=1 DISABLE_MKDOCS_2_WARNING=true $(BIN)/python -m mkdocs build --strict --quiet

benchmark: setup
	$(BIN)/python -m train.benchmark

# Write the golden files of the tests again; read the difference that git shows before keeping it.
golden: setup
	$(BIN)/python -m tests.golden

# Pack files of results, made by `klondike study --fresh --folder RESULTS` or `solve_many`, into the package.
RESULTS ?= klondike-study
labels: setup
	$(BIN)/python -m klondike_env.solver.labels $(wildcard $(RESULTS)/*.csv)

lint: setup
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)

types: setup
	$(BIN)/mypy

format: setup
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

# Everything that can be made again, apart from trained networks in runs/.
clean:
	rm -rf $(VENV) .venv-others .venv-rllib build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache
	find $(SOURCES) -name __pycache__ -type d -exec rm -rf {} +
