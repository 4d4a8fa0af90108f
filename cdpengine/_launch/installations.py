"""Where browsers are installed, as tables: one row for each product and channel, in order of preference.

Rule: data only; `find.py` does the searching. Paths are written with forward slashes and are relative to the
places listed at the end.
"""

from __future__ import annotations

from typing import Literal

import attrs

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
