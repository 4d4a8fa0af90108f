"""The search for browsers, for all three systems: a machine is its platform, environment and files."""

from __future__ import annotations

import os
import plistlib
from pathlib import Path, PurePath

import pytest
import trio

from cdpengine._launch.find import (
    ROWS,
    BrowserInstallation,
    Machine,
    _version_of,
    candidates,
    choose,
    find_browser,
    read_version,
    search,
)
from cdpengine.errors import InvalidArgumentError, LaunchFailedError

ENVIRONMENTS = {
    "linux": {"PATH": "/usr/local/bin:/usr/bin", "HOME": "/home/ada"},
    "darwin": {"PATH": "/usr/bin", "HOME": "/Users/ada"},
    "win32": {
        "PROGRAMFILES": r"C:\Program Files",
        "PROGRAMFILES(X86)": r"C:\Program Files (x86)",
        "LOCALAPPDATA": r"C:\Users\ada\AppData\Local",
        "USERPROFILE": r"C:\Users\ada",
    },
}


def machine(
    platform: str,
    *programs: str,
    folders: tuple[str, ...] = (),
    files: tuple[str, ...] = (),
    environment: dict[str, str] | None = None,
    registry: dict[str, str] | None = None,
) -> Machine:
    def kind(path: PurePath) -> str:
        text = str(path)
        return (
            "program"
            if text in programs
            else "folder"
            if text in folders
            else "file"
            if text in files
            else "nothing"
        )

    return Machine(
        platform=platform,
        environment={**ENVIRONMENTS[platform], **(environment or {})},
        kind=kind,
        registered=(registry or {}).get,
    )


def found(machine: Machine) -> list[tuple[str, str, str]]:
    return [(row.product, row.channel, str(path)) for row, path in search(machine)]


@pytest.mark.parametrize(
    ("platform", "path", "product", "channel"),
    [
        ("linux", "/usr/bin/google-chrome", "chrome", "stable"),
        ("linux", "/usr/local/bin/google-chrome-unstable", "chrome", "dev"),
        ("linux", "/opt/google/chrome-beta/chrome", "chrome", "beta"),
        ("linux", "/usr/bin/chromium-browser", "chromium", "stable"),
        ("linux", "/snap/bin/chromium", "chromium", "stable"),
        ("linux", "/var/lib/flatpak/exports/bin/org.chromium.Chromium", "chromium", "stable"),
        ("linux", "/home/ada/.local/share/flatpak/exports/bin/com.brave.Browser", "brave", "stable"),
        ("linux", "/usr/bin/microsoft-edge-dev", "edge", "dev"),
        ("darwin", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "chrome", "stable"),
        ("darwin", "/Users/ada/Applications/Chromium.app/Contents/MacOS/Chromium", "chromium", "stable"),
        (
            "darwin",
            "/Applications/Google Chrome Canary.app/Contents/MacOS/Google Chrome Canary",
            "chrome",
            "canary",
        ),
        ("win32", r"C:\Program Files\Google\Chrome\Application\chrome.exe", "chrome", "stable"),
        ("win32", r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe", "edge", "stable"),
        ("win32", r"C:\Users\ada\AppData\Local\Google\Chrome SxS\Application\chrome.exe", "chrome", "canary"),
        ("win32", r"C:\Users\ada\AppData\Local\Chromium\Application\chrome.exe", "chromium", "stable"),
    ],
)
def test_finds_installed_browsers(platform: str, path: str, product: str, channel: str) -> None:
    assert found(machine(platform, path)) == [(product, channel, path)]
    name = product if channel == "stable" else f"{product}-{channel}"
    chosen = choose(machine(platform, path), name)
    assert (chosen.product, chosen.channel, str(chosen.path)) == (product, channel, path)
    by_path = choose(machine(platform, path), path)
    assert (by_path.product, by_path.channel) == (product, channel)


def test_order_of_preference_is_the_tables() -> None:
    here = machine("linux", "/usr/bin/google-chrome-beta", "/usr/bin/brave", "/usr/bin/chromium")
    assert [product for product, _, _ in found(here)] == ["chromium", "brave", "chrome"]
    assert choose(here, None).product == "chromium"


def test_a_product_without_a_channel_prefers_stable() -> None:
    beta = "/usr/bin/google-chrome-beta"
    assert choose(machine("linux", beta), "chrome").channel == "beta"
    assert choose(machine("linux", beta, "/usr/bin/google-chrome"), "chrome").channel == "stable"
    assert choose(machine("linux", beta, "/usr/bin/google-chrome"), "Chrome-Beta").channel == "beta"


def test_the_first_folder_of_the_path_wins() -> None:
    here = machine("linux", "/usr/bin/chromium", "/usr/local/bin/chromium")
    assert found(here) == [("chromium", "stable", "/usr/local/bin/chromium")]


def test_a_file_that_is_not_executable_is_skipped() -> None:
    here = machine("linux", "/usr/bin/chromium", files=("/usr/local/bin/chromium",))
    assert found(here) == [("chromium", "stable", "/usr/bin/chromium")]


def test_the_windows_registry_is_read_first() -> None:
    path = r"D:\Chrome\chrome.exe"
    here = machine(
        "win32",
        path,
        r"C:\Program Files\Google\Chrome\Application\chrome.exe",
        registry={"chrome.exe": path},
    )
    assert found(here) == [("chrome", "stable", path)]


@pytest.mark.parametrize("platform", ENVIRONMENTS)
def test_an_empty_environment_breaks_nothing(platform: str) -> None:
    here = Machine(platform=platform, environment={}, kind=lambda _: "nothing")
    with pytest.raises(LaunchFailedError):
        choose(here, None)


@pytest.mark.parametrize("platform", ENVIRONMENTS)
def test_every_row_is_searched_in_absolute_paths(platform: str) -> None:
    for row in ROWS:
        paths = list(candidates(machine(platform), row))
        assert paths
        assert all(path.is_absolute() for path in paths)


@pytest.mark.parametrize(
    ("platform", "words"),
    [
        ("linux", ["apt install", "on the PATH: google-chrome-stable", "/snap/bin/chromium"]),
        ("darwin", ["brew install", "/Users/ada/Applications/Google Chrome.app"]),
        ("win32", ["winget install", r"C:\Program Files\Google\Chrome\Application\chrome.exe"]),
    ],
)
def test_a_failed_search_lists_its_places_and_gives_advice(platform: str, words: list[str]) -> None:
    with pytest.raises(LaunchFailedError) as caught:
        choose(machine(platform), None)
    text = str(caught.value)
    assert words[0] in text
    assert "CDPENGINE_BROWSER" in text
    assert caught.value.looked_for[0][:120] in text
    assert all(any(word in place for place in caught.value.looked_for) for word in words[1:])
    assert f"{len(caught.value.looked_for) - text.count(chr(10)) + 2} more in .looked_for" in text
    assert len(caught.value.looked_for) == len(set(caught.value.looked_for))


def test_a_failed_search_for_one_product_lists_only_its_places() -> None:
    with pytest.raises(LaunchFailedError) as caught:
        choose(machine("linux", "/usr/bin/chromium"), "edge")
    assert caught.value.executable == "edge"
    assert not any("chrom" in place for place in caught.value.looked_for)


@pytest.mark.parametrize("value", ["/opt/mine/chrome", "brave"])
def test_the_environment_variable_wins_over_the_search(value: str) -> None:
    here = machine(
        "linux",
        "/usr/bin/chromium",
        "/usr/bin/brave",
        "/opt/mine/chrome",
        environment={"CDPENGINE_BROWSER": value},
    )
    assert str(choose(here, None).path) in ("/opt/mine/chrome", "/usr/bin/brave")
    assert choose(here, "chromium").product == "chromium", "the caller's choice wins over the variable"


def test_an_empty_variable_counts_as_unset() -> None:
    assert choose(machine("linux", "/usr/bin/brave", environment={"CDPENGINE_BROWSER": ""}), None)


def test_a_wrong_variable_is_named_in_the_error() -> None:
    with pytest.raises(LaunchFailedError, match="CDPENGINE_BROWSER"):
        choose(machine("linux", "/usr/bin/brave", environment={"CDPENGINE_BROWSER": "/gone"}), None)
    with pytest.raises(InvalidArgumentError, match="CDPENGINE_BROWSER"):
        choose(machine("linux", "/usr/bin/brave", environment={"CDPENGINE_BROWSER": "firefox"}), None)


def test_a_home_folder_is_filled_in() -> None:
    assert str(choose(machine("linux", "/home/ada/b/chrome"), "~/b/chrome").path) == "/home/ada/b/chrome"


def test_unusable_paths() -> None:
    here = machine("darwin", folders=("/Applications/Chromium.app",), files=("/etc/passwd",))
    with pytest.raises(InvalidArgumentError, match=r"folder.*Contents/MacOS"):
        choose(here, "/Applications/Chromium.app")
    with pytest.raises(InvalidArgumentError, match="not executable"):
        choose(here, "/etc/passwd")
    with pytest.raises(LaunchFailedError, match="/gone/chrome"):
        choose(here, "/gone/chrome")
    with pytest.raises(InvalidArgumentError, match="one of chrome, chromium, edge, brave"):
        choose(here, "firefox")


@pytest.mark.parametrize(
    ("path", "product"),
    [
        ("/x/my-chrome", "chrome"),
        ("/x/headless", "chromium"),
        ("/x/msedge", "edge"),
        ("/x/CHROMIUM", "chromium"),
    ],
)
def test_an_explicit_path_is_named_by_its_file(path: str, product: str) -> None:
    assert choose(machine("linux", path), path).product == product


# --- versions ------------------------------------------------------------------------------------------------


def program(folder: Path, text: str) -> Path:
    path = folder / "chrome"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


async def test_version_is_read_past_a_wrappers_warnings(tmp_path: Path) -> None:
    path = program(tmp_path, "echo wrapper 9.9.9: odd >&2; echo 'Chromium 120.0.6099.109 built on x'")
    installation = find_browser(path)
    assert await read_version(installation) == "120.0.6099.109"
    await trio.Path(path).unlink()
    assert installation.version == "120.0.6099.109", "it is looked up once"


def test_version_of_a_program_that_reports_none(tmp_path: Path) -> None:
    assert _version_of(program(tmp_path, "echo nothing here; exit 1"), "linux") == ""
    assert _version_of(tmp_path / "missing", "linux") == ""


def test_version_on_windows_is_the_newest_folder(tmp_path: Path) -> None:
    for name in ["9.0.1.2", "120.0.6099.109", "99.0.1.1", "Dictionaries"]:
        (tmp_path / name).mkdir()
    assert _version_of(tmp_path / "chrome.exe", "win32") == "120.0.6099.109"
    assert _version_of(tmp_path / "gone" / "chrome.exe", "win32") == ""


def test_version_on_macos_is_the_bundles(tmp_path: Path) -> None:
    contents = tmp_path / "Chromium.app" / "Contents"
    (contents / "MacOS").mkdir(parents=True)
    path = program(contents / "MacOS", "echo Chromium 1.2.3.4")
    assert _version_of(path, "darwin") == "1.2.3.4"
    (contents / "Info.plist").write_bytes(plistlib.dumps({"CFBundleShortVersionString": "120.0.6099.109"}))
    assert _version_of(path, "darwin") == "120.0.6099.109"
    (contents / "Info.plist").write_bytes(b"<not a plist")
    assert _version_of(path, "darwin") == "1.2.3.4"


def test_an_installation_is_a_value() -> None:
    one = BrowserInstallation(path=Path("/x"), product="chrome", channel="stable")
    assert one == BrowserInstallation(path=Path("/x"), product="chrome", channel="stable")
    assert os.fspath(one.path) == "/x"
