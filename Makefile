# One word for each thing a developer does; `make` alone lists them. Everything installed goes to .venv.
# uv is used when it is there, else venv and pip. PYTHON=python3.12 picks the interpreter, UV= does without uv.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
UV ?= $(shell command -v uv 2>/dev/null)
RECENT := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	"$$p" -c '$(RECENT)' 2>/dev/null && echo "$$p" && break; done)
PYTEST_ARGS ?=
PINNED := pyproject.toml constraints.txt

.PHONY: help demo test extras lint format types imports examples docs notebooks check bench constraints clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' Makefile

demo: $(VENV)/.ready-demo ## set up, then run the main job on made-up data
	@$(BIN)/softlabel demo

test: $(VENV)/.ready-test ## set up, then run every test
	@$(BIN)/python -m pytest -n logical --dist worksteal $(PYTEST_ARGS)

extras: $(VENV)/.ready-extras ## install PyTorch, MCGrad and axe-core, without which their tests skip

lint: $(VENV)/.ready-lint ## ruff: the rules and the layout of the code
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

format: $(VENV)/.ready-lint ## let ruff mend what it can
	@$(BIN)/ruff check --fix --exit-zero .
	@$(BIN)/ruff format .

types: $(VENV)/.ready-lint ## mypy, strict
	@$(BIN)/mypy

imports: $(VENV)/.ready-lint ## which room may import which
	@$(BIN)/lint-imports

examples: $(VENV)/.ready-test ## run the examples of the docstrings and of the documents
	@$(BIN)/python -m pytest --doctest-modules src tests/test_readme.py

docs: $(VENV)/.ready-docs ## build the documentation in site/, and follow its links
	@$(BIN)/python -m tools.docs

notebooks: $(VENV)/.ready-docs ## run the notebooks of docs/ and store what they put out
	@$(BIN)/python -m tools.docs notebooks

check: test lint types imports examples ## all of the above that can fail

bench: $(VENV)/.ready-test ## measure: the import, and a diagnosis beside a regression
	@$(BIN)/python benchmarks/import_time.py
	@$(BIN)/python benchmarks/speed.py

constraints: ## pin the newest versions of everything in constraints.txt
	@rm -rf .cache/newest
	@"$(PYTHON)" -m venv .cache/newest
	@.cache/newest/bin/python -m pip install -qq --disable-pip-version-check --editable '.[test,lint,docs]'
	@.cache/newest/bin/python -m pip install -qq --disable-pip-version-check --no-deps mcgrad axe-playwright-python
	@.cache/newest/bin/python -m pip freeze --exclude-editable > constraints.txt
	@rm -rf .cache/newest

clean: ## remove .venv, caches and build products
	@rm -rf $(VENV) .cache .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist site
	@find src tests benchmarks tools -name __pycache__ -type d -prune -exec rm -rf {} +

# The marks say which extras are installed; a change of pyproject.toml or constraints.txt makes them old.
# More extras hold all that fewer do, so the smaller marks are set with the larger.
$(VENV)/.ready-demo: $(PINNED) | $(BIN)/python
	$(call install,.)
	@touch $(VENV)/.ready-demo

$(VENV)/.ready-test: $(PINNED) | $(BIN)/python
	$(call install,.[test])
	@touch $(VENV)/.ready-demo $(VENV)/.ready-test

$(VENV)/.ready-lint: $(PINNED) | $(BIN)/python
	$(call install,.[test$(comma)lint])
	@touch $(VENV)/.ready-demo $(VENV)/.ready-test $(VENV)/.ready-lint

# The notebooks want what the tests want.
$(VENV)/.ready-docs: $(PINNED) | $(BIN)/python
	$(call install,.[test$(comma)docs])
	@touch $(VENV)/.ready-demo $(VENV)/.ready-test $(VENV)/.ready-docs

# PyTorch is pinned in pyproject.toml. MCGrad comes alone: of what it names, the tests have what it uses. So does the
# package that holds axe-core: it names Playwright, a driver of browsers, and only the script in it is wanted.
$(VENV)/.ready-extras: $(PINNED) | $(BIN)/python
	$(call install,.[test$(comma)torch])
	$(call alone,mcgrad)
	$(call alone,axe-playwright-python)
	@touch $(VENV)/.ready-demo $(VENV)/.ready-test $(VENV)/.ready-extras

comma := ,
ifneq ($(UV),)
install = @echo "Installing '$(1)' with uv into $(VENV)" && \
	"$(UV)" pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable '$(1)'
alone = @"$(UV)" pip install --quiet --python $(BIN)/python --constraint constraints.txt --no-deps '$(1)'

$(BIN)/python:
	@"$(UV)" venv --quiet --clear $(if $(filter environment command,$(firstword $(origin PYTHON))),--python "$(PYTHON)") $(VENV)
else
# A .venv that uv made earlier has no pip in it.
install = @echo "Installing '$(1)' with pip into $(VENV) (about a minute the first time)" && \
	{ $(BIN)/python -c 'import pip' 2>/dev/null || $(BIN)/python -m ensurepip >/dev/null; } && \
	$(BIN)/python -m pip install -qq --disable-pip-version-check --constraint constraints.txt --editable '$(1)'
alone = @$(BIN)/python -m pip install -qq --disable-pip-version-check --constraint constraints.txt --no-deps '$(1)'

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "softlabel needs Python 3.11 or newer: install it, or say where it is with PYTHON=..." >&2; exit 1; }
	@"$(PYTHON)" -c '$(RECENT)' || { echo "softlabel needs Python 3.11 or newer; $(PYTHON) is older." >&2; exit 1; }
	@"$(PYTHON)" -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }
endif
