"""Verbs about protocol traffic: commands, messages, recordings and bodies."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import attrs
import trio

from cdpengine._budget import within
from cdpengine._json_values import to_plain
from cdpengine._urls.patterns import url_test
from cdpengine.act.fields import field
from cdpengine.act.notations import FILE, CommandForm, Place, ToolForm
from cdpengine.act.requests import LOADING, LONG, ActRequest
from cdpengine.act.response import describe_url
from cdpengine.errors import EngineError, InvalidArgumentError, packages_named

if TYPE_CHECKING:
    from cdpengine import Page
    from cdpengine.act.observing.messages import MessageLog
    from cdpengine.act.performing import Performance
    from cdpengine.debug import Recorder

_STOPPING = 2.0
"""Timeout for stopping the script of a command that has timed out, in seconds."""


@attrs.frozen(kw_only=True)
class Command(ActRequest):
    """Send a command of the Chrome DevTools Protocol, and return its result."""

    kind = "command"
    timing = LOADING
    in_order = False
    runs_script = True
    uses_protocol = True
    tool = ToolForm(
        meaning="Send a command of the Chrome DevTools Protocol.",
        fields=("params", "browser"),
        capability="wire",
    )
    commands = (
        CommandForm(
            meaning="Send a command of the Chrome DevTools Protocol; its parameters are a JSON object.",
            places=(Place("METHOD", "method"), Place("PARAMS", "params", needed=False)),
            example="command DOM.getDocument '{\"depth\": 1}'",
        ),
    )

    method: str = field('The command: "DOM.getDocument".')
    params: dict[str, Any] = field("Its parameters.", attrs.Factory(dict), secret=True)
    browser: bool = field("Send it to the browser instead of the page.", False)

    def wants_page(self) -> bool:
        """Return False for a command to the browser."""
        return not self.browser

    async def run(self, performance: Performance) -> Any:
        session = performance.actor.browser.session if self.browser else performance.page.session
        try:
            with within(f"send {self.method[:80]}", performance.left):
                return await session.call(self.method, self.params)
        except BaseException:
            if performance.page_or_none is not None:
                await _stop_script(performance.page)
            raise


async def _stop_script(page: Page) -> None:
    """Stop the script that keeps the page unresponsive, even if the request is cancelled."""
    with trio.move_on_after(_STOPPING, shield=True), suppress(EngineError):
        if await page.measure.unresponsive_for():
            await page.recover(timeout=_STOPPING)


RECORDING, MESSAGES = "recording", "log of messages"


@attrs.frozen(kw_only=True)
class Messages(ActRequest):
    """Return the newest messages of the protocol, without secrets.

    The log begins with the first such request and keeps 500 messages.
    """

    kind = "messages"
    timing = LOADING
    in_order = False
    needs_page = False
    uses_protocol = True
    tool = ToolForm(
        meaning="Read the newest messages of the protocol; kept from the first call on.",
        fields=("method", "limit", "stop"),
        capability="wire",
    )
    commands = (
        CommandForm(
            meaning="Print the newest messages of the protocol; the log begins with the first such command.",
            places=(Place("METHOD", "method", needed=False),),
            example="messages 'Page.*'",
        ),
    )

    method: str | None = field("Only those whose method matches this glob, in which only * is special.", None)
    limit: int = field("Maximum number of messages, the newest ones.", 20, least=1, most=500)
    stop: bool = field("End the log.", False)

    async def run(self, performance: Performance) -> dict[str, Any]:
        opened = performance.actor.scopes.get(MESSAGES, None)
        if opened is None:
            opened = await performance.open_scope(MESSAGES, _log_messages(performance))
        log: MessageLog = opened.value
        found = log.newest(self.method, self.limit)
        if self.stop:
            await opened.end(performance.left)
        return {"count": len(found), "messages": found}


@asynccontextmanager
async def _log_messages(performance: Performance) -> AsyncIterator[MessageLog]:
    from cdpengine.act.observing.messages import MessageLog

    log = MessageLog()
    with performance.actor.browser.instruments.attached(log):
        yield log


@attrs.frozen(kw_only=True)
class StartRecording(ActRequest):
    """Begin to record all traffic of the browser to a file, without secrets."""

    kind = "startRecording"
    timing = LOADING
    in_order = False
    needs_page = False
    uses_protocol = True
    tool = ToolForm(
        name="recording",
        meaning="Record the browser's traffic to a file, until it is stopped.",
        action="start",
        capability="wire",
    )
    commands = (
        CommandForm(
            meaning="Record the browser's traffic to FILE, or to a new file in this folder.", places=(FILE,)
        ),
    )

    path: str | None = field(
        "The file, which must not exist. Without, a new one in the folder of outputs.", None, file=True
    )

    async def run(self, performance: Performance) -> dict[str, Any]:
        with packages_named():
            from cdpengine.debug import record
        path = await performance.output_path("startRecording.path", self.path, RECORDING, ".jsonl")
        await performance.open_scope(RECORDING, record(performance.actor.browser, path))
        return {"path": str(path)}


@attrs.frozen(kw_only=True)
class StopRecording(ActRequest):
    """End the recording, and return its path."""

    kind = "stopRecording"
    timing = LONG
    in_order = False
    needs_page = False
    uses_protocol = True
    tool = ToolForm(name="recording", action="stop", capability="wire")
    commands = (CommandForm(meaning="End the recording."),)

    async def run(self, performance: Performance) -> dict[str, Any]:
        opened = performance.actor.scopes.find(RECORDING, None, "a startRecording request first")
        recorder: Recorder = await opened.end(performance.left)
        done = recorder.statistics()
        return {
            "path": str(recorder.path),
            "messages": done.messages,
            "lost": done.lost,
            "bytes": done.written,
        }


_TEXT_TYPES = ("text/", "application/json", "application/javascript", "application/xml", "image/svg")


@attrs.frozen(kw_only=True)
class ResponseBody(ActRequest):
    """Return the body of the newest matching response of the page, if the browser still has it."""

    kind = "responseBody"
    timing = LOADING
    in_order = False
    tool = ToolForm(meaning="Read the body of a response of the page.", capability="wire")
    commands = (
        CommandForm(
            meaning="Print the body of the newest response of the page whose URL matches.",
            places=(Place("URL", "url"),),
            example="response-body '*/api/*'",
        ),
    )

    url: str = field("A glob for its URL; only * is special.")

    async def run(self, performance: Performance) -> dict[str, Any]:
        await performance.actor.watch(performance.page, performance.left)
        matches = url_test(self.url)
        found = [
            each
            for each in performance.page.activity.requests
            if matches(each.url) and each.response is not None
        ]
        if not found:
            raise InvalidArgumentError(
                what="responseBody.url",
                given=f"{self.url[:80]!r}, which matches no response of the page",
                expected="the URL of a response that a requests request lists",
            )
        response = found[-1].response
        assert response is not None
        described = {"url": describe_url(response.url), "status": response.status, "type": response.mime_type}
        if response.mime_type.startswith(_TEXT_TYPES) or response.mime_type.endswith(("+json", "+xml")):
            return {**described, "body": await response.text(timeout=performance.left)}
        data = await response.body(timeout=performance.left)
        return {**described, "bytes": len(data), "base64": to_plain(data)}
