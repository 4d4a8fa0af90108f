"""Shared options of commands: the choice of a browser, URLs, one page to work on, and files to write.

Rule: an impossible value is refused while the command line is parsed, before a browser starts. An existing file
is refused with exit status 2, unless --force is given. The same applies when a file is written, in case it was
created meanwhile. "-" is standard output where a command documents it. Devices and named pipes are written
directly.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import attrs
import click
import trio

from cdpengine.errors import EngineError
from cdpengine.shell import client

if TYPE_CHECKING:
    from cdpengine import ActivityOptions, Browser, Page


CLOSE_GRACE = 2.0
"""Timeout for closing our page in a running browser at the end of the command, in seconds."""

F = TypeVar("F", bound=Callable[..., Any])


class Failed(Exception):
    """The command has printed a failure as its result."""


_VIEWPORT = "cdpengine.viewport"


def chosen_viewport() -> tuple[int, int] | None:
    """Return the value of --viewport of the running command."""
    from cdpengine._emulation.options import DEFAULT_VIEWPORT

    context = click.get_current_context(silent=True)
    meta: dict[str, Any] = {} if context is None else context.meta
    viewport: tuple[int, int] | None = meta.get(_VIEWPORT, DEFAULT_VIEWPORT)
    return viewport


def _take_viewport(ctx: click.Context, _param: click.Parameter, value: tuple[int, int] | None) -> None:
    ctx.meta[_VIEWPORT] = value


@attrs.frozen
class Source:
    """The browser to use: a running one at `endpoint`, or one to start (`executable`, None for any).

    `viewport` is the viewport of the pages that the command opens, from --viewport.
    """

    executable: str | None
    endpoint: str | None
    viewport: tuple[int, int] | None = attrs.field(factory=chosen_viewport)

    def __attrs_post_init__(self) -> None:
        if self.executable is not None and self.endpoint is not None:
            raise click.UsageError(
                "--browser starts a browser and --endpoint uses a running one; give only one"
            )

    @asynccontextmanager
    async def open(
        self,
        *,
        headless: bool = True,
        transport: Literal["websocket", "pipe"] | None = None,
        debugging_port: int | None = None,
    ) -> AsyncIterator[Browser]:
        """Start the browser with these options of `launch`, or connect to it.

        A started browser ends with the block.
        """
        import cdpengine

        if self.endpoint is not None:
            async with cdpengine.connect(self.endpoint, viewport=self.viewport) as browser:
                yield browser
        else:
            async with cdpengine.launch(
                executable=self.executable,
                headless=headless,
                transport=transport,
                debugging_port=debugging_port,
                viewport=self.viewport,
            ) as browser:
                yield browser

    @asynccontextmanager
    async def open_page(
        self, url: str | None, *, timeout: float, activity: ActivityOptions | None = None
    ) -> AsyncIterator[Page]:
        """Open a new tab and load `url` in it within `timeout` seconds; without a URL, use the first page.

        `activity` configures the recording of the new tab's activity. The new tab is closed with the block.
        """
        async with self.open() as browser:
            if url is None:
                yield await browser.wait_for_page(timeout=timeout)
                return
            page = await browser.new_page(activity=activity)
            try:
                await page.goto(url, timeout=timeout)
                yield page
            finally:
                # A browser that we started ends anyway; a running one must not keep our tab.
                if self.endpoint is not None:
                    with trio.move_on_after(CLOSE_GRACE, shield=True), contextlib.suppress(EngineError):
                        await page.close()


def state_folder() -> Path:
    """Return the user's folder in which commands keep persistent state."""
    return Path(client.state_folder())


# These options have the effect of the environment variables, for this process.


def _check_new_files(ctx: click.Context, param: click.Parameter, named: Path, count: int) -> None:
    from cdpengine.debug.recording.recording_file import number_recording

    for number in range(1, count + 1):
        check_new_file(ctx, param, number_recording(named, number))


def _take_record(recordings: int, ctx: click.Context, param: click.Parameter, value: Path | None) -> None:
    if value is not None:
        _check_new_files(ctx, param, value, recordings)
        os.environ["CDPENGINE_RECORD"] = str(value)


def trace_option(command: F, *, traces: int = 1, new: bool = True) -> F:
    """Add --trace. With `new`, an existing file is refused; otherwise the trace takes the next free number."""

    def take(ctx: click.Context, param: click.Parameter, value: Path | None) -> None:
        if value is not None:
            _check_new_files(ctx, param, value, traces if new else 0)
            os.environ["CDPENGINE_TRACE"] = str(value.absolute())

    numbered = "" if new else " If FILE exists, the trace is FILE-2, and so on."
    return click.option(
        "--trace",
        metavar="FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        expose_value=False,
        callback=take,
        help=f"Write a step trace to FILE (.zip), for cdpengine trace view.{numbered}",
    )(command)


def _take_flag(name: str) -> Callable[[click.Context, click.Parameter, bool], None]:
    """Return a callback that sets an environment variable to "1" if its flag is given."""

    def take(_ctx: click.Context, _param: click.Parameter, value: bool) -> None:
        if value:
            os.environ[name] = "1"

    return take


def record_options(command: F, *, recordings: int = 1) -> F:
    """Add --trace, --record, --unredacted, --keep-arguments and --force.

    `recordings` is the maximum number of browsers that the command opens.
    """
    command = click.option(
        "--keep-arguments",
        is_flag=True,
        expose_value=False,
        callback=_take_flag("CDPENGINE_RECORD_KEEP_ARGUMENTS"),
        help="With --record or --trace: keep the arguments and results of scripts.",
    )(command)
    command = click.option(
        "--unredacted",
        is_flag=True,
        expose_value=False,
        callback=_take_flag("CDPENGINE_RECORD_UNREDACTED"),
        help="With --record or --trace: write secrets too.",
    )(force_option(command))
    command = trace_option(command, traces=recordings)
    return click.option(
        "--record",
        metavar="FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        expose_value=False,
        callback=partial(_take_record, recordings),
        help="Record the protocol's traffic to FILE (JSON lines; .zst compresses), secrets redacted.",
    )(command)


class _Viewport(click.ParamType):  # type: ignore[type-arg]
    """A width and a height, as 1280x720, or none."""

    name = "WIDTHxHEIGHT|none"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int] | None:
        from cdpengine._emulation.options import parse_viewport

        try:
            return parse_viewport(str(value))
        except EngineError as error:
            self.fail(str(error), param, ctx)


def viewport_option(command: F, *, expose_value: bool = True) -> F:
    """Add --viewport. Its value is passed to the command, or else to `Source`."""
    return click.option(
        "--viewport",
        type=_Viewport(),
        default="1280x720",
        show_default=True,
        expose_value=expose_value,
        callback=None if expose_value else _take_viewport,
        help="The viewport of new pages, in CSS pixels; none: the window's.",
    )(command)


def browser_options(command: F, *, recordings: int = 1) -> F:
    """Add --browser, --endpoint and --viewport, and the options of `record_options`."""
    command = record_options(command, recordings=recordings)
    command = viewport_option(command, expose_value=False)
    command = click.option(
        "--endpoint",
        metavar="URL",
        help="Use a running browser: http://host:port or ws://... It keeps running.",
    )(command)
    return click.option(
        "--browser",
        "executable",
        metavar="PATH|CHANNEL",
        help="The browser to start: a path, or chrome, chromium, edge, brave.",
    )(command)


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, errors included.")


def timeout_option(what: str, default_ms: int) -> Callable[[F], F]:
    """Add --timeout-ms, a whole number of milliseconds; the command gets `timeout_ms`."""
    return click.option(
        "--timeout-ms",
        type=click.IntRange(min=1),
        default=default_ms,
        show_default=True,
        metavar="N",
        help=f"Timeout for {what}, in milliseconds.",
    )


def absolute_url(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Return a URL; refuse a host without a scheme, or a path, and suggest the intended URL."""
    from cdpengine.act.commands.own_browser import url_problem

    problem, suggestion = url_problem(value)
    if problem:
        raise click.BadParameter(f"{value!r} {problem}; expected {suggestion}", ctx, param)
    return value


url_argument = click.argument("url", callback=absolute_url)


# --- files to write ------------------------------------------------------------------------------------------

_FORCE = "cdpengine.force"
_NAMED = "cdpengine.files"


def may_overwrite() -> bool:
    """Return whether the running command has --force."""
    return bool(click.get_current_context().meta.get(_FORCE))


def force_option(command: F) -> F:
    """Add --force, unless another option of the command has added it."""
    if any(each.name == "force" for each in getattr(command, "__click_params__", ())):
        return command
    return click.option(
        "--force",
        is_flag=True,
        is_eager=True,  # processed before the file options
        expose_value=False,
        callback=_take_force,
        help="Overwrite existing files.",
    )(command)


def output_option(text: str, *, dash: bool = False, default: str | None = None) -> Callable[[F], F]:
    """Add --output and --force. `dash`: "-" means standard output. Without a `default`, --output is required."""

    def add(command: F) -> F:
        return click.option(
            "--output",
            "-o",
            type=click.Path(dir_okay=False, path_type=Path, allow_dash=dash),
            metavar="FILE",
            **({"required": True} if default is None else {"default": default}),
            callback=new_file,
            help=text,
        )(force_option(command))

    return add


def new_file(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:
    """Return a file name; refuse an existing file, and one that another option also names."""
    if value is not None and str(value) != "-":
        check_new_file(ctx, param, value)
    return value


def check_new_file(ctx: click.Context, param: click.Parameter, path: Path) -> None:
    """Refuse the files that `new_file` refuses."""
    from cdpengine._launch.private_files import is_taken

    if not path.absolute().parent.is_dir():
        raise click.BadParameter(f"{path}: the folder does not exist", ctx, param)
    if not ctx.meta.get(_FORCE) and is_taken(path):
        raise click.BadParameter(f"{path} exists already; --force overwrites it", ctx, param)
    named: dict[str, str] = ctx.meta.setdefault(_NAMED, {})
    option = param.opts[0]
    other = named.setdefault(os.path.realpath(path), option)
    if other != option and not path.is_char_device():
        raise click.BadParameter(f"{path} is also the file of {other}; use different files", ctx, param)


def _take_force(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[_FORCE] = True
        # The recording that the environment requests is a file of the command, too.
        os.environ["CDPENGINE_RECORD_OVERWRITE"] = "1"
