#!/usr/bin/env bash
# Run the named checks one after the other, each with its name and its time; every one is run even when an
# earlier one failed, and the last lines say how each ended. Exit status 1 when any failed. The types are checked beside
# the others, as they take one processor for a while, and come last.
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
# Of the browser tests each run has half, and a quarter of those that start browsers of their own (tests/conftest.py):
# commits take turns, so that the next one has the other half, four have everything, and a run of the same commit is the
# same. TURN=1 to TURN=4 takes that turn, TURN=both all of them.
turn=${TURN:-$(($(git rev-list --count HEAD 2>/dev/null || echo 0) % 4 + 1))}
check_tests() {
    local half=()
    if [ "$turn" = both ]; then
        printf 'all browser tests of a usual run\n'
    else
        printf 'turn %s of 4 of the browser tests; the next: TURN=%s make test, all: TURN=both make test\n' \
            "$turn" "$((turn % 4 + 1))"
        half=("--turn=$turn")
    fi
    rewritten_once && passes_in_the_end "${workers[@]}" ${half[@]+"${half[@]}"}
}
check_slow() { rewritten_once && passes_in_the_end --run-slow "${workers[@]}"; }
# In a fresh clone pytest rewrites the assertions of all files of tests, and keeps what it made. Every worker begins with
# that at the same time, so each would do all of it.
rewritten_once() {
    [ -d tests/unit/__pycache__ ] || "$BIN/pytest" --collect-only -qq >/dev/null 2>&1 || true # the run says what is wrong
}
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

# Run a check, and leave its line for the summary in a file; its exit status is the check's.
run_check() {
    local start status=0 result=ok
    start=$(now)
    "check_$1" </dev/null || status=1 result=FAILED
    printf '%-8s %-6s %s\n' "$1" "$result" "$(since "$start")" >"$lines/$1"
    return "$status"
}

failed=0
summary=()
began=$(now)
lines=$(mktemp -d)
trap 'rm -rf "$lines"' EXIT
checks=()
beside=
for name in "$@"; do
    if [ "$name" = types ] && [ "$#" -gt 1 ]; then
        run_check types >"$lines/printed" 2>&1 &
        beside=$!
    else
        checks+=("$name")
    fi
done
for name in "${checks[@]}" ${beside:+types}; do
    printf '== %s\n' "$name"
    if [ "$name" = types ] && [ -n "$beside" ]; then
        wait "$beside" || failed=1
        cat "$lines/printed"
    else
        run_check "$name" || failed=1
    fi
    printf '== %s\n\n' "$(cat "$lines/$name")"
    summary+=("$(cat "$lines/$name")")
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
