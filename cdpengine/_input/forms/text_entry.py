"""Text entry on nodes: type, press, focus and blur.

Rule: a field is focused as by the Tab key, without a pointer. So no click handler runs, and elements that cover
the field do not matter. The caret then moves behind the existing text, so typing appends to it. Keys and text
are checked before anything is sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import msgspec

from cdpengine._input.action import ActionContext, ActionOutcome
from cdpengine._input.actionability.key_guard import KeyGuard
from cdpengine._input.actionability.requirements import Usability
from cdpengine._input.blocked_calls import unless_blocked
from cdpengine._input.devices.keyboard import Piece, count_typed
from cdpengine._input.devices.keys import Layout
from cdpengine._input.forms.own_listeners import own_listeners, pace_of
from cdpengine._javascript import own, script
from cdpengine._page.scripts.page_functions import Node
from cdpengine._protocol.session import Session
from cdpengine.errors import NotInteractableError, RemoteError, SessionGoneError, StaleRefError

_FEW_KEYS = 32
"""Number of keys that are all sent before the page could report a held-back one."""

_MOST_PACED = 64
"""Maximum length, in characters, of input that may be meant for a mask."""


async def type_text(
    node: Node,
    text: str,
    *,
    context: ActionContext,
    submit: bool = False,
    delay: float = 0,
    layout: str | Layout | None = None,
) -> ActionOutcome:
    """Type `text` behind the field's content, key by key. `submit` presses Enter afterwards.

    Works in text inputs, textareas, contenteditable elements, and on the label of a field. `delay` is the pause
    after each character in seconds. `layout` defaults to the keyboard's layout. If a dialog opens, the rest is
    not typed.

    Raises InvalidArgumentError. Raises FocusMovedError if the page moves the focus before everything is typed.
    Raises StaleRefError if the node left its document. Raises NotInteractableError immediately if the node can
    never accept text, or does not take the focus. If the budget ends first, the error has the node's
    state; read-only ones are "disabled".
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
        paced = await _focus(node, "type into", True, context, guard) and len(split) <= _MOST_PACED
        if delay or paced or len(split) > _FEW_KEYS or "\n" in text:
            guard.watch()
        dialog = await keyboard.type_pieces(
            parts(), delay, lambda: guard.lost, pace_of(guard, context) if paced else None
        )
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
    """Press a key or chord such as "Control+A" on the node, or on the focused element if `node` is None.

    Raises InvalidArgumentError for an unknown key or layout, before anything is sent. Otherwise raises the
    errors of `type_text`.
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
    """Focus the node. Raises the errors of `press`."""
    await _focus(node, "focus", False, context)
    return ActionOutcome("focus", node.description)


async def blur(node: Node, *, context: ActionContext) -> ActionOutcome:
    """Remove the focus from the node, if the node has it.

    Raises StaleRefError if the node left its document, NotInteractableError if it keeps the focus.
    """
    async with context.inspect(node, "blur") as inspection:
        left = await inspection.run(script("_input/forms/blur"), None, _BlurReply)
    if not left.connected:
        raise StaleRefError(
            ref=node.description, description=node.description, reason="it is no longer in the document"
        )
    if not left.blurred:
        raise NotInteractableError(
            action="blur", target=node.description, reason="it, or something in it, takes the focus again"
        )
    return ActionOutcome("blur", node.description)


async def select_text(node: Node, *, context: ActionContext) -> ActionOutcome:
    """Select the text of the node, or of the field of a label, once it is visible and enabled.

    Raises the errors of `press`.
    """
    async with context.inspect(node, "select the text of") as inspection:
        source = own(script("_input/forms/select_text"))
        await inspection.run_when_usable(source, None, bool, Usability(reached=False))
    return ActionOutcome("select the text of", node.description)


class _BlurReply(msgspec.Struct):
    """The result of blur.js."""

    connected: bool
    blurred: bool


async def _wait_for_effects(session: Session, context: ActionContext) -> None:
    """Return when the page has reported the effects of the keys, in particular a navigation.

    Chrome's response to a key can arrive before the page's events. A page that is navigating or has a dialog
    open may not respond, but its effects are then known.
    """

    async def ask() -> None:
        # The call fails if the page navigated or closed, possibly because of the keys.
        with suppress(RemoteError, SessionGoneError):
            await session.call("Runtime.getIsolateId")

    await unless_blocked(ask, context.interruptions, context.navigation)


async def _focus(
    node: Node,
    action: str,
    editable: bool,
    context: ActionContext,
    guard: KeyGuard | None = None,
) -> bool:
    """Focus the node. Return whether it may be a mask, which has to finish with each key before the next."""
    async with context.inspect(node, action) as inspection:
        focused = await inspection.wait_for_focus(editable=editable, at_end=editable, guard=guard)
        if not (editable and focused.fresh):
            return focused.masked
        own = await own_listeners(inspection, labelled=focused.labelled)
        late = own.focus and not focused.masked
        if (
            guard is not None
            and late
            and await guard.wait_for_focus_effects(context.interruptions, context.navigation)
        ):
            focused = await inspection.wait_for_focus(
                editable=editable, at_end=editable, guard=guard, again=True
            )
        return focused.masked or own.keys
