#!/usr/bin/env bash
# Everything that `make` needs on a fresh machine: a Python, a virtual environment, the locked packages, a browser.
#
# Rule: it can be run any number of times. What is there already is left alone; what is missing is installed
# where that is possible (apt-get, with sudo only when not root), and named in one clear message where it is not.
# The packages are installed again only when requirements.lock, pyproject.toml, scripts/ or the Python changed: a
# checksum of them is kept in .venv/.ready. uv installs them, in seconds; where it cannot (no wheel of it for this
# machine, an index that only pip is told of), pip does, which takes half a minute.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

VENV=.venv
STAMP=$VENV/.ready
MINIMUM=3.11

say() { printf '== setup: %s\n' "$*"; }
fail() {
    printf '\nsetup failed: %s\n' "$1" >&2
    shift
    for line in "$@"; do printf '  %s\n' "$line" >&2; done
    exit 1
}

# --- the system's packages ----------------------------------------------------------------------------------

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif ! command -v sudo >/dev/null; then
        fail "this needs root, and there is no sudo here" "Run as root: $*"
    elif sudo -n true 2>/dev/null || { [ -z "${CI:-}" ] && has_terminal; }; then
        sudo "$@"
    else
        fail "this needs root, and there is no terminal on which sudo could ask for a password" "Run as root: $*"
    fi
}

# sudo asks on the controlling terminal, whatever standard input is.
has_terminal() { (: </dev/tty) 2>/dev/null; }

has_apt() { command -v apt-get >/dev/null; }

APT_UPDATED=
apt_update() {
    [ -n "$APT_UPDATED" ] && return
    say "apt-get update"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq </dev/null
    APT_UPDATED=yes
}

apt_install() {
    apt_update
    say "apt-get install $*"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" </dev/null
}

# --- Python -------------------------------------------------------------------------------------------------

is_new_enough() {
    "$1" -c "import sys; sys.exit(sys.version_info < (${MINIMUM/./, }))" >/dev/null 2>&1
}

find_python() {
    local candidate
    for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        if command -v "$candidate" >/dev/null && is_new_enough "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    return 1
}

make_venv() {
    local python version
    if ! command -v python3 >/dev/null && [ -z "${PYTHON:-}" ] && has_apt; then
        apt_install python3 python3-venv
    fi
    python=$(find_python) || fail "no Python $MINIMUM or newer was found (${PYTHON:-python3}: $(
        command -v "${PYTHON:-python3}" >/dev/null && "${PYTHON:-python3}" --version 2>&1 || echo "not there"))" \
        "Debian 12 and Ubuntu 24.04 have one: apt-get install python3 python3-venv" \
        "Ubuntu 22.04: apt-get install python3.11 python3.11-venv" \
        "Elsewhere, install one and name it: make PYTHON=/path/to/python3.12 ..."
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        # Debian and Ubuntu keep ensurepip in a package of its own, one for each version.
        has_apt || fail "$python cannot make virtual environments (no ensurepip)" "Install its venv package."
        apt_install "python$version-venv"
    fi
    say "virtual environment in $VENV ($python, $version)"
    "$python" -m venv "$VENV"
}

checksum() {
    {
        cat requirements.lock pyproject.toml scripts/setup.sh scripts/uv.lock
        "$VENV/bin/python" -VV
        pwd
    } | cksum
}

install_packages() {
    local pip=("$VENV/bin/python" -m pip --disable-pip-version-check --no-input)
    # Compiling all modules takes longer than it does to compile those few that are imported, as they are.
    say "the locked packages (requirements.lock)"
    if ! { "${pip[@]}" install -qq --no-compile --only-binary :all: --require-hashes -r scripts/uv.lock &&
        "$VENV/bin/uv" pip install -q --python "$VENV/bin/python" --require-hashes -r requirements.lock; }; then
        say "uv could not install them, so pip does"
        "${pip[@]}" install -qq --no-compile --require-hashes -r requirements.lock
    fi
    say "cdpengine itself, editable"
    # pip 23.2 writes a `cdpengine` command that imports `re`, which slows its start. uv and pip 26.3 do not.
    "$VENV/bin/uv" pip install -q --python "$VENV/bin/python" --no-deps --no-build-isolation --editable . 2>/dev/null ||
        "${pip[@]}" install -qq --no-deps --no-build-isolation --editable .
    checksum >"$STAMP"
}

# --- the browser --------------------------------------------------------------------------------------------

find_browser() {
    local name
    if [ -n "${CDPENGINE_BROWSER:-}" ]; then
        # A path or a channel name such as "chromium"; what is wrong with it, the engine says better than we could.
        printf '%s\n' "$CDPENGINE_BROWSER"
        return
    fi
    for name in google-chrome google-chrome-stable chromium chromium-browser microsoft-edge brave-browser \
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" \
        "/Applications/Chromium.app/Contents/MacOS/Chromium" \
        "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge" \
        "/Applications/Brave Browser.app/Contents/MacOS/Brave Browser"; do
        if command -v "$name" >/dev/null && ! is_snap_stub "$name"; then
            command -v "$name"
            return
        fi
    done
    return 1
}

# The engine knows more places than PATH (/opt, Flatpak, ...); asked last, because it is slower.
engine_finds_browser() {
    "$VENV/bin/python" -c 'import sys, cdpengine._launch.find as f; sys.exit(not f.find_browsers())'
}

# Ubuntu's chromium-browser package is a shell script that starts the snap, or asks for it where there is none.
is_snap_stub() {
    local path
    path=$(command -v "$1")
    grep -aqs '/snap/bin/chromium' "$(readlink -f "$path")" && [ ! -x /snap/bin/chromium ]
}

# Whether apt knows a chromium of its own, and not one that only fetches the snap.
apt_has_chromium() {
    local package
    package=$(apt-cache show --no-all-versions chromium 2>/dev/null) || return 1
    [[ $package == *"Package: chromium"* && $package != *snapd* ]]
}

install_browser() {
    local advice=(
        "Install Google Chrome, Chromium, Microsoft Edge or Brave, or name one that you have:"
        "  CDPENGINE_BROWSER=/path/to/chrome make ..."
    )
    if ! has_apt; then
        fail "no browser was found, and this system has no apt-get to install one with" "${advice[@]}"
    fi
    apt_update
    if ! apt_has_chromium; then
        fail "no browser was found, and apt has no Chromium of its own here (Ubuntu ships it as a snap only)" \
            "With snapd running: snap install chromium" \
            "Without (containers): install the .deb package of Google Chrome." "${advice[@]}"
    fi
    apt_install chromium
    find_browser >/dev/null || fail "chromium was installed, but is not on PATH" "${advice[@]}"
}

# --- all of it ----------------------------------------------------------------------------------------------

if [ ! -x "$VENV/bin/python" ] || ! "$VENV/bin/python" -m pip --version >/dev/null 2>&1; then
    rm -rf "$VENV"
    make_venv
fi
if [ ! -e "$STAMP" ] || [ "$(checksum)" != "$(cat "$STAMP")" ]; then
    is_new_enough "$VENV/bin/python" || fail "the Python in $VENV is older than $MINIMUM" "Run: make clean"
    install_packages
fi
find_browser >/dev/null || engine_finds_browser || install_browser
