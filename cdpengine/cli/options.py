"""What several commands share: the choice of a browser, URLs, one page to work on, and files to write.

Rule: a value that cannot work is refused while the command line is parsed, before any browser starts. A file that
exists is refused by name, with exit status 2, unless --force is given; the same holds at the moment when it is
written, for a file that came up meanwhile. "-" is standard output where a command says so; devices and named pipes
are written to as they are.
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
from cdpengine.shell import places
from cdpengine.shell.urls import url_problem

if TYPE_CHECKING:
    from cdpengine import ActivityOptions, Browser, Page


CLOSE_GRACE = 2.0
"""Seconds that closing our page in somebody else's browser may take when the command ends."""

F = TypeVar("F", bound=Callable[..., Any])


class SharedCommand(click.Command):
    """A command that loads a URL, and by the same name a verb for the page of the browser that stays."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help of the verb below that of the command."""
        from cdpengine.shell.usage import verb_help

        super().format_epilog(ctx, formatter)
        assert self.name is not None
        formatter.write("\nFor the page of the browser that `cdpengine open` started:\n\n")
        formatter.write("".join(f"  {line}".rstrip() + "\n" for line in verb_help(self.name).splitlines()))


class Failed(Exception):
    """The command did its work and the result is a failure, which was printed already."""


_VIEWPORT = "cdpengine.viewport"


def given_viewport() -> tuple[int, int] | None:
    """Return what --viewport of the command that runs says."""
    from cdpengine._emulation.options import DEFAULT_VIEWPORT

    context = click.get_current_context(silent=True)
    given: dict[str, Any] = {} if context is None else context.meta
    viewport: tuple[int, int] | None = given.get(_VIEWPORT, DEFAULT_VIEWPORT)
    return viewport


def _take_viewport(ctx: click.Context, _param: click.Parameter, value: tuple[int, int] | None) -> None:
    ctx.meta[_VIEWPORT] = value


@attrs.frozen
class Source:
    """Which browser to use: a running one at `endpoint`, or one to start (`executable`, None for any).

    `viewport` is that of the pages that the command opens: what --viewport says.
    """

    executable: str | None
    endpoint: str | None
    viewport: tuple[int, int] | None = attrs.field(factory=given_viewport)

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
        """Start the browser, as these options of `launch` say, or connect to it.

        One that was started ends with the block.
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
        """Open one new tab and load `url` in it within `timeout` seconds; without a URL, take the first page.

        What the new tab does is kept as `activity` says. A tab that was opened is closed with the block.
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
                # A browser that was started by us ends anyway; a running one must not be left with our tab.
                if self.endpoint is not None:
                    with trio.move_on_after(CLOSE_GRACE, shield=True), contextlib.suppress(EngineError):
                        await page.close()


def state_folder() -> Path:
    """Return where commands keep what lasts: in the user's folder for state."""
    return Path(places.state_folder())


# The options say the same as the environment variables, for this process.


def _take_record(recordings: int, ctx: click.Context, param: click.Parameter, value: Path | None) -> None:
    if value is not None:
        from cdpengine.debug.recording.recording_file import number_recording

        for number in range(1, recordings + 1):
            check_new_file(ctx, param, number_recording(value, number))
        os.environ["CDPENGINE_RECORD"] = str(value)


def _take_flag(name: str) -> Callable[[click.Context, click.Parameter, bool], None]:
    """Return what sets an environment variable of that name to "1" where a flag is given."""

    def take(_ctx: click.Context, _param: click.Parameter, value: bool) -> None:
        if value:
            os.environ[name] = "1"

    return take


def record_options(command: F, *, recordings: int = 1) -> F:
    """Add --record, --unredacted, --keep-arguments and --force.

    `recordings` is how many browsers the command opens at most.
    """
    command = click.option(
        "--keep-arguments",
        is_flag=True,
        expose_value=False,
        callback=_take_flag("CDPENGINE_RECORD_KEEP_ARGUMENTS"),
        help="With --record: keep the texts that scripts are given and return.",
    )(command)
    command = click.option(
        "--unredacted",
        is_flag=True,
        expose_value=False,
        callback=_take_flag("CDPENGINE_RECORD_UNREDACTED"),
        help="With --record: write secrets too.",
    )(force_option(command))
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
    """Add --viewport. Where the command does not get its value, `Source` does."""
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
    """Add --browser, --endpoint and --viewport, and what `record_options` adds."""
    command = record_options(command, recordings=recordings)
    command = viewport_option(command, expose_value=False)
    command = click.option(
        "--endpoint",
        metavar="URL",
        help="Use a running browser: http://host:port or ws://... It is left running.",
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
        help=f"Milliseconds that {what} may take.",
    )


def absolute_url(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Pass a URL on; refuse a host without a scheme, or a path, with what was probably meant."""
    problem, meant = url_problem(value)
    if problem:
        advice = f"; did you mean {meant}?" if meant else ""
        raise click.BadParameter(f"{value!r} {problem}{advice}", ctx, param)
    return value


url_argument = click.argument("url", callback=absolute_url)


# --- files to write ------------------------------------------------------------------------------------------

_FORCE = "cdpengine.force"
_NAMED = "cdpengine.files"


def may_overwrite() -> bool:
    """Say whether the command that runs was given --force."""
    return bool(click.get_current_context().meta.get(_FORCE))


def force_option(command: F) -> F:
    """Add --force, unless another option of the command has brought it along."""
    if any(each.name == "force" for each in getattr(command, "__click_params__", ())):
        return command
    return click.option(
        "--force",
        is_flag=True,
        is_eager=True,  # known before the files are looked at
        expose_value=False,
        callback=_take_force,
        help="Overwrite files that exist.",
    )(command)


def output_option(text: str, *, dash: bool = False, default: str | None = None) -> Callable[[F], F]:
    """Add --output and --force. `dash`: "-" is standard output. Without a `default` it has to be given."""

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
    """Pass a file's name on; refuse that of a file that exists, and one that another option names too."""
    if value is not None and str(value) != "-":
        check_new_file(ctx, param, value)
    return value


def check_new_file(ctx: click.Context, param: click.Parameter, path: Path) -> None:
    """Refuse as `new_file` does."""
    from cdpengine._launch.private_files import is_taken

    if not path.absolute().parent.is_dir():
        raise click.BadParameter(f"{path}: there is no such folder", ctx, param)
    if not ctx.meta.get(_FORCE) and is_taken(path):
        raise click.BadParameter(f"{path} exists already; --force overwrites it", ctx, param)
    named: dict[str, str] = ctx.meta.setdefault(_NAMED, {})
    option = param.opts[0]
    other = named.setdefault(os.path.realpath(path), option)
    if other != option and not path.is_char_device():
        raise click.BadParameter(
            f"{path} is the file of {other} too; give each a file of its own", ctx, param
        )


def _take_force(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[_FORCE] = True
        # What the environment has recorded is a file of the command as well.
        os.environ["CDPENGINE_RECORD_OVERWRITE"] = "1"
