"""Reasons why a browser did not start, from its output. Pure, except for reading a profile's lock.

Rule: the reason is the decisive line, in Chrome's words, with advice. `_OBSTACLES` is a table: the first row whose
pattern is in any line wins, because later lines are often consequences. If no line matches, the reason is the
first fatal error, or else the first other error that is not known noise.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from pathlib import Path

import attrs

_LONGEST = 100
"""Maximum length of a line in a reason, in characters. The error's `output` has the whole line."""


@attrs.frozen
class Obstacle:
    """A row of the table. `advice` may contain {profile}, {executable} and the groups of `pattern`."""

    what: str
    pattern: re.Pattern[str]
    advice: str


def _row(what: str, pattern: str, advice: str) -> Obstacle:
    return Obstacle(what, re.compile(pattern, re.IGNORECASE), advice)


_TMPDIR = "Set TMPDIR (env=) to a short path of a folder that this user can write to"
_SANDBOX = "Allow user namespaces (docs/deployment.md), or pass args=['--no-sandbox'] for trusted pages"

_OBSTACLES = (
    _row(
        "the profile {profile} is in use by another browser on another computer",
        r"in use by another .*process \((?P<pid>\d+)\) on another computer \((?P<host>[^)]*)\)",
        "Close process {pid} on {host}. If it is gone, delete SingletonLock in the profile",
    ),
    _row(
        "the profile {profile} is in use by another browser",
        r"in use by another .*process \((?P<pid>\d+)\)",
        "Close process {pid}, or pass another user_data_dir",
    ),
    _row(
        "the profile {profile} is in use by another browser",
        r"existing browser session",
        "{lock}, or pass another user_data_dir",
    ),
    _row("the path of its temporary folder is too long", r"socket path too long", _TMPDIR),
    _row("its temporary folder cannot be used", r"failed to create socket directory", _TMPDIR),
    _row(
        "its profile folder cannot be used",
        r"failed to create data directory|cannot read and write to its data directory",
        "Let this user write to {profile}, or pass another user_data_dir",
    ),
    _row(
        "the profile {profile} is in use by another browser",
        r"failed to create \S*SingletonLock|failed to create a ProcessSingleton",
        "{lock}, or pass another user_data_dir",
    ),
    _row(
        "a shared library is missing",
        r"error while loading shared libraries: (?P<library>[^:\s]+)",
        "Install the package of {library}; `ldd` on the program lists all missing ones",
    ),
    _row(
        "a shared library is too old, or of another system",
        r"symbol lookup error|version `[^']+' not found",
        "Install the browser with this system's own packages",
    ),
    _row(
        "it is built for another processor",
        r"exec format error|cannot execute binary file|wrong elf class|ld-linux[^ ]*: no such file",
        "This machine is {machine}: install a browser for it",
    ),
    _row(
        "the snap package is missing",
        r"requires the \S+ snap to be installed",
        "Install that snap, or a browser of another package, and pass its path as executable",
    ),
    _row(
        "it refuses to run as root with its sandbox",
        r"running as root without --no-sandbox",
        "Run as another user, or pass args=['--no-sandbox']",
    ),
    _row(
        "its sandbox is refused",
        r"no usable sandbox|failed to move to new namespace|suid sandbox helper|setuid sandbox"
        r"|credentials\.cc.*(?:permission denied|operation not permitted)",
        _SANDBOX,
    ),
    _row(
        "it has no display",
        r"missing x server or \$display|(?:cannot|can't|unable to) open (?:x )?display"
        r"|failed to connect to wayland display|failed to initialize wayland|platform failed to initialize",
        "Pass headless=True, or give it a display: set DISPLAY, or run the program under xvfb-run",
    ),
    _row("the disk is full", r"no space left on device", "Free space in the profile's and temporary folder"),
    _row(
        "it has too little memory",
        r"cannot allocate memory|out of memory",
        "Free memory, or raise the limit of the container (docs/deployment.md)",
    ),
)

_PREFIX = re.compile(r"^\[[\d:/.]+:(?P<level>[A-Z]+\d*):[^\]]*\]\s*")
"""The prefix of a message in Chrome's log: process, thread, time, level, file and line."""

_NOISE = re.compile(
    r"dbus/|zygote|gpu|vaapi|crashpad|gcm|ssl_client|message_box_dialog|^find: |unexpected operator"
)


@attrs.frozen
class Explanation:
    """The reason why a browser did not start, and the advice ("" if unknown)."""

    reason: str
    advice: str = ""


def explain(
    lines: Sequence[str], *, profile: Path, executable: Path, exit_code: int | None, generic: str
) -> Explanation:
    """Return why a browser did not start. `lines` is its output, `generic` the reason if no line explains it."""
    for obstacle in _OBSTACLES:
        for line in lines:
            if (found := obstacle.pattern.search(line)) is None:
                continue
            names = {key: value or "" for key, value in found.groupdict().items()}
            names |= {"profile": str(profile), "machine": platform.machine(), "lock": _owner_of(profile)}
            message = _message(line.removeprefix(f"{executable}: "))
            return Explanation(f"{obstacle.what.format(**names)}: {message}", obstacle.advice.format(**names))
    first_error = _first_error(lines)
    left = exit_code is not None and exit_code >= 0  # not ended by a signal
    if left and _is_script(executable) and not any(_PREFIX.match(line) for line in lines):
        reason = "it is a script that ended without starting a browser"
        last = next((line for line in reversed(lines) if line.strip()), "")
        message = f": {_message(first_error or last)}" if lines else ""
        return Explanation(f"{reason}{message}", "The script must run a browser with its own arguments")
    return (
        Explanation(f"{generic}: {_message(first_error)}", "All its last lines are in .output")
        if first_error
        else Explanation(generic)
    )


def describe_machine_mismatch() -> str:
    """Return the reason for a program that the system cannot execute."""
    return f"it is not a program for this system ({platform.machine()})"


def _message(line: str) -> str:
    """Return a line of the log without its prefix, shortened for an error."""
    message = _PREFIX.sub("", line).strip().rstrip(".:")
    return message if len(message) <= _LONGEST else f"{message[:_LONGEST]}..."


def _first_error(lines: Sequence[str]) -> str:
    levels: dict[str, str] = {}
    for line in lines:
        found = _PREFIX.match(line)
        if found is not None and not _NOISE.search(line):
            levels.setdefault(found["level"], line)
    return levels.get("FATAL") or levels.get("ERROR") or ""


def _owner_of(profile: Path) -> str:
    """Return the advice to close the browser that uses a profile.

    Chrome's lock in the profile is a link to "host-process".
    """
    try:
        host, _, pid = str((profile / "SingletonLock").readlink()).rpartition("-")
    except OSError:
        return "Close it"
    return f"Close process {pid} on {host}" if host and pid.isdigit() else "Close it"


def _is_script(executable: Path) -> bool:
    try:
        with executable.open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False
