"""Text entry on nodes: type and press, focus and blur.

Rule: a field gets the focus as by the Tab key, without a pointer: nothing that reacts to a click is set off,
and what lies over the field does not matter. The caret then goes behind the text that is there, so typing adds
to it. Keys and text are checked before anything is sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import msgspec

from cdpengine._input.action import ActionContext, ActionOutcome
from cdpengine._input.actionability.key_guard import KeyGuard
from cdpengine._input.devices.keyboard import Piece, count_typed
from cdpengine._input.devices.keys import Layout
from cdpengine._input.forms.own_listeners import MASK_PAUSE, own_listeners
from cdpengine._input.held_back import unless_held_back
from cdpengine._javascript import script
from cdpengine._page.scripts.page_functions import Node
from cdpengine._protocol.session import Session
from cdpengine.errors import NotInteractableError, RemoteError, SessionGoneError, StaleRefError

_FEW_KEYS = 32
"""Keys that are all sent before the page could report one that was held back."""

_MOST_PAUSES = 64
"""Characters of a text that may be one for a mask."""


async def type_text(
    node: Node,
    text: str,
    *,
    context: ActionContext,
    submit: bool = False,
    delay: float = 0,
    layout: str | Layout | None = None,
) -> ActionOutcome:
    """Type `text` behind what the field holds, key by key; `submit` presses Enter after it.

    Works in inputs that take text, in textareas, in everything contenteditable, and on a label of a field.
    `delay` is the pause after each character in seconds; `layout` is the keyboard's own unless given. When a
    dialog opens, the rest is not typed.

    Raises InvalidArgumentError; FocusMovedError when the page moves the focus before the end of the text;
    StaleRefError when the node left its document; NotInteractableError at once when it can never take text or
    does not take the focus; InvisibleError or DisabledError (read-only too) when the budget ends first.
    """
    keyboard = context.keyboard.on(node.session)
    split = keyboard.split(text, delay, layout)
    guard = KeyGuard("type into", node, tabs="\t" in text)
    sent = pressed = 0

    def parts() -> Iterator[Piece]:
        nonlocal sent, pressed
        for piece, keys in split:
            sent += len(keys) or 1
            pressed += len(keys)
            yield piece, keys

    try:
        pause = await _focus(node, "type into", True, context, guard)
        if len(split) <= _MOST_PAUSES:
            delay = max(delay, pause)
        if delay or len(split) > _FEW_KEYS or "\n" in text:
            guard.watch()
        dialog = await keyboard.type_pieces(parts(), delay, lambda: guard.lost)
        guard.check_document(*count_typed(split, sent))
        if submit and not dialog and not guard.lost:
            dialog = await keyboard.press("Enter", layout=layout)
            sent += 1
        if not dialog:
            await guard.conclude(
                context.interruptions,
                context.navigation,
                sent=sent,
                keys=pressed,
                stopped=sent - submit < sum(len(keys) or 1 for _, keys in split),
                count=lambda arrived: count_typed(split, arrived),
            )
    finally:
        guard.end()
    return ActionOutcome("type into", node.description, dialog_opened=dialog)


async def press(
    key: str,
    *,
    context: ActionContext,
    node: Node | None = None,
    layout: str | Layout | None = None,
) -> ActionOutcome:
    """Press a key or chord such as "Control+A" on the node, or on whatever has the focus without one.

    Raises InvalidArgumentError for a key or layout that there is not, before anything is sent; else as `type_text`
    does.
    """
    keyboard = context.keyboard
    keyboard.check_chord(key, layout)
    if node is None:
        dialog = await keyboard.press(key, layout=layout)
        if not dialog:
            await _wait_for_effects(keyboard.session, context)
        return ActionOutcome(f"press {key}", "", dialog_opened=dialog)
    guard = KeyGuard(f"press {key} on", node, single=True, tabs=key.endswith("Tab"))
    try:
        await _focus(node, f"press {key} on", False, context, guard)
        dialog = await keyboard.on(node.session).press(key, layout=layout)
        if not dialog:
            await guard.conclude(context.interruptions, context.navigation, sent=1)
    finally:
        guard.end()
    return ActionOutcome(f"press {key}", node.description, dialog_opened=dialog)


async def focus(node: Node, *, context: ActionContext) -> ActionOutcome:
    """Give the node the focus. Raises as `press` does."""
    await _focus(node, "focus", False, context)
    return ActionOutcome("focus", node.description)


async def blur(node: Node, *, context: ActionContext) -> ActionOutcome:
    """Take the focus away from the node; from one that has it not, nothing is taken.

    Raises StaleRefError when the node left its document; NotInteractableError when it keeps the focus.
    """
    async with context.inspect(node, "blur") as inspection:
        left = await inspection.run(script("_input/forms/blur"), None, _Blurred)
    if not left.connected:
        raise StaleRefError(
            ref=node.description, description=node.description, reason="it is no longer in the document"
        )
    if not left.blurred:
        raise NotInteractableError(
            action="blur", target=node.description, reason="it, or something in it, takes the focus again"
        )
    return ActionOutcome("blur", node.description)


class _Blurred(msgspec.Struct):
    """What blur.js answers."""

    connected: bool
    blurred: bool


async def _wait_for_effects(session: Session, context: ActionContext) -> None:
    """Return when the page has reported what the keys set off in it, a navigation above all.

    Chrome answers keys by another way than the page's events come. A page that is about to show another document,
    or has a dialog open, need not answer any more: then all is known.
    """

    async def ask() -> None:
        # Refused where the page went away, with the keys as the cause or without.
        with suppress(RemoteError, SessionGoneError):
            await session.call("Runtime.getIsolateId")

    await unless_held_back(ask, context.interruptions, context.navigation)


async def _focus(
    node: Node,
    action: str,
    editable: bool,
    context: ActionContext,
    guard: KeyGuard | None = None,
) -> float:
    """Give the node the focus; return the pause in seconds after each key that its mask needs, 0 without one."""
    async with context.inspect(node, action) as inspection:
        focused = await inspection.wait_for_focus(editable=editable, at_end=editable, guard=guard)
        if not (editable and focused.fresh):
            return MASK_PAUSE if focused.masked else 0
        own = await own_listeners(inspection, labelled=focused.labelled)
        if own.focus and not focused.masked:
            await inspection.wait_for_frames()
            focused = await inspection.wait_for_focus(
                editable=editable, at_end=editable, guard=guard, again=True
            )
        return MASK_PAUSE if focused.masked or own.keys else 0
