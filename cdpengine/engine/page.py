"""Page: what one does with a page.

Rule: every public method takes one `timeout`, makes one Budget of it, and hands it down; what is done stands in
the floors below, a method here only says in which order. Nothing here waits beyond its budget, whatever the
page does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import trio

from cdpengine.action.keyboard import Keyboard
from cdpengine.action.mouse import Mouse
from cdpengine.action.outcome import ActionOutcome
from cdpengine.action.pointer import click, hover
from cdpengine.action.text_entry import focus, press, type_text
from cdpengine.browser.dialogs import Dialog
from cdpengine.browser.frames import Frame, LoadState
from cdpengine.browser.navigation import (
    Navigation,
    check_url,
    check_wait_until,
    go_through_history,
    go_to,
    reload,
)
from cdpengine.browser.page_target import PageTarget
from cdpengine.browser.worlds import IsolatedWorlds
from cdpengine.budget import Budget, within
from cdpengine.engine.capture import ImageFormat, print_to_pdf, take_screenshot
from cdpengine.engine.targets import Target, describe_target, resolve
from cdpengine.errors import InvalidArgument, shown_url
from cdpengine.evaluate.evaluation import Evaluator, World
from cdpengine.js import script
from cdpengine.session.session import Session
from cdpengine.snapshot.refs import RefTable
from cdpengine.snapshot.render import SnapshotOptions
from cdpengine.snapshot.snapshot import Snapshot, build_snapshot, fetch_ax_tree

if TYPE_CHECKING:
    from cdpengine.engine.browser import Browser


class Page:
    """One page (tab, popup). Get it from `browser.new_page()` or `browser.pages`."""

    def __init__(self, browser: Browser, target: PageTarget) -> None:
        self.browser = browser
        self.keyboard = Keyboard(target.session, target, mac=browser.version.on_mac)
        self.mouse = Mouse(target.session, target, keyboard=self.keyboard)
        self._target = target
        self._refs = RefTable()
        self._worlds = IsolatedWorlds()
        self._evaluator = Evaluator(target, IsolatedWorlds())

    def __repr__(self) -> str:
        return f"<Page {self.target_id[:8]} {self.url[:60]!r}>"

    # --- what it is ------------------------------------------------------------------------------------------

    @property
    def session(self) -> Session:
        """The page's own session, for any protocol command and event. Evaluation has another one."""
        return self._target.session

    @property
    def target_id(self) -> str:
        """Chrome's id of the page."""
        return self._target.target_id

    @property
    def url(self) -> str:
        """Where the page is, as of the last event; fragment included."""
        return self._target.frames.main.url

    @property
    def frames(self) -> list[Frame]:
        """The page's frames, the main one first."""
        return list(self._target.frames)

    @property
    def context_id(self) -> str | None:
        """Chrome's id of the browser context that the page belongs to."""
        return self._target.context_id

    @property
    def closed(self) -> bool:
        """Whether the page is gone."""
        return self._target.closed

    @property
    def opener(self) -> Page | None:
        """The page that opened this one, if it still is there."""
        opener_id = self._target.opener_id
        return None if opener_id is None else self.browser.page(opener_id)

    @property
    def dialogs(self) -> list[Dialog]:
        """The latest JavaScript dialogs that opened, and how they were answered. They never wait for a human."""
        return list(self._target.dialogs)

    async def title(self, *, timeout: float = 30) -> str:
        """Return the document's title."""
        return str(await self.evaluate("document.title", world="isolated", timeout=timeout))

    async def content(self, *, timeout: float = 30) -> str:
        """Return the document's HTML as it is now, with its doctype."""
        return str(await self.evaluate(script("content"), world="isolated", timeout=timeout))

    # --- where it goes ---------------------------------------------------------------------------------------

    async def goto(self, url: str, *, wait_until: LoadState = "load", timeout: float = 30) -> Navigation:
        """Navigate to `url` and wait until "commit", "domcontentloaded", "load" or "networkidle".

        Raises NavigationFailed with Chrome's reason (net::ERR_CONNECTION_REFUSED, ...). An HTTP status such as
        404 is not a failure: look at `Navigation.status`. Raises DeadlineExceeded; the navigation is then
        stopped.
        """
        check_url(url)
        state = check_wait_until(wait_until)
        async with self._action(f"goto {shown_url(url)}", timeout, also_unready=True) as budget:
            return await go_to(self._target, url, state, budget)

    async def reload(
        self, *, ignore_cache: bool = False, wait_until: LoadState = "load", timeout: float = 30
    ) -> Navigation:
        """Load the document again and wait, as `goto` does. Brings back a page that crashed."""
        state = check_wait_until(wait_until)
        async with self._action("reload", timeout, also_unready=True) as budget:
            return await reload(self._target, ignore_cache, state, budget)

    async def go_back(self, *, wait_until: LoadState = "load", timeout: float = 30) -> Navigation:
        """Go to the previous entry of the history. Raises NavigationFailed when there is none."""
        state = check_wait_until(wait_until)
        async with self._action("go back", timeout) as budget:
            return await go_through_history(self._target, -1, state, budget)

    async def go_forward(self, *, wait_until: LoadState = "load", timeout: float = 30) -> Navigation:
        """Go to the next entry of the history. Raises NavigationFailed when there is none."""
        state = check_wait_until(wait_until)
        async with self._action("go forward", timeout) as budget:
            return await go_through_history(self._target, 1, state, budget)

    async def set_content(self, html: str, *, timeout: float = 30) -> None:
        """Replace the document's content by `html` and wait until it has loaded. The URL stays as it is."""
        await self._evaluate("set content", script("set_content"), (html,), None, "isolated", timeout)

    async def close(self, *, timeout: float = 30) -> None:
        """Close the page and wait until it is gone. Also works on a page whose script never ends."""
        with within("close the page", timeout):
            await self.browser.close_target(self.target_id)

    async def bring_to_front(self, *, timeout: float = 30) -> None:
        """Make it the window's active tab. Actions do not need it."""
        async with self._action("bring to front", timeout):
            await self.session.call("Page.bringToFront")

    # --- what it shows ---------------------------------------------------------------------------------------

    async def snapshot(
        self,
        *,
        mode: str = "role",
        interactive: bool = False,
        compact: bool = False,
        max_depth: int | None = None,
        max_chars: int | None = None,
        timeout: float = 30,
    ) -> Snapshot:
        """Return the page as its accessibility tree tells it: indented lines with refs for what can be acted on.

        `interactive` shows only what can be acted on, `compact` leaves out structural lines, `max_depth` deeper
        lines; `max_chars` cuts at a line and says what was left out. Raises InvalidArgument, DeadlineExceeded.
        """
        if mode != "role":
            raise InvalidArgument(what="mode", given=repr(mode), expected='"role"')
        options = SnapshotOptions(
            interactive=interactive, compact=compact, max_depth=max_depth, max_chars=max_chars
        )
        async with self._action("snapshot", timeout) as budget:
            main = self._target.frames.main
            while True:
                budget.step(f"reading the accessibility tree of {shown_url(main.url)}")
                loader_id, started = main.loader_id, trio.current_time()
                tree = await fetch_ax_tree(self.session)
                fetched = trio.current_time()
                if main.loader_id == loader_id:
                    break
                budget.step("the document was replaced meanwhile; reading the new one")
            return build_snapshot(
                tree,
                self._refs,
                session_id=self.session.id,
                frame_id=main.id,
                loader_id=loader_id,
                options=options,
                fetch_milliseconds=(fetched - started) * 1000,
            )

    async def screenshot(
        self,
        *,
        format: ImageFormat = "png",  # noqa: A002 - the protocol's own name for it
        quality: int | None = None,
        full_page: bool = False,
        timeout: float = 30,
    ) -> bytes:
        """Return an image of the viewport, or of the whole page; "png", "jpeg" or "webp", quality 0 to 100."""
        async with self._action("screenshot", timeout):
            return await take_screenshot(
                self.session, image_format=format, quality=quality, full_page=full_page
            )

    async def pdf(self, *, landscape: bool = False, background: bool = True, timeout: float = 30) -> bytes:
        """Return the page as PDF. Works in headless browsers."""
        async with self._action("pdf", timeout):
            return await print_to_pdf(self.session, landscape=landscape, background=background)

    # --- what one does with it -------------------------------------------------------------------------------

    async def click(
        self,
        target: Target,
        *,
        button: str = "left",
        count: int = 1,
        modifiers: Sequence[str] = (),
        position: tuple[float, float] | None = None,
        force: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Click the node: scrolled into view, at a visible point, where nothing covers it, by real mouse events.

        Waits until it can be clicked. `position` is relative to the top left of the node's border box, in CSS
        pixels; `modifiers` are names such as "Control"; `force` skips the checks.

        Raises Covered, Invisible, Disabled, Unstable (all NotInteractable) when the node cannot be clicked by
        the deadline, StaleRef and NodeNotFound when it is not there.
        """
        action = f"{'click' if count == 1 else 'double click' if count == 2 else f'{count}-fold click'}"
        async with self._action(f"{action} {describe_target(target)}", timeout) as budget:
            return await click(
                resolve(self._target, self._refs, target),
                mouse=self.mouse,
                worlds=self._worlds,
                budget=budget,
                button=button,
                count=count,
                modifiers=modifiers,
                position=position,
                force=force,
                interruptions=self._target,
            )

    async def double_click(
        self,
        target: Target,
        *,
        button: str = "left",
        modifiers: Sequence[str] = (),
        position: tuple[float, float] | None = None,
        force: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Click the node twice, as one double click. As `click` in everything else."""
        return await self.click(
            target,
            button=button,
            count=2,
            modifiers=modifiers,
            position=position,
            force=force,
            timeout=timeout,
        )

    async def hover(
        self,
        target: Target,
        *,
        modifiers: Sequence[str] = (),
        position: tuple[float, float] | None = None,
        force: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Move the mouse onto the node. Checks and errors as `click`; a disabled node can be hovered."""
        async with self._action(f"hover {describe_target(target)}", timeout) as budget:
            return await hover(
                resolve(self._target, self._refs, target),
                mouse=self.mouse,
                worlds=self._worlds,
                budget=budget,
                modifiers=modifiers,
                position=position,
                force=force,
                interruptions=self._target,
            )

    async def type(
        self, target: Target, text: str, *, submit: bool = False, delay: float = 0, timeout: float = 30
    ) -> ActionOutcome:
        """Focus the node and type `text` at the end of what is there, by real key events.

        What the US keyboard lacks is inserted as text. `delay` is seconds between keys; `submit` presses Enter
        at the end. Raises Disabled for a node that is disabled or read-only, NotInteractable for one that
        takes no text, and as `click` does.
        """
        async with self._action(f"type into {describe_target(target)}", timeout) as budget:
            return await type_text(
                resolve(self._target, self._refs, target),
                text,
                keyboard=self.keyboard,
                worlds=self._worlds,
                budget=budget,
                submit=submit,
                delay=delay,
                interruptions=self._target,
            )

    async def press(self, key: str, target: Target | None = None, *, timeout: float = 30) -> ActionOutcome:
        """Press a key or a chord: "Enter", "a", "Control+A", "ControlOrMeta+C"; on `target` if one is given.

        Raises InvalidArgument, before anything is sent, for a key that does not exist.
        """
        on = "" if target is None else f" on {describe_target(target)}"
        async with self._action(f"press {str(key)[:40]}{on}", timeout) as budget:
            node = None if target is None else resolve(self._target, self._refs, target)
            return await press(
                key,
                node=node,
                keyboard=self.keyboard,
                worlds=self._worlds,
                budget=budget,
                interruptions=self._target,
            )

    async def focus(self, target: Target, *, timeout: float = 30) -> ActionOutcome:
        """Give the node the keyboard focus, without a click. Raises as `press` does."""
        async with self._action(f"focus {describe_target(target)}", timeout) as budget:
            return await focus(
                resolve(self._target, self._refs, target),
                worlds=self._worlds,
                budget=budget,
                interruptions=self._target,
            )

    async def scroll_into_view(self, target: Target, *, timeout: float = 30) -> None:
        """Scroll, as little as needed, until the node is in the viewport."""
        async with self._action(f"scroll {describe_target(target)} into view", timeout):
            node = resolve(self._target, self._refs, target)
            await node.session.call("DOM.scrollIntoViewIfNeeded", backendNodeId=node.backend_node_id)

    async def set_viewport(
        self, width: int, height: int, *, device_scale_factor: float = 1, timeout: float = 30
    ) -> None:
        """Make the viewport that large, in CSS pixels."""
        async with self._action("set the viewport", timeout):
            await self.session.call(
                "Emulation.setDeviceMetricsOverride",
                width=width,
                height=height,
                deviceScaleFactor=device_scale_factor,
                mobile=False,
            )

    # --- its JavaScript --------------------------------------------------------------------------------------

    async def evaluate(
        self,
        expression_or_function: str,
        *args: object,
        target: Target | None = None,
        world: World = "main",
        timeout: float = 30,
    ) -> Any:
        """Evaluate an expression, or call a function with `args`, and return its value; promises are awaited.

        Runs on a session of its own, so it never holds up another action. When the timeout or a surrounding
        cancel scope ends it, the page's script is terminated first. `target`, a ref or node, is passed to the
        function as its first argument. Arguments and values are what JSON holds, and NaN, the infinities, -0
        and big integers; undefined is None.

        Raises EvaluationFailed when the script threw, EvaluationTimeout at the deadline, EvaluationTerminated
        when the page navigated away or another termination hit it.
        """
        return await self._evaluate("evaluate", expression_or_function, args, target, world, timeout)

    async def _evaluate(
        self,
        action: str,
        source: str,
        args: Sequence[object],
        target: Target | None,
        world: World,
        timeout: float,
    ) -> Any:
        if not isinstance(source, str):
            raise InvalidArgument(
                what="expression_or_function",
                given=f"a {type(source).__name__}",
                expected="JavaScript as a str",
            )
        budget = Budget.start(action, timeout)
        node = None if target is None else resolve(self._target, self._refs, target)
        return await self._evaluator.evaluate(source, args, node=node, world=world, budget=budget)

    @asynccontextmanager
    async def _action(
        self, action: str, timeout: float, *, also_unready: bool = False
    ) -> AsyncIterator[Budget]:
        """Run one action under its budget, once the page is ready for it.

        With `also_unready`, a page that is crashed or stuck will do: the action brings it back.
        """
        with within(action, timeout) as budget:
            await (self._target.started() if also_unready else self._target.ready())
            yield budget
