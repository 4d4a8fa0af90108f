#!/usr/bin/env bash
# Run every check, and stop at the first that fails. Arguments go to pytest (`--run-slow`, `--transport=websocket`).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PYTHONUNBUFFERED=1
unset PYTHONDONTWRITEBYTECODE # the tests start hundreds of programs, and each would compile the engine again

.venv/bin/ruff check .
.venv/bin/ruff format --check .
.venv/bin/mypy
.venv/bin/lint-imports --no-cache --no-logo
# One worker more than processors, because tests wait for browsers. A file's tests share a window: one worker has all.
.venv/bin/pytest -q --durations=5 --numprocesses=$(($(getconf _NPROCESSORS_ONLN) + 1)) --dist=loadfile --no-loadscope-reorder "$@"
