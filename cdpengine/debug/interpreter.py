"""Interpreter: runs the lines of a console against a browser.

Rule: a line ends with its output or its error, within the time that the console gives each command; what is
shown of a page cannot command a terminal. Events come beside the lines, for the target that is in use.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs
import msgspec
import trio

from cdpengine.budget import check_timeout, within
from cdpengine.debug.console import ACTIONS, ActionLine, CallLine, HelpLine, bind, parse_line
from cdpengine.debug.protocol import Protocol
from cdpengine.debug.protocol_text import entry_text
from cdpengine.errors import EngineError, EventsLost, InvalidArgument, RemoteError, TargetCrashed
from cdpengine.errors.foreign import escape_json, escape_line, escape_lines
from cdpengine.session.events import Event, compile_pattern
from cdpengine.session.session import Session

if TYPE_CHECKING:
    from cdpengine.engine.browser import Browser
    from cdpengine.engine.page import Page

_METHOD_NOT_FOUND = -32601
_LONGEST_EVENT = 400
"""Characters of an event that are shown as it comes."""


@attrs.frozen
class Output:
    """What a line gave: `text`, and whether it is "json" or plain text. It is safe to print."""

    text: str
    kind: str = "text"


class Quit(Exception):
    """The line asked to leave."""


class Interpreter:
    """One console. `show_event` is called with each event that was asked for, as one line of text."""

    def __init__(
        self,
        browser: Browser,
        protocol: Protocol | None,
        nursery: trio.Nursery,
        show_event: Callable[[str], None],
    ) -> None:
        self.browser = browser
        self.protocol = protocol
        self.timeout = 30.0
        self.refs: tuple[str, ...] = ()
        self.patterns: tuple[str, ...] = ()
        self._nursery = nursery
        self._show = show_event
        self._listening: trio.CancelScope | None = None
        self._silent = trio.Event()
        self._numbers: dict[str, int] = {}
        self._page: Page | None = next(iter(browser.pages), None)
        self._session: Session = browser.session if self._page is None else self._page.session

    @property
    def place(self) -> str:
        """What commands are sent to now, shortly: for a prompt."""
        if self._session is self.browser.session:
            return "browser"
        number = self._number(self._session.target_id or "")
        return escape_line(f"{self._session.target_type} {number}")

    @property
    def target_numbers(self) -> list[str]:
        """The numbers that !use takes now."""
        return ["0", *(str(self._number(info.target_id)) for info in self.browser.targets)]

    async def run(self, line: str) -> Output | None:
        """Run one line. Raises EngineError for what fails, Quit for !quit."""
        match parse_line(line):
            case CallLine() as call:
                return await self._call(call)
            case ActionLine(name, rest):
                return await self._act(name, rest)
            case HelpLine(name):
                return self._help(name)
        return None

    # --- commands ------------------------------------------------------------------------------------------

    async def _call(self, line: CallLine) -> Output:
        method, params = bind(line, self.protocol)
        with within(method, self.timeout):
            try:
                result = await self._session.request(method, params, msgspec.Raw)
            except RemoteError as error:
                near = [] if self.protocol is None else self.protocol.near(method, self.protocol.commands)
                if error.code == _METHOD_NOT_FOUND and near and method not in near:
                    raise InvalidArgument(
                        what="method", given=method, expected=f"one that there is, such as {', '.join(near)}"
                    ) from error
                raise
        return _json(json.loads(bytes(result)))

    # --- actions -------------------------------------------------------------------------------------------

    async def _act(self, name: str, rest: str) -> Output | None:
        match name:
            case "help":
                return self._help("")
            case "quit":
                raise Quit
            case "targets":
                return self._targets()
            case "use":
                return await self._use(rest)
            case "events":
                return await self._events(rest.split())
            case "wait":
                return await self._wait(rest)
            case "timeout":
                self.timeout = _seconds(rest)
                return None
            case "statistics":
                return _json(_plain(self.browser.statistics()))
            case "new":
                page = await self.browser.new_page(rest or None, timeout=self.timeout)
                return await self._use(str(self._number(page.target_id)))
        return await self._act_on_page(name, rest)

    async def _act_on_page(self, name: str, rest: str) -> Output | None:
        page = self._page
        if page is None:
            raise InvalidArgument(
                what=f"!{name}", given=self.place, expected="a page; !targets lists them, !use N takes one"
            )
        first, _, after = rest.partition(" ")
        if not first and name != "snapshot":
            raise InvalidArgument(what=f"!{name}", given="nothing", expected=ACTIONS[name].usage)
        match name:
            case "goto":
                return _json(_plain(await page.goto(first, timeout=self.timeout)))
            case "snapshot":
                if rest not in ("", "interactive"):
                    raise InvalidArgument(what="!snapshot", given=rest, expected=ACTIONS[name].usage)
                taken = await page.snapshot(interactive=rest == "interactive", timeout=self.timeout)
                self.refs = tuple(taken.refs)
                return Output(taken.text)
            case "click":
                await page.click(first, timeout=self.timeout)
            case "hover":
                await page.hover(first, timeout=self.timeout)
            case "type":
                await page.type(first, after, timeout=self.timeout)
            case "press":
                await page.press(first, after or None, timeout=self.timeout)
            case "evaluate":
                return _json(_plain(await page.evaluate(rest, timeout=self.timeout)))
        return None

    # --- targets -------------------------------------------------------------------------------------------

    def _number(self, target_id: str) -> int:
        return self._numbers.setdefault(target_id, len(self._numbers) + 1)

    def _targets(self) -> Output:
        used = self._session.target_id
        lines = [f"{'*' if used is None else ' '} 0  browser  {self.browser.version.product}"]
        for info in self.browser.targets:
            mark = "*" if info.target_id == used else " "
            lines.append(f"{mark} {self._number(info.target_id)}  {info.type}  {info.url} {info.title!r}")
        return Output("\n".join(escape_line(line) for line in lines))

    async def _use(self, rest: str) -> Output:
        ids = {str(number): target_id for target_id, number in self._numbers.items()}
        ids |= {str(self._number(info.target_id)): info.target_id for info in self.browser.targets}
        if rest in ("0", "browser"):
            self._page, self._session = None, self.browser.session
        elif rest in ids and any(info.target_id == ids[rest] for info in self.browser.targets):
            self._page = self.browser.page(ids[rest])
            self._session = await self._attached(ids[rest]) if self._page is None else self._page.session
        else:
            raise InvalidArgument(
                what="target", given=repr(rest[:40]), expected=f"one of {', '.join(self.target_numbers)}"
            )
        self.refs = ()
        if self.patterns:
            await self._listen(self.patterns)
        return Output(f"commands go to {self.place}")

    async def _attached(self, target_id: str) -> Session:
        """Return a session of a target that is no page, attaching one if there is none."""
        sessions = self.browser.session.connection.targets.sessions
        for session in sessions.values():
            if session.target_id == target_id:
                return session
        with within("attach to the target", self.timeout):
            attached = await self.browser.session.call(
                "Target.attachToTarget", targetId=target_id, flatten=True
            )
        # The event that announces the session comes before the reply.
        return sessions[attached["sessionId"]]

    # --- events --------------------------------------------------------------------------------------------

    async def _events(self, words: list[str]) -> Output:
        if not words:
            return Output(f"events shown: {' '.join(self.patterns) or 'none'}")
        if words == ["off"]:
            await self._listen(())
            return Output("no events are shown")
        for pattern in words:
            compile_pattern(pattern)
        await self._listen(tuple(words))
        return Output(f"events shown: {' '.join(words)}")

    async def _listen(self, patterns: tuple[str, ...]) -> None:
        if self._listening is not None:
            self._listening.cancel()
            self._listening = None
            await self._silent.wait()
        self.patterns = patterns
        if patterns:
            self._listening, self._silent = trio.CancelScope(), trio.Event()
            with within("enable the events", self.timeout):
                await self._nursery.start(self._show_events, patterns, self._listening)

    async def _show_events(
        self, patterns: tuple[str, ...], scope: trio.CancelScope, *, task_status: trio.TaskStatus[None]
    ) -> None:
        started, silent = False, self._silent
        with scope:
            try:
                async with self._session.subscribe(*patterns) as events:
                    task_status.started()
                    started = True
                    while True:
                        try:
                            self._show(event_line(await events.receive()))
                        except (EventsLost, TargetCrashed) as error:
                            self._show(str(error))
            except EngineError as error:
                self.patterns = ()
                if not started:
                    raise  # in the line that asked for the events
                self._show(f"no more events: {error}")
            finally:
                silent.set()

    async def _wait(self, pattern: str) -> Output:
        if not pattern:
            raise InvalidArgument(what="!wait", given="nothing", expected=ACTIONS["wait"].usage)
        with within(f"wait for {pattern}", self.timeout):
            return Output(event_line(await self._session.wait_for(*pattern.split())))

    # --- help ----------------------------------------------------------------------------------------------

    def _help(self, name: str) -> Output:
        if not name:
            width = max(len(action.usage) for action in ACTIONS.values())
            lines = ["Domain.method name=value ...   a command; values are JSON, 'text', or bare text"]
            lines += ["? NAME                         what a command, event, type or domain is", ""]
            lines += [f"{action.usage:<{width}}  {action.does}" for action in ACTIONS.values()]
            return Output("\n".join(lines))
        if name.removeprefix("!") in ACTIONS:
            action = ACTIONS[name.removeprefix("!")]
            return Output(f"{action.usage}\n  {action.does}")
        if self.protocol is None:
            raise InvalidArgument(
                what="help", given=name[:80], expected="a browser that gives its /json/protocol"
            )
        protocol = self.protocol
        return Output("\n\n".join(escape_lines(entry_text(protocol, entry)) for entry in protocol.find(name)))


def event_line(event: Event) -> str:
    """Return an event as one line that is safe to print, cut where it is long."""
    text = bytes(event.raw).decode("utf-8", "replace")
    shown = escape_line(text[:_LONGEST_EVENT]) + ("…" if len(text) > _LONGEST_EVENT else "")
    return f"{escape_line(event.method)} {shown}"


def _json(value: object) -> Output:
    return Output(escape_json(json.dumps(value, ensure_ascii=False, indent=2)), "json")


def _plain(value: object) -> object:
    """Return what an action gave as what JSON has."""
    kind = type(value)
    if attrs.has(kind):
        return {
            field.name: _plain(getattr(value, field.name))
            for field in attrs.fields(kind)
            if not field.name.startswith("_")
        }
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _seconds(text: str) -> float:
    try:
        return check_timeout(float(text))
    except ValueError:
        raise InvalidArgument(what="!timeout", given=text[:40] or "nothing", expected="seconds") from None
