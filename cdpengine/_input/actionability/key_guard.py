"""Key guards: keys and text reach the element that they are meant for, and no other one.

Rule: the guard is armed in the call that gives the node the focus, right where it has got it. The page may pass
the focus on at any time after that. The first key that would go to another element is held back in the page, with
all that follow, so nothing has to be awaited between two keys. What was held back is an error that counts.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import attrs
import msgspec

from cdpengine._input.devices.mouse import Interruptions
from cdpengine._input.held_back import unless_held_back
from cdpengine._javascript import own
from cdpengine._page.scripts.page_functions import (
    OBJECT,
    SETTLED_VALUE,
    Node,
    RemoteHandle,
    object_group,
    object_of,
    value_of,
)
from cdpengine._page.side_effects import SideEffects
from cdpengine._protocol.calls import PendingCall
from cdpengine.errors import (
    ConnectionLostError,
    FocusMovedError,
    RemoteError,
    SessionGoneError,
)

_LOST = own("function ({ id }) { return this.keys.lost(id); }")
_REPORT = own("function ({ id }) { return this.keys.report(id); }")
_STRAY = own("function ({ id }) { return this.keys.stray(id); }")

_numbers = itertools.count(1)


class KeyReport(msgspec.Struct):
    """What became of the keys.

    `held`: keys, and pieces of text without keys, that were held back. `lost`: whether any were; `stray`: a
    description of what had the focus, "" for nothing. `unseen`: the focus went to a document where keys cannot be
    held back. Where the page has frames, they are `counted`: `taken` is how many the element received, `keys` how
    many keys of these. `tabbed`: a Tab was among the keys.
    """

    taken: int
    keys: int
    held: int
    lost: bool
    unseen: bool
    counted: bool
    tabbed: bool
    stray: str


@attrs.define(eq=False)
class KeyGuard:
    """The guard of one action's keys.

    `single`: one key or chord, and not a text. `tabs`: there are Tabs among the keys.
    """

    action: str
    node: Node
    single: bool = False
    tabs: bool = False
    id: str = attrs.field(factory=lambda: f"k{next(_numbers)}", init=False)
    _library: RemoteHandle | None = attrs.field(default=None, init=False)
    _loss: PendingCall | None = attrs.field(default=None, init=False)

    def arming(self) -> dict[str, Any]:
        """Return what key_guard.js is asked."""
        return {"id": self.id, "single": self.single, "tabs": self.tabs}

    def note_armed(self, library: RemoteHandle) -> None:
        """Note the library of the world in which it is armed."""
        self._library = library

    def watch(self) -> None:
        """Have the page report a key that is held back while more are sent. Sent and not waited for."""
        if self._library is not None and self._loss is None:
            self._loss = self._library.post(_LOST, {"id": self.id}, how=SETTLED_VALUE)

    @property
    def lost(self) -> bool:
        """Whether the page has reported a key that was held back, since `watch`."""
        return self._loss is not None and self._loss.done

    def check_document(self, typed: int, total: int) -> None:
        """Raise FocusMovedError when the page has another document by now, and not all of the text was sent.

        `typed` is how many of its `total` characters were, as far as is known.
        """
        if typed == total or self._loss is None or not self._loss.done:
            return
        try:
            self._loss.raw_nowait()
        except RemoteError:
            raise FocusMovedError(
                action=self.action,
                target=self.node.description,
                reason="its document was replaced",
                received_by="another document",
                typed=typed,
                total=total,
            ) from None

    async def conclude(
        self,
        interruptions: Interruptions,
        navigation: SideEffects | None,
        *,
        sent: int,
        keys: int = 0,
        stopped: bool = False,
        count: Callable[[int], tuple[int, int]] = lambda _: (0, 0),
        unit: str = "characters",
    ) -> None:
        """End the guard once the page has handled what was sent, and raise what it met.

        Returns when the page has reported what the keys set off in it, a navigation above all. A page that is
        about to show another document, or has a dialog open, need not answer any more. `sent` is how many
        keys, and pieces of text without keys, there were, `keys` how many keys of these; `stopped` says that more
        were to come. `count` returns how many of the text's `unit` the first so many of them type, and how many it
        has.

        Raises FocusMovedError.
        """
        library = self._library
        assert library is not None  # it was armed, or there would be no keys

        async def ask() -> KeyReport | None:
            # Refused where the page went away, with the keys as the cause or without.
            with suppress(RemoteError, SessionGoneError):
                return await value_of(library.post(_REPORT, {"id": self.id}), KeyReport | None)  # type: ignore[arg-type]
            return None

        report = await unless_held_back(ask, interruptions, navigation)
        if report is None:
            return
        if not report.lost:
            self._library = None
        missing = report.unseen and (stopped or report.taken + report.held < sent)
        # A page whose listener keeps all keys from other listeners has not lost them.
        missing = missing or (report.counted and 0 < report.keys + report.held < keys)
        missing = missing and not report.tabbed
        if report.lost or missing:
            typed, total = count(report.taken if missing else sent - report.held)
            raise FocusMovedError(
                action=self.action,
                target=self.node.description,
                reason="the focus moved on",
                received_by=report.stray,
                held_back=report.lost,
                typed=typed,
                total=total,
                unit=unit,
                focus_node=await self._find_stray(),
                session_id=self.node.session.id,
            )

    async def _find_stray(self) -> int | None:
        library, self._library = self._library, None
        if library is None:
            return None
        with suppress(RemoteError, SessionGoneError), object_group("focus") as group:
            stray = await object_of(
                library.post(_STRAY, {"id": self.id}, how=OBJECT, group=group), self.node.session
            )
            return None if stray is None else await stray.backend_node_id()
        return None

    def note_ended(self) -> None:
        """Note that it has ended in the page: held.js ends it where a control holds what was sent."""
        self._library = None

    def end(self) -> None:
        """Remove the guard, if that has not been done. Posted, not awaited: also while being cancelled."""
        if self._loss is not None:
            self._loss.abandon()
        if self._library is not None:
            with suppress(SessionGoneError, ConnectionLostError):
                self._library.post(_STRAY, {"id": self.id}, how={})
