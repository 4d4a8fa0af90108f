#!/usr/bin/env bash
# The other clients of the protocol, for benchmarks and for the tests marked `peers`: never in .venv.
#
# Rule: at locked versions, into folders that git ignores; what is there already is left alone, what cannot be
# installed here is named and left out (its tests are skipped then).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

PYTHON_PEERS=benchmarks/.peers
NODE_PEERS=benchmarks/peers_node

say() { printf '== peers: %s\n' "$*"; }

if ! cmp -s benchmarks/peers.txt "$PYTHON_PEERS/.installed"; then
    say "benchmarks/peers.txt"
    if .venv/bin/python -m venv "$PYTHON_PEERS" &&
        "$PYTHON_PEERS/bin/pip" --disable-pip-version-check --no-input install -qq -r benchmarks/peers.txt; then
        cp benchmarks/peers.txt "$PYTHON_PEERS/.installed"
    else
        say "Playwright cannot be installed here"
        rm -rf "$PYTHON_PEERS"
    fi
fi

if ! command -v npm >/dev/null; then
    say "there is no npm here: no Puppeteer"
elif ! cmp -s "$NODE_PEERS/package-lock.json" "$NODE_PEERS/node_modules/.installed"; then
    say "$NODE_PEERS/package-lock.json"
    if (cd "$NODE_PEERS" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error); then
        cp "$NODE_PEERS/package-lock.json" "$NODE_PEERS/node_modules/.installed"
    else
        say "Puppeteer cannot be installed here"
        rm -rf "$NODE_PEERS/node_modules"
    fi
fi
