"""Chrome's command line, as a pure function of options and machine."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from cdpengine._launch.flags import ALWAYS, DISABLED_FEATURES, ENABLED_FEATURES, Machine, command_line
from cdpengine._launch.profile import parse_port_file
from cdpengine.errors import InvalidArgumentError

PLAIN = Machine(platform="linux", root=False, shared_memory=8 << 30)


def line(
    *arguments: str,
    headless: bool = True,
    transport: Literal["websocket", "pipe"] = "websocket",
    lifeline: bool = True,
    machine: Machine = PLAIN,
    computed_accessibility: bool = True,
    debugging_port: int | None = None,
) -> list[str]:
    return command_line(
        arguments,
        profile=Path("/p"),
        headless=headless,
        transport=transport,
        lifeline=lifeline,
        machine=machine,
        computed_accessibility=computed_accessibility,
        debugging_port=debugging_port,
    )


def test_permanent_flags() -> None:
    assert set(ALWAYS) < set(line())
    assert "--user-data-dir=/p" in line()
    assert line()[-1] == "about:blank"
    assert "--no-sandbox" not in line()
    assert "--disable-dev-shm-usage" not in line()


def test_headless_is_optional() -> None:
    assert "--headless=new" in line()
    assert not any(argument.startswith("--headless") for argument in line(headless=False))


def test_no_switch_is_given_twice() -> None:
    switches = [argument.partition("=")[0] for argument in line("--disable-features=X")]
    assert len(switches) == len(set(switches))


@pytest.mark.parametrize(
    ("transport", "lifeline", "port", "pipe"),
    [("websocket", True, True, True), ("websocket", False, True, False), ("pipe", True, False, True)],
)
def test_port_and_pipe(
    transport: Literal["websocket", "pipe"], lifeline: bool, port: bool, pipe: bool
) -> None:
    arguments = line(transport=transport, lifeline=lifeline)
    assert ("--remote-debugging-port=0" in arguments) == port
    assert ("--remote-debugging-pipe" in arguments) == pipe


@pytest.mark.parametrize("transport", ["websocket", "pipe"])
@pytest.mark.parametrize("port", [0, 9222])
def test_a_debugging_port_is_added_to_either_transport(
    transport: Literal["websocket", "pipe"], port: int
) -> None:
    arguments = line(transport=transport, debugging_port=port)
    assert f"--remote-debugging-port={port}" in arguments
    assert "--remote-debugging-pipe" in arguments


@pytest.mark.parametrize(
    ("platform", "root", "memory", "sandbox_off", "memory_off"),
    [
        ("linux", True, None, True, False),
        ("linux", False, 64 << 20, False, True),
        ("darwin", True, None, False, False),
        ("win32", False, None, False, False),
    ],
)
def test_the_surroundings_decide(
    platform: str, root: bool, memory: int | None, sandbox_off: bool, memory_off: bool
) -> None:
    arguments = line(machine=Machine(platform=platform, root=root, shared_memory=memory))
    assert ("--no-sandbox" in arguments) == sandbox_off
    assert ("--disable-dev-shm-usage" in arguments) == memory_off


def test_user_arguments_come_last() -> None:
    arguments = line("--headless=old", "--password-store=kwallet")
    assert arguments.index("--headless=old") > arguments.index("--headless=new")
    assert arguments.index("--password-store=kwallet") > arguments.index("--password-store=basic")


def test_feature_lists_are_joined() -> None:
    arguments = line("--disable-features=A,Translate", "--disable-features=B")
    [features] = [a.partition("=")[2] for a in arguments if a.startswith("--disable-features=")]
    assert features.split(",") == [*DISABLED_FEATURES, "A", "B"]


def test_a_feature_that_the_user_enables_is_not_disabled() -> None:
    arguments = line("--enable-features=Translate,X")
    [features] = [a.partition("=")[2] for a in arguments if a.startswith("--disable-features=")]
    assert "Translate" not in features.split(",")
    [enabled] = [a.partition("=")[2] for a in arguments if a.startswith("--enable-features=")]
    assert enabled.split(",") == ["Translate", "X", *ENABLED_FEATURES]


def test_a_feature_that_the_user_disables_is_not_enabled() -> None:
    arguments = line("--disable-features=CDPScreenshotNewSurface")
    assert not any("CDPScreenshotNewSurface" in a for a in arguments if a.startswith("--enable"))


@pytest.mark.parametrize(
    ("given", "wanted", "lists"),
    [
        ([], True, ["ComputedAccessibilityInfo"]),
        ([], False, []),
        (["--enable-blink-features=A,B"], True, ["ComputedAccessibilityInfo,A,B"]),
        (["--enable-blink-features=A,B"], False, ["A,B"]),
        (
            ["--enable-blink-features=A,ComputedAccessibilityInfo", "--enable-blink-features=B"],
            True,
            ["ComputedAccessibilityInfo,A,B"],
        ),
        (["--disable-blink-features=ComputedAccessibilityInfo"], True, []),
    ],
)
def test_computed_accessibility_is_joined_with_the_users_blink_features(
    given: list[str], wanted: bool, lists: list[str]
) -> None:
    arguments = line(*given, computed_accessibility=wanted)
    switches = [argument for argument in arguments if argument.startswith("--enable-blink-features=")]
    assert [switch.partition("=")[2] for switch in switches] == lists
    assert all(argument in arguments for argument in given if argument.startswith("--disable-blink"))


def test_a_page_of_the_user_replaces_the_blank_one() -> None:
    assert "about:blank" not in line("https://example.com/")


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--user-data-dir=/x", "user_data_dir="),
        ("--remote-debugging-port=9222", "debugging_port="),
        ("--remote-debugging-pipe", "transport="),
        ("a\0b", "NUL"),
    ],
)
def test_arguments_that_contradict_an_option(argument: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        line(argument)


def test_one_string_is_not_a_list_of_arguments() -> None:
    with pytest.raises(InvalidArgumentError, match="sequence"):
        command_line(
            "--lang=de",
            profile=Path("/p"),
            headless=True,
            transport="pipe",
            lifeline=True,
            machine=PLAIN,
        )


@pytest.mark.parametrize(
    ("text", "endpoint"),
    [
        ("9222\n/devtools/browser/a-b\n", "ws://127.0.0.1:9222/devtools/browser/a-b"),
        ("9222\n/devtools/browser/a-b", "ws://127.0.0.1:9222/devtools/browser/a-b"),
        ("9222\n", None),
        ("9222\n/dev", None),
        ("92", None),
        ("", None),
        ("x\n/devtools/browser/a", None),
    ],
)
def test_the_port_file(text: str, endpoint: str | None) -> None:
    assert parse_port_file(text) == endpoint
