# The two commands are `make demo` and `make test`; each does all its own set-up (scripts/setup.sh).
# PYTHON=... names the Python for a new virtual environment, CDPENGINE_BROWSER=... the browser.

BIN := .venv/bin
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-peers lint types imports unit coverage format shape bench bench-check docs lock setup clean

help: ## This list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-11s %s\n", $$1, $$2}'

demo: setup ## The engine on a page of its own: see, click, type, hover, evaluate, survive a hung script
	@$(BIN)/cdpengine demo $(ARGS)

test: setup ## Every check: ruff, mypy --strict, the layers, and all tests that are not slow
	@scripts/check.sh $(ARGS)

test-slow: setup ## The same with the slow tests, and with all cases of sampled tests
	@scripts/check.sh --run-slow $(ARGS)

test-peers: setup ## Puppeteer, Playwright and others through the proxy, and replayed: installs and runs them
	@scripts/peers.sh services
	@$(BIN)/pytest -q -m peers --run-slow tests/chrome

lint: setup ## ruff: rules and formatting
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: setup ## mypy --strict
	@$(BIN)/mypy

imports: setup ## The layers: imports only go down
	@$(BIN)/lint-imports --no-cache --no-logo

unit: setup ## The tests that need no browser
	@$(BIN)/pytest -q tests/unit tests/peer

coverage: setup ## The coverage of the tests that need no browser; fails below its present value
	@$(BIN)/pytest -q --numprocesses=auto --dist=loadfile --cov --cov-report=term:skip-covered --cov-fail-under=79 tests/unit tests/peer

format: setup ## Let ruff format and fix what it can
	@$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

shape: setup ## The shape of the code: sizes of modules, functions and folders, import cycles, public names
	@$(BIN)/python scripts/shape.py

bench: setup ## The engine beside its peers: build/benchmarks/, docs/benchmarks.md, figures in README and docs
	@scripts/peers.sh
	@$(BIN)/python -m benchmarks --json build/benchmarks/report.json --publish $(ARGS)

bench-check: setup ## What is promised of the engine's speed, measured and asserted
	@scripts/peers.sh
	@$(BIN)/python -m benchmarks.check $(ARGS)

docs: ## Build the documentation site in build/site/; a broken link is an error
	@scripts/docs.sh $(ARGS)

lock: setup ## Write requirements.lock, requirements-docs.lock, scripts/uv.lock and benchmarks/peers.txt anew
	$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links --no-header --output-file requirements.lock $(ARGS)
	$(BIN)/uv pip compile --group docs --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links --no-header --output-file requirements-docs.lock $(ARGS)
	$(BIN)/uv pip compile scripts/uv.in --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links --no-header --output-file scripts/uv.lock $(ARGS)
	$(BIN)/uv pip compile benchmarks/peers.in --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links --no-header --output-file benchmarks/peers.txt $(ARGS)

setup: ## What the others need; done once
	@scripts/setup.sh

clean: ## Remove the virtual environment and everything that was built
	rm -rf .venv .venv-docs build .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage dist
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
