"""Page: what one does with a page.

Rule: every public method takes one `timeout`, makes one Budget of it, and hands it down; what is done stands in
the layer below, a method here only says in which order. Nothing here waits beyond its budget, whatever the
page does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from cdpengine._api.page_core import PageCore
from cdpengine._api.scopes.awaitable_scope import AwaitableScope
from cdpengine._api.scopes.emulation import PageEmulation
from cdpengine._api.scopes.measure import PageMeasure
from cdpengine._api.scopes.network import Network
from cdpengine._api.scopes.scripts import Scripts
from cdpengine._api.scopes.setting_scope import SettingScope
from cdpengine._api.scopes.storage import PageStorage
from cdpengine._api.scopes.window import PageWindow
from cdpengine._api.verbs.evaluating import EvaluatingVerbs
from cdpengine._api.verbs.expecting import Expected, ExpectingVerbs
from cdpengine._api.verbs.finding import FindingVerbs
from cdpengine._api.verbs.forms import FormVerbs
from cdpengine._api.verbs.navigating import NavigatingVerbs
from cdpengine._api.verbs.pictures import PictureVerbs
from cdpengine._api.verbs.pointing import PointingVerbs
from cdpengine._api.verbs.reading import ReadingVerbs
from cdpengine._api.verbs.waiting import WaitingVerbs
from cdpengine._budget import within
from cdpengine._evaluate.recovery import Recovery, check_recovery, extra_wait_for, recover_page
from cdpengine._network.constants import ResourceType
from cdpengine._network.interceptor import RouteHandler, RouteRegistration, Stage
from cdpengine._page.dialogs import Dialog, DialogHandler, DialogPolicy, PolicyName
from cdpengine._page.frames import Frame
from cdpengine._page.navigation.liveness import QUICK_PROBE
from cdpengine._page.urls import UrlPattern
from cdpengine._protocol.instruments import span as action_span
from cdpengine._protocol.session import Session
from cdpengine.errors import InvalidArgumentError, RecoveryReport, shown_url

if TYPE_CHECKING:
    from cdpengine._api.browser import Browser
    from cdpengine._api.context import BrowserContext


class Page(
    NavigatingVerbs,
    EvaluatingVerbs,
    PointingVerbs,
    FormVerbs,
    ReadingVerbs,
    PictureVerbs,
    FindingVerbs,
    WaitingVerbs,
    ExpectingVerbs,
):
    """One page (tab, popup). Get it from `browser.new_page()` or `browser.pages`.

    What one does with it all the time it has itself. The rest is in its parts: `network`, `emulation`, `storage`,
    `scripts`, `measure`, `window`, `activity`; and its devices, `keyboard`, `mouse` and `touch`.
    """

    def __init__(self, browser: Browser, core: PageCore) -> None:
        super().__init__(core)
        self.browser = browser
        self.keyboard = core.keyboard
        self.mouse = core.mouse
        self.touch = core.touch
        scope = SettingScope.of_page(core)
        self.network = Network(scope)
        self.scripts = Scripts(scope)
        self.emulation = PageEmulation(core)
        self.measure = PageMeasure(core)
        self.window = PageWindow(core)

    def __repr__(self) -> str:
        return f"<Page {self.target_id[:8]} {shown_url(self.url)[:60]!r}>"

    @property
    def session(self) -> Session:
        """The page's own session, for any protocol command and event. Evaluation has another one."""
        return self._core.session

    @property
    def target_id(self) -> str:
        """Chrome's id of the page."""
        return self._core.target.target_id

    @property
    def url(self) -> str:
        """Where the page is, as of the last event; fragment included. "about:blank" before its first document."""
        return self._core.target.frames.main.url or "about:blank"

    @property
    def frames(self) -> list[Frame]:
        """The page's frames, the main one first."""
        return list(self._core.target.frames)

    @property
    def context(self) -> BrowserContext:
        """The context that the page belongs to."""
        return self.browser.context_of(self)

    @property
    def context_id(self) -> str | None:
        """Chrome's id of the browser context that the page belongs to."""
        return self._core.target.context_id

    @property
    def closed(self) -> bool:
        """Whether the page is gone."""
        return self._core.target.closed

    @property
    def storage(self) -> PageStorage:
        """What the page stores: its cookies, which are its context's, and the storages of its documents."""
        return PageStorage(self._core, self.context.id)

    @property
    def popups(self) -> list[Page]:
        """The open pages that this page opened, oldest first, those with `noopener` included."""
        return [page for page in self.browser.pages if page.opener is self]

    @property
    def opener(self) -> Page | None:
        """The page that opened this one, if it still is there."""
        opener_id = self._core.target.opener_id
        return None if opener_id is None else self.browser.page(opener_id)

    @property
    def dialogs(self) -> list[Dialog]:
        """The latest JavaScript dialogs that opened, and how they were answered. They never wait for a human."""
        return self._core.target.dialogs.records

    def set_dialog_policy(
        self, policy: PolicyName | DialogHandler, *, prompt_text: str | None = None
    ) -> None:
        """Say how the page's dialogs are answered from now on, those of its frames and later popups included.

        "default": alerts and questions before leaving are accepted, confirm and prompt dismissed. "accept"
        (`prompt_text` goes into prompts; without it, what stands there), "dismiss". "raise" dismisses too, and the
        action or evaluate during which the dialog opened raises DialogOpenedError at its end. Dismissing a
        question before leaving keeps the page where it is: the navigation raises NavigationFailedError.

        A function, sync or async, is given the Dialog and returns a DialogAnswer, a bool, the text of a prompt, or
        None for the default answer. It runs as a task of the engine; it gets 5 s, and cannot ask the page anything
        meanwhile: the page stands still. If it fails, the default answer is given, `Dialog.failure` says why, and
        the error is logged. Raises InvalidArgumentError.
        """
        self._core.target.dialogs.set_policy(DialogPolicy.checked(policy, prompt_text))

    async def close(self, *, timeout: float = 30) -> None:
        """Close the page and wait until it is gone. Also works on a page whose script never ends."""
        with action_span("page.close"), within("close the page", timeout):
            await self._core.state.tabs.close(self.target_id)

    async def unresponsive_for(self) -> float:
        """Return for how many seconds at least the page has not answered; 0.0 when it answers within 50 ms.

        It counts from the first question that was left without an answer: ask early, or use `recover_after` of
        `launch` and `connect`. Raises TargetCrashedError, SessionGoneError, ConnectionLostError when there is no
        page to ask.
        """
        return await self._core.target.pulse.silence(QUICK_PROBE)

    async def recover(self, *, allow: Recovery = "terminate", timeout: float = 30) -> RecoveryReport:
        """Bring back a page that does not answer, whatever hung it; nothing is done to one that answers.

        A page that is only slow has half a second for that, and once more after the termination; less where
        `timeout` is below ten seconds. "terminate": its dialog is dismissed, its script terminated. "reload": if
        that was not enough (a synchronous XMLHttpRequest), its process is ended and the document loaded again.
        "close": if it was not enough, the page is closed. Both termination and reload hit the page's whole
        process, so its popups and pages of the same site too: their scripts end with EvaluationTerminatedError,
        and after a reload they have crashed. The report tells what was done, and whether the page answers. Raises
        DeadlineExceededError; a reload or closing goes on then, and the page's next action waits for it.
        """
        check_recovery(allow)
        with action_span("page.recover"), within("recover the page", timeout):
            report = await recover_page(self._core.target, allow=allow, extra_wait=extra_wait_for(timeout))
            if report.under_way:
                await self._core.target.recovered()
                report = self._core.target.last_recovery or report
            return report

    @asynccontextmanager
    async def expect_popup(
        self, *, url: UrlPattern | None = None, timeout: float = 30
    ) -> AsyncIterator[Expected[Page]]:
        """Expect that the block opens a page whose opener this page is: `window.open`, `target=_blank`.

        With or without `noopener`. As `Browser.expect_page` in everything else.
        """
        own = self.browser.page(self.target_id)
        if own is None:
            raise self._core.session.error() or InvalidArgumentError(
                what="page", given="a page that is gone", expected="an open page"
            )
        async with self.browser.expect_page(opener=own, url=url, timeout=timeout) as expected:
            yield expected

    async def bring_to_front(self, *, timeout: float = 30) -> None:
        """Make it the window's active tab. Actions do not need it."""
        async with self._core.action("bring to front", timeout):
            await self._core.session.call("Page.bringToFront")

    def route(
        self,
        pattern: UrlPattern,
        handler: RouteHandler,
        *,
        resource_type: ResourceType | Collection[ResourceType] = (),
        stage: Stage = "request",
        limit: float = 30,
        timeout: float = 30,
    ) -> AwaitableScope[RouteRegistration]:
        """Have `handler` answer the requests whose URL matches: `network.route`, which says how."""
        return self.network.route(
            pattern, handler, resource_type=resource_type, stage=stage, limit=limit, timeout=timeout
        )

    async def set_viewport(
        self, width: int, height: int, *, device_scale_factor: float = 1, timeout: float = 30
    ) -> None:
        """Make the viewport that large, in CSS pixels; `emulation.set(viewport=...)` can do it for a block."""
        await self.emulation.set(
            viewport=(width, height),
            device_scale_factor=device_scale_factor,
            mobile=False,
            timeout=timeout,
        )
