# Everything runs in .venv, which is made here and made anew whenever pyproject.toml changes.
SHELL := /bin/sh
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTHONS := python3.11 python3.12 python3.13 python3.14 python3
PYTEST_ARGS ?=
# PyTorch without GPUs. PyPI does not have it: its wheel there brings gigabytes for GPUs.
TORCH := torch==2.13.0+cpu

# DaCe calls cmake by name, and its wheel puts cmake into the environment.
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Settings of another environment must not leak into this one.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV

.PHONY: help demo test lint clean compiler

help:
	@echo "make demo   run the demonstration"
	@echo "make test   lint, types, import contracts and all tests (PYTEST_ARGS='-k name' to select)"
	@echo "make lint   lint, types and import contracts only"
	@echo "make clean  remove the environment, caches and build products"

demo: compiler $(STAMP)
	$(BIN)/python scripts/demo.py

lint: compiler $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy sdfgad
	$(BIN)/lint-imports --no-logo

test: lint
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal $(PYTEST_ARGS)

compiler:
	@command -v g++ >/dev/null 2>&1 || { \
	  echo "missing prerequisite: g++; get it with: sudo apt-get install g++" >&2; exit 1; }

# The stamp is written last: an installation that was cut short starts over.
$(STAMP): pyproject.toml | compiler
	@python=; bare=; \
	for candidate in $(PYTHONS); do \
	  "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || continue; \
	  bare=$${bare:-$$candidate}; \
	  "$$candidate" -c 'import ensurepip, venv' >/dev/null 2>&1 || continue; \
	  python=$$candidate; break; \
	done; \
	if [ -z "$$bare" ]; then \
	  echo "missing prerequisite: Python 3.11 or newer; get it with: sudo apt-get install python3 python3-venv" >&2; \
	  exit 1; \
	fi; \
	if [ -z "$$python" ]; then \
	  version=$$("$$bare" -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	  echo "missing prerequisite: venv for Python $$version; get it with: sudo apt-get install python$$version-venv" >&2; \
	  exit 1; \
	fi; \
	echo "Setting up $(VENV) with $$("$$python" --version); this takes a minute or two."; \
	rm -rf $(VENV) && "$$python" -m venv $(VENV) && \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' && \
	{ $(BIN)/python -m pip install --quiet --disable-pip-version-check '$(TORCH)' >/dev/null 2>&1 || \
	  echo "$(TORCH) is not to be had here: the tests of sdfgad.torch will be skipped"; } && \
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .dacecache .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
