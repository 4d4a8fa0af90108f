"""Attempt: one run of a test with pages, its outcome, and its artifacts.

Rule: the artifacts are written at the failure, while the pages are open. A test that passes leaves no file, unless
an option asks for it. An artifact that cannot be written is named in the report and never fails a test.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest
import trio

from cdpengine.debug import record
from cdpengine.errors import EngineError, FileNotWrittenError
from cdpengine.testing.pytest_plugin import options
from cdpengine.testing.pytest_plugin.artifacts import STEPS, TRAFFIC, Artifacts

if TYPE_CHECKING:
    from cdpengine import Browser, BrowserContext

_CAPTURING = 15.0
"""Maximum time for all artifacts of a failure, in seconds."""

_ENGINE = Path(__file__).parents[2]
"""The folder of the engine."""

_LONGEST_NAME = 120
"""Maximum length of the name of a test's folder, in characters."""


def begin(item: pytest.Item) -> Attempt:
    """Begin an attempt of a test. The first one removes the artifacts of the last session."""
    folder = options.output_folder(item.config) / _folder_name(item)
    number: int = getattr(item, "execution_count", 1)  # of pytest-rerunfailures
    if number <= 1:
        for old in (folder, *folder.parent.glob(f"{folder.name}-rerun*")):
            Artifacts(old).remove()
    else:
        folder = folder.with_name(f"{folder.name}-rerun{number - 1}")
    config = item.config
    made = Attempt(Artifacts(folder), options.tracing(config), options.screenshot(config), config.rootpath)
    item.stash[_ATTEMPT] = made
    return made


def attempt_of(item: pytest.Item) -> Attempt:
    """Return the attempt under way. A test that requests its fixtures dynamically is not watched."""
    known = item.stash.get(_ATTEMPT, None)
    if known is None:
        known = begin(item)
        known.over = True
    return known


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Watch the test function, because its pages are closed before pytest knows the outcome.

    A group with one exception is replaced by the exception, whose report shows the lines of the test.
    """
    __tracebackhide__ = True
    attempt = item.stash.get(_ATTEMPT, None)
    if attempt is None or not isinstance(item, pytest.Function):
        return (yield)
    function = item.obj
    item.obj = attempt.watch(function)
    try:
        return (yield)
    except BaseExceptionGroup as group:
        only = _find_only(group)
        if only is None:
            raise
    finally:
        item.obj = function
    raise only


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[object]) -> Generator[None, Any, Any]:
    """Name the artifacts in the report of a failure, and remove those of a success."""
    attempt = item.stash.get(_ATTEMPT, None)
    if attempt is not None and call.excinfo is not None and not item.config.option.fulltrace:
        _cut_off_engine(call.excinfo, item.config.rootpath)
    report: pytest.TestReport = yield
    if attempt is not None:
        attempt.complete(report)
    return report


def _cut_off_engine(raised: pytest.ExceptionInfo[BaseException], root: Path) -> None:
    """End the traceback of the engine's errors at the test's last line, because they describe themselves."""
    if not isinstance(raised.value, EngineError):
        return
    last, entry = None, raised.value.__traceback__
    while entry is not None:
        path = Path(entry.tb_frame.f_code.co_filename)
        is_own = path.is_relative_to(root) and "site-packages" not in path.parts
        if is_own and not path.is_relative_to(_ENGINE):
            last = entry
        entry = entry.tb_next
    if last is not None:
        last.tb_next = None


def _folder_name(item: pytest.Item) -> str:
    """Return a name for the test's folder, such as "tests-test_login.TestForm.test_wrong_password"."""
    path, _, test = item.nodeid.partition("::")
    name = f"{path.removesuffix('.py')}.{test.replace('::', '.')}"
    return re.sub(r"[^\w.]+", "-", name).strip("-.")[-_LONGEST_NAME:]


@attrs.define(eq=False)
class Attempt:
    """One run of a test. `over`: its outcome is known, or it needs no artifacts.

    `failed` is set by the reports of pytest.
    """

    artifacts: Artifacts
    _tracing: str
    _screenshot: str
    _root: Path
    over: bool = False
    failed: bool = False
    _context: BrowserContext | None = None
    _noted: int = 0

    def watch(self, function: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[None]]:
        """Return the test function, extended: a failure is captured before the test's pages close."""

        @wraps(function)
        async def watched(*args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            try:
                await function(*args, **kwargs)
            except trio.Cancelled:
                raise  # a fixture failed
            except BaseException as error:
                if not _is_failure(error):
                    self.over = True
                elif self._context is not None:
                    await self._capture(self._context)
                raise
            self.over = True

        return watched

    @asynccontextmanager
    async def record(self, browser: Browser) -> AsyncIterator[None]:
        """Record the traffic of a browser during the block, if the option asks for it."""
        async with self._writing(TRAFFIC, lambda path: record(browser, path, overwrite=True)):
            yield

    @asynccontextmanager
    async def follow(self, context: BrowserContext) -> AsyncIterator[None]:
        """Write a step trace of a context during the block, if the option asks for it.

        Capture its pages at the end of the block, unless the test has passed.
        """
        async with self._writing(STEPS, lambda path: context.trace_steps(path, film=False, overwrite=True)):
            self._context = context
            try:
                yield
            finally:
                if not self.over:
                    await self._capture(context)
                elif self._screenshot == "on":
                    await self._capture(context, only_pictures=True)
                self._context = None

    @asynccontextmanager
    async def _writing(
        self, name: str, begin: Callable[[Path], AbstractAsyncContextManager[object]]
    ) -> AsyncIterator[None]:
        """Write a file during the block, if the option asks for it."""
        if self._tracing == "off":
            yield
            return
        path = self.artifacts.prepare(name)
        try:
            async with AsyncExitStack() as stack:
                try:
                    await stack.enter_async_context(begin(path))
                except EngineError as error:
                    self.artifacts.miss(name, error)
                yield
        except FileNotWrittenError as error:
            if error.path != str(path):
                raise
            self.artifacts.miss(name, error)

    async def _capture(self, context: BrowserContext, *, only_pictures: bool = False) -> None:
        self.over = True
        with trio.move_on_after(_CAPTURING, shield=True) as limit:
            if not only_pictures:
                await self.artifacts.write_pages(context)
            if self._screenshot != "off":
                await self.artifacts.write_pictures(context)
        if limit.cancelled_caught:
            self.artifacts.notes.append(f"the rest was not written: it took more than {_CAPTURING:g} s")

    def complete(self, report: pytest.TestReport) -> None:
        """Add the artifacts to the report of a failure. After a success, remove them at the end of the test.

        Files that were not completed at the end of a failed test are named in its last report.
        """
        if report.failed:
            self.failed = True
            if lines := list(self.artifacts.describe(self._root)):
                if not self.over:
                    lines.append("The files about the pages are written at the end of the test.")
                report.sections.append(("cdpengine: artifacts", "\n".join(lines)))
        elif report.when == "teardown" and self.failed and (late := self.artifacts.notes[self._noted :]):
            report.sections.append(("cdpengine: artifacts at teardown", "\n".join(late)))
        self._noted = len(self.artifacts.notes)
        if report.when == "teardown" and not self.failed:
            if self._tracing != "on":
                self.artifacts.remove(TRAFFIC, STEPS)
            if self._screenshot != "on":
                self.artifacts.remove("*.png")


_ATTEMPT = pytest.StashKey[Attempt]()


def _is_failure(error: BaseException) -> bool:
    """Return whether an exception of a test is a failure, and not a skip or an interruption."""
    if isinstance(error, BaseExceptionGroup):
        return any(map(_is_failure, error.exceptions))
    return not isinstance(
        error, pytest.skip.Exception | pytest.xfail.Exception | KeyboardInterrupt | SystemExit
    )


def _find_only(error: BaseException) -> BaseException | None:
    """Return the exception in nested groups of one, or None if there are several."""
    while isinstance(error, BaseExceptionGroup):
        if len(error.exceptions) > 1:
            return None
        error = error.exceptions[0]
    return error
