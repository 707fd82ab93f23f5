# `make test` and `make benchmark` do all set-up themselves, on a machine with Python 3.11 or newer.

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
SOURCES := klondike_env agents train tests docs

# The first Python on the path that is new enough.
PYTHON ?= $(shell for python in python3.11 python3 python3.12 python3.13; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

.PHONY: setup test benchmark golden lint types format clean

setup: $(INSTALLED)

# Quick when nothing changed: the stamp is as new as the files that say what to install.
$(INSTALLED): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; name it, as in: make PYTHON=/path/to/python3.11"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[train,render,dev]"
	@touch $@

test: lint types
	$(BIN)/python -m pytest

benchmark: setup
	$(BIN)/python -m train.benchmark

# Write the golden files of the tests again; read the difference that git shows before keeping it.
golden: setup
	$(BIN)/python -m tests.golden

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
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache
	find $(SOURCES) -name __pycache__ -type d -exec rm -rf {} +
