"""launch: start a browser, yield it, and remove everything at the end.

Rule: after the block nothing remains: no process, profile, session or task, however it ends. An exception of the
body is raised unchanged. Modules that are not needed to start the browser are imported while it starts.
"""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import trio

from cdpengine._budget import Budget, check_seconds
from cdpengine._checks import check_choice, check_count, check_number
from cdpengine._collector import pause_collector
from cdpengine._emulation.options import DEFAULT_VIEWPORT, check_viewport
from cdpengine._launch.find import find_browser
from cdpengine._launch.flags import Transport, opens_blank_page
from cdpengine._launch.obstacles import Explanation
from cdpengine._launch.process import ENDED_EARLY, BrowserProcess, LaunchOptions, start_browser
from cdpengine._nursery import open_body_nursery
from cdpengine._paths import to_path
from cdpengine.errors import (
    ConnectFailedError,
    ConnectionLostError,
    LaunchFailedError,
    RemoteError,
    Shortage,
    packages_named,
    shortage_of,
    shortages_named,
)
from cdpengine.errors.misuse import block
from cdpengine.errors.other_libraries import LAUNCH
from cdpengine.errors.texts import duration

if TYPE_CHECKING:
    from cdpengine._activity.options import ActivityOptions
    from cdpengine._api.browser import Browser

_CLOSE_TIMEOUT = 1.5
"""Time in seconds in which Chrome may close itself before its process is ended."""

_LONGEST_PAUSE = 60.0
"""Maximum of `slow_mo`, in seconds. A larger number is probably meant in milliseconds."""

_PASSWORD = re.compile(r"://[^/?#\s:@]*:([^/?#\s]+)@")
_EXIT_TIMEOUT = 1.0
"""Time in seconds to detect that the browser exited, after its connection ended during the start."""


@block("cdpengine.launch() as browser", LAUNCH)
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
    slow_mo: float = 0,
    timeout: float = 30,
) -> AsyncIterator[Browser]:
    """Start a browser. The end of the block ends it and removes its temporary profile.

    `executable` is a path or a channel ("chrome", "chromium", "edge", "brave"). None means CDPENGINE_BROWSER or
    the first installed browser. `args` are further switches. `user_data_dir` is a profile to use and keep. `env`
    replaces the environment. `timeout` (seconds) limits the start.

    `transport` None means CDPENGINE_TRANSPORT, or the pipe, which opens no port. Windows supports only the
    websocket. `debugging_port` opens that loopback port for other tools (0: Chrome chooses), with either
    transport. `browser.endpoint` is its address. Every program on this machine can connect to it.

    `recover_after` (seconds) watches every page. If a page does not respond for that time, its dialog is dismissed
    and its running script terminated, also a script of the page. `evaluate_enabled=False` refuses every evaluate
    with EvaluationDisabledError; the engine's own scripts still run in their isolated world.

    `computed_accessibility` enables Blink's ComputedAccessibilityInfo. It makes snapshots several times faster,
    and pages can detect it (`'computedRole' in Element.prototype`). False reads snapshots from Chrome's
    accessibility tree.

    `viewport` is the width and height of all pages in CSS pixels, or None for the size of their windows.
    `new_context`, `new_page` and `page.emulation` can override it. Popups keep the size that a page gives them.
    `activity` (True or an ActivityOptions) collects the activity of all pages, as `Browser.set_activity`.
    `slow_mo` is a pause before each action that sends input, in seconds, for people who watch. The action's
    timeout begins after it.

    While a browser runs, SIGTERM and SIGHUP cancel the whole trio program if the signal has no other handler.
    Every block is left, recordings get their last line, and the browser ends. The process then ends by that
    signal, after 30 s at most, and does not run the code after `trio.run`. A second signal changes nothing, a
    third ends the process immediately. Handlers of the program and ignored signals stay in place. In another
    thread, and on SIGKILL, the browser ends because a pipe from this process closes, and the user's next launch
    removes its profile. None of this applies to Windows, where such a profile remains.

    Raises LaunchFailedError, with the browser's last output, and InvalidArgumentError. An invalid CDPENGINE_RECORD
    raises FileNotWrittenError or InvalidArgumentError.
    """
    if recover_after is not None:
        check_seconds("recover_after", recover_after)
    size = check_viewport(viewport)
    activity_options = check_activity(activity)
    pause = check_pause(slow_mo)
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
            _report_early_exit(process, options.executable) as ready,
            _attach(process, _passwords(args), evaluate_enabled=evaluate_enabled) as browser,
        ):
            starting.deadline = math.inf
            await trio.lowlevel.checkpoint_if_cancelled()  # the timeout may expire at the last moment
            browser.internals.downloads.refuse()
            browser.internals.emulations.set_default_viewport(size)
            browser.set_activity(activity_options)
            browser.internals.slow_mo = pause
            # Programs that connect to the replay of a recorded start create their first page.
            is_recorded = bool(os.environ.get("CDPENGINE_RECORD"))
            if headless and user_data_dir is None and opens_blank_page(args) and not is_recorded:
                browser.internals.tabs.offer_start_page()
            started()
            ready()
            try:
                async with browser.internals.watch_pages(recover_after):
                    yield browser
            finally:
                process.disposable = browser.internals.disposable
                if not (process.disposable and user_data_dir is None):
                    await _close(browser, process)
    if starting.cancelled_caught:
        raise _make_timeout_error(process, options.executable, timeout)


def _make_timeout_error(
    process: BrowserProcess | None, executable: Path, timeout: float
) -> LaunchFailedError:
    late = f"it was not ready within {duration(timeout)}"
    why = Explanation(late) if process is None else process.why_not_up(late)
    return LaunchFailedError(
        executable=str(executable),
        reason=why.reason,
        output=() if process is None else process.output_tail(),
        advice=why.advice,
    )


def check_activity(activity: bool | ActivityOptions | None) -> ActivityOptions | None:
    """Convert the argument `activity=` to options, or None for no collection. Raises InvalidArgumentError."""
    if activity is None or activity is False:
        return None
    from cdpengine._activity.options import check_options

    return check_options(activity)


def check_pause(slow_mo: float) -> float:
    """Return `slow_mo` in seconds. Raises InvalidArgumentError."""
    return check_number("slow_mo", slow_mo, least=0, most=_LONGEST_PAUSE, unit="seconds")


def choose_transport(requested: Transport | None) -> Transport:
    """Return the transport of a launched browser: the argument, CDPENGINE_TRANSPORT, or the pipe.

    Windows does not support the pipe. Raises InvalidArgumentError.
    """
    named = os.environ.get("CDPENGINE_TRANSPORT") if requested is None else requested
    if named is None or named == "":
        return "websocket" if sys.platform == "win32" else "pipe"
    what = "transport" if requested is not None else "CDPENGINE_TRANSPORT"
    transports: tuple[Transport, ...] = get_args(Transport)
    return check_choice(what, named, transports)


def _checked_port(port: int | None) -> int | None:
    if port is None:
        return None
    expected = "a port, 0 for a free one, or None"
    return check_count("debugging_port", port, most=65_535, expected=expected)


def _load_engine() -> None:
    """Import the engine's modules while the browser starts, because both take about the same time."""
    with pause_collector():  # it frees nothing here, but takes a tenth of the time
        import cdpengine._api.attach  # noqa: F401


def _attach(
    process: BrowserProcess, secrets: Iterable[str], *, evaluate_enabled: bool
) -> AbstractAsyncContextManager[Browser]:
    from cdpengine._api.attach import attach

    return attach(process, secrets, evaluate_enabled=evaluate_enabled)


@asynccontextmanager
async def _report_early_exit(process: BrowserProcess, executable: Path) -> AsyncIterator[Callable[[], None]]:
    """Report an exit of the browser as LaunchFailedError, until the yielded function is called."""
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
    """Raise the errors of the recording that the environment requests, before a browser starts."""
    if os.environ.get("CDPENGINE_RECORD"):
        with packages_named():
            import cdpengine.debug.recording.recorder  # noqa: F401 - raises if a dependency is missing
            from cdpengine.debug.recording.recording_file import check_environment_path

        check_environment_path()


async def _close(browser: Browser, process: BrowserProcess) -> None:
    """Ask Chrome to close itself, so that it writes a kept profile completely.

    Does nothing if it has already exited. If the program is cancelled, no task reads the reply; then the exit of
    the process is the confirmation.
    """
    browser.internals.closing = True
    with trio.move_on_after(_CLOSE_TIMEOUT, shield=True):
        async with open_body_nursery() as nursery:

            async def until_ended() -> None:
                await process.wait()
                nursery.cancel_scope.cancel()

            nursery.start_soon(until_ended)
            with suppress(ConnectionLostError, RemoteError):
                await browser.session.call("Browser.close")
