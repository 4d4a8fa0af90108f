"""Interpreter of console lines, which it runs against a browser.

Rule: a line ends with output or an error within the console's command timeout. A stopped line also ends the script
that it started. Output of a page is escaped so that it cannot control the terminal. Events of the current target
are shown between the lines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
import trio

from cdpengine import _json
from cdpengine._budget import check_timeout, within
from cdpengine._checks import invalid
from cdpengine._nursery import open_body_nursery
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event, compile_pattern
from cdpengine.act.commands.usage import option_lines
from cdpengine.debug.explorer.actions import ACTIONS, Work, find_action
from cdpengine.debug.explorer.console import (
    ActionLine,
    CallLine,
    HelpLine,
    Line,
    bind,
    parse_line,
    work_of,
)
from cdpengine.debug.explorer.page_actions import Output, act_on_page, as_json, json_output
from cdpengine.debug.explorer.protocol import Protocol
from cdpengine.debug.explorer.protocol_text import entry_text
from cdpengine.debug.explorer.unanswered import LineTarget, Stopped
from cdpengine.errors import (
    DeadlineExceededError,
    EngineError,
    EvaluationTimeoutError,
    EventsLostError,
    InvalidArgumentError,
    PageUnresponsiveError,
    RecoveryReport,
    RemoteError,
    TargetCrashedError,
)
from cdpengine.errors.texts import escape_line, escape_lines

if TYPE_CHECKING:
    from cdpengine._api.browser import Browser, Page

__all__ = ["Interpreter", "Output", "Quit", "event_line"]

_METHOD_NOT_FOUND = -32601
_LONGEST_EVENT = 400
"""Maximum length of a displayed event, in characters."""


class Quit(Exception):
    """The user asked to leave."""


class Interpreter:
    """A console. It calls `show_event` with each requested event, as one line.

    It calls `show_notice` (default: `show_event`) with one line when a page does not answer the running line, and
    when a script was ended. With `unattended`, no user can type !recover, so every stopped line ends the script of
    a page that had answered before. `stopped` describes how the last cancelled line was ended.
    """

    def __init__(
        self,
        browser: Browser,
        protocol: Protocol | None,
        nursery: trio.Nursery,
        show_event: Callable[[str], None],
        show_notice: Callable[[str], None] | None = None,
        *,
        unattended: bool = False,
    ) -> None:
        self.browser = browser
        self.protocol = protocol
        self.timeout = 30.0
        self.refs: tuple[str, ...] = ()
        self.patterns: tuple[str, ...] = ()
        self._nursery = nursery
        self._show = show_event
        self._notice = show_notice or show_event
        self.stopped = Stopped()
        self._unattended = unattended
        self._listening: trio.CancelScope | None = None
        self._silent = trio.Event()
        self._numbers: dict[str, int] = {}
        self._targets_used: dict[Session, LineTarget] = {}
        page = next(iter(browser.pages), None)
        self._target = self._line_target(browser.session if page is None else page.session, page)

    def _line_target(self, session: Session, page: Page | None) -> LineTarget:
        if session not in self._targets_used:
            self._targets_used[session] = LineTarget(session, page)
        return self._targets_used[session]

    @property
    def _session(self) -> Session:
        return self._target.session

    @property
    def place(self) -> str:
        """Short name of the current target, for a prompt."""
        if self._session is self.browser.session:
            return "browser"
        number = self._number(self._session.target_id or "")
        return escape_line(f"{self._session.target_type} {number}")

    @property
    def target_numbers(self) -> list[str]:
        """Numbers that !use accepts now."""
        return ["0", *(str(self._number(info.target_id)) for info in self.browser.targets)]

    async def run(self, line: str) -> Output | None:
        """Run one line. Raises EngineError for a failure, and Quit for !quit.

        If the line is cancelled or times out, the scripts that it started are ended first, within a fraction of a
        second. `stopped` describes the outcome.
        """
        parsed = parse_line(line)
        self.stopped = Stopped(self._target.noun)
        if parsed is None:
            return None
        work = work_of(parsed)
        if work == "none" or self._session is self.browser.session:
            return await self._run(parsed)
        return await self._run_watched(parsed, work)

    async def _run(self, line: Line) -> Output | None:
        match line:
            case CallLine():
                return await self._call(line)
            case ActionLine(name, rest):
                return await self._act(name, rest)
            case HelpLine(name):
                return self._help(name)

    async def _run_watched(self, line: Line, work: Work) -> Output | None:
        """Run a line whose target must answer.

        Report a silent target, and stop scripts that the line left running.
        """
        target, before = self._target, self._target.terminations()
        ends = work != "question" or (self._unattended and target.answered)
        began = 0.0

        async def watch() -> None:
            nonlocal began
            try:
                await target.watch(self._notice, ends=ends)
                await trio.sleep_forever()
            finally:
                began = trio.current_time()  # on cancellation, immediately

        async with open_body_nursery() as nursery:
            nursery.start_soon(watch)
            try:
                output = await self._run(line)
            except trio.Cancelled:
                if ends:
                    began = began or trio.current_time()
                    self.stopped = await target.stop(work, began=began, terminated_before=before)
                raise
            except DeadlineExceededError as late:
                if not ends or late.timeout == 0:
                    raise
                stopped = Stopped()
                if not isinstance(late, EvaluationTimeoutError) or target.paused:
                    now = trio.current_time()
                    stopped = await target.stop(work, began=now, terminated_before=before)
                if isinstance(line, CallLine) and work == "script":
                    report = stopped.report or RecoveryReport()
                    raise EvaluationTimeoutError(late.action, late.timeout, late.steps, report) from late
                if stopped.acted:
                    self._notice(str(stopped))
                raise
            else:
                target.answered = True
                return output
            finally:
                nursery.cancel_scope.cancel()

    # --- commands ------------------------------------------------------------------------------------------

    async def _call(self, line: CallLine) -> Output:
        method, params = bind(line, self.protocol)
        with within(method, self.timeout):
            try:
                result = await self._session.request(method, params, msgspec.Raw)
            except RemoteError as error:
                near = [] if self.protocol is None else self.protocol.near(method, self.protocol.commands)
                if error.code == _METHOD_NOT_FOUND and near and method not in near:
                    raise InvalidArgumentError(
                        what="method", given=method, expected=f"an existing one, such as {', '.join(near)}"
                    ) from error
                raise
        return json_output(_json.decode_leniently(bytes(result)))

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
            case "next":
                return await self._next(rest)
            case "timeout":
                self.timeout = _seconds(rest)
                return None
            case "statistics":
                return as_json(self.browser.statistics())
            case "new":
                page = await self.browser.new_page(rest or None, timeout=self.timeout)
                return await self._use(str(self._number(page.target_id)))
            case "recover":
                return await self._recover(rest or "terminate")
        return await self._act_on_page(name, rest)

    async def _act_on_page(self, name: str, rest: str) -> Output | None:
        page = self._target.page
        if page is None:
            raise InvalidArgumentError(
                what=f"!{name}", given=self.place, expected="a page; !targets lists them, !use N takes one"
            )
        output = await act_on_page(self.browser, page, name, rest, self.timeout)
        if output is not None and output.refs is not None:
            self.refs = output.refs
        return output

    async def _recover(self, allow: str) -> Output:
        if self._session is self.browser.session:
            raise InvalidArgumentError(
                what="!recover", given=self.place, expected="a page or another target; !use N takes one"
            )
        started = trio.current_time()
        report = await self._target.recover(allow, self.timeout)
        if not report.responsive and not report.closed:
            seconds = trio.current_time() - started
            raise PageUnresponsiveError("!recover", self.timeout, (str(report),), seconds)
        return Output(str(report))

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
            self._target = self._line_target(self.browser.session, None)
        elif rest in ids and any(info.target_id == ids[rest] for info in self.browser.targets):
            page = self.browser.page(ids[rest])
            session = await self._attach(ids[rest]) if page is None else page.session
            self._target = self._line_target(session, page)
        else:
            raise invalid("target", rest, f"one of {', '.join(self.target_numbers)}")
        self.refs = ()
        if self.patterns:
            await self._listen(self.patterns)
        return Output(f"commands go to {self.place}")

    async def _attach(self, target_id: str) -> Session:
        """Return a session of a target that is not a page. Attach one if necessary."""
        sessions = self.browser.session.connection.targets.sessions
        for session in sessions.values():
            if session.target_id == target_id:
                return session
        with within("attach to the target", self.timeout):
            attached = await self.browser.session.call(
                "Target.attachToTarget", targetId=target_id, flatten=True
            )
        # Chrome sends the session's event before the reply.
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
                        except (EventsLostError, TargetCrashedError) as error:
                            self._show(str(error))
            except EngineError as error:
                self.patterns = ()
                if not started:
                    raise  # reported by the !events line
                self._show(f"no more events: {error}")
            finally:
                silent.set()

    async def _next(self, pattern: str) -> Output:
        if not pattern:
            raise InvalidArgumentError(what="!next", given="nothing", expected=ACTIONS["next"].usage)
        with within(f"wait for {pattern}", self.timeout):
            return Output(event_line(await self._session.wait_for(*pattern.split())))

    # --- help ----------------------------------------------------------------------------------------------

    def _help(self, name: str) -> Output:
        if not name:
            width = max(len(action.usage) for action in ACTIONS.values())
            lines = ["Domain.method name=value ...   a command; values are JSON, 'text', or bare text"]
            lines += ["? NAME                         help on a command, event, type or domain", ""]
            lines += [f"{action.usage:<{width}}  {action.does}" for action in ACTIONS.values()]
            return Output("\n".join(lines))
        action = find_action(name.removeprefix("!"))
        if action is not None and action.verb is not None:
            return Output("\n".join([action.usage, f"  {action.does}", *option_lines(action.verb)]))
        if action is not None:
            return Output(f"{action.usage}\n  {action.does}")
        if self.protocol is None:
            raise InvalidArgumentError(
                what="help", given=name[:80], expected="a browser that gives its /json/protocol"
            )
        protocol = self.protocol
        return Output("\n\n".join(escape_lines(entry_text(protocol, entry)) for entry in protocol.find(name)))


def event_line(event: Event) -> str:
    """Format an event as one line that is safe to print. Long events are shortened."""
    text = bytes(event.raw).decode("utf-8", "replace")
    beginning = escape_line(text[:_LONGEST_EVENT]) + ("…" if len(text) > _LONGEST_EVENT else "")
    return f"{escape_line(event.method)} {beginning}"


def _seconds(text: str) -> float:
    try:
        return check_timeout(float(text))
    except ValueError:
        raise InvalidArgumentError(
            what="!timeout", given=text[:40] or "nothing", expected="seconds"
        ) from None
