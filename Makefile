# One documented way to do each thing; `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input -qq
SITE ?=
T ?=
ARGS ?=

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: crawl dev
crawl dev: export DAGSTER_HOME := $(or $(DAGSTER_HOME),$(CURDIR)/.dagster)

crawl: install ## crawl the demo bookshop twice and report; SITE=name crawls sites/name.yaml
	@$(if $(SITE),$(BIN)/incremental-crawl crawl $(SITE) $(ARGS),$(BIN)/python -m incremental_crawl.demo $(ARGS))

dev: install ## the Dagster UI with schedules and sensors running (and the bookshop beside it)
	@$(BIN)/python -m incremental_crawl.demo dev $(ARGS)

.PHONY: test soak bench
test: install-dev ## all tests; T=tests/test_urls.py::test_name runs one
	@env -u DAGSTER_HOME $(BIN)/python -m pytest $(if $(T),,-n auto --dist loadfile --no-loadscope-reorder) $(T) $(ARGS)

soak: install-dev ## the long ones: kills at random moments, hours in minutes
	@env -u DAGSTER_HOME $(BIN)/python -m pytest -m soak --timeout=3600 $(T) $(ARGS)

bench: install-dev ## lists the measurements; ARGS="name ..." runs one
	@$(BIN)/python -m benchmarks $(ARGS)

.PHONY: check format
check: install-dev ## lint, format, types, import contracts
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet . || { echo "some files are not formatted: make format" >&2; exit 1; }
	@$(BIN)/mypy
	@report=$$($(BIN)/lint-imports --no-logo) || { echo "$$report" >&2; exit 1; }
	@$(BIN)/python -m pip --disable-pip-version-check check

format: install-dev ## format, and mend what the linter can mend
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format --quiet .

# Stamps make every later call instant; a stamp is only written when the whole step has succeeded.
.PHONY: venv install install-dev constraints
venv: $(VENV)/.made ## an empty .venv from the first Python 3.11+ found (PYTHON=… chooses)
install: $(VENV)/.installed .dagster/dagster.yaml ## what the product needs
install-dev: $(VENV)/.installed-dev .dagster/dagster.yaml ## what tests and checks need as well

$(VENV)/.made:
	@python=$$(PYTHON="$(PYTHON)" bash scripts/find_python.sh); \
	echo "Making $(VENV) with $$("$$python" --version) ..."; \
	"$$python" -m venv $(VENV)
	@touch $@

$(VENV)/.installed: constraints.txt pyproject.toml $(VENV)/.made
	@echo "Installing the pinned packages into $(VENV) (once, about a minute) ..."
	@$(PIP) install --no-deps --require-hashes -r constraints.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.installed-dev: constraints-dev.txt $(VENV)/.installed
	@echo "Installing the tools for tests and checks (once) ..."
	@$(PIP) install --no-deps --require-hashes -r constraints-dev.txt
	@touch $@

# A link, so that an edit of dagster.yaml counts at once; everything else in .dagster is the instance's own.
.dagster/dagster.yaml: dagster.yaml
	@mkdir -p $(@D)
	@ln -sfn ../dagster.yaml $@

constraints: ## pin the newest versions that pyproject.toml allows
	@bash scripts/constraints.sh

.PHONY: clean
clean: ## remove what was made, except data/ and the Dagster instance
	@rm -rf $(VENV) $(VENV)-peers build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
