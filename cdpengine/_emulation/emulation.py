"""Emulation of the device, place and user that pages see, in layers.

Rule: a layer belongs to one page and its popups, or to a context. While it exists, it applies before the first
script of every new document and frame. A page's effective settings are the merged settings of its layers; the
nearest layer wins. When a layer ends, its pages get the remaining settings. A page without layers has Chrome's
defaults, except for the default viewport of pages that this program opened. A layer that Chrome refuses has no
lasting effect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

import attrs
import trio

from cdpengine._budget import undoing
from cdpengine._emulation.commands import (
    EVALUATION_SESSION,
    PROCESS_WIDE,
    SETTING_OF,
    UNDO,
    Command,
    change_headers,
    commands,
)
from cdpengine._emulation.options import Settings
from cdpengine._logs import get_logger
from cdpengine._page.page_target import REVIVED, PageTarget
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.session import Session
from cdpengine.errors import (
    ConnectionLostError,
    InvalidArgumentError,
    ProtocolError,
    RemoteError,
    SessionGoneError,
)

logger = get_logger("cdpengine.state")

_UNDO_TIMEOUT = 0.5
"""Seconds that undoing waits for replies. Commands are executed in order, even by a hanging page."""

_OTHERS_TIMEOUT = 1.0
"""Seconds to wait for the replies of other pages than the caller's. Later replies are accepted too."""

_MAX_SEPARATE_PARTS = 100
"""Maximum number of lasting settings per page or context that can still end separately; older ones are merged."""

_TAKEN = "already in effect"

_SIZES = frozenset({"viewport", "screen"})
"""Settings that a popup with an explicit size does not inherit from its opener or its context."""

Applies = Callable[[PageTarget], bool]


@attrs.define(eq=False)
class Layer:
    """Settings of a page (`page_id`, with its popups) or of the pages that `applies` accepts."""

    settings: Settings
    page_id: str | None = None
    applies: Applies | None = None

    def holds_for(self, page: PageTarget) -> bool:
        """Return whether the layer applies to the page."""
        if self.page_id is not None:
            return self.page_id in page.lineage
        return self.applies is not None and self.applies(page)


@attrs.define(eq=False)
class _LastingLayer:
    """The lasting settings under one key: one layer merged from parts that can end separately."""

    whole: Layer
    base: Settings = attrs.field(factory=dict)
    parts: list[Layer] = attrs.field(factory=list)

    def add(self, part: Layer) -> None:
        self.parts.append(part)
        self._merge()

    def remove(self, part: Layer) -> bool:
        """Remove a part. Return False if it was already removed."""
        if part not in self.parts:
            return False
        self.parts.remove(part)
        self._merge()
        return True

    def _merge(self) -> None:
        while len(self.parts) > _MAX_SEPARATE_PARTS:
            self.base = {**self.base, **self.parts.pop(0).settings}
        self.whole.settings = dict(self.base)
        for part in self.parts:
            self.whole.settings = {**self.whole.settings, **part.settings}

    @property
    def is_empty(self) -> bool:
        return not self.base and not self.parts


@attrs.define(eq=False)
class _Sent:
    session: Session
    group: str
    command: Command
    call: PendingCall


class Emulations:
    """The emulated settings of one browser.

    `pages` are the browser's pages; `post` is called for each new session of a page.
    """

    def __init__(self, pages: Mapping[str, PageTarget]) -> None:
        self._default_viewport: tuple[int, int] | None = None
        self._pages = pages
        self._layers: list[Layer] = []
        self._lasting: dict[object, _LastingLayer] = {}
        self._applied: dict[Session, dict[str, Command]] = {}
        self._touched: dict[Session, set[str]] = {}

    def post(self, page: PageTarget, session: Session) -> list[PendingCall]:
        """Send the settings of a page to a new session and its evaluation session.

        The replies are processed here.
        """
        if session is page.session:
            session.on_end(self._forget_closed_pages)
            page.on_evaluation_session(
                lambda evaluation_session: self._post_to_new(page, evaluation_session, EVALUATION_SESSION)
            )
        self._post_to_new(page, session, session.target_type)
        if (evaluation_session := page.evaluation_sessions.get(session.target_id or "")) is not None:
            self._post_to_new(page, evaluation_session, EVALUATION_SESSION)
        return []

    def set_default_viewport(self, viewport: tuple[int, int] | None) -> None:
        """Set the viewport of all pages of this program, and of their popups that have no explicit size.

        None means the size of the window. Does not wait for replies.
        """
        self._default_viewport = viewport
        for page in list(self._pages.values()):
            self._post_to_new(page, page.session, page.session.target_type)

    def adopt(self, page: PageTarget) -> None:
        """Set the default viewport of a page that this program opened in another program's browser.

        Does not wait.
        """
        page.ours = True
        self._post_to_new(page, page.session, page.session.target_type)

    def _post_to_new(self, page: PageTarget, session: Session, kind: str) -> None:
        if self._layers or (page.ours and self._default_viewport is not None):
            with suppress(ConnectionLostError, SessionGoneError):
                if sent := self._post_changes(page, session, kind):
                    page.nursery.start_soon(self._log_answers, sent, name="emulate for a new target")

    def settings_of(self, page: PageTarget) -> dict[str, object]:
        """Return the effective settings of a page."""
        layers = [layer for layer in self._layers if layer.holds_for(page)]
        # The context's layers first, then the layers of the page's openers, the page's layers last.
        layers.sort(key=lambda layer: -1 if layer.page_id is None else page.lineage.index(layer.page_id))
        default = self._default_viewport if page.ours and not page.own_size else None
        merged: dict[str, object] = {} if default is None else {"viewport": default}
        for layer in layers:
            settings = layer.settings
            if page.own_size and layer.page_id != page.target_id:
                settings = {key: value for key, value in settings.items() if key not in _SIZES}
            merged.update(settings)
        if merged.get("viewport") == "default":
            merged["viewport"] = default
        return merged

    def change_headers(self, page: PageTarget, headers: Mapping[str, str]) -> dict[str, str]:
        """Return the headers of a page's request as Chrome sends them with the page's settings."""
        return change_headers(headers, self.settings_of(page))

    def settings_of_context(self, applies: Applies) -> dict[str, object]:
        """Return the settings of a context, whose layers have the condition `applies`."""
        merged: dict[str, object] = {}
        for layer in self._layers:
            if layer.page_id is None and layer.applies == applies:
                merged.update(layer.settings)
        return merged

    async def begin(self, layer: Layer, page: PageTarget | None = None) -> None:
        """Apply a layer. `page` is the page whose reply is awaited. Call `end` afterwards, even if this raises.

        Raises InvalidArgumentError, also if Chrome refuses, SessionGoneError, ConnectionLostError.
        """
        self._layers.append(layer)
        await self._take(self._spread(), page)

    async def end(self, layer: Layer) -> None:
        """End a layer. Ignores a layer that never began. Shielded and bounded."""
        if layer in self._layers:
            self._layers.remove(layer)
            await self._restore()

    async def keep(self, key: object, layer: Layer, page: PageTarget | None = None) -> None:
        """Apply settings from now on, in addition to earlier settings of `keep` under the same key.

        Raises the errors of `begin`. After an error or a cancellation, the earlier settings apply.
        """
        lasting = self._lasting.get(key)
        if lasting is None:
            lasting = self._lasting[key] = _LastingLayer(Layer({}, layer.page_id, layer.applies))
            self._layers.insert(0, lasting.whole)  # below every scope that is open
        lasting.add(layer)
        try:
            await self._take(self._spread(), page)
        except BaseException:
            await self.release(key, layer)
            raise

    async def release(self, key: object, layer: Layer) -> None:
        """Remove one layer that `keep` added under that key, if it still exists. Shielded and bounded."""
        lasting = self._lasting.get(key)
        if lasting is not None and lasting.remove(layer):
            if lasting.is_empty:
                self.drop(key)
            await self._restore()

    async def forget(self, key: object) -> None:
        """Remove all settings of `keep` under that key."""
        if key in self._lasting:
            self.drop(key)
            await self._restore()

    def drop(self, key: object) -> None:
        """Drop the settings of `keep` under a key whose pages are closed."""
        lasting = self._lasting.pop(key, None)
        if lasting is not None:
            self._layers.remove(lasting.whole)

    def metrics(self, page: PageTarget) -> Command:
        """Return the command that restores the page's viewport, for a caller that changes it briefly."""
        return commands(self.settings_of(page), "page").get("metrics", UNDO["metrics"])

    def _forget_closed_pages(self) -> None:
        """Drop the lasting settings of closed pages whose popups are closed too."""
        if self._lasting:
            needed = {target_id for page in self._pages.values() for target_id in page.lineage}
            for key in [key for key in self._lasting if isinstance(key, str) and key not in needed]:
                self.drop(key)

    # --- sending ---------------------------------------------------------------------------------------------

    def _spread(self) -> list[_Sent]:
        """Post the changed settings to every session."""
        sent = []
        for page in list(self._pages.values()):
            for session in (*page.frame_sessions.values(), *page.worker_sessions.values()):
                sent += self._post_changes(page, session, session.target_type)
            for evaluation_session in page.evaluation_sessions.values():
                sent += self._post_changes(page, evaluation_session, EVALUATION_SESSION)
        return sent

    def _post_changes(self, page: PageTarget, session: Session, kind: str) -> list[_Sent]:
        if session.ended:
            return []
        if session.crashed:
            with session.posting_early():
                self._post_new(page, session, kind)
            return []  # answered after a reload
        return self._post_new(page, session, kind)

    def _post_new(self, page: PageTarget, session: Session, kind: str) -> list[_Sent]:
        needed = commands(self.settings_of(page), kind)
        applied = self._applied.get(session)
        if applied is None:
            if not needed:
                return []
            applied = self._applied[session] = {}
            session.on_end(lambda: self._forget_session(session))
            session.on_event(REVIVED, lambda _event: self._catch_up(page, session, kind))
            session.on_event("Page.frameNavigated", lambda _event: self._claim_again(session))
        sent: list[_Sent] = []
        freed: set[str] = set()
        for group, undo in UNDO.items():
            now, then = needed.get(group), applied.get(group)
            if now == then:
                continue
            if then is not None and group in PROCESS_WIDE:
                freed.add(group)
            self._touched.setdefault(session, set()).add(group)
            if now is not None:
                applied[group] = now
            else:
                del applied[group]
            command = now or undo
            sent.append(_Sent(session, group, command, session.post(command.method, **command.params)))
        self._claim(freed, session)
        return sent

    def _claim(self, groups: set[str], former: Session) -> None:
        """Send process-wide settings again to the sessions that may have had them through `former`."""
        if not groups:
            return
        for session, applied in self._applied.items():
            for group in groups & applied.keys():
                if session is not former and session.error() is None:
                    session.post(applied[group].method, **applied[group].params)

    def _forget_session(self, session: Session) -> None:
        applied = self._applied.pop(session, {})
        self._touched.pop(session, None)
        with suppress(ConnectionLostError, SessionGoneError):
            self._claim(set(PROCESS_WIDE & applied.keys()), session)

    def _catch_up(self, page: PageTarget, session: Session, kind: str) -> None:
        """Send all settings again to a page that was reloaded after a crash, which lost them."""
        needed = commands(self.settings_of(page), kind)
        self._applied[session] = dict(needed)
        with suppress(ConnectionLostError, SessionGoneError):
            for group, undo in UNDO.items():
                if group in needed or group in self._touched.get(session, ()):
                    command = needed.get(group, undo)
                    self._touched.setdefault(session, set()).add(group)
                    session.post(command.method, **command.params)

    def _claim_again(self, session: Session) -> None:
        """Send process-wide settings again to sessions that had them through a session that may have moved."""
        if len(self._applied) > 1:
            with suppress(ConnectionLostError, SessionGoneError):
                self._claim(set(PROCESS_WIDE & self._applied.get(session, {}).keys()), session)

    # --- replies ----------------------------------------------------------------------------------------------

    async def _take(self, sent: list[_Sent], page: PageTarget | None) -> None:
        """Wait for the replies, but only briefly for the replies of sessions outside of `page`."""
        sessions = () if page is None else (page.session, page.evaluation_session)
        own = [each for each in sent if each.session in sessions]
        for each in own:
            try:
                await each.call.raw()
            except RemoteError as error:
                self._raise_refusal(each, error)
        with trio.move_on_after(_OTHERS_TIMEOUT):
            for each in sent:
                if each not in own:
                    await self._wait_for_answer(each)
        await trio.lowlevel.checkpoint()

    async def _wait_for_answer(self, each: _Sent) -> None:
        try:
            await each.call.raw()
        except RemoteError as error:
            self._raise_refusal(each, error)
        except (SessionGoneError, ProtocolError) as error:
            logger.debug("%s got no emulation: %s", each.session.describe(), error)

    async def _log_answers(self, sent: list[_Sent]) -> None:
        """Process the replies of a new session. Refusals are logged, because no caller waits for them."""
        with suppress(ConnectionLostError):
            for each in sent:
                try:
                    await self._wait_for_answer(each)
                except InvalidArgumentError as error:
                    logger.warning("%s: %s", each.session.describe(), error)

    def _raise_refusal(self, each: _Sent, error: RemoteError) -> None:
        name = SETTING_OF.get(each.group, each.group)
        given = repr(next(iter(each.command.params.values()), ""))[:80]
        if error.message.endswith(_TAKEN):
            others = (applied for session, applied in self._applied.items() if session is not each.session)
            if any(applied.get(each.group) == each.command for applied in others):
                return  # another session of this program has set it in the process
            reason = "another page of the same process, or another client, has set another value"
            raise _not_emulated(name, given, reason) from None
        if error.message.startswith("Invalid"):
            expected = f"a value that Chrome accepts (it answered {error.message!r})"
            raise InvalidArgumentError(what=name, given=given, expected=expected) from None
        raise _not_emulated(name, given, f"Chrome answered {error.message!r}") from None

    async def _restore(self) -> None:
        """Send the remaining settings to every session. Shielded, with a deadline; ended sessions are skipped."""
        with undoing(_UNDO_TIMEOUT), suppress(ConnectionLostError):
            for each in self._spread():
                with suppress(SessionGoneError, RemoteError, ProtocolError):
                    await each.call.raw()


def _not_emulated(name: str, given: str, reason: str) -> InvalidArgumentError:
    expected = f"a value that can be emulated here ({reason}). The previous setting is in effect"
    return InvalidArgumentError(what=name, given=given, expected=expected)
