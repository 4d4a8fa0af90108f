#!/usr/bin/env bash
# The other clients of the protocol, for benchmarks and for the tests marked `peers`: never in .venv.
#
# Rule: at locked versions, into folders that git ignores; chromedriver alone is a package of the system's, of the very
# version of its Chromium, and browserless ("services", for tests alone) is in the user's cache, at a version of its own. What is there already is left alone, what cannot be installed here is named and left out
# (its tests are skipped then, the benchmarks say why it is missing).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

PYTHON_PEERS=benchmarks/.peers
NODE_PEERS=benchmarks/peers_node

say() { printf '== peers: %s\n' "$*"; }

if ! cmp -s benchmarks/peers.txt "$PYTHON_PEERS/.installed"; then
    say "benchmarks/peers.txt"
    if .venv/bin/python -m venv "$PYTHON_PEERS" &&
        "$PYTHON_PEERS/bin/pip" --disable-pip-version-check --no-input install -qq --require-hashes \
            -r benchmarks/peers.txt; then
        cp benchmarks/peers.txt "$PYTHON_PEERS/.installed"
    else
        say "Playwright, Selenium, nodriver, zendriver and pydoll cannot be installed here"
        rm -rf "$PYTHON_PEERS"
    fi
fi

if ! command -v npm >/dev/null; then
    say "there is no npm here: no Puppeteer, no agent-browser and no other MCP servers"
elif ! cmp -s "$NODE_PEERS/package-lock.json" "$NODE_PEERS/node_modules/.installed"; then
    say "$NODE_PEERS/package-lock.json"
    if (cd "$NODE_PEERS" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error); then
        # What its own script would do, which is not run: agent-browser's native programs come without the right.
        chmod +x "$NODE_PEERS"/node_modules/agent-browser/bin/agent-browser-* || true
        cp "$NODE_PEERS/package-lock.json" "$NODE_PEERS/node_modules/.installed"
    else
        say "Puppeteer, agent-browser and the other MCP servers cannot be installed here"
        rm -rf "$NODE_PEERS/node_modules"
    fi
fi

# A service that starts a browser for each connection; some 600 MB, of one version, outside of the repository.
BROWSERLESS=${XDG_CACHE_HOME:-$HOME/.cache}/cdpengine-peers/browserless
BROWSERLESS_VERSION=2.42.0
if [ "${1:-}" = services ] && command -v npm >/dev/null && [ "$(cat "$BROWSERLESS/.installed" 2>/dev/null)" != "$BROWSERLESS_VERSION" ]; then
    say "browserless $BROWSERLESS_VERSION"
    mkdir -p "$BROWSERLESS"
    if npm install --prefix "$BROWSERLESS" --ignore-scripts --no-audit --no-fund --loglevel=error \
        "@browserless.io/browserless@$BROWSERLESS_VERSION"; then
        echo "$BROWSERLESS_VERSION" >"$BROWSERLESS/.installed"
    else
        say "browserless cannot be installed here"
        rm -rf "$BROWSERLESS"
    fi
fi

# chromedriver speaks only to a Chromium of its own version.
installed() { dpkg-query --show --showformat='${Version}' "$1" 2>/dev/null; }
as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi; }

chromium=$(installed chromium)
if [ -z "$chromium" ]; then
    command -v chromedriver >/dev/null ||
        say "no chromedriver here, and no Chromium of Debian's whose chromedriver could be installed: no Selenium"
elif [ "$(installed chromium-driver)" != "$chromium" ]; then
    say "chromium-driver $chromium"
    install=(apt-get -o Dpkg::Use-Pty=0 install -qq --yes --no-install-recommends "chromium-driver=$chromium")
    export DEBIAN_FRONTEND=noninteractive
    as_root "${install[@]}" >/dev/null || { as_root apt-get -qq update && as_root "${install[@]}" >/dev/null; } ||
        say "chromium-driver $chromium cannot be installed here (it needs root, and the package): no Selenium"
fi
exit 0
