#!/usr/bin/env bash
# Run the named checks one after the other, each with its name and its time; every one is run even when an
# earlier one failed, and the last lines say how each ended. Exit status 1 when any failed.
#
# Usage: scripts/check.sh lint types imports tests
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
BIN=.venv/bin
export PYTHONUNBUFFERED=1
# The tests start some hundred programs: each would compile the engine anew, and each run rewrite all assertions.
unset PYTHONDONTWRITEBYTECODE

check_lint() { "$BIN/ruff" check . && "$BIN/ruff" format --check .; }
check_types() { "$BIN/mypy"; }
check_imports() { "$BIN/lint-imports" --no-cache --no-logo; }
check_unit() { "$BIN/pytest" -q tests/unit tests/peer; }
# Whole files go to one worker, so that what a file shares is set up once; the slow ones first (tests/conftest.py), so
# that no worker is left with one at the end.
# Tests wait for browsers some of their time: one worker more than there are processors.
check_tests() { passes_in_the_end "${workers[@]}"; }
check_slow() { passes_in_the_end --run-slow "${workers[@]}"; }
workers=("--numprocesses=$(($(getconf _NPROCESSORS_ONLN) + 1))" --dist=loadfile --no-loadscope-reorder)
# On a busy machine a test can miss its own deadline because of what runs beside it. What fails is run once more, by
# itself, and has to pass there; a failure that was more than that fails again. The last lines of the run name those that
# passed only then, and more than FLAKY of them fail it all the same.
FLAKY=3
flaky=()
passes_in_the_end() {
    local result=0 failed line again=()
    failed=$(mktemp)
    if ! CDPENGINE_FAILED_TESTS=$failed "$BIN/pytest" -q --durations=5 "$@"; then
        if [ -s "$failed" ] && [ "$(wc -l <"$failed")" -le 15 ]; then
            printf '== again, by themselves:\n'
            cat "$failed"
            [ "$1" = --run-slow ] && again=("$1")
            if "$BIN/pytest" -q "${again[@]}" "@$failed"; then
                while IFS= read -r line; do flaky+=("$line"); done <"$failed"
                [ "${#flaky[@]}" -le "$FLAKY" ] || result=1
            else
                result=1
            fi
        else
            result=1
        fi
    fi
    rm -f "$failed"
    return "$result"
}

now() { "$BIN/python" -c 'import time; print(time.monotonic())'; }
since() { "$BIN/python" -c 'import sys, time; print("%.1f s" % (time.monotonic() - float(sys.argv[1])))' "$1"; }

failed=0
summary=()
began=$(now)
for name in "$@"; do
    printf '== %s\n' "$name"
    start=$(now)
    if "check_$name" </dev/null; then result=ok; else result=FAILED failed=1; fi
    line=$(printf '%-8s %-6s %s' "$name" "$result" "$(since "$start")")
    printf '== %s\n\n' "$line"
    summary+=("$line")
done
if [ "$#" -gt 1 ]; then
    printf '== in all %s\n' "$(since "$began")"
    printf '   %s\n' "${summary[@]}"
fi
if [ "${#flaky[@]}" -gt 0 ]; then
    printf '== failed beside others and passed by themselves (%s, at most %s may):\n' "${#flaky[@]}" "$FLAKY"
    printf '   %s\n' "${flaky[@]}"
fi
exit "$failed"
