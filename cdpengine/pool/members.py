"""What a pool is made of: browsers that it launches, and browsers that are reached at an endpoint.

Rule: a member says how a browser is opened, how many pages it may have at once, and how much of the load it is to
get; it holds nothing that runs. Everything that is wrong in itself is refused when it is made.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import attrs

from cdpengine._activity.bodies import ActivityOptions
from cdpengine._api.connecting import connect
from cdpengine._api.opening import launch
from cdpengine._budget import check_seconds
from cdpengine._emulation.options import EmulationOptions, Proxy
from cdpengine._emulation.permissions import PermissionState
from cdpengine._launch.endpoint import check_endpoint, redact_endpoint
from cdpengine._storage.storage_state import StorageState
from cdpengine.errors import InvalidArgumentError
from cdpengine.pool.process_memory import can_measure

if TYPE_CHECKING:
    from cdpengine._api.browser import Browser


class LaunchOptions(TypedDict, total=False):
    """What `cdpengine.launch` takes, each as there."""

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
    timeout: float


class ContextOptions(EmulationOptions, total=False):
    """What `browser.new_context` takes, each as there; all else is what `context.emulation.set` takes."""

    storage_state: StorageState | str | Path | None
    proxy: Proxy | str | None
    downloads: str | Path | None
    permissions: Sequence[str] | Mapping[str, PermissionState]
    activity: bool | ActivityOptions | None


def check_count(what: str, count: object) -> int:
    """Return `count`. Raises InvalidArgumentError when it is not a whole number above 0."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InvalidArgumentError(what=what, given=repr(count)[:80], expected="a whole number, 1 or more")
    return count


def _check_members(member: LaunchedBrowsers | RemoteBrowsers) -> None:
    if member.pages is not None:
        check_count("pages", member.pages)
    weight = member.weight
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < math.inf:
        raise InvalidArgumentError(what="weight", given=repr(weight)[:80], expected="a number, more than 0")


@attrs.frozen
class LaunchedBrowsers:
    """Browsers of one kind that the pool launches and ends, each with a temporary profile.

    `count`: how many at once. `pages`: pages at once in each, None as the pool says. `weight`: a browser of weight
    2 is given twice the share of its room that one of weight 1 is given. `options`: what `cdpengine.launch` takes.
    """

    count: int = 1
    pages: int | None = None
    weight: float = 1.0
    options: LaunchOptions = attrs.field(factory=LaunchOptions)

    def __attrs_post_init__(self) -> None:
        check_count("count", self.count)
        _check_members(self)
        if "user_data_dir" in self.options:
            raise InvalidArgumentError(
                what="options", given="user_data_dir", expected="none: browsers of a pool share no profile"
            )

    @property
    def own(self) -> bool:
        """Whether its browsers are processes that this program ends."""
        return True

    def open(self) -> AbstractAsyncContextManager[Browser]:
        """Launch one of them."""
        return launch(**self.options)

    def __str__(self) -> str:
        return "launched"


def _count_headers(headers: Mapping[str, str] | None) -> str:
    return f"<{len(headers or ())} headers>"


@attrs.frozen
class RemoteBrowsers:
    """Browsers that others run: at "http://host:port", or "ws(s)://..." with a token in it.

    `connections`: how many connections at once; each counts as one browser of the pool. A service that gives a
    browser to each connection (browserless) is used so, and a browser is replaced there by connecting again. At
    Chrome's own endpoint all of them reach the same browser. `pages` and `weight` as in LaunchedBrowsers;
    `headers` go along when connecting. `timeout` (seconds) is for one connection.
    """

    endpoint: str = attrs.field(repr=redact_endpoint)
    connections: int = 1
    pages: int | None = None
    weight: float = 1.0
    headers: Mapping[str, str] | None = attrs.field(default=None, repr=_count_headers)
    timeout: float = 30.0

    def __attrs_post_init__(self) -> None:
        check_endpoint(self.endpoint)
        check_count("connections", self.connections)
        _check_members(self)
        check_seconds("timeout", self.timeout)

    @property
    def count(self) -> int:
        """How many browsers at once."""
        return self.connections

    @property
    def own(self) -> bool:
        """Whether its browsers are processes that this program ends."""
        return False

    def open(self) -> AbstractAsyncContextManager[Browser]:
        """Connect to one of them."""
        return connect(self.endpoint, headers=self.headers, timeout=self.timeout)

    def __str__(self) -> str:
        return redact_endpoint(self.endpoint).partition("?")[0]


Members = LaunchedBrowsers | RemoteBrowsers


@attrs.frozen
class BrowserLimits:
    """When a browser of a pool is replaced, while the others go on.

    - `leases`: after it has given so many pages. `age`: after so many seconds.
    - `memory`: when its process and all below it take more bytes. Of launched browsers, on Linux.
    - `hung_after`: when it has not answered for so many seconds.
    - `retire_within`: for the first three, its pages are waited for, so many seconds; then their leases end.
    """

    leases: int | None = None
    age: float | None = None
    memory: int | None = None
    hung_after: float = 20.0
    retire_within: float = 30.0

    def __attrs_post_init__(self) -> None:
        if self.leases is not None:
            check_count("leases", self.leases)
        if self.memory is not None:
            check_count("memory", self.memory)
            if not can_measure():
                raise InvalidArgumentError(
                    what="memory", given=str(self.memory), expected="None: it can be measured on Linux alone"
                )
        for what in ("age", "hung_after", "retire_within"):
            seconds: Any = getattr(self, what)
            if seconds is not None:
                check_seconds(what, seconds)


def choose_members(browsers: object, options: LaunchOptions | None) -> tuple[Members, ...]:
    """Return the members behind what was given: a number of browsers to launch, or members themselves."""
    if isinstance(browsers, int):
        return (LaunchedBrowsers(check_count("browsers", browsers), options=options or LaunchOptions()),)
    members = (browsers,) if isinstance(browsers, LaunchedBrowsers | RemoteBrowsers) else browsers
    if not isinstance(members, Sequence) or isinstance(members, str | bytes) or not members:
        raise InvalidArgumentError(
            what="browsers",
            given=f"a {type(browsers).__name__}" if not isinstance(browsers, Sequence) else "nothing",
            expected="a number, or LaunchedBrowsers and RemoteBrowsers",
        )
    for member in members:
        if not isinstance(member, LaunchedBrowsers | RemoteBrowsers):
            raise InvalidArgumentError(
                what="browsers",
                given=f"a {type(member).__name__}",
                expected="LaunchedBrowsers or RemoteBrowsers",
            )
    if options is not None:
        raise InvalidArgumentError(
            what="launch",
            given="options",
            expected="None beside members: LaunchedBrowsers has options",
        )
    return tuple(members)
