"""Filling: how a text gets into a field, or a value into an input of dates or a range, and what it took.

Rule: a text replaces the content as one input. Into the fields of masks, and where a field made something else of
that, it is typed key by key, as a person does. Each way is read back, and the next one begins with all content
selected. A text in a code editor replaces all that the editor holds, also the lines that are not in the document.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import msgspec

from cdpengine._input.action import ActionContext, ActionOutcome
from cdpengine._input.actionability.inspection import Inspection
from cdpengine._input.actionability.key_guard import KeyGuard
from cdpengine._input.actionability.library_calls import decode_result
from cdpengine._input.actionability.requirements import Usability
from cdpengine._input.devices.keyboard import KeyboardDevice, count_typed
from cdpengine._input.forms.own_listeners import MASK_PAUSE, OwnListeners, own_listeners
from cdpengine._input.forms.related import related_node
from cdpengine._input.forms.segments import segment_keys, segments_in
from cdpengine._javascript import script_with
from cdpengine._page.scripts.page_functions import Node
from cdpengine._protocol.calls import PendingCall, pending_group
from cdpengine._protocol.domains.dom import DescribeNodeReply
from cdpengine.errors import StaleRefError, ValueRefusedError

EVERY_TYPE = ""
"""The key of the text for all types of input that have none of their own."""

_FILL = (
    "_input/forms/fill",
    "_page/scripts/secret_field",
    "_input/forms/field_values",
    "_input/forms/mask",
)
_HELD = ("_input/forms/held", "_page/scripts/secret_field", "_input/forms/field_values")

_MOST_TYPED = 200
"""Characters of a text that are typed key by key, where a field made something else of all at once."""


class Made(msgspec.Struct):
    """What fill.js answers."""

    kind: str
    type: str = ""
    reason: str = ""
    holds: str | None = None
    keys: list[str] = []
    range: bool = False
    focused: bool = False
    labelled: bool = False
    scripted: bool = False
    fresh: bool = False
    masked: bool = False
    literals: str = ""
    prefix: str = ""
    editor: bool = False
    typable: bool = False


class _Held(msgspec.Struct):
    """What held.js answers."""

    taken: bool
    holds: str | None
    unchanged: bool = False


class _Clipboard(msgspec.Struct):
    """What editor.js answers."""

    handled: bool
    same: bool


def refusal(node: Node, reason: str, holds: str | None) -> ValueRefusedError:
    """Return the error for a control that does not take the value."""
    return ValueRefusedError(action="fill", target=node.description, reason=reason, took=holds)


@attrs.define(eq=False)
class Filling:
    """One control that is filled. `texts` are the texts for each type of input."""

    node: Node
    texts: Mapping[str, str]
    inspection: Inspection
    context: ActionContext
    guard: KeyGuard = attrs.field(init=False)
    text: str = attrs.field(default="", init=False)
    made: Made = attrs.field(factory=lambda: Made("none"), init=False)
    own: OwnListeners = attrs.field(factory=OwnListeners, init=False)

    @guard.default
    def _new_guard(self) -> KeyGuard:
        return KeyGuard("fill", self.node)

    @property
    def keyboard(self) -> KeyboardDevice:
        """The keyboard of the control's session."""
        return self.context.keyboard.on(self.node.session)

    async def run(self) -> Made | ActionOutcome:
        """Fill the control where keys or text do it; else return what it is, or that it was set by script.

        Raises as `fill` does.
        """
        try:
            usability = Usability(writable=True)
            with self.inspection.arming(self.guard):
                self.made = await self.inspection.run_when_usable(
                    _source(_FILL), self._request(), Made, usability
                )
            if self.made.kind not in ("text", "keys"):
                self.guard.note_ended()
                return self.made
            self.text = self.texts.get(self.made.type, self.texts[EVERY_TYPE])
            if self.made.kind == "text":
                return await self._write()
            by_keys = await self._by_keys()
            return by_keys or await self._prepare(script=True)
        finally:
            self.guard.end()

    def _request(self, *, script: bool = False, select: bool = False) -> dict[str, object]:
        return {"texts": self.texts, "script": script, "select": select, "guard": self.guard.arming()}

    async def _prepare(self, *, script: bool = False, select: bool = False) -> Made:
        return await self.inspection.run(_source(_FILL), self._request(script=script, select=select), Made)

    # --- texts ------------------------------------------------------------------------------------------------

    async def _write(self) -> ActionOutcome:
        made = self.made
        if made.reason:
            raise refusal(self.node, made.reason, made.holds)
        if made.editor:
            return await self._write_in_editor()
        if made.typable and self.text and len(self.text) <= _MOST_TYPED:
            made = await self._look_for_mask(made)
        typed = _without(self.text.removeprefix(made.prefix), made.literals)
        if (made.masked or self.own.characters) and self.text:
            outcome, held = await self._type_keys(typed)
        else:
            outcome, held = await self._replace()
        if held is None or held.taken:
            return outcome
        if made.type in _TYPED and not held.unchanged and 0 < len(typed) <= _MOST_TYPED:
            # As a person who begins again. Some fields take one key after the other only.
            again = await self._prepare(select=True)
            if again.kind == "text" and not again.reason:
                self.guard.note_armed(self.inspection.used.library)
                # What looked like a mask may have been an ordinary text.
                outcome, held = await self._type_keys(self.text, first="Delete")
        if held is None or held.taken:
            return outcome
        raise refusal(self.node, "the control, or the page's script, made something else of it", held.holds)

    async def _look_for_mask(self, made: Made) -> Made:
        """Wait for a mask where the field listens to its focus; note what it listens to itself."""
        self.own = await own_listeners(self.inspection, labelled=made.labelled)
        if self.own.focus and not made.masked and not made.focused:
            await self.inspection.wait_for_frames()
            made = await self._prepare()
            if made.reason:
                raise refusal(self.node, made.reason, made.holds)
            self.guard.note_armed(self.inspection.used.library)
            self.made = made
        return made

    async def _write_in_editor(self) -> ActionOutcome:
        """Replace the whole text of a code editor, as by Control+A and Control+V, and compare it by Control+C."""
        dialog = await self.keyboard.press("ControlOrMeta+a")
        by_script = bool(self.text) and (await self._ask_editor(paste=True)).handled
        if not self.text:
            dialog = await self.keyboard.press("Delete") or dialog
        elif not by_script:
            dialog = await self.keyboard.insert_text(self.text) or dialog
        dialog = await self.keyboard.press("ControlOrMeta+a") or dialog
        taken = (await self._ask_editor(paste=False)).same
        # The selection is taken back; the caret is at the end then.
        dialog = await self.keyboard.press("ArrowRight") or dialog
        await self.guard.conclude(
            self.context.interruptions,
            self.context.navigation,
            sent=1,
            count=lambda _: (0, len(self.text)),
        )
        if not taken:
            raise refusal(self.node, "the code editor made something else of it", None)
        return ActionOutcome("fill", self.node.description, dialog_opened=dialog, set_by_script=by_script)

    async def _ask_editor(self, *, paste: bool) -> _Clipboard:
        request = {"paste": paste, "text": self.text}
        return await self.inspection.run(_source(("_input/forms/editor",)), request, _Clipboard)

    async def _replace(self) -> tuple[ActionOutcome, _Held | None]:
        """Put the text in the place of what is selected, and read the control back."""
        with pending_group() as post:
            early: PendingCall | None = None

            def ask() -> None:
                # Right behind the text. What comes to the page before the text does is asked again below.
                nonlocal early
                early = post(self.inspection.post(_source(_HELD), self._held_request()))

            if self.text:
                dialog = await self.keyboard.insert_text(self.text, behind=ask if self.made.fresh else None)
            else:
                dialog = await self.keyboard.press("Delete")
            outcome = ActionOutcome("fill", self.node.description, dialog_opened=dialog)
            if early is not None and not dialog and await self._is_taken(early):
                self.guard.note_ended()
                return outcome, None
        held = await self._read_back()
        if held is not None and not held.taken:
            total = len(self.text) or 1
            await self.guard.conclude(
                self.context.interruptions,
                self.context.navigation,
                sent=1,
                count=lambda arrived: (arrived * total, total),
                unit="characters" if self.text else "keys",
            )
        return outcome, held

    async def _type_keys(self, text: str, *, first: str = "") -> tuple[ActionOutcome, _Held | None]:
        """Type the text key by key where the caret is, after the key `first`, and read the control back."""
        split = self.keyboard.split(text, 0, None)
        dialog = bool(first) and await self.keyboard.press(first)
        pause = MASK_PAUSE if self.made.masked or self.own.keys else 0
        dialog = dialog or await self.keyboard.type_pieces(split, pause)
        outcome = ActionOutcome("fill", self.node.description, dialog_opened=dialog)
        held = await self._read_back()
        if held is not None and not held.taken:
            sent = sum(len(keys) or 1 for _, keys in split) + bool(first)
            await self.guard.conclude(
                self.context.interruptions,
                self.context.navigation,
                sent=sent,
                count=lambda arrived: count_typed(split, arrived - bool(first)),
            )
        return outcome, held

    async def _is_taken(self, held: PendingCall) -> bool:
        try:
            answer = await decode_result(held, self.node, _Held | None)  # type: ignore[arg-type]
        except StaleRefError:
            return False
        return answer is not None and answer.taken

    def _held_request(self) -> dict[str, object]:
        made = self.made
        return {"wanted": self.text, "type": made.type, "guard": {"id": self.guard.id}, "masked": made.masked}

    async def _read_back(self) -> _Held | None:
        """Ask whether the control took the text; None when the input made the page show another document."""
        try:
            held = await self.inspection.run(_source(_HELD), self._held_request(), _Held)
        except StaleRefError:
            return None
        if held.taken:
            self.guard.note_ended()
        return held

    # --- dates, times and ranges --------------------------------------------------------------------------------

    async def _by_keys(self) -> ActionOutcome | None:
        """Give a date, time or range its value by keys; None where they do not do it."""
        keys = self.made.keys if self.made.range else await self._keys_for_segments()
        if not keys:
            return None
        dialog = await self.keyboard.press_each(*keys)
        outcome = ActionOutcome("fill", self.node.description, dialog_opened=dialog)
        held = await self._read_back()
        if held is None or held.taken:
            return outcome
        if dialog:
            raise refusal(self.node, "a dialog opened while it was being filled in", held.holds)
        await self.guard.conclude(
            self.context.interruptions,
            self.context.navigation,
            sent=len(keys),
            count=lambda arrived: (arrived, len(keys)),
            unit="keys",
        )
        return None

    async def _keys_for_segments(self) -> list[str]:
        node = self.node
        if self.made.labelled:
            found = await related_node(
                node, "_input/forms/control", None, node.description, worlds=self.context.worlds
            )
            if found is None:
                return []
            node = found
        described = await node.session.request(
            "DOM.describeNode",
            {"backendNodeId": node.backend_node_id, "depth": -1, "pierce": True},
            DescribeNodeReply,
        )
        return segment_keys(
            segments_in(described.node), self.text.replace(" ", "T"), anywhere=self.made.focused
        )


_TYPED = frozenset({"text", "search", "url", "tel", "email", "password", "number"})
"""Types of inputs that take typed text."""


def _without(text: str, literals: str) -> str:
    """Return the text without what a mask shows between its blanks, which is not typed."""
    return "".join(each for each in text if each not in literals)


def _source(parts: tuple[str, ...]) -> str:
    return script_with(*parts, given="request, keys")
