"""Page: what one does with a page.

Rule: every public method takes one `timeout`, makes one Budget of it, and hands it down; what is done stands in
the layer below, a method here only says in which order. Nothing here waits beyond its budget, whatever the
page does.
"""

from __future__ import annotations

from cdpengine._api.page_activity import PageActivities
from cdpengine._api.page_emulation import PageEmulation
from cdpengine._api.page_expect import PageExpect
from cdpengine._api.page_find import PageFind
from cdpengine._api.page_forms import PageForms
from cdpengine._api.page_input import PageInput
from cdpengine._api.page_measure import PageMeasure
from cdpengine._api.page_navigation import PageNavigation
from cdpengine._api.page_network import PageNetwork
from cdpengine._api.page_pictures import PagePictures
from cdpengine._api.page_scripts import PageScripts
from cdpengine._api.page_view import PageView
from cdpengine._api.page_waiting import PageWaiting
from cdpengine._api.page_windows import PageWindows
from cdpengine._budget import within
from cdpengine._evaluate.recovery import Recovery, check_recovery, patience_of, recover_page
from cdpengine._page.dialogs import Dialog, DialogHandler, DialogPolicy, PolicyName
from cdpengine._page.navigation.liveness import QUICK_PROBE
from cdpengine._protocol.instruments import span as action_span
from cdpengine.errors import RecoveryReport


class Page(
    PageNavigation,
    PageScripts,
    PageInput,
    PageView,
    PageForms,
    PagePictures,
    PageFind,
    PageWaiting,
    PageExpect,
    PageWindows,
    PageActivities,
    PageNetwork,
    PageEmulation,
    PageMeasure,
):
    """One page (tab, popup). Get it from `browser.new_page()` or `browser.pages`."""

    @property
    def opener(self) -> Page | None:
        """The page that opened this one, if it still is there."""
        opener_id = self._target.opener_id
        return None if opener_id is None else self.browser.page(opener_id)

    @property
    def dialogs(self) -> list[Dialog]:
        """The latest JavaScript dialogs that opened, and how they were answered. They never wait for a human."""
        return self._target.dialogs.records

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
        self._target.dialogs.policy = DialogPolicy.checked(policy, prompt_text)

    async def close(self, *, timeout: float = 30) -> None:
        """Close the page and wait until it is gone. Also works on a page whose script never ends."""
        with action_span("page.close"), within("close the page", timeout):
            await self.browser.close_target(self.target_id)

    async def unresponsive_for(self) -> float:
        """Return for how many seconds at least the page has not answered; 0.0 when it answers within 50 ms.

        It counts from the first question that was left without an answer: ask early, or use `recover_after` of
        `launch` and `connect`. Raises TargetCrashedError, SessionGoneError, ConnectionLostError when there is no
        page to ask.
        """
        return await self._target.pulse.silence(QUICK_PROBE)

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
            report = await recover_page(self._target, allow=allow, patience=patience_of(timeout))
            if report.under_way:
                await self._target.recovered()
                report = self._target.last_recovery or report
            return report

    async def bring_to_front(self, *, timeout: float = 30) -> None:
        """Make it the window's active tab. Actions do not need it."""
        async with self._action("bring to front", timeout):
            await self.session.call("Page.bringToFront")
