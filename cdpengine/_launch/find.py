"""Finding installed browsers: Chrome, Chromium, Edge and Brave.

Rule: the search is pure. Its inputs are the platform's name, the environment and a function for files, so it runs
for every system on any system. No program is executed to find a browser, only to ask its version. The table at the
end lists the installation places: one row for each product and channel, in order of preference, with forward
slashes.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Literal

import attrs

from cdpengine.errors import InvalidArgumentError, LaunchFailedError

_VERSION = re.compile(r"\d+\.\d+\.\d+(?:\.\d+)?")
_VERSION_DEADLINE = 5.0  # seconds; a cold start from a slow disk takes 1 to 2 s


@attrs.frozen
class BrowserInstallation:
    """An installed browser: the program's path, the product, its channel and its version."""

    path: Path
    product: Product
    channel: Channel

    @cached_property
    def version(self) -> str:
        """The version, such as "120.0.6099.109", or "" if unknown. Determined on first use.

        On Windows and macOS it comes from files next to the program. On Linux the program is run with --version,
        which takes about 50 ms and times out after 5 s: in async code, use `read_version`.
        """
        return _version_of(self.path, sys.platform)


async def read_version(installation: BrowserInstallation) -> str:
    """Return `installation.version` without blocking the event loop."""
    import trio

    return await trio.to_thread.run_sync(lambda: installation.version)


def find_browser(wanted: str | os.PathLike[str] | None = None) -> BrowserInstallation:
    """Return the browser to use.

    `wanted` is a path, a product ("chrome", "chromium", "edge", "brave") or a product with its channel
    ("chrome-beta", "edge-dev", "brave-canary"). The default is the environment variable CDPENGINE_BROWSER, with
    the same values. If it is not set either, the first installed stable browser of Chrome, Chromium, Edge and
    Brave is used, and then the other channels.

    Raises LaunchFailedError if no browser is installed or no file exists at the path, InvalidArgumentError for
    a path that is not an executable file and for an unknown name.
    """
    return choose(this_machine(), wanted)


def find_browsers() -> list[BrowserInstallation]:
    """Return every installed browser, in order of preference. Empty if no browser is installed."""
    return [_installation(path, row.product, row.channel) for row, path in search(this_machine())]


# --- the search, pure ----------------------------------------------------------------------------------------


@attrs.frozen
class Machine:
    """The inputs of the search: `sys.platform`, the environment, and the state of files.

    `kind` returns "program" (an executable file), "file", "folder" or "nothing" for a path. `registered` returns
    the Windows registry's value for a program's name.
    """

    platform: str
    environment: Mapping[str, str]
    kind: Callable[[PurePath], str]
    registered: Callable[[str], str | None] = lambda _: None

    @property
    def windows(self) -> bool:
        """Whether paths and variables have the form of Windows."""
        return self.platform == "win32"

    def path(self, text: str) -> PurePath:
        """Return the path named by `text` on this machine, with its home folder expanded."""
        flavour = PureWindowsPath if self.windows else PurePosixPath
        home = self.environment.get("USERPROFILE" if self.windows else "HOME")
        if home and re.match(r"~([/\\]|$)", text):
            return flavour(home, text[2:])
        return flavour(text)


def search(machine: Machine) -> Iterator[tuple[Row, PurePath]]:
    """Yield the installed browsers, each program once, in the order of the table."""
    seen = set()
    for row in ROWS:
        for path in candidates(machine, row):
            if path not in seen and machine.kind(path) == "program":
                seen.add(path)
                yield row, path
                break


def candidates(machine: Machine, row: Row) -> Iterator[PurePath]:
    """Yield the possible paths of this row's browser, in the order of the search."""
    environment = machine.environment
    if machine.windows:
        if row.channel == "stable" and row.product in REGISTERED:
            registered = machine.registered(REGISTERED[row.product])
            if registered:
                yield machine.path(registered)
        folders = [environment[name] for name in WINDOWS_FOLDER_VARIABLES if environment.get(name)]
        for folder in dict.fromkeys(folders):
            yield from (machine.path(folder) / relative for relative in row.windows)
    elif machine.platform == "darwin":
        if row.macos is not None:
            yield from (machine.path(folder) / row.macos for folder in MACOS_FOLDERS)
    else:
        folders = [folder for folder in environment.get("PATH", "").split(":") if folder]
        for name in row.names:
            yield from (machine.path(folder) / name for folder in folders)
        yield from map(machine.path, row.linux)
        if row.flatpak is not None:
            yield from (machine.path(folder) / row.flatpak for folder in FLATPAK_FOLDERS)


def choose(machine: Machine, wanted: str | os.PathLike[str] | None) -> BrowserInstallation:
    """Return the browser to use on the given machine; see `find_browser`."""
    source = "executable"
    if wanted is None:
        wanted = machine.environment.get(ENVIRONMENT_VARIABLE) or None
        source = f"the environment variable {ENVIRONMENT_VARIABLE}"
    if wanted is None:
        return _first(machine, ROWS, "browser")
    text = os.fspath(wanted)
    if isinstance(wanted, str) and not _looks_like_path(text):
        return _first(machine, _rows_named(text, source), text)
    return _at_path(machine, text, source)


def _first(machine: Machine, rows: tuple[Row, ...], wanted: str) -> BrowserInstallation:
    for row, path in search(machine):
        if row in rows:
            return _installation(path, row.product, row.channel)
    advice = INSTALL_ADVICE.get(machine.platform, INSTALL_ADVICE["linux"])
    raise LaunchFailedError(
        wanted,
        f"no {wanted} was found",
        looked_for=_places(machine, rows),
        advice=f"Pass its path, set {ENVIRONMENT_VARIABLE} to it, or {advice}.",
    )


def _places(machine: Machine, rows: tuple[Row, ...]) -> tuple[str, ...]:
    """List the searched places, with the names on the PATH in one line."""
    names = [name for row in rows for name in row.names]
    on_path = {str(machine.path(folder)) for folder in machine.environment.get("PATH", "").split(":")}
    places = [
        str(path)
        for row in rows
        for path in candidates(machine, row)
        if machine.windows or path.name not in names or str(path.parent) not in on_path
    ]
    if not machine.windows and machine.platform != "darwin":
        places.insert(0, f"on the PATH: {', '.join(names)}")
    return tuple(dict.fromkeys(places))


def _rows_named(name: str, source: str) -> tuple[Row, ...]:
    product, _, channel = name.lower().partition("-")
    rows = tuple(row for row in ROWS if row.product == product and (not channel or row.channel == channel))
    if not rows:
        known = ", ".join(dict.fromkeys(row.product for row in ROWS))
        raise InvalidArgumentError(
            what=source,
            given=repr(name),
            expected=f"a path, or one of {known}, with -beta, -dev or -canary where the product has it",
        )
    return rows


def _at_path(machine: Machine, text: str, source: str) -> BrowserInstallation:
    path = machine.path(text)
    kind = machine.kind(path)
    if kind == "nothing":
        raise LaunchFailedError(
            str(path),
            f"no browser at {path} was found",
            looked_for=(str(path),),
            advice=f"Correct {source}, or omit it to search the installed browsers.",
        )
    if kind == "folder":
        inside = " (on macOS: inside the .app, in Contents/MacOS)" if path.suffix == ".app" else ""
        raise InvalidArgumentError(
            what=source, given=f"{str(path)!r}, a folder,", expected=f"the browser's program itself{inside}"
        )
    if kind != "program":
        raise InvalidArgumentError(
            what=source,
            given=f"{str(path)!r}, which is not executable for this user,",
            expected="a program; is it the right file? Otherwise chmod +x it",
        )
    return _installation(path, *_product_of(path))


def _product_of(path: PurePath) -> tuple[Product, Channel]:
    """Return product and channel of a program, by its path; Chromium if no row matches."""
    spelled = path.as_posix().lower()
    whole = ((row, end) for row in ROWS for end in (*row.linux, *row.windows, *filter(None, (row.macos,))))
    by_name = ((row, name) for row in ROWS for name in (*row.names, *filter(None, (row.flatpak,))))
    for row, end in (*whole, *by_name):
        if spelled.endswith("/" + end.lower().lstrip("/")):
            return row.product, row.channel
    products: dict[str, Product] = {
        "chromium": "chromium",
        "edge": "edge",
        "brave": "brave",
        "chrome": "chrome",
    }
    name = path.name.lower()
    return next((product for word, product in products.items() if word in name), "chromium"), "stable"


def _looks_like_path(text: str) -> bool:
    return "/" in text or "\\" in text or text.startswith((".", "~")) or text.lower().endswith(".exe")


def _installation(path: PurePath, product: Product, channel: Channel) -> BrowserInstallation:
    return BrowserInstallation(path=Path(str(path)), product=product, channel=channel)


# --- this machine --------------------------------------------------------------------------------------------


def this_machine() -> Machine:
    """Return the inputs of the search on this machine."""
    return Machine(platform=sys.platform, environment=os.environ, kind=_kind, registered=_registered)


def _kind(path: PurePath) -> str:
    real = Path(path)
    if real.is_dir():
        return "folder"
    if not real.is_file():
        return "nothing"
    return "program" if os.access(real, os.X_OK) else "file"


def _registered(name: str) -> str | None:
    if sys.platform == "win32":
        import winreg

        key = rf"SOFTWARE\Microsoft\Windows\CurrentVersion\App Paths\{name}"
        for root in (winreg.HKEY_CURRENT_USER, winreg.HKEY_LOCAL_MACHINE):
            with contextlib.suppress(OSError):
                if value := winreg.QueryValue(root, key):
                    return value.strip('"')
    return None


def _version_of(path: Path, platform: str) -> str:
    """Return the version of the browser at `path`, or "" if unknown."""
    if platform == "win32":
        # On Windows, `chrome.exe --version` opens a window. The installer keeps a folder named for each version.
        versions = [entry.name for entry in _entries(path.parent) if _VERSION.fullmatch(entry.name)]
        return max(versions, key=lambda version: [int(part) for part in version.split(".")], default="")
    if platform == "darwin":
        version = _bundle_version(path.parent.parent / "Info.plist")
        if version:
            return version
    return _ask_version(path)


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _bundle_version(information: Path) -> str:
    import plistlib

    try:
        with information.open("rb") as file:
            found = _VERSION.search(str(plistlib.load(file).get("CFBundleShortVersionString", "")))
    except (OSError, plistlib.InvalidFileException, ValueError):
        return ""
    return found[0] if found else ""


def _ask_version(path: Path) -> str:
    """Run the browser with --version. Its stderr is ignored, because wrappers print warnings there."""
    try:
        done = subprocess.run(
            [str(path), "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_VERSION_DEADLINE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = _VERSION.search(done.stdout.decode(errors="replace"))
    return found[0] if found else ""


Product = Literal["chrome", "chromium", "edge", "brave"]
Channel = Literal["stable", "beta", "dev", "canary"]

ENVIRONMENT_VARIABLE = "CDPENGINE_BROWSER"


@attrs.frozen
class Row:
    """One product in one channel: its names on the Linux PATH, and its files on each system."""

    product: Product
    channel: Channel
    names: tuple[str, ...] = ()
    linux: tuple[str, ...] = ()
    flatpak: str | None = None
    macos: str | None = None
    windows: tuple[str, ...] = ()


ROWS: tuple[Row, ...] = (
    Row(
        "chrome",
        "stable",
        names=("google-chrome-stable", "google-chrome", "chrome"),
        linux=("/opt/google/chrome/chrome",),
        flatpak="com.google.Chrome",
        macos="Google Chrome.app/Contents/MacOS/Google Chrome",
        windows=("Google/Chrome/Application/chrome.exe",),
    ),
    Row(
        "chromium",
        "stable",
        names=("chromium", "chromium-browser"),
        linux=(
            "/usr/lib/chromium/chromium",
            "/usr/lib64/chromium-browser/chromium-browser",
            "/snap/bin/chromium",
        ),
        flatpak="org.chromium.Chromium",
        macos="Chromium.app/Contents/MacOS/Chromium",
        windows=("Chromium/Application/chrome.exe",),
    ),
    Row(
        "edge",
        "stable",
        names=("microsoft-edge-stable", "microsoft-edge"),
        linux=("/opt/microsoft/msedge/msedge",),
        flatpak="com.microsoft.Edge",
        macos="Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
        windows=("Microsoft/Edge/Application/msedge.exe",),
    ),
    Row(
        "brave",
        "stable",
        names=("brave-browser-stable", "brave-browser", "brave"),
        linux=("/opt/brave.com/brave/brave-browser", "/snap/bin/brave"),
        flatpak="com.brave.Browser",
        macos="Brave Browser.app/Contents/MacOS/Brave Browser",
        windows=("BraveSoftware/Brave-Browser/Application/brave.exe",),
    ),
    Row(
        "chrome",
        "beta",
        names=("google-chrome-beta",),
        linux=("/opt/google/chrome-beta/chrome",),
        macos="Google Chrome Beta.app/Contents/MacOS/Google Chrome Beta",
        windows=("Google/Chrome Beta/Application/chrome.exe",),
    ),
    Row(
        "chrome",
        "dev",
        names=("google-chrome-unstable",),
        linux=("/opt/google/chrome-unstable/chrome",),
        flatpak="com.google.ChromeDev",
        macos="Google Chrome Dev.app/Contents/MacOS/Google Chrome Dev",
        windows=("Google/Chrome Dev/Application/chrome.exe",),
    ),
    Row(
        "chrome",
        "canary",
        names=("google-chrome-canary",),
        linux=("/opt/google/chrome-canary/chrome",),
        macos="Google Chrome Canary.app/Contents/MacOS/Google Chrome Canary",
        windows=("Google/Chrome SxS/Application/chrome.exe",),
    ),
    Row(
        "edge",
        "beta",
        names=("microsoft-edge-beta",),
        linux=("/opt/microsoft/msedge-beta/msedge",),
        macos="Microsoft Edge Beta.app/Contents/MacOS/Microsoft Edge Beta",
        windows=("Microsoft/Edge Beta/Application/msedge.exe",),
    ),
    Row(
        "edge",
        "dev",
        names=("microsoft-edge-dev",),
        linux=("/opt/microsoft/msedge-dev/msedge",),
        macos="Microsoft Edge Dev.app/Contents/MacOS/Microsoft Edge Dev",
        windows=("Microsoft/Edge Dev/Application/msedge.exe",),
    ),
    Row(
        "edge",
        "canary",
        names=("microsoft-edge-canary",),
        linux=("/opt/microsoft/msedge-canary/msedge",),
        macos="Microsoft Edge Canary.app/Contents/MacOS/Microsoft Edge Canary",
        windows=("Microsoft/Edge SxS/Application/msedge.exe",),
    ),
    Row(
        "brave",
        "beta",
        names=("brave-browser-beta",),
        linux=("/opt/brave.com/brave-beta/brave-browser-beta",),
        macos="Brave Browser Beta.app/Contents/MacOS/Brave Browser Beta",
        windows=("BraveSoftware/Brave-Browser-Beta/Application/brave.exe",),
    ),
    Row(
        "brave",
        "canary",
        names=("brave-browser-nightly",),
        linux=("/opt/brave.com/brave-nightly/brave-browser-nightly",),
        macos="Brave Browser Nightly.app/Contents/MacOS/Brave Browser Nightly",
        windows=("BraveSoftware/Brave-Browser-Nightly/Application/brave.exe",),
    ),
)

FLATPAK_FOLDERS = ("/var/lib/flatpak/exports/bin", "~/.local/share/flatpak/exports/bin")
MACOS_FOLDERS = ("/Applications", "~/Applications")
WINDOWS_FOLDER_VARIABLES = ("PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "LOCALAPPDATA")

# The names under which installers register their program below "App Paths" in the Windows registry.
REGISTERED: dict[Product, str] = {"chrome": "chrome.exe", "edge": "msedge.exe", "brave": "brave.exe"}

INSTALL_ADVICE: dict[str, str] = {
    "linux": "install one: `apt install chromium`, `dnf install chromium`, or google.com/chrome",
    "darwin": "install one: `brew install --cask google-chrome`, or google.com/chrome",
    "win32": "install one: `winget install Google.Chrome`, or google.com/chrome",
}
