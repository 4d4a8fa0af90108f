"""The prompt of the console: a line editor with completion, and a history without secrets.

Rule: the editor runs in a separate thread, because its loop is not trio's, and is stopped from outside. Output
during editing appears above the prompt. Other output goes directly to the terminal: a command's output precedes
the next prompt. `safe_line` filters the lines of the history, in a file that only its owner can read.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import trio
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import History
from prompt_toolkit.patch_stdout import patch_stdout

from cdpengine.cli.options import state_folder
from cdpengine.cli.output import say
from cdpengine.debug.explorer.console import Candidate, safe_line
from cdpengine.errors.texts import escape_line

MOST_LINES = 2000


class Stopped(Exception):
    """The prompt was stopped from outside."""


class SafeHistory(History):
    """Lines in a file, oldest first, filtered by `safe_line`; the current session remembers them as typed."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def load_history_strings(self) -> Iterable[str]:
        """Yield the stored lines, newest first."""
        try:
            lines = self._path.read_text("utf-8", "replace").splitlines()
        except OSError:
            return []
        return reversed(lines[-MOST_LINES:])

    def store_string(self, string: str) -> None:
        """Store one line."""
        line = " ".join(safe_line(string).split("\n"))
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(descriptor, "a", encoding="utf-8") as file:
                self._path.chmod(0o600)
                file.write(line + "\n")
        except OSError as error:
            say(f"the history could not be written: {error.strerror}", err=True)


def history_path() -> Path:
    """Return the path of the history, in the user's folder for state."""
    return state_folder() / "history"


class _Completer(Completer):
    def __init__(self, complete: Callable[[str], list[Candidate]]) -> None:
        self._complete = complete

    def get_completions(self, document: Document, _event: CompleteEvent) -> Iterator[Completion]:
        for candidate in self._complete(document.text_before_cursor):
            yield Completion(
                candidate.text,
                -candidate.replaces,
                display=escape_line(candidate.text),
                display_meta=escape_line(candidate.note),
            )


class Prompt:
    """A line editor for trio programs. While it is `editing`, Ctrl-C is a key, not a signal."""

    def __init__(self, complete: Callable[[str], list[Candidate]], history: Path) -> None:
        self._editor: PromptSession[str] = PromptSession(
            history=SafeHistory(history), completer=_Completer(complete), complete_while_typing=False
        )
        self._stop = threading.Event()
        self.editing = False

    async def ask(self, text: str) -> str:
        """Return the next line. Raises EOFError at Ctrl-D, KeyboardInterrupt at Ctrl-C, Stopped after `stop`.

        In every case the terminal is restored before it returns. Cancellation ends the editor first.
        """
        if self._stop.is_set():
            raise Stopped
        # It prints from a thread with a delay; leaving the block waits for that (0.2 s at most).
        with patch_stdout(raw=True):
            return await self._edit(text)

    async def _edit(self, text: str) -> str:
        line: list[str | BaseException] = []
        done = trio.Event()
        token = trio.lowlevel.current_trio_token()

        def edit() -> None:
            try:
                line.append(self._editor.prompt(text, handle_sigint=False, pre_run=self._check_stop))
            except BaseException as error:  # noqa: BLE001 - handed to the task that asked
                line.append(error)
            self.editing = False
            token.run_sync_soon(done.set)

        self.editing = True
        thread = threading.Thread(target=edit, name="console editor", daemon=True)
        thread.start()
        try:
            await done.wait()
        except trio.Cancelled:
            self.stop()
            with trio.CancelScope(shield=True, deadline=trio.current_time() + 2):
                await done.wait()
            raise
        result = line[0]
        if isinstance(result, BaseException):
            raise result
        return result

    def stop(self) -> None:
        """End the current and all later prompts. May be called from any thread."""
        self._stop.set()
        loop = self._editor.app.loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._check_stop)

    def _check_stop(self) -> None:
        app = self._editor.app
        if self._stop.is_set() and app.is_running and not app.is_done:
            app.exit(exception=Stopped())
