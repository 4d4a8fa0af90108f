"""Filling: entering text into a field, or a value into a date, time or range input, and reading it back.

Rule: one input replaces the whole content. In masked fields, and if a field changed the new value, the value is
typed key by key instead, as a user does. The control is read back after each attempt, and the next attempt
starts with all content selected. In a code editor the value replaces the editor's whole content, including lines
outside of the document.
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
from cdpengine._input.forms.own_listeners import OwnListeners, own_listeners, pace_of
from cdpengine._input.forms.related import related_node
from cdpengine._input.forms.segments import segment_keys, segments_in
from cdpengine._javascript import ENTERED, script_with
from cdpengine._page.scripts.page_functions import Node
from cdpengine._protocol.calls import PendingCall, pending_group
from cdpengine._protocol.domains.dom import DescribeNodeReply
from cdpengine.errors import StaleRefError, ValueRefusedError

EVERY_TYPE = ""
"""Key of the string for all input types without a separate one."""

_FILL = (
    "_input/forms/fill",
    "_page/scripts/secret_field",
    "_input/forms/field_values",
    "_input/forms/mask",
)
_READ_BACK = ("_input/forms/read_back", "_page/scripts/secret_field", "_input/forms/field_values")

_MOST_TYPED = 200
"""Maximum length, in characters, of a value that is typed key by key after a field changed an insertion."""


class FillReply(msgspec.Struct):
    """The result of fill.js."""

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


class _ReadBack(msgspec.Struct):
    """The result of read_back.js."""

    taken: bool
    holds: str | None
    unchanged: bool = False


class _Clipboard(msgspec.Struct):
    """The result of editor.js."""

    handled: bool
    same: bool


def refusal(node: Node, reason: str, holds: str | None) -> ValueRefusedError:
    """Return the error for a control that does not accept the value."""
    return ValueRefusedError(action="fill", target=node.description, reason=reason, took=holds)


@attrs.define(eq=False)
class Filling:
    """One control to fill. `texts` maps input types to strings."""

    node: Node
    texts: Mapping[str, str]
    inspection: Inspection
    context: ActionContext
    guard: KeyGuard = attrs.field(init=False)
    text: str = attrs.field(default="", init=False)
    made: FillReply = attrs.field(factory=lambda: FillReply("none"), init=False)
    own: OwnListeners = attrs.field(factory=OwnListeners, init=False)

    @guard.default
    def _new_guard(self) -> KeyGuard:
        return KeyGuard("fill", self.node)

    @property
    def keyboard(self) -> KeyboardDevice:
        """The keyboard of the control's session."""
        return self.context.keyboard.on(self.node.session)

    async def run(self) -> FillReply | ActionOutcome:
        """Fill the control by keys or inserted text if possible. Otherwise return its description.

        A control that was set by a script is also returned as a description.

        Raises the errors of `fill`.
        """
        try:
            usability = Usability(writable=True)
            with self.inspection.arming(self.guard):
                self.made = await self.inspection.run_when_usable(
                    _source(_FILL), self._request(), FillReply, usability
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
        return {ENTERED: self.texts, "script": script, "select": select, "guard": self.guard.arming()}

    async def _prepare(self, *, script: bool = False, select: bool = False) -> FillReply:
        return await self.inspection.run(
            _source(_FILL), self._request(script=script, select=select), FillReply
        )

    # --- text fields
    # ------------------------------------------------------------------------------------------------

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
            outcome, read_back = await self._type_keys(typed)
        else:
            outcome, read_back = await self._replace()
        if read_back is None or read_back.taken:
            return outcome
        if made.type in _TYPED and not read_back.unchanged and 0 < len(typed) <= _MOST_TYPED:
            # Start again, as a user would. Some fields only accept one key after another.
            again = await self._prepare(select=True)
            if again.kind == "text" and not again.reason:
                self.guard.note_armed(self.inspection.used.library)
                # The text that looked like a mask may have been ordinary text.
                outcome, read_back = await self._type_keys(self.text, first="Delete")
        if read_back is None or read_back.taken:
            return outcome
        raise refusal(self.node, "the control or a script of the page changed the value", read_back.holds)

    async def _look_for_mask(self, made: FillReply) -> FillReply:
        """Wait for a mask if the field listens to its focus, and store the field's listeners."""
        self.own = await own_listeners(self.inspection, labelled=made.labelled)
        late = self.own.focus and not made.masked and not made.focused
        if late and await self.guard.wait_for_focus_effects(
            self.context.interruptions, self.context.navigation
        ):
            made = await self._prepare()
            if made.reason:
                raise refusal(self.node, made.reason, made.holds)
            self.guard.note_armed(self.inspection.used.library)
            self.made = made
        return made

    async def _write_in_editor(self) -> ActionOutcome:
        """Replace the content of a code editor as by Control+A and Control+V, and verify it as by Control+C."""
        dialog = await self.keyboard.press("ControlOrMeta+a")
        by_script = bool(self.text) and (await self._ask_editor(paste=True)).handled
        if not self.text:
            dialog = await self.keyboard.press("Delete") or dialog
        elif not by_script:
            dialog = await self.keyboard.insert_text(self.text) or dialog
        dialog = await self.keyboard.press("ControlOrMeta+a") or dialog
        taken = (await self._ask_editor(paste=False)).same
        # Clears the selection and moves the caret to the end.
        dialog = await self.keyboard.press("ArrowRight") or dialog
        await self.guard.conclude(
            self.context.interruptions,
            self.context.navigation,
            sent=1,
            count=lambda _: (0, len(self.text)),
        )
        if not taken:
            raise refusal(self.node, "the code editor changed the value", None)
        return ActionOutcome("fill", self.node.description, dialog_opened=dialog, set_by_script=by_script)

    async def _ask_editor(self, *, paste: bool) -> _Clipboard:
        request = {"paste": paste, ENTERED: self.text}
        return await self.inspection.run(_source(("_input/forms/editor",)), request, _Clipboard)

    async def _replace(self) -> tuple[ActionOutcome, _ReadBack | None]:
        """Replace the selected content, and read the control back."""
        with pending_group() as post:
            early: PendingCall | None = None

            def ask() -> None:
                # Posted directly after the insertion. If it reaches the page earlier, the control is read again
                # below.
                nonlocal early
                early = post(self.inspection.post(_source(_READ_BACK), self._read_back_request()))

            if self.text:
                dialog = await self.keyboard.insert_text(self.text, behind=ask if self.made.fresh else None)
            else:
                dialog = await self.keyboard.press("Delete")
            outcome = ActionOutcome("fill", self.node.description, dialog_opened=dialog)
            if early is not None and not dialog and await self._is_taken(early):
                self.guard.note_ended()
                return outcome, None
        read_back = await self._read_back()
        if read_back is not None and not read_back.taken:
            total = len(self.text) or 1
            await self.guard.conclude(
                self.context.interruptions,
                self.context.navigation,
                sent=1,
                count=lambda arrived: (arrived * total, total),
                unit="characters" if self.text else "keys",
            )
        return outcome, read_back

    async def _type_keys(self, text: str, *, first: str = "") -> tuple[ActionOutcome, _ReadBack | None]:
        """Press the key `first`, type `text` key by key at the caret, and read the control back."""
        split = self.keyboard.split(text, 0, None)
        dialog = bool(first) and await self.keyboard.press(first)
        pace = pace_of(self.guard, self.context) if self.made.masked or self.own.keys else None
        dialog = dialog or await self.keyboard.type_pieces(split, 0, pace=pace)
        outcome = ActionOutcome("fill", self.node.description, dialog_opened=dialog)
        read_back = await self._read_back()
        if read_back is not None and not read_back.taken:
            sent = sum(len(keys) or 1 for _, keys in split) + bool(first)
            await self.guard.conclude(
                self.context.interruptions,
                self.context.navigation,
                sent=sent,
                count=lambda arrived: count_typed(split, arrived - bool(first)),
            )
        return outcome, read_back

    async def _is_taken(self, pending: PendingCall) -> bool:
        try:
            answer = await decode_result(pending, self.node, _ReadBack | None)  # type: ignore[arg-type]
        except StaleRefError:
            return False
        return answer is not None and answer.taken

    def _read_back_request(self) -> dict[str, object]:
        made = self.made
        return {ENTERED: self.text, "type": made.type, "guard": {"id": self.guard.id}, "masked": made.masked}

    async def _read_back(self) -> _ReadBack | None:
        """Return the state of the control after the entry, or None if the page navigated in response."""
        try:
            read_back = await self.inspection.run(_source(_READ_BACK), self._read_back_request(), _ReadBack)
        except StaleRefError:
            return None
        if read_back.taken:
            self.guard.note_ended()
        return read_back

    # --- dates, times and ranges --------------------------------------------------------------------------------

    async def _by_keys(self) -> ActionOutcome | None:
        """Set a date, time or range by keys. Return None if keys do not work."""
        keys = self.made.keys if self.made.range else await self._keys_for_segments()
        if not keys:
            return None
        dialog = await self.keyboard.press_each(*keys)
        outcome = ActionOutcome("fill", self.node.description, dialog_opened=dialog)
        read_back = await self._read_back()
        if read_back is None or read_back.taken:
            return outcome
        if dialog:
            raise refusal(self.node, "a dialog opened while it was being filled in", read_back.holds)
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
    """Return `text` without the literal characters of a mask, which the field inserts."""
    return "".join(each for each in text if each not in literals) if literals else text


def _source(parts: tuple[str, ...]) -> str:
    return script_with(*parts, parameters="request, keys")
