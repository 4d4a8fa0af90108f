"""What the service is told: where it listens, whom it lets in, and how much it takes on."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path
from typing import Literal

import attrs

from cdpengine._emulation.options import DEFAULT_VIEWPORT, check_viewport
from cdpengine._launch.private_files import write_private
from cdpengine.errors import InvalidArgumentError
from cdpengine.service.url_policy import UrlPolicy

_TOKEN_BYTES = 32
_SHORTEST_TOKEN = 16


@attrs.frozen(kw_only=True)
class ServiceSettings:
    """The settings of a service. Times are seconds, sizes bytes.

    `token` is what clients have to send as a bearer token. `hosts` are the names by which it may be asked besides
    those of this machine, `origins` the web pages that may ask it; without any, none may. `sessions` is how many
    there are at most, `session_idle` after how long one that nobody uses is closed. `requests` is how many are
    done at the same time, `queue` how many more wait for that, `longest` how long one may take whatever it asks
    for; `body` is the largest request, `body_time` how long it may take to come. `connections` is how many
    clients are connected at most, `listeners` how many of them listen to events, `heartbeat` how often those get
    a sign of life, `stalled` how long a client may take nothing of an answer before it is dropped. `files` is the
    folder whose files requests may name; None: none may be named. `profiles` is the folder of sessions with
    profiles; None: they have none. `outputs` is the folder of what requests write without naming a file.
    `commands_enabled` lets requests send commands of the protocol and see its messages: past the policy for URLs
    and files, and of all sessions. `reads_ahead` as of `Actor`. `mcp_capabilities` and `mcp_structured` are as of
    `McpSettings`, for clients of /mcp. `ending` is how long running requests may take to end when the service
    does. `endpoint` is that of a running browser, which is used and left running; None: the service starts one, by
    `executable` and `headless`. `viewport` is that of its pages, None the window's. `cache` is the file of the
    action cache that requests may be about, "user" that of the user; None: there is none.
    """

    token: str = attrs.field(repr=False)
    host: str = "127.0.0.1"
    port: int = 0
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    evaluate_enabled: bool = True
    url_policy: UrlPolicy = attrs.field(factory=UrlPolicy)
    files: Path | None = None
    profiles: Path | None = None
    mcp_capabilities: tuple[str, ...] = ()
    mcp_structured: bool = False
    outputs: Path | None = None
    commands_enabled: bool = False
    reads_ahead: bool = False
    cache: Path | Literal["user"] | None = None
    endpoint: str | None = None
    executable: str | None = None
    headless: bool = True
    viewport: tuple[int, int] | None = DEFAULT_VIEWPORT
    sessions: int = 32
    session_idle: float = 600
    requests: int = 64
    queue: int = 256
    longest: float = 600
    body: int = 2**20
    body_time: float = 10
    connections: int = 512
    listeners: int = 64
    heartbeat: float = 15
    stalled: float = 30
    ending: float = 5

    def __attrs_post_init__(self) -> None:
        if len(self.token) < _SHORTEST_TOKEN or not self.token.isascii() or not self.token.isprintable():
            raise InvalidArgumentError(
                what="token",
                given=f"one of {len(self.token)} characters",
                expected=f"{_SHORTEST_TOKEN} or more printable characters of ASCII",
            )
        if self.endpoint is not None and (self.executable is not None or self.profiles is not None):
            raise InvalidArgumentError(
                what="endpoint",
                given="one, and a browser to start or a folder of profiles",
                expected="either: profiles are of browsers that the service starts",
            )
        check_viewport(self.viewport)
        for name in ("sessions", "requests", "body", "connections", "listeners"):
            if getattr(self, name) < 1:
                raise InvalidArgumentError(what=name, given=str(getattr(self, name)), expected="1 or more")
        for name in ("session_idle", "longest", "body_time", "ending", "heartbeat", "stalled"):
            if not getattr(self, name) > 0:
                raise InvalidArgumentError(
                    what=name, given=str(getattr(self, name)), expected="more than 0 seconds"
                )


def make_token() -> str:
    """Return a new token."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def keep_token(path: Path) -> tuple[str, bool]:
    """Return the token that a file keeps, and whether it was made now. The file is readable by its owner only.

    Raises InvalidArgumentError for a file that others can read, or that holds no token, and OSError.
    """
    try:
        described = path.stat()
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        token = make_token()
        write_private(path, token.encode("ascii") + b"\n", overwrite=False)
        return token, True
    if os.name == "posix" and stat.S_IMODE(described.st_mode) & 0o077:
        raise InvalidArgumentError(
            what="the token's file",
            given=f"{path}, which others can read",
            expected="mode 0600: remove it, or chmod 600",
        )
    token = path.read_text(encoding="ascii", errors="replace").strip()
    if len(token) < _SHORTEST_TOKEN:
        raise InvalidArgumentError(
            what="the token's file", given=f"{path}, which holds no token", expected="a token, or no file"
        )
    return token, False
