"""Artifacts: the files about a failed test, in its folder.

Rule: each page has its snapshot, its console, its requests and its screenshot. Each file is written separately, so
that a page that hangs costs only its own files. Secrets that the engine knows are redacted.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Awaitable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import trio

from cdpengine._activity.console import ConsoleMessage, PageError
from cdpengine.errors import EngineError, packages_named
from cdpengine.errors.texts import escape_line, escape_lines

if TYPE_CHECKING:
    from cdpengine import BrowserContext, Page
    from cdpengine.debug.recording.redact import Redactor

TRAFFIC = "traffic.jsonl"
"""The recording of the protocol, of all pages of the test's connection."""

STEPS = "trace.zip"
"""The step trace, of all pages of the test's context."""

_SNAPSHOT, _CONSOLE, _REQUESTS, _PICTURE = "snapshot.txt", "console.txt", "requests.har", "screenshot.png"
_OURS = (TRAFFIC, STEPS, *(f"*{name}" for name in (_SNAPSHOT, _CONSOLE, _REQUESTS, _PICTURE)))

_MOST_PAGES = 8
_PART = 5.0
"""Maximum time for one file, in seconds."""

_LARGEST_BODY = 100_000
"""Maximum size of a body in the archive of requests, in bytes."""


@attrs.define(eq=False)
class Artifacts:
    """The files of one attempt. `notes` name those that could not be written."""

    folder: Path
    notes: list[str] = attrs.field(factory=list)

    def prepare(self, name: str) -> Path:
        """Return the path of a file, in the folder, which exists now."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / name

    def miss(self, name: str, reason: object) -> None:
        """Note that a file is missing."""
        self.notes.append(f"{name} is missing: {str(reason).partition(chr(10))[0]}")

    def remove(self, *patterns: str) -> None:
        """Remove the files of these names, or all that the plugin writes, and the folder if it is empty then."""
        if self.folder.is_dir():
            for pattern in patterns or _OURS:
                for path in self.folder.glob(pattern):
                    path.unlink(missing_ok=True)
            if not any(self.folder.iterdir()):
                self.folder.rmdir()

    def describe(self, root: Path) -> Iterator[str]:
        """Yield the folder, its files, and the notes, as lines."""
        names = sorted(path.name for path in self.folder.iterdir()) if self.folder.is_dir() else []
        shown = self.folder.relative_to(root) if self.folder.is_relative_to(root) else self.folder
        if names:
            yield f"{shown}: {', '.join(names)}"
        if STEPS in names:
            yield f"To see the steps: cdpengine trace view {shlex.quote(str(shown / STEPS))} --open"
        yield from self.notes

    # --- pages ---------------------------------------------------------------------------------------------------

    async def write_pages(self, context: BrowserContext) -> None:
        """Write the snapshot, the console and the requests of each page."""
        for page, prefix in _numbered(context):
            await self._write(f"{prefix}{_SNAPSHOT}", _snapshot(page))
            if page.activity.started:
                await self._write(f"{prefix}{_CONSOLE}", _console(page, context))
                await self._save(f"{prefix}{_REQUESTS}", page)
            else:
                self.miss(f"{prefix}{_CONSOLE}", "activity=True is not among context_options")

    async def write_pictures(self, context: BrowserContext) -> None:
        """Write a screenshot of each page."""
        for page, prefix in _numbered(context):
            await self._write(f"{prefix}{_PICTURE}", page.screenshot(timeout=_PART))

    async def _write(self, name: str, content: Awaitable[str | bytes]) -> None:
        try:
            made = await content
            data = made.encode("utf-8", "backslashreplace") if isinstance(made, str) else made
            await trio.to_thread.run_sync(self._write_file, name, data)
        except (EngineError, OSError) as error:
            self.miss(name, error)

    def _write_file(self, name: str, data: bytes) -> None:
        self.prepare(name).write_bytes(data)

    async def _save(self, name: str, page: Page) -> None:
        try:
            await page.activity.save_har(self.prepare(name), largest_body=_LARGEST_BODY, timeout=_PART)
        except (EngineError, OSError) as error:
            self.miss(name, error)


def _numbered(context: BrowserContext) -> Iterator[tuple[Page, str]]:
    """Yield the open pages and the beginnings of their files' names: "", "page-2.", ..."""
    for number, page in enumerate(context.pages[:_MOST_PAGES], start=1):
        yield page, "" if number == 1 else f"page-{number}."


async def _snapshot(page: Page) -> str:
    snapshot = await page.snapshot(timeout=_PART)
    return f"# {escape_line(page.url)}\n{snapshot.text}\n"


async def _console(page: Page, context: BrowserContext) -> str:
    """Return the console messages and errors of a page in order of time."""
    await trio.lowlevel.checkpoint()
    redactor = _make_redactor(context)
    items: list[ConsoleMessage | PageError] = [*page.activity.console, *page.activity.errors]
    items.sort(key=lambda each: each.time)
    return "".join(f"{redactor.text(_describe(each))}\n" for each in items)


def _describe(item: ConsoleMessage | PageError) -> str:
    clock = time.strftime("%H:%M:%S", time.localtime(item.time))
    place = f"  ({item.url}:{item.line + 1})" if item.url else ""
    if isinstance(item, PageError):
        kind, text = f"uncaught {item.kind}", item.stack or f"{item.name}: {item.message}"
    else:
        kind, text = item.level, item.text
    lines = escape_lines(text).replace("\n", "\n    ")
    return f"{clock} {kind}: {lines}{escape_line(place)}"


def _make_redactor(context: BrowserContext) -> Redactor:
    """Return a redactor that knows the strings that the test entered. Raises PackageMissingError."""
    with packages_named():
        from cdpengine.debug.recording.redact import Redactor

    redactor = Redactor()
    for secret in context.internals.state.instruments.secrets:
        redactor.add_secret(secret)
    return redactor
