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
run_tests() {
	.venv/bin/pytest -q --durations=5 --numprocesses=$(($(getconf _NPROCESSORS_ONLN) + 1)) --dist=loadfile --no-loadscope-reorder "$@"
}

# The measurement slows only the tests without a browser. It takes about 80 % more processor time on Python 3.11.
# Of a selection of tests, it means nothing.
coverage=(--cov --cov-report= --cov-fail-under=82)
[ $# -eq 0 ] || coverage=()
status=0
run_tests "${coverage[@]}" "$@" tests/unit tests/peer || status=$?
if [ $status -ne 0 ] && ! { [ $# -gt 0 ] && [ $status -eq 5 ]; }; then # 5: no test of the selection is there
	exit $status
fi
run_tests "$@" tests/chrome
