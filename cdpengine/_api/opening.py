"""launch: from nothing to a Browser, and back to nothing.

Rule: after the block nothing is left of what it made: no process, no profile, no session, no task; however it
ends. What the body raises leaves as itself. What a browser's start does not need is imported while that goes on.
"""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import trio

from cdpengine._budget import Budget, check_seconds
from cdpengine._collector import pause_collector
from cdpengine._emulation.options import DEFAULT_VIEWPORT, check_viewport
from cdpengine._launch.find import find_browser
from cdpengine._launch.flags import Transport
from cdpengine._launch.obstacles import Explanation
from cdpengine._launch.process import ENDED_EARLY, BrowserProcess, LaunchOptions, start_browser
from cdpengine._nursery import open_body_nursery
from cdpengine._paths import to_path
from cdpengine.errors import (
    ConnectFailedError,
    ConnectionLostError,
    InvalidArgumentError,
    LaunchFailedError,
    RemoteError,
    Shortage,
    packages_named,
    shortage_of,
    shortages_named,
)

if TYPE_CHECKING:
    from cdpengine._activity.bodies import ActivityOptions
    from cdpengine._api.browser import Browser

_CLOSE_TIMEOUT = 1.5
"""Seconds that Chrome gets to close itself when asked, before its process is ended."""

_PASSWORD = re.compile(r"://[^/?#\s:@]*:([^/?#\s]+)@")
_EXIT_TIMEOUT = 1.0
"""Seconds that a browser gets to be seen to have ended, when its connection ended while it was starting."""


@asynccontextmanager
async def launch(
    *,
    executable: str | Path | None = None,
    headless: bool = True,
    args: Sequence[str] = (),
    user_data_dir: str | Path | None = None,
    transport: Literal["websocket", "pipe"] | None = None,
    debugging_port: int | None = None,
    env: Mapping[str, str] | None = None,
    recover_after: float | None = None,
    evaluate_enabled: bool = True,
    computed_accessibility: bool = True,
    viewport: tuple[int, int] | None = DEFAULT_VIEWPORT,
    activity: bool | ActivityOptions | None = None,
    timeout: float = 30,
) -> AsyncIterator[Browser]:
    """Start a browser and give it; end it, and remove its temporary profile, when the block ends.

    `executable` is a path or a channel ("chrome", "chromium", "edge", "brave"); None takes CDPENGINE_BROWSER
    or the first one installed. `args` are further switches. `user_data_dir` is a profile to use and keep.
    `env` replaces the environment. `timeout` (seconds) is for the start.

    `transport` None takes what CDPENGINE_TRANSPORT names, else the pipe, which opens no port; Windows has the
    websocket alone. `debugging_port` opens that port of loopback for other tools (0: Chrome chooses), beside the
    pipe too; `browser.endpoint` is where it is. Every program of this machine can come to it.

    `recover_after` (seconds) has every page watched: one that does not answer for so long has its dialog dismissed
    and its script terminated, an evaluate's as well as the page's own. `evaluate_enabled=False` refuses every
    evaluate with EvaluationDisabledError; the engine's own scripts still run, in a world of their own.

    `computed_accessibility` switches on Blink's ComputedAccessibilityInfo: snapshots are several times faster, and
    pages can see it (`'computedRole' in Element.prototype`). False has them read from Chrome's accessibility tree.

    `viewport` is the width and height of all pages, in CSS pixels; None is the size of their windows.
    `new_context`, `new_page` and `page.emulation` take another one. Popups keep the size that a page gives them.

    `activity` has kept what all pages do, as `Browser.set_activity`: True, or an ActivityOptions.

    While there is a browser, SIGTERM and SIGHUP cancel the whole trio program where they would have ended it on
    the spot: every block is left, recordings get their last line, the browser ends. Then, within 30 s in any case,
    the process ends by that signal; code after `trio.run` does not run. A second signal does not disturb this, a
    third ends the process at once. A handler of the program's own is left alone, an ignored signal stays ignored.
    In another thread, and on SIGKILL, the browser ends because a pipe from this process closes, and the next
    launch of this user removes its profile. Windows has none of this, and such a profile stays there.

    Raises BrowserNotFoundError, LaunchFailedError with the browser's last output, InvalidArgumentError;
    RecordingFailedError and InvalidArgumentError for what CDPENGINE_RECORD names.
    """
    if recover_after is not None:
        check_seconds("recover_after", recover_after)
    size = check_viewport(viewport)
    activity_options = check_activity(activity)
    budget = Budget.start("launch the browser", timeout)
    options = LaunchOptions(
        find_browser(executable).path,
        headless,
        tuple(args),
        user_data_dir=None if user_data_dir is None else to_path("user_data_dir", user_data_dir),
        transport=choose_transport(transport),
        debugging_port=_checked_port(debugging_port),
        env=env,
        computed_accessibility=computed_accessibility,
    )
    check_recording()
    process: BrowserProcess | None = None

    def lacks(shortage: Shortage) -> LaunchFailedError:
        return LaunchFailedError(executable=str(options.executable), reason=str(shortage))

    with budget.scope() as starting, shortages_named(lacks) as started:
        async with (
            start_browser(options, meanwhile=_load_engine) as process,
            _name_early_end(process, options.executable) as ready,
            _attach(process, _passwords(args), evaluate_enabled=evaluate_enabled) as browser,
        ):
            starting.deadline = math.inf
            await trio.lowlevel.checkpoint_if_cancelled()  # it was over in the very last moment
            browser._refuse_downloads()  # noqa: SLF001 - no part of what users have
            browser._set_default_viewport(size)  # noqa: SLF001 - as above
            browser.set_activity(activity_options)
            started()
            ready()
            try:
                async with browser._watch_pages(recover_after):  # noqa: SLF001 - as above
                    yield browser
            finally:
                await _close(browser, process)
    if starting.cancelled_caught:
        raise _late(process, options.executable, timeout)


def _late(process: BrowserProcess | None, executable: Path, timeout: float) -> LaunchFailedError:
    late = f"it was not ready within {timeout:g} s"
    why = Explanation(late) if process is None else process.why_not_up(late)
    return LaunchFailedError(
        executable=str(executable),
        reason=why.reason,
        output=() if process is None else process.output_tail(),
        advice=why.advice,
    )


def check_activity(activity: bool | ActivityOptions | None) -> ActivityOptions | None:
    """Return the options of the pages' activity, None for none. Raises InvalidArgumentError."""
    if activity is None or activity is False:
        return None
    from cdpengine._activity.bodies import check_options

    return check_options(activity)


def choose_transport(given: Transport | None) -> Transport:
    """Return the transport of a browser that is started: the given one, CDPENGINE_TRANSPORT, or the pipe.

    Windows has no such pipe. Raises InvalidArgumentError.
    """
    named = os.environ.get("CDPENGINE_TRANSPORT") if given is None else given
    if named is None or named == "":
        return "websocket" if sys.platform == "win32" else "pipe"
    if named == "websocket":
        return "websocket"
    if named == "pipe":
        return "pipe"
    what = "transport" if given is not None else "CDPENGINE_TRANSPORT"
    raise InvalidArgumentError(what=what, given=repr(named)[:80], expected='"websocket" or "pipe"')


def _checked_port(port: int | None) -> int | None:
    if port is not None and (isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65_535):
        raise InvalidArgumentError(
            what="debugging_port", given=repr(port)[:80], expected="a port, 0 for one that is free, or None"
        )
    return port


def _load_engine() -> None:
    """Import the engine's modules. It takes about as long as a browser's start, and so happens during that."""
    with pause_collector():  # it finds nothing among modules, and takes a tenth of the time
        import cdpengine._api.attach  # noqa: F401


def _attach(
    process: BrowserProcess, secrets: Iterable[str], *, evaluate_enabled: bool
) -> AbstractAsyncContextManager[Browser]:
    from cdpengine._api.attach import attach

    return attach(process, secrets, evaluate_enabled=evaluate_enabled)


@asynccontextmanager
async def _name_early_end(process: BrowserProcess, executable: Path) -> AsyncIterator[Callable[[], None]]:
    """Until the given function is called, tell of a browser that ended as such, not by how that was met."""
    starting = True

    def ready() -> None:
        nonlocal starting
        starting = False

    try:
        yield ready
    except (ConnectFailedError, ConnectionLostError) as error:
        lacks = shortage_of(error) if starting else None
        if lacks is not None:
            raise LaunchFailedError(executable=str(executable), reason=str(lacks)) from error
        if starting:
            with trio.move_on_after(_EXIT_TIMEOUT, shield=True):
                await process.ended.wait()
        if not starting or process.returncode is None:
            raise
        why = process.why_not_up(ENDED_EARLY)
        raise LaunchFailedError(
            executable=str(executable),
            reason=why.reason,
            exit_code=process.returncode,
            output=process.output_tail(),
            advice=why.advice,
        ) from error


def _passwords(args: Sequence[str]) -> list[str]:
    """Return the passwords in switches such as "--proxy-server=http://user:password@host"."""
    return [found for each in args for found in _PASSWORD.findall(str(each))]


def check_recording() -> None:
    """Refuse before a browser starts what the recording that the environment asks for would be refused for."""
    if os.environ.get("CDPENGINE_RECORD"):
        with packages_named():
            import cdpengine.debug.recording.recorder  # noqa: F401 - what it lacks is said here
            from cdpengine.debug.recording.recording_file import check_environment_path

        check_environment_path()


async def _close(browser: Browser, process: BrowserProcess) -> None:
    """Ask Chrome to end itself, so that a kept profile is written whole. Gone already is as good.

    Where the program is cancelled, nobody reads the reply any more: that the process has ended is the answer then.
    """
    browser._state.closing = True  # noqa: SLF001 - no part of what users have
    with trio.move_on_after(_CLOSE_TIMEOUT, shield=True):
        async with open_body_nursery() as nursery:

            async def until_ended() -> None:
                await process.wait()
                nursery.cancel_scope.cancel()

            nursery.start_soon(until_ended)
            with suppress(ConnectionLostError, RemoteError):
                await browser.session.call("Browser.close")
