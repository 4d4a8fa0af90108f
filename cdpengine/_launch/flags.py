"""Chrome's command line: every flag of the engine as data, with its reason.

Rule: pure. Facts about the machine come in as `Machine`. User arguments come last, because Chrome uses the last
value of a switch. Feature lists are the exception: Chrome uses only the last list, so the lists of the engine and
the user are joined.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import attrs

from cdpengine.errors import InvalidArgumentError

Transport = Literal["websocket", "pipe"]

ALWAYS: dict[str, str] = {
    "--no-first-run": "no welcome page in a fresh profile",
    "--no-default-browser-check": "no question about the default browser",
    "--disable-background-networking": "no traffic other than the pages'",
    "--disable-component-update": "no downloads of components into the profile",
    "--disable-sync": "no account traffic",
    "--disable-quic": "requests go over TCP, where proxies and recorders can see them",
    "--disable-background-timer-throttling": "timers of background tabs keep their pace",
    "--disable-backgrounding-occluded-windows": "a covered window keeps painting",
    "--disable-renderer-backgrounding": "the process of a hidden tab keeps its priority",
    "--disable-hang-monitor": "no dialog about an unresponsive page: the protocol handles it",
    "--disable-popup-blocking": "window.open works without a user gesture",
    "--disable-prompt-on-repost": "reloading a posted form shows no prompt",
    "--no-service-autorun": "no process is left when the last window closes",
    "--password-store=basic": "no keyring dialog on Linux",
    "--use-mock-keychain": "no keychain dialog on macOS",
}

DISABLED_FEATURES: dict[str, str] = {
    "Translate": "no offer to translate a page",
    "MediaRouter": "no search for cast devices in the local network",
    "OptimizationHints": "no model and hint downloads",
    "DialMediaRouteProvider": "no search for cast devices in the local network",
    "WebUIOmniboxPopup": "no WebUI page behind each window's address bar: half the cost of a start",
    "WebUIOmniboxAimPopup": "as above, for the second page",
}

ENABLED_FEATURES: dict[str, str] = {
    "CDPScreenshotNewSurface": "screenshots of background tabs: without it 37 of 60 got no answer",
}

COMPUTED_ACCESSIBILITY = "ComputedAccessibilityInfo"
"""Blink's feature that gives elements `computedRole` and `computedName`.

With it, a snapshot needs only one walk.
"""

# Switches that have a launch option: a second value would contradict it.
_OPTION_OF: dict[str, str] = {
    "--user-data-dir": "user_data_dir=",
    "--remote-debugging-port": "debugging_port=",
    "--remote-debugging-pipe": 'transport="pipe"',
}

# Chrome keeps bitmaps shared between processes here. Containers often have 64 MB, and then tabs crash.
_SMALL_SHARED_MEMORY = 512 * 1024 * 1024


@attrs.frozen
class Machine:
    """Facts about the machine: `sys.platform`, whether the user is root, and the size of /dev/shm in bytes."""

    platform: str
    root: bool
    shared_memory: int | None

    @classmethod
    def here(cls) -> Machine:
        """Return the facts of this machine."""
        if sys.platform == "win32":
            return cls(platform="win32", root=False, shared_memory=None)
        try:
            volume = os.statvfs("/dev/shm")  # noqa: S108 - only its size is read
        except OSError:
            shared_memory = None
        else:
            shared_memory = volume.f_frsize * volume.f_blocks
        return cls(platform=sys.platform, root=os.geteuid() == 0, shared_memory=shared_memory)


def check_arguments(arguments: Sequence[str]) -> None:
    """Raise InvalidArgumentError for a user argument that is not a string, or that an option of `launch` sets."""
    if isinstance(arguments, str):
        raise InvalidArgumentError(
            what="args", given="one string", expected='a sequence such as ["--lang=de"]'
        )
    for argument in arguments:
        if not isinstance(argument, str) or "\0" in argument:
            raise InvalidArgumentError(what="args", given=_kind(argument), expected="strings without NUL")
        switch = argument.partition("=")[0]
        if switch in _OPTION_OF:
            raise InvalidArgumentError(
                what="args", given=switch, expected=f"the option {_OPTION_OF[switch]} instead"
            )


def command_line(
    arguments: Sequence[str],
    *,
    profile: Path,
    headless: bool,
    transport: Transport,
    lifeline: bool,
    machine: Machine,
    computed_accessibility: bool = True,
    debugging_port: int | None = None,
) -> list[str]:
    """Return Chrome's arguments, without the program.

    `lifeline` adds the debugging pipe in addition to the port: Chrome ends when the pipe closes. `debugging_port`
    opens that port on the loopback interface (0: Chrome chooses one); the websocket transport always opens a port.
    `computed_accessibility` exposes roles and names to scripts in pages; pages can detect it. Raises the errors of
    `check_arguments`.
    """
    check_arguments(arguments)
    ours = [*ALWAYS, f"--user-data-dir={profile}"]
    if headless:
        ours.append("--headless=new")
    if machine.platform.startswith("linux"):
        if machine.root:
            ours.append("--no-sandbox")  # Chrome refuses to start as root with its sandbox on
        if machine.shared_memory is not None and machine.shared_memory < _SMALL_SHARED_MEMORY:
            ours.append("--disable-dev-shm-usage")
    if transport == "websocket" or debugging_port is not None:
        ours.append(f"--remote-debugging-port={debugging_port or 0}")
    if transport == "pipe" or lifeline:
        ours.append("--remote-debugging-pipe")
    enabled = list(_features(arguments, "--enable-features"))
    disabled = [feature for feature in DISABLED_FEATURES if feature not in enabled]
    disabled += [feature for feature in _features(arguments, "--disable-features") if feature not in disabled]
    ours.append(f"--disable-features={','.join(disabled)}")
    enabled += [feature for feature in ENABLED_FEATURES if feature not in (*enabled, *disabled)]
    if enabled:
        ours.append(f"--enable-features={','.join(enabled)}")
    joined = ["--disable-features=", "--enable-features="]
    refused = set(_features(arguments, "--disable-blink-features"))
    if computed_accessibility and COMPUTED_ACCESSIBILITY not in refused:
        joined.append("--enable-blink-features=")
        blink = dict.fromkeys([COMPUTED_ACCESSIBILITY, *_features(arguments, "--enable-blink-features")])
        ours.append(f"--enable-blink-features={','.join(blink)}")
    theirs = [argument for argument in arguments if not argument.startswith(tuple(joined))]
    start_page = ["about:blank"] if opens_blank_page(theirs) else []
    return [*ours, *theirs, *start_page]


def opens_blank_page(arguments: Sequence[str]) -> bool:
    """Return whether the browser opens a blank page at its start, because the user's arguments name none."""
    return all(argument.startswith("-") for argument in arguments)


def _features(arguments: Sequence[str], switch: str) -> Iterator[str]:
    for argument in arguments:
        name, _, value = argument.partition("=")
        if name == switch:
            yield from (feature for feature in value.split(",") if feature)


def _kind(argument: object) -> str:
    """Return a description of an argument without its value, which may contain a user and a password."""
    if not isinstance(argument, str):
        return f"a {type(argument).__name__}"
    return f"{argument.partition('=')[0]!r} with a NUL character"
