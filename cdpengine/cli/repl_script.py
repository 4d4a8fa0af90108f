"""A script of the console: its lines, as standard input gives them, one after the other.

Rule: nothing holds up the end. Ctrl-C stops the line that runs, with the script that it gave its page, and a lost
connection ends a script that waits for its next line.
"""

from __future__ import annotations

import codecs
import os
import select
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TextIO

import trio

from cdpengine._nursery import open_body_nursery
from cdpengine._protocol.session import Session
from cdpengine.cli.output import say_lines
from cdpengine.debug.explorer.interpreter import Interpreter, Quit
from cdpengine.errors import EngineError, InvalidArgumentError

_AT_ONCE = 65536
"""Bytes that are read at once."""


async def run_script(console: Interpreter, tell: Callable[[str], None]) -> bool:
    """Run the lines of standard input to the end, to !quit, or to the first that fails. True when Ctrl-C ended it.

    Raises what the line raised, and ConnectionLostError when the browser ended while a line was waited for. `tell`
    says which line that was.
    """
    interrupted = False
    with trio.open_signal_receiver(signal.SIGINT) as signals:
        async with open_body_nursery() as nursery:

            async def stop() -> None:
                nonlocal interrupted
                async for _ in signals:
                    interrupted = True
                    nursery.cancel_scope.cancel()

            nursery.start_soon(stop)
            await _run_lines(console, tell)
            nursery.cancel_scope.cancel()
    return interrupted


async def _run_lines(console: Interpreter, tell: Callable[[str], None]) -> None:
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
                tell(f"line {number} of the script failed")
                raise
            except trio.Cancelled:
                tell(f"line {number} of the script: {console.stopped}")
                raise


async def _lines(console: Interpreter) -> AsyncGenerator[str, None]:
    """Give the lines of standard input as they come. Raises InvalidArgumentError for bytes that are not text."""
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
    """The bytes of a script, as long as there is a browser to run it against."""

    def __init__(self, descriptor: int, session: Session) -> None:
        self._descriptor = descriptor
        self._session = session
        self._waiting = trio.CancelScope()
        session.on_end(self._stop_waiting)

    async def read(self) -> bytes:
        """Return the next bytes; b"" at the end.

        Raises ConnectionLostError when the browser ends before they come.
        """
        with trio.CancelScope() as self._waiting:
            if self._session.ended:
                self._stop_waiting()
            # In a thread, and not through sys.stdin: a thread that waits for ever would hold its lock at the exit.
            return await trio.to_thread.run_sync(os.read, self._descriptor, _AT_ONCE, abandon_on_cancel=True)
        error = self._session.error()
        assert error is not None
        raise error

    def _stop_waiting(self) -> None:
        # What is there is read: a line, which fails on its own, or the end of a script whose lines are all done.
        if not _is_readable(self._descriptor):
            self._waiting.cancel()


def _is_readable(descriptor: int) -> bool:
    try:
        return bool(select.select([descriptor], [], [], 0)[0])
    except OSError:  # Windows asks sockets only
        return False
