"""The search for executables that a program may start, and the switches of their command lines."""

from __future__ import annotations

from pathlib import Path, PurePath

import attrs
import pytest

from cdpengine._launch.find import ROWS, Machine
from cdpengine.debug.wrapping import executables
from cdpengine.debug.wrapping.executables import find_executables
from cdpengine.debug.wrapping.names import name_wrappers
from cdpengine.debug.wrapping.switches import DebuggingSwitches, read_switches, with_any_port


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], DebuggingSwitches()),
        (["--remote-debugging-pipe"], DebuggingSwitches(pipe="")),
        (["--remote-debugging-pipe=CBOR"], DebuggingSwitches(pipe="CBOR")),
        (["--remote-debugging-port=9222", "-remote-debugging-port=0"], DebuggingSwitches(port=0)),
        (["--remote-debugging-port=x"], DebuggingSwitches()),
        (["--remote-debugging-port=70000"], DebuggingSwitches()),
        (["--", "--remote-debugging-port=0"], DebuggingSwitches()),
        (["--user-data-dir=/a=b", "--type=gpu-process"], DebuggingSwitches(profile="/a=b", helper=True)),
    ],
)
def test_switches_of_a_command_line(arguments: list[str], expected: DebuggingSwitches) -> None:
    assert read_switches(arguments) == expected


def test_only_a_json_pipe_is_read() -> None:
    assert DebuggingSwitches(pipe="").has_json_pipe
    assert not DebuggingSwitches(pipe="CBOR").has_json_pipe
    assert not DebuggingSwitches().has_json_pipe


def test_the_port_is_replaced_and_nothing_else() -> None:
    arguments = ["--headless", "-remote-debugging-port=9222", "--", "--remote-debugging-port=1"]
    assert with_any_port(arguments) == [
        "--headless",
        "--remote-debugging-port=0",
        "--",
        "--remote-debugging-port=1",
    ]


def machine(tmp_path: Path, **environment: str) -> Machine:
    def kind(path: PurePath) -> str:
        inside = Path(path).is_relative_to(tmp_path)
        return "program" if inside and Path(path).is_file() else "nothing"

    return Machine("linux", {"HOME": str(tmp_path / "home"), **environment}, kind)


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    path.chmod(0o755)
    return path


def test_browsers_on_the_path_in_variables_and_in_the_clients_folders(tmp_path: Path) -> None:
    cache = tmp_path / "home/.cache"
    expected = [
        program(tmp_path / "named/chrome"),
        program(tmp_path / "variable/browser"),
        program(tmp_path / "bin/chromium"),
        program(tmp_path / "bin/headless-shell"),
        program(cache / "ms-playwright/chromium-1234/chrome-linux64/chrome"),
        program(cache / "ms-playwright/chromium_headless_shell-1234/chrome-linux/headless_shell"),
        program(cache / "puppeteer/chrome/linux-1.2.3/chrome-linux64/chrome"),
        program(cache / "selenium/chrome/linux64/1.2.3/chrome"),
    ]
    program(cache / "ms-playwright/chromium-1234/chrome-linux64/chrome_crashpad_handler")
    found = find_executables(
        machine(tmp_path, PATH=str(tmp_path / "bin"), CHROME_PATH=str(expected[1])), [expected[0]]
    )
    assert sorted(found) == sorted(expected)
    assert found[:2] == expected[:2]


def test_links_are_resolved_and_launchers_of_containers_left_out(tmp_path: Path) -> None:
    chrome = program(tmp_path / "opt/chrome")
    snap = program(tmp_path / "usr/snap")
    names = tmp_path / "bin"
    names.mkdir()
    for name, target in (("google-chrome", chrome), ("chrome", chrome), ("chromium", snap)):
        (names / name).symlink_to(target)
    assert find_executables(machine(tmp_path, PATH=str(names))) == [chrome]


def test_scripts_of_distributions_are_replaced_by_their_browser_or_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = program(tmp_path / "bin/chromium")
    script.write_text("#!/bin/sh")
    browser = program(tmp_path / "lib/chromium")
    row = attrs.evolve(next(row for row in ROWS if "chromium" in row.names), linux=(str(browser),))
    monkeypatch.setattr(executables, "ROWS", (row,))
    monkeypatch.setattr(executables, "_SCRIPTS", script.parent)
    here = machine(tmp_path, PATH=str(script.parent))
    assert find_executables(here) == [browser]
    assert find_executables(here, scripts=True) == [script, browser]


def named(tmp_path: Path, here: Machine) -> dict[str, str]:
    """Return the changed variables. The wrapper of each executable has the executable's content."""
    found = find_executables(here, scripts=True)
    wrappers = {}
    for number, path in enumerate(found):
        wrappers[path] = program(tmp_path / "wrappers" / str(number))
        wrappers[path].write_text(f"wrapper of {path}")
    (tmp_path / "folder").mkdir()
    return name_wrappers(here, tmp_path / "folder", wrappers)


def test_names_without_mounts_lead_to_the_browsers_that_they_named(tmp_path: Path) -> None:
    chromium = program(tmp_path / "bin/chromium")
    variable = program(tmp_path / "variable/browser")
    here = machine(
        tmp_path, PATH=f"/nowhere:{tmp_path}/bin", CHROME_BIN=str(variable), CHROME_PATH="/nowhere/a"
    )
    changed = named(tmp_path, here)
    names, *rest = changed["PATH"].split(":")
    assert rest == ["/nowhere", str(tmp_path / "bin")]
    assert [each.name for each in Path(names).iterdir()] == ["chromium"]
    assert Path(names, "chromium").read_text() == f"wrapper of {chromium}"
    first = f"wrapper of {variable}"
    assert Path(changed["CHROME_BIN"]).read_text() == first
    assert "CHROME_PATH" not in changed
    assert "SE_BROWSER_PATH" not in changed
    for added in ("CDPENGINE_BROWSER", "PUPPETEER_EXECUTABLE_PATH", "CHROME_EXECUTABLE"):
        assert Path(changed[added]).read_text() == first


def test_download_folders_without_mounts_lead_to_wrappers_and_keep_the_rest(tmp_path: Path) -> None:
    cache = tmp_path / "home/.cache"
    puppeteer = program(cache / "puppeteer/chrome/linux-1.2.3/chrome-linux64/chrome")
    resource = program(puppeteer.with_name("resources.pak"))
    program(cache / "puppeteer/chrome-headless-shell/readme")
    target = program(tmp_path / "opt/chrome")
    link = tmp_path / "browsers/chromium-1234/chrome-linux64/chrome"
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    (link.parents[1] / "INSTALLATION_COMPLETE").touch()
    changed = named(tmp_path, machine(tmp_path, PLAYWRIGHT_BROWSERS_PATH=str(tmp_path / "browsers")))
    assert "SE_CACHE_PATH" not in changed
    assert "PUPPETEER_EXECUTABLE_PATH" not in changed
    playwright = Path(changed["PLAYWRIGHT_BROWSERS_PATH"], "chromium-1234")
    assert (playwright / "chrome-linux64/chrome").read_text() == f"wrapper of {target}"
    assert (playwright / "INSTALLATION_COMPLETE").is_file()
    mirrored = Path(changed["PUPPETEER_CACHE_DIR"], "chrome/linux-1.2.3/chrome-linux64")
    assert (mirrored / "chrome").read_text() == f"wrapper of {puppeteer}"
    assert (mirrored / "resources.pak").resolve() == resource
    assert Path(changed["PUPPETEER_CACHE_DIR"], "chrome-headless-shell/readme").is_file()
