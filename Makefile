# `make demo` and `make test` work from a fresh clone with only Python and make.
# Everything is installed into .venv; nothing outside this folder changes.

PYTHON   ?= python3
VENV     := .venv
BIN      := $(VENV)/bin
PACKAGES := $(sort $(wildcard packages/*))
READY    := $(VENV)/.ready
INSTALL  := install() { if [ -x $(BIN)/uv ]; then $(BIN)/uv pip install --quiet --python $(BIN)/python "$$@"; \
            else $(BIN)/python -m pip install --quiet "$$@"; fi; }; install
PEERS    := $(VENV)-bench/.ready
INSTALL_PEERS := install() { if [ -x $(BIN)/uv ]; then $(BIN)/uv pip install --quiet --python $(VENV)-bench/bin/python "$$@"; \
            else $(VENV)-bench/bin/python -m pip install --quiet "$$@"; fi; }; install
LOCK     := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
            --no-header --no-annotate --no-emit-index-url --no-emit-find-links

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all coverage bench-eoc bench-atproto bench-openpay results interop lint format types layers check docs build lock clean

help:  ## List the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

setup: $(READY)  ## Install the three libraries and every tool into .venv

# uv installs three times faster; pip does the same work where uv has no wheel.
$(READY): requirements/dev.txt requirements/uv.txt $(PACKAGES:%=%/pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv --clear $(VENV)
	-@$(BIN)/python -m pip install --quiet --require-hashes -r requirements/uv.txt
	@$(INSTALL) --require-hashes -r requirements/dev.txt
	@$(INSTALL) --no-deps --no-build-isolation $(PACKAGES:%=-e ./%)
	@touch $@

demo: $(READY)  ## Serve simulated workers through the gateway and print the carbon report
	$(BIN)/eoc demo

test: $(READY)  ## Run the tests that finish in seconds
	$(BIN)/pytest -m "not slow and not interop"

test-all: $(READY)  ## Run every test
	$(BIN)/pytest

coverage: $(READY)  ## Run every test and report uncovered lines
	rm -rf .cache/coverage && mkdir -p .cache/coverage
	$(BIN)/coverage run -m pytest -q
	$(BIN)/coverage combine -q && $(BIN)/coverage report

bench-eoc: $(READY)  ## Time routing and the gateway beside their peers
	$(BIN)/python packages/eoc-distributed/benchmarks/run.py

results: $(READY)  ## Simulate policies on recorded traces and write docs/results.md
	$(BIN)/python packages/eoc-distributed/benchmarks/results.py

bench-atproto: $(PEERS)  ## Time codecs, trees and signatures beside their peers
	$(VENV)-bench/bin/python packages/smart-byte-atproto/benchmarks/run.py

bench-openpay: $(READY)  ## Time signatures and wire shapes beside their peers
	$(BIN)/python packages/op-openbanking/benchmarks/run.py
	$(BIN)/python packages/op-openbanking/benchmarks/bench_wire.py

interop: $(READY)  ## Run our clients against servers that others wrote (needs node and npm)
	$(BIN)/pytest -m interop packages/*/tests/interop

# Peers live in an environment of their own: none of them is a dependency of ours.
$(PEERS): $(READY) requirements/bench.txt
	$(PYTHON) -m venv --clear $(VENV)-bench
	@$(INSTALL_PEERS) --require-hashes -r requirements/bench.txt
	@$(INSTALL_PEERS) -c requirements/dev.txt -e './packages/smart-byte-atproto[fast]'
	@touch $@

lint: $(READY)  ## Check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(READY)  ## Rewrite the code in the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(READY)  ## Check types, strictly
	@set -e; for package in $(PACKAGES); do ( cd $$package && MYPYPATH=src MYPY_CACHE_DIR=../../.cache/mypy ../../$(BIN)/mypy \
	  --config-file ../../pyproject.toml --explicit-package-bases src tests ); done

layers: $(READY)  ## Check that cores do no I/O and layers point downwards
	$(BIN)/lint-imports --no-cache

check: lint layers types test-all  ## Everything that must hold before a change lands

docs: $(VENV)/.docs  ## Build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

$(VENV)/.docs: $(READY) requirements/docs.txt
	@$(INSTALL) --require-hashes -r requirements/docs.txt
	@touch $@

build: $(READY)  ## Build one wheel and one sdist for each package into dist/
	@set -e; for package in $(PACKAGES); do ( cd $$package && ../../$(BIN)/hatchling build -d ../../dist ); done

lock: $(READY)  ## Rewrite the pinned requirements from the pyproject files
	$(BIN)/$(LOCK) --group uv pyproject.toml -o requirements/uv.txt
	$(BIN)/$(LOCK) --group dev --all-extras pyproject.toml $(PACKAGES:%=%/pyproject.toml) -o requirements/dev.txt
	$(BIN)/$(LOCK) --group bench -c requirements/dev.txt pyproject.toml -o requirements/bench.txt
	$(BIN)/$(LOCK) --group docs -c requirements/dev.txt pyproject.toml -o requirements/docs.txt

clean:  ## Remove everything that these commands made
	rm -rf .venv .venv-bench .cache dist site .hypothesis .benchmarks
	find packages -name __pycache__ -prune -exec rm -rf {} +
