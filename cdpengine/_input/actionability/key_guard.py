"""Key guards: keep the keys and text of an action from reaching another element.

Rule: the guard is armed in the call that focuses the node, directly after the focus change. The page may move
the focus at any time after that. The guard then holds back, in the page, the first key that would reach another
element and all keys after it. So the engine can send keys without waiting between them. Held-back keys raise
FocusMovedError.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import attrs
import msgspec

from cdpengine._input.blocked_calls import unless_blocked
from cdpengine._input.devices.mouse import Interruptions
from cdpengine._javascript import own
from cdpengine._page.scripts.page_functions import (
    OBJECT,
    SETTLED_VALUE,
    VALUE,
    How,
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

T = TypeVar("T")

_LOST = own("function ({ id }) { return this.keys.lost(id); }")
_REPORT = own("function ({ id }) { return this.keys.report(id); }")
_FOCUSED = own("function ({ id }) { return this.keys.focused(id); }")
_TYPED = own("function ({ id }) { return this.keys.typed(id); }")
_STRAY = own("function ({ id }) { return this.keys.stray(id); }")

_numbers = itertools.count(1)


class KeyReport(msgspec.Struct):
    """The result of key_guard.js for one action's keys.

    Attributes:
        taken: Keys, and insertions of text without keys, that the element received. Counted only if `counted`.
        keys: Number of keys among `taken`.
        held: Keys and insertions that were held back.
        lost: Whether any were held back.
        unseen: Whether the focus moved to a document in which keys cannot be held back.
        counted: Whether the page has frames, so that keys and insertions were counted.
        tabbed: Whether one of the keys was Tab.
        stray: Description of the element that had the focus instead, "" if none.
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

    `single`: one key or chord is sent, not a string. `tabs`: the keys include Tab.
    """

    action: str
    node: Node
    single: bool = False
    tabs: bool = False
    id: str = attrs.field(factory=lambda: f"k{next(_numbers)}", init=False)
    _library: RemoteHandle | None = attrs.field(default=None, init=False)
    _loss: PendingCall | None = attrs.field(default=None, init=False)

    def arming(self) -> dict[str, Any]:
        """Return the arguments of `arm` in key_guard.js."""
        return {"id": self.id, "single": self.single, "tabs": self.tabs}

    def note_armed(self, library: RemoteHandle) -> None:
        """Store the library of the world in which the guard is armed."""
        self._library = library

    def watch(self) -> None:
        """Post a request that the page answers when it holds back a key. Does not wait for the answer."""
        if self._library is not None and self._loss is None:
            self._loss = self._library.post(_LOST, {"id": self.id}, how=SETTLED_VALUE)

    @property
    def lost(self) -> bool:
        """Whether the page has reported a held-back key since `watch`."""
        return self._loss is not None and self._loss.done

    def check_document(self, typed: int, total: int) -> None:
        """Raise FocusMovedError if the page has replaced its document before all characters were sent.

        `typed` is the number of characters known to be typed, of `total`.
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

    async def wait_for_focus_effects(
        self, interruptions: Interruptions, navigation: SideEffects | None
    ) -> bool:
        """Wait until the page has done what it scheduled when the text field got the focus.

        Return whether it had scheduled something: see pace.js. Call it before the first key.
        """
        return await self._ask(_FOCUSED, bool, interruptions, navigation) or False

    async def wait_for_key_effects(
        self, interruptions: Interruptions, navigation: SideEffects | None
    ) -> None:
        """Wait until the page has done what it scheduled at the last key, about 12 ms, or a frame: see pace.js."""
        await self._ask(_TYPED, msgspec.Raw | None, interruptions, navigation)  # type: ignore[arg-type]

    async def _ask(
        self,
        function: str,
        kind: type[T],
        interruptions: Interruptions,
        navigation: SideEffects | None,
        *,
        how: How = SETTLED_VALUE,
    ) -> T | None:
        """Call a function of the guard. Return None if the page cannot answer."""
        library = self._library
        assert library is not None  # keys are only sent after the guard is armed

        async def ask() -> T | None:
            # The call fails if the page navigated or closed, possibly because of the keys.
            with suppress(RemoteError, SessionGoneError):
                return await value_of(library.post(function, {"id": self.id}, how=how), kind)
            return None

        return await unless_blocked(ask, interruptions, navigation)

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
        """End the guard after the page has handled the keys, and check that the element received them.

        On return the page has reported the effects of the keys, in particular a navigation. A page that is
        navigating or has a dialog open may not report. `sent` is the number of keys and of insertions without
        keys, `keys` the number of keys among them. `stopped`: more were still to be sent. `count` maps a number of
        keys and insertions to (typed, total), in `unit`.

        Raises FocusMovedError if the element did not receive all of them.
        """
        report = await self._ask(_REPORT, KeyReport | None, interruptions, navigation, how=VALUE)  # type: ignore[arg-type]
        if report is None:
            return
        if not report.lost:
            self._library = None
        missing = report.unseen and (stopped or report.taken + report.held < sent)
        # A page's listener on the window may stop all key events. Those keys are not lost.
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
        """Note that the guard has ended in the page. read_back.js ends it when a control shows the typed text."""
        self._library = None

    def end(self) -> None:
        """Remove the guard unless it has ended. Does not wait, so it also works during cancellation."""
        if self._loss is not None:
            self._loss.abandon()
        if self._library is not None:
            with suppress(SessionGoneError, ConnectionLostError):
                self._library.post(_STRAY, {"id": self.id}, how={})
