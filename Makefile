PYTHON ?= python3
UV_VERSION := 0.13.7
BIN := .venv/bin
NPM := $(CURDIR)/$(BIN)/npm
CLIENT_CACHE ?= build/clients
SCREENS := tests/web_e2e tests/terminal/test_tmux.py

UV := .uv/uv-$(UV_VERSION)
VENV := .venv/.synced
JS := tests/js/node_modules/.package-lock.json

export UV_PYTHON_DOWNLOADS := never

.DEFAULT_GOAL := help
.PHONY: help setup run test check lint format types layers lock system-deps clean web web-dev web-test bench bench-guard test-clients test-full test-screens

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV) $(JS) ## make .venv from the lock files (quick when nothing changed)

run: setup web ## serve the gateway and the web app on simulators, without a key, at port 4141
	@$(BIN)/thinkwire serve --sim

web: $(VENV) ## build the web app into the package (nothing to do when it is fresh)
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python hatch_build.py

web-dev: web ## the pages with live reload, on simulators
	$(BIN)/python -m thinkwire.web.dev & server=$$!; trap "kill $$server" EXIT; \
	  cd web && PATH="$(CURDIR)/$(BIN):$$PATH" $(NPM) run dev

web-test: web ## types and unit tests of the pages
	cd web && PATH="$(CURDIR)/$(BIN):$$PATH" $(NPM) run types && PATH="$(CURDIR)/$(BIN):$$PATH" $(NPM) test

test: setup web web-test ## run the tests, offline: in parallel, and then those that drive a screen
	$(BIN)/pytest -n auto --dist worksteal --inline-snapshot=disable -m "not full" $(SCREENS:%=--ignore=%) $(ARGS)
	$(BIN)/pytest $(SCREENS) -m "not full" $(ARGS) || [ $$? -eq 5 ]

test-full: setup web ## run what make test leaves out: fuzzing, laws with many examples, full matrices
	$(BIN)/pytest -n auto --dist worksteal --inline-snapshot=disable -m full $(ARGS)

test-screens: setup web ## drive the web app in Chromium and the terminal in tmux, one after the other
	$(BIN)/pytest $(SCREENS) $(ARGS)

test-clients: setup ## install real clients (some GB) and run them all against the gateway
	-CLIENT_CACHE=$(CLIENT_CACHE) $(BIN)/python -m tests.e2e.install $(CLIENTS)
	CLIENT_CACHE=$(CLIENT_CACHE) $(BIN)/pytest -n auto --dist worksteal tests/e2e $(ARGS)

bench: setup ## measure the gateway and the library against peers (QUICK=1 for one short round)
	$(BIN)/python -m bench.install
	$(BIN)/python -m bench $(if $(QUICK),quick)

bench-guard: setup ## count function calls against bench/budgets.toml
	$(BIN)/python -m bench.guard

check: lint types layers test ## everything that must pass before a commit

lint: setup ## ruff: rules and format
	$(BIN)/ruff check
	$(BIN)/ruff format --check

format: setup ## rewrite the code in ruff's format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

types: setup ## mypy, strict
	$(BIN)/mypy

layers: setup ## import-linter: who may import whom
	$(BIN)/lint-imports --no-logo --no-cache

lock: $(UV) ## resolve the dependencies anew into the lock files (ARGS=--upgrade for newer ones)
	scripts/uv pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --custom-compile-command "make lock" --quiet \
	  --output-file requirements.lock $(ARGS)
	$(MAKE) $(VENV)
	for folder in tests/js web; do \
	  (cd $$folder && PATH="$(CURDIR)/$(BIN):$$PATH" $(NPM) install --package-lock-only --ignore-scripts --no-audit --no-fund) && \
	  $(BIN)/python scripts/strip_npm_lock.py $$folder/package-lock.json || exit 1; \
	done

system-deps: ## install the Debian packages that some tests need
	@scripts/system-deps

clean: ## remove everything that make made
	rm -rf .uv .venv build dist tests/js/node_modules web/node_modules src/thinkwire/web/static .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(UV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "thinkwire needs Python 3.11 or newer")'
	rm -rf .uv
	$(PYTHON) -m venv .uv
	.uv/bin/pip install --quiet uv==$(UV_VERSION)
	@touch $@

$(VENV): requirements.lock pyproject.toml src/thinkwire/_version.py | $(UV)
	test -x $(BIN)/python || scripts/uv venv --quiet --clear --python $(PYTHON) .venv
	scripts/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements.lock
	scripts/uv pip install --quiet --python $(BIN)/python --no-deps --editable '.[all]'
	@touch $@

$(JS): tests/js/package.json tests/js/package-lock.json tests/js/.npmrc | $(VENV)
	cd tests/js && PATH="$(CURDIR)/$(BIN):$$PATH" $(NPM) ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@
