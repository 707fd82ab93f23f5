# `make test` and `make benchmark` install all that they need; the machine must have Python 3.11 or newer.

VENV := .venv
BIN := $(VENV)/bin
# Options for pytest that replace those of pyproject.toml, which are for the main virtual environment.
PLAIN := --override-ini=addopts=--import-mode=importlib
INSTALLED := $(VENV)/.installed
SOURCES := klondike_env agents train benchmarks tests docs

# The first Python on the path that is new enough.
PYTHON ?= $(shell for python in python3.11 python3 python3.12 python3.13; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
CHECK_PYTHON = @test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; name it, as in: make PYTHON=/path/to/python3.11"; exit 1; }

.PHONY: setup test kernels test-statistics test-bounds test-plain test-libraries test-rllib test-numba mutation docs benchmark golden labels lint types format clean

setup: $(INSTALLED)

# Quick when nothing changed: the stamp is as new as the files that say what to install.
$(INSTALLED): pyproject.toml constraints.txt
	$(CHECK_PYTHON)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[train,render,docs,dev]"
	@touch $@

# Virtual environments for libraries that are large, or whose requirements conflict with those of the main one.
.venv-%/.installed: pyproject.toml tests/libraries/%/constraints.txt
	$(CHECK_PYTHON)
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --constraint tests/libraries/$*/constraints.txt --editable ".[$*]"
	@touch $@

# One process checks types while another compiles what most tests use.
test: lint
	$(MAKE) --jobs=2 types kernels
	$(BIN)/python -m pytest

kernels: setup
	$(BIN)/python -m tests.compile_kernels

# Tests that measure win rates over many games; `make test` leaves them out.
test-statistics: setup
	$(BIN)/python -m pytest -n0 -m statistical

# With every index checked: one outside its array is an error; otherwise kernels read or write there unnoticed.
test-bounds: setup
	NUMBA_BOUNDSCHECK=1 KLONDIKE_POSITIONS=0.1 $(BIN)/python -m pytest -m "not slow and not statistical" \
		--ignore=tests/engine/test_jit.py tests/engine tests/env tests/solver tests/agents

# Rules and observations as plain Python, in which an integer overflow is an error; also measures test coverage.
test-plain: setup
	mkdir -p build
	NUMBA_DISABLE_JIT=1 KLONDIKE_POSITIONS=0.01 $(BIN)/python -m coverage run -m pytest -n0 -m "not slow and not statistical" \
		$(addprefix tests/engine/test_,$(addsuffix .py,actions against_reference faults rules_by_name saving)) \
		tests/test_games.py tests/env/test_observation.py
	$(BIN)/python -m coverage report

# TorchRL, Tianshou and Minari.
test-libraries: .venv-others/.installed
	.venv-others/bin/python -m pytest $(PLAIN) tests/libraries/others

# RLlib and Ray, and the environments on the older Gymnasium that they pin.
test-rllib: .venv-rllib/.installed
	.venv-rllib/bin/python -m pytest $(PLAIN) tests/libraries/rllib tests/libraries/test_gymnasium.py tests/env/test_vector_env.py

# The tests of the engine on the oldest and the newest numba allowed, with a Python of your choice if you name one
# (PYTHON=python3.13).
# Unless a Python is named, a release that constraints.txt names is left out, because `make test` runs on it.
NUMBA_RELEASES := $(foreach release,oldest newest,$(if $(filter command,$(origin PYTHON)),$(release),$(shell \
	grep -qxF "$$(grep '^numba==' constraints.txt)" tests/numba/$(release).txt || echo $(release))))
test-numba: $(NUMBA_RELEASES:%=.venv-numba-%/.installed-$(notdir $(PYTHON)))
	for python in $(NUMBA_RELEASES:%=.venv-numba-%/bin/python); do $$python -m pytest $(PLAIN) tests/engine || exit 1; done

# Recreated for each Python.
.venv-numba-%/.installed-$(notdir $(PYTHON)): pyproject.toml tests/numba/%.txt
	$(CHECK_PYTHON)
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --constraint tests/numba/$*.txt --editable . pytest
	@touch $@

# Change the sources in small ways and see whether the tests notice: a quarter of an hour. Not part of `make test`.
mutation: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[mutation]"
	$(BIN)/python -m tests.mutation

# The site is written to build/site; any warning is an error. The variables silence advertisements.
docs: setup
	NO_MKDOCS_2_WARNING=1 DISABLE_MKDOCS_2_WARNING=true $(BIN)/python -m mkdocs build --strict --quiet

benchmark: setup
	$(BIN)/python -m train.benchmark

# Rewrite the golden files of the tests; read the diff before you commit it.
golden: setup
	$(BIN)/python -m tests.golden

# Pack result files, made by `klondike study --fresh --folder RESULTS` or `solve_many`, into the package.
RESULTS ?= klondike-study
labels: setup
	$(BIN)/python -m klondike_env.solver.study.labels $(wildcard $(RESULTS)/*.csv)

lint: setup
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)

types: setup
	$(BIN)/mypy

format: setup
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

# Remove everything that can be made again; trained networks in runs/ stay.
clean:
	rm -rf $(VENV) .venv-others .venv-rllib .venv-numba-* build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache
	find $(SOURCES) -name __pycache__ -type d -exec rm -rf {} +
