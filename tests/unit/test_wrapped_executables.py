"""The search for executables that a program may start, and the switches of their command lines."""

from __future__ import annotations

from pathlib import Path, PurePath

import pytest

from cdpengine._launch.find import Machine
from cdpengine.debug.wrapping.executables import find_executables
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
