"""The switches of a browser's command line that open its debugging pipe or port. Pure.

Rule: the last one of repeated switches counts, as in Chrome. A browser accepts a switch with one dash or two, and
none after "--".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

_SWITCH = re.compile(
    r"--?(remote-debugging-pipe|remote-debugging-port|user-data-dir|type)(?:=(.*))?", re.DOTALL
)
_PORT = "remote-debugging-port"


@attrs.frozen
class DebuggingSwitches:
    """The values of a command line.

    `pipe` is the format of the debugging pipe ("" is JSON), None without a pipe. `port` is None without a port and
    0 for any port. `profile` is the profile folder, "" for the default one. `helper`: the process is a helper of a
    running browser.
    """

    pipe: str | None = None
    port: int | None = None
    profile: str = ""
    helper: bool = False

    @property
    def has_json_pipe(self) -> bool:
        """Whether the messages of the pipe are JSON. The other format is binary (CBOR)."""
        return self.pipe is not None and self.pipe.lower() != "cbor"


def read_switches(arguments: Sequence[str]) -> DebuggingSwitches:
    """Return the values of a browser's arguments. An invalid port counts as none."""
    values = {match[1]: match[2] or "" for match in map(_SWITCH.fullmatch, _switches(arguments)) if match}
    port = values.get(_PORT, "")
    return DebuggingSwitches(
        pipe=values.get("remote-debugging-pipe"),
        port=int(port) if re.fullmatch(r"\d{1,5}", port) and int(port) <= 65_535 else None,
        profile=values.get("user-data-dir", ""),
        helper="type" in values,
    )


def with_any_port(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with debugging port 0: the browser chooses a free one."""
    count = len(_switches(arguments))
    changed = [
        f"--{_PORT}=0" if (match := _SWITCH.fullmatch(each)) and match[1] == _PORT else each
        for each in arguments[:count]
    ]
    return [*changed, *arguments[count:]]


def _switches(arguments: Sequence[str]) -> Sequence[str]:
    return arguments[: arguments.index("--")] if "--" in arguments else arguments
