"""The parts of a page, and the small one among them: its dialogs."""

from __future__ import annotations

from functools import partial

import attrs

from cdpengine._activity.console import ConsoleMessage
from cdpengine._activity.page_activity import PageActivity
from cdpengine._api.page.core import PageCore
from cdpengine._api.page.devices import Keyboard, Mouse, Touch
from cdpengine._api.page.elements import PageElements
from cdpengine._api.page.pictures import PagePictures
from cdpengine._api.page.script_arguments import hold_arguments
from cdpengine._api.page.tags import PageScripts
from cdpengine._api.page.window import PageWindow
from cdpengine._api.scopes.archives import make_redactor
from cdpengine._api.scopes.awaitable_scope import SettingScope
from cdpengine._api.scopes.clock import PageClock
from cdpengine._api.scopes.emulation import PageEmulation
from cdpengine._api.scopes.measure import PageMeasure
from cdpengine._api.scopes.network import Network
from cdpengine._api.scopes.traffic import ScopeTraffic
from cdpengine._evaluate.handles import JSHandle
from cdpengine._page.dialogs import Dialog, DialogHandler, DialogPolicy, PolicyName
from cdpengine._page.file_choosers import FileChooser
from cdpengine._pickling import not_picklable
from cdpengine._protocol.session import Session


@not_picklable("a list of the dialogs in it")
@attrs.frozen(eq=False)
class Dialogs:
    """The JavaScript dialogs of a page: `page.dialogs`. They never wait for a person."""

    _core: PageCore

    @property
    def records(self) -> list[Dialog]:
        """The latest dialogs, oldest first, and their answers."""
        return self._core.target.dialogs.records

    def set_policy(self, policy: PolicyName | DialogHandler, *, prompt_text: str | None = None) -> None:
        """Set the answers to later dialogs of the page, its frames and its later popups.

        "default" accepts alerts and beforeunload dialogs, and dismisses confirm and prompt. "accept" accepts all,
        with `prompt_text` as the answer to prompts (the default is the prompt's default text). "dismiss" dismisses
        all. "raise" dismisses too, and the action or evaluation during which the dialog opened raises
        DialogOpenedError at its end. If a beforeunload dialog is dismissed, the page stays, and the navigation
        raises NavigationFailedError.

        A function, sync or async, receives the Dialog. It returns a DialogAnswer, a bool, a string for a prompt,
        or None for the default answer. It runs as a task of the engine, for at most 5 s. It cannot query the page,
        because the open dialog blocks the page. If it fails, the default answer is used, `Dialog.failure` contains
        the reason, and the error is logged. Raises InvalidArgumentError.
        """
        self._core.target.use()
        self._core.target.dialogs.set_policy(DialogPolicy.checked(policy, prompt_text))


class PageParts(ScopeTraffic):
    """The parts and the state of a Page. They use its core, which is `internals`."""

    _noun = "page"

    def __init__(self, core: PageCore) -> None:
        super().__init__(SettingScope.of_page(core), core.state)
        self.internals = core
        self.keyboard = Keyboard(core.keyboard)
        self.mouse = Mouse(core.mouse)
        self.touch = Touch(core.touch)
        self.network = Network(self._scope, self._routes)
        self.scripts = PageScripts(self._scope, core)
        self.clock = PageClock(core, self._scope)
        self.emulation = PageEmulation(core)
        self.measure = PageMeasure(core)
        self.dialogs = Dialogs(core)
        self.elements = PageElements(core)
        self.pictures = PagePictures(core)
        self.window = PageWindow(core)

    @property
    def session(self) -> Session:
        """The page's session, for any protocol command and event. Evaluations use a separate session."""
        return self.internals.session

    @property
    def target_id(self) -> str:
        """Chrome's id of the page."""
        return self.internals.target.target_id

    @property
    def url(self) -> str:
        """The page's URL as of the last event, fragment included. "about:blank" before its first document."""
        return self.internals.target.frames.main.url or "about:blank"

    @property
    def context_id(self) -> str | None:
        """Chrome's id of the page's browser context."""
        return self.internals.target.context_id

    @property
    def closed(self) -> bool:
        """Whether the page is closed, or its browser is gone."""
        return self.internals.target.closed

    @property
    def activity(self) -> PageActivity:
        """Console messages, errors and requests of the page, kept from `activity.start()` on, or streamed."""
        core = self.internals
        collector = core.state.activities.of(core.target)
        return PageActivity(
            collector, partial(make_redactor, core.state), core.state.version.product, core.base_url
        )

    def console_handles(self, message: ConsoleMessage) -> list[JSHandle]:
        """Return handles to the arguments of a console message of this page. Sends nothing.

        They are valid while the message is kept, until the page leaves its document. Raises StaleRefError after
        that, and InvalidArgumentError for a message of a worker or of another page.
        """
        return hold_arguments(self.internals, message)

    @property
    def file_choosers(self) -> list[FileChooser]:
        """The latest file choosers of the page. They are never displayed: see `expect_file_chooser`."""
        return self.internals.target.choosers.records
