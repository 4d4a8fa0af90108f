#!/usr/bin/env bash
# The documentation as a site, in build/site/: open build/site/index.html. It asks no other machine for anything.
#
# Rule: what it needs is installed into .venv-docs, at locked versions, once; a warning (a link that leads nowhere, a name
# that the reference does not find) is an error. PYTHON=... names the Python for a new environment. Arguments go to mkdocs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

VENV=.venv-docs
LOCK=requirements-docs.lock

say() { printf '== docs: %s\n' "$*"; }

if ! cmp -s "$LOCK" "$VENV/.installed"; then
    say "the locked packages ($LOCK) in $VENV"
    rm -rf "$VENV"
    python=${PYTHON:-$([ -x .venv/bin/python ] && echo .venv/bin/python || echo python3)}
    if ! "$python" -m venv "$VENV"; then
        say "$python cannot make a virtual environment: run \`make setup\` first, or name a Python that can (PYTHON=...)" >&2
        exit 1
    fi
    "$VENV/bin/python" -m pip --disable-pip-version-check --no-input install -qq --require-hashes -r "$LOCK"
    cp "$LOCK" "$VENV/.installed"
fi
# Not with --quiet: then mkdocs counts no warnings, and --strict finds none.
if ! said=$(NO_MKDOCS_2_WARNING=1 PATH="$VENV/bin:$PATH" "$VENV/bin/mkdocs" build --strict "$@" 2>&1); then
    printf '%s\n' "$said" | grep -v '^INFO' >&2
    exit 1
fi
say "build/site/index.html (with its search: python3 -m http.server --bind 127.0.0.1 --directory build/site)"
