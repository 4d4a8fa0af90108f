"""The settings of the service: its address, its access rules, and its limits."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path
from typing import Literal

import attrs

from cdpengine._budget import check_seconds
from cdpengine._checks import check_count
from cdpengine._emulation.options import DEFAULT_VIEWPORT, check_viewport
from cdpengine._launch.private_files import write_private
from cdpengine.errors import InvalidArgumentError
from cdpengine.service.url_policy import UrlPolicy

_TOKEN_BYTES = 32
_SHORTEST_TOKEN = 16


@attrs.frozen(kw_only=True)
class ServiceSettings:
    """The settings of a service. Times are in seconds, sizes in bytes.

    `token` is the bearer token of clients. `hosts` are further host names of the service besides those of this
    machine; `origins` are the web origins that may use it (none by default).

    `sessions` is the maximum number of sessions; one that is idle for `session_idle` is closed. `requests` is the
    maximum number of running requests, `queue` of waiting requests, and `longest` the limit for a request's
    timeout. `body` is the maximum size of a request, `body_time` the maximum time to receive it. `connections` is
    the maximum number of clients, and `listeners` the maximum number of clients that receive events. These get a
    sign of life every `heartbeat`. A client that reads nothing for `stalled` is disconnected.

    `files` is the folder whose files requests may name (None: no files). `profiles` is the folder of the profiles
    for sessions (None: no profiles). `outputs` is the folder for files that requests write without a name.
    `states` is the folder for saved states (None: requests save and load none). `commands_enabled` allows protocol
    commands and reading protocol messages. These bypass the policies for URLs and files, and affect all sessions.
    `reads_ahead` works as in `Actor`. `mcp_capabilities` and `mcp_structured` work as in `McpSettings`, for
    clients of /mcp. `ending` is the time that running requests get at shutdown.

    `endpoint` is the endpoint of a running browser, which the service leaves running. With `default_context`,
    its sessions use the pages and logins of that browser; else each session has a context. If `endpoint` is
    None, the service starts a browser with `executable` and `headless`. With `user_data_dir`, the browser has
    that profile, and all sessions use it. `viewport` is the viewport of its pages; None means the size of the
    window. `cache` is the file of the action cache for requests, or "user" for the user's default file; None
    means no cache.
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
    states: Path | None = None
    commands_enabled: bool = False
    reads_ahead: bool = False
    cache: Path | Literal["user"] | None = None
    endpoint: str | None = None
    default_context: bool = False
    user_data_dir: Path | None = None
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
                expected=f"{_SHORTEST_TOKEN} or more printable ASCII characters",
            )
        if self.endpoint is not None and (self.executable, self.profiles, self.user_data_dir) != (None,) * 3:
            raise InvalidArgumentError(
                what="endpoint",
                given="together with an executable or a folder of profiles",
                expected="one of them: only browsers that the service starts have profiles",
            )
        if self.default_context and self.endpoint is None:
            raise InvalidArgumentError(
                "the default context", "no endpoint", "the endpoint of a running browser"
            )
        check_viewport(self.viewport)
        for name in ("sessions", "requests", "body", "connections", "listeners"):
            check_count(name, getattr(self, name), least=1)
        for name in ("session_idle", "longest", "body_time", "ending", "heartbeat", "stalled"):
            check_seconds(name, getattr(self, name))


def make_token() -> str:
    """Return a new token."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def keep_token(path: Path) -> str:
    """Return the token in a file, which is created if needed. Only the owner can read the file.

    Raises OSError, and InvalidArgumentError for a file that others can read or that has no token.
    """
    try:
        described = path.stat()
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        token = make_token()
        write_private(path, token.encode("ascii") + b"\n", overwrite=False)
        return token
    if os.name == "posix" and stat.S_IMODE(described.st_mode) & 0o077:
        raise InvalidArgumentError(
            what="the token's file",
            given=f"{path}, which others can read",
            expected="mode 0600: remove it, or chmod 600",
        )
    token = path.read_text(encoding="ascii", errors="replace").strip()
    if len(token) < _SHORTEST_TOKEN:
        raise InvalidArgumentError(
            what="the token's file", given=f"{path}, which has no token", expected="a token, or no file"
        )
    return token
