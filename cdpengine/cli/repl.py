"""`cdpengine repl`: a protocol console, for people at a terminal and for scripts from standard input.

Rule: at the prompt, Ctrl-C ends the running command and its script in the page, and the console continues. A
script from standard input ends at Ctrl-C, and at its first failed line, with that line's exit status. Nothing
blocks its end: a lost connection ends a script that waits for its next line.
"""

from __future__ import annotations

import codecs
import io
import os
import select
import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, TextIO
from urllib.parse import urlsplit

import click
import trio

from cdpengine.cli.options import Source, record_options
from cdpengine.cli.output import say, say_lines
from cdpengine.errors import EngineError, InvalidArgumentError
from cdpengine.errors.texts import escape_line

if TYPE_CHECKING:
    from cdpengine import Browser
    from cdpengine._protocol.session import Session
    from cdpengine.debug.explorer.interpreter import Interpreter, Output
    from cdpengine.debug.explorer.protocol import Protocol


_COLOURED_AT_MOST = 200_000
"""Maximum length of a coloured result, in characters: colouring takes time."""


@click.command(short_help="A console on the protocol, with completion.")
@click.argument("endpoint", required=False)
@click.option(
    "--browser",
    "executable",
    metavar="PATH|CHANNEL",
    help="The browser to start: a path, or chrome, chromium, edge, brave.",
)
@click.option("--headed", is_flag=True, help="Start the browser with a window.")
@record_options
def repl(endpoint: str | None, executable: str | None, headed: bool) -> None:
    """Send commands, watch events and act on pages, at a prompt or line by line from standard input.

    ENDPOINT is a running browser (http://host:port or ws://...), which keeps running. Without it, a browser is
    started, and ends with the console. At the prompt, "?" is help, Tab completes, Ctrl-C stops the running line
    (and its script in the page), Ctrl-D leaves.

    A script ends at its first failed line, with exit status 1, 2 if the line was invalid, 3 if an evaluation
    timed out, and 130 at Ctrl-C. If the browser ends before the console, it is 1, also at the prompt.

    \b
    Examples:
      cdpengine repl http://127.0.0.1:9222
      echo 'Browser.getVersion' | cdpengine repl
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    trio.run(_run, Source(executable, endpoint), headed)


async def _run(source: Source, headed: bool) -> None:
    from cdpengine._nursery import open_body_nursery
    from cdpengine.debug.explorer.interpreter import Interpreter

    # A program can be started with its standard input or output closed.
    interactive = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))
    interrupted = False
    async with _open_browser(source, headed) as browser, open_body_nursery() as nursery:
        protocol = await _protocol(source, browser)
        notice = _complain if interactive else _report
        console = Interpreter(browser, protocol, nursery, say_lines, notice, unattended=not interactive)
        try:
            if interactive:
                await _converse(console)
            else:
                interrupted = await run_script(console, _report)
        finally:
            nursery.cancel_scope.cancel()
    if interrupted:
        raise KeyboardInterrupt


def _report(text: str) -> None:
    """Print a note on standard error: a script's output is for programs."""
    say_lines(text, err=True)


@asynccontextmanager
async def _open_browser(source: Source, headed: bool) -> AsyncIterator[Browser]:
    # Chrome serves the protocol's description, for completion and help, only over a port.
    async with source.open(headless=not headed, debugging_port=0) as browser:
        yield browser


def _place(browser: Browser) -> str:
    """Return the address of the browser for other tools, if it has a port."""
    name = browser.connections[0].name
    return (
        name if browser.endpoint is None or "://" in name else f"http://{urlsplit(browser.endpoint).netloc}"
    )


async def _protocol(source: Source, browser: Browser) -> Protocol | None:
    """Return the browser's protocol; if it is unavailable, print a note and return None."""
    from cdpengine.debug.explorer.protocol import fetch_protocol

    try:
        return await fetch_protocol(source.endpoint or browser.endpoint or "", timeout=10)
    except EngineError as error:
        say_lines(f"no completion and no help: {error}", err=True)
        return None


# --- people --------------------------------------------------------------------------------------------------


async def _converse(console: Interpreter) -> None:
    from cdpengine._nursery import open_body_nursery
    from cdpengine.cli.repl_prompt import Prompt, Stopped, history_path
    from cdpengine.debug.explorer.console import complete
    from cdpengine.debug.explorer.interpreter import Quit

    protocol = console.protocol
    prompt = Prompt(
        lambda line: complete(
            line, protocol, words={"targets": console.target_numbers, "refs": console.refs}
        ),
        history_path(),
    )
    browser = console.browser
    browser.session.on_end(prompt.stop)
    # Handle the signal throughout: as KeyboardInterrupt, it could end the wait for an editor that keeps
    # running, and two editors would share the terminal.
    with trio.open_signal_receiver(signal.SIGINT) as signals:
        interrupts = _Interrupts(lambda: prompt.editing)
        say(f"{browser.version.product} at {_place(browser)}; ? is help, Ctrl-D leaves")
        async with open_body_nursery() as nursery:
            nursery.start_soon(interrupts.take, signals)
            while True:
                try:
                    line = await prompt.ask(escape_line(f"{console.place}> "))
                except KeyboardInterrupt:
                    continue  # at the prompt Ctrl-C is a key, and clears the line
                except (EOFError, Stopped):
                    break
                try:
                    await _run_line(console, line, interrupts)
                except Quit:
                    break
            nursery.cancel_scope.cancel()
    if error := browser.session.error():
        raise error


class _Interrupts:
    """Ctrl-C as a signal: it cancels the command that is running or was just entered."""

    def __init__(self, editing: Callable[[], bool]) -> None:
        self._editing = editing
        self._scope = trio.CancelScope()

    async def take(self, signals: AsyncIterator[int]) -> None:
        """Handle the signals."""
        async for _ in signals:
            if not self._editing():
                self._scope.cancel()

    @contextmanager
    def stop_on_signal(self) -> Iterator[trio.CancelScope]:
        """Cancel the block on the signal, even if it arrived just after the line was entered."""
        with self._scope as scope:
            yield scope
        self._scope = trio.CancelScope()


async def _run_line(console: Interpreter, line: str, interrupts: _Interrupts) -> None:
    """Run one line and print its result; Ctrl-C cancels it."""
    with interrupts.stop_on_signal() as running:
        try:
            output = await console.run(line)
        except InvalidArgumentError as error:
            _complain(str(error))
        except EngineError as error:
            _complain(f"{type(error).__name__}: {error}")
        else:
            if output is not None:
                _show(output)
    if running.cancelled_caught:
        _complain(str(console.stopped))


def _complain(text: str) -> None:
    say_lines(text, paint=partial(click.style, fg="red") if _colours() else None)


def _colours() -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _show(output: Output) -> None:
    coloured = output.kind == "json" and _colours() and len(output.text) <= _COLOURED_AT_MOST
    say_lines(output.text, paint=_colour if coloured else None)


def _colour(text: str) -> str:
    from pygments.formatters.terminal import TerminalFormatter
    from pygments.lexers.data import JsonLexer

    coloured = io.StringIO()
    TerminalFormatter().format(JsonLexer().get_tokens(text), coloured)
    return coloured.getvalue().rstrip("\n")


# --- scripts -------------------------------------------------------------------------------------------------

_AT_ONCE = 65536
"""Bytes per read."""


async def run_script(console: Interpreter, report: Callable[[str], None]) -> bool:
    """Run the lines of standard input to the end, to !quit, or to the first failure.

    Return whether Ctrl-C ended it.

    Raises the error of a line, and ConnectionLostError if the browser ended while waiting for a line. `report`
    reports the number of the line.
    """
    from cdpengine._nursery import open_body_nursery

    interrupted = False
    with trio.open_signal_receiver(signal.SIGINT) as signals:
        async with open_body_nursery() as nursery:

            async def stop() -> None:
                nonlocal interrupted
                async for _ in signals:
                    interrupted = True
                    nursery.cancel_scope.cancel()

            nursery.start_soon(stop)
            await _run_lines(console, report)
            nursery.cancel_scope.cancel()
    return interrupted


async def _run_lines(console: Interpreter, report: Callable[[str], None]) -> None:
    from cdpengine.debug.explorer.interpreter import Quit

    number = 0
    async with aclosing(_lines(console)) as lines:
        async for line in lines:
            number += 1
            try:
                if output := await console.run(line):
                    say_lines(output.text)
            except Quit:
                return
            except EngineError:
                report(f"line {number} of the script failed")
                raise
            except trio.Cancelled:
                report(f"line {number} of the script: {console.stopped}")
                raise


async def _lines(console: Interpreter) -> AsyncGenerator[str, None]:
    """Yield the lines of standard input as they arrive. Raises InvalidArgumentError for undecodable bytes."""
    stdin: TextIO | None = sys.stdin
    if stdin is None:
        return
    source = _Input(stdin.fileno(), console.browser.session)
    decoder = codecs.getincrementaldecoder(stdin.encoding or "utf-8")("strict")
    text = ""
    while True:
        data = await source.read()
        try:
            text += decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            raise InvalidArgumentError(
                what="standard input", given="bytes that are not text", expected=error.encoding
            ) from None
        *whole, text = text.split("\n")
        for line in whole:
            yield line
        if not data:
            if text:
                yield text
            return


class _Input:
    """The bytes of a script, while its browser is running."""

    def __init__(self, descriptor: int, session: Session) -> None:
        self._descriptor = descriptor
        self._session = session
        self._waiting = trio.CancelScope()
        session.on_end(self._stop_waiting)

    async def read(self) -> bytes:
        """Return the next bytes; b"" at the end.

        Raises ConnectionLostError if the browser ends first.
        """
        with trio.CancelScope() as self._waiting:
            if self._session.ended:
                self._stop_waiting()
            # In a thread, and not through sys.stdin: a thread that waits forever would hold its lock at exit.
            return await trio.to_thread.run_sync(os.read, self._descriptor, _AT_ONCE, abandon_on_cancel=True)
        error = self._session.error()
        assert error is not None
        raise error

    def _stop_waiting(self) -> None:
        # Available input is read: a line, which fails with its error, or the end of a finished script.
        if not _is_readable(self._descriptor):
            self._waiting.cancel()


def _is_readable(descriptor: int) -> bool:
    try:
        return bool(select.select([descriptor], [], [], 0)[0])
    except OSError:  # Windows supports only sockets
        return False
