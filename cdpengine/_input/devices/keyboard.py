"""Keyboard: presses and releases keys on one session's focused element.

Rule: without a delay, all messages of a call are sent together, in order, and then awaited. So no other input
can come between them, and a cancelled press leaves no key down. Input.insertText enters text for which the
layout has no keys, in whole grapheme clusters. The text is registered as a secret with the connection's
instruments before the first message that contains a part of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, TypeAlias

import attrs
import trio

from cdpengine._checks import check_string
from cdpengine._input.devices.keys import (
    ALTGRAPH,
    COMMANDING,
    SHIFT,
    US,
    Chord,
    Key,
    Layout,
    chord_named,
    clusters,
    editing_commands,
    key_named,
    layout_of,
)
from cdpengine._input.devices.mouse import (
    NO_INTERRUPTIONS,
    HeldKeys,
    Interruptions,
    check_delay,
    release,
    wait_for_delivery,
)
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import ConnectionLostError, InvalidArgumentError, SessionGoneError

_MOST_IN_FLIGHT = 256
_FEWEST_IN_FLIGHT = 128
"""Maximum and minimum number of key messages in flight: enough to keep Chrome busy, and few enough to stop soon if
cancelled. A press takes two messages."""


_NUMPAD = 3
"""The location of the keys of the numeric keypad (`KeyboardEvent.DOM_KEY_LOCATION_NUMPAD`)."""

_REPLACED = "Page.frameNavigated"

_ACTIVATING = frozenset(("Enter", " "))
"""Keys that activate the focused link or button."""

_ACTING = frozenset("\n\r\t")
"""Characters whose keys have effects besides typing."""


class KeyboardDevice:
    """The keyboard of one page (or out-of-process frame), initially with the US layout.

    `interruptions` reports dialogs that block responses. `held` contains the keys that are down. On macOS
    (`held.mac`), editing chords are also sent as commands.
    """

    def __init__(
        self,
        session: Session,
        interruptions: Interruptions = NO_INTERRUPTIONS,
        *,
        held: HeldKeys | None = None,
    ) -> None:
        self.session = session
        self._held = held or HeldKeys()
        self._layout = US
        self._interruptions = interruptions

    @property
    def modifiers(self) -> int:
        """The bitmask of the modifier keys that are down: Alt 1, Control 2, Meta 4, Shift 8."""
        return self._held.modifiers

    @property
    def mac(self) -> bool:
        """Whether the browser runs on macOS."""
        return self._held.mac

    @property
    def layout(self) -> str:
        """The name of the layout: "us", "uk", "de" or "fr".

        The layout determines which characters have keys, and the `code` and `keyCode` that pages see. Setting an
        unknown name raises InvalidArgumentError.
        """
        return self._layout.name

    @layout.setter
    def layout(self, name: str) -> None:
        self._layout = layout_of(name, self._layout)

    def on(self, session: Session) -> KeyboardDevice:
        """Return the keyboard for input on another session, or this one if the session is the same.

        Both share the keys that are down.
        """
        if session.id == self.session.id:
            return self
        other = KeyboardDevice(session, self._interruptions, held=self._held)
        other._layout = self._layout
        return other

    def check_layout(self, layout: str | Layout | None) -> None:
        """Raise InvalidArgumentError for an unknown layout. Sends nothing."""
        layout_of(layout, self._layout)

    def check_chord(self, chord: str, layout: str | Layout | None = None) -> None:
        """Raise InvalidArgumentError if the layout lacks a key of the chord. Sends nothing."""
        chord_named(chord, mac=self._held.mac, layout=layout_of(layout, self._layout))

    async def down(self, key: str) -> bool:
        """Press and hold a key. If the key is already down, it repeats (auto-repeat).

        Returns whether a dialog opened. If cancelled while waiting for the response, it releases the key. Raises
        InvalidArgumentError for an unknown key.
        """
        known = self._with_modifiers(key_named(key, mac=self._held.mac, layout=self._layout), self._layout)
        await trio.lowlevel.checkpoint_if_cancelled()
        pending = self._post_down(known)
        try:
            return await wait_for_delivery([pending], self._interruptions)
        except BaseException:
            await self._release([known])
            raise

    async def up(self, key: str) -> bool:
        """Release a key. Return whether a dialog opened. Raises InvalidArgumentError for an unknown key."""
        known = self._with_modifiers(key_named(key, mac=self._held.mac, layout=self._layout), self._layout)
        await trio.lowlevel.checkpoint_if_cancelled()
        return await wait_for_delivery([self._post_up(known)], self._interruptions)

    async def press(self, chord: str, delay: float = 0, *, layout: str | Layout | None = None) -> bool:
        """Press and release a key or chord such as "Enter", "a", "Shift+ArrowLeft", "ControlOrMeta+C".

        `delay` is the time between press and release, in seconds. `layout` is the layout for this press only.
        Returns whether a dialog opened. Raises InvalidArgumentError for an unknown key or layout, before
        anything is sent.
        """
        with_keys = layout_of(layout, self._layout)
        known = chord_named(chord, mac=self._held.mac, layout=with_keys)
        known = attrs.evolve(known, key=self._with_modifiers(known.key, with_keys))
        check_delay(delay)
        await trio.lowlevel.checkpoint_if_cancelled()
        if not delay:
            return await wait_for_delivery(self._post_chord(known), self._interruptions)
        keys = [*known.held, known.key]
        try:
            if await wait_for_delivery([self._post_down(key) for key in keys], self._interruptions):
                self._post_ups(keys)
                return True
            await trio.sleep(delay)
        except BaseException:
            await self._release(keys)
            raise
        return await wait_for_delivery(self._post_ups(keys), self._interruptions)

    async def press_each(self, *chords: str) -> bool:
        """Press the chords in order, sent together. Return whether a dialog opened."""
        known = [chord_named(chord, mac=self._held.mac, layout=self._layout) for chord in chords]
        await trio.lowlevel.checkpoint_if_cancelled()
        posted = [pending for chord in known for pending in self._post_chord(chord)]
        return await wait_for_delivery(posted, self._interruptions)

    async def type(self, text: str, delay: float = 0, *, layout: str | Layout | None = None) -> bool:
        """Type `text` into the focused element: one press per character that the layout has.

        A line break presses Enter, a tab presses Tab. An accented character may take two presses (a dead key and a
        letter). Other characters are inserted, adjacent ones together. `delay` is the pause after each character,
        in seconds. `layout` is the layout for this call only. Returns whether a dialog opened; the rest of `text`
        was then not sent. If cancelled, up to 128 more characters may be typed. Raises InvalidArgumentError before
        anything is sent.
        """
        return await self.type_pieces(self.split(text, delay, layout), delay)

    def split(self, text: str, delay: float, layout: str | Layout | None) -> list[Piece]:
        """Split `text` into the pieces that `type` sends, in order. Raises the errors of `type`."""
        check_text(text)
        check_delay(delay)
        with_keys = layout_of(layout, self._layout)
        split = [*pieces(text, with_keys, joined=not delay)]
        if self._held.down:
            split = [
                (piece, tuple(self._with_modifiers(key, with_keys) for key in keys)) for piece, keys in split
            ]
            self._add_secrets("".join("".join(key.text for key in keys) or piece for piece, keys in split))
        self._add_secrets(text)
        return split

    async def type_pieces(
        self,
        split: Iterable[Piece],
        delay: float,
        stop: Callable[[], bool] = lambda: False,
        pace: Callable[[], Awaitable[None]] | None = None,
    ) -> bool:
        """Type as `type` does, but call `stop` between batches, and end if it returns True.

        With `pace`, each piece is a batch, and `pace` is awaited after it.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        batch: list[PendingCall] = []
        wait = self._wait_for_keys
        for piece, keys in split:
            for key in keys:
                batch += self._post_press(key)
            if not keys:
                batch.append(self._post_insertion(piece))
                wait = self._wait_until_inserted
            # Enter and Tab take effect (submit, move the focus) before later characters are sent.
            left = 0 if delay or pace or piece in _ACTING else _FEWEST_IN_FLIGHT
            if not left or len(batch) >= _MOST_IN_FLIGHT:
                if await wait(batch, left):
                    return True
                batch = batch[len(batch) - left :]
                if delay:
                    await trio.sleep(delay)
                if pace is not None:
                    await pace()
                if stop():
                    break
        return await wait(batch) if batch else False

    async def compose(self, text: str, *steps: str, delay: float = 0) -> bool:
        """Enter `text` as an input method does: composed in `steps`, then committed.

        For compose("\u4f60\u597d", "n", "ni", "nih", "niha", "nihao"), the page receives compositionstart;
        compositionupdate, beforeinput and input for each step; and compositionend. Without steps, each step adds
        one character. `delay` is the pause after each step in seconds. Returns whether a dialog opened; the rest
        was then not sent. If cancelled during a pause, the composition is withdrawn.
        """
        grown = steps or tuple(_prefixes(text))
        for step in (text, *grown):
            check_text(step)
        check_delay(delay)
        await trio.lowlevel.checkpoint_if_cancelled()
        self._add_secrets(*steps, text)
        if not delay:
            posted = [self._post_composition(step) for step in grown]
            return await self._wait_until_inserted([*posted, self._post_insertion(text)])
        try:
            for step in grown:
                if await self._wait_until_inserted([self._post_composition(step)]):
                    return True
                await trio.sleep(delay)
        except BaseException:
            await self._withdraw_composition()
            raise
        return await self._wait_until_inserted([self._post_insertion(text)])

    async def insert_text(self, text: str, *, behind: Callable[[], object] | None = None) -> bool:
        """Insert `text` as an input method does: beforeinput and input events, no key events.

        `behind` posts a message directly after the insertion. Returns whether a dialog opened.
        """
        check_text(text)
        await trio.lowlevel.checkpoint_if_cancelled()
        self._add_secrets(text)
        insertion = self._post_insertion(text)
        if behind is not None:
            behind()
        return await self._wait_until_inserted([insertion])

    async def _wait_for_keys(self, pendings: list[PendingCall], left: int = 0) -> bool:
        return await wait_for_delivery(pendings, self._interruptions, left)

    async def _wait_until_inserted(self, pendings: list[PendingCall], left: int = 0) -> bool:
        """Wait as `wait_for_delivery` does, for inserted text, whose responses can get lost with their document.

        Chrome never responds to Input.insertText and Input.imeSetComposition if the document is replaced before
        the page has received the insertion. After a replacement, wait only as long as for cancelled calls.
        """
        waiting = trio.CancelScope()

        def note(_event: Event) -> None:
            waiting.cancel()

        with self.session.listening({_REPLACED: note}), waiting:
            return await wait_for_delivery(pendings, self._interruptions, left)
        return False

    def _add_secrets(self, *texts: str) -> None:
        for text in texts:
            self.session.connection.instruments.add_secret(text)

    def _with_modifiers(self, key: Key, layout: Layout) -> Key:
        """Return the key that `key` becomes while the held modifier keys stay down.

        As on a real keyboard: with Shift, the A key types "A". With Control and without Shift it is "a".
        """
        shift = bool(self._held.modifiers & SHIFT)
        altgr = any(other.key == ALTGRAPH for other in self._held.down.values())
        if key.is_modifier:
            return key
        if shift or altgr:
            return layout.with_modifiers(key, shift=shift, altgr=altgr)
        commanding = self._held.modifiers & COMMANDING and key.text.isalpha()
        return layout.plain(key) if commanding and key.shifted else key

    # --- posting: immediately, in order, without waiting -----------------------------------------------------

    def _post_chord(self, chord: Chord) -> list[PendingCall]:
        downs = [self._post_down(key) for key in chord.held]
        pressed = self._post_press(chord.key)
        return [*downs, *pressed, *self._post_ups(chord.held)]

    def _post_press(self, key: Key) -> list[PendingCall]:
        return [self._post_down(key), self._post_up(key)]

    def _post_composition(self, text: str) -> PendingCall:
        end = len(text.encode("utf-16-le")) // 2  # pages count UTF-16 units
        return self.session.post("Input.imeSetComposition", text=text, selectionStart=end, selectionEnd=end)

    def _post_insertion(self, text: str) -> PendingCall:
        return self.session.post("Input.insertText", text=text)

    async def _withdraw_composition(self) -> None:
        with suppress(SessionGoneError, ConnectionLostError):  # the page is gone, and the composition with it
            await release([self._post_composition("")])

    def _post_ups(self, keys: list[Key] | tuple[Key, ...]) -> list[PendingCall]:
        return [self._post_up(key) for key in reversed(keys)]

    def _post_down(self, key: Key) -> PendingCall:
        repeated = key.code in self._held.down
        self._held.down[key.code] = key
        modifiers = self._modifiers_with(key)
        if key.key in _ACTIVATING:
            self._held.note_activation(modifiers)
        text = key.text_with(modifiers)
        # "keyDown" types its text itself. "rawKeyDown" is for keys without text.
        params = _key_event("keyDown" if text else "rawKeyDown", key, modifiers)
        if text:
            params["text"] = params["unmodifiedText"] = text
        if repeated:
            params["autoRepeat"] = True
        if self._held.mac and (commands := editing_commands(key, modifiers)):
            params["commands"] = list(commands)
        return self.session.post("Input.dispatchKeyEvent", **params)

    def _post_up(self, key: Key) -> PendingCall:
        self._held.down.pop(key.code, None)
        params = _key_event("keyUp", key, self._modifiers_with(key))
        return self.session.post("Input.dispatchKeyEvent", **params)

    def _modifiers_with(self, key: Key) -> int:
        # Capital letters and characters such as "?" need Shift, and pages check shiftKey.
        return self._held.modifiers | (SHIFT if key.shifted else 0)

    async def _release(self, keys: list[Key]) -> None:
        pressed = [key for key in keys if key.code in self._held.down]
        try:
            await release(self._post_ups(pressed))
        except (SessionGoneError, ConnectionLostError):
            self._held.down.clear()  # the page is gone, so no key is down


def _key_event(kind: str, key: Key, modifiers: int) -> dict[str, Any]:
    """Return the parameters of a key event without Chrome's defaults, which keeps frequent messages short."""
    params: dict[str, Any] = {
        "type": kind,
        "key": key.key,
        "code": key.code,
        "windowsVirtualKeyCode": key.key_code,
    }
    if modifiers:
        params["modifiers"] = modifiers
    if key.location:
        params["location"] = key.location
        if key.location == _NUMPAD:
            params["isKeypad"] = True
    return params


Piece: TypeAlias = tuple[str, tuple[Key, ...]]
"""A part of a string and the keys that type it. Without keys, it is inserted."""


def pieces(text: str, layout: Layout = US, *, joined: bool = True) -> Iterator[Piece]:
    """Split text into pieces that keys type, with those keys, and pieces to insert, without keys.

    `joined`: combine adjacent inserted pieces.
    """
    inserted = ""
    for cluster in clusters(text):
        cluster = "\n" if cluster == "\r\n" else cluster
        keys = layout.keys_for(cluster)
        if not keys and joined:
            inserted += cluster
            continue
        if inserted:
            yield inserted, ()
            inserted = ""
        yield cluster, keys
    if inserted:
        yield inserted, ()


def count_typed(split: Iterable[Piece], sent: int) -> tuple[int, int]:
    """Return the number of characters typed by the first `sent` keys and insertions, and the total."""
    typed = total = 0
    for piece, keys in split:
        sent -= len(keys) or 1
        total += len(piece)
        if sent >= 0:
            typed += len(piece)
    return typed, total


def _prefixes(text: str) -> Iterator[str]:
    grown = ""
    for cluster in clusters(text):
        grown += cluster
        yield grown


def check_text(text: str) -> None:
    """Raise InvalidArgumentError unless `text` is a valid Unicode string. The error does not contain it."""
    check_string("text", text)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidArgumentError(
            what="text", given="a string with an unpaired surrogate", expected="whole characters"
        ) from None
