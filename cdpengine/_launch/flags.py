"""The command line that Chrome is started with: every flag of ours as data, with its reason.

Rule: pure. What depends on the machine comes in as `Surroundings`; user arguments come last, so that Chrome,
which takes the last value of a switch, prefers theirs. Feature lists are the exception: Chrome takes only the
last list, so ours and theirs are joined into one.
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
    "--disable-background-networking": "no traffic that no page asked for",
    "--disable-component-update": "no downloads of components into the profile",
    "--disable-sync": "no account traffic",
    "--disable-quic": "requests go over TCP, where proxies and recorders can see them",
    "--disable-background-timer-throttling": "timers of a tab that is not in front keep their pace",
    "--disable-backgrounding-occluded-windows": "a covered window goes on painting",
    "--disable-renderer-backgrounding": "the process of a hidden tab keeps its priority",
    "--disable-hang-monitor": "no dialog about a page that does not answer: that is the protocol's business",
    "--disable-popup-blocking": "window.open works without a user gesture",
    "--disable-prompt-on-repost": "reloading a posted form asks nothing",
    "--no-service-autorun": "nothing stays behind when the last window closes",
    "--password-store=basic": "no keyring dialog on Linux",
    "--use-mock-keychain": "no keychain dialog on macOS",
}

DISABLED_FEATURES: dict[str, str] = {
    "Translate": "no offer to translate a page",
    "MediaRouter": "no search for cast devices in the local network",
    "OptimizationHints": "no model and hint downloads",
    "DialMediaRouteProvider": "no search for cast devices in the local network",
    "WebUIOmniboxPopup": "no page of Chrome's own behind each window's address bar: half the cost of a start",
    "WebUIOmniboxAimPopup": "the same, for the second page there",
}

ENABLED_FEATURES: dict[str, str] = {
    "CDPScreenshotNewSurface": "pictures of tabs that are not in front: without it 37 of 60 were never answered",
}

COMPUTED_ACCESSIBILITY = "ComputedAccessibilityInfo"
"""Blink's feature that gives elements `computedRole` and `computedName`: snapshots are one walk then."""

# Switches that have a launch option of their own: given twice, the two would contradict each other.
_OPTION_OF: dict[str, str] = {
    "--user-data-dir": "user_data_dir=",
    "--remote-debugging-port": "debugging_port=",
    "--remote-debugging-pipe": 'transport="pipe"',
}

# Chrome keeps bitmaps that it shares between processes here; containers often give it 64 MB, and tabs crash.
_SMALL_SHARED_MEMORY = 512 * 1024 * 1024


@attrs.frozen
class Machine:
    """What the flags depend on: `sys.platform`, whether we are root, and the size of /dev/shm in bytes."""

    platform: str
    root: bool
    shared_memory: int | None

    @classmethod
    def here(cls) -> Machine:
        """Look at this machine."""
        if sys.platform == "win32":
            return cls(platform="win32", root=False, shared_memory=None)
        try:
            volume = os.statvfs("/dev/shm")  # noqa: S108 - only its size is looked at
        except OSError:
            shared_memory = None
        else:
            shared_memory = volume.f_frsize * volume.f_blocks
        return cls(platform=sys.platform, root=os.geteuid() == 0, shared_memory=shared_memory)


def check_arguments(arguments: Sequence[str]) -> None:
    """Raise InvalidArgumentError for a user argument that is not a text, or that an option of `launch` sets."""
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
    """Return Chrome's arguments, without the program itself.

    `lifeline` adds the debugging pipe beside the port: Chrome ends by itself when the pipe is closed.
    `debugging_port` opens that port of loopback (0: one that Chrome chooses); a websocket needs one in any case.
    `computed_accessibility` has Chrome tell roles and names inside of pages; pages can see that it does.
    Raises InvalidArgumentError as `check_arguments` does.
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
    start_page = [] if any(not argument.startswith("-") for argument in theirs) else ["about:blank"]
    return [*ours, *theirs, *start_page]


def _features(arguments: Sequence[str], switch: str) -> Iterator[str]:
    for argument in arguments:
        name, _, value = argument.partition("=")
        if name == switch:
            yield from (feature for feature in value.split(",") if feature)


def _kind(argument: object) -> str:
    """Return what an argument is, without its value, which may hold a user and a password."""
    if not isinstance(argument, str):
        return f"a {type(argument).__name__}"
    return f"{argument.partition('=')[0]!r} with a NUL in it"
