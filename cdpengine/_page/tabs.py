"""Tabs: attaches every page, sets it up, and lets it run.

Rule: a new target is paused until its session is set up and its evaluation session (a second session that can
terminate its scripts) is attached and has answered. Only a session that existed before can free a hung page. The
set-up is sent in one batch. A target that does not answer delays no other target.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from weakref import WeakSet

import trio

from cdpengine._logs import get_logger
from cdpengine._notifier import Notifier
from cdpengine._page.dialog_feed import DialogFeed
from cdpengine._page.dialogs import DialogPolicy, TrackedDialog
from cdpengine._page.downloads.downloads import Downloads
from cdpengine._page.first_requests import FirstRequests
from cdpengine._page.navigation.activation import attach_later_session
from cdpengine._page.new_tabs import NewTabs
from cdpengine._page.page_target import PageTarget, post_use
from cdpengine._page.scripts.evaluation_sessions import ConnectionOpener, EvaluationSessions
from cdpengine._page.scripts.remote_resources import RemoteResources
from cdpengine._page.worker_targets import WorkerTargets
from cdpengine._protocol.calls import PendingCall, SharedCall
from cdpengine._protocol.domains.page import FrameTreeReply
from cdpengine._protocol.session import Attachment, Connection, Session, Targets
from cdpengine.errors import (
    ConnectionLostError,
    ProtocolError,
    RemoteError,
    SessionGoneError,
    TargetCrashedError,
)

logger = get_logger("cdpengine.browser")

EVALUATION_SESSION_TIMEOUT = 2.0
"""Time in seconds for which a new page is paused for its evaluation session. Afterwards it runs."""

_CLOSE_TIMEOUT = 1.0
"""Time in seconds until a page that is still open gets the close command again.

Chrome gives a page that does not answer half a second, and restarts the time with each command (measured)."""

Posted = PendingCall | SharedCall

SetUp = Callable[[PageTarget, Session], Sequence[Posted]]
"""Posts the set-up of a session (a page's, frame's or worker's) before its first script runs."""

Renew = Callable[[PageTarget, Session], Awaitable[None]]
"""Applies the set-up of a new document to an activated one."""

Restore = Callable[[PageTarget], Sequence[Posted]]
"""Posts the changes to a page's set-up since its document was put into the back/forward cache."""

BLANK = "about:blank"

_PAGES_ONLY = [{"type": "page", "exclude": False}, {"exclude": True}]
_NO_SERVICE_WORKERS = [
    {"type": "service_worker", "exclude": True},  # if attached, it would never terminate
    {"type": "shared_worker", "exclude": True},
    {"type": "tab", "exclude": True},
    {},
]


class Tabs:
    """All pages of one browser. `opener` opens the connection of the evaluation sessions, or is None.

    `opener_optional`: if it fails at the start, evaluations use `connection`. `launched`: this program started the
    browser, so all its pages are used immediately. Pages of other browsers are used from the first action on.
    A page that opens with `unlisted_url` is not listed. It is a secret, so that no site can hide a page.
    """

    def __init__(
        self,
        connection: Connection,
        opener: ConnectionOpener | None,
        nursery: trio.Nursery,
        *,
        opener_optional: bool = False,
        launched: bool = True,
    ) -> None:
        self.connection = connection
        self.evaluation_sessions = EvaluationSessions(connection, opener, nursery, optional=opener_optional)
        self.pages: dict[str, PageTarget] = {}
        self.unlisted_url = f"{BLANK}#{secrets.token_hex(16)}"
        self.changes = Notifier()
        self._launched = launched
        self._start_page = ""
        self._dialog_policy, self._has_dialog_policy = DialogPolicy(), False
        self._dialog_owner: Callable[[PageTarget], object] = lambda _target: None
        self._dialog_feeds: WeakSet[DialogFeed] = WeakSet()
        self.creations = RemoteResources(connection.root, nursery)
        self.downloads = Downloads(connection.root, self.pages, nursery)
        self.workers = WorkerTargets(connection.root, self.changes, self.creations)
        self._set_ups: list[SetUp] = []
        self._renewals: dict[SetUp, Renew] = {}
        self._restorations: dict[SetUp, Restore] = {}
        self._page_listeners: list[Callable[[PageTarget], None]] = []
        self._new_tabs = NewTabs()
        self.first_requests = FirstRequests(connection, self.pages, self.changes, nursery)
        self._nursery = nursery

    def set_dialog_policy(self, policy: DialogPolicy) -> None:
        """Set the dialog policy for new pages. Popups inherit their opener's policy."""
        self._dialog_policy, self._has_dialog_policy = policy, True

    def set_dialog_owner(self, owner_of: Callable[[PageTarget], object]) -> None:
        """Set the function that returns the user's object for a page: the value of `Dialog.page`."""
        self._dialog_owner = owner_of

    def feed_dialogs(self, feed: DialogFeed) -> None:
        """Report the dialogs of all pages to `feed` from now on, while it is in use."""
        self._dialog_feeds.add(feed)

    def _note_dialog(self, page: PageTarget, tracked: TrackedDialog) -> None:
        for feed in self._dialog_feeds:
            feed.note(page, tracked)

    def add_set_up(self, set_up: SetUp, renew: Renew | None = None, restore: Restore | None = None) -> None:
        """Call `set_up` for each session of a new page, before its first script runs.

        `renew` is called for a page's session after Chrome has activated a prerendered document. The reader calls
        `restore` for a page whose document returns from the back/forward cache.
        """
        self._set_ups.append(set_up)
        if renew is not None:
            self._renewals[set_up] = renew
        if restore is not None:
            self._restorations[set_up] = restore

    def remove_set_up(self, set_up: SetUp) -> None:
        """Remove a set-up function. An unknown one is not an error."""
        if set_up in self._set_ups:
            self._set_ups.remove(set_up)
        self._renewals.pop(set_up, None)
        self._restorations.pop(set_up, None)

    def _restore(self, page: PageTarget) -> list[Posted]:
        return [call for restore in tuple(self._restorations.values()) for call in restore(page)]

    async def _renew(self, page: PageTarget) -> None:
        await attach_later_session(page.session)
        for session in tuple(page.frame_sessions.values()):
            await self._renew_session(page, session)

    async def _renew_session(self, page: PageTarget, session: Session) -> None:
        if session is page.session or page.activation.take(session):
            for renew in tuple(self._renewals.values()):
                await renew(page, session)

    @contextmanager
    def follow_new_pages(self, listener: Callable[[PageTarget], None]) -> Iterator[None]:
        """Call `listener` with each new page during the block, even if it is closed already."""
        self._page_listeners.append(listener)
        try:
            yield
        finally:
            self._page_listeners.remove(listener)

    async def start(self) -> None:
        """Make Chrome attach all current and future pages. Does not wait for any page to answer.

        Raises ConnectFailedError if the evaluation sessions' connection cannot be opened.
        """
        await self.evaluation_sessions.start()
        root = self.connection.root
        root.on_end(self.changes.notify)
        root.on_event("Target.targetCreated", self._new_tabs.note_target)
        root.on_event("Target.targetDestroyed", lambda _event: self.changes.notify())
        self._nursery.start_soon(self._follow, self.connection.targets, name="tabs")
        calls = [
            root.post("Target.setDiscoverTargets", discover=True),
            root.post(
                "Target.setAutoAttach",
                autoAttach=True,
                waitForDebuggerOnStart=True,
                flatten=True,
                filter=_PAGES_ONLY,
            ),
        ]
        for call in calls:
            await call.raw()

    def offer_start_page(self) -> None:
        """Let the first new page be the blank page that a launched browser opened, unless it has others too."""
        infos = self.connection.targets.infos.values()
        pages = [info.target_id for info in infos if info.type == "page"]
        self._start_page = pages[0] if len(pages) == 1 else ""

    def take_start_page(self) -> str | None:
        """Return the id of the offered page once, or None if it has left its blank document.

        Return None while new pages are followed, because the page is not new.
        """
        info = self.connection.targets.infos.get(self._start_page)
        if info is None or info.url != BLANK or self._page_listeners:
            return None
        self._start_page = ""
        return info.target_id

    async def wait_for(self, target_id: str) -> PageTarget:
        """Wait until a target that Chrome created is attached, and return its page.

        Raises SessionGoneError if the target ends before that, and ConnectionLostError.
        """

        def attached() -> PageTarget | None:
            if error := self.connection.root.error():
                raise error
            page = self.pages.get(target_id)
            # Chrome announces a target before it answers the command that created it.
            if page is None and target_id not in self.connection.targets.infos:
                raise SessionGoneError(
                    target=f"page {target_id[:8]}", reason="it was closed during its opening"
                )
            return page

        return await self.changes.wait_for(attached)

    async def close(self, target_id: str) -> None:
        """Close a target and wait until it is gone. A missing target is not an error.

        Raises ConnectionLostError, RemoteError.
        """
        root = self.connection.root
        for session in self.connection.targets.sessions.values():
            if session.target_id == target_id:
                session.closing_reason = "this program closed it"

        def gone() -> bool:
            if error := root.error("Target.closeTarget"):
                raise error
            return target_id not in self.pages and target_id not in self.connection.targets.infos

        while True:
            try:
                await root.call("Target.closeTarget", targetId=target_id)
            except RemoteError as error:
                if not gone() and "No target with given id" not in error.message:
                    raise
            # Chrome confirms and ignores the command while the page changes its document. Then it is sent again.
            with trio.move_on_after(_CLOSE_TIMEOUT):
                await self.changes.wait_for(gone)
                return

    async def _follow(self, targets: Targets) -> None:
        async for attachment in targets.attachments:
            self._note_worker(attachment)
            if attachment.session.ended and not (attachment.info.type == "page" and self._page_listeners):
                self._free_opener(attachment)
                continue
            parent = attachment.session.parent
            if attachment.info.url == self.unlisted_url:
                self._start(_run, attachment.session)
            elif attachment.info.type == "page" and attachment.info.target_id not in self.pages:
                self._add_page(attachment)
            elif attachment.info.type == "iframe" and (page := self._page_of(attachment.session)) is not None:
                self._start(self._set_up_frame, page, attachment)
            elif attachment.waiting or (parent is not None and parent.id is not None):
                self._start(self._release, self._page_of(attachment.session), attachment)
            # A remaining session was attached by a user on the browser's session; that user detaches it.

    def _note_worker(self, attachment: Attachment) -> None:
        """Add a dedicated worker, even one that has ended already, for an expectation."""
        if attachment.info.type == "worker" and (page := self._page_of(attachment.session)) is not None:
            self.workers.attach(attachment.session, attachment.info, page.target_id)

    @property
    def nursery(self) -> trio.Nursery:
        """The nursery of tasks that last as long as the browser. Their exceptions end the engine."""
        return self._nursery

    def in_background(self, function: Callable[..., Awaitable[None]], *args: object) -> None:
        """Run a task about one target. The end of the target or the connection ends it without an error."""
        self._start(function, *args)

    def _start(self, function: Callable[..., Awaitable[None]], *args: object) -> None:
        self._nursery.start_soon(partial(_until_gone, function, *args), name=function.__name__)

    def _add_page(self, attachment: Attachment) -> None:
        # A popup can open a dialog before its policy is set, so it has its opener's policy.
        info = self._new_tabs.with_opener(attachment.info)
        opener = self.pages.get(info.opener_id or "")
        policy = self._dialog_policy if opener is None else opener.dialogs.policy
        page = PageTarget(
            attachment.session,
            info,
            Notifier(self.changes),
            self._nursery,
            policy,
            opener=opener,
            paused_at_start=attachment.waiting,
            owner_of=self._dialog_owner,
        )
        page.is_drawn_behind = self._launched
        page.ours = self._launched if opener is None else opener.ours
        if not (self._launched if opener is None else opener.running.used):
            page.leave_alone()
            page.dialogs.answering = self._has_dialog_policy
        page.dialogs.on_opening(partial(self._note_dialog, page))
        page.activation.renew = partial(self._renew, page)
        page.restore = partial(self._restore, page)
        self.pages[page.target_id] = page
        self._new_tabs.follow(page)
        self._new_tabs.report(page.target_id)

        def ended() -> None:
            self.pages.pop(page.target_id, None)
            self.changes.notify()
            if not page.running.is_set_up:
                self._free_opener(attachment)

        for listener in tuple(self._page_listeners):  # also a closed page, for an expectation
            listener(page)
        page.session.on_end(ended)
        if page.session.ended:
            self._free_opener(attachment)
            return
        self._start(self._set_up_page, page, attachment)
        self.changes.notify()

    def _free_opener(self, attachment: Attachment) -> None:
        """Free the opener of a page that was closed while it was paused.

        Chrome leaves its script in `window.open`: the page answers, but its promises do not settle, and no
        termination ends it (measured).
        """
        opener = self.pages.get(attachment.info.opener_id or "")
        if not attachment.waiting or opener is None or opener.closed or self.connection.lost is not None:
            return
        frame = opener.frames.get(attachment.info.opener_frame_id or "") or opener.frames.main
        self._start(_run, frame.session)

    def _page_of(self, session: Session) -> PageTarget | None:
        parent = session.parent
        while parent is not None and parent.id is not None:
            for page in self.pages.values():
                if page.session is parent:
                    return page
            parent = parent.parent
        return None

    # --- set-up ---------------------------------------------------------------------------------------------

    async def _set_up_page(self, page: PageTarget, attachment: Attachment) -> None:
        session, waiting = page.session, attachment.waiting
        session.domains.add_user("Page")
        self.evaluation_sessions.keep(page, session, paused_at_start=waiting)
        while not page.closed:
            try:
                # Inspector.enable reports immediately whether the renderer is dead, which is possible on
                # connecting.
                calls: list[tuple[str, Posted]] = [("crash", session.post("Inspector.enable"))]
                calls += _post_set_up(session, page.running.used)
                if waiting:
                    await self._wait_for_evaluation_session(page, session)
                calls += self._post_further(page, session)
                if waiting:
                    calls.append(("run", session.post("Runtime.runIfWaitingForDebugger")))
                    waiting = False
                page.set_started()
                await _wait_for_answers(calls, page.take_frame_tree)
            except TargetCrashedError:
                # Unanswered commands are lost; they are sent again when a navigation has restored the page.
                page.set_started()
                await page.changes.wait_for(lambda: page.closed or not session.crashed)
            else:
                page.running.set_ready()
                return

    async def _wait_for_evaluation_session(self, page: PageTarget, session: Session) -> None:
        def settled() -> bool:
            target_id = session.target_id
            return (
                session.ended
                or target_id in page.evaluation_sessions
                or target_id in page.evaluation_session_errors
            )

        with trio.move_on_after(EVALUATION_SESSION_TIMEOUT) as grace:
            await page.wait_for(settled)
        if grace.cancelled_caught:
            # Not an issue for users: evaluation in the page waits for its evaluation session.
            logger.debug(
                "%s runs before its evaluation session: it was not ready in time", session.describe()
            )

    async def _set_up_frame(self, page: PageTarget, attachment: Attachment) -> None:
        session = attachment.session
        session.domains.add_user("Page")
        take = page.attach_frame_session(session)
        self.evaluation_sessions.keep(page, session, paused_at_start=attachment.waiting)
        try:
            # The renderer can be dead already: a document is restored with an iframe whose process crashed.
            calls: list[tuple[str, Posted]] = [("crash", session.post("Inspector.enable"))]
            calls += _post_set_up(session, page.running.used)
            if attachment.waiting:
                await self._wait_for_evaluation_session(page, session)
            calls += self._post_further(page, session)
            calls.append(("run", session.post("Runtime.runIfWaitingForDebugger")))
            await _wait_for_answers(calls, take)
            if not attachment.waiting and page.activation.is_shown(page.frames.main):
                await self._renew_session(page, session)
        except TargetCrashedError:
            page.frames.add_crashed(session, attachment.info)
        page.set_frame_session_ready(session)

    def _post_further(self, page: PageTarget, session: Session) -> list[tuple[str, Posted]]:
        return [("further", call) for set_up in self._set_ups for call in set_up(page, session)]

    async def _release(self, page: PageTarget | None, attachment: Attachment) -> None:
        session = attachment.session
        calls: list[tuple[str, Posted]] = []
        worker = self.workers.known.get(attachment.info.target_id)
        if worker is not None and attachment.waiting:
            worker.pause(session)
        elif worker is not None:
            worker.start()
        if page is not None:
            if attachment.info.type == "worker":
                page.attach_worker_session(session)
                calls.append(("attach", _post_auto_attach(session)))  # for the workers that it starts
            calls += self._post_further(page, session)
        else:
            calls += [("further", call) for call in self.workers.set_up(session)]
        await _run(session)
        await _wait_for_answers(calls)
        if worker is not None and attachment.waiting:
            await worker.wait_loaded()


async def _run(session: Session) -> None:
    """Resume a target that Chrome paused."""
    try:
        await session.call("Runtime.runIfWaitingForDebugger")
    except RemoteError as error:
        logger.info("%s was not waiting: %s", session.describe(), error)


def _post_set_up(session: Session, used: bool) -> list[tuple[str, Posted]]:
    return [
        ("enable", session.post("Page.enable")),
        ("lifecycle", session.post("Page.setLifecycleEventsEnabled", enabled=True)),
        ("frames", session.post("Page.getFrameTree")),
        *(post_use(session) if used else ()),
        ("attach", _post_auto_attach(session)),
    ]


def _post_auto_attach(session: Session) -> PendingCall:
    return session.post(
        "Target.setAutoAttach",
        autoAttach=True,
        waitForDebuggerOnStart=True,
        flatten=True,
        filter=_NO_SERVICE_WORKERS,
    )


async def _wait_for_answers(
    calls: Sequence[tuple[str, Posted]], take: Callable[[FrameTreeReply], None] | None = None
) -> None:
    for name, call in calls:
        try:
            if take is not None and name == "frames" and isinstance(call, PendingCall):
                take(await call.decoded(FrameTreeReply))
            else:
                await call.raw()
        except (RemoteError, ProtocolError) as error:
            # An older Chrome, or a target without this command: the page still works, with fewer functions.
            logger.info("part of a page's set-up was refused: %s", error)


async def _until_gone(function: Callable[..., Awaitable[None]], *args: object) -> None:
    """Run a task about one target. The end of the target or the connection ends it without an error."""
    try:
        await function(*args)
    except (SessionGoneError, ConnectionLostError) as gone:
        logger.debug("%s ended: %s", function.__name__, gone)
    except ProtocolError as error:
        logger.info("%s ended: %s", function.__name__, error)
