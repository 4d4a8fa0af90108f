"""The members of a pool: launched browsers, and browsers at an endpoint.

Rule: a member defines how to open a browser, its maximum number of pages, and its share of the load. It has no
running state. Invalid settings are refused on creation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

import attrs

from cdpengine._activity.options import ActivityOptions
from cdpengine._api.connecting import connect
from cdpengine._api.opening import launch
from cdpengine._budget import check_seconds
from cdpengine._checks import check_count, check_number, check_type, checked, invalid
from cdpengine._emulation.options import EmulationOptions, Proxy
from cdpengine._emulation.permissions import PermissionState
from cdpengine._launch.endpoint import check_endpoint, redact_endpoint
from cdpengine._storage.storage_state import StorageState
from cdpengine.errors import InvalidArgumentError
from cdpengine.pool.process_memory import can_measure

if TYPE_CHECKING:
    from cdpengine._api.browser import Browser


class LaunchOptions(TypedDict, total=False):
    """Options of `cdpengine.launch`."""

    executable: str | Path | None
    headless: bool
    args: Sequence[str]
    transport: Literal["websocket", "pipe"] | None
    debugging_port: int | None
    env: Mapping[str, str] | None
    recover_after: float | None
    evaluate_enabled: bool
    computed_accessibility: bool
    viewport: tuple[int, int] | None
    activity: bool | ActivityOptions | None
    slow_mo: float
    timeout: float


class ContextOptions(EmulationOptions, total=False):
    """Options of `browser.new_context`. Further options are passed to `context.emulation.set`."""

    storage_state: StorageState | Mapping[str, object] | str | Path | None
    proxy: Proxy | str | None
    downloads: str | Path | None
    permissions: Sequence[str] | Mapping[str, PermissionState]
    activity: bool | ActivityOptions | None


_COUNT = checked(check_count, least=1)
_OPTIONAL_COUNT = attrs.validators.optional(_COUNT)
_WEIGHT = checked(check_number, above=0)


@attrs.frozen
class LaunchedBrowsers:
    """Browsers of one kind that the pool launches and closes, each with a temporary profile.

    `count`: number of browsers. `pages`: maximum number of pages in each; None for the pool's default. `weight`: a
    browser of weight 2 gets twice the share of one of weight 1. `options`: options of `cdpengine.launch`.
    """

    count: int = attrs.field(default=1, validator=_COUNT)
    pages: int | None = attrs.field(default=None, validator=_OPTIONAL_COUNT)
    weight: float = attrs.field(default=1.0, validator=_WEIGHT)
    options: LaunchOptions = attrs.field(factory=LaunchOptions)

    def __attrs_post_init__(self) -> None:
        if "user_data_dir" in self.options:
            raise InvalidArgumentError(
                what="options", given="user_data_dir", expected="none: browsers of a pool share no profile"
            )

    @property
    def own(self) -> bool:
        """Whether its browsers are processes that this program ends."""
        return True

    def open(self) -> AbstractAsyncContextManager[Browser]:
        """Launch one of the browsers."""
        return launch(**self.options)

    def __str__(self) -> str:
        return "launched"


def _count_headers(headers: Mapping[str, str] | None) -> str:
    return f"<{len(headers or ())} headers>"


@attrs.frozen
class RemoteBrowsers:
    """Browsers run by others, at "http://host:port" or "ws(s)://...", possibly with a token.

    `connections`: number of connections; each counts as one browser of the pool. For a service with a browser for
    each connection (browserless), reconnecting replaces the browser. At Chrome's endpoint all connections reach
    the same browser. `pages` and `weight` work as in LaunchedBrowsers. `headers` are sent when connecting.
    `timeout` is for one connection, in seconds.
    """

    endpoint: str = attrs.field(repr=redact_endpoint)
    connections: int = attrs.field(default=1, validator=_COUNT)
    pages: int | None = attrs.field(default=None, validator=_OPTIONAL_COUNT)
    weight: float = attrs.field(default=1.0, validator=_WEIGHT)
    headers: Mapping[str, str] | None = attrs.field(default=None, repr=_count_headers)
    timeout: float = attrs.field(default=30.0, validator=checked(check_seconds))

    def __attrs_post_init__(self) -> None:
        check_endpoint(self.endpoint)

    @property
    def count(self) -> int:
        """Number of browsers."""
        return self.connections

    @property
    def own(self) -> bool:
        """Whether its browsers are processes that this program ends."""
        return False

    def open(self) -> AbstractAsyncContextManager[Browser]:
        """Connect to one of the browsers."""
        return connect(self.endpoint, headers=self.headers, timeout=self.timeout)

    def __str__(self) -> str:
        return redact_endpoint(self.endpoint).partition("?")[0]


Members = LaunchedBrowsers | RemoteBrowsers


@attrs.frozen
class BrowserLimits:
    """Conditions for replacing a browser of a pool, while the others continue.

    - `leases`: maximum number of leased pages. `age`: maximum age in seconds.
    - `memory`: maximum memory of its process tree in bytes. Only for launched browsers on Linux.
    - `hung_after`: maximum time without a response, in seconds.
    - `retire_within`: for the first three conditions, the time for its pages to be returned, in seconds; then
      their leases end.
    """

    leases: int | None = attrs.field(default=None, validator=_OPTIONAL_COUNT)
    age: float | None = attrs.field(default=None, validator=attrs.validators.optional(checked(check_seconds)))
    memory: int | None = attrs.field(default=None, validator=_OPTIONAL_COUNT)
    hung_after: float = attrs.field(default=20.0, validator=checked(check_seconds))
    retire_within: float = attrs.field(default=30.0, validator=checked(check_seconds))

    def __attrs_post_init__(self) -> None:
        if self.memory is not None and not can_measure():
            raise invalid("memory", self.memory, "None: memory can be measured only on Linux")


def choose_members(browsers: object, options: LaunchOptions | None) -> tuple[Members, ...]:
    """Return the members for an argument: a number of browsers to launch, or members."""
    if isinstance(browsers, int):
        count = check_count("browsers", browsers, least=1)
        return (LaunchedBrowsers(count, options=options or LaunchOptions()),)
    members = (browsers,) if isinstance(browsers, LaunchedBrowsers | RemoteBrowsers) else browsers
    if not isinstance(members, Sequence) or isinstance(members, str | bytes) or not members:
        raise InvalidArgumentError(
            what="browsers",
            given=f"a {type(browsers).__name__}" if not isinstance(browsers, Sequence) else "nothing",
            expected="a number, or LaunchedBrowsers and RemoteBrowsers",
        )
    for member in members:
        check_type("browsers", member, Members, "LaunchedBrowsers or RemoteBrowsers")
    if options is not None:
        raise InvalidArgumentError(
            what="launch",
            given="options",
            expected="None if members are given: LaunchedBrowsers has options",
        )
    return tuple(members)
