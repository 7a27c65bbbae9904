# Needs Python 3.11 or later, make and git. Everything else goes into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests and benchmarks start the program many times: what Python has compiled once is kept, as it is for a user.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup demo check test properties netbox test-system golden boms schema bench

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## Make the virtual environment with pinned dependencies

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("ibplan needs Python 3.11 or later; set PYTHON=...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(STAMP) ## Compare InfiniBand and RoCE for a 1,024-GPU cluster
	$(BIN)/ibplan design specs/three-lines.yaml

check: $(STAMP) ## Format, lint, types, import directions
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: $(STAMP) ## All tests that need no outside program
	$(BIN)/pytest -n 2 --dist worksteal --ignore tests/system

properties: $(STAMP) ## The tests on made-up inputs, on four times as many as `make test` tries
	IBPLAN_EXAMPLES=2 $(BIN)/pytest -n 2 --dist worksteal --ignore tests/system -m hypothesis

netbox: ## NetBox for its system test, in .cache/netbox; needs Python 3.12 or later (NETBOX_PYTHON=...)
	$(PYTHON) -m tests.system.netbox_install

test-system: $(STAMP) ## Tests with outside programs: LibreOffice, OpenSM with ibsim, Slurm, FRR, NetBox
	$(BIN)/pytest tests/system

golden: $(STAMP) ## Rewrite the golden files; read the difference before committing it
	IBPLAN_GOLDEN=1 $(BIN)/pytest -n 2 --dist worksteal --ignore tests/system
	git status --short tests specs

boms: $(STAMP) ## Rewrite the committed bill of materials under specs/; read the difference
	$(BIN)/ibplan bom specs/h100-pod-127.yaml -o specs/h100-pod-127.bom.csv
	git diff --stat specs

schema: $(STAMP) ## Rewrite the JSON Schema of the spec
	$(BIN)/ibplan schema --output ibplan/spec/spec.schema.json

bench: $(STAMP) ## Measure speed: case, size, seconds, peak memory
	$(BIN)/python -m benchmarks.run
