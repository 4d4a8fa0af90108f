"""Random walks over a generated site, checked against the site's log and a bare protocol connection.

A walk is a list of steps. A step is a kind and two numbers, which choose among the current pages and refs.
Any part of the list is therefore a walk too, and a failing walk can be shortened. The walk records itself as
a program (`lines`), and a failure shows the program.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from random import Random

import attrs
import trio
from bare_protocol import CRASHED, Bare, bare_connection
from walk_site import PAGES, Logged, WalkSite

import cdpengine
from cdpengine.errors import (
    DeadlineExceededError,
    EngineError,
    EvaluationTimeoutError,
    NavigationFailedError,
    NodeNotFoundError,
    StaleRefError,
    TargetCrashedError,
)

INTERNAL = re.compile(
    r"is not a function|is not defined|Cannot read prop|Could not find|Cannot find|Not attached|was collected"
    r"|the engine's own function|KeyError|AttributeError|TypeError|RemoteError|not found in this session"
    r"|Execution context|Inspected target|does not belong to the document|Internal error"
)
"""Chrome's and V8's words for the engine's own mistakes. They must not reach callers."""

AGREE_TIMEOUT = 5.0
"""Maximum time for the engine's and Chrome's views to become equal, in seconds.

They arrive on different connections.
"""

ANSWER_TIMEOUT = 20.0

ACTION_TIMEOUT = 8.0

SLOW = 3.0
"""Duration of a step that the walk notes as slow, in seconds."""

NAVIGATING = ("next", "elsewhere", "send")
"""Elements that replace their own document."""

WEIGHTS = {
    "goto": 2, "reload": 1, "back": 4, "forward": 2, "snapshot": 3, "find": 2, "act": 8, "act_fresh": 8,
    "evaluate": 1, "hang": 1, "crash": 1, "screenshot": 1, "new_page": 1, "close": 1, "second": 1, "kill": 1,
}  # fmt: skip

KINDS = tuple(kind for kind, weight in WEIGHTS.items() for _ in range(weight))

Step = tuple[str, int, int]


class Violation(AssertionError):
    """An invariant did not hold. The message contains the walk as a program."""


@attrs.frozen
class ReceivedRef:
    """A ref with the role and name that the walk saw for it."""

    page: cdpengine.Page
    ref: str
    role: str
    name: str


@attrs.define(eq=False)
class Walk:
    """One walk. `run` does its steps. Violation describes a fault."""

    site: WalkSite
    transport: str
    lines: list[str] = attrs.field(factory=list)
    received: list[ReceivedRef] = attrs.field(factory=list)
    slow: list[str] = attrs.field(factory=list)
    _browser: cdpengine.Browser = attrs.field(init=False)
    _bare: Bare = attrs.field(init=False)
    _names: dict[str, str] = attrs.field(factory=dict)
    _entries_read: int = 0

    async def run(self, steps: Sequence[Step]) -> None:
        """Do the steps in new browsers. Each step that kills the browser is followed by a new one."""
        left = steps
        try:
            while left:
                with _flattened():
                    left = await self._run_in_one_browser(left)
        except Violation:
            raise
        except EngineError as error:
            raise self._violation(f"{type(error).__name__}: {error}") from error
        except trio.TooSlowError as error:
            raise self._violation("a step did not end within 60 s") from error

    async def _run_in_one_browser(self, steps: Sequence[Step]) -> Sequence[Step]:
        """Do the steps up to one that kills the browser. Return the remaining steps."""
        launching = cdpengine.launch(transport=self.transport, debugging_port=0)  # type: ignore[arg-type]
        async with launching as self._browser:
            assert self._browser.endpoint is not None
            async with bare_connection(self._browser.endpoint) as self._bare:
                await self._begin()
                for number, (kind, first, second) in enumerate(steps):
                    if kind == "kill":
                        await self._kill()
                        return steps[number + 1 :]
                    with self._internal_errors_are_violations(), trio.fail_after(60):
                        page = await self._do_step(kind, self._page(first), second)
                        await self._check(page)
        return ()

    async def _do_step(self, kind: str, page: cdpengine.Page, number: int) -> cdpengine.Page:
        steps: dict[str, Callable[[cdpengine.Page, int], Awaitable[cdpengine.Page]]] = {
            "goto": self._goto, "reload": self._reload, "back": self._back, "forward": self._forward,
            "snapshot": self._snapshot, "find": self._find, "act": self._act, "act_fresh": self._act_fresh,
            "evaluate": self._evaluate, "hang": self._hang, "crash": self._crash, "close": self._close,
            "screenshot": self._screenshot, "new_page": self._new_page, "second": self._second,
        }  # fmt: skip
        return await steps[kind](page, number)

    async def _begin(self) -> None:
        self.lines.append(f"launch(transport={self.transport!r})")
        page = await self._browser.new_page()
        for other in [each for each in self._browser.pages if each is not page]:
            await other.close()
        await self._do(page, f"goto('{self.site.near}/page/0')", page.goto(f"{self.site.near}/page/0"))

    # --- the browser and its pages ------------------------------------------------------------------------

    def _page(self, number: int) -> cdpengine.Page:
        pages = self._browser.pages
        return pages[number % len(pages)]

    def _name(self, page: cdpengine.Page) -> str:
        return self._names.setdefault(page.target_id, f"page{len(self._names)}")

    async def _do(self, page: cdpengine.Page, text: str, awaitable: Awaitable[object]) -> object:
        """Record a line of the program, and run it."""
        self.lines.append(f"await {self._name(page)}.{text}")
        began = trio.current_time()
        try:
            done = await awaitable
            if (took := trio.current_time() - began) > SLOW:
                self.lines[-1] += f"  # took {took:.1f} s"
                self.slow.append(self.lines[-1])
            return done
        except EngineError as error:
            self.lines[-1] += f"  # {type(error).__name__}: {str(error)[:120]}"
            raise

    def _violation(self, what: str) -> Violation:
        logged = [
            f"    {entry.document}: {entry.type} {entry.name!r}"
            for entry in self.site.log[self._entries_read :]
        ]
        return Violation("\n".join([what, "the walk:", *self.lines, "logged in the last step:", *logged]))

    @contextmanager
    def _internal_errors_are_violations(self) -> Iterator[None]:
        self._entries_read = len(self.site.log)
        try:
            yield
        except EngineError as error:
            self._check_text(error)
            raise

    def _check_text(self, error: EngineError) -> None:
        """Fail if the error's message contains internal words."""
        if INTERNAL.search(str(error)) or isinstance(error, cdpengine.errors.RemoteError):
            raise self._violation(f"an internal error: {type(error).__name__}: {error}") from error

    # --- invariants ---------------------------------------------------------------------------------------

    async def _check(self, page: cdpengine.Page) -> None:
        """Compare the engine's view with Chrome's and with the site's log. Keep at most four pages open."""
        await self._agree(
            "the pages", lambda: {each.target_id for each in self._browser.pages}, self._bare.pages
        )
        for crashed in [each for each in self._browser.pages if each.session.crashed]:
            await self._do(crashed, "reload()  # it crashed", crashed.reload())
        if page.closed:
            page = self._browser.pages[-1]
        async with self._bare.session(page.target_id) as session:
            await self._agree(
                "the frames",
                lambda: {each.id: CRASHED if each.session.crashed else each.url for each in page.frames},
                lambda: self._bare.frames(session),
            )
            await self._agree("the title", page.title, lambda: self._bare.title(session))
        await self._check_dialogs()
        pages = self._browser.pages
        for other in pages[: max(0, len(pages) - 4)]:
            await self._do(other, "close()", other.close())

    async def _check_dialogs(self) -> None:
        entries = [entry for entry in self.site.log[self._entries_read :] if entry.type == "dialog"]
        opened = {entry.name for entry in entries}

        def known() -> set[str]:
            records = [dialog for page in self._browser.pages for dialog in page.dialogs.records]
            return {dialog.message for dialog in records if dialog.answered_by} & opened

        async def expected() -> set[str]:
            missing = opened - known()
            if not missing:
                return opened
            # Chrome shows no dialog of a document that it is replacing, and sends no event for it.
            titles = [await page.title() for page in self._browser.pages]
            shown = {number for number, title in self.site.served.items() if title in titles}
            return opened - {
                entry.name for entry in entries if entry.name in missing and entry.document not in shown
            }

        await self._agree("the dialogs", known, expected)

    async def _agree(
        self,
        what: str,
        ours: Callable[[], object],
        theirs: Callable[[], object],
    ) -> None:
        deadline = trio.current_time() + AGREE_TIMEOUT
        while True:
            answers = []
            for whose, ask in (("the engine", ours), ("Chrome", theirs)):
                with trio.move_on_after(ANSWER_TIMEOUT) as waiting:
                    answers.append(await _value(ask))
                if waiting.cancelled_caught:
                    raise self._violation(f"{whose} does not answer when asked for {what}")
            engine, chrome = answers
            if engine == chrome:
                return
            if trio.current_time() > deadline:
                raise self._violation(f"{what} differ: the engine has {engine}, Chrome has {chrome}")
            await trio.sleep(0.01)

    # --- steps --------------------------------------------------------------------------------------------

    async def _goto(self, page: cdpengine.Page, number: int) -> cdpengine.Page:
        host = self.site.far if number // PAGES % 3 == 0 else self.site.near
        url = f"{host}/page/{number % PAGES}"
        await self._do(page, f"goto({url!r})", page.goto(url))
        return page

    async def _reload(self, page: cdpengine.Page, _number: int) -> cdpengine.Page:
        await self._do(page, "reload()", page.reload())
        return page

    async def _back(self, page: cdpengine.Page, _number: int) -> cdpengine.Page:
        try:
            await self._do(page, "go_back()", page.go_back())
        except NavigationFailedError as error:
            self._check_no_entry(error)
        return page

    async def _forward(self, page: cdpengine.Page, _number: int) -> cdpengine.Page:
        try:
            await self._do(page, "go_forward()", page.go_forward())
        except NavigationFailedError as error:
            self._check_no_entry(error)
        return page

    def _check_no_entry(self, error: NavigationFailedError) -> None:
        if "no such entry" not in str(error):
            raise self._violation(f"the history: {error}") from error

    async def _snapshot(self, page: cdpengine.Page, _number: int) -> cdpengine.Page:
        await self._look(page)
        return page

    async def _look(self, page: cdpengine.Page) -> list[ReceivedRef]:
        snapshot = await self._do(page, "snapshot()", page.snapshot())
        assert isinstance(snapshot, cdpengine.Snapshot)
        fresh = [
            ReceivedRef(page, ref.id, ref.role, ref.name)
            for ref in snapshot.refs.values()
            if ref.role in ("button", "link", "textbox", "checkbox")
        ]
        known = {each.ref for each in fresh}
        self.received = [
            each for each in self.received if each.ref not in known or each.page is not page
        ] + fresh
        if not fresh and not page.url.startswith("about:"):
            raise self._violation(f"a snapshot without refs: {snapshot}")
        return fresh

    async def _find(self, page: cdpengine.Page, number: int) -> cdpengine.Page:
        """Find an element by the role and name of some ref, and click it."""
        known = [each for each in self.received if each.page is page]
        if not known:
            return page
        wanted = known[number % len(known)]
        text = f"find(role={wanted.role!r}, name={wanted.name!r})"
        try:
            found = await self._do(page, text, page.find(role=wanted.role, name=wanted.name, timeout=0.2))
        except (NodeNotFoundError, DeadlineExceededError) as error:
            self._check_text(error)
            return page
        assert isinstance(found, cdpengine.FoundNode)
        await self._do(page, f"click({text})", page.click(found, timeout=ACTION_TIMEOUT))
        self._check_hit(wanted.name, "click")
        return page

    async def _act(self, _page: cdpengine.Page, number: int) -> cdpengine.Page:
        """Act on any earlier ref: the action hits its element, or does nothing and raises an error with a
        reason.
        """
        usable = [each for each in self.received if not each.page.closed]
        if not usable:
            return self._page(number)
        chosen = usable[number % len(usable)]
        if chosen.page not in self._browser.pages:
            return await self._use_foreign(chosen, self._page(number))
        try:
            await self._use(chosen)
        except EngineError as error:
            self._check_text(error)
            self._check_nothing_hit(error)
        return chosen.page

    async def _use_foreign(self, chosen: ReceivedRef, page: cdpengine.Page) -> cdpengine.Page:
        """Use a ref of an earlier browser. No page may accept it."""
        try:
            await self._do(page, f"click({chosen.ref!r})  # of an earlier browser", page.click(chosen.ref))
        except (StaleRefError, NodeNotFoundError) as error:
            self._check_text(error)
            self._check_nothing_hit(error)
            return page
        raise self._violation(f"a ref of an earlier browser, {chosen.ref} {chosen.name!r}, was clicked")

    async def _act_fresh(self, page: cdpengine.Page, number: int) -> cdpengine.Page:
        """Act on a ref of a new snapshot. The action must succeed."""
        if fresh := await self._look(page):
            await self._use(fresh[number % len(fresh)])
        return page

    async def _use(self, chosen: ReceivedRef) -> None:
        page, ref, name = chosen.page, chosen.ref, chosen.name
        comment = f"  # {chosen.role} {name!r}"
        if chosen.role == "textbox":
            await self._do(page, f"fill({ref!r}, 'x'){comment}", page.fill(ref, "x", timeout=ACTION_TIMEOUT))
            self._check_filled(name)
            return
        refuse = len(self.lines) % 2 == 0
        text = f"click({ref!r}{', refuse_renamed=True' if refuse else ''}){comment}"
        click = page.click(ref, refuse_renamed=refuse, timeout=ACTION_TIMEOUT)
        outcome = await self._do(page, text, click)
        assert isinstance(outcome, cdpengine.ActionOutcome)
        if outcome.dialogs and not outcome.delivered:
            return  # Chrome drops input behind a dialog
        if outcome.renamed is not None:
            if refuse:
                raise self._violation(f"{ref} {name!r} was renamed, and is clicked nevertheless")
            name = outcome.renamed.new.name
        self._check_hit(name, "click")
        word = name.rpartition(" ")[0]
        if word == "late confirm":
            await self._until_logged("dialog")
        elif word in NAVIGATING and outcome.navigation is not None:
            await self._check_next_title(page, int(name.rpartition(" ")[2]))

    async def _check_next_title(self, page: cdpengine.Page, number: int) -> None:
        """Check that a read after a navigating click belongs to the new document."""
        title = await page.title()
        before = self.site.served.get(number)
        if before == title and not title.startswith("frame"):
            raise self._violation(f"after the click, the title is still {title!r}")

    async def _until_logged(self, kind: str) -> None:
        await _until(lambda: any(entry.type == kind for entry in self.site.log[self._entries_read :]), 1)

    def _clicks(self) -> list[Logged]:
        return [
            each
            for each in self.site.log[self._entries_read :]
            if each.type in ("click", "auxclick", "input")
        ]

    def _check_hit(self, name: str, kind: str) -> None:
        clicks = [entry for entry in self._clicks() if entry.type == kind]
        if not clicks or any(entry.name != name for entry in clicks):
            raise self._violation(f"{name!r} was to be hit; {[entry.name for entry in clicks]} were")

    def _check_filled(self, name: str) -> None:
        """Check that no other element had input or a click.

        The named element has none if it had the value before.
        """
        events = [(entry.type, entry.name) for entry in self._clicks()]
        if wrong := [each for each in events if each != ("input", name)]:
            raise self._violation(f"{name!r} was to be filled; there were {wrong}")

    def _check_nothing_hit(self, error: EngineError) -> None:
        if clicks := self._clicks():
            names = [entry.name for entry in clicks]
            raise self._violation(f"the action failed ({error}), and hit {names}") from error

    async def _evaluate(self, page: cdpengine.Page, number: int) -> cdpengine.Page:
        value = await self._do(
            page, f"evaluate('(n) => [n, 1]', {number})", page.evaluate("(n) => [n, 1]", number)
        )
        if value != [number, 1]:
            raise self._violation(f"evaluate returned {value}")
        return page

    async def _hang(self, page: cdpengine.Page, _number: int) -> cdpengine.Page:
        try:
            await self._do(page, "evaluate('while (true) {}')", page.evaluate("while (true) {}", timeout=0.3))
        except EvaluationTimeoutError:
            return page
        raise self._violation("an endless script ended")

    async def _crash(self, page: cdpengine.Page, _number: int) -> cdpengine.Page:
        self.lines.append(f"crash({self._name(page)})")
        async with self._bare.session(page.target_id) as session:
            with trio.move_on_after(2):
                with suppress(RuntimeError):
                    await self._bare.call("Page.crash", session)
        await _until(lambda: page.session.crashed, 1)
        try:
            await self._do(page, "title()", page.title())
        except TargetCrashedError:
            return page
        if page.session.crashed:
            raise self._violation("a crashed page has a title")
        return page

    async def _screenshot(self, page: cdpengine.Page, _number: int) -> cdpengine.Page:
        picture = await self._do(page, "screenshot()", page.screenshot(timeout=ACTION_TIMEOUT))
        assert isinstance(picture, bytes)
        if not picture.startswith(b"\x89PNG"):
            raise self._violation("a screenshot is no PNG")
        return page

    async def _new_page(self, _page: cdpengine.Page, number: int) -> cdpengine.Page:
        page = await self._browser.new_page()
        self.lines.append(f"{self._name(page)} = await browser.new_page()")
        return await self._goto(page, number)

    async def _close(self, page: cdpengine.Page, _number: int) -> cdpengine.Page:
        if len(self._browser.pages) > 1:
            await self._do(page, "close()", page.close())
        return self._page(0)

    async def _second(self, page: cdpengine.Page, _number: int) -> cdpengine.Page:
        """Let a second engine read the page and click in it."""
        self.lines.append(f"another engine clicks 'count' in {self._name(page)}")
        assert self._browser.endpoint is not None
        async with cdpengine.connect(self._browser.endpoint) as other:
            same = await other.wait_for_page(where=lambda each: each.target_id == page.target_id)
            snapshot = await same.snapshot()
            counts = [ref for ref in snapshot.refs.values() if ref.name.startswith("count ")]
            if counts:
                await same.click(counts[0], timeout=ACTION_TIMEOUT)
                self._check_hit(counts[0].name, "click")
        return page

    async def _kill(self) -> None:
        self.lines.append("kill the browser")
        processes = await self._bare.call("SystemInfo.getProcessInfo")
        [browser] = [each["id"] for each in processes["processInfo"] if each["type"] == "browser"]
        os.kill(browser, signal.SIGKILL)
        await _until(lambda: not self._browser.pages, 10)


def make_steps(seed: int, count: int) -> list[Step]:
    """Return the steps of a walk. The same seed gives the same steps."""
    random = Random(seed)
    return [(random.choice(KINDS), random.randrange(10), random.randrange(1000)) for _ in range(count)]


def shorten(steps: Sequence[Step], fails: Callable[[Sequence[Step]], bool], attempts: int) -> Sequence[Step]:
    """Return a part of `steps` with which `fails` still holds; `fails` is called at most `attempts` times.

    Removes ever smaller runs of steps, as delta debugging does (Zeller and Hildebrandt, 2002).
    """
    size = len(steps) // 2
    while size:
        start = 0
        while start < len(steps) and attempts:
            shorter = [*steps[:start], *steps[start + size :]]
            attempts -= 1
            if shorter and fails(shorter):
                steps = shorter
            else:
                start += size
        size //= 2
    return steps


@contextmanager
def _flattened() -> Iterator[None]:
    """Raise the error that nurseries wrapped in groups, if its group has no other."""
    try:
        yield
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        raise error from error.__cause__


async def _until(condition: Callable[[], bool], seconds: float) -> None:
    """Wait until the condition holds, for at most this time.

    Polls: the site's thread and Chrome notify no task here.
    """
    with trio.move_on_after(seconds):
        while not condition():  # noqa: ASYNC110
            await trio.sleep(0.005)


async def _value(ask: Callable[[], object]) -> object:
    value = ask()
    return await value if isinstance(value, Awaitable) else value
