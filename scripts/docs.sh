#!/usr/bin/env bash
# Build the documentation site in build/site/. It loads nothing from other hosts.
#
# Rule: locked packages are installed once into .venv-docs; a warning (a broken link, an unknown name in the reference) is
# an error. PYTHON=... selects the Python of a new environment. Arguments are passed to mkdocs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

VENV=.venv-docs
LOCK=requirements-docs.lock

log() { printf '== docs: %s\n' "$*"; }

if ! cmp -s "$LOCK" "$VENV/.installed"; then
    log "install the locked packages ($LOCK) in $VENV"
    rm -rf "$VENV"
    python=${PYTHON:-$([ -x .venv/bin/python ] && echo .venv/bin/python || echo python3)}
    if ! "$python" -m venv "$VENV"; then
        log "$python cannot make a virtual environment: run \`make setup\` first, or name a Python that can (PYTHON=...)" >&2
        exit 1
    fi
    "$VENV/bin/python" -m pip --disable-pip-version-check --no-input install -qq --require-hashes -r "$LOCK"
    cp "$LOCK" "$VENV/.installed"
fi
# No --quiet: mkdocs would then count no warnings for --strict.
if ! output=$(NO_MKDOCS_2_WARNING=1 PATH="$VENV/bin:$PATH" "$VENV/bin/mkdocs" build --strict "$@" 2>&1); then
    printf '%s\n' "$output" | grep -v '^INFO' >&2
    exit 1
fi
log "build/site/index.html (for the search: python3 -m http.server --bind 127.0.0.1 --directory build/site)"
